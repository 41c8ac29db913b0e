# Everything happens in .venv; `make setup` is run by whatever needs it.

# The newest Python that starts and is not too old; any other by `make PYTHON=...`.
PYTHON ?= $(shell for p in python3.13 python3.12 python3.11 python3; do \
	$$p -c 'import sys; sys.exit(sys.version_info < (3, 11))' 2>/dev/null && echo $$p && exit; \
	done; echo python3)
BIN := .venv/bin
READY := .venv/ready

# Tests start hundreds of processes; without kept bytecode each of them would compile lawful anew.
unexport PYTHONDONTWRITEBYTECODE

.PHONY: setup tour test check-style check-types agreement nightly campaign benchmarks site clean

setup: $(READY)
	@:

# A virtual environment whose Python or pip is gone is made anew, any other is brought up to date.
$(READY): pyproject.toml setup/system.sh
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' 2>/dev/null || \
		{ echo "setup: Python 3.11 or newer is needed (make PYTHON=/path/to/python3.11)"; exit 1; }
	@$(PYTHON) -c 'import ensurepip, venv' 2>/dev/null || \
		{ echo "setup: $(PYTHON) lacks the venv module (Debian: install python3-venv)"; exit 1; }
	@sh setup/system.sh
	@echo "setup: installing lawful and what it uses into .venv"
	@$(BIN)/python -m pip --version >/dev/null 2>&1 || $(PYTHON) -m venv --clear .venv
	@$(BIN)/python -m pip install -qq --disable-pip-version-check -e '.[all,dev]'
	@touch $@

tour: setup
	@$(BIN)/python -m lawful.tour

# Cheapest first. Pytest comes last and nothing is printed after its closing line.
test: check-style
	@$(BIN)/python -m pytest -n 2 --dist loadgroup

check-style: setup
	@$(BIN)/ruff format --check --quiet .
	@$(BIN)/ruff check --quiet .
	@$(BIN)/mypy --no-error-summary -p lawful

# `make test` has a budget: it leaves pyright, and mypy over the tests, to this.
check-types: check-style
	@$(BIN)/mypy --no-error-summary
	@$(BIN)/pyright

# Random machines in every engine, and how often each thing of the language was met.
agreement: setup
	@AGREE_MACHINES=210 $(BIN)/python -m pytest -q -n 2 tests/agree

nightly: check-types campaign
	@HYPOTHESIS_PROFILE=nightly $(BIN)/python -m pytest -n 2 -m nightly

# The services in simulated worlds, each from a seed; the reports are tests/machines/*/campaign.txt.
# Then their programs as processes, which are harmed: tests/machines/*/faults.txt.
campaign: setup
	@$(BIN)/python -m tests.machines.campaign
	@$(BIN)/python -m tests.machines.harmed.real_faults

benchmarks: setup
	@set -e; for script in $(wildcard benchmarks/[!_]*.py); do $(BIN)/python "$$script"; done

# The documentation; open out/site/index.html.
site: setup
	@$(BIN)/python -m sphinx -W --keep-going -q -b html docs out/site

clean:
	rm -rf .venv build dist out *.egg-info .coverage htmlcov
	rm -rf .hypothesis .mypy_cache .pytest_cache .ruff_cache
	rm -rf spark-warehouse metastore_db derby.log
	find . -name __pycache__ -type d -prune -exec rm -rf {} +
