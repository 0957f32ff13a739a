# From a fresh clone to a result table, and every check of the project. `make help` lists the targets.

SHELL := /bin/bash
.SHELLFLAGS := -euo pipefail -c
.DEFAULT_GOAL := help
# One target after the other, also under `make -j`: cargo and cmake share the cores among themselves.
.NOTPARALLEL:
# Cargo must not mistake the job tokens of `make -j` for its own.
unexport MAKEFLAGS MFLAGS

JOBS ?= $(shell nproc 2>/dev/null || getconf _NPROCESSORS_ONLN)
MODEL ?= smollm2-135m-instruct-q4_1
CONFIG ?= configs/quickstart.toml
# 0: never install a tool, only say what is missing.
INSTALL ?= 1
MINUTES ?= 10
FUZZ_TOOLCHAIN ?= +nightly
FUZZ ?= reading template log gguf parcel

export CARGO_BUILD_JOBS := $(JOBS)
# The C++ objects depend on neither the folder nor the profile: a second clone takes them from the cache.
export CCACHE_BASEDIR ?= $(abspath $(CURDIR)/..)
export CCACHE_NOHASHDIR ?= 1

TARGET_DIR := $(or $(CARGO_TARGET_DIR),target)
TOOLS := source .tools/env;
LLAMA := -p models -p runner --features llama

.PHONY: help
help: ## this list
	@awk -F ':.*## ' '/^[a-z-]+:.*## / { printf "  make %-12s %s\n", $$1, $$2 }' Makefile
	@echo "Variables: JOBS=$(JOBS), MODEL=$(MODEL), CONFIG=$(CONFIG), INSTALL=$(INSTALL) (0: install nothing)"

.PHONY: demo
demo: fetch build ## fetch a small model, build, run configs/quickstart.toml, show the results and write them as a page
	@$(TARGET_DIR)/release/edge-eval run $(CONFIG)
	@dir=$$($(TARGET_DIR)/release/edge-eval run $(CONFIG) --quiet); \
	    $(TARGET_DIR)/release/edge-eval report "$$dir" --html "$$dir/report.html" >/dev/null; \
	    echo "page: $$dir/report.html"

# Quantised copies of both models come first; a second call goes on where the first one stopped.
LAB := models/gguf/laboratory
.PHONY: laboratory
laboratory: fetch fetch-gemma build ## the decoding laboratory on two models in two quantisations, with probes and page; about half an hour
	@ee=$(TARGET_DIR)/release/edge-eval; \
	    [ -e $(LAB)/smollm2 ] || $$ee quantize models/gguf/SmolLM2-135M-Instruct.Q4_1.gguf --types Q8_0,Q4_0 --requantize -o $(LAB)/smollm2; \
	    [ -e $(LAB)/gemma ] || $$ee quantize models/gguf/gemma-3-270m-q4_k_m.gguf --types Q8_0,Q4_0 --requantize -o $(LAB)/gemma; \
	    $$ee run configs/laboratory.toml; \
	    dir=$$($$ee run configs/laboratory.toml --quiet); \
	    $$ee probe "$$dir"; \
	    $$ee report "$$dir" --decoding; \
	    $$ee report "$$dir" --html "$$dir/report.html" >/dev/null; \
	    echo "page: $$dir/report.html"

.PHONY: setup
setup: ## find cmake, a C++ compiler, libclang and ccache, or install them
	@INSTALL=$(INSTALL) cross/setup.sh

.PHONY: fetch
fetch: setup ## fetch the default model into models/gguf/
	@$(TOOLS) python3 models/fetch.py $(MODEL)

.PHONY: fetch-gemma
fetch-gemma: setup ## fetch the second, sliding-window model
	@$(TOOLS) python3 models/fetch.py gemma-3-270m-q4_k_m

.PHONY: build
build: setup ## the release binary, target/release/edge-eval
	@$(TOOLS) cargo build --locked --release -p runner --features llama

.PHONY: quick
quick: setup ## format, lints and tests without llama.cpp: no model, no C++ build
	@$(TOOLS) cargo fmt --all --check
	@$(TOOLS) cargo clippy --locked --workspace --all-targets -- -D warnings
	@$(TOOLS) cargo test --locked --workspace

.PHONY: lint
lint: setup ## format and lints, with and without llama.cpp
	@$(TOOLS) cargo fmt --all --check
	@$(TOOLS) cargo clippy --locked --workspace --all-targets -- -D warnings
	@$(TOOLS) cargo clippy --locked $(LLAMA) --all-targets -- -D warnings
	@if command -v shellcheck >/dev/null; then shellcheck cross/*.sh .ci/run; fi

# The model and the C++ build come before the long steps, so that what is missing shows at once.
# With llama.cpp one test at a time: each uses every core, and threads that wait for each other spin.
.PHONY: test
test: fetch lint ## the whole suite, real model included
	@$(TOOLS) python3 -m unittest -q models/fetch_test.py
	@$(TOOLS) cargo test --locked --workspace
	@$(TOOLS) cargo test --locked $(LLAMA) -- --test-threads=1
	@$(MAKE) --no-print-directory dist-quick

# Programs as they are handed out, but quickly built: without the optimisation of Rust code across crates.
QUICK := CARGO_PROFILE_DIST_LTO=off CARGO_PROFILE_DIST_CODEGEN_UNITS=16 CARGO_PROFILE_DIST_OPT_LEVEL=1 DIST_DIR=$(TARGET_DIR)/dist-quick
X86 := x86_64-unknown-linux-gnu
ARM := aarch64-unknown-linux-gnu

.PHONY: dist
dist: ## the files that are handed out, dist/TARGET/edge-eval, for x86-64 and 64-bit ARM
	@cross/build.sh $(X86)
	@cross/build.sh $(ARM)

.PHONY: dist-test
dist-test: fetch dist ## all CPU levels on processors that have and lack them, emulated by qemu; the default model too
	@$(TOOLS) cross/dist-test.py dist --model models/gguf/SmolLM2-135M-Instruct.Q4_1.gguf

# Two levels of x86-64 and one of ARM; the latter only where its compiler is.
.PHONY: dist-quick
dist-quick: setup
	@$(QUICK) cross/build.sh $(X86) --levels x86-64,x86-64-v3
	@$(QUICK) cross/build.sh $(ARM) --levels armv8.2-a-dotprod-fp16 || \
	    { [ $$? = 69 ] && echo "dist: 64-bit ARM is not tested, for the reason above"; }
	@$(TOOLS) cross/dist-test.py $(TARGET_DIR)/dist-quick --quick

.PHONY: release
release: dist ## archives with checksums and licences, dist/release/
	@$(TOOLS) cross/release.sh

# One target: FUZZ=gguf. What it needs, and what the limits mean: tests/fuzz/README.md.
.PHONY: fuzz
fuzz: setup ## fuzz every reader of foreign bytes, MINUTES=10 for each
	@command -v cargo-fuzz >/dev/null || { echo "cargo-fuzz is missing: cargo install cargo-fuzz"; exit 1; }
	@$(TOOLS) cd tests/fuzz; for target in $(FUZZ); do \
	    mkdir -p corpus/$$target; echo "fuzz: $$target, $(MINUTES) minutes"; \
	    [ $$target = template ] && sanitizer=none || sanitizer=address; \
	    FUZZ_SEEDS=$$PWD/corpus/$$target cargo $(FUZZ_TOOLCHAIN) fuzz run -O --fuzz-dir . -s $$sanitizer $$target corpus/$$target ../fixtures/fuzz/$$target -- \
	        -dict=dictionaries/$$target.dict -max_total_time=$$(($(MINUTES) * 60)) -timeout=10 -rss_limit_mb=512 -malloc_limit_mb=256 \
	        -print_final_stats=1; done

.PHONY: bench-compare
bench-compare: fetch build ## edge-eval bench and llama-bench in turn on the default model; COMPARE="--rounds 7 -t 4"
	@$(TOOLS) [ -x .tools/llama-bench/llama-bench ] || cross/llama-bench.sh
	@cross/bench-compare.py $(or $(BENCH_MODEL),models/gguf/SmolLM2-135M-Instruct.Q4_1.gguf) $(COMPARE)

# Needs what `cross/build.sh x86_64-unknown-linux-gnu` and `... aarch64-unknown-linux-gnu` leave in dist/, qemu, and root.
.PHONY: bundle-test
bundle-test: ## run a bundle for ARM boards in a bare read-only chroot under qemu
	@cross/bundle-test.py dist

.PHONY: clean
clean: ## remove what the build made; models and tools stay
	@cargo clean

.PHONY: distclean
distclean: clean ## remove tools and models too
	@rm -rf .tools models/gguf
