# Every target sets up what it needs: only Python, make and git have to be there.
PYTHON ?= python3
VENV   := .venv
BIN    := $(VENV)/bin
PIP    := -m pip install --quiet --disable-pip-version-check

.PHONY: demo quick test lint figures bench bench-engines docs results torture mutants fuzz coverage ci test-bare test-oldest test-wheel clean

# One stamp per set of extras: reinstalled only when pyproject.toml changes.
$(VENV)/.installed-%: pyproject.toml
	@test -x $(BIN)/python || $(PYTHON) -m venv $(VENV)
	@# Torch by this exact version first: a CPU build; a range would fetch gigabytes for graphics cards.
	$(if $(filter test dev docs,$*),$(BIN)/python $(PIP) "torch==2.13.0")
	$(BIN)/python $(PIP) --editable ".[$*]"
	@touch $@

demo: $(VENV)/.installed-recommended    ## cluster Iris, print the summary, write out/demo/
	$(BIN)/evidentia demo --out out/demo

# A contributor's loop: the calculus, the kernels and one file for each family.
QUICK := tests/belief tests/partition/test_credal.py tests/solvers tests/scores tests/constraints/test_pairwise.py \
    tests/mixtures/test_egmm.py tests/prototypes/test_prototype_estimators.py tests/relational/test_evclus.py \
    tests/hierarchy/test_bhc.py tests/rows/test_rows.py tests/test_methods.py tests/test_project.py
quick: $(VENV)/.installed-test      ## run the tests for after each edit, in under 90 seconds
	OMP_NUM_THREADS=1 $(BIN)/python -m pytest -n 2 -q -k "not check_ and not cache and not compiled_for" $(QUICK) $(ARGS)

test: $(VENV)/.installed-test       ## run every test
	OMP_NUM_THREADS=1 $(BIN)/python -m pytest -n auto $(ARGS)

lint: $(VENV)/.installed-dev        ## style and types
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy

figures: $(VENV)/.installed-test    ## size of the code, repeats, and what a fit passes through; ARGS="--walks"
	OMP_NUM_THREADS=1 $(BIN)/python ci/figures.py $(ARGS)

# The peer brings documentation tools of its own as dependencies, so it lives apart.
.venv-peer/.installed:
	$(PYTHON) -m venv .venv-peer
	.venv-peer/bin/python $(PIP) "evclust==0.2.1"
	@touch $@

bench: $(VENV)/.installed-test .venv-peer/.installed   ## speed and memory, as ratios to peers in the same run
	OMP_NUM_THREADS=1 OPENBLAS_NUM_THREADS=1 $(BIN)/python -m benchmarks

# Spark and dask-ml are large, and Spark needs Java 17: apart from all else.
.venv-engines/.installed: pyproject.toml
	$(PYTHON) -m venv .venv-engines
	.venv-engines/bin/python $(PIP) --editable ".[parquet,dask]" "dask-ml==2025.1.0" "pyspark==4.3.0"
	@touch $@

bench-engines: .venv-engines/.installed   ## a pass against Spark's and dask-ml's; ARGS="--rows 1e6" for a quick look
	.venv-engines/bin/python -m benchmarks.engines $(ARGS)

results: $(VENV)/.installed-test    ## every table of the papers, full run, and the pages about them
	$(BIN)/python -m reproduction all --full --out out/full
	$(BIN)/python -m reproduction.pages out/full

torture: $(VENV)/.installed-test    ## files under damage, several writers, 500 kills, full disks; prints counts
	OMP_NUM_THREADS=1 PYTHONPATH=. $(BIN)/python tests/torture.py $(ARGS)

mutants: $(VENV)/.installed-test    ## small mistakes in belief, solvers, partition: which of them the tests notice (hours)
	OMP_NUM_THREADS=1 PYTHONPATH=. $(BIN)/python tests/mutants.py $(ARGS)

fuzz: $(VENV)/.installed-test       ## random fits of every method against their laws; ARGS="--minutes 60 --seed 1 --jobs 2"
	OMP_NUM_THREADS=1 PYTHONPATH=tests $(BIN)/python -m fuzz $(ARGS)

docs: $(VENV)/.installed-docs       ## build the pages, run gallery and notebooks; a warning, or an address outside, is an error
	OMP_NUM_THREADS=1 $(BIN)/python -m sphinx -W --keep-going -b html docs docs/_build/html
	$(BIN)/python docs/check_site.py docs/_build/html

# Coverage cannot see into compiled code. The tests of what is compiled run once more as plain Python, so
# that a line of a compiled function counts only if it was run, and counts as missed otherwise.
COMPILED := tests/solvers tests/hierarchy tests/prototypes/test_cecm_masses.py tests/relational/test_evclus_descent.py
coverage: $(VENV)/.installed-test   ## run every test and print which lines of src were run
	rm -f .coverage
	OMP_NUM_THREADS=1 $(BIN)/python -m pytest -n auto --cov --cov-report= $(ARGS)
	OMP_NUM_THREADS=1 NUMBA_DISABLE_JIT=1 $(BIN)/python -m pytest -n auto --cov --cov-append --cov-report= $(COMPILED)
	$(BIN)/coverage report

# The lanes of the check before a merge; `make ci` runs them all.
ci:                                 ## lint, docs, test, test-bare, test-oldest, test-wheel
	.ci/run

# Every test runs in the lane `test`; without data only what asks for data can differ.
test-bare:                          ## demo and tests in a fresh clone of HEAD, with an environment of its own and no data
	ci/bare.sh sh -c 'make demo quick && make test ARGS="-m needs_data"'

# What every user has: the tests of the families whose floors ci/oldest.txt pins. PyTorch is not among them.
CORE := belief rows partition solvers prototypes mixtures relational hierarchy scores selection
OLDEST_PYTHON ?= python3.11
.venv-oldest/.installed: pyproject.toml ci/oldest.txt
	$(OLDEST_PYTHON) -m venv --clear .venv-oldest
	.venv-oldest/bin/python $(PIP) --constraint ci/oldest.txt --editable ".[recommended,zarr,dask,anndata,series]" pytest pytest-xdist hypothesis
	@touch $@

test-oldest: .venv-oldest/.installed   ## core tests with the oldest versions allowed; any warning is an error
	@# Not the faults: workers and schedulers of the command line would end by their own warnings.
	OMP_NUM_THREADS=1 PYTHONWARNINGS=error .venv-oldest/bin/python -m pytest -n auto $(addprefix tests/,$(CORE)) \
	    --ignore=tests/rows/test_faults.py
	PYTHONWARNINGS=error .venv-oldest/bin/evidentia demo --out out/demo-oldest

test-wheel:                         ## build wheel and sdist, use each from an empty environment; any warning is an error
	$(PYTHON) ci/installed.py

clean:
	rm -rf $(VENV) .venv-peer .venv-oldest .venv-engines out docs/_build docs/gallery docs/api/generated .pytest_cache .mypy_cache .ruff_cache .coverage build dist
