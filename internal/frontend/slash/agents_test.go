package slash

import (
	"strings"
	"testing"

	"github.com/pawl-agent/pawl/internal/core/event"
)

// What an agent did is a line for each call, apart from the other agents, and nothing of it
// moves the cursor.
//
// SPEC 14.1, 18.2, 16.11
func TestAgentRuns(t *testing.T) {
	a := &agentRuns{}
	for _, b := range []event.Body{
		event.AgentStarted{Child: "c1", Agent: "explore", Title: "find it"},
		event.AgentStarted{Child: "c2", Agent: "general"},
		event.AgentCalled{Child: event.ChildEvent{Session: "c1"}, Done: event.CallDone{Tool: "bash", Command: "ls\x1b[2J", Note: "exit code 0"}},
		event.AgentCalled{Child: event.ChildEvent{Session: "c3"}, Done: event.CallDone{Tool: "read"}},
		event.AgentEnded{Child: "c1", End: event.EndFailed, Error: &event.Fault{Message: "no money"}},
	} {
		a.apply(b)
	}
	if len(a.all) != 2 || a.all[0].ended != string(event.EndFailed) || a.all[1].ended != "" || a.all[1].did.String() != "" {
		t.Errorf("%+v", a.all)
	}
	did := a.all[0].did.String()
	if strings.Count(did, "\n") != 2 || !strings.Contains(did, "bash ls") || !strings.Contains(did, "no money") || strings.Contains(did, "\x1b") {
		t.Errorf("%q", did)
	}
}
