PYTHON ?= python3
VENV ?= .venv
# `newest` or, for the lower bounds of pyproject.toml, `oldest`.
VERSIONS ?= newest
BIN := $(VENV)/bin
PIP := $(BIN)/python -m pip --disable-pip-version-check --quiet
# Development needs about two hundred packages: pip installs them in minutes, uv in seconds. Only uv can
# ask for the lower bounds.
RESOLUTION := $(if $(filter oldest,$(VERSIONS)),--resolution lowest-direct)
UV_INSTALL = $(PIP) install uv && $(BIN)/uv pip install --quiet --python $(BIN)/python $(RESOLUTION)

# An environment keeps the Python that it was made with.
ifneq ($(origin PYTHON),file)
ifneq ($(wildcard $(BIN)/python),)
ifeq ($(filter clean help test-oldest,$(MAKECMDGOALS)),)
WANTED := $(shell $(PYTHON) --version 2>&1)
PRESENT := $(shell $(BIN)/python --version 2>&1)
ifneq ($(WANTED),$(PRESENT))
$(error $(VENV) has $(PRESENT), but PYTHON=$(PYTHON) is "$(WANTED)": `make clean` first, \
	or have both with VENV=.venv-other)
endif
endif
endif
endif

RUN_ARGS ?= ablate tictactoe nim nim3p connectfour --seeds 10 nim3p=5 connectfour=4 \
	--episodes connectfour=100000 --eval-every connectfour=20000 \
	--opponents connectfour=solver --json runs/ablation.json
BENCH_ARGS ?=
FAULTS_ARGS ?=
PYTEST_ARGS ?= -n 2 --dist worksteal
# Where a version of JAX or of another package shows, short enough for every run of CI.
OLDEST_TESTS ?= tests/values tests/learners tests/search tests/runs tests/cli tests/results

.PHONY: help environment run bench test test-fast test-all test-every faults figures-check \
	test-notebooks test-newest test-slow test-slow-half test-oldest test-older-runs test-wheel notebooks docs dist lint format clean

help:
	@echo 'make run        train with and without FARL on four games and print the table'
	@echo 'make bench      measure training speed at the parameters of the paper'
	@echo 'make test       lint, format check, types and the fast half of the tests: minutes'
	@echo 'make test-all   the same and the slow half'
	@echo 'make test-slow        the slow half'
	@echo 'make test-newest      the fast half, and slow tests about what only the newest JAX gets wrong'
	@echo 'make test-oldest      a part of the fast tests with the oldest versions of all packages'
	@echo 'make test-older-runs  runs and agents of the oldest versions, loaded by this one'
	@echo 'make test-wheel       install the wheel into an empty environment and use it there'
	@echo 'make faults     disturb real runs in every way we know and tally what was lost: minutes'
	@echo 'make environment      install jaxgbg and its development tools, nothing else'
	@echo 'make notebooks  run notebooks/*.py in full and keep what comes out beside them'
	@echo 'make figures-check  recompute the figures of all pages from the kept data'
	@echo 'make test-notebooks  every cell of the notebooks, with tiny budgets'
	@echo 'make docs       the site in docs/_build/html, and all examples in pages and docstrings'
	@echo 'make dist       sdist and wheel in dist/, checked for the package index'
	@echo 'make lint       lint, format check and types only'
	@echo 'make format     rewrite the code in the format that lint asks for'
	@echo 'make clean      delete all environments and caches; what is under runs/ stays'
	@echo
	@echo 'The first call creates .venv with $(PYTHON); PYTHON=python3.13 chooses another,'
	@echo 'VENV=.venv-3.13 PYTHON=python3.13 keeps it beside the first.'
	@echo 'RUN_ARGS, BENCH_ARGS, PYTEST_ARGS and FAULTS_ARGS replace the arguments of the command behind a target.'

run: $(VENV)/.run-stamp
	@mkdir -p runs
	$(BIN)/jaxgbg $(RUN_ARGS)

bench: $(VENV)/.run-stamp
	$(BIN)/jaxgbg bench $(BENCH_ARGS)

environment: $(VENV)/.dev-stamp

# What lint does takes one core, while the tests begin on the other.
test: $(VENV)/.dev-stamp
	@$(MAKE) --no-print-directory -j 2 lint test-fast

test-fast: $(VENV)/.dev-stamp
	$(BIN)/python -m pytest $(PYTEST_ARGS) -m 'not slow'

# What is right with the default Python can be wrong with the newest JAX, as compile times were.
test-newest: $(VENV)/.dev-stamp
	$(BIN)/python -m pytest $(PYTEST_ARGS) -m 'not slow or newest'

test-all: $(VENV)/.dev-stamp
	@$(MAKE) --no-print-directory -j 2 lint test-every

# All that `test-newest` leaves out.
test-slow: $(VENV)/.dev-stamp
	@$(MAKE) --no-print-directory -j 2 lint test-slow-half

test-slow-half: $(VENV)/.dev-stamp
	$(BIN)/python -m pytest $(PYTEST_ARGS) -m slow

test-every: $(VENV)/.dev-stamp
	$(BIN)/python -m pytest $(PYTEST_ARGS)

test-oldest:
	@$(MAKE) --no-print-directory test-fast VENV=.venv-oldest VERSIONS=oldest \
		PYTEST_ARGS='$(PYTEST_ARGS) $(OLDEST_TESTS)'

test-older-runs: $(VENV)/.dev-stamp
	@[ -x .venv-oldest/bin/python ] || \
		{ echo '.venv-oldest is missing: first' \
			'make environment VENV=.venv-oldest VERSIONS=oldest PYTHON=python3.11' >&2; exit 1; }
	JAXGBG_OLDEST=.venv-oldest/bin/python $(BIN)/python -m pytest tests/test_older_runs.py

# Nothing of the source tree is in reach of the installed package.
test-wheel: dist
	$(BIN)/python .ci/test_wheel.py dist/*.whl

faults: $(VENV)/.dev-stamp
	$(BIN)/python -m tests.faults $(FAULTS_ARGS)
	$(BIN)/python -m pytest -q tests/sweeps/test_ray.py

# Boxes and pictures are in the tests, all other figures in the command.
figures-check: $(VENV)/.dev-stamp
	$(BIN)/python -m experiments.check
	$(BIN)/python -m pytest $(PYTEST_ARGS) -m figures --deselect tests/experiments/test_check.py tests/experiments

test-notebooks: $(VENV)/.dev-stamp
	JAXGBG_NOTEBOOK_BUDGET=0.01 $(BIN)/python -m pytest $(PYTEST_ARGS) --nbmake notebooks/*.ipynb

notebooks: $(VENV)/.dev-stamp
	TQDM_DISABLE=1 $(BIN)/jupytext --to ipynb --set-kernel python3 --execute notebooks/*.py
	# A board is a picture to whoever has no kernel, where the state of its widget is not kept.
	$(BIN)/jupytext --update-metadata '{"widgets": null}' notebooks/*.ipynb

# The builder `doctest` runs the examples of the pages, pytest those of the docstrings.
docs: $(VENV)/.dev-stamp
	$(BIN)/python -m sphinx -q -W --keep-going -d docs/_build/doctrees -b html docs docs/_build/html
	$(BIN)/python -m sphinx -q -W --keep-going -d docs/_build/doctrees -b doctest docs docs/_build/doctest
	$(BIN)/python -m pytest -q --doctest-modules jaxgbg
	@echo 'open docs/_build/html/index.html'

dist: $(VENV)/.dev-stamp
	rm -rf dist
	$(BIN)/python -m build
	$(BIN)/python -m twine check --strict dist/*

lint: $(VENV)/.dev-stamp
	$(BIN)/ruff check
	$(BIN)/ruff format --check
	$(BIN)/mypy

format: $(VENV)/.dev-stamp
	$(BIN)/ruff check --fix
	$(BIN)/ruff format

clean:
	rm -rf docs/_build docs/gallery docs/notebooks .venv .venv-* .cache .mypy_cache .pytest_cache .ruff_cache build dist
	find . -name __pycache__ -type d -prune -exec rm -rf {} +

# A stamp is written after everything before it has succeeded, so a failed step is tried again.
$(VENV)/.venv-stamp:
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || \
		{ echo 'jaxgbg needs Python 3.11 or newer: make PYTHON=python3.11 ...' >&2; exit 1; }
	$(PYTHON) -m venv $(VENV)
	@touch $@

$(VENV)/.run-stamp: pyproject.toml | $(VENV)/.venv-stamp
	@echo 'Installing jaxgbg into $(VENV) (once; a minute or two)'
	$(PIP) install --editable '.[connectfour,play]'
	@touch $@

# The dev extra holds all that `make run` needs.
$(VENV)/.dev-stamp: pyproject.toml | $(VENV)/.venv-stamp
	@echo 'Installing jaxgbg and its development tools into $(VENV) (once; a minute or two)'
	$(UV_INSTALL) --editable '.[dev]'
	@touch $(VENV)/.run-stamp $@
