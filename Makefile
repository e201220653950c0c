# The few verbs that everyone needs. `make run` and `make test` set up what they need the first time.

PYTHON ?= python3
VENV   ?= .venv
BIN    := $(VENV)/bin
READY  := $(VENV)/.ready
STORE  ?= worldaudit-store

.PHONY: run test test-services test-vllm lint format bench setup clean

run: $(READY)                  ## the base audit with the embedded judges; prints where the report is
	$(BIN)/worldaudit run minigrid --profile base --store $(STORE)

test: $(READY)                 ## every test that needs no service of its own
	$(BIN)/python -m pytest -n auto --dist loadgroup -m "not vllm and not postgres"

test-services: $(READY)        ## with a real Prefect server on a real PostgreSQL
	$(BIN)/python -m pytest -m postgres

test-vllm: $(READY)            ## with a real vLLM server on the CPU
	$(BIN)/python -m pytest -m vllm

lint: $(READY)
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/lint-imports

format: $(READY)
	$(BIN)/ruff check --fix .
	$(BIN)/ruff format .

bench: $(READY)                ## each script prints ratios against a stated baseline of the same run
	@set -e; for script in $(filter-out __init__,$(notdir $(basename $(wildcard bench/*.py)))); do echo "== bench/$$script.py"; $(BIN)/python -m bench.$$script; done

setup: $(READY)

# `prepare` migrates the database of Prefect's server once, so that no run has to.
$(READY): requirements.lock pyproject.toml
	@$(PYTHON) -c 'import sys; v = sys.version_info[:2]; (3, 11) <= v < (3, 14) or sys.exit("Python 3.11 to 3.13 is needed, $(PYTHON) is %d.%d; name another with make PYTHON=python3.12" % v)'
	@test -x $(BIN)/python || $(PYTHON) -m venv $(VENV) || { rm -rf $(VENV); echo "$(PYTHON) cannot make a virtual environment; on Debian: apt-get install python3-venv" >&2; exit 1; }
	$(BIN)/python -m pip install --quiet --disable-pip-version-check -r requirements.lock
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --no-deps -e .
	$(BIN)/python -m flows.operations.server prepare
	@touch $@

clean:                         ## what `make` built; the store stays
	rm -rf $(VENV) build dist *.egg-info
