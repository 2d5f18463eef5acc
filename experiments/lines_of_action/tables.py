"""The tables and the curves of the study from what `judge` found, next to those of the thesis.

    python -m experiments.lines_of_action.tables

Adds the networks judged in --out to judged.jsonl, from which it writes tables.md and a picture
for each of CURVES next to this file. A figure of a network is the mean of its 51 sessions,
as in the thesis; errors here are over networks, there over sessions of a curve.
"""

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from experiments.lines_of_action.judge import (
    Judged,
    figure_of,
    judged_networks,
    kept_networks,
    paired,
)
from experiments.lines_of_action.significance import significance
from experiments.lines_of_action.study import FEATURES, LEARNERS, PARTNERS
from experiments.shared import Section, add_legend, make_parser, new_figure, save_figure
from jaxgbg.cli.exit_codes import end_in_a_line
from jaxgbg.runs.presets import sasso2018
from jaxgbg.runs.storage.files import written_whole

OPPONENTS = ("COM", "RAND", "SELF")
_PLAYERS = {"itself": "self", "COM": "centre-of-mass", "RAND": "random", "SELF": "self"}
UNLEARNING = ("itself", "itself, noise", "itself, epsilon .05", "itself, noise, epsilon .05")
_OPTIMIZERS = tuple(name for partner in PARTNERS for name in (partner, f"{partner}, Adam"))
_LEAVES = tuple(f"itself, {learner}" for learner in LEARNERS)
_ONLINE = ("itself", "itself, epsilon .05", "itself, FARL", "itself, move by move")
_ENDINGS = ("itself", "itself, FARL", "itself, no FARL")


def partners(
    judged: Judged, play: str, paper: dict[str, dict[str, sasso2018.Cell]]
) -> list[dict[str, Any]]:
    """Tables 5.1 and 5.2: who was trained against whom, and how he does against each."""
    return [
        {
            "trained against": partner,
            "opponent": opponent,
            "paper": paper[_PLAYERS[partner]][_PLAYERS[opponent]][0],
            "average": figure_of([*judged.means(partner, play, opponent).values()]),
            "last": figure_of([*judged.last(partner, play, opponent).values()]),
        }
        for partner in PARTNERS
        for opponent in OPPONENTS
    ]


def differences(judged: Judged, play: str, paper: bool) -> list[dict[str, Any]]:
    """What looking ahead brings the same networks, against their play with noise."""
    rows = []
    for partner in PARTNERS:
        for opponent in OPPONENTS:
            mine, theirs = _PLAYERS[partner], _PLAYERS[opponent]
            with_it = sasso2018.AVERAGES_LOOKING_AHEAD[mine][theirs][0]
            row: dict[str, Any] = {"trained against": partner, "opponent": opponent}
            if paper:
                row["paper"] = round(with_it - sasso2018.AVERAGES[mine][theirs][0], 3)
            gained = paired(
                judged.means(partner, play, opponent), judged.means(partner, "noise", opponent)
            )
            rows.append(row | {"gain": gained})
    return rows


def features(judged: Judged) -> list[dict[str, Any]]:
    """Tables 5.3 to 5.5: what each feature brings, over networks of the same seeds.

    The thesis has one optimizer, which stands next to ours of either kind.
    """
    rows = []
    for setting in _OPTIMIZERS:
        partner, _, optimizer = setting.partition(", ")
        paper = sasso2018.FEATURES[_PLAYERS[partner]]
        for feature in FEATURES:
            name = f"{setting}, {feature}"
            if optimizer and not judged.means(name, "noise", "COM"):
                continue
            for row in _gains(judged, name, setting):
                # The thesis' third opponent is another one.
                if (theirs := _PLAYERS[row["opponent"]]) in paper[feature]:
                    mean, without = paper[feature][theirs][0], paper["none"][theirs][0]
                    row |= {"paper": mean, "paper's gain": round(mean - without, 3)}
                rows.append({"setting": setting, "feature": feature} | row)
    return rows


def roles(judged: Judged) -> list[dict[str, Any]]:
    """Features as inputs alone, as outputs alone and as both, which is what the thesis has."""
    rows = []
    for feature in FEATURES:
        names = {role: f"itself, {feature} as {role}" for role in ("inputs", "outputs")}
        if any(judged.means(name, "noise", "COM") for name in names.values()):
            for role, name in (names | {"both": f"itself, {feature}"}).items():
                found = _gains(judged, name, "itself")
                rows += [{"feature": feature, "as": role} | row for row in found]
    return rows


def _gains(judged: Judged, setting: str, without: str) -> list[dict[str, Any]]:
    """Against each opponent what a setting wins, and how much more than another."""
    rows = []
    for opponent in OPPONENTS:
        known = judged.means(setting, "noise", opponent)
        gain = paired(known, judged.means(without, "noise", opponent))
        rows.append({"opponent": opponent, "average": figure_of([*known.values()]), "gain": gain})
    return rows


def compared(judged: Judged, settings: Sequence[str]) -> list[dict[str, Any]]:
    """Settings next to each other: all sessions, the first, those around the end of exploration."""
    rows = []
    for setting in settings:
        for opponent in OPPONENTS:
            known = judged.shares.get((setting, f"noise {opponent}"), {})
            if not known:
                continue
            at = judged.games[setting] / judged.games[setting][-1]
            first, before, after = (at > 0) & (at <= 0.1), (at > 0.7) & (at <= 0.8), at > 0.9
            begun = {seed: float(shares[first].mean()) for seed, shares in known.items()}
            early = {seed: float(shares[before].mean()) for seed, shares in known.items()}
            late = {seed: float(shares[after].mean()) for seed, shares in known.items()}
            rows.append(
                {
                    "setting": setting,
                    "opponent": opponent,
                    "average": figure_of([*judged.means(setting, "noise", opponent).values()]),
                    "at 0 to 10 %": figure_of([*begun.values()]),
                    "at 70 to 80 %": figure_of([*early.values()]),
                    "at 90 to 100 %": figure_of([*late.values()]),
                    "change": paired(late, early),
                }
            )
    return rows


def ahead(judged: Judged) -> list[dict[str, Any]]:
    """TD by move and TD-Leaf, each played by one ply and by looking ahead: the last fifth."""
    rows = []
    for setting in _LEAVES:
        trained = judged.trained.get(setting, [])
        if not trained:
            continue
        games = judged.games[setting]
        about = {"games": f"{games[-1]:,}"}
        about["seconds"] = f"{np.median([one['seconds'] for one in trained]):.0f}"
        for play in ("noise", "look-ahead-noise"):
            row: dict[str, Any] = {"setting": setting, **about, "play": play}
            for opponent in OPPONENTS:
                known = judged.shares.get((setting, f"{play} {opponent}"), {})
                late = [float(shares[games > 0.8 * games[-1]].mean()) for shares in known.values()]
                row[opponent] = figure_of(late)
            rows.append(row)
    return rows


def small_board(results: Path) -> list[dict[str, Any]]:
    """What `unlearning` has found on 4x4, without its curves."""
    rows = Section(results, "unlearning").read()
    return [{name: row[name] for name in row if name not in ("games", "curve")} for row in rows]


def among_themselves(results: Path) -> list[dict[str, Any]]:
    """Table 4.1, if `opponents` has played it: what the first of two opponents wins."""
    return [
        {
            "first": row["first"],
            "second": row["second"],
            "paper": row["paper"],
            "share": row["share"],
            "95 % interval": " to ".join(f"{end:.4f}" for end in row["interval"]),
            "games": f"{row['games']:,}",
        }
        for row in Section(results, "opponents").read()
    ]


def markdown(title: str, rows: list[dict[str, Any]]) -> str:
    """One table, its figures as mean ± standard error (number of networks)."""
    if not rows:
        return f"## {title}\n\nNot run yet.\n"
    names = list(rows[0])
    lines = [f"| {' | '.join(names)} |", "|" + "---|" * len(names)]
    lines += [f"| {' | '.join(_cell(row.get(name, '')) for name in names)} |" for row in rows]
    return f"## {title}\n\n" + "\n".join(lines) + "\n"


def _cell(value: Any) -> str:
    if value is None:
        return "not run"
    if not isinstance(value, dict):
        return str(value)
    error = f" ± {value['sem']:.3f}" if "sem" in value else ""
    return f"{value['mean']:.3f}{error} ({value['n']})"


CURVES = {
    "partners": tuple(PARTNERS),
    **{
        f"features_{partner}": (partner, *(f"{partner}, {feature}" for feature in FEATURES))
        for partner in PARTNERS
    },
    "noise": UNLEARNING,
    "endings": _ENDINGS,
}
"""Pictures by their names, and the settings of each: first Figure 5.1, then A.2 to A.4."""


def curves(path: Path, judged: Judged, settings: Sequence[str]) -> None:
    """The share won by session, against every opponent."""
    figure = new_figure(12, 3.2)
    for column, opponent in enumerate(OPPONENTS):
        axes = figure.add_subplot(1, 3, column + 1)
        for setting in settings:
            known = judged.shares.get((setting, f"noise {opponent}"), {})
            if known:
                label = f"{setting} ({len(known)})"
                mean = np.mean([*known.values()], 0)
                axes.plot(judged.games[setting] / 1000, 100 * mean, label=label)
        axes.set(title=f"against {opponent}", xlabel="thousand games", ylim=(0, 102))
        axes.grid(alpha=0.25)
    figure.axes[0].set_ylabel("games won, %")
    add_legend(figure, "trained against (networks)")
    save_figure(figure, path)


def all_tables(judged: Judged, results: Path) -> dict[str, list[dict[str, Any]]]:
    """The rows of every table by its title, but for that of 4x4."""
    return {
        "Table 4.1": among_themselves(results),
        "Table 5.1": partners(judged, "noise", sasso2018.AVERAGES),
        "Table 5.2": partners(judged, "look-ahead-noise", sasso2018.AVERAGES_LOOKING_AHEAD),
        "What looking ahead brings, with noise": differences(judged, "look-ahead-noise", True),
        "What looking ahead brings, without noise": differences(judged, "look-ahead", False),
        "Tables 5.3 to 5.5": features(judged),
        "Features as inputs, as outputs, as both": roles(judged),
        "Self-play with features": compared(judged, CURVES["features_itself"]),
        "Appendix A: what the thesis calls significant": significance(judged.means),
        "Gradient descent and Adam": compared(judged, _OPTIMIZERS),
        "Unlearning": compared(judged, UNLEARNING),
        "Final Adaptation": compared(judged, _ENDINGS),
        "By rounds and move by move": compared(judged, _ONLINE),
        "TD-Leaf and looking ahead in play": ahead(judged),
    }


ERRORS = (
    "Errors are standard errors over networks, whose number stands in brackets. ± 0.000 means that"
    " all of them agree;\nit bounds nothing about another network."
)


def page(found: dict[str, list[dict[str, Any]]], results: Path) -> str:
    """The text of tables.md."""
    title = "Unlearning on 4x4: positions whose value the best move keeps"
    tables = [*found.items(), (title, small_board(results))]
    return f"# Lines of Action, all tables\n\n{ERRORS}\n\n" + "\n".join(
        markdown(*each) for each in tables
    )


def main(arguments: list[str] | None = None) -> None:
    options = make_parser(__file__, __doc__).parse_args(arguments)
    path = options.results / "judged.jsonl"
    networks = kept_networks(path, judged_networks(options.out))
    with written_whole(path) as temporary:
        temporary.write_text("".join(json.dumps(network) + "\n" for network in networks))
    judged = Judged(networks)
    found = all_tables(judged, options.results)
    text = page(found, options.results)
    with written_whole(options.results / "tables.md") as temporary:
        temporary.write_text(text)
    print(text)
    for name, settings in CURVES.items():
        picture = options.results / f"{name}.png"
        if missing := {*settings} - {*judged.games}:
            print(f"{picture} stays as it is: no network yet of {'; '.join(sorted(missing))}")
        else:
            curves(picture, judged, settings)


if __name__ == "__main__":
    end_in_a_line(main)
