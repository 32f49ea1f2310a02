# Every target sets up what it needs: only Python and make have to be there.
PYTHON ?= python3
VENV   := .venv
BIN    := $(VENV)/bin

.PHONY: demo test lint bench docs results clean

# One stamp per set of extras: reinstalled only when pyproject.toml changes.
$(VENV)/.installed-%: pyproject.toml
	@test -x $(BIN)/python || $(PYTHON) -m venv $(VENV)
	@# Torch by this exact version first: a CPU build; a range would fetch gigabytes for graphics cards.
	$(if $(filter test dev,$*),$(BIN)/python -m pip install --quiet --disable-pip-version-check "torch==2.13.0")
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --editable ".[$*]"
	@touch $@

demo: $(VENV)/.installed-parquet    ## cluster Iris, print the summary, write out/demo/
	$(BIN)/evidentia demo --out out/demo

test: $(VENV)/.installed-test       ## run every test
	OMP_NUM_THREADS=1 $(BIN)/python -m pytest -n auto $(ARGS)

lint: $(VENV)/.installed-dev        ## style and types
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy

# The peer brings documentation tools of its own as dependencies, so it lives apart.
.venv-peer/.installed:
	$(PYTHON) -m venv .venv-peer
	.venv-peer/bin/python -m pip install --quiet --disable-pip-version-check "evclust==0.2.1"
	@touch $@

bench: $(VENV)/.installed-test .venv-peer/.installed   ## speed and memory, as ratios to peers in the same run
	OMP_NUM_THREADS=1 OPENBLAS_NUM_THREADS=1 $(BIN)/python -m benchmarks

results: $(VENV)/.installed-test    ## every table of the papers, full run, and the pages about them
	$(BIN)/python -m reproduction all --full --out out/full
	$(BIN)/python -m reproduction.pages out/full

docs: $(VENV)/.installed-docs       ## build the documentation; a warning is an error
	$(BIN)/python -m sphinx -W --keep-going -b html docs docs/_build/html

clean:
	rm -rf $(VENV) .venv-peer out docs/_build .pytest_cache .mypy_cache .ruff_cache build dist
