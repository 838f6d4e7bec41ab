# make build   the static binary, bin/trimtab
# make test    all tests, as CI runs them
# make image   the container image, FROM scratch
# make bench   benchmarks

VERSION ?= dev
IMAGE   ?= trimtab:$(VERSION)
BINARY  ?= bin/trimtab

GO    ?= go
BUILD  = CGO_ENABLED=0 $(GO) build -trimpath -ldflags '-s -w'

.PHONY: build test image bench catalogue

build:
	$(BUILD) -o $(BINARY) .

test:
	$(GO) vet ./...
	$(GO) test -timeout 25m ./...

image: build
	docker build --tag $(IMAGE) .

bench:
	$(GO) test -run '^$$' -bench . -benchmem ./...

# Packs the measured catalogue of engine releases into engines/.
catalogue:
	$(GO) run ./hack/pack ../shared/catalog engines
