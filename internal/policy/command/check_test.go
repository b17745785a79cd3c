package command

import (
	"testing"
)

// SPEC 13.3: a check with which nothing is checked is none, whatever its exit
// code.
func TestHollowChecks(t *testing.T) {
	for line, want := range map[string]bool{
		"go test ./...": true, "go test -v -cover ./a": true, "make -j4 -k test": true, "make -s": true,
		"make -C sub test": true, "pytest -q -x": true, "npm test -- --silent": true, "cargo test --quiet": true,
		"go test -exec true ./...": false, "go test --exec=true ./...": false, "go vet -vettool=/bin/true ./...": false, "go build -toolexec true ./...": false,
		"go test -c ./a": false, "go test -run ^$ ./...": false, "go test -run='^$' ./...": false, "make -t test": false, "make -si test": false,
		"make --touch": false, "make --ignore-errors test": false, "make -n": false, "make -q test": false, "just --dry-run test": false,
		"pytest --co": false, "python3 -m pytest --collect-only": false, "npm run test --if-present": false, "go test -overlay=o.json ./...": false,
		"poetry run pytest --fixtures": false, "uv run make -i test": false, "npx jest --listTests": false, "gmake test GO=true": false, "gmake V=1 test": true,
		"bundle exec rspec --dry-run": false, "poetry run pytest -q": true,
	} {
		if got := IsCheck(line); got != want {
			t.Errorf("%q: %v", line, got)
		}
	}
}

// A check that passed makes another one needless only if it is the same.
func TestSame(t *testing.T) {
	for _, c := range []struct {
		ran, want string
		ok        bool
	}{
		{"go test ./...", "go test ./...", true},
		{"go test -race -count=1 -v ./...", "go test ./...", true},
		{"go test ./...", "go test ./a", false},
		{"go test -run TestX ./...", "go test ./...", false},
		{"go test -short ./...", "go test ./...", false},
		{"go test -tags x ./...", "go test -tags x ./...", true},
		{"go test ./... -args -v", "go test ./...", false},
		{"go vet ./...", "go test ./...", false},
		{"cd ./sub && go test ./...", "cd sub && go test -v ./...", true},
		{"cd sub && go test ./...", "go test ./...", false},
		{"GOOS=js go test ./...", "go test ./...", false},
		{"timeout 5 go test ./...", "go test ./...", false},
		{"go generate && go test ./...", "go test ./...", false},
		{"go test ./... || true", "go test ./...", false},
		{"go test ./... | tail", "go test ./...", false},
		{"npm test", "npm run test", true},
		{"npm t", "npm test", true},
		{"yarn run test", "npm test", true},
		{"bun test", "npm test", false},
		{"npm test --silent", "npm test", true},
		{"npm test -- cart", "npm test", false},
		{"npm test", "npm run lint", false},
		{"pytest -q", "python3 -m pytest", true},
		{"pytest -k cart", "pytest", false},
		{"uv run pytest", "python3 -m pytest", true},
		{"poetry run pytest", "pytest", false},
		{"npx jest", "jest", false},
		{"cargo test -q", "cargo test", true},
		{"cargo test", "cargo test --workspace", false},
		{"make test", "make check", false},
		{"gmake check", "make check", false},
		{"", "", false},
	} {
		if got := Same(c.ran, c.want); got != c.ok {
			t.Errorf("Same(%q, %q) = %v", c.ran, c.want, got)
		}
	}
}

// SPEC 13.3: a target can do anything; only those that are checks by their name
// write nothing.
func TestMayWrite(t *testing.T) {
	for line, want := range map[string]bool{
		"make test": false, "gmake -s check": false, "just lint vet": false, "go test ./...": false, "npm test": false,
		"make": true, "gmake deploy": true, "just release": true, "make test install": true,
	} {
		_, k, ok := LastCheck(line, "/")
		if !ok || k.MayWrite() != want {
			t.Errorf("%q: %v", line, !want)
		}
	}
}
