# Everything a reader needs to type. The work is done by CMake (CMakeLists.txt) and the programs in
# scripts/ and tools/; this file only names the tasks.
BUILD ?= build
JOBS ?= $(shell nproc)
PREFIX ?= /usr/local
FUZZ_SECONDS ?= 300
PYTHON ?= python3

.PHONY: all help setup build run test bench bench-peers even zoo check asan tsan fuzz fuzz-peers install clean

all: build

help:
	@$(PYTHON) tools/make_help.py

setup:
	@scripts/setup
	@scripts/setup_python

build: setup
	@scripts/build $(BUILD) -j$(JOBS)

ifeq ($(origin PROG):$(PROG),command line:)
run:
	@echo "PROG= is empty: name a program, as in make run PROG=train.py" >&2; exit 2
else
run: build
ifdef PROG
	@.venv/bin/evenflow run $(PROG) $(ARGS)
else
	@scripts/run_examples $(BUILD)
endif
endif

test: build
	@scripts/setup --tests || echo "tests that need these packages are skipped"
	@$(PYTHON) tools/run_tests.py $(BUILD) --jobs $(JOBS)

bench-peers: build
	@scripts/run_bench_peers

bench: build
	@scripts/run_bench $(BUILD)

even: build
	@scripts/run_even $(BUILD)

zoo: build
	@scripts/run_zoo

check:
	@scripts/setup --check
	@scripts/setup_python
	@scripts/build $(BUILD) -j$(JOBS)
	@$(PYTHON) tools/check.py $(BUILD)

asan: setup
	@scripts/build $(BUILD)-asan -j$(JOBS) -DEF_SANITIZE=address
	@$(PYTHON) tools/run_tests.py $(BUILD)-asan --jobs $(JOBS) --limit 900 --no-python

tsan: setup
	@scripts/build $(BUILD)-tsan -j$(JOBS) -DEF_SANITIZE=thread
	@$(PYTHON) tools/run_tests.py $(BUILD)-tsan --jobs $(JOBS) --limit 900 --no-python

fuzz: build
	@scripts/build $(BUILD)-asan -j$(JOBS) -DEF_SANITIZE=address
	@scripts/run_fuzz $(BUILD)-asan $(FUZZ_SECONDS)

fuzz-peers: build
	@scripts/peers_venv
	@.venv/bin/python tests/fuzz/peers_fuzz.py --peers $${EF_PEERS:-build/peers-venv}

install: build
	@cmake --install $(BUILD) --prefix $(PREFIX)

clean:
	rm -rf $(BUILD) $(BUILD)-asan $(BUILD)-tsan .venv python/evenflow/*.so
