# Targets of this repository; `make` alone lists them.
SHELL := /bin/bash
GO ?= go
BIN := $(CURDIR)/bin
GOLANGCI_LINT_VERSION := v2.15.0
LINT := $(BIN)/golangci-lint-$(GOLANGCI_LINT_VERSION)
# What importers build on other systems: everything outside daemons/ and bench/.
LIBRARIES = $(shell $(GO) list ./... | grep -vE '/(daemons|bench)(/|$$)')

.DEFAULT_GOAL := help
.PHONY: help demo test build check format vet cross lint race vectors fuzz bench integration interop vm clean

help: ## List the targets.
	@awk -F':.*## ' '/^[a-z]+:.*## /{printf "  make %-12s %s\n", $$1, $$2}' $(MAKEFILE_LIST)

demo: ## Play the whole story on a real PCI tree: one process, embedded defaults.
	$(GO) run ./daemons/cyborg-standalone demo

test: ## Hermetic tests: no service, no network, no root.
	$(GO) test ./...

build: ## Build every package.
	$(GO) build ./...

check: format vet cross lint race vectors ## Format, vet, lint, race tests, conformance lines.

format: ## Fail when gofmt would change a file.
	@out=$$(gofmt -l $$(git ls-files '*.go')); test -z "$$out" || { echo "gofmt would change:"; echo "$$out"; exit 1; }

vet: ## go vet for this system.
	$(GO) vet ./...

cross: ## go vet of libraries and examples for Windows and macOS.
	GOOS=windows $(GO) vet $(LIBRARIES)
	GOOS=darwin $(GO) vet $(LIBRARIES)

lint: $(LINT) ## golangci-lint with the house rules.
	$(LINT) run ./...

$(LINT):
	@mkdir -p $(BIN)
	GOBIN=$(BIN) GOFLAGS= $(GO) install github.com/golangci/golangci-lint/v2/cmd/golangci-lint@$(GOLANGCI_LINT_VERSION)
	@mv $(BIN)/golangci-lint $(LINT)

race: ## All tests under the race detector.
	$(GO) test -race $(if $(filter 1,$(SHORT)),-short) -timeout 25m ./...

vectors: ## Conformance lines: recorded cases of the real peers ($$VECTORS_DIR replaces testdata).
	@out=$$(mktemp); trap 'rm -f "$$out"' EXIT; \
	if $(GO) test -count=1 -run Vectors -v ./... >"$$out" 2>&1; then grep -E '^[a-z]+ vectors: .*passed' "$$out"; \
	else grep -vE '^(=== |ok |\?|--- (PASS|SKIP)| +--- (PASS|SKIP))' "$$out"; exit 1; fi

fuzz: ## Every fuzz target for FUZZTIME (default 30s) each.
	@.ci/fuzz $(or $(FUZZTIME),30s)

bench: ## Regenerate docs/benchmarks.md: ours, Python, bare limit, ratio.
	@bench/run docs/benchmarks.md

integration: ## Tests against real RabbitMQ, MariaDB and PostgreSQL.
	@.ci/integration

interop: ## Tests against the real Python peers (debootstrap, root).
	@.ci/interop

vm: ## PCI and NVMe in QEMU: comes with the proof issue.
	@echo "make vm: not built yet; PCI and NVMe in QEMU come with the proof work" >&2; exit 2

clean: ## Remove what the targets made.
	rm -rf $(BIN) coverage.out
