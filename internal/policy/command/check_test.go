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

// SPEC 13.3: a check that passed makes another one needless only if it did all that the other
// one would do.
func TestCovers(t *testing.T) {
	for _, c := range []struct {
		ran, want string
		ok        bool
	}{
		{"go test ./...", "go test ./...", true},
		{"go test -race -count=1 -v ./...", "go test ./...", true},
		{"go test -timeout 60s -json ./...", "go test -timeout=5m ./...", true},
		{"go test ./...", "go test -race ./...", false},
		{"go test ./...", "go test ./a", true},
		{"go test ./a/", "go test ./a", true},
		{"go test ./a", "go test ./a/ ./a//", true},
		{"go test ./a/", "go test ./a/...", false},
		{"pytest tests/", "pytest tests", true},
		{"go test ./a/...", "go test ./a ./a/b ./a/c/...", true},
		{"go test ./...", "go test", true},
		{"go test", "go test .", true},
		{"go test", "go test ./...", false},
		{"go test ./a", "go test ./...", false},
		{"go test ./a", "go test ./a ./b", false},
		{"go test ./x ./a", "go test ./a/...", false},
		{"go test ./a/...", "go test ./ab", false},
		{"go test ./...", "go test -run TestX -short ./a", true},
		{"go test -run TestX ./...", "go test -run TestX ./...", true},
		{"go test -run TestX ./...", "go test -run TestX ./a", false},
		{"go test -run TestX ./...", "go test ./...", false},
		{"go test -run TestX ./...", "go test -run TestY ./...", false},
		{"go test -short ./...", "go test ./...", false},
		{"go test -tags x ./...", "go test -tags x ./...", true},
		{"go test ./...", "go test -tags x ./...", false},
		{"go test ./... -args -v", "go test ./...", false},
		{"go vet ./...", "go test ./...", false},
		{"cd ./sub && go test ./...", "cd sub && go test -v ./...", true},
		{"cd sub && go test ./...", "go test ./...", false},
		{"GOOS=js go test ./...", "go test ./...", false},
		{"NO_COLOR=1 go test ./...", "go test ./...", true},
		{"timeout 5 go test ./...", "go test ./...", true},
		{"go generate && go test ./...", "go test ./...", false},
		{"go test ./... || true", "go test ./...", false},
		{"go test ./... | tail", "go test ./...", false},
		{"set -o pipefail; go test ./...", "go test ./...", true},
		{"git diff --stat && ls; go test ./...", "go test ./...", true},
		{"git stash; go test ./...", "go test ./...", false},
		{"GOFLAGS=-short; go test ./...", "go test ./...", false},
		{"echo > a.go; go test ./...", "go test ./...", false},
		{"npm test", "npm run test", true},
		{"npm t", "npm test", true},
		{"yarn run test", "npm test", true},
		{"bun test", "npm test", false},
		{"npm test --silent", "npm test", true},
		{"npm test -- cart", "npm test", false},
		{"npm test", "npm run lint", false},
		{"pytest -q", "python3 -m pytest", true},
		{"pytest", "pytest -k cart tests/test_a.py::test_b", true},
		{"pytest tests", "pytest tests/test_a.py", true},
		{"pytest tests/test_a.py", "pytest tests", false},
		{"pytest tests/test_a.py", "pytest", false},
		{"pytest -k cart", "pytest", false},
		{"uv run pytest", "python3 -m pytest", true},
		{"poetry run pytest", "pytest", false},
		{"npx jest", "jest", false},
		{"cargo test -q", "cargo test", true},
		{"cargo test", "cargo test --workspace", false},
		{"make test", "make check", false},
		{"make", "make test", false},
		{"gmake check", "make check", false},
		{"", "", false},
	} {
		if got := Covers(c.ran, c.want); got != c.ok {
			t.Errorf("Covers(%q, %q) = %v", c.ran, c.want, got)
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
