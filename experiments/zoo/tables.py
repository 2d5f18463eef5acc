"""The tables of README.md, of the cards of the zoo.

python -m experiments.zoo.tables
"""

import argparse
from collections.abc import Iterator, Sequence

from experiments.zoo.recipes import RECIPES
from jaxgbg.cli.exit_codes import end_in_a_line
from jaxgbg.runs.storage.zoo import Card, card_of, zoo_names
from jaxgbg.specs import pluralize
from jaxgbg.types import JSON


def trainings(cards: dict[str, Card]) -> Iterator[str]:
    """Training, size, and what rounding changes: a line for each agent."""
    yield "| agent | episodes | minutes | kB | bits | active weights | other moves | worse by |"
    yield "|---|---|---|---|---|---|---|---|"
    for name, card in cards.items():
        changed = f"{card.rounding['changed']:,} of {card.rounding['positions']:,}"
        cells = [name, f"{card.episodes:,}", f"{card.seconds / 60:.1f}", f"{card.bytes / 1e3:,.0f}"]
        cells += [str(card.bits), f"{card.active:,}", changed, f"{card.rounding['greatest_loss']}"]
        yield f"| {' | '.join(cells)} |"


def scores(cards: dict[str, Card]) -> Iterator[str]:
    """A line for each agent and opponent."""
    yield "| agent | opponent | starts | n | unit | mean (95%) | before rounding |"
    yield "|---|---|---|---|---|---|---|"
    for name, card in cards.items():
        for score in card.scores:
            figures = f"{score['mean']:,} ({score['low']:,} to {score['high']:,})"
            cells = [name, score["opponent"], score.get("starts", ""), f"{score['games']:,}"]
            cells += [score["unit"], figures, before_rounding(score)]
            yield f"| {' | '.join(cells)} |"


def before_rounding(score: dict[str, JSON]) -> str:
    """The mean of the weights before rounding; empty where they did not play."""
    return f"{score['before_rounding']:,}" if "before_rounding" in score else ""


def main(arguments: Sequence[str] | None = None) -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.parse_args(arguments)
    made = zoo_names()
    cards = {name: card_of(name) for name in RECIPES if name in made}
    size = sum(card.bytes for card in cards.values())
    print(f"{pluralize(len(cards), 'agent')}, {size / 1e6:.1f} MB\n")
    print("\n".join([*trainings(cards), "", *scores(cards)]))


if __name__ == "__main__":
    end_in_a_line(main)
