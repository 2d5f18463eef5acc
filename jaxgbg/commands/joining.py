"""The command that makes one agent of several: `ensemble`."""

from pathlib import Path
from typing import Annotated

from tyro.conf import Positional, arg

from jaxgbg.commands.common import optional
from jaxgbg.specs import checked
from jaxgbg.training.agents import load_agent, save_agent
from jaxgbg.training.ensembles import ensemble as joined
from jaxgbg.training.files import check_writable
from jaxgbg.training.opponents import agents_of
from jaxgbg.training.run import MEAN


@checked
def ensemble(
    file: Annotated[Positional[Path], arg(metavar="FILE")],
    agents: Annotated[Positional[tuple[Path, ...]], arg(metavar="AGENT|RUN ...")],
    variant: Annotated[str | None, optional("VARIANT", "the averaged weights, if any")] = None,
    replace: bool = False,
) -> None:
    """Make one agent of several n-tuple agents, whose value is the mean of theirs.

    Args:
      file: Agent file to write.
      agents: Agent files, and folders of runs for their agents of every seed.
      variant: Which agents of a run: farl, farl-mean, none ...
      replace: Write the file also where there is one already.
    """
    check_writable(file)
    if file.exists() and not replace:
        raise ValueError(f"{file} is there already: --replace writes it anew")
    files = [each for place in agents for each in _files(place, variant)]
    save_agent(file, joined([load_agent(each) for each in files]))
    print(f"{file}: the mean of {len(files)} agents")


def _files(place: Path, variant: str | None) -> list[Path]:
    """Agents of a run's folder, of one variant; anything else is itself."""
    if not place.is_dir():
        return [place]
    files = agents_of(place)
    variants = {_variant(file) for file in files}
    first = _variant(files[0]).removesuffix(MEAN)
    wanted = variant or (first + MEAN if first + MEAN in variants else first)
    if wanted not in variants:
        known = ", ".join(sorted(variants))
        raise ValueError(f"{place} holds no agents {wanted!r}; it has {known}")
    return [file for file in files if _variant(file) == wanted]


def _variant(file: Path) -> str:
    return file.stem.partition("-")[2]
