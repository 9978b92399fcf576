# SPDX-License-Identifier: BSD-3-Clause
# A thin cover: meson builds, pytest and devtools/ do the rest.

BUILD ?= build
# What make bench measures: yes: the build of make pgo, no: that of make build.
PGO ?= yes
QUICK ?= no
PGO_BUILD ?= build-pgo
MARCH ?= native
SANITIZE_MARCH ?= $(MARCH)
WERROR ?= false
DURATION ?= 10s
FUZZ_SECONDS ?= 300
SOAK_SECONDS ?= 3600
ROLLS_SECONDS ?= 120
INTERLEAVING_SECONDS ?= 600
PROFILE ?= 6ofdm-0sc-qam_300cms_aes

PYTHON := .venv/bin/python
# Warnings are the ordinary build's: instrumented code makes gcc warn of what cannot happen.
SANITIZE := -Db_sanitize=address,undefined -Db_lundef=false -Doptimization=1 -Dc_args=-g1 -Dtests=enabled -Dwarning_level=0
# As SANITIZE, but the threads: inline code of DPDK's rings keeps to C11's memory model, and this header does the rest.
RACES := -Db_sanitize=thread -Db_lundef=false -Doptimization=1 -Dtests=enabled -Dwarning_level=0 \
	-Dc_args='-g1 -Wno-deprecated-declarations -Wno-tsan -DRTE_USE_C11_MEM_MODEL -include $(CURDIR)/tests/unit/interleaving/tsan_ring.h'
# What ./vcmts and the tests look for programs in.
export VCMTS_BUILD := $(BUILD)
export ASAN_OPTIONS ?= detect_stack_use_after_return=1
export TSAN_OPTIONS ?= history_size=7
export UBSAN_OPTIONS ?= halt_on_error=1:print_stacktrace=1

# configure FOLDER,OPTIONS: sets the folder up, or gives it the options that make did not give last.
define configure
@if ! test -e $(1)/build.ninja; then \
	meson setup $(1) $(2) && echo "$(2)" >$(1)/make-options; \
elif ! echo "$(2)" | cmp -s - $(1)/make-options; then \
	meson configure $(1) $(2) && echo "$(2)" >$(1)/make-options; \
fi
endef

.DEFAULT_GOAL := help
.PHONY: help run build pgo test test-deps test-build unit unsanitized tutorials pytest sanitize sanitizers realtime fuzz bench impairments lint format docs clean

help: ## say what there is
	@awk -F ':.*## ' '/^[a-z0-9-]+:.*## / {printf "  make %-16s %s\n", $$1, $$2}' $(MAKEFILE_LIST)

run: build ## 300 cable modems carry traffic both ways for DURATION (10s), every packet is checked
	@devtools/install-deps run
	./vcmts run --profile $(PROFILE) --duration $(DURATION)

build: ## install what is missing and compile into build/ (BUILD=, MARCH=, WERROR=true)
	@devtools/install-deps build
	$(call configure,$(BUILD),-Dmarch=$(MARCH) -Dwerror=$(WERROR))
	@ninja -C $(BUILD) programs

pgo: ## compile into build-pgo/ for speed: twice, with a profile of a short run (PGO_BUILD=, MARCH=)
	@devtools/install-deps build run
	@devtools/pgo $(PGO_BUILD) -Dmarch=$(MARCH)

test: ## every test: C, Python, end to end, sanitizers, 2 s of each fuzz target
	@devtools/test

test-deps:
	@devtools/install-deps build run test

test-build: test-deps build sanitizers
	@test -d $(BUILD)/tests/unit || meson configure $(BUILD) -Dtests=enabled
	@ninja -C $(BUILD) programs unsanitized
	@devtools/fuzz 0

unit: test-deps build ## all C unit tests, in the ordinary build
	@test -d $(BUILD)/tests/unit || meson configure $(BUILD) -Dtests=enabled
	@ninja -C $(BUILD) unit_tests
	@devtools/unit $(BUILD)

unsanitized: test-deps build ## those of them that `make sanitize` leaves out: long simulations, what is measured
	@test -d $(BUILD)/tests/unit || meson configure $(BUILD) -Dtests=enabled
	@ninja -C $(BUILD) unsanitized
	@devtools/unit $(BUILD) --no-suite bytes --no-suite corpus

tutorials: test-deps build ## follow the tutorials that change code, in a copy that is compiled
	$(PYTHON) -m pytest -m compiles tests/e2e

pytest: test-deps build $(if $(VCMTS_SANITIZED),sanitizers) ## the Python tests alone: the tool, replay, the independent decoder, tshark
	@devtools/pytest

sanitizers: test-deps
	$(call configure,build-asan,-Dmarch=$(SANITIZE_MARCH) $(SANITIZE))
	@ninja -C build-asan sanitized src/vcmtsd

sanitize: sanitizers build ## unit and replay tests under the address and undefined behaviour sanitizers
	@devtools/unit build-asan --suite bytes
	$(if $(VCMTS_SANITIZED),,@VCMTS_SANITIZED=build-asan devtools/pytest tests/e2e -m replay)

.PHONY: interleavings
interleavings: test-deps ## changes in every order for INTERLEAVING_SECONDS (600), under the address sanitizer
	$(call configure,build-asan,-Dmarch=$(SANITIZE_MARCH) $(SANITIZE))
	@ninja -C build-asan tests/unit/test_interleavings
	INTERLEAVING_SECONDS=$(INTERLEAVING_SECONDS) build-asan/tests/unit/test_interleavings

.PHONY: races
races: test-deps ## the same with threads as workers, for INTERLEAVING_SECONDS (600), under the thread sanitizer
	$(call configure,build-tsan,-Dmarch=$(SANITIZE_MARCH) $(RACES))
	@ninja -C build-tsan tests/unit/test_worker tests/unit/test_interleavings
	build-tsan/tests/unit/test_worker
	INTERLEAVING_THREADS=1 INTERLEAVING_SECONDS=$(INTERLEAVING_SECONDS) build-tsan/tests/unit/test_interleavings

.PHONY: faults
faults: test-deps ## each call that may fail does so, in each kind of reload and method, under the sanitizers (minutes)
	$(call configure,build-asan,-Dmarch=$(SANITIZE_MARCH) $(SANITIZE))
	@ninja -C build-asan $(addprefix tests/unit/test_faults_,reload steering methods captures)
	VCMTS_FAULTS=all build-asan/tests/unit/test_faults_reload
	VCMTS_FAULTS=all build-asan/tests/unit/test_faults_steering
	VCMTS_FAULTS=all build-asan/tests/unit/test_faults_methods
	VCMTS_FAULTS=all build-asan/tests/unit/test_faults_captures

realtime: test-deps build ## what only a quiet machine shows: rates, distances, delays; repeated where it fails
	$(PYTHON) -m pytest tests/realtime

fuzz: test-deps ## fuzz every parser for FUZZ_SECONDS (300) a target
	@devtools/fuzz $(FUZZ_SECONDS)

.PHONY: soak
soak: test-deps build ## SOAK_SECONDS (3600) of traffic while everything changes: accounts and memory
	VCMTS_SOAK_SECONDS=$(SOAK_SECONDS) $(PYTHON) -m pytest tests/e2e/changes/test_soak_changes.py

.PHONY: rolls
rolls: test-deps build ## ROLLS_SECONDS (120) of keys that roll at 90 % of the rate without loss: every packet
	VCMTS_ROLLS_SECONDS=$(ROLLS_SECONDS) $(PYTHON) -m pytest tests/e2e/changes/test_run_rolls.py

.PHONY: mutants
mutants: test-deps ## break lines of the data plane one at a time: does a test of their room see it? (half an hour)
	@devtools/mutants

.PHONY: mutants-run
mutants-run: test-deps ## break the data plane in one place at a time: does a run of 5 s see it? (half an hour)
	@devtools/mutants-run

bench: $(if $(filter no,$(PGO)),build,pgo) ## measure everything for some minutes: a report in bench-results/ (PGO=no, QUICK=yes: whether it works)
	@devtools/install-deps run plot
	VCMTS_BUILD=$(if $(filter no,$(PGO)),$(BUILD),$(PGO_BUILD)) ./vcmts bench all $(if $(filter yes,$(QUICK)),--quick --folder $(BUILD)/bench-quick)

impairments: build ## impair the upstream in every way: expected and counted, side by side
	@devtools/install-deps run
	./vcmts impairments

.PHONY: host-test
host-test: ## `vcmts host` in a virtual machine with an SR-IOV card: check, plan, apply, undo (minutes)
	@devtools/install-deps run
	@tests/host_lab/run

.PHONY: vm-test
vm-test: ## the data plane on emulated SR-IOV cards in a virtual machine, if ../shared/vm-lab is there (a quarter of an hour)
	@devtools/install-deps run
	@! tests/vm/lab >/dev/null || tests/vm/build
	@VCMTS_BUILD=build-v2 tests/vm/run $(SCENES)

.PHONY: k8s-test
k8s-test: test-deps ## the chart with the image on a real node of Kubernetes (../shared/k8s-lab; minutes; as root)
	@tests/k8s/run

.PHONY: power-test
power-test: ## power management on emulated hardware: TPAUSE executed, and Linux's acpi-cpufreq (1 minute; 150 MB once)
	@devtools/install-deps power
	@devtools/power-test

.PHONY: deb deb-test
deb: ## Debian packages of this release in build-deb/, looked at by lintian (5 minutes)
	@devtools/install-deps build deb
	@devtools/deb

deb-test: deb ## install, serve and purge them in a fresh root of this release
	@devtools/deb-test

.PHONY: arm-test
arm-test: ## compile for aarch64, and run unit and replay tests there, emulated (half an hour; 150 MB once)
	@devtools/install-deps arm run test
	@devtools/arm-test

.PHONY: cpu-test
cpu-test: ## one build for x86-64-v2, run on emulated CPUs with that and with less, unit tests too (half an hour)
	@devtools/install-deps build run test cpu
	@devtools/cpu-test

.PHONY: image image-test
image: ## the container image, into build-image/ and podman: minutes (IMAGE_OPTIONS=--here compiles with this machine's DPDK)
	@devtools/install-deps build image
	@devtools/image $(IMAGE_OPTIONS)

image-test: ## what make image made, looked into and started: programs, two containers, exit statuses (half a minute)
	@devtools/install-deps run image
	@devtools/image-test

lint: ## everything that reads the code without running it
	@devtools/install-deps lint
	@devtools/lint

format: ## rewrite C and Python in the house style
	@devtools/install-deps lint
	@devtools/lint --fix

docs: build ## build the documentation site in build-docs/site, and write generated files of the checkout again
	@devtools/install-deps docs
	@devtools/docs

.PHONY: dashboards
dashboards: ## write Grafana's dashboards in deploy/grafana/ again
	@devtools/install-deps lint
	@devtools/dashboards

.PHONY: dashboards-drawn
dashboards-drawn: build ## draw them from a run with four service groups into build-dashboards/ (400 MB of npm)
	@devtools/install-deps run browser monitor lint
	@devtools/dashboards --draw 60

.PHONY: chart
chart: ## pack the Helm chart with dashboards and alerts: build-chart/vcmts-VERSION.tgz (VERSION=, that of the project)
	@devtools/install-deps chart
	@devtools/helm/assemble
	@build-chart/render build-chart/vcmts --package build-chart \
		"$(or $(VERSION),$(shell sed -n "s/^  version: '\(.*\)',$$/\1/p" meson.build))"

.PHONY: chart-test
chart-test: test-deps ## the Helm chart: rendered, checked against Kubernetes' schemas, and by helm itself where it is installed
	@devtools/install-deps chart
	@devtools/chart-test

clean: ## remove what was built (not .venv)
	@for folder in $(BUILD) $(PGO_BUILD); do \
		test ! -e $$folder || test -e $$folder/meson-info || \
			{ echo "clean: $$folder is no build directory" >&2; exit 1; }; \
	done
	rm -rf $(BUILD) $(PGO_BUILD) build-asan build-tsan build-fuzz build-mutants build-load build-dashboards build-power build-deb build-arm build-v2 build-chart build-docs build-image
