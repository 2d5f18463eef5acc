"""What FARL will bring in Lines of Action, from random play alone, before any training with it.

    python -m experiments.lines_of_action.forecast

Measures and line are those of experiments/farl_predictor and experiments/borrowed_games. Writes
the section "forecast" of results.json.
"""

from experiments.borrowed_games.forecast import forecasts, table
from experiments.shared import Section, make_parser
from jaxgbg.cli.exit_codes import end_in_a_line
from jaxgbg.runs.devices import prepare_jax

GAME = "lines_of_action"


def main(arguments: list[str] | None = None) -> None:
    options = make_parser(__file__, __doc__).parse_args(arguments)
    found = forecasts(GAME)
    Section(options.results, "forecast").write([{"game": GAME, **found}])
    print("\n".join(table({GAME: found})))


if __name__ == "__main__":
    prepare_jax()
    end_in_a_line(main)
