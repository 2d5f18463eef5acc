"""`python -m jaxgbg.cli`."""

from jaxgbg.cli.main import main

if __name__ == "__main__":
    main()
