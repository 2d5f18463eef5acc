"""Agents on disk: one file, no pickle, every byte under a checksum."""

import contextlib
import dataclasses
import hashlib
import io
import json
import zipfile
from pathlib import Path

import numpy as np

from jaxgbg.players import GreedyAgent
from jaxgbg.training.files import written_whole
from jaxgbg.training.run import RulesChanged, Run

_MAGIC = b"jaxgbg agent 1\n"


@dataclasses.dataclass(frozen=True)
class SavedAgent:
    """A trained agent: its run with its seed alone, its FARL variant, its weights float32[R]."""

    run: Run
    variant: str
    weights: np.ndarray

    @property
    def seed(self) -> int:
        """The seed it was trained with."""
        return self.run.seeds[0]

    def player(self) -> GreedyAgent:
        """The agent as a player of its game."""
        learner = self.run.make_learner()
        params = learner.value.with_weights(self.weights)
        return GreedyAgent(learner.game, learner.value, params, self.run.learner.zero_terminal)


def save_agent(path: Path, agent: SavedAgent) -> None:
    """Write magic line, SHA-256 of the rest, then a compressed npz of header and weights.

    The file appears whole or not at all.
    """
    header = {"run": agent.run.plain(), "variant": agent.variant}
    text = np.frombuffer(json.dumps(header).encode(), np.uint8)
    buffer = io.BytesIO()
    np.savez_compressed(buffer, header=text, weights=agent.weights)
    body = buffer.getvalue()
    digest = hashlib.sha256(body).hexdigest().encode() + b"\n"
    with written_whole(path) as temporary:
        temporary.write_bytes(_MAGIC + digest + body)


def names_agent_file(text: str) -> bool:
    """Whether `text`, a player's name or an agent's file, is the latter."""
    with contextlib.suppress(OSError):
        return Path(text).suffix == ".agent" or Path(text).is_file()
    return False


def load_agent(path: str | Path, game: str | None = None) -> SavedAgent:
    """Read an agent file, its checksum and shapes verified.

    Raises ValueError in one line if the file is missing, truncated, altered, no agent at all, or
    plays another game than `game`.
    """
    try:
        data = Path(path).read_bytes()
    except OSError as error:
        raise ValueError(f"agent file {path}: {error.strerror}") from error
    if not data.startswith(_MAGIC):
        raise ValueError(f"agent file {path}: this is no jaxgbg agent")
    digest, _, body = data[len(_MAGIC) :].partition(b"\n")
    if hashlib.sha256(body).hexdigest().encode() != digest:
        raise ValueError(f"agent file {path} is damaged: truncated or altered, train it again")
    try:
        with np.load(io.BytesIO(body), allow_pickle=False) as arrays:
            header, weights = json.loads(arrays["header"].tobytes()), arrays["weights"]
        agent = SavedAgent(Run.read(header["run"]), header["variant"], weights)
    except RulesChanged as error:
        raise ValueError(f"agent file {path} was {error}: train it again") from error
    except (KeyError, TypeError, ValueError, zipfile.BadZipFile) as error:
        raise ValueError(f"agent file {path}: not readable by this version ({error})") from error
    expected = agent.run.make_learner().value.num_weights
    if weights.shape != (expected,) or weights.dtype != np.float32:
        raise ValueError(
            f"agent file {path}: {weights.dtype}{list(weights.shape)} weights,"
            f" but its n-tuples or network need float32[{expected}]"
        )
    if game is not None and agent.run.game.name != game:
        raise ValueError(f"agent file {path} plays {agent.run.game.name}, not {game}")
    return agent
