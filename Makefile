# What testing frameworks call: `make EXE=name` builds the engine for this processor and puts it here.
EXE ?= engram
ifeq ($(OS),Windows_NT)
    SUFFIX := .exe
endif

.PHONY: build test clean

build:
	RUSTFLAGS="-C target-cpu=native" cargo build --release --locked --target-dir target/native
	cp target/native/release/engram$(SUFFIX) $(patsubst %$(SUFFIX),%,$(EXE))$(SUFFIX)

test:
	cargo test --locked

clean:
	cargo clean
