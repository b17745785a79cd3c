package session_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/pawl-agent/pawl/internal/adapter/tools"
	"github.com/pawl-agent/pawl/internal/core/event"
	"github.com/pawl-agent/pawl/internal/core/llm/llmtest"
	"github.com/pawl-agent/pawl/internal/core/must"
	"github.com/pawl-agent/pawl/internal/engine/session"
	"github.com/pawl-agent/pawl/internal/policy/permission"
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
		"an edit of what was not read":                     {"a\nb\n", [][]string{call("edit", edit("a", "A"))}, "", "A\nb\n", "edited f", event.OK},
		"an edit of what a command showed":                 {"a\nb\n", [][]string{call("bash", j{"command": "sed -n 1,2p f"}), call("edit", edit("a", "A"))}, "", "A\nb\n", "edited f", event.OK},
		"not read, and a command changed it":               {"a\nb\n", [][]string{append(call("bash", j{"command": "echo c >> f"}), call("edit", edit("c", "C"))...)}, "", "a\nb\nC\n", "edited f", event.OK},
		"not read, several lines of a CRLF file":           {"a\r\nb\r\n", [][]string{call("edit", edit("a\nb\n", "a\nB\n"))}, "", "a\r\nB\r\n", "edited f", event.OK},
		"not read, by a patch":                             {"a\nb", [][]string{call("apply_patch", j{"patch": "*** Begin Patch\n*** Update File: f\n a\n-b\n+B\n*** End Patch"})}, "", "a\nB", "edited f", event.OK},
		"not read, a patch that only adds":                 {"a\nb\n", [][]string{call("apply_patch", j{"patch": "*** Begin Patch\n*** Update File: f\n+c\n*** End Patch"})}, "", "a\nb\n", "These lines now count as read", event.Denied},
		"not read, a patch that deletes":                   {"a\nb\n", [][]string{call("apply_patch", j{"patch": "*** Begin Patch\n*** Delete File: f\n*** End Patch"})}, "", "a\nb\n", "These lines now count as read", event.Denied},
		"not read, a patch in other whitespace":            {"a\n  b\n", [][]string{call("apply_patch", j{"patch": "*** Begin Patch\n*** Update File: f\n a\n-b\n+B\n*** End Patch"})}, "", "a\n  b\n", "These lines now count as read", event.Denied},
		"not read, in other whitespace":                    {"  a = 1\n", [][]string{call("edit", edit("a  =  1", "a = 2"))}, "", "  a = 1\n", "1\t  a = 1\nThese lines now count as read", event.Denied},
		"not read, twice in it":                            {"a\na\n", [][]string{call("edit", edit("a", "A"))}, "", "a\na\n", "1\ta\n2\ta\nThese lines now count as read", event.Denied},
		"not read, every match":                            {"a\na\n", [][]string{call("edit", j{"path": "f", "old": "a", "new": "A", "replace_all": true})}, "", "a\na\n", "These lines now count as read", event.Denied},
		"not read, by line":                                {"a\nb\n", [][]string{call("edit", j{"path": "f", "from": 1, "new": "A"})}, "", "a\nb\n", "look at it first", event.Denied},
		"not read, edited, overwritten":                    {long, [][]string{call("edit", edit("line 2500 of", "Line 2500 of")), call("write", j{"path": "f", "content": "x\n"})}, "", strings.Replace(long, "line 2500 of", "Line 2500 of", 1), "read them first", event.Denied},
		"refused, and again":                               {"a\na\n", [][]string{call("edit", j{"path": "f", "old": "a", "new": "A", "replace_all": true}), call("edit", j{"path": "f", "old": "a", "new": "A", "replace_all": true})}, "", "A\nA\n", "edited f", event.OK},
		"a read and an edit at once":                       {"a\nb\n", [][]string{append(read(`{"path":"f"}`), call("edit", edit("a", "A"))...)}, "", "A\nb\n", "edited f", event.OK},
		"a part is enough to edit":                         {"a\nb\nc\n", [][]string{read(`{"path":"f","from":1,"to":1}`), call("edit", edit("c", "C"))}, "", "a\nb\nC\n", "edited f", event.OK},
		"a part is not enough to write":                    {"a\nb\nc\n", [][]string{read(`{"path":"f","from":1,"to":1}`), call("write", j{"path": "f", "content": "x\n"})}, "", "a\nb\nc\n", "2\tb\n3\tc\n", event.Denied},
		"two parts are":                                    {"a\nb\nc\n", [][]string{append(read(`{"path":"f","from":1,"to":1}`), read(`{"path":"f","from":2,"to":3}`)...), call("write", j{"path": "f", "content": "x\n"})}, "", "x\n", "replaced f", event.OK},
		"what it wrote itself":                             {"a\n", [][]string{read(`{"path":"f"}`), call("write", j{"path": "f", "content": "x\ny\n"}), call("write", j{"path": "f", "content": "z\n"})}, "", "z\n", "replaced f", event.OK},
		"what it edited itself":                            {"a\nb\n", [][]string{read(`{"path":"f"}`), call("edit", edit("a", "A")), call("write", j{"path": "f", "content": "z\n"})}, "", "z\n", "replaced f", event.OK},
		"what it read whole, edited and writes":            {long[:2300], [][]string{read(`{"path":"f"}`), call("edit", edit("line 20 of", "Line 20 of")), call("write", j{"path": "f", "content": "z\n"})}, "", "z\n", "replaced f", event.OK},
		"someone else's change, edited":                    {"a\nb\n", [][]string{read(`{"path":"f"}`), call("edit", edit("b", "B"))}, "new\na\nb\n", "new\na\nB\n", "f changed since you saw it", event.OK},
		"someone else's change, target gone":               {"a\nb\n", [][]string{read(`{"path":"f"}`), call("edit", edit("b", "B"))}, "new\na\n", "new\na\n", "not found", event.Failed},
		"someone else's change, overwritten":               {"a\nb\n", [][]string{read(`{"path":"f"}`), call("write", j{"path": "f", "content": "x\n"})}, "new\na\nb\n", "new\na\nb\n", "1\tnew\n2\ta\n3\tb\n", event.Denied},
		"someone else's change, by line":                   {"a\nb\n", [][]string{read(`{"path":"f"}`), call("edit", j{"path": "f", "from": 2, "new": "B"})}, "new\na\nb\n", "new\na\nb\n", "2\ta\n", event.Denied},
		"someone else's change, read":                      {"a\nb\n", [][]string{read(`{"path":"f"}`), read(`{"path":"f"}`)}, "new\n", "new\n", "[f changed since you saw it: someone else, or a command, wrote it]\n", event.OK},
		"its own change, read":                             {"a\nb\n", [][]string{read(`{"path":"f"}`), call("edit", edit("a", "A")), read(`{"path":"f"}`)}, "", "A\nb\n", "== f (lines 1-2 of 2) ==\n1\tA", event.OK},
		"a command's change in the same step, overwritten": {"a\nb\n", [][]string{read(`{"path":"f"}`), append(call("bash", j{"command": "echo new >> f"}), call("write", j{"path": "f", "content": "x\n"})...)}, "", "a\nb\nnew\n", "lines 1-3 were not shown since the file changed", event.Denied},
		"a read and an edit by line at once":               {"a\nb\n", [][]string{append(read(`{"path":"f"}`), call("edit", j{"path": "f", "from": 2, "new": "B"})...)}, "", "a\nb\n", "look at it first", event.Denied},
		"lines that moved in the same step":                {"a\nb\nc\nd\n", [][]string{read(`{"path":"f"}`), append(call("edit", j{"path": "f", "from": 2, "new": "x\ny"}), call("edit", j{"path": "f", "from": 3, "new": "C"})...)}, "", "a\nx\ny\nc\nd\n", "line numbers may have moved", event.Denied},
		"lines that moved":                                 {"a\nb\nc\n", [][]string{read(`{"path":"f"}`), call("edit", edit("a", "a\na2")), call("edit", j{"path": "f", "from": 4, "new": "C"})}, "", "a\na2\nb\nc\n", "4\tc\nThese lines now count as read", event.Denied},
		"lines that moved, under the old number":           {"a\nb\nc\n", [][]string{read(`{"path":"f"}`), call("edit", edit("a", "a\na2")), call("edit", j{"path": "f", "from": 3, "new": "C"})}, "", "a\na2\nb\nc\n", "what you read as 3 is 4 now\n== f (lines 3-4 of 4) ==\n3\tb\n4\tc\n", event.Denied},
		"lines that it just wrote":                         {"a\nb\nc\n", [][]string{read(`{"path":"f"}`), call("edit", edit("a\n", "a\na2\n")), call("edit", j{"path": "f", "from": 2, "new": "A2"})}, "", "a\nA2\nb\nc\n", "edited f (+1 -1) at line 2", event.OK},
		"a long file shows the target":                     {long, [][]string{call("edit", edit(" line 2500 of a long file", "x"))}, "", long, "2499\tline 2499 of a long file\n2500\tline 2500 of a long file\n2501\t", event.Denied},
		"a long file shows what is nearest":                {long, [][]string{call("edit", edit("line 2500 of a long file\nline 2501 of some file", "x"))}, "", long, "2500\tline 2500 of a long file\n2501\t", event.Denied},
		"several files, one not read":                      {"a\n", [][]string{read(`{"path":"f"}`), call("multi_edit", j{"edits": []j{edit("a", "A"), {"path": "g", "old": " g", "new": "G"}}})}, "", "a\n", "g was not read in this session", event.Denied},
		"several files, none read":                         {"a\n", [][]string{call("multi_edit", j{"edits": []j{edit("a", "b"), edit("b", "c"), {"path": "g", "old": "g", "new": "G"}}})}, "", "c\n", "edited g", event.OK},
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
				cfg.Tools = append(cfg.Tools, tools.MultiEdit(), tools.ApplyPatch())
			})
			r.Put("f", c.file)
			r.Put("g", "g\n")
			r.Run("go", nil)
			if c.other != "" {
				r.Put("f", c.other)
			}
			es := r.Run("go on", nil)
			done := find[event.CallDone](es)
			last := done[len(done)-1]
			if last.Outcome != c.out || !strings.Contains(last.Result.Text, c.says) || r.File("f") != c.want {
				t.Errorf("%s, want %s and %q; f is %.200q, want %.200q\n%.3000s", last.Outcome, c.out, c.says, r.File("f"), c.want, last.Result.Text)
			}
			if strings.HasPrefix(name, "its own") && strings.Contains(last.Result.Text, "changed since") {
				t.Errorf("its own change is said to be another's:\n%s", last.Result.Text)
			}
		})
	}
}

// SPEC 4.6: what may not be read cannot be found out by edits that quote guesses.
func TestQuotesDoNotTellWhatMayNotBeRead(t *testing.T) {
	t.Parallel()
	for _, guess := range []string{"a", "b"} {
		r := newRig(t, "accept-edits", llmtest.New(llmtest.Use("edit", args(edit(guess, "A"))), llmtest.Say("ok")), func(cfg *session.Config) {
			must.Do(t, cfg.Permission.Add(permission.User, nil, []string{"read(f)"}, nil))
		})
		r.Put("f", "a\n")
		done := find[event.CallDone](r.Run("go", nil))
		if want := "f was not read in this session, so what is in it is not known: read it first"; done[0].Outcome != event.Denied || done[0].Result.Text != want || r.File("f") != "a\n" {
			t.Errorf("%s: %s, %q", guess, done[0].Outcome, done[0].Result.Text)
		}
	}
}
