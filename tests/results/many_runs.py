"""Folders as a large sweep leaves them, written without training.

`python -m tests.results.many_runs runs 100000` makes those that docs/design-notes.md has times of.
"""

import itertools
import json
import sys
from pathlib import Path

import numpy as np

from jaxgbg.runs.presets import preset
from jaxgbg.runs.run import digest_of

GAMES = ("nim", "tictactoe", "nim3p", "hex")
DECAYS = (0.0, 0.3, 0.5, 0.7, 0.9)
ALPHAS = (0.1, 0.2, 0.5, 1.0)
BATCHES = (16, 64)
EVALUATIONS = 10
BINS = 10


def write_many(out: Path, count: int) -> None:
    """`count` finished runs of one seed and two variants: games x lambdas x alphas x batches."""
    out.mkdir(parents=True, exist_ok=True)
    random = np.random.default_rng(0)
    axes = itertools.product(GAMES, DECAYS, ALPHAS, BATCHES)
    kinds = [
        preset(game, seeds=(0,), trace_decay=decay, alpha=alpha, batch=batch, eval_every=100)
        for game, decay, alpha, batch in itertools.islice(axes, count)
    ]
    configs = [(run, run.plain(), run.changed()) for run in kinds]
    for number in range(count):
        seed, kind = divmod(number, len(kinds))
        run, config, changed = configs[kind]
        folder = out / f"{run.game.name}-{digest_of(changed | {'seeds': [seed]})}"
        folder.mkdir(exist_ok=True)
        _write(folder / "config.json", config | {"seeds": [seed]})
        results = _results(seed, run.evaluation.opponents[0], random)
        lines = (json.dumps(result) + "\n" for result in results)
        (folder / "metrics.jsonl").write_text("".join(lines))
        _write(folder / "histograms.json", _histograms(seed, random))
        _write(folder / "provenance.json", {"command": ["jaxgbg", "sweep"], "machine": "x86_64"})
        figures = {"episodes": 2000, "moves": 12000, "training_seconds": 1.5}
        kept = {"moves_per_second": 8000, "state_sha256": "0" * 64, "diverged": []}
        _write(folder / "summary.json", figures | kept)


def _results(seed: int, opponent: str, random: np.random.Generator) -> list[dict]:
    scores = random.uniform(-1, 1, (EVALUATIONS, 2)).tolist()
    return [
        {
            "seed": seed,
            "variant": variant,
            "episodes": 100 * (at + 1),
            "opponent": opponent,
            "score": scores[at][column],
            "games": 20,
            "wins": 0.5,
        }
        for at in range(EVALUATIONS)
        for column, variant in enumerate(("farl", "none"))
    ]


def _histograms(seed: int, random: np.random.Generator) -> dict:
    edges = np.linspace(-1, 1, BINS + 1).tolist()
    counts = random.integers(1, 1000, (2, BINS)).tolist()
    agents = [
        {"seed": seed, "variant": variant, "counts": counts[at]}
        for at, variant in enumerate(("farl", "none"))
    ]
    return {"weights": {"edges": edges, "agents": agents}}


def _write(path: Path, content: dict) -> None:
    path.write_text(json.dumps(content, indent=1))


if __name__ == "__main__":
    write_many(Path(sys.argv[1]), int(sys.argv[2]))
