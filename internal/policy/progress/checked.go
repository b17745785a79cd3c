package progress

import (
	"github.com/pawl-agent/pawl/internal/core/event"
	"github.com/pawl-agent/pawl/internal/policy/normalize"
)

// checked applies a check that pawl ran by itself: a step like the model's own
// run of it (SPEC 6.7).
func (f *Fold) checked(b event.Checked) {
	if b.Exit == nil || b.Why != "" {
		return // its outcome is not known
	}
	ok := *b.Exit == 0
	c := call{kind: Test, args: b.Command, command: b.Command, brief: "check " + normalize.OneLine(b.Command, 120)}
	s := Step{Tool: "check", Kind: Test, Args: b.Command, OK: ok, Tested: b.Tests > 0, Exact: normalize.Digest(b.Output), Len: len(b.Output)}
	outcome := event.OK
	if ok {
		s.Norm = normalize.Digest(normalize.Result(b.Output))
	} else {
		outcome = event.Failed
		s.Error = string(outcome) + ": " + normalize.Error(b.Output)
		s.Norm = normalize.Digest(s.Error)
	}
	f.note(record{c: c, tool: s.Tool, ok: ok, outcome: outcome, said: cut(b.Output, sayLimit)})
	f.judge(s)
}
