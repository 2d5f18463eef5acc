"""Install a wheel into an empty environment and use it there, far from the source tree.

    .venv/bin/python .ci/test_wheel.py dist/jaxgbg-0.1.0-py3-none-any.whl

The commands of README and its Python example have to work with what `pip install jaxgbg` brings,
and each optional feature has to name the extra that it lacks.
"""

import os
import re
import subprocess
import sys
import tempfile
import venv
from pathlib import Path

README = Path(__file__).resolve().parents[1] / "README.md"

COMMANDS = """
jaxgbg --version
jaxgbg train nim --episodes 2000 --eval-every 1000 --seeds 2
jaxgbg eval runs/nim-RUN
jaxgbg zoo
jaxgbg eval zoo:tictactoe --opponent maxn
jaxgbg play runs/nim-RUN --export game.html
jaxgbg report runs
jaxgbg results runs
"""
# All agents of the zoo are in the wheel, each with its card, and small.
ZOO = """
from jaxgbg.runs.storage.zoo import FOLDER, card_of, zoo_names
names = zoo_names()
assert names, f"no agents in {FOLDER}"
assert all((FOLDER / f"{name}.agent").stat().st_size == card_of(name).bytes for name in names)
print(f"{len(names)} agents of the zoo")
"""
FILES = ("game.html", "runs/report.html")

# Run in the empty environment: each command has to end with exit code 2 and name its extra.
MISSING_EXTRAS = """
import contextlib, io, sys
from pathlib import Path
import jaxgbg
from jaxgbg.cli import app
from jaxgbg.runs import devices

devices.prepare_jax()
devices.prepare_jax = lambda: None
Path("sweep.toml").write_text('game = "nim"\\nseeds = "0:4"\\n[settings]\\nepisodes = 200\\n'
                              '[axes]\\nalpha = [0.1, 0.5]\\n')
COMMANDS = {
    "analysis": "results runs --sql SELECT",
    "adaptive": "sweep sweep.toml --adaptive halving",
    "connectfour": "train connectfour --episodes 64 --opponents ab",
    "ludax": "train ludax:yavalath --episodes 64",
    "pgx": "train pgx:tic_tac_toe --episodes 64",
    "play": "play nim",
    "ray": "sweep sweep.toml --executor ray",
    "slurm": "sweep sweep.toml --executor slurm",
    "tensorboard": "train nim --episodes 64 --log tensorboard",
    "wandb": "train nim --episodes 64 --log wandb",
}
wrong = []
for extra, command in COMMANDS.items():
    sys.argv = ["jaxgbg", *command.split()]
    said = io.StringIO()
    code = 0
    with contextlib.redirect_stdout(said), contextlib.redirect_stderr(said):
        try:
            app.main()
        except SystemExit as stop:
            code = stop.code
    lines = said.getvalue().strip().splitlines()
    print(f"$ jaxgbg {command}", *lines, sep="\\n  ")
    if code != 2 or not lines or f"pip install 'jaxgbg[{extra}]'" not in lines[-1]:
        wrong.append(f"{extra}: exit code {code}")
try:
    jaxgbg.board("nim")
    wrong.append("notebooks: no error")
except jaxgbg.players.MissingExtra as error:
    print("jaxgbg.board:", error)
    if "pip install 'jaxgbg[notebooks]'" not in str(error):
        wrong.append("notebooks")
sys.exit("; ".join(wrong) or 0)
"""


def main(wheel: Path) -> None:
    with tempfile.TemporaryDirectory(prefix="jaxgbg-wheel-") as name:
        folder = Path(name)
        venv.create(folder / "env", with_pip=True)
        scripts = folder / "env" / ("Scripts" if os.name == "nt" else "bin")
        python = scripts / "python"
        work = folder / "work"
        work.mkdir()
        environment = {
            key: value
            for key, value in os.environ.items()
            if not key.startswith(("PYTHON", "JAX", "MAKE", "VIRTUAL_ENV"))
        }
        environment["PATH"] = f"{scripts}{os.pathsep}{environment['PATH']}"
        environment["XDG_CACHE_HOME"] = str(folder / "cache")

        def run(*command: str | Path) -> str:
            done = subprocess.run(
                command, cwd=work, env=environment, text=True, stdout=subprocess.PIPE, check=False
            )
            if done.returncode:
                shown = " ".join(map(str, command[:3]))
                sys.exit(f"{done.stdout}\nexit code {done.returncode}: {shown}")
            return done.stdout

        pip = (python, "-m", "pip", "--disable-pip-version-check", "--quiet")
        # The cache of pip's downloads is not in the empty one of the commands.
        subprocess.run([*pip, "install", wheel.resolve()], cwd=work, check=True)
        for line in COMMANDS.split("\n"):
            if line:
                print("$", line, flush=True)
                if "nim-RUN" in line:
                    (run_folder,) = (work / "runs").glob("nim-*/")
                    line = line.replace("nim-RUN", run_folder.name)
                print(run(*line.split()), flush=True)
        for file in FILES:
            assert (work / file).stat().st_size > 10_000, f"{file} was not written"
        for example in re.findall(r"```python\n(.*?)```", README.read_text("utf-8"), re.DOTALL):
            print(f"{example}>>>", run(python, "-c", example), flush=True)
        print(run(python, "-c", ZOO))
        print(run(python, "-c", MISSING_EXTRAS))
        where = run(python, "-c", "import jaxgbg; print(jaxgbg.__file__)").strip()
        assert Path(where).is_relative_to(folder), f"jaxgbg was imported from {where}"
        assert Path(where).with_name("py.typed").is_file(), "py.typed is missing"
    print(f"{wheel.name} works in an empty environment of Python {sys.version.split()[0]}")


if __name__ == "__main__":
    main(Path(sys.argv[1]))
