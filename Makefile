PYTHON ?= python3
BIN := .venv/bin
PIP := $(BIN)/python -m pip --disable-pip-version-check --quiet

RUN_ARGS ?= ablate tictactoe nim nim3p connectfour --seeds 10 nim3p=5 connectfour=4 \
	--episodes connectfour=100000 --eval-every connectfour=20000 \
	--opponents connectfour=solver --json runs/ablation.json
BENCH_ARGS ?=
FAULTS_ARGS ?=
PYTEST_ARGS ?= -n 2 --dist worksteal

.PHONY: help run bench test test-fast test-all test-every faults test-notebooks notebooks docs lint format clean

help:
	@echo 'make run        train with and without FARL on four games and print the table'
	@echo 'make bench      measure training speed at the parameters of the paper'
	@echo 'make test       lint, format check, types and the fast half of the tests: minutes'
	@echo 'make test-all   the same and the slow half'
	@echo 'make faults     disturb real runs in every way we know and tally what was lost: minutes'
	@echo 'make notebooks  run notebooks/*.py in full and keep what comes out beside them'
	@echo 'make test-notebooks  every cell of the notebooks, with tiny budgets'
	@echo 'make docs       the site in docs/_build/html, and all examples in pages and docstrings'
	@echo 'make lint       lint, format check and types only'
	@echo 'make format     rewrite the code in the format that lint asks for'
	@echo 'make clean      delete .venv and all caches; what is under runs/ stays'
	@echo
	@echo 'The first call creates .venv with $(PYTHON); PYTHON=python3.12 chooses another.'
	@echo 'RUN_ARGS, BENCH_ARGS, PYTEST_ARGS and FAULTS_ARGS replace the arguments of the command behind a target.'

run: .venv/.run-stamp
	@mkdir -p runs
	$(BIN)/jaxgbg $(RUN_ARGS)

bench: .venv/.run-stamp
	$(BIN)/jaxgbg bench $(BENCH_ARGS)

# What lint does takes one core, while the tests begin on the other.
test: .venv/.dev-stamp
	@$(MAKE) --no-print-directory -j 2 lint test-fast

test-fast: .venv/.dev-stamp
	$(BIN)/python -m pytest $(PYTEST_ARGS) -m 'not slow'

test-all: .venv/.dev-stamp
	@$(MAKE) --no-print-directory -j 2 lint test-every

test-every: .venv/.dev-stamp
	$(BIN)/python -m pytest $(PYTEST_ARGS)

faults: .venv/.dev-stamp
	$(BIN)/python -m tests.faults $(FAULTS_ARGS)
	$(BIN)/python -m pytest -q tests/sweeps/test_ray.py

test-notebooks: .venv/.dev-stamp
	JAXGBG_NOTEBOOK_BUDGET=0.01 $(BIN)/python -m pytest $(PYTEST_ARGS) --nbmake notebooks/*.ipynb

notebooks: .venv/.dev-stamp
	TQDM_DISABLE=1 $(BIN)/jupytext --to ipynb --set-kernel python3 --execute notebooks/*.py
	# A board is a picture to whoever has no kernel, where the state of its widget is not kept.
	$(BIN)/jupytext --update-metadata '{"widgets": null}' notebooks/*.ipynb

# The builder `doctest` runs the examples of the pages, pytest those of the docstrings.
docs: .venv/.dev-stamp
	$(BIN)/python -m sphinx -q -W --keep-going -d docs/_build/doctrees -b html docs docs/_build/html
	$(BIN)/python -m sphinx -q -W --keep-going -d docs/_build/doctrees -b doctest docs docs/_build/doctest
	$(BIN)/python -m pytest -q --doctest-modules jaxgbg
	@echo 'open docs/_build/html/index.html'

lint: .venv/.dev-stamp
	$(BIN)/ruff check
	$(BIN)/ruff format --check
	$(BIN)/mypy

format: .venv/.dev-stamp
	$(BIN)/ruff check --fix
	$(BIN)/ruff format

clean:
	rm -rf docs/_build docs/gallery docs/notebooks .venv .cache .mypy_cache .pytest_cache .ruff_cache build dist
	find . -name __pycache__ -type d -prune -exec rm -rf {} +

# A stamp is written after everything before it has succeeded, so a failed step is tried again.
.venv/.venv-stamp:
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || \
		{ echo 'jaxgbg needs Python 3.11 or newer: make PYTHON=python3.11 ...' >&2; exit 1; }
	$(PYTHON) -m venv .venv
	@touch $@

.venv/.run-stamp: pyproject.toml | .venv/.venv-stamp
	@echo 'Installing jaxgbg into .venv (once; a minute or two)'
	$(PIP) install --editable '.[connectfour,play]'
	@touch $@

# The dev extra holds all that `make run` needs.
.venv/.dev-stamp: pyproject.toml | .venv/.venv-stamp
	@echo 'Installing jaxgbg and its development tools into .venv (once; a minute or two)'
	$(PIP) install --editable '.[dev]'
	@touch .venv/.run-stamp $@
