package main

import (
	"os/exec"
	"slices"
	"strings"
	"testing"
)

// pawl joins NATS servers and does not hold one, nor anything else that is for
// tests only (SPEC 14.6).
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
		if d == "testing" || strings.HasPrefix(d, "github.com/nats-io/nats-server") || strings.HasSuffix(d, "test") && strings.Contains(d, "pawl-agent") {
			t.Errorf("%s is linked", d)
		}
	}
}
