package main

import (
	"os/exec"
	"slices"
	"strings"
	"testing"

	"github.com/pawl-agent/pawl/internal/frontend/cli"
)

// pawl joins NATS servers and does not hold one, nor anything else that is for
// tests only (SPEC 14.6); nor html/template, which keeps the methods of all types
// in the program (bench/static).
func TestWhatIsLinked(t *testing.T) {
	out, err := exec.Command("go", "list", "-deps", ".").Output()
	if err != nil {
		t.Fatal(err)
	}
	deps := strings.Fields(string(out))
	if !slices.Contains(deps, "github.com/nats-io/nats.go") {
		t.Error("pawl does not join NATS servers")
	}
	for _, d := range deps {
		if d == "testing" || d == "html/template" || strings.HasPrefix(d, "github.com/nats-io/nats-server") || strings.HasSuffix(d, "test") && strings.Contains(d, "pawl-agent") {
			t.Errorf("%s is linked", d)
		}
	}
}

// The version is one that people can report: a build from a working tree is marked
// as one.
func TestVersion(t *testing.T) {
	was := cli.Version
	defer func() { cli.Version = was }()
	cli.Version = "1.2.3" // as the linker sets it
	if v, ok := released(); ok {
		t.Errorf("the linker's version is replaced by %q", v)
	}
	cli.Version = "0.1.0-dev"
	if v, ok := released(); ok && !strings.HasPrefix(v, "0.1.0-dev+") {
		t.Errorf("%q", v)
	}
}
