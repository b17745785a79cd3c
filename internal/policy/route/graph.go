package route

import "github.com/pawl-agent/pawl/internal/core/fsm"

// Table is the graph of the routes. A node's errors are handled where they happen (SPEC
// 13.2), in the loop of the turn; a classification that fails is an edit.
func Table() *fsm.Table {
	const start, askModel, failed, done fsm.State = "route", "ask_model", "error", "done"
	t := &fsm.Table{
		Name: "route", Doc: "How a prompt is classified, and what follows. A route sets the rights that the turn starts with. If a call needs more rights, the turn changes to another route.",
		States: []fsm.State{start, askModel}, Legal: map[fsm.State][]fsm.State{}, When: map[fsm.State]map[fsm.State]string{},
	}
	edge := func(from, to fsm.State, when string) {
		t.Legal[from] = append(t.Legal[from], to)
		if t.When[from] == nil {
			t.When[from] = map[fsm.State]string{}
		}
		t.When[from][to] = when
	}
	edge(start, askModel, "not clear from the words, and a model may be asked")
	for _, tr := range All() {
		for i, n := range tr.Nodes {
			t.States = append(t.States, fsm.State(n))
			if i > 0 {
				edge(fsm.State(tr.Nodes[i-1]), fsm.State(n), "")
			}
		}
		first, when := fsm.State(tr.Nodes[0]), "its answer"
		if tr.Name == Edit {
			when = "its answer, or no answer, or an error"
		}
		edge(start, first, tr.When)
		edge(askModel, first, when)
	}
	t.States = append(t.States, failed, done)
	for _, tr := range All() {
		last := fsm.State(tr.Nodes[len(tr.Nodes)-1])
		for _, wider := range All() {
			if len(wider.Rights) > len(tr.Rights) {
				edge(last, fsm.State(wider.Nodes[0]), "more rights are needed and allowed")
			}
		}
		edge(last, failed, "a request or a call failed")
		edge(failed, last, "retried, or reported to the model")
		edge(last, done, "answered")
	}
	edge(failed, done, "given up: the message explains what to do")
	return t
}
