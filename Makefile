# SPDX-License-Identifier: BSD-3-Clause
# Short names for the commands of development. meson compiles; pytest and the scripts in devtools/ do the rest.

BUILD ?= build
# The build that `make bench` measures: yes: that of `make pgo`, no: that of `make build`.
PGO ?= yes
QUICK ?= no
ONLY ?=
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
# Without warnings: gcc reports false ones for instrumented code. The ordinary build has them.
SANITIZE := -Db_sanitize=address,undefined -Db_lundef=false -Doptimization=1 -Dc_args=-g1 -Dtests=enabled -Dwarning_level=0
# ThreadSanitizer understands C11 atomics, which most of DPDK's inline ring code then uses. tsan_ring.h replaces the rest.
RACES := -Db_sanitize=thread -Db_lundef=false -Doptimization=1 -Dtests=enabled -Dwarning_level=0 \
	-Dc_args='-g1 -Wno-deprecated-declarations -Wno-tsan -DRTE_USE_C11_MEM_MODEL -include $(CURDIR)/tests/unit/interleaving/tsan_ring.h'
# The build folder in which ./vcmts and the tests find the programs.
export VCMTS_BUILD := $(BUILD)
export ASAN_OPTIONS ?= detect_stack_use_after_return=1
export TSAN_OPTIONS ?= history_size=7
export UBSAN_OPTIONS ?= halt_on_error=1:print_stacktrace=1

.DEFAULT_GOAL := help
.PHONY: help run build pgo test test-deps test-build unit unsanitized tutorials pytest sanitize sanitizers realtime fuzz bench impairments lint format docs clean

help: ## list the targets
	@awk -F ':.*## ' '/^[a-z0-9-]+:.*## / {printf "  make %-16s %s\n", $$1, $$2}' $(MAKEFILE_LIST)

run: build ## send traffic of 300 simulated cable modems in both directions and check every packet (DURATION=10s)
	@devtools/install-deps run
	./vcmts run --profile $(PROFILE) --duration $(DURATION)

build: ## install missing dependencies and compile into build/ (BUILD=, MARCH=, WERROR=true)
	@devtools/install-deps build
	@devtools/compile $(BUILD) "-Dmarch=$(MARCH) -Dwerror=$(WERROR)" programs

pgo: ## compile with profile-guided optimisation into build-pgo/ (PGO_BUILD=, MARCH=; 5 minutes)
	@devtools/install-deps build run
	@devtools/pgo $(PGO_BUILD) -Dmarch=$(MARCH)

test: ## run the tests: C, Python, end to end, sanitizers, 2 s per fuzz target (12 minutes)
	@devtools/test

test-deps:
	@devtools/install-deps build run test

test-build: test-deps build sanitizers
	@test -d $(BUILD)/tests/unit || meson configure $(BUILD) -Dtests=enabled
	@devtools/compile $(BUILD) "" programs unsanitized
	@devtools/fuzz 0

unit: test-deps build ## run all C unit tests in the ordinary build
	@test -d $(BUILD)/tests/unit || meson configure $(BUILD) -Dtests=enabled
	@devtools/compile $(BUILD) "" unit_tests
	@devtools/unit $(BUILD)

unsanitized: test-deps build ## run the C unit tests that `make sanitize` omits: long simulations, measurements of cycles and memory
	@test -d $(BUILD)/tests/unit || meson configure $(BUILD) -Dtests=enabled
	@devtools/compile $(BUILD) "" unsanitized
	@devtools/unit $(BUILD) --no-suite sanitized --no-suite corpus

tutorials: test-deps build ## apply the tutorials' code changes to a copy of the checkout and compile it
	$(PYTHON) -m pytest -m compiles tests/e2e

pytest: test-deps build $(if $(VCMTS_SANITIZED),sanitizers) ## run the Python tests only: tool, replay, independent decoder, tshark
	@devtools/pytest

sanitizers: test-deps
	@devtools/compile build-asan "-Dmarch=$(SANITIZE_MARCH) $(SANITIZE)" sanitized src/vcmtsd

sanitize: sanitizers build ## run unit and replay tests under AddressSanitizer and UndefinedBehaviorSanitizer
	@devtools/unit build-asan --suite sanitized
	$(if $(VCMTS_SANITIZED),,@VCMTS_SANITIZED=build-asan devtools/pytest tests/e2e -m replay)

.PHONY: interleavings
interleavings: test-deps ## run live changes in random interleavings under AddressSanitizer (INTERLEAVING_SECONDS=600)
	@devtools/compile build-asan "-Dmarch=$(SANITIZE_MARCH) $(SANITIZE)" tests/unit/test_interleavings
	INTERLEAVING_SECONDS=$(INTERLEAVING_SECONDS) build-asan/tests/unit/test_interleavings

.PHONY: races
races: test-deps ## run live changes with worker threads under ThreadSanitizer (INTERLEAVING_SECONDS=600)
	@devtools/compile build-tsan "-Dmarch=$(SANITIZE_MARCH) $(RACES)" tests/unit/test_worker tests/unit/test_interleavings
	build-tsan/tests/unit/test_worker
	INTERLEAVING_THREADS=1 INTERLEAVING_SECONDS=$(INTERLEAVING_SECONDS) build-tsan/tests/unit/test_interleavings

.PHONY: faults
faults: test-deps ## let each call that can fail do so once, in each kind of reload and control method, under sanitizers (minutes)
	@devtools/compile build-asan "-Dmarch=$(SANITIZE_MARCH) $(SANITIZE)" $(addprefix tests/unit/test_faults_,reload steering methods captures)
	VCMTS_FAULTS=all build-asan/tests/unit/test_faults_reload
	VCMTS_FAULTS=all build-asan/tests/unit/test_faults_steering
	VCMTS_FAULTS=all build-asan/tests/unit/test_faults_methods
	VCMTS_FAULTS=all build-asan/tests/unit/test_faults_captures

realtime: test-deps build ## run the tests of rates and delays in real time; needs an idle machine
	$(PYTHON) -m pytest tests/realtime

fuzz: test-deps ## fuzz every parser (FUZZ_SECONDS=300 per target)
	@devtools/fuzz $(FUZZ_SECONDS)

.PHONY: soak
soak: test-deps build ## send traffic during continuous live changes; check packet counts and memory (SOAK_SECONDS=3600)
	VCMTS_SOAK_SECONDS=$(SOAK_SECONDS) $(PYTHON) -m pytest tests/e2e/changes/test_soak_changes.py

.PHONY: rolls
rolls: test-deps build ## roll BPI+ keys at 90 % of the loss-free rate and check every packet (ROLLS_SECONDS=120)
	VCMTS_ROLLS_SECONDS=$(ROLLS_SECONDS) $(PYTHON) -m pytest tests/e2e/changes/test_run_rolls.py

.PHONY: mutants
mutants: test-deps ## mutation testing: break lines of the data plane one at a time and run their unit tests (half an hour)
	@devtools/mutants

.PHONY: mutants-run
mutants-run: test-deps ## mutation testing with `vcmts run`: break the data plane and check that a run of 5 s fails (half an hour)
	@devtools/mutants-run

bench: $(if $(filter no,$(PGO)),build,pgo) ## run all benchmarks and write a report to bench-results/ (PGO=no: ordinary build; QUICK=yes: short trial; ONLY=WHAT)
	@devtools/install-deps run plot
	VCMTS_BUILD=$(if $(filter no,$(PGO)),$(BUILD),$(PGO_BUILD)) ./vcmts bench all $(if $(filter yes,$(QUICK)),--quick --folder $(BUILD)/bench-quick) $(if $(ONLY),--only $(ONLY))

impairments: build ## send an impaired upstream; compare expected and counted drops
	@devtools/install-deps run
	./vcmts impairments

.PHONY: host-test
host-test: ## test `vcmts host` in a virtual machine with an SR-IOV card: check, plan, apply, undo (minutes)
	@devtools/install-deps run
	@tests/host_lab/run

.PHONY: vm-test
vm-test: ## test the data plane on emulated SR-IOV cards in a virtual machine; needs ../shared/vm-lab (15 minutes)
	@devtools/install-deps run
	@! tests/vm/lab >/dev/null || tests/vm/build
	@VCMTS_BUILD=build-v2 tests/vm/run $(SCENES)

.PHONY: k8s-test
k8s-test: test-deps ## test chart and image on a Kubernetes node; needs root and ../shared/k8s-lab (minutes)
	@tests/k8s/run

.PHONY: power-test
power-test: ## test power management on emulated hardware: TPAUSE, acpi-cpufreq (1 minute; fetches 50 MB once)
	@devtools/install-deps power
	@devtools/power-test

.PHONY: deb deb-test
deb: ## build Debian packages for this release, or SUITE=trixie, in build-deb/ and check them with lintian (5 minutes)
	@devtools/install-deps build deb
	@devtools/deb $(SUITE)

deb-test: deb ## install, run, upgrade and purge the packages in roots of this release, or SUITE=trixie, with systemd booted
	@devtools/install-deps run test
	@devtools/deb-test $(SUITE)

.PHONY: operating-test
operating-test: build ## follow docs/operating.md in an empty, booted Debian root: install, serve, upgrade, purge (2 minutes)
	@devtools/install-deps deb
	@devtools/operating-test $(BUILD)

.PHONY: arm-test
arm-test: ## cross-compile for aarch64 and run unit and replay tests in emulation (half an hour; fetches 150 MB once)
	@devtools/install-deps arm run test
	@devtools/arm-test

.PHONY: cpu-test
cpu-test: ## compile for x86-64-v2 and run it and the unit tests on emulated CPUs, too old ones included (half an hour)
	@devtools/install-deps build run test cpu
	@devtools/cpu-test

.PHONY: image image-test
image: ## build the container image in build-image/ and load it into podman (minutes; IMAGE_OPTIONS=--here: compile on this machine)
	@devtools/install-deps build image
	@devtools/image $(IMAGE_OPTIONS)

image-test: ## check the contents of the container image and run containers from it (half a minute)
	@devtools/install-deps run image
	@devtools/image-test

lint: ## run all static checks: style, types, layers, words, licences
	@devtools/install-deps lint
	@devtools/lint

format: ## format C and Python with the pinned formatters
	@devtools/install-deps lint
	@devtools/lint --fix

docs: build ## build the documentation site in build-docs/site and rewrite the generated pages of the checkout
	@devtools/install-deps docs
	@devtools/docs

.PHONY: dashboards
dashboards: ## rewrite the Grafana dashboards in deploy/grafana/
	@devtools/install-deps lint
	@devtools/dashboards

.PHONY: dashboards-drawn
dashboards-drawn: build ## draw the dashboards of a run with four service groups into build-dashboards/ (fetches 400 MB from npm)
	@devtools/install-deps run browser monitor lint
	@devtools/dashboards --draw 60

.PHONY: chart
chart: ## package the Helm chart with dashboards and alerts: build-chart/vcmts-VERSION.tgz (VERSION=)
	@devtools/install-deps chart
	@devtools/helm/assemble
	@build-chart/render build-chart/vcmts --package build-chart \
		"$(or $(VERSION),$(shell sed -n "s/^  version: '\(.*\)',$$/\1/p" meson.build))"

.PHONY: chart-test
chart-test: test-deps ## render the Helm chart and validate it with Kubernetes' schemas, and with helm if installed
	@devtools/install-deps chart
	@devtools/chart-test

# The version of a release: empty for that of the checkout, whose tag must exist, or `snapshot` for a build of HEAD.
RELEASE = PYTHONPATH=devtools $(PYTHON) -B -m release --version "$(VERSION)" --key "$(KEY)" --previous "$(PREVIOUS)" \
	$(if $(SUITES),--suites "$(SUITES)")

.PHONY: release release-quick release-upgrade
release: ## make all files of a release in build-release/: source, packages, image, chart, checksums (VERSION=, KEY=, SUITES=)
	@devtools/install-deps run image chart release
	@$(RELEASE) all

release-quick: ## make the files of a release that need no compiler, in seconds (VERSION=, KEY=)
	@devtools/install-deps run chart
	@$(RELEASE) quick

release-upgrade: ## test the upgrade of a service from the previous release's packages, or those of PREVIOUS=COMMIT
	@devtools/install-deps run release
	@$(RELEASE) upgrade

release-%: # one part: archive, changelog, chart, packages, image, sbom, provenance, checksums
	@devtools/install-deps run $(if $(filter chart,$*),chart) $(if $(filter image,$*),image) $(if $(filter packages,$*),release)
	@$(RELEASE) $*

clean: ## remove all build folders (not .venv)
	@for folder in $(BUILD) $(PGO_BUILD); do \
		test ! -e $$folder || test -e $$folder/meson-info || \
			{ echo "clean: $$folder is not a build folder of meson; not removed" >&2; exit 1; }; \
	done
	rm -rf $(BUILD) $(PGO_BUILD) build-asan build-tsan build-fuzz build-mutants build-load build-dashboards build-power build-deb build-arm build-v2 build-chart build-docs build-image build-release
