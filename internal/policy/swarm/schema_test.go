package swarm

import (
	"encoding/json"
	"flag"
	"os"
	"testing"

	"github.com/google/jsonschema-go/jsonschema"
)

var updateSwarm = flag.Bool("update-swarm", false, "write doc/swarm.schema.json anew")

// The published schema of task graphs is that of the type that is read.
// SPEC 14.2
func TestSwarmSchema(t *testing.T) {
	s, err := jsonschema.For[Graph](nil)
	if err != nil {
		t.Fatal(err)
	}
	s.Schema, s.Title = "https://json-schema.org/draft/2020-12/schema", "A task graph for pawl swarm run"
	delete(s.Properties["tasks"].Items.Properties, "resolves") // pawl's own
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
		t.Errorf("doc/swarm.schema.json is old (%v): go test ./internal/policy/swarm -run TestSwarmSchema -update-swarm", err)
	}
}
