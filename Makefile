# go build, go test and go install need nothing of this: it makes what is given
# away. `make dist` writes dist/: static binaries, their checksums, completions
# and the manual page. `make dist SYSTEMS=linux/amd64` writes one of them.

SYSTEMS ?= linux/amd64 linux/arm64 darwin/amd64 darwin/arm64 windows/amd64 windows/arm64

.PHONY: build test dist clean

build:
	go build -o pawl ./cmd/pawl

test:
	go test ./...

dist:
	SYSTEMS="$(SYSTEMS)" bash .ci/dist

clean:
	rm -rf dist pawl
