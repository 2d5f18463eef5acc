"""The command `shrink`: round the weights of an agent, for a smaller file."""

from pathlib import Path
from typing import Annotated

from tyro.conf import Positional, arg

from jaxgbg.cli.outputs import GUARDED
from jaxgbg.cli.session import start_jax
from jaxgbg.runs.storage.quantized import Bits
from jaxgbg.specs import checked


@checked
def shrink(
    agent: Annotated[Positional[Path], arg(metavar="AGENT|RUN")],
    file: Annotated[Positional[Path], arg(metavar="FILE"), GUARDED],
    bits: Bits = 8,
    replace: bool = False,
) -> None:
    """Write an agent with 8 or 16 bits for a weight, and one bit for a weight of 0.

    Moves may change only where two values are nearly equal: measure it with `eval`.

    Args:
      agent: Agent file, zoo:NAME, or the folder of a run for its first agent.
      file: Agent file to write.
      bits: Bits of a weight.
      replace: Overwrite an existing file.
    """
    start_jax()
    from jaxgbg.runs.memory import memory_text
    from jaxgbg.runs.opponents import agent_file
    from jaxgbg.runs.storage.agents import load_agent, save_agent

    save_agent(file, load_agent(agent_file(agent)), bits)
    print(f"{file}: {memory_text(file.stat().st_size)}")
