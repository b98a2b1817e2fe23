# Every target sets up what it needs in .venv and may be run again at any time.
PYTHON ?= python3.11
unexport PYTHONDONTWRITEBYTECODE # without bytecode every command of every test compiles the package again
VENV := .venv
BIN := $(VENV)/bin
INSTALL := $(BIN)/python -m pip install --quiet --disable-pip-version-check --constraint constraints.txt
PYTEST := $(BIN)/python -m pytest -n 2 --dist loadfile

.PHONY: demo figures gate install test test-fast test-slow check lint types layers format bench bench-peers soak wheel-test release docs notebooks libraries bandits picture tree mirror readme lock lock-hashes clean

$(VENV)/.core: pyproject.toml constraints.txt
	test -x $(BIN)/python || $(PYTHON) -m venv $(VENV) || python3 -m venv $(VENV)
	$(INSTALL) --editable .
	touch $@

$(VENV)/.full: $(VENV)/.core
	$(INSTALL) torch==2.13.0
	$(INSTALL) --editable ".[peers,postgres,reports,scheduler,telemetry,test,dev]"
	touch $@

demo: $(VENV)/.core
	$(BIN)/dpaudit demo

# The paper's figures, printed and corrected, as CSV, SVG and PNG.
figures: $(VENV)/.full
	$(BIN)/python -m proofs_checks.linear_bandits.figures --output figures

# The shipped algorithms are held to their own claims.
gate: $(VENV)/.full
	$(BIN)/dpaudit check

install: $(VENV)/.full

# Everything. The slow tier starts servers, browsers and fresh environments, or needs more than about ten seconds a test.
test: test-fast test-slow wheel-test

test-fast: $(VENV)/.full
	$(PYTEST) -m "not slow"

test-slow: $(VENV)/.full
	$(PYTEST) -m slow

check: lint types layers

lint: $(VENV)/.full
	$(BIN)/ruff format --check .
	$(BIN)/ruff check .

types: $(VENV)/.full
	$(BIN)/mypy

layers: $(VENV)/.full
	$(BIN)/lint-imports

format: $(VENV)/.full
	$(BIN)/ruff format .
	$(BIN)/ruff check --fix .

bench: $(VENV)/.full
	$(BIN)/python -m benchmarks

# The same work in every peer's own environment (.peers/NAME, from benchmarks/peers/NAME.txt); writes benchmarks/README.md.
bench-peers: $(VENV)/.full
	$(BIN)/python -m benchmarks.peers

# The longer runs: kills, budgets, draws, fuzzing, flips, random subjects.
soak: $(VENV)/.full
	$(BIN)/python -m benchmarks.soak

# The wheel alone, in an environment of its own, from an empty folder.
wheel-test: $(VENV)/.full
	rm -rf dist $(VENV)-wheel
	$(BIN)/python -m build --wheel --outdir dist . >/dev/null
	$(BIN)/python -m venv $(VENV)-wheel
	$(VENV)-wheel/bin/python -m pip install --quiet --disable-pip-version-check --constraint constraints.txt dist/*.whl
	cd "$$(mktemp -d)" && $(CURDIR)/$(VENV)-wheel/bin/dpaudit demo --format json --output demo.json && test -s demo.json

# Both distributions, built twice with the same bytes, with their hashed requirements and their bill of materials (CycloneDX). Each is
# installed by itself, what it needs by hashes alone, and must name its version, find its parts and hold a budget.
release: export SOURCE_DATE_EPOCH := $(shell git log -1 --format=%ct 2>/dev/null || echo 0)
release: $(VENV)/.full
	rm -rf dist $(VENV)-release $(VENV)-again
	set -e; for folder in dist $(VENV)-again; do PIP_CONSTRAINT=$(CURDIR)/constraints.txt $(BIN)/python -m build --outdir $$folder . >/dev/null; done
	diff -r dist $(VENV)-again && rm -rf $(VENV)-again && echo "built twice: the same bytes"
	$(BIN)/python .ci/supply_chain.py bill dist/*.whl dist/*.tar.gz >$(VENV)/bill.json
	$(BIN)/python .ci/supply_chain.py requirements >$(VENV)/requirements.txt
	set -e; for file in dist/*.whl dist/*.tar.gz; do \
	    rm -rf $(VENV)-release; $(BIN)/python -m venv $(VENV)-release; \
	    $(VENV)-release/bin/python -m pip install --quiet --disable-pip-version-check --no-deps --require-hashes --requirement $(VENV)/requirements.txt; \
	    PIP_CONSTRAINT=$(CURDIR)/constraints.txt $(VENV)-release/bin/python -m pip install --quiet --disable-pip-version-check --no-deps $$file; \
	    $(VENV)-release/bin/python -m pip check; \
	    folder=$$(mktemp -d); (cd $$folder && $(CURDIR)/$(VENV)-release/bin/dpaudit --version | grep -F "$$($(CURDIR)/$(BIN)/dpaudit --version)" && \
	    $(CURDIR)/$(VENV)-release/bin/dpaudit doctor >doctor.txt && $(CURDIR)/$(VENV)-release/bin/dpaudit init >init.txt); \
	    echo "$$file: installed, fit, and its first budget holds"; \
	done
	rm -rf $(VENV)-release
	mv $(VENV)/bill.json dist/dpaudit.cdx.json && mv $(VENV)/requirements.txt dist/requirements-hashed.txt
	cd dist && sha256sum * | tee SHA256SUMS

# The documentation as pages, in site/; every link is checked, and every example of it is run by the tests.
docs: $(VENV)/.full
	$(BIN)/python docs/build.py
	NO_MKDOCS_2_WARNING=1 $(BIN)/mkdocs build --strict --quiet

# Functions of other libraries, attacked in an environment each (.peers/NAME): one page, on this machine alone; see SECURITY.md.
libraries: $(VENV)/.full
	$(BIN)/python examples/libraries/libraries.py

# Real learners of other bandit libraries behind the wrapper, in an environment each (.peers/NAME): played, replayed, audited.
bandits: $(VENV)/.full
	$(BIN)/python examples/bandits/bandits.py

# Run the notebooks of docs/notebooks, and show in them what their cells print.
notebooks: $(VENV)/.full
	$(BIN)/python docs/run_notebooks.py

# The demo's table of docs/paper.md, as the picture at the top of README.md.
picture: $(VENV)/.full
	$(BIN)/python -m benchmarks.demo_picture

# The tree in figures, printed and put into ARCHITECTURE.md; needs no environment.
tree:
	$(PYTHON) -m benchmarks.tree --write

# Renew tests/mirror.txt: modules that another module's test covers, tests that belong to no single module.
mirror: $(VENV)/.full
	$(BIN)/python tests/test_mirror.py

# Show in README.md and in the guide what the commands print now.
readme: $(VENV)/.full
	$(BIN)/python tests/test_readme.py
	$(BIN)/python -m benchmarks.demo_picture

# Renew constraints.txt from the newest versions that fit together, and constraints-hashed.txt from it.
lock:
	rm -rf $(VENV)-lock && python3 -m venv $(VENV)-lock
	$(VENV)-lock/bin/python -m pip install --quiet torch==2.13.0
	$(VENV)-lock/bin/python -m pip install --quiet --editable ".[peers,postgres,reports,scheduler,telemetry,test,dev]"
	$(VENV)-lock/bin/python -m pip freeze --exclude-editable | sed 's/+cpu$$//' | grep -v '^#\|@ file' > constraints.txt
	rm -rf $(VENV)-lock
	$(MAKE) lock-hashes

# The files that pip chooses for the pins of constraints.txt, by their hashes; nothing is installed.
lock-hashes: $(VENV)/.full
	$(INSTALL) --dry-run --ignore-installed --report $(VENV)/report.json torch==2.13.0 --editable ".[peers,postgres,reports,scheduler,telemetry,test,dev]"
	$(BIN)/python .ci/supply_chain.py lock $(VENV)/report.json

clean:
	rm -rf $(VENV) $(VENV)-wheel $(VENV)-release $(VENV)-again $(VENV)-lock .peers dist build site
