# headstack needs Python 3.11 or later, a Rust toolchain with a C linker, and make; the rest is set up here, in .venv
# and target. The installed package is always a release build, so that what is tested is what people run; the Rust
# tests run in the dev profile.

SHELL := /bin/bash
.SHELLFLAGS := -eu -o pipefail -c
.DELETE_ON_ERROR:
.DEFAULT_GOAL := help

PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
STAMPS := $(VENV)/.stamps
# Recorded traces: needed for the validation studies, by nothing else.
DATA := $(if $(HEADSTACK_DATA),$(HEADSTACK_DATA),$(wildcard ../shared/data))

export CARGO_TERM_PROGRESS_WHEN := never
export PIP_DISABLE_PIP_VERSION_CHECK := 1
export PIP_REQUIRE_VIRTUALENV := 1
# maturin and cargo must ask for the same Python, or each rebuilds what the other built.
export PYO3_PYTHON := $(CURDIR)/$(BIN)/python
# The versions that were tested together; `make lock` brings them up to date.
export PIP_CONSTRAINT := $(CURDIR)/python.lock
# Property tests draw the same cases each time, so that a change is judged by what it changes; `make search` draws others.
export PROPTEST_RNG_SEED ?= 1
# Where pip finds the build backend.
export PATH := $(CURDIR)/$(BIN):$(PATH)

PIP := $(BIN)/python -m pip install --quiet
RUST_TESTS := --workspace --exclude headstack-python
# Without the benchmarks, which hold no tests, and take their own harness and all that it needs along; `make lint` compiles them.
TESTED := $(RUST_TESTS) --exclude headstack-benches
# Of the tests that measure the drives of the library each run takes one drive in ONE_IN, with each commit the next ones; 1: all.
export ONE_IN ?= 12
export TURN ?= $(shell git rev-list --count HEAD 2>/dev/null || echo 0)
# The slow tests, of what is built for the others: to build them in release takes longer than they do. Chosen among all crates: with
# one alone some of what it stands on has fewer features, and is built once more.
SLOW_TESTS := $(TESTED) --test drive
SLOW_FITTING := $(TESTED) --test coverage --test rules
SLOW_STREAMS := $(TESTED) --lib fit::
SLOW_MEASURING := $(TESTED) --test read_only --test null_model --test library

# What the compiled core is made of; the library of drives, systems and workloads is embedded in it.
CORE_SOURCES := Cargo.toml Cargo.lock pyproject.toml .cargo/config.toml \
  $(shell find crates drives systems workloads designs -path '*/tests/*' -prune -o -path '*/benches/*' -prune -o \
    \( -name '*.rs' -o -name '*.toml' \) -print 2>/dev/null)

# Keeps a tool's chatter for when it fails.
to_log = >$(STAMPS)/log 2>&1 || { cat $(STAMPS)/log; exit 1; }
say = @printf '\033[1m== %s\033[0m\n' "$(1)"

.PHONY: help
help:
	@echo 'make demo      build, run the main job, write a page and a wheel'
	@echo 'make test      build, then all tests: Rust, Python, examples'
	@echo 'make test-docs run every command that the documents show'
	@echo 'make test-faults  end commands in the middle, many times, and look at what is left'
	@echo 'make search    property tests with other cases, again and again'
	@echo 'make planted   leave out each physical rule of the drive, and see that a test notices'
	@echo 'make mutants   change the code in many small ways, and see that a test notices'
	@echo 'make lint      formatting, clippy, ruff, types, and the stubs against the compiled core'
	@echo 'make study     reproduce the papers (their data in ../shared/data or $$HEADSTACK_DATA)'
	@echo 'make docs      the documentation, in docs/_build/html'
	@echo 'make man       manual pages and completion scripts, in dist/share'
	@echo 'make bench     benchmarks, and one table of them; with valgrind, instructions too'
	@echo 'make install   build and install the package into .venv, nothing else'
	@echo 'make wheel     a wheel in dist/ that installs without Rust, and the list of what is in it'
	@echo 'make reproduce  the wheel built twice from scratch: the same bytes'
	@echo 'make deny      advisories, licences and doubled versions of the crates'
	@echo 'make stubs     write the type stubs of the compiled core anew'
	@echo 'make schemas   write the JSON Schemas of what verbs print with --json anew'
	@echo 'make format    format Rust and Python'
	@echo 'make clean     remove everything that was built'

# ---- setting up -----------------------------------------------------------------------------------------------------

$(STAMPS)/venv:
	$(call say,Setting up Python in $(VENV))
	@$(PYTHON) -c 'import sys; v = sys.version_info; sys.exit(v < (3, 11) and f"headstack needs Python 3.11 or later, this is {v.major}.{v.minor}: set PYTHON=/path/to/python3.11")'
	@command -v cargo >/dev/null || { echo 'headstack needs a Rust toolchain: cargo is not on the PATH' >&2; exit 2; }
	@test -x $(BIN)/python || $(PYTHON) -m venv $(VENV)
	@$(PIP) 'pip>=25.1' 'maturin>=1.16,<2'
	@mkdir -p $(STAMPS) && touch $@

# The package, installed in place with its command; Python code needs no build after that.
$(STAMPS)/package: $(STAMPS)/venv pyproject.toml
	$(call say,Building the core: 4 to 10 minutes from scratch on two cores)
	@$(PIP) --no-build-isolation --editable '.[report,dask]'
	@touch $@

$(STAMPS)/install: $(STAMPS)/package $(CORE_SOURCES)
	$(call say,Bringing the core up to date: up to 5 minutes after a change)
	@$(BIN)/maturin develop --quiet --release --skip-install $(to_log)
	@touch $@

$(STAMPS)/dev: $(STAMPS)/install pyproject.toml
	$(call say,Installing the test and lint tools)
	@$(PIP) --group dev
	@touch $@

$(STAMPS)/docs: $(STAMPS)/install docs/requirements.txt
	$(call say,Installing the documentation tools)
	@$(PIP) -r docs/requirements.txt
	@touch $@

comma := ,

.PHONY: install
install: $(STAMPS)/install

# ---- the two commands -----------------------------------------------------------------------------------------------

.PHONY: demo
demo: $(STAMPS)/install
	$(call say,A wheel for other machines: some seconds)
	@$(MAKE) --no-print-directory wheel
	$(call say,The main job: about 10 seconds)
	@$(BIN)/python examples/demo.py $(if $(DATA),--data $(DATA))

.PHONY: test
test: $(STAMPS)/dev
	@$(MAKE) --no-print-directory test-rust
	@$(MAKE) --no-print-directory test-rust-slow
	@$(MAKE) --no-print-directory test-python
	@$(MAKE) --no-print-directory test-examples

# ---- tests, one kind at a time --------------------------------------------------------------------------------------

.PHONY: test-build test-rust test-rust-slow test-python test-examples
test-build:
	@cargo test --quiet --locked --no-run $(TESTED) --lib --tests

test-rust:
	$(call say,Rust tests: 8 to 19 minutes from scratch)
	@cargo test --quiet --locked $(TESTED) --lib --tests
	@cargo test --quiet --locked $(TESTED) --doc

# Each is one test that keeps one processor busy: two at a time. SLOW_SUITES=0 leaves them out.
SLOW_SUITES ?= 1
test-rust-slow:
ifeq ($(SLOW_SUITES),0)
	@echo 'left out: slow Rust tests'
else
	$(call say,Slow Rust tests: 2 to 4 minutes)
	@$(MAKE) --no-print-directory test-build
	@$(MAKE) --no-print-directory --jobs 2 --output-sync=target slow-measuring slow-fitting slow-tests slow-streams
endif

.PHONY: slow-tests slow-fitting slow-measuring slow-streams
slow-tests:
	@RANDOM_DRIVES=$${RANDOM_DRIVES:-7000} cargo test --quiet --locked $(SLOW_TESTS) -- --ignored
slow-fitting:
	@TRIALS=$${TRIALS:-3} cargo test --quiet --locked $(SLOW_FITTING) -- --ignored
slow-measuring:
	@NULL_RUNS=$${NULL_RUNS:-5} cargo test --quiet --locked $(SLOW_MEASURING) -- --ignored every_drive_is_recovered_by_reads null_model late_completions \
	  coverage
slow-streams:
	@cargo test --quiet --locked $(SLOW_STREAMS) -- --ignored

test-python: $(STAMPS)/dev
	$(call say,Python tests: 5 to 10 minutes)
	@$(BIN)/python -m pytest -n 3 -m 'not guest and not faults and not docs'

# Property tests of all crates with cases by chance, ROUNDS times. What fails is kept in the crate's
# *.proptest-regressions, where each later run tries it first: mend it, and keep the line.
.PHONY: search
ROUNDS ?= 10
search:
	$(call say,Property tests with other cases: $(ROUNDS) rounds)
	@for round in $$(seq $(ROUNDS)); do \
	  seed=$$(od -An -N7 -tu8 /dev/urandom | tr -d ' '); echo "round $$round of $(ROUNDS): PROPTEST_RNG_SEED=$$seed"; \
	  PROPTEST_RNG_SEED=$$seed cargo test --quiet --locked --no-fail-fast $(TESTED) >target/search.log 2>&1 \
	    || { grep -E '^(test result: F|    [a-z_:]+$$|cc |error)' target/search.log; tail -60 target/search.log; exit 1; }; \
	done; echo "search: $(ROUNDS) rounds, nothing found"

# How often the intervals of `compare` hold the truth: the table of docs/guides/compare-runs.md.
PAIRS ?= 60
.PHONY: coverage
coverage: $(STAMPS)/dev
	$(call say,Coverage of intervals: $(PAIRS) pairs of runs of each kind)
	@$(PYTHON) tests/coverage_of_intervals.py --pairs $(PAIRS)

# Every command that the documents, the examples and `--help` show, as it stands.
.PHONY: test-docs
test-docs: $(STAMPS)/dev
	$(call say,Commands of the documents: 2 to 4 minutes)
	@$(BIN)/python -m pytest -m docs -n 2 -rs

# Each physical rule of the drive left out in turn: the test named for it must fail. All of them, or SAMPLE of them, or those
# whose rule, file or test holds ONLY.
.PHONY: planted
planted:
	$(call say,Planted bugs: about 15 minutes for all on an idle machine)
	@$(PYTHON) tests/planted/run.py $(if $(SAMPLE),--sample $(SAMPLE)) $(if $(ONLY),--only "$(ONLY)")

# Commands ended by signals and full disks at random instants. CI takes fewer points.
# Mutants of the rooms where the numbers are made, as cargo-mutants lists them: SAMPLE of each room (0: all), of ROOMS only (with
# commas), for WITHIN_S seconds; AGAIN=1 tries those that no test noticed.
.PHONY: mutants
mutants: $(STAMPS)/dev
	@cargo mutants --version >/dev/null 2>&1 || { \
	  echo 'mutants: cargo-mutants says which there are, and is not installed (cargo install --locked cargo-mutants)' >&2; exit 2; }
	$(call say,Mutants: a build for each crate$(comma) then a few seconds for each)
	@$(BIN)/python tests/mutants/run.py $(if $(SAMPLE),--sample $(SAMPLE)) $(if $(ROOMS),--rooms $(ROOMS)) \
	  $(if $(WITHIN_S),--seconds $(WITHIN_S)) $(if $(AGAIN),--again)

.PHONY: test-faults
KILL_POINTS ?= 500
FULL_POINTS ?= 120
test-faults: $(STAMPS)/dev
	$(call say,Interruptions and faults: $(KILL_POINTS) kill points and $(FULL_POINTS) full disks$(comma) 3 to 6 minutes)
	@HEADSTACK_KILL_POINTS=$(KILL_POINTS) HEADSTACK_FULL_POINTS=$(FULL_POINTS) $(BIN)/python -m pytest -m faults -rP

.PHONY: test-guest
test-guest: $(STAMPS)/dev
	$(call say,Linux guest under qemu: half a minute)
	@$(BIN)/python -m pytest -m guest -rs

test-examples: $(STAMPS)/install
	$(call say,Examples$(comma) which check their own results)
	@passed=0; failed=0; \
	for example in $(filter-out examples/demo.py,$(wildcard examples/*.py)); do \
	  if $(BIN)/python $$example >$(STAMPS)/example.out 2>&1; then passed=$$((passed + 1)); \
	  else failed=$$((failed + 1)); echo "-- $$example"; cat $(STAMPS)/example.out; fi; \
	done; \
	echo "examples: $$passed passed, $$failed failed"; test $$failed = 0

# Fuzzing for a short while; what a run finds interesting stays in .cache/fuzz and is where the next one begins.
.PHONY: fuzz
FUZZ_SECONDS ?= 20
FUZZ_TARGETS := blktrace formats descriptions disksim
# What they begin with, beside what they found before.
SEEDS_descriptions := drives systems workloads
SEEDS_disksim := fuzz/seeds/disksim
LENGTH_descriptions := 32768
COVERAGE := --cfg fuzzing -Cpasses=sancov-module -Cllvm-args=-sanitizer-coverage-level=4 \
  -Cllvm-args=-sanitizer-coverage-inline-8bit-counters -Cllvm-args=-sanitizer-coverage-pc-table \
  -Cllvm-args=-sanitizer-coverage-trace-compares
HOST := $(shell rustc -vV | sed -n 's/^host: //p')
fuzz:
	$(call say,Building what reads with coverage counters: 3 to 4 minutes from scratch)
	@RUSTFLAGS="$(COVERAGE)" CARGO_TARGET_DIR=target/fuzz cargo build --quiet --release --target $(HOST) --manifest-path fuzz/Cargo.toml
	@$(MAKE) --no-print-directory --jobs 2 --output-sync=target $(FUZZ_TARGETS:%=fuzz-%)

# What one found says its last line.
.PHONY: $(FUZZ_TARGETS:%=fuzz-%)
$(FUZZ_TARGETS:%=fuzz-%): fuzz-%:
	@mkdir -p .cache/fuzz/$* .cache/fuzz/found
	@target/fuzz/$(HOST)/release/$* -max_total_time=$(FUZZ_SECONDS) -rss_limit_mb=2048 -timeout=10 -max_len=$(or $(LENGTH_$*),4096) \
	  -artifact_prefix=.cache/fuzz/found/$*- .cache/fuzz/$* $(SEEDS_$*) >.cache/fuzz/$*.log 2>&1 || { tail -40 .cache/fuzz/$*.log; exit 1; }
	@echo "fuzz $*: $$(tail -1 .cache/fuzz/$*.log), nothing found"

# ---- lint -----------------------------------------------------------------------------------------------------------

.PHONY: lint format stubs
lint: $(STAMPS)/dev
	$(call say,Lint: 1 to 3 minutes from scratch)
	cargo fmt --all --check
	cargo clippy --quiet --locked --workspace --all-targets -- -D warnings
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/basedpyright
	$(BIN)/python -m mypy.stubtest headstack._core $(if $(wildcard tests/stubtest.allow),--allowlist tests/stubtest.allow)
	$(make_stubs)
	@diff -u $(STUB) target/stubs/headstack/$(notdir $(STUB)) || { echo 'the stubs are out of date: make stubs' >&2; exit 1; }

# The JSON Schemas of what verbs print with --json, from the types in python/headstack/results.
.PHONY: schemas
schemas: $(STAMPS)/dev
	@$(BIN)/python docs/schemas.py docs/reference/schemas

stubs: $(STAMPS)/dev
	$(make_stubs)
	@cp target/stubs/headstack/$(notdir $(STUB)) $(STUB)

STUB := python/headstack/_core.pyi
make_stubs = @rm -rf target/stubs && $(BIN)/maturin generate-stubs --quiet --profile release --out target/stubs $(to_log)

format: $(STAMPS)/dev
	cargo fmt --all
	$(BIN)/ruff check --fix .
	$(BIN)/ruff format .

# ---- the rest -------------------------------------------------------------------------------------------------------

.PHONY: study docs bench wheel develop clean library-from-disksim library-fitted
study: $(STAMPS)/install
	$(BIN)/headstack study all $(if $(DATA),--data $(DATA))

# The drives of the library that come from DiskSim's parameter files; after this, their files are as imported.
library-from-disksim:
	cargo run --quiet --locked --package headstack-disksim --example library -- $(DATA) drives

# The drives of the library that were corrected by measured times: each fitted to the first half of its trace. The core
# that fits must hold the drives as imported; `make install` afterwards embeds the fitted ones.
FITTED := hp-c2247a:hp_c2247a dec-rz26:dec_rz26 hp-c3323a:hp_c3323a seagate-st32171w:barracuda \
  cheetah-4lp:cheetah4LP cheetah-9lp:cheetah9LP atlas-iii:atlas_III atlas-10k:atlas10k
library-fitted: $(STAMPS)/install
	$(call say,Fitting $(words $(FITTED)) drives: about half a minute each)
	@for pair in $(FITTED); do \
	  $(BIN)/headstack calibrate "$${pair%%:*}" --trace "$(DATA)/validate/$${pair##*:}.trace" \
	    --save "drives/$${pair%%:*}-fitted.toml"; \
	done

# Versions of what development and pages need, from a fresh environment.
.PHONY: lock
lock:
	$(call say,Resolving the versions of Python packages: half a minute)
	@rm -rf target/lock && $(PYTHON) -m venv target/lock
	@unset PIP_CONSTRAINT; target/lock/bin/python -m pip install --quiet 'pip>=25.1'
	@unset PIP_CONSTRAINT; names=$$($(PYTHON) -c 'import tomllib; p = tomllib.load(open("pyproject.toml", "rb")); print("\n".join(p["project"]["dependencies"] + sum(p["project"]["optional-dependencies"].values(), []) + p["dependency-groups"]["dev"]))'); \
	  printf '%s\n' "$$names" >target/lock/wanted && target/lock/bin/python -m pip install --quiet --requirement target/lock/wanted
	@{ sed -n '/^#/p' python.lock; target/lock/bin/python -m pip freeze; } >target/lock/new && mv target/lock/new python.lock

docs: $(STAMPS)/docs
	$(call say,Documentation: about 1 minute)
	@$(BIN)/python docs/generate.py
	@$(BIN)/python -m sphinx -q -W --keep-going -b html docs docs/_build/html
	@$(BIN)/python docs/built.py docs/_build/html
	@echo "$(CURDIR)/docs/_build/html/index.html"

# Where packagers and `cp -r dist/share/* ~/.local/share` expect them.
.PHONY: man
SHARE := dist/share
man: $(STAMPS)/install
	@$(BIN)/python docs/man.py $(SHARE)/man/man1
	@mkdir -p $(SHARE)/bash-completion/completions $(SHARE)/zsh/site-functions $(SHARE)/fish/vendor_completions.d
	@$(BIN)/headstack completion bash >$(SHARE)/bash-completion/completions/headstack
	@$(BIN)/headstack completion zsh >$(SHARE)/zsh/site-functions/_headstack
	@$(BIN)/headstack completion fish >$(SHARE)/fish/vendor_completions.d/headstack.fish

# One table in the end; instructions are counted where valgrind is installed. MARKDOWN=1 writes it for docs/performance.md.
bench: $(STAMPS)/install
	cargo bench --locked $(RUST_TESTS)
	@$(BIN)/python benches/table.py "$${CARGO_TARGET_DIR:-target}" $(if $(MARKDOWN),--markdown)

# Stamps in the wheel are those of the commit, so that the same commit makes the same bytes. maturin puts the list of all crates
# (CycloneDX) into the wheel; it lies beside it as well.
wheel: $(STAMPS)/install
	@rm -rf dist && SOURCE_DATE_EPOCH=$${SOURCE_DATE_EPOCH:-$$(git log -1 --format=%ct 2>/dev/null || echo 315532800)} \
	  $(BIN)/maturin build --quiet --release --out dist $(to_log)
	@$(BIN)/python .ci/sbom.py dist/*.whl
	@ls dist/*.whl dist/*.cdx.json

# The core built anew, and both wheels compared byte by byte.
.PHONY: reproduce
reproduce: wheel
	$(call say,The same wheel once more: 2 to 3 minutes)
	@rm -rf target/reproduce && mkdir -p target/reproduce && cp dist/*.whl target/reproduce/
	@cargo clean --quiet --release --workspace
	@$(MAKE) --no-print-directory wheel
	@for name in dist/*.whl; do cmp "$$name" "target/reproduce/$$(basename "$$name")" && echo "$$name: the same bytes"; done

# Advisories, licences, doubled crates and sources. What cannot be had is named and skipped.
.PHONY: deny
deny:
	@if ! cargo deny --version >/dev/null 2>&1; then \
	  echo 'deny: skipped, cargo-deny is not installed (cargo install --locked cargo-deny)' >&2; exit 0; \
	fi; \
	cargo deny --locked check bans licenses sources && \
	if cargo deny --locked fetch db >/dev/null 2>&1; then cargo deny --locked check advisories; \
	else echo 'deny: advisories skipped, their database cannot be fetched from here' >&2; fi

# For work on the core: builds in a fraction of the time, runs several times slower.
develop: $(STAMPS)/package
	@$(BIN)/maturin develop --quiet --skip-install $(to_log)
	@rm -f $(STAMPS)/install

clean:
	rm -rf $(VENV) target dist out docs/_build docs/reference/generated
	find . -name __pycache__ -not -path './.git/*' -prune -exec rm -rf {} +
