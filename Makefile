# Every task of the project by its name; .ci/run calls the same names.
#   make demo   the main job on real files, with times beside the usual readers
#   make test   all tests but the long ones
#   make test-all
#   make install-capi PREFIX=/usr/local   the C interface: library, headers, pkg-config, CMake
SHELL := /bin/bash
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
FUZZ_SECONDS ?= 20
PREFIX ?= /usr/local
# What the Python package is made of.
PACKAGE := pyproject.toml Cargo.lock $(shell find crates python -name '*.rs' -o -name '*.toml' -o -name '*.py' -o -name '*.pyi')

.PHONY: demo test test-all test-rust test-python lint docs tidy fuzz bench data install-capi clean

demo: .build/debian $(VENV)/.installed
	$(BIN)/python demo/demo.py

test: test-rust test-python

test-rust: .build/debian $(VENV)/.ready
	cargo test --workspace --locked

test-python: .build/debian $(VENV)/.tested
	$(BIN)/python -m pytest -q -n auto --dist loadfile tests -m "not long"

# With it, tests in Rust try all cases that there are.
test-all: export ISOTACH_MORE_CASES := 1
test-all: test-rust .build/debian-all $(VENV)/.installed
	$(BIN)/python -m pytest -q -n auto --dist loadfile tests

lint:
	cargo fmt --all --check
	cargo clippy --workspace --all-targets --locked -- -D warnings
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy

docs:
	RUSTDOCFLAGS="-D warnings -A rustdoc::private_intra_doc_links" cargo doc --workspace --no-deps --locked --document-private-items

tidy:
	$(PYTHON) tools/tidy.py

fuzz: $(VENV)/.ready
	PYTHON=$(abspath $(BIN)/python) tools/fuzz $(FUZZ_SECONDS)

bench: $(VENV)/.installed
	$(BIN)/python bench/run.py

install-capi:
	cargo build --release --locked --package isotach-libnetcdf
	tools/install-capi "$${CARGO_TARGET_DIR:-target}/release/libnetcdf.so" "$(PREFIX)"

clean:
	rm -rf $(VENV) .build target fuzz/target

# The virtual environment with the reference libraries, then the package itself, built as users get it.
$(VENV)/.ready: tools/requirements.txt | .build/debian
	$(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install -q --disable-pip-version-check -r tools/requirements.txt
	touch $@

$(VENV)/.installed: $(VENV)/.ready $(PACKAGE)
	PATH="$(abspath $(BIN)):$$PATH" $(BIN)/python -m pip install -q --disable-pip-version-check \
		--no-build-isolation --no-deps .
	rm -f $(VENV)/.tested
	touch $@

# The same with the library that `cargo test` compiled: for tests, which this spares minutes of compiling.
$(VENV)/.tested: $(VENV)/.ready $(PACKAGE)
	$(BIN)/python tools/test_package.py
	rm -f $(VENV)/.installed
	touch $@

.build/debian: tools/debian-packages
	tools/debian-packages
	mkdir -p .build && touch $@

.build/debian-all: tools/debian-packages
	tools/debian-packages all
	mkdir -p .build && touch $@
