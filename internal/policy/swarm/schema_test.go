package swarm

import (
	"encoding/json"
	"flag"
	"os"
	"testing"

	"github.com/google/jsonschema-go/jsonschema"

	"github.com/pawl-agent/pawl/internal/core/must"
)

var updateSwarm = flag.Bool("update-swarm", false, "write doc/swarm.schema.json anew")

// The published schema of task graphs is that of the type that is read.
// SPEC 14.2
func TestSwarmSchema(t *testing.T) {
	s := must.Get(jsonschema.For[Graph](nil))(t)
	s.Schema, s.Title = "https://json-schema.org/draft/2020-12/schema", "A task graph for pawl swarm run"
	delete(s.Properties["tasks"].Items.Properties, "resolves") // pawl's own
	want := must.Get(json.MarshalIndent(s, "", "  "))(t)
	want = append(want, '\n')
	const path = "../../../doc/swarm.schema.json"
	if *updateSwarm {
		must.Do(t, os.WriteFile(path, want, 0o600))
	}
	if got, err := os.ReadFile(path); err != nil || string(got) != string(want) {
		t.Errorf("doc/swarm.schema.json is old (%v): go test ./internal/policy/swarm -run TestSwarmSchema -update-swarm", err)
	}
}
