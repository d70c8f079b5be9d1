# The commands of this project. Each sets up what it needs first; nothing else has to be installed or activated.
# ARGS goes to the command itself:  make run ARGS="--port 9000"   make test ARGS="-k expiry"
# PYTHON picks the interpreter:     make setup PYTHON=python3.12
.PHONY: help setup run demo test coverage lint bench format lock
.DEFAULT_GOAL := help
ARGS ?=
BIN := .venv/bin
# Setup puts a Node.js there where the machine has none.
NPM := PATH="$(CURDIR)/$(BIN):$$PATH" npm --silent

help:
	@echo 'make setup   install everything into .venv (each command below does this itself)'
	@echo 'make run     start the server, ready to pair a phone'
	@echo 'make demo    see one question asked and answered, without a phone'
	@echo 'make test    lint, then all tests'
	@echo 'make lint    style, types and import rules'
	@echo 'make coverage  the Python tests, and which branches they took'
	@echo 'make bench   the benchmarks'
	@echo 'make format  put the code into the one format'
	@echo 'make lock    write requirements.lock anew from pyproject.toml'

setup:
	@sh scripts/setup

run: setup
	@$(BIN)/reflecto serve $(ARGS)

demo: setup
	@$(BIN)/reflecto demo $(ARGS)

test: setup
	@sh scripts/test $(ARGS)

coverage: setup
	@$(BIN)/python -m pytest --cov $(ARGS)

lint: setup
	@$(BIN)/ruff check --quiet
	@$(BIN)/ruff format --check --quiet
	@$(BIN)/mypy
	@$(BIN)/lint-imports --no-logo
	@$(BIN)/python scripts/write_web_wire.py --check
	@$(NPM) run check

bench: setup
	@set -e; for file in bench/[a-z]*.py; do $(BIN)/python -m "bench.$$(basename "$$file" .py)" $(ARGS); done

format: setup
	@$(BIN)/ruff check --fix-only --quiet
	@$(BIN)/ruff format
	@$(NPM) run format

lock: setup
	@$(BIN)/uv pip compile pyproject.toml --quiet --all-extras --group dev --universal --generate-hashes \
		--no-annotate --no-header --no-emit-index-url --no-emit-find-links --output-file requirements.lock $(ARGS)
	@sh scripts/setup
