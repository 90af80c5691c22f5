# The commands of the house. `make run` and `make test` need nothing but Rust, Python, Node's npm and a shell.

PORT ?= 8080
DATA ?= data
CARGO ?= cargo
FUZZ_SECONDS ?= 600
SOAK ?= 20
# A clean clone (CI) keeps its build in the user's cache, so that a second run is fast.
ifdef CI
export CARGO_TARGET_DIR ?= $(or $(XDG_CACHE_HOME),$(HOME)/.cache)/gatehouse/target
endif
TARGET := $(or $(CARGO_TARGET_DIR),target)
TALLY := $(abspath $(TARGET))/tally

.PHONY: help run build test soak test-cluster lint unit page bench fuzz deps python inspector duckdb release clean

help: ## what there is
	@grep -E '^[a-z-]+:.*##' $(MAKEFILE_LIST) | sed 's/:.*## /\t/' | expand -t 14

run: deps build ## build, then serve the demo on http://127.0.0.1:$(PORT)
	@echo "starting the demo on port $(PORT) (data in $(DATA); stop with Ctrl-C)"
	@mkdir -p -m 700 $(DATA); $(TARGET)/release/gatehouse demo-device --data $(DATA) --url http://127.0.0.1:$(PORT) & \
	exec $(TARGET)/release/gatehouse serve --demo --listen 127.0.0.1:$(PORT) --data $(DATA)

build: duckdb
	@echo "building (the first time takes some minutes)"
	@$(CARGO) build --release --locked -p gatehouse -p da -p device
	@scripts/device-size $(TARGET)/release/gatehouse-device

test: deps python inspector duckdb lint unit page ## everything: formatting, lints, unit, integration and browser tests

soak: duckdb ## more pairs of copies that differ in what is hidden, and more statements over them; SOAK times as many
	@echo "== soak"; GATEHOUSE_SOAK=$(SOAK) $(CARGO) test --workspace --locked --quiet --test it -- hidden:: unseen::

test-cluster: duckdb ## Ballista, with two executors of which one is killed; builds it first (once; a quarter of an hour)
	@scripts/ballista >/dev/null
	@rm -rf $(TALLY)-cluster
	@echo "== tests"; GATEHOUSE_TALLY=$(TALLY)-cluster $(CARGO) test --locked --quiet -p gatehouse --test it cluster:: -- --ignored
	@scripts/tally $(TALLY)-cluster scripts/tally-cluster.rows

lint: duckdb ## formatting and lints
	@echo "== formatting"; $(CARGO) fmt --all --check
	@echo "== lints"; $(CARGO) clippy --workspace --all-targets --locked --quiet -- -D warnings
	@echo "== the page's types"; scripts/node-modules && node_modules/.bin/tsc -p . && (cd web/vendor && sha256sum --check --quiet SHA256SUMS)

unit: duckdb
	@rm -rf $(TALLY)
	@echo "== tests"; GATEHOUSE_TALLY=$(TALLY) $(CARGO) test --workspace --locked --quiet --no-fail-fast
	@scripts/tally $(TALLY)

page: duckdb ## the page in a real browser; pictures of it go to $(TARGET)/pictures
	@scripts/node-modules
	@$(CARGO) test --workspace --locked --quiet --no-run
	@echo "== the page"; GATEHOUSE=$(TARGET)/debug/gatehouse PICTURES=$(TARGET)/pictures node --test --test-reporter=spec tests/browser/main.js

bench: deps duckdb ## figures, as ratios measured in one run
	@$(CARGO) bench --locked -p gatehouse -p planner -p policy -p da

FUZZ = cd fuzz && $(CARGO) +nightly fuzz run -s none
FUZZ_FLAGS = -max_total_time=$(FUZZ_SECONDS) -max_len=8192 -timeout=60 -rss_limit_mb=2048 -print_final_stats=1

fuzz: ## policy against fuzzers, 10 minutes each; needs nightly Rust and cargo-fuzz
	$(FUZZ) sql -- $(FUZZ_FLAGS) -dict=sql.dict
	$(FUZZ) plan -- $(FUZZ_FLAGS) -dict=plan.dict
	$(FUZZ) predicate -- $(FUZZ_FLAGS) -dict=sql.dict
	$(FUZZ) scan -- $(FUZZ_FLAGS) -dict=scan.dict
	$(FUZZ) contract -- $(FUZZ_FLAGS) -dict=contract.dict
	$(FUZZ) script -- $(FUZZ_FLAGS)

deps: ## install missing system packages
	@scripts/deps

python: ## the Python clients that tests use, into the user's cache (once; some minutes)
	@scripts/python-deps >/dev/null
	@scripts/python-deps litellm >/dev/null
	@scripts/python-deps scan >/dev/null
	@scripts/python-deps da >/dev/null
	@scripts/python-deps sail >/dev/null
	@scripts/python-deps datafusion >/dev/null
	@scripts/python-deps bigquery >/dev/null

inspector: ## the MCP Inspector that tests use, into the user's cache (once)
	@scripts/inspector >/dev/null

duckdb:
	@scripts/fetch-duckdb

release: deps ## one binary with DuckDB inside (slow to build)
	$(CARGO) build --profile dist --locked -p gatehouse -p da -p device --features gatehouse/bundled,da/bundled
	@scripts/device-size $(TARGET)/dist/gatehouse-device

clean:
	$(CARGO) clean
	rm -rf .duckdb data
