# A thin front over CMake presets (see CMakePresets.json). Every target does its own set-up; a repeat is quick and
# offline. `make help` lists them.
#
# The compiler is clang-16 where there is one, else g++; CC= and CXX= on the command line win. Warnings are errors with
# clang-16, the compiler we check with; `make WERROR=OFF` builds in spite of them.

.DEFAULT_GOAL := build
.PHONY: help build demo test test-dev test-tsan lint format bench test-web test-clients bench-serve bench-peers theory results eval-models install clean bootstrap release dev tsan
MAKEFLAGS += --no-print-directory

# Looked up when a recipe runs, that is after bootstrap has installed it.
clang = $(shell command -v clang-16)
ifeq ($(origin CXX),default)
  compiler = $(if $(clang),CC=clang-16 CXX=clang++-16,CC=gcc CXX=g++)
else
  compiler = CC=$(CC) CXX=$(CXX)
endif
WERROR = $(if $(findstring clang-16,$(compiler)),ON,OFF)
tracked_cpp = $(shell git ls-files --cached --others --exclude-standard '*.h' '*.cpp' ':!tests/data')

help: ## list the targets
	@sed -n 's/^\([a-z-]*\):.*## /  make \1\t/p' Makefile | expand -t 20

build: release ## build/pgdlm (the default)

demo: release ## steer the default models: film reviews, word problems
	@scripts/demo

test: release ## everything CI runs; ends with ctest's counts
	@ctest --preset release -j2

test-dev: dev ## the same tests under ASan and UBSan
	@ctest --preset dev -j2

test-tsan: tsan ## the same tests under the thread sanitizer
	@ctest --preset tsan -j2

test-web: release ## the live view in Debian's Chromium
	@scripts/bootstrap web
	@SHOT=$(SHOT) scripts/web test

test-clients: release ## the server asked by real clients: openai (Python, Node), LangChain, lm-eval, its-hub; 900 MB
	@scripts/bootstrap clients
	@tests/clients/run

lint: ## format, clang-tidy and include arrows; changes nothing
	@scripts/bootstrap build lint
	@$(compiler) cmake --preset release -DPGDLM_WERROR=$(WERROR) >/dev/null
	@scripts/lint

format: ## rewrite our C++ files in the one format
	@scripts/bootstrap lint
	@clang-format-16 -i $(tracked_cpp)

bench: release ## all benchmarks, one after the other
	@for b in $$(find build/bench -maxdepth 1 -type f -executable | sort); do echo "== $$b"; $$b || exit 1; done

bench-serve: release ## the server under load, against the same work in one batch; minutes
	@bench/serve.py

bench-peers: release ## against llama-diffusion-cli on the same random models; builds it first, minutes
	@bench/peers.py

theory: release ## regenerate the table of laws in docs/theory.md
	@scripts/theory

results: release ## run every study anew and write docs/results, hours; goes on after a stop; STORE=file
	@scripts/results

DATA ?= ../shared/data
PGDLM ?= build/pgdlm
eval-models: release ## measure the default models, up to an hour; DATA=folder, ARGS="--quick", ARGS=--update
	@scripts/bootstrap eval
	@recipes/eval_models.py --data $(DATA) --pgdlm $(PGDLM) $(ARGS)

PREFIX ?= /usr/local
install: release ## the program and the default models; PREFIX=/usr/local
	@cmake --install build --component program --prefix $(PREFIX) >/dev/null

clean: ## remove the build trees; downloads stay in .cache
	rm -rf build build-dev build-tsan

bootstrap:
	@scripts/bootstrap build

release: bootstrap
	@$(compiler) cmake --preset release -DPGDLM_WERROR=$(WERROR) >/dev/null
	@cmake --build --preset release

dev tsan: bootstrap
	@$(compiler) cmake --preset $@ >/dev/null
	@cmake --build --preset $@
