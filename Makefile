# make build   the static binary, bin/trimtab
# make test    all tests, as CI runs them
# make image   the container image, FROM scratch
# make docs    the generated pages under docs/
# make bench   benchmarks
# make release VERSION=v0.1.0   binaries for each platform with their checksums, dist/
# make measure ENGINE=vllm VERSION=0.34.0   measures a release and merges it

VERSION ?= dev
IMAGE   ?= trimtab:$(VERSION)
BINARY  ?= bin/trimtab

# What runs once or never (HTTP of kustomize's loader, OpenAPI, protobuf, the CEL
# grammar) is not inlined: it makes the binary 850 kB smaller.
COLD = net net/... crypto/... vendor/... google.golang.org/... k8s.io/... sigs.k8s.io/kustomize/... \
       github.com/antlr4-go/... github.com/google/... go.yaml.in/yaml/v2

GO    ?= go
BUILD  = CGO_ENABLED=0 $(GO) build -trimpath -ldflags '-s -w' $(COLD:%=-gcflags=%=-l)

PLATFORMS = linux/amd64 linux/arm64 darwin/amd64 darwin/arm64 windows/amd64 windows/arm64

.PHONY: build test image bench catalogue docs measure release

build:
	$(BUILD) -o $(BINARY) .

test:
	$(GO) vet ./...
	$(GO) test -timeout 25m ./...

image: build
	docker build --tag $(IMAGE) --build-arg VERSION=$(VERSION) --build-arg REVISION=$$(git rev-parse HEAD) .

# The same sources, Go and VERSION give the same bytes.
release:
	@rm -rf dist && mkdir -p dist
	@set -e; for platform in $(PLATFORMS); do \
	  os=$${platform%/*}; arch=$${platform#*/}; name=trimtab_$(VERSION)_$${os}_$${arch}; program=trimtab; \
	  if [ "$$os" = windows ]; then program=trimtab.exe; fi; \
	  mkdir "dist/$$name"; cp LICENSE README.md CHANGELOG.md "dist/$$name"; \
	  GOOS=$$os GOARCH=$$arch $(BUILD) -o "dist/$$name/$$program" .; \
	  tar --sort=name --mtime=@0 --owner=0 --group=0 --numeric-owner -C dist -cf - "$$name" | gzip -n > "dist/$$name.tar.gz"; \
	  rm -r "dist/$$name"; echo "dist/$$name.tar.gz"; \
	done
	@cd dist && sha256sum *.tar.gz > checksums.txt

docs:
	$(GO) run ./hack/docs

bench:
	$(GO) run ./hack/bench
	$(GO) test -run "^$$" -bench . -benchmem ./...

# Packs the measured catalogue of engine releases into engines/.
catalogue:
	$(GO) run ./hack/pack ../shared/catalog engines

# Measures a new release of an engine and merges it into engines/. SOURCE is the
# folder that holds the engine's package; without it the wheel is downloaded.
# The parser is the engine's own: libraries that its defaults come from must be
# installed for python3.
measure:
	@test -n "$(ENGINE)" -a -n "$(VERSION)" || { echo 'usage: make measure ENGINE=vllm VERSION=0.34.0 [DATE=2027-01-02] [SOURCE=FOLDER]'; exit 2; }
	@set -e; work=$$(mktemp -d); trap 'rm -rf "$$work"' EXIT; source="$(SOURCE)"; \
	if [ -z "$$source" ]; then \
	  python3 -m pip download --quiet --no-deps --only-binary :all: --dest "$$work" "$(ENGINE)==$(VERSION)"; \
	  python3 -m zipfile -e "$$work"/*.whl "$$work/source"; source="$$work/source"; \
	fi; \
	python3 -B hack/catalogue/extract.py "$(ENGINE)" "$$source" "$(VERSION)" $(DATE) > "$$work/release.json"; \
	$(GO) run ./hack/pack -merge "$$work/release.json" engines
