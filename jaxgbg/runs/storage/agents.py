"""Agents on disk: one file, no pickle, every byte under a checksum."""

import dataclasses
import hashlib
import io
import json
import os
import re
import struct
import zipfile
import zlib
from pathlib import Path

import jax
import numpy as np

from jaxgbg.contents import Readable, open_file, parse_json, reason
from jaxgbg.games.precision import in_32_bits
from jaxgbg.players import GreedyAgent
from jaxgbg.runs.run import RulesChanged, Run
from jaxgbg.runs.storage.files import written_whole
from jaxgbg.runs.storage.quantized import (
    Bits,
    Quantized,
    dequantize,
    number_of_blocks,
    quantize,
)
from jaxgbg.runs.storage.schemas import AgentHeader, validate
from jaxgbg.runs.storage.zoo import file_at
from jaxgbg.specs import shown

_MAGIC = b"jaxgbg agent 1\n"
_DIGEST = 2 * hashlib.sha256().digest_size + 1
# Rows of tables are int32, and this holds as many weights of four bytes without any compression.
MOST_BYTES = 2**34
_MOST_HEADER = 2**22
# Deflate makes nothing smaller than this share.
_DEFLATE = 1040
_PIECE = 2**20
# How NumPy begins a file of an array: 128 bytes, for the few dimensions that ours have.
_NPY_BEGINNING = 128
_NPY = re.compile(
    rb"\x93NUMPY\x01\x00..\{'descr': '(?P<dtype>[<>|][a-z]\d{1,2})',"
    rb" 'fortran_order': (?:False|True), 'shape': \((?P<shape>[\d, ]{0,64})\), \} *\n",
    re.DOTALL,
)


@dataclasses.dataclass(frozen=True)
class SavedAgent:
    """A trained agent: its run with its seed alone, its FARL variant, its weights float32[R].

    Of an ensemble `members` are the digests of the runs and the variants that it is made of.
    """

    run: Run
    variant: str
    weights: np.ndarray
    members: tuple[str, ...] = ()

    @property
    def seed(self) -> int:
        """The seed it was trained with."""
        return self.run.seeds[0]

    @in_32_bits
    def player(self) -> "LoadedAgent":
        """The agent as a player of its game."""
        return LoadedAgent(self)


@jax.tree_util.register_pytree_node_class
class LoadedAgent(GreedyAgent):
    """A trained agent from a file, as `jaxgbg.load` returns it: a `GreedyAgent` and its training.

    Properties of the training, which cannot be set: `run` with all settings and one seed, `seed`,
    and `variant` (with FARL or without: "farl", "none"). `members` names the trainings of an
    ensemble, whose settings are those of the first one.
    """

    def __init__(self, saved: SavedAgent) -> None:
        learner = saved.run.make_learner()
        params = learner.value.with_weights(saved.weights)
        super().__init__(learner.game, learner.value, params, saved.run.learner.bootstrap)
        self._training: tuple[Run, str, tuple[str, ...]] | None = (
            saved.run,
            saved.variant,
            saved.members,
        )

    @property
    def run(self) -> Run:
        """The settings of its training, with its own seed alone."""
        return self._known[0]

    @property
    def seed(self) -> int:
        """The seed of its training."""
        return self.run.seeds[0]

    @property
    def variant(self) -> str:
        """The FARL variant of its training: "farl", "part1", "none", or of means "farl-mean"."""
        return self._known[1]

    @property
    def members(self) -> tuple[str, ...]:
        """The digests and variants of the members of an ensemble; () for other agents."""
        return self._known[2]

    @property
    def _known(self) -> tuple[Run, str, tuple[str, ...]]:
        training = getattr(self, "_training", None)
        if training is None:
            raise AttributeError("an agent that JAX has rebuilt does not know its training")
        return training

    def saved(self) -> SavedAgent:
        """The agent as its file holds it."""
        weights = self.value.weights_of(self.first[0])
        return SavedAgent(self.run, self.variant, weights, self.members)

    def __repr__(self) -> str:
        if getattr(self, "_training", None) is None:
            return super().__repr__()
        run = self.run
        how = [run.value.kind, run.learner.kind, self.variant, f"seed {self.seed}"]
        if self.members:
            how = [run.value.kind, run.learner.kind, f"ensemble of {len(self.members)}"]
        episodes = f"{run.schedule.episodes:,} episodes"
        return f"<{type(self).__name__} of {shown(self.game)}: {', '.join([*how, episodes])}>"


def save_agent(path: Path, agent: SavedAgent, bits: Bits | None = None) -> None:
    """Write magic line, SHA-256 of the rest, then a compressed npz of header and weights.

    With `bits` the weights are rounded to so many each (`quantize`); without, they are float32. The
    file appears whole or not at all.
    """
    header = {"run": agent.run.plain(), "variant": agent.variant, "members": agent.members}
    text = np.frombuffer(json.dumps(header).encode(), np.uint8)
    buffer = io.BytesIO()
    if bits is None:
        np.savez_compressed(buffer, header=text, weights=agent.weights)
    else:
        np.savez_compressed(buffer, header=text, **quantize(agent.weights, bits)._asdict())
    body = buffer.getvalue()
    digest = hashlib.sha256(body).hexdigest().encode() + b"\n"
    with written_whole(path) as temporary:
        temporary.write_bytes(_MAGIC + digest + body)


def load_agent(path: Readable, game: str | None = None) -> SavedAgent:
    """Read an agent file or `zoo:NAME`, its checksum, its run and its weights verified.

    Nothing is unpacked before its size is known and fits. Raises ValueError in one line if the file
    is missing, truncated, altered, no agent at all, holds what no agent has, or plays another game
    than `game`.
    """
    place = file_at(path)
    try:
        with open_file(place, MOST_BYTES) as file:
            agent = _read(file)
    except _Damaged as error:
        raise ValueError(f"agent file {path} is damaged: {error}, train it again") from error
    except RulesChanged as error:
        raise ValueError(f"agent file {path} was {error}: train it again") from error
    except (OSError, ValueError) as error:
        raise ValueError(f"agent file {path}: {reason(error)}") from error
    if game is not None and agent.run.game.name != game:
        raise ValueError(f"agent file {path} plays {agent.run.game.name}, not {game}")
    return agent


# What zipfile raises for a damaged file; RuntimeError for one that seems encrypted.
_UNZIPPING = (
    zipfile.BadZipFile,
    zlib.error,
    struct.error,
    ArithmeticError,
    EOFError,
    LookupError,
    RuntimeError,
)


class _Damaged(ValueError):
    """An agent file is not as it was written."""


def _read(file: io.BufferedReader) -> SavedAgent:
    if file.read(len(_MAGIC)) != _MAGIC:
        raise ValueError("not an agent of jaxgbg; a run keeps its agents in its folder agents")
    digest = file.read(_DIGEST)
    if hashlib.file_digest(file, "sha256").hexdigest().encode() + b"\n" != digest:
        raise _Damaged("truncated or altered")
    try:
        archive = zipfile.ZipFile(file)
        text = _array(archive, "header", np.uint8, f"at most {_MOST_HEADER:,} bytes", _MOST_HEADER)
    except _UNZIPPING as error:
        raise _Damaged(f"cannot be unpacked ({reason(error)})") from error
    # The network's shapes come from JAX, whose errors say nothing about the file.
    header = validate(AgentHeader, parse_json(text.tobytes()))
    needed = header.run.make_learner().value.num_weights
    rounded = "steps.npy" in archive.namelist()
    least = needed // 8 if rounded else needed * 4
    if least > _DEFLATE * file.seek(0, os.SEEK_END):
        raise ValueError(f"too short for the {needed:,} weights of its n-tuples or network")
    try:
        weights = _rounded(archive, needed) if rounded else _weights(archive, needed)
    except _UNZIPPING as error:
        raise _Damaged(f"cannot be unpacked ({reason(error)})") from error
    if not np.isfinite(weights).all():
        raise ValueError("some weights are not finite numbers: its network has diverged")
    return SavedAgent(header.run, header.variant, weights, header.members)


def _weights(archive: zipfile.ZipFile, size: int) -> np.ndarray:
    """The weights of an agent, float32[size]."""
    words = f"its n-tuples or network need float32[{size}]"
    return _array(archive, "weights", np.float32, words, size, size)


def _rounded(archive: zipfile.ZipFile, size: int) -> np.ndarray:
    """The weights of an agent that keeps them in 8 or 16 bits, float32[size]."""
    words = f"its n-tuples or network have {size:,} weights"
    blocks, places = number_of_blocks(size), -(-size // 8)
    steps = _array(archive, "steps", np.float32, words, blocks, blocks)
    active = _array(archive, "active", np.uint8, words, places, places)
    codes = _array(archive, "codes", (np.int8, np.int16), words, size)
    return dequantize(Quantized(steps, active, codes), size)


def _array(
    archive: zipfile.ZipFile,
    name: str,
    kinds: type | tuple[type, ...],
    words: str,
    most: int,
    least: int = 0,
) -> np.ndarray:
    """An array of one dimension, of `least` to `most` numbers, which is what `words` say.

    Raises ValueError before anything is unpacked where it is another one.
    """
    about = archive.getinfo(f"{name}.npy")
    if about.compress_type not in (zipfile.ZIP_DEFLATED, zipfile.ZIP_STORED):
        raise ValueError("compressed by another method")
    with archive.open(about) as file:
        beginning = file.read(_NPY_BEGINNING)
        found = _NPY.match(beginning)
        if found is None:
            raise ValueError(f"{name} without an array of numbers")
        shape = [int(size) for size in found["shape"].split(b",") if size.strip()]
        dtype = np.dtype(found["dtype"].decode())
        allowed = kinds if isinstance(kinds, tuple) else (kinds,)
        if dtype not in allowed or len(shape) != 1 or not least <= shape[0] <= most:
            raise ValueError(f"{dtype}{shape} {name}, but {words}")
        if about.file_size != found.end() + shape[0] * dtype.itemsize:
            raise ValueError(f"{dtype}{shape} {name}, but {about.file_size:,} bytes of them")
        array: np.ndarray = np.empty(shape, dtype)
        view = memoryview(array.view(np.uint8).data)
        place, piece = 0, beginning[found.end() :] or file.read(_PIECE)
        while piece:
            view[place : place + len(piece)] = piece
            place += len(piece)
            piece = file.read(_PIECE)
    if place != len(view):
        raise ValueError(f"{name} that end too early")
    return array
