# zonerelay: what people do with the sources. `make` alone lists it.

SHELL := /bin/bash
.SHELLFLAGS := -euo pipefail -c
.DEFAULT_GOAL := help

SWIFT ?= swift
SEEDS ?= 10000
DESTDIR ?=
PREFIX ?= /usr

# Debian's names; Ubuntu's are the same.
NEEDED := libcurl4-openssl-dev libsystemd-dev libsqlite3-dev libnghttp2-dev pkg-config \
	nghttp2-server nghttp2-client openssl binutils
NEEDED_TEST := $(NEEDED) python3-venv
NEEDED_BENCH := $(NEEDED) redis-server nats-server

# Installs what is missing of $(1), and says so before it does.
define install_packages
	@missing=""; \
	for package in $(1); do \
	  state=$$(dpkg-query -W -f='$${Status}' $$package 2>/dev/null || true); \
	  [ "$$state" = "install ok installed" ] || missing="$$missing $$package"; \
	done; \
	if [ -n "$$missing" ]; then \
	  if ! command -v apt-get >/dev/null; then \
	    echo "make: this system has no apt-get; install what stands for:$$missing" >&2; exit 1; \
	  fi; \
	  as_root=""; \
	  if [ "$$(id -u)" != 0 ]; then \
	    if ! command -v sudo >/dev/null; then \
	      echo "make: as root run: apt-get install$$missing" >&2; exit 1; \
	    fi; \
	    as_root="sudo"; \
	  fi; \
	  echo "Installing with apt-get:$$missing"; \
	  $$as_root env DEBIAN_FRONTEND=noninteractive apt-get install -y -q \
	    --no-install-recommends $$missing </dev/null >/dev/null 2>&1 || { \
	    echo "Asking for the newest list of packages first."; \
	    $$as_root apt-get update -q </dev/null >/dev/null; \
	    $$as_root env DEBIAN_FRONTEND=noninteractive apt-get install -y -q \
	      --no-install-recommends $$missing </dev/null >/dev/null; \
	  }; \
	fi
endef

.PHONY: help
help: ## list what there is
	@echo "zonerelay: a push is a hint, the log is the truth"
	@echo
	@grep -E '^[a-z-]+:.*## ' $(MAKEFILE_LIST) \
	  | sed -E 's/^([a-z-]+):.*## (.*)/  make \1|\2/' | column -t -s '|'

.PHONY: swift
swift:
	@if ! command -v $(SWIFT) >/dev/null; then \
	  echo "make: no swift on the PATH; install Swift 6.3 or newer: https://www.swift.org/install/" \
	    >&2; exit 1; \
	fi

.PHONY: packages
packages:
	$(call install_packages,$(NEEDED))

.PHONY: schemathesis
# Holds the daemon against docs/openapi.yaml; from PyPI, in a folder of its own below .build.
schemathesis:
	$(call install_packages,$(NEEDED_TEST))
	@.ci/schemathesis

.PHONY: webpush
# Opens what the daemon encrypts for browsers; from PyPI, in a folder of its own below .build.
webpush:
	$(call install_packages,$(NEEDED_TEST))
	@.ci/venv webpush http-ece Tests/EndToEndTests/Fixtures/webpush.txt

.PHONY: webhook
# Verifies signed webhooks; from PyPI, in a folder of its own below .build.
webhook:
	$(call install_packages,$(NEEDED_TEST))
	@.ci/venv webhook standardwebhooks Tests/EndToEndTests/Fixtures/webhook.txt

# Optimised: a simulated world takes 0.15 s so, and 7 s otherwise.
CORE_TESTS := env ZONERELAY_ONLY=core $(SWIFT) test --disable-xctest -c release \
  --scratch-path .build-core

.PHONY: demo
demo: swift packages ## build once and watch a change travel from a producer to two phones
	@echo "Building (a few minutes the first time)."
	$(SWIFT) build --product zonerelay
	@echo
	@"$$($(SWIFT) build --show-bin-path)/zonerelay" demo </dev/null

.PHONY: notes
notes: swift packages ## build once and try a record server and phones, to copy from (Ctrl-C ends)
	@echo "Building (a few minutes the first time)."
	$(SWIFT) build --product zonerelay
	$(SWIFT) build --product zonerelay-notes
	@echo
	@"$$($(SWIFT) build --show-bin-path)/zonerelay-notes"

.PHONY: test
# One at a time: the tests start servers and measure patience, and a newcomer's machine may be small.
test: swift schemathesis webpush webhook ## run every test; what is skipped says why
	@log=$$(mktemp); trap 'rm -f "$$log"' EXIT; \
	status=0; \
	run() { "$$@" </dev/null 2>&1 | tee -a "$$log" || status=$$?; }; \
	run $(SWIFT) test --disable-xctest --no-parallel --skip '^Relay(Core|Simulation)Tests\.'; \
	run $(CORE_TESTS); \
	skipped=$$(grep -aE '^➜ .* skipped|^skipped: ' "$$log" || true); \
	if [ -n "$$skipped" ]; then echo; echo "Skipped, with reasons:"; echo "$$skipped"; fi; \
	if [ "$$status" != 0 ]; then echo; echo "Failed:"; \
	  grep -aE '^✘ |(^|[: ])(error|Fatal error):' "$$log" || echo "no failed test was found; the cause is printed above"; fi; \
	exit $$status

.PHONY: core
core: swift ## build and test the core and its simulation alone, in five minutes
	$(CORE_TESTS)

.PHONY: simulate
simulate: swift ## run SEEDS=10000 simulated worlds, and as many seasons, against the promises
	ZONERELAY_ONLY=core $(SWIFT) run --scratch-path .build-core -c release \
	  zonerelay-simulate --seeds $(SEEDS)
	ZONERELAY_ONLY=core $(SWIFT) run --scratch-path .build-core -c release \
	  zonerelay-simulate season --seeds $(SEEDS)

.PHONY: season
season: swift ## compare rules of waking over 30 virtual days of traffic
	ZONERELAY_ONLY=core $(SWIFT) run --scratch-path .build-core -c release \
	  zonerelay-simulate season --report

.PHONY: bench
bench: swift ## measure the goals beside references (release build, takes a while)
	$(call install_packages,$(NEEDED_BENCH))
	$(SWIFT) build -c release --product zonerelay
	$(SWIFT) build -c release --product zonerelay-bench
	@"$$($(SWIFT) build -c release --show-bin-path)/zonerelay-bench" all </dev/null

.PHONY: couriers
couriers: swift ## hold 50,000 couriers, and tell them all of a change (also where ulimit -Hn is lower)
	$(call install_packages,$(NEEDED) python3)
	$(SWIFT) build -c release --product zonerelay
	$(SWIFT) build -c release --product zonerelay-bench
	@.ci/couriers

ABUSE_SECONDS ?= 600

.PHONY: abuse
abuse: swift packages ## hostile callers beside 50 well-behaved users, ABUSE_SECONDS=600 each
	$(SWIFT) build -c release --product zonerelay
	$(SWIFT) build -c release --product zonerelay-bench
	@"$$($(SWIFT) build -c release --show-bin-path)/zonerelay-bench" abuse \
	  --seconds $(ABUSE_SECONDS) </dev/null

FUZZ_SECONDS ?= 600

.PHONY: fuzz
fuzz: swift packages ## every parser of network and disk under libFuzzer, FUZZ_SECONDS=600 each
	@SECONDS_EACH=$(FUZZ_SECONDS) .ci/fuzz

.PHONY: fuzz-minute
fuzz-minute: swift packages ## random inputs for every parser, a minute each, without libFuzzer
	@.ci/fuzz-minute

.PHONY: mutants
mutants: swift packages ## change core and store in COUNT=150 places, one at a time; tell what no test notices
	@.ci/mutants

.PHONY: lint
lint: swift ## check the form of every source file
	$(SWIFT) format lint --strict --recursive --configuration .swift-format \
	  Sources Tests Package.swift

.PHONY: install
install: swift packages ## install binary, units, sample configuration and docs below DESTDIR
	$(SWIFT) build -c release --static-swift-stdlib --product zonerelay
	@$(MAKE) --no-print-directory lay-out \
	  BINARY="$$($(SWIFT) build -c release --static-swift-stdlib --show-bin-path)/zonerelay"

BIN := $(DESTDIR)$(PREFIX)/bin/zonerelay
# Where gdb looks for the symbols of $(PREFIX)/bin/zonerelay, whatever PREFIX is.
SYMBOLS := $(DESTDIR)/usr/lib/debug$(PREFIX)/bin/zonerelay.debug
DOC := $(DESTDIR)$(PREFIX)/share/doc/zonerelay

.PHONY: lay-out
# Puts BINARY, a built one, and what belongs to it below DESTDIR. Symbols go into a file of their own,
# which the binary names: they may be left out where nothing is debugged.
lay-out:
	@test -x "$(BINARY)" || { echo "make: BINARY names no program: $(BINARY)" >&2; exit 1; }
	install -D -m 0755 "$(BINARY)" "$(BIN)"
	install -d "$(dir $(SYMBOLS))"
	objcopy --only-keep-debug --compress-debug-sections "$(BIN)" "$(SYMBOLS)"
	chmod 0644 "$(SYMBOLS)"
	strip --strip-all "$(BIN)"
	objcopy --add-gnu-debuglink="$(SYMBOLS)" "$(BIN)"
	install -D -m 0644 -t "$(DESTDIR)$(PREFIX)/lib/systemd/system" \
	  systemd/zonerelay.service systemd/zonerelay.socket
	install -D -m 0644 systemd/zonerelay.sysusers \
	  "$(DESTDIR)$(PREFIX)/lib/sysusers.d/zonerelay.conf"
	install -D -m 0644 -t "$(DOC)" README.md CHANGELOG.md
	install -D -m 0644 -t "$(DOC)/docs" docs/*.md docs/openapi.yaml
	install -D -m 0644 -t "$(DOC)/config" config/zonerelay.yaml
	install -D -m 0644 LICENSE "$(DOC)/copyright"
	install -d "$(DESTDIR)$(PREFIX)/share/bash-completion/completions" \
	  "$(DESTDIR)$(PREFIX)/share/zsh/vendor-completions" \
	  "$(DESTDIR)$(PREFIX)/share/fish/vendor_completions.d"
	"$(BIN)" --generate-completion-script bash \
	  > "$(DESTDIR)$(PREFIX)/share/bash-completion/completions/zonerelay"
	"$(BIN)" --generate-completion-script zsh \
	  > "$(DESTDIR)$(PREFIX)/share/zsh/vendor-completions/_zonerelay"
	"$(BIN)" --generate-completion-script fish \
	  > "$(DESTDIR)$(PREFIX)/share/fish/vendor_completions.d/zonerelay.fish"
	chmod 0644 "$(DESTDIR)$(PREFIX)/share/bash-completion/completions/zonerelay" \
	  "$(DESTDIR)$(PREFIX)/share/zsh/vendor-completions/_zonerelay" \
	  "$(DESTDIR)$(PREFIX)/share/fish/vendor_completions.d/zonerelay.fish"
	@if [ -e "$(DESTDIR)/etc/zonerelay/zonerelay.yaml" ]; then \
	  echo "Kept $(DESTDIR)/etc/zonerelay/zonerelay.yaml as it is."; \
	else \
	  install -D -m 0644 config/zonerelay.yaml "$(DESTDIR)/etc/zonerelay/zonerelay.yaml"; \
	fi
