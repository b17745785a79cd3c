package cli

import (
	"encoding/json"
	"flag"
	"os"
	"strings"
	"testing"

	"github.com/google/jsonschema-go/jsonschema"

	"github.com/pawl-agent/pawl/internal/policy/swarm"
)

var updateSwarm = flag.Bool("update-swarm", false, "write doc/swarm.schema.json anew")

// The published schema of task graphs is that of the type that is read.
// SPEC 14.2
func TestSwarmSchema(t *testing.T) {
	s, err := jsonschema.For[swarm.Graph](nil)
	if err != nil {
		t.Fatal(err)
	}
	s.Schema, s.Title = "https://json-schema.org/draft/2020-12/schema", "A task graph for pawl swarm run"
	delete(s.Properties["tasks"].Items.Properties, "resolves") // pawl's own
	delete(s.Properties["tasks"].Items.Properties, "agent")    // refused
	want, err := json.MarshalIndent(s, "", "  ")
	if err != nil {
		t.Fatal(err)
	}
	want = append(want, '\n')
	const path = "../../../doc/swarm.schema.json"
	if *updateSwarm {
		if err := os.WriteFile(path, want, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	if got, err := os.ReadFile(path); err != nil || string(got) != string(want) {
		t.Errorf("doc/swarm.schema.json is old (%v): go test ./internal/frontend/cli -run TestSwarmSchema -update-swarm", err)
	}
}

// SPEC 14.2
func TestParseGraph(t *testing.T) {
	for in, want := range map[string]string{
		`{"goal":"g","tasks":[{"id":"a","goal":"g","accept":["true"]}]}`: "",
		"goal: g\ntasks: [{id: a, goal: g, accept: ['true']}]":           "",
		"goal: g\ntasks: 7":            "[2:8]",
		"goal: g\nverifi: []":          "[2:1]",
		"goal: g\ntasks:\n  - id: [a]": "[3:",
		"goal: g\ntasks: [{id: a, goal: g, accept: ['true'], size: big}]": "[2:",
		"goal: [":                       "[1:",
		"goal: g":                       "no tasks",
		" \n":                           "empty",
		"goal: g\ngoal: h\ntasks: []\n": "[2:1]",
	} {
		_, err := parseGraph([]byte(in))
		if want == "" && err != nil || want != "" && (err == nil || !strings.Contains(err.Error(), want)) {
			t.Errorf("%q: %v, want %q", in, err, want)
		}
	}
}
