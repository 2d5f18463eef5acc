"""Files as jaxgbg writes them, whole, and with something wrong inside."""

import functools
import hashlib
import io
import json
import zipfile

import numpy as np

from jaxgbg.runs.presets import preset

MAGIC = b"jaxgbg agent 1\n"
FOLDER = "runs/tictactoe-{digest}"


@functools.cache
def run():
    """A small run; nobody trains it."""
    return preset("tictactoe", seeds=(0,), variants=("farl",), episodes=100, eval_every=50)


@functools.cache
def _plain():
    return json.dumps(run().plain())


def config(**changes):
    """config.json with other parts."""
    return json.loads(_plain()) | changes


def header(**changes):
    """What an agent's file says of itself, with other parts of its run."""
    variant = changes.pop("variant", "farl")
    return {"run": config(**changes), "variant": variant}


def part(name, **changes):
    """A header whose run has another setting in one of its parts."""
    return header(**{name: config()[name] | changes})


@functools.cache
def weights():
    """float32[R]: those that the run's agent has."""
    size = run().make_learner().value.num_weights
    # Few numbers, so that the file is short.
    return np.resize(np.float32([-0.5, 0.0, 0.25]), size)


def agent(about=None, array=None):
    """An agent's file, sealed; `about` is its header, or the header's bytes."""
    about = header() if about is None else about
    text = about if isinstance(about, bytes) else json.dumps(about).encode()
    buffer = io.BytesIO()
    array = weights() if array is None else array
    np.savez_compressed(buffer, header=np.frombuffer(text, np.uint8), weights=array)
    return sealed(buffer.getvalue())


def sealed(body):
    """Magic line and the checksum that fits."""
    return MAGIC + hashlib.sha256(body).hexdigest().encode() + b"\n" + body


def body_of(data):
    """What of an agent's file stands behind magic line and checksum."""
    return data[len(MAGIC) + 65 :]


def with_entry(name, content, compression=zipfile.ZIP_DEFLATED):
    """A sealed agent's file, one entry of whose archive is `content`."""
    buffer = io.BytesIO()
    with (
        zipfile.ZipFile(io.BytesIO(body_of(agent()))) as old,
        zipfile.ZipFile(buffer, "w", compression) as new,
    ):
        for each in old.namelist():
            new.writestr(each, content if each == name else old.read(each))
    return sealed(buffer.getvalue())


def claimed(shape, kind="<f4", filled=b""):
    """An array's file as NumPy has it, that says to be of this shape."""
    text = f"{{'descr': '{kind}', 'fortran_order': False, 'shape': {shape}, }}"
    return b"\x93NUMPY\x01\x00v\x00" + text.ljust(117).encode() + b"\n" + filled


def bad_deflate():
    """A sealed agent's file whose compressed weights are no deflate stream."""
    body = bytearray(body_of(agent()))
    place = body.rindex(b"PK\x03\x04")
    start = (
        place + 30 + len("weights.npy") + int.from_bytes(body[place + 28 : place + 30], "little")
    )
    body[start : start + 20] = b"\xff" * 20
    return sealed(bytes(body))


SUMMARY = {"episodes": 100, "moves": 800, "training_seconds": 1.5, "moves_per_second": 533}
EVALUATION = {
    "seed": 0, "variant": "farl", "episodes": 100, "opponent": "random", "score": 0.5, "games": 20,
    "wins": 0.7,
}  # fmt: skip


def run_files(**replaced):
    """The files of a finished run's folder by name; `replaced` are bytes, or of JSON, None none."""
    counts = {"seed": 0, "variant": "farl", "counts": [1, 2]}
    files = {
        "config": config(),
        "metrics": json.dumps(EVALUATION).encode() + b"\n",
        "summary": SUMMARY,
        "provenance": {"command": ["jaxgbg", "train"], "versions": {"jax": "1"}, "started": "now"},
        "histograms": {"weights": {"edges": [-1.0, 0.0, 1.0], "agents": [counts]}},
        **replaced,
    }
    folder = FOLDER.format(digest=run().digest)
    return {
        f"{folder}/{name}.json{'l' * (name == 'metrics')}": content
        if isinstance(content, bytes)
        else json.dumps(content).encode()
        for name, content in files.items()
        if content is not None
    }
