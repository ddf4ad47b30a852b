# What testing frameworks call: `make EXE=name` builds the engine for this processor and puts it here.
EXE ?= engram
ifeq ($(OS),Windows_NT)
    SUFFIX := .exe
endif

# For an Intel processor with AVX-512 by its name the compiler uses half of each register; in a program for x86-64-v3 the
# functions that gain from AVX-512 choose it at run time, and use all.
CPU ?= $(shell grep -qs GenuineIntel /proc/cpuinfo && grep -q avx512_vnni /proc/cpuinfo && echo x86-64-v3 || echo native)

.PHONY: build test deb dist clean

# With the profile of a run the engine is 3 to 7 % faster than the portable one (benches/notes/speed.md). The tool for it is a
# component of Rust; `make PROFDATA=` does without.
HOST := $(shell rustc --print host-tuple)
PROFDATA ?= $(wildcard $(subst \,/,$(shell rustc --print sysroot))/lib/rustlib/$(HOST)/bin/llvm-profdata$(SUFFIX))
PROFILE := $(CURDIR)/target/profile
# The flags are separated by \037, since a folder's name may have spaces.
COMPILE = CARGO_ENCODED_RUSTFLAGS="$$(printf '%b' '-Ctarget-cpu=$(CPU)$(1)')" \
    cargo build --release --locked --target $(HOST) --target-dir target/native
BUILT := target/native/$(HOST)/release/engram$(SUFFIX)

build:
ifeq ($(PROFDATA),)
	@echo "Building without a profile; faster with one: rustup component add llvm-tools"
	$(call COMPILE)
else
	rm -rf "$(PROFILE)"
	$(call COMPILE,\0037-Cprofile-generate=$(PROFILE))
	$(BUILT) bench
	"$(PROFDATA)" merge -o "$(PROFILE)/merged" "$(PROFILE)"
	$(call COMPILE,\0037-Cprofile-use=$(PROFILE)/merged)
endif
	cp $(BUILT) $(patsubst %$(SUFFIX),%,$(EXE))$(SUFFIX)

test:
	cargo test --locked

# The Debian package; the folder of a release. What they need stands at the top of the scripts.
deb:
	packaging/deb

dist:
	packaging/release

clean:
	cargo clean
