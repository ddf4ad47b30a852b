# What testing frameworks call: `make EXE=name` builds the engine for this processor and puts it here.
EXE ?= engram
ifeq ($(OS),Windows_NT)
    SUFFIX := .exe
endif

# For an Intel processor with AVX-512 by its name the compiler uses half of each register; in a program for x86-64-v3 the
# functions that gain from AVX-512 choose it at run time, and use all.
CPU ?= $(shell grep -qs GenuineIntel /proc/cpuinfo && grep -q avx512_vnni /proc/cpuinfo && echo x86-64-v3 || echo native)

.PHONY: build test deb dist clean

build:
	RUSTFLAGS="-C target-cpu=$(CPU)" cargo build --release --locked --target-dir target/native
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
