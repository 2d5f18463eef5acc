"""`python -m jaxgbg.cli`."""

from jaxgbg.cli.app import main

if __name__ == "__main__":
    main()
