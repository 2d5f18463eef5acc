"""The command `ensemble`: combine several agents into one."""

from pathlib import Path
from typing import Annotated

from tyro.conf import Positional, arg

from jaxgbg.cli.common import optional
from jaxgbg.cli.outputs import GUARDED
from jaxgbg.cli.session import start_jax
from jaxgbg.runs.run import MEAN
from jaxgbg.specs import checked


@checked
def ensemble(
    file: Annotated[Positional[Path], arg(metavar="FILE"), GUARDED],
    agents: Annotated[Positional[tuple[Path, ...]], optional("AGENT|RUN ...")],
    variant: Annotated[str | None, optional("VARIANT", "averaged weights, if any")] = None,
    replace: bool = False,
) -> None:
    """Combine several n-tuple agents into one, whose sum of weights is the mean of theirs.

    Args:
      file: Agent file to write.
      agents: Agent files, and folders of finished runs for the agents of all their seeds.
      variant: Which agents of the runs: farl, farl-mean, none ...
      replace: Overwrite an existing file.
    """
    if variant is not None and not any(place.is_dir() for place in agents):
        raise ValueError("--variant chooses among the agents of a run: name the folder of a run")
    members = [each for place in agents for each in _files(place, variant)]
    places = [each.resolve() for each in members]
    for number, place in enumerate(places):
        if place in places[:number]:
            raise ValueError(f"{members[number]} is given twice")
    start_jax()
    from jaxgbg.runs.storage.agents import load_agent, save_agent
    from jaxgbg.runs.storage.ensembles import ensemble as join

    save_agent(file, join({str(each): load_agent(each) for each in members}))
    print(f"{file} is the mean of {len(members)} agents:")
    for each in members:
        print(f"  {each}")


def _files(place: Path, variant: str | None) -> list[Path]:
    """The agents of one variant in a run's folder; for any other path, the path itself."""
    if not place.is_dir():
        return [place]
    start_jax()
    from jaxgbg.runs import RunFolder
    from jaxgbg.runs.opponents import agents_of

    files = agents_of(place)
    if not RunFolder.open(place).finished:
        raise ValueError(f"{place} is not finished: give the same command again to train it")
    variants = {_variant(file) for file in files}
    first = _variant(files[0]).removesuffix(MEAN)
    wanted = variant or (first + MEAN if first + MEAN in variants else first)
    if wanted not in variants:
        known = ", ".join(sorted(variants))
        raise ValueError(f"{place} holds no agents {wanted!r}; it has {known}")
    return [file for file in files if _variant(file) == wanted]


def _variant(file: Path) -> str:
    return file.stem.partition("-")[2]
