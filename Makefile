# What testing frameworks call: `make EXE=name` builds the engine for this processor and puts it here.
EXE ?= engram
ifeq ($(OS),Windows_NT)
    SUFFIX := .exe
endif

.PHONY: build test deb dist clean

build:
	RUSTFLAGS="-C target-cpu=native" cargo build --release --locked --target-dir target/native
	cp target/native/release/engram$(SUFFIX) $(patsubst %$(SUFFIX),%,$(EXE))$(SUFFIX)

test:
	cargo test --locked

# The Debian package; the folder of a release. What they need stands at the top of the scripts.
deb:
	packaging/deb

dist:
	packaging/release

clean:
	cargo clean
