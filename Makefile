# The commands of the house. `make run` and `make test` need nothing but Rust, Node's npm and a shell.

PORT ?= 8080
DATA ?= data
CARGO ?= cargo
# A clean clone (CI) keeps its build in the user's cache, so that a second run is fast.
ifdef CI
export CARGO_TARGET_DIR ?= $(or $(XDG_CACHE_HOME),$(HOME)/.cache)/gatehouse/target
endif
TARGET := $(or $(CARGO_TARGET_DIR),target)
TALLY := $(abspath $(TARGET))/tally

.PHONY: help run build test lint unit bench deps python duckdb release clean

help: ## what there is
	@grep -E '^[a-z]+:.*##' $(MAKEFILE_LIST) | sed 's/:.*## /\t/' | expand -t 12

run: deps build ## build, then serve the demo on http://127.0.0.1:$(PORT)
	@echo "starting the demo on port $(PORT) (data in $(DATA); stop with Ctrl-C)"
	@exec $(TARGET)/release/gatehouse serve --demo --listen 127.0.0.1:$(PORT) --data $(DATA)

build: duckdb
	@echo "building (the first time takes some minutes)"
	@$(CARGO) build --release --locked -p gatehouse

test: deps python duckdb lint unit ## everything: formatting, lints, unit and integration tests

lint: duckdb ## formatting and lints
	@echo "== formatting"; $(CARGO) fmt --all --check
	@echo "== lints"; $(CARGO) clippy --workspace --all-targets --locked --quiet -- -D warnings

unit: duckdb
	@rm -rf $(TALLY)
	@echo "== tests"; GATEHOUSE_TALLY=$(TALLY) $(CARGO) test --workspace --locked --quiet
	@scripts/tally $(TALLY)

bench: deps duckdb ## figures, as ratios measured in one run
	@$(CARGO) bench --locked -p gatehouse -p planner

deps: ## install missing system packages
	@scripts/deps

python:
	@scripts/python-deps >/dev/null

duckdb:
	@scripts/fetch-duckdb

release: deps ## one binary with DuckDB inside (slow to build)
	$(CARGO) build --profile dist --locked -p gatehouse --features bundled

clean:
	$(CARGO) clean
	rm -rf .duckdb data
