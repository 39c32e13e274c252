# make install  an environment in .venv with the dpcausal command, nothing else
# make demo   a private release on an embedded data set, from nothing (.ci/run calls this, too)
# make test   the whole test suite, from nothing (.ci/run calls this); of engines DuckDB alone, and it says what it left out
# make test-engines  Spark and PostgreSQL for real (.ci/run make test-engines brings the server; Spark needs a Java)
# make wheel  sdist and wheel, installed into a clean environment and tried (.ci/run calls this too)
# make mutants  planted privacy bugs: which of them the tests catch (an hour; not part of make test)
# make docs   the documentation, in site/index.html; warnings are errors, links are checked
PYTHON ?= python3
VENV   ?= .venv
BIN    := $(VENV)/bin
PIP    := $(BIN)/python -m pip --disable-pip-version-check
# pip compiles on one core, and not at all where PYTHONDONTWRITEBYTECODE is set: each command would then take 3 s longer
COMPILE := $(BIN)/python -m compileall -q -j 0 -x '/tests?/' $(VENV)/lib src

.PHONY: install demo test test-engines test-all checks lint docs wheel bench mutants clean

$(VENV)/.runtime: pyproject.toml constraints.txt
	test -x $(BIN)/python || $(PYTHON) -m venv $(VENV)
	$(PIP) install --quiet --no-compile --constraint constraints.txt --editable .
	$(COMPILE)
	touch $@

$(VENV)/.dev: $(VENV)/.runtime
	$(PIP) install --quiet --no-compile --constraint constraints.txt --editable ".[dev]"
	$(COMPILE)
	touch $@

install: $(VENV)/.runtime
	@echo "done: source $(BIN)/activate, then dpcausal --help"

demo: $(VENV)/.runtime
	$(BIN)/python demo/demo.py

lint: $(VENV)/.dev
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/lint-imports
	$(BIN)/python tools/proofs.py check
	$(BIN)/python tools/gcm_page.py --check

docs: $(VENV)/.dev
	NO_MKDOCS_2_WARNING=1 $(BIN)/mkdocs build --strict
	$(BIN)/python tools/docs.py site

# a worker for every core, a file of tests to each at a time, long ones first (tests/conftest.py; xdist would begin with
# those that have many tests); BLAS with one thread, else workers wait for each other; files of tests are compiled with
# their assertions (7 s), which is kept for the next run even where PYTHONDONTWRITEBYTECODE is set; a worker that dies
# ends the run with the test that it died in (xdist fails with an error of its own where two are replaced at a time)
PYTEST := PYTHONDONTWRITEBYTECODE= OPENBLAS_NUM_THREADS=1 $(BIN)/python -m pytest -n auto --dist loadfile --no-loadscope-reorder --max-worker-restart 0

# at the same time: each is nearly all one program (mypy, mkdocs) on one core
checks: $(VENV)/.dev
	$(MAKE) --jobs=2 lint docs

test: checks
	$(PYTEST) -m "not slow"

$(VENV)/.engines: $(VENV)/.dev
	$(PIP) install --quiet --no-compile --constraint constraints.txt --editable ".[dev,spark]"
	touch $@

# one worker: a Spark for each would not fit in memory; make test-engines MARK="slow or not slow" has the cluster, too
MARK ?= not slow
test-engines: $(VENV)/.engines
	@test -n "$$DPCAUSAL_TEST_POSTGRES" || echo "PostgreSQL is left out: .ci/run make test-engines brings a server"
	DPCAUSAL_TEST_ENGINES=1 OPENBLAS_NUM_THREADS=1 $(BIN)/python -m pytest -q -m "$(MARK)" -k "postgres or spark" tests/engines

test-all: checks
	$(PYTEST)

mutants: $(VENV)/.dev
	OPENBLAS_NUM_THREADS=1 $(BIN)/python tools/mutants.py run

wheel:
	tools/wheel_smoke.sh $(PYTHON)

clean:
	rm -rf $(VENV) build dist site .pytest_cache .mypy_cache .ruff_cache .hypothesis
