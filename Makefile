# The front door. Everything here is a short call of a tool or of a script in hack/ that can be used alone.
SHELL := /bin/bash
.SHELLFLAGS := -euo pipefail -c
.DEFAULT_GOAL := help
.NOTPARALLEL:

PRESET ?= release
BUILD := build/$(PRESET)
JOBS ?= $(shell nproc)
TREES ?= $(if $(filter release,$(PRESET)),release asan tsan,$(PRESET))
IMG ?= kubenodesmith:latest
CONTAINER ?= $(shell command -v docker || command -v podman || echo docker)
KUBECTL ?= $(shell command -v kubectl || echo build/controlplane/bin/kubectl)
PYTHON := build/venv/bin/python
DOCS := build/docs-venv
VERSION = $(shell awk '/^project/ {print $$3}' CMakeLists.txt)
CXX_FILES = $(shell git ls-files --cached --others --exclude-standard '*.cpp' '*.hpp')

##@ Build and test

.PHONY: help
help: ## Show this help
	@awk 'BEGIN { FS = ":.*## "; print "Usage: make TARGET [VARIABLE=value]" } \
	  /^##@ / { printf "\n%s\n", substr($$0, 5) } \
	  /^[a-z-]+:.*## / { printf "  %-14s %s\n", $$1, $$2 }' Makefile
	@printf '\nVariables: PRESET=release|debug|asan|tsan, JOBS=n, CONTROLPLANE_BIN=DIR (ready-made control plane binaries),\n'
	@printf '           KUBENODESMITH_REFERENCE=DIR (reference data for conformance tests), KUBECTL=path, CONTAINER=docker|podman\n'

.PHONY: setup
setup: packages python ## Install packages and Python requirements, build everything (needs root or sudo for packages)
	@hack/with_controlplane.sh $(MAKE) --no-print-directory build

.PHONY: packages python site-tools controlplane
packages:
	@hack/setup_packages.sh
python: packages
	@hack/setup_python.sh
site-tools: packages
	@hack/setup_python.sh $(DOCS) hack/mkdocs.txt
controlplane: packages
	@hack/setup_controlplane.sh

.PHONY: build
build: ## Build the C++ programs and tests into build/PRESET (programs: build/PRESET/bin)
	@[[ -f $(BUILD)/build.ninja ]] || cmake --preset $(PRESET)
	cmake --build --preset $(PRESET) --parallel $(JOBS)

.PHONY: test
test: packages python site-tools ## Run all tests, the suited ones under sanitizers, the unit tests only there (TREES=release: without sanitizers)
	@hack/with_controlplane.sh hack/test.py --only-build --jobs $(JOBS) $(TREES)
	@hack/test.py --jobs $(JOBS) $(TREES)

.PHONY: leaves
leaves: build ## Send the extremes of every field of the watched kinds to an API server (make test: of one field in six)
	KUBENODESMITH_ALL_LEAVES=1 KUBENODESMITH_BIN=$(BUILD)/bin $(PYTHON) -m pytest -q -s -p no:cacheprovider test/e2e/test_odd_objects.py -k extremes

.PHONY: soak
soak: build ## Live through weeks of virtual time: with obstacles that come and go, and with workloads that do (make test: hours and days)
	$(BUILD)/bin/simulation --soak --seeds 1 --minutes 10080
	KUBENODESMITH_WHOLE_TESTS=1 $(BUILD)/bin/weeks-of-disruption

.PHONY: judges
judges: build ## Run in full what make test samples or leaves out: 240 workloads for the scheduler, 20 real kubelets, 500 seeds, promtool
	CONTROLPLANE_PROGRAMS=promtool hack/setup_controlplane.sh
	npm install --silent --prefix build/axe --ignore-scripts --no-audit --no-fund axe-core@4.14.1 || echo "axe-core: not installed, its test is skipped"
	ctest --test-dir $(BUILD) --output-on-failure -R '^adoption$$'
	KUBENODESMITH_WHOLE_TESTS=1 ctest --test-dir $(BUILD) --output-on-failure -R '^unit-(plan|controllers)$$'
	KUBENODESMITH_WORKLOADS=240 ctest --test-dir $(BUILD) --output-on-failure -R component-scheduling
	REAL_KUBELETS=20 ctest --test-dir $(BUILD) --output-on-failure -R e2e-real_kubelets
	$(BUILD)/bin/simulation --seeds 250
	$(BUILD)/bin/simulation --of-users --seeds 250

PREVIOUS := component-(crds|filters|scheduling)|e2e-(launches|crash|deletion|disruption|evictions|lifecycle|nomination|rights)
.PHONY: previous
previous: build ## Run the tests in which Kubernetes decides with the minor version before the newest
	CONTROLPLANE_PROGRAMS="kube-apiserver-previous kube-controller-manager-previous kube-scheduler-previous schedulerfilters-previous" hack/setup_controlplane.sh
	KUBERNETES_RELEASE=previous ctest --test-dir $(BUILD) --output-on-failure -R '^($(PREVIOUS))$$'

.PHONY: agreement
agreement: build ## Measure how often plans and the kube-scheduler's filter plugins (RELEASES="newest previous") disagree, on CLUSTERS=2000 random clusters from FIRST=0 on
	CONTROLPLANE_PROGRAMS="schedulerfilters schedulerfilters-previous" hack/setup_controlplane.sh
	KUBENODESMITH_BIN=$(BUILD)/bin $(PYTHON) test/component/filters/agreement.py --clusters $(or $(CLUSTERS),2000) --first $(or $(FIRST),0) \
	    --releases $(or $(RELEASES),newest previous)

.PHONY: bench
bench: build ## Run the benchmarks at small sizes and write one table of them (build/bench.md)
	@$(PYTHON) bench/table.py --bin $(BUILD)/bin

.PHONY: lint
lint: packages python ## Check format, clang-tidy, each file alone, layers, coroutines, mutations, statements about security, comments, commit subjects, prose, YAML and shell scripts (FILES="..." limits the C++ files)
	@cmake --preset lint >/dev/null  # where each file has only what it includes
	@echo clang-format
	@clang-format-19 --dry-run -Werror $(or $(FILES),$(CXX_FILES))
	python3 hack/check_layers.py
	python3 hack/check_structure.py
	python3 hack/check_claims.py
	python3 hack/check_comments.py
	python3 hack/check_subjects.py
	python3 hack/check_prose.py
	@python3 hack/check_coroutines.py $(or $(FILES),$(CXX_FILES))
	python3 hack/mutation_check.py --texts
	$(PYTHON) hack/charts.py --check
	$(PYTHON) -m yamllint --strict charts config crds samples test .github
	@if actionlint=$$(PATH="$${CONTROLPLANE_BIN:-}:build/controlplane/bin:$$PATH" command -v actionlint); then echo actionlint; "$$actionlint" .github/workflows/*.yaml; fi
	@if command -v shellcheck >/dev/null; then echo shellcheck; shellcheck $$(git ls-files '*.sh') .ci/run; fi
	hack/compile_each.py --jobs $(JOBS) lint $(filter %.cpp,$(FILES))
	@echo clang-tidy; printf '%s\n' $(filter %.cpp,$(or $(FILES),$(CXX_FILES))) | xargs -P $(JOBS) -n 4 clang-tidy-19 -p build/lint --quiet

.PHONY: manifests
manifests: python ## Check that CRDs, structs and the API reference agree (the CRDs are written by hand, not generated)
	@[[ -f $(BUILD)/build.ninja ]] || cmake --preset $(PRESET)
	cmake --build --preset $(PRESET) --parallel $(JOBS) --target unit-api
	$(BUILD)/bin/unit-api "*struct and CRD agree*"
	$(PYTHON) hack/api_reference.py --check

.PHONY: charts
charts: python ## Write anew what the charts share with config/ and crds/, and the tables of their READMEs
	$(PYTHON) hack/charts.py

.PHONY: docs
docs: python site-tools ## Write docs/api.md anew from the CRDs, and build the documentation site into build/site (SERVE=1 shows it)
	$(PYTHON) hack/api_reference.py
	NO_MKDOCS_2_WARNING=1 $(DOCS)/bin/mkdocs $(if $(SERVE),serve --watch mkdocs.yml,build --strict --quiet)

.PHONY: format
format: ## Format the C++ and Go sources in place
	clang-format-19 -i $(CXX_FILES)
	@if go=$$(command -v go || command -v build/go/bin/go); then "$$("$$go" env GOROOT)/bin/gofmt" -w test/controlplane/cmd; fi

.PHONY: clean
clean: ## Remove the C++ build trees; ALL=1 also the control plane binaries, Go and the Python environment
	rm -rf $(if $(ALL),build,build/release build/debug build/lint build/asan build/tsan)

##@ Try it

# The tests need more: a second, older control plane, kubeadm, helm and kubelets.
SHOWN := etcd kube-apiserver kube-controller-manager kube-scheduler kubectl kwok testnode
.PHONY: programs
programs: packages python
	@[[ -f build/release/build.ninja ]] || cmake --preset release
	@CONTROLPLANE_PROGRAMS="$(SHOWN)" hack/with_controlplane.sh cmake --build --preset release --parallel $(JOBS) --target kubenodesmith proxmox-simulator

.PHONY: demo
demo: programs ## Show the main job on a real control plane and a simulated Proxmox (KEEP=1 leaves it running)
	$(PYTHON) test/e2e/demo.py $(if $(KEEP),--keep)

.PHONY: dev-up
dev-up: programs ## Start a control plane, a simulated Proxmox, BMCs and the CRDs; the last line is the KUBECONFIG to export
	@$(PYTHON) hack/dev.py up

.PHONY: dev-down
dev-down: ## End what dev-up started
	@python3 hack/dev.py down

.PHONY: run
run: ## Build the operator and run it against the current kubeconfig (ARGS="--log-level debug ...")
	@[[ -f $(BUILD)/build.ninja ]] || cmake --preset $(PRESET)
	cmake --build --preset $(PRESET) --parallel $(JOBS) --target kubenodesmith
	$(BUILD)/bin/kubenodesmith run $(ARGS)

##@ Install into a cluster (the one that kubectl talks to)

.PHONY: install
install: ## Install the CRDs and the rights of joining machines
	$(KUBECTL) apply --server-side --force-conflicts -k crds
	$(KUBECTL) apply --server-side -f config/rbac/bootstrap.yaml
	$(KUBECTL) wait --for=condition=Established --timeout=60s $$($(KUBECTL) get -k crds -o name)

.PHONY: uninstall
uninstall: ## Remove all our objects and the CRDs, while the operator runs; refuses while claims exist unless FORCE=1
	@hack/uninstall.sh "$(KUBECTL)" $(if $(FORCE),--force)

.PHONY: deploy
deploy: ## Install the CRDs and run the operator in the cluster (IMG=registry/name:tag)
	hack/manifests.sh "$(KUBECTL)" "$(IMG)" | $(KUBECTL) apply --server-side -f -

.PHONY: undeploy
undeploy: ## Remove the operator; CRDs, objects, machines and the namespace stay
	hack/manifests.sh "$(KUBECTL)" "$(IMG)" --operator-only | $(KUBECTL) delete --ignore-not-found -f -

.PHONY: docker-build
docker-build: ## Build the operator's image (IMG=registry/name:tag)
	$(CONTAINER) build --build-arg VERSION="$(VERSION)" --build-arg REVISION="$$(git describe --always --dirty --abbrev=40 --exclude='*')" -t "$(IMG)" .

.PHONY: image
image: ## Build the same image without a container engine, with its bill of materials, into build/image
	cmake --preset release >/dev/null && cmake --build --preset release --parallel $(JOBS) --target kubenodesmith
	rm -rf build/image && mkdir -p build/image
	hack/image_root.sh build/release/bin/kubenodesmith build/image/root
	python3 hack/oci_image.py build/image/root "$(VERSION)" "build/image/kubenodesmith-$(VERSION).tar"
	python3 hack/sbom.py build/release/bin/kubenodesmith "$(VERSION)" > "build/image/kubenodesmith-$(VERSION).spdx.json"

.PHONY: release
release: ## Make every artifact of a release into build/dist without pushing any (IMG=registry/name; more in docs/releasing.md)
	cmake --preset release >/dev/null && cmake --build --preset release --parallel $(JOBS) --target kubenodesmith
	rm -rf build/dist
	python3 hack/release.py --image "$(IMG)" $(if $(DOWNLOADS),--downloads "$(DOWNLOADS)") --kubectl "$(KUBECTL)" --out build/dist build/release/bin/kubenodesmith

.PHONY: docker-push
docker-push: ## Push the operator's image (IMG=registry/name:tag)
	$(CONTAINER) push "$(IMG)"
