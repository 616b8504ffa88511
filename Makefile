PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
STAMP := $(VENV)/.installed
DOCS_STAMP := $(VENV)/.docs_installed

.PHONY: install run test test-all coverage mutants lint docs bench clean

install: $(STAMP)

$(STAMP): pyproject.toml
	@test -x $(BIN)/python || $(PYTHON) -m venv $(VENV)
	@echo "Installing fecontact and its test tools into $(VENV) ..."
	@$(BIN)/python -m pip install --quiet --disable-pip-version-check -e '.[test]'
	@touch $(STAMP)

run: install
	@$(BIN)/fecontact compare cases/sliding_block.toml --vary contact.reactions=concentrated,weighted --out results/sliding_block

test: install
	$(BIN)/python -m pytest -m "not slow"

test-all: install
	$(BIN)/python -m pytest

# compiled kernels are not seen: tests that use them run once more with the kernels in Python
coverage: install
	@rm -rf results/coverage && mkdir -p results/coverage
	$(BIN)/python -m coverage run -m pytest -q -m "not slow"
	FECONTACT_INTERPRETED=1 $(BIN)/python -m coverage run -m pytest -q -m "not slow" \
		-k "not sliding_block_without_settings" $(wildcard tests/test_solvers_*.py) \
		$(patsubst %,tests/test_%.py,assembly contact elements laws maxwell moving_schemes pairs pairs_detection)
	@-$(BIN)/python -m coverage combine -q  # but for what killed processes left
	@rm -f results/coverage/data.*
	@$(BIN)/python -m coverage html -q
	@$(BIN)/python -m coverage json -q -o results/coverage/table.json
	@$(BIN)/python docs/make_testing.py
	@$(BIN)/python -m coverage report | tee results/coverage/table.txt

# small faults put into the package, to see whether tests notice; takes long
mutants: install
	$(BIN)/python -m tests.mutants
	@$(BIN)/python docs/make_testing.py

lint: install
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy

# the pages, in results/docs/index.html; warnings are errors
docs: install $(DOCS_STAMP)
	$(BIN)/python docs/make_gallery.py
	$(BIN)/python -m sphinx -W --keep-going -q -b html docs results/docs
	@echo "Documentation: results/docs/index.html"

$(DOCS_STAMP): pyproject.toml
	@$(BIN)/python -m pip install --quiet --disable-pip-version-check -e '.[docs]'
	@touch $(DOCS_STAMP)

bench: install
	$(BIN)/python benchmarks/run.py

clean:
	rm -rf results build dist .pytest_cache .mypy_cache .ruff_cache
