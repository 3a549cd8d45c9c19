# Each target sets up what it needs in $(VENV), from a bare clone. A stamp per set of extras is renewed when
# pyproject.toml changes, so a second call starts at once.

PYTHON ?= python3
VENV ?= .venv
ARGS ?=

BIN := $(VENV)/bin
.DEFAULT_GOAL := help
.DELETE_ON_ERROR:
.PHONY: help demo test test-plain test-generic lint format bench notebooks clean

help: ## this list
	@awk -F ':.*## ' '/^[a-z-]+:.*## / {printf "  make %-14s %s\n", $$1, $$2}' $(firstword $(MAKEFILE_LIST))
	@echo "  ARGS=... is handed on (make test ARGS='-k jmi', make bench ARGS=--quick); PYTHON=... chooses the Python."

demo: $(VENV)/.stamp-base ## the main job on a bundled data set
	$(BIN)/jifs demo $(ARGS)

test: $(VENV)/.stamp-test ## the whole test suite
	$(BIN)/python -m pytest $(ARGS)

test-plain: $(VENV)/.stamp-test ## kernel tests as plain Python, for readable tracebacks
	NUMBA_DISABLE_JIT=1 $(BIN)/python -m pytest tests/kernels $(ARGS)

test-generic: $(VENV)/.stamp-test ## kernel tests compiled for a machine without wide vectors
	NUMBA_CPU_NAME=generic $(BIN)/python -m pytest tests/kernels $(ARGS)

lint: $(VENV)/.stamp-test ## format check, lint, types
	$(BIN)/ruff format --check .
	$(BIN)/ruff check .
	$(BIN)/mypy

format: $(VENV)/.stamp-test ## put the code into the house format
	$(BIN)/ruff check --fix .
	$(BIN)/ruff format .

bench: $(VENV)/.stamp-bench ## the benchmark tables on this machine
	$(BIN)/python -m tests.bench $(ARGS)

notebooks: $(VENV)/.stamp-notebooks ## make every notebook anew from its .py source and run it
	$(BIN)/jupytext --to ipynb --execute --run-path notebooks notebooks/[0-9]*.py

clean: ## remove what the other targets made
	rm -rf $(VENV) build dist *.egg-info jifs_demo.html .pytest_cache .mypy_cache .ruff_cache .hypothesis
	find . -name __pycache__ -type d -prune -exec rm -rf {} +

$(BIN)/python:
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || { \
	    echo "JIFS needs Python 3.11 or newer, and '$(PYTHON)' is not;" \
	         "name another one, for instance: make PYTHON=python3.12 $(MAKECMDGOALS)" >&2; exit 1; }
	$(PYTHON) -m venv $(VENV)

$(VENV)/.stamp-base: pyproject.toml | $(BIN)/python
	$(BIN)/python -m pip install --quiet --disable-pip-version-check -e .
	@touch $@

$(VENV)/.stamp-%: pyproject.toml | $(BIN)/python
	$(BIN)/python -m pip install --quiet --disable-pip-version-check -e '.[$*]'
	@touch $@
