package swarm

import "github.com/pawl-agent/pawl/internal/core/fsm"

// Table is the state table of a task. TestAnyLife checks the Schedule against it.
func Table() *fsm.Table {
	t := &fsm.Table{
		Name: "task", Doc: "A task of a swarm. Only its own fault uses up one of its tries; for any other reason it goes back to the queue.",
		States: []fsm.State{fsm.State(Waiting), fsm.State(Ready), fsm.State(Taken), fsm.State(Returned), fsm.State(Conflicted), fsm.State(Parked), fsm.State(Merged), fsm.State(Failed), fsm.State(Skipped), fsm.State(Cancelled)},
		Legal:  map[fsm.State][]fsm.State{}, When: map[fsm.State]map[fsm.State]string{},
	}
	for _, edge := range []struct {
		from, to State
		when     string
	}{
		{Waiting, Ready, "all that it waits for is merged"},
		{Waiting, Skipped, "a task that it waits for failed or was cancelled"},
		{Ready, Taken, "by a worker"},
		{Taken, Returned, "its checks passed"},
		{Taken, Ready, "it failed and has tries left, or the reason is outside it"},
		{Taken, Parked, "the reason is outside it, again and again"},
		{Taken, Failed, "the last try"},
		{Returned, Merged, "a person accepted it, if it is reviewed"},
		{Returned, Conflicted, "another task merges it by hand"},
		{Conflicted, Merged, "with that task"},
		{Conflicted, Failed, "with that task"},
		{Parked, Ready, "the swarm is resumed"},
		{Returned, Ready, "a person retries it"},
		{Failed, Ready, "a person retries it"},
		{Failed, Conflicted, "a person retries its merge"},
		{Cancelled, Conflicted, "a person retries its merge"},
		{Cancelled, Ready, "a person retries it"},
		{Cancelled, Waiting, "a person retries it"},
		{Skipped, Waiting, "a person retries what it waits for"},
		{Waiting, Cancelled, "by a person"},
		{Ready, Cancelled, "by a person"},
		{Taken, Cancelled, "by a person"},
		{Returned, Cancelled, "by a person"},
		{Parked, Cancelled, "by a person"},
		{Failed, Cancelled, "by a person"},
		{Skipped, Cancelled, "by a person"},
		{Conflicted, Cancelled, "with that task"},
	} {
		from, to := fsm.State(edge.from), fsm.State(edge.to)
		t.Legal[from] = append(t.Legal[from], to)
		if t.When[from] == nil {
			t.When[from] = map[fsm.State]string{}
		}
		t.When[from][to] = edge.when
	}
	return t
}
