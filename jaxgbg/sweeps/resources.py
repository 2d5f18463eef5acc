"""What Ray or Slurm gives to each unit of a sweep."""

import dataclasses

from jaxgbg.specs import Spec, setting


@dataclasses.dataclass(frozen=True)
class Resources(Spec):
    """The resources that Ray or Slurm gives to each unit.

    Attributes:
      cpus: CPU cores of each unit, which share its lanes where it has no GPU.
      gpus: GPUs of each unit, which share its lanes.
      job_memory_gb: Main memory of each unit, in 10^9 bytes.
      minutes: slurm: time limit of a job; a unit that was cut off resumes from its checkpoint.
      partition: slurm: partition of the jobs.
      account: slurm: account that is charged.
    """

    cpus: int = setting(1, low=1, high=4096)
    gpus: int = setting(0, low=0, high=4096)
    job_memory_gb: float | None = setting(None, above=0, high=1_000_000)
    minutes: int = setting(24 * 60, low=1, high=10_000_000)
    partition: str | None = None
    account: str | None = None

    def check_executor(self, executor: str) -> None:
        """Raise ValueError for what this executor does not give."""
        known = {"ray": ("cpus", "gpus", "job_memory_gb"), "slurm": tuple(self.help())}
        for name in self.changed():
            if name not in known.get(executor, ()):
                able = [each for each, names in known.items() if name in names]
                option = name.replace("_", "-")
                raise ValueError(f"--{option} is for --executor {' or '.join(able)}")
