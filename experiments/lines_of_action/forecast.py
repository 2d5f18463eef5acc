"""What FARL will bring in Lines of Action, from random play alone, before any training with it.

    python -m experiments.lines_of_action.forecast

Measures and line are those of experiments/farl_predictor and experiments/borrowed_games. Writes
forecast.json beside this file.
"""

from experiments.borrowed_games.forecast import forecasts, table
from experiments.shared import make_parser
from jaxgbg.cli.exit_codes import end_in_a_line
from jaxgbg.runs.devices import prepare_jax
from jaxgbg.runs.storage.files import write_json


def main(arguments: list[str] | None = None) -> None:
    options = make_parser(__file__, __doc__).parse_args(arguments)
    found = {"lines_of_action": forecasts("lines_of_action")}
    write_json(options.results / "forecast.json", found)
    print("\n".join(table(found)))


if __name__ == "__main__":
    prepare_jax()
    end_in_a_line(main)
