package session_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/pawl-agent/pawl/internal/adapter/tools"
	"github.com/pawl-agent/pawl/internal/core/event"
	"github.com/pawl-agent/pawl/internal/core/llm/llmtest"
	"github.com/pawl-agent/pawl/internal/engine/session"
)

// SPEC 4.6, row by row: what may be written after what was shown.
func TestReadBeforeWriteCases(t *testing.T) {
	read := func(spec string) []string { return []string{"read", `{"files":[` + spec + `]}`} }
	call := func(name string, in j) []string { return []string{name, args(in)} }
	long := ""
	for i := 1; i <= 3000; i++ {
		long += fmt.Sprintf("line %d of a long file\n", i)
	}
	for name, c := range map[string]struct {
		file  string
		steps [][]string // calls of each step
		other string     // what someone writes before the last step, "" nothing
		want  string     // of the file
		says  string     // in the last result
		out   event.Outcome
	}{
		"an edit of what was not read":                     {"a\nb\n", [][]string{call("edit", edit("a", "A"))}, "", "a\nb\n", "1\ta\n2\tb\nThese lines now count as read", event.Denied},
		"and again":                                        {"a\nb\n", [][]string{call("edit", edit("a", "A")), call("edit", edit("a", "A"))}, "", "A\nb\n", "edited f", event.OK},
		"a read and an edit at once":                       {"a\nb\n", [][]string{append(read(`{"path":"f"}`), call("edit", edit("a", "A"))...)}, "", "A\nb\n", "edited f", event.OK},
		"a part is enough to edit":                         {"a\nb\nc\n", [][]string{read(`{"path":"f","from":1,"to":1}`), call("edit", edit("c", "C"))}, "", "a\nb\nC\n", "edited f", event.OK},
		"a part is not enough to write":                    {"a\nb\nc\n", [][]string{read(`{"path":"f","from":1,"to":1}`), call("write", j{"path": "f", "content": "x\n"})}, "", "a\nb\nc\n", "2\tb\n3\tc\n", event.Denied},
		"two parts are":                                    {"a\nb\nc\n", [][]string{append(read(`{"path":"f","from":1,"to":1}`), read(`{"path":"f","from":2,"to":3}`)...), call("write", j{"path": "f", "content": "x\n"})}, "", "x\n", "replaced f", event.OK},
		"what it wrote itself":                             {"a\n", [][]string{read(`{"path":"f"}`), call("write", j{"path": "f", "content": "x\ny\n"}), call("write", j{"path": "f", "content": "z\n"})}, "", "z\n", "replaced f", event.OK},
		"what it edited itself":                            {"a\nb\n", [][]string{read(`{"path":"f"}`), call("edit", edit("a", "A")), call("write", j{"path": "f", "content": "z\n"})}, "", "z\n", "replaced f", event.OK},
		"someone else's change, edited":                    {"a\nb\n", [][]string{read(`{"path":"f"}`), call("edit", edit("b", "B"))}, "new\na\nb\n", "new\na\nB\n", "f changed since you saw it", event.OK},
		"someone else's change, target gone":               {"a\nb\n", [][]string{read(`{"path":"f"}`), call("edit", edit("b", "B"))}, "new\na\n", "new\na\n", "not found", event.Failed},
		"someone else's change, overwritten":               {"a\nb\n", [][]string{read(`{"path":"f"}`), call("write", j{"path": "f", "content": "x\n"})}, "new\na\nb\n", "new\na\nb\n", "1\tnew\n2\ta\n3\tb\n", event.Denied},
		"someone else's change, by line":                   {"a\nb\n", [][]string{read(`{"path":"f"}`), call("edit", j{"path": "f", "from": 2, "new": "B"})}, "new\na\nb\n", "new\na\nb\n", "2\ta\n", event.Denied},
		"someone else's change, read":                      {"a\nb\n", [][]string{read(`{"path":"f"}`), read(`{"path":"f"}`)}, "new\n", "new\n", "[f changed since you saw it: someone else, or a command, wrote it]\n", event.OK},
		"its own change, read":                             {"a\nb\n", [][]string{read(`{"path":"f"}`), call("edit", edit("a", "A")), read(`{"path":"f"}`)}, "", "A\nb\n", "== f (lines 1-2 of 2) ==\n1\tA", event.OK},
		"a command's change in the same step, overwritten": {"a\nb\n", [][]string{read(`{"path":"f"}`), append(call("bash", j{"command": "echo new >> f"}), call("write", j{"path": "f", "content": "x\n"})...)}, "", "a\nb\nnew\n", "lines 1-3 were not shown since the file changed", event.Denied},
		"a read and an edit by line at once":               {"a\nb\n", [][]string{append(read(`{"path":"f"}`), call("edit", j{"path": "f", "from": 2, "new": "B"})...)}, "", "a\nb\n", "look at them first", event.Denied},
		"lines that moved in the same step":                {"a\nb\nc\nd\n", [][]string{read(`{"path":"f"}`), append(call("edit", j{"path": "f", "from": 2, "new": "x\ny"}), call("edit", j{"path": "f", "from": 3, "new": "C"})...)}, "", "a\nx\ny\nc\nd\n", "line numbers may have moved", event.Denied},
		"lines that moved":                                 {"a\nb\nc\n", [][]string{read(`{"path":"f"}`), call("edit", edit("a", "a\na2")), call("edit", j{"path": "f", "from": 4, "new": "C"})}, "", "a\na2\nb\nC\n", "edited f", event.OK},
		"a long file shows the target":                     {long, [][]string{call("edit", edit("line 2500 of a long file", "x"))}, "", long, "2499\tline 2499 of a long file\n2500\tline 2500 of a long file\n2501\t", event.Denied},
		"a long file shows what is nearest":                {long, [][]string{call("edit", edit("line 2500 of a long file\nline 2501 of some file", "x"))}, "", long, "2500\tline 2500 of a long file\n2501\t", event.Denied},
		"several files, one not read":                      {"a\n", [][]string{read(`{"path":"f"}`), call("multi_edit", j{"edits": []j{edit("a", "A"), {"path": "g", "old": "g", "new": "G"}}})}, "", "a\n", "g was not read in this session", event.Denied},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var turns []llmtest.Turn
			for i, s := range c.steps {
				if i == len(c.steps)-1 {
					turns = append(turns, llmtest.Say("ok"))
				}
				turns = append(turns, llmtest.Use(s...))
			}
			r := newRig(t, "accept-edits", llmtest.New(append(turns, llmtest.Say("ok"))...), func(cfg *session.Config) {
				cfg.Tools = append(cfg.Tools, tools.MultiEdit())
			})
			r.put("f", c.file)
			r.put("g", "g\n")
			r.run("go", nil)
			if c.other != "" {
				r.put("f", c.other)
			}
			es := r.run("go on", nil)
			done := find[event.CallDone](es)
			last := done[len(done)-1]
			if last.Outcome != c.out || !strings.Contains(last.Result.Text, c.says) || r.file("f") != c.want {
				t.Errorf("%s, want %s and %q; f is %.200q, want %.200q\n%.3000s", last.Outcome, c.out, c.says, r.file("f"), c.want, last.Result.Text)
			}
			if strings.HasPrefix(name, "its own") && strings.Contains(last.Result.Text, "changed since") {
				t.Errorf("its own change is said to be another's:\n%s", last.Result.Text)
			}
		})
	}
}
