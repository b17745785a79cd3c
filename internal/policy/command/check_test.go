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

// A check that passed makes another one needless only where it says as much.
func TestCovers(t *testing.T) {
	for _, c := range []struct {
		ran, want string
		ok        bool
	}{
		{"go test ./...", "go test ./...", true},
		{"go test -race -count=1 -v ./...", "go test ./...", true},
		{"go test -count 1 -timeout 60s ./...", "go test ./...", true},
		{"go test ./...", "go test ./a ./b/c", true},
		{"go test ./a/...", "go test ./a/b ./a", true},
		{"go test ./a/...", "go test ./ab", false},
		{"go test ./a", "go test ./...", false},
		{"go test", "go test .", true},
		{"go test -run TestX ./...", "go test ./...", false},
		{"go test -short ./...", "go test ./...", false},
		{"go test -tags x ./...", "go test ./...", false},
		{"go test -tags x ./...", "go test -tags x ./...", true},
		{"go vet ./...", "go test ./...", false},
		{"cd sub && go test ./...", "cd sub && go test ./...", true},
		{"cd ./sub && go test ./...", "cd sub && go test -v ./...", true},
		{"cd sub && go test ./...", "go test ./...", false},
		{"go test ./...", "cd sub && go test ./...", false},
		{"GOOS=js go test ./...", "go test ./...", false},
		{"go generate && go test ./...", "go test ./...", false},
		{"go test ./... || true", "go test ./...", false},
		{"go test ./... | tail", "go test ./...", false},
		{"go test -list . ./...", "go test ./...", false},
		{"npm test", "npm test", true},
		{"npm run test", "npm test", true},
		{"npm test --silent", "npm test", true},
		{"npm test -- cart", "npm test", false},
		{"npm test", "npm run lint", false},
		{"npm run lint", "npm run lint", true},
		{"pytest", "python3 -m pytest", true},
		{"python3 -m pytest -q --tb=short", "python3 -m pytest tests/test_a.py", true},
		{"pytest tests/test_a.py", "python3 -m pytest", false},
		{"pytest tests/test_a.py tests/test_b.py", "python3 -m pytest tests/test_b.py", true},
		{"pytest -k cart", "pytest", false},
		{"pytest --lf", "pytest", false},
		{"python3 -m unittest", "python3 -m unittest", true},
		{"python3 -m unittest", "python3 -m pytest", false},
		{"cargo test", "cargo test -p cart", false},
		{"cargo test --workspace", "cargo test", true},
		{"cargo test --workspace", "cargo test -p cart", true},
		{"cargo test", "cargo test --workspace", false},
		{"cargo test -q", "cargo test", true},
		{"make check", "make check", true},
		{"make test", "make check", false},
		{"uv run pytest", "python3 -m pytest", true},
		{"poetry run pytest", "pytest", false},
		{"npx jest", "jest", false},
		{"npm t", "npm test", true},
		{"yarn run test", "npm test", true},
		{"bun test", "npm test", false},
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
		"make test": false, "gmake check": false, "just lint vet": false, "go test ./...": false, "npm test": false,
		"make": true, "gmake deploy": true, "just release": true, "make test install": true, "cp a b && make test": true,
	} {
		if got := MayWrite(line); got != want {
			t.Errorf("%q: %v", line, got)
		}
	}
}
