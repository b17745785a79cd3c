package lifecycle_test

import (
	"strings"
	"testing"

	"github.com/pawl-agent/pawl/internal/core/fsm"
	"github.com/pawl-agent/pawl/internal/core/must"
	"github.com/pawl-agent/pawl/internal/policy/lifecycle"
)

// What the documents say, in their own words.
var (
	// SPEC 1.1
	agentSpec = []string{
		"initializing→running,error", "idle→initializing", "running→paused,completing,error",
		"paused→running,completing,error", "completing→idle,error", "error→idle",
		"idle→disposed", "initializing→disposed", "running→disposed", "paused→disposed", "completing→disposed", "error→disposed",
	}
	// SPEC 2.1, Nexora's part and then ours
	activitySpec = []string{
		"idle→processing,phase,halted", "processing→streaming,recovery,halted",
		"streaming→executing,awaiting,progress,idle,recovery,halted", "executing→streaming,progress,recovery,halted",
		"awaiting→streaming,executing,idle,halted", "recovery→streaming,executing,progress,idle,halted",
		"phase→processing,progress,phase,idle,halted", "progress→streaming,executing,phase,recovery,idle,halted",
		"processing→idle", "executing→idle", "executing→awaiting",
		"processing→awaiting", "progress→awaiting", "recovery→awaiting", "awaiting→processing,progress,recovery",
	}
	activityNames = map[string]string{
		"processing": "processing_prompt", "streaming": "streaming_response", "executing": "executing_tool",
		"awaiting": "awaiting_permission", "recovery": "error_recovery", "progress": "progress_check", "phase": "phase_transition",
	}
	// SPEC 2.4: codeally's state machines; "both directions" of the window
	// means that compaction may free more than one tier.
	callSpec = []string{
		"idle→validating", "validating→requesting_permission,executing,failed", "requesting_permission→executing,failed",
		"executing→processing_result,failed", "processing_result→completed", "failed→completed",
	}
	windowSpec = []string{
		"normal→moderate", "moderate→aggressive,normal", "aggressive→critical,moderate,normal",
		"critical→blocked,aggressive,moderate,normal", "blocked→critical,aggressive,moderate,normal",
	}
	applicationSpec = []string{
		"idle→user_input,model_request", "user_input→idle", "model_request→tool_execution,idle", "tool_execution→model_request,idle",
	}
	sessionSpec = []string{"no_session→active", "active→saving", "saving→saved,active", "saved→saving"}
)

// SPEC 1.1, 2.1, 2.4: every table is what the documents say, no more and no
// less.
func TestTables(t *testing.T) {
	want := map[string]struct {
		states, transitions int
		first               fsm.State
		arrows              []string
	}{
		"agent":       {7, 18, "idle", agentSpec},
		"activity":    {9, 45, "idle", activitySpec},
		"call":        {7, 10, "idle", callSpec},
		"window":      {5, 14, "normal", windowSpec},
		"application": {4, 7, "idle", applicationSpec},
		"session":     {4, 5, "no_session", sessionSpec},
	}
	tables := lifecycle.Tables()
	if len(tables) != len(want) {
		t.Errorf("%d tables, want %d", len(tables), len(want))
	}
	for _, table := range tables {
		w := want[table.Name]
		if err := table.Validate(); err != nil {
			t.Error(err)
		}
		if len(table.States) != w.states || table.Len() != w.transitions || table.States[0] != w.first {
			t.Errorf("%s has %d states and %d transitions, want %d and %d", table.Name, len(table.States), table.Len(), w.states, w.transitions)
		}
		n := 0
		for _, line := range w.arrows {
			from, tos, _ := strings.Cut(line, "→")
			for _, to := range strings.Split(tos, ",") {
				n++
				if !table.Allows(name(table, from), name(table, to)) {
					t.Errorf("%s: %s → %s is missing", table.Name, from, to)
				}
			}
		}
		if n != w.transitions {
			t.Errorf("%s: the documents have %d transitions, the table %d", table.Name, n, w.transitions)
		}
	}
	if lifecycle.AgentTable() != tables[0] || lifecycle.ActivityTable() != tables[1] {
		t.Error("the tables shown are not the tables used")
	}
}

func name(t *fsm.Table, s string) fsm.State {
	if long, ok := activityNames[s]; ok && t.Name == "activity" {
		return fsm.State(long)
	}
	return fsm.State(s)
}

// SPEC 1.2: each verb is legal from the states it names and from no other,
// also where the table would allow its target.
func TestVerbs(t *testing.T) {
	type verb func(*lifecycle.Agent, fsm.Meta) error
	verbs := map[string]struct {
		do   verb
		to   fsm.State
		from string
	}{
		"Initialize": {(*lifecycle.Agent).Initialize, "initializing", "idle"},
		"Start":      {(*lifecycle.Agent).Start, "running", "initializing"},
		"Pause":      {(*lifecycle.Agent).Pause, "paused", "running"},
		"Resume":     {(*lifecycle.Agent).Resume, "running", "paused"},
		"Complete":   {(*lifecycle.Agent).Complete, "completing", "running paused"},
		"Finish":     {(*lifecycle.Agent).Finish, "idle", "completing"},
		"Fail":       {(*lifecycle.Agent).Fail, "error", "initializing running paused completing"},
		"Recover":    {(*lifecycle.Agent).Recover, "idle", "error"},
		"Dispose":    {(*lifecycle.Agent).Dispose, "disposed", "idle initializing running paused completing error disposed"},
	}
	ways := map[fsm.State][]string{
		"idle": {}, "initializing": {"Initialize"}, "running": {"Initialize", "Start"},
		"paused": {"Initialize", "Start", "Pause"}, "completing": {"Initialize", "Start", "Complete"},
		"error": {"Initialize", "Fail"}, "disposed": {"Dispose"},
	}
	for at, way := range ways {
		for verb, v := range verbs {
			var a lifecycle.Agent
			for _, w := range way {
				must.Do(t, verbs[w].do(&a, nil))
			}
			if a.State() != at {
				t.Fatalf("%v leads to %s, want %s", way, a.State(), at)
			}
			err := v.do(&a, fsm.Meta{})
			legal := strings.Contains(" "+v.from+" ", " "+string(at)+" ")
			bad, typed := err.(*fsm.InvalidTransitionError)
			switch {
			case legal && (err != nil || a.State() != v.to):
				t.Errorf("%s from %s: %v, now %s", verb, at, err, a.State())
			case !legal && (!typed || bad.From != at || bad.To != v.to || bad.Machine != "agent" || a.State() != at):
				t.Errorf("%s from %s: %v, now %s; it is illegal (SPEC 1.3)", verb, at, err, a.State())
			}
		}
	}
	var a lifecycle.Agent
	for range 2 {
		if err := a.Dispose(nil); err != nil {
			t.Error(err)
		}
	}
	if n := len(a.History()); n != 1 {
		t.Errorf("disposed twice: %d transitions, want 1", n)
	}
}

// SPEC 2.4, 9.2: the tiers, and every way from one to another.
func TestWindow(t *testing.T) {
	for percent, want := range map[float64]fsm.State{
		-1: "normal", 0: "normal", 69.9: "normal", 70: "moderate", 84.9: "moderate", 85: "aggressive", 94.9: "aggressive", 95: "critical", 140: "critical",
	} {
		if got := lifecycle.Tier(percent); got != want {
			t.Errorf("%v %% is %s, want %s", percent, got, want)
		}
	}
	type fill struct {
		percent   float64
		exhausted bool
		want      fsm.State
	}
	fills := []fill{{10, false, "normal"}, {75, false, "moderate"}, {90, false, "aggressive"}, {96, false, "critical"}, {96, true, "blocked"}, {60, true, "normal"}}
	for _, from := range fills {
		for _, to := range fills {
			var w lifecycle.Window
			w.Set(from.percent, from.exhausted)
			if got := w.Set(to.percent, to.exhausted); got != to.want || w.State() != to.want {
				t.Errorf("from %+v to %+v gives %s", from, to, got)
			}
			for _, p := range w.History() {
				if !lifecycle.Tables()[3].Allows(p.From, p.To) {
					t.Errorf("from %+v to %+v leads over %v", from, to, p)
				}
			}
		}
	}
}
