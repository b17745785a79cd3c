package command

import "testing"

func TestPiped(t *testing.T) {
	for line, want := range map[string]string{
		"go test ./... | tail -5":                                      "go test ./...",
		"go test ./... 2>&1 | tail -n 20":                              "go test ./...",
		"cd sub && go vet ./... && go test ./... |& grep -v ok | head": "cd sub && go vet ./... && go test ./...",
		"/usr/bin/python3 -m pytest -q 2>&1 | tail -30":                "/usr/bin/python3 -m pytest -q",
		"/tmp/python3 -m pytest -q 2>&1 | tail -30":                    "",
		"python3 -m pytest -q 2>&1 | grep -E 'passed|failed' | sort":   "python3 -m pytest -q",
		"go test ./... | cat":                                          "go test ./...",
		// The exit code of bash's pipe would be another command's, or what is printed is.
		"go test ./...":                               "",
		"go test ./... | tail -5; echo done":          "",
		"go test ./... | tail -5 || true":             "",
		"go test ./... | tail -5 &":                   "",
		"! go test ./... | tail -5":                   "",
		"go build | grep x && go test ./...":          "",
		"go vet ./... | cat && go test . | tail":      "go vet ./... | cat && go test .",
		"echo ok | go test ./... | tail":              "",
		"go test ./... | tee out.txt":                 "",
		"go test ./... | tail -5 > out.txt":           "",
		"go test ./... | tail -5 passed.txt":          "",
		"go test ./... | grep -r ok":                  "",
		"go test ./... | grep ok passed.txt":          "",
		"go test ./... | sed s/FAIL/ok/":              "",
		"go test ./... | sh":                          "",
		"{ go test ./...; echo ok; } | tail -5":       "",
		"go test ./... || echo no | tail":             "",
		"tail() { echo ok; }; go test ./... | tail":   "",
		"cat x | tail":                                "",
		"for i in 1 2; do go test ./... | tail; done": "",
		"go test ./... | 'unclosed":                   "",
	} {
		if got, ok := Piped(line); got != want || ok != (want != "") {
			t.Errorf("%q: %q, want %q", line, got, want)
		}
	}
}
