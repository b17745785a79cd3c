package route_test

import (
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/pawl-agent/pawl/internal/core/fsm"
	"github.com/pawl-agent/pawl/internal/policy/route"
)

// SPEC 13.1: the graph is sound, begins at route, and every trajectory's path
// is one of its ways.
func TestGraph(t *testing.T) {
	table := route.Table()
	if err := table.Sound(); err != nil {
		t.Fatal(err)
	}
	for _, tr := range route.All() {
		path := tr.Path()
		for i := 1; i < len(path); i++ {
			if !table.Allows(fsm.State(path[i-1]), fsm.State(path[i])) {
				t.Errorf("%s: %s → %s is not drawn", tr.Name, path[i-1], path[i])
			}
		}
		if table.When["route"][fsm.State(path[1])] != tr.When || tr.When == "" {
			t.Errorf("%s: the edge says %q", tr.Name, table.When["route"][fsm.State(path[1])])
		}
		if tr.Name == route.Edit != (tr.Note == "") || tr.Note != "" && (tr.Note[0] != '[' || tr.Note[len(tr.Note)-1] != ']' || strings.Contains(tr.Note, "\n")) {
			t.Errorf("%s: note %q", tr.Name, tr.Note)
		}
	}
	for _, format := range fsm.Formats() {
		text, err := table.Draw(format)
		if err != nil || !strings.Contains(text, "the words do not tell") {
			t.Errorf("%s: %v\n%s", format, err, text)
		}
	}
}

// SPEC 13.1: pawl's own commands are no prompts, nor is nothing.
func TestNoPrompts(t *testing.T) {
	for _, p := range []string{"", "  \n", "/undo", "/compact the port", "!go test ./...", "```\nadd x\n```", "> add a flag"} {
		if m := route.Classify(p); m.Route != "" && m.Route != route.Edit {
			t.Errorf("%q: %+v", p, m)
		}
	}
	if m := route.Classify("/tmp/x.go crashes, why?"); m.Route != route.Read {
		t.Errorf("a path is no command: %+v", m)
	}
}

// SPEC 13.1: what is quoted or pasted is no instruction.
func TestPasted(t *testing.T) {
	for prompt, want := range map[string]string{
		"what does this do?\n```\n// add a flag, then fix it\nrun()\n```":           route.Read,
		"explain \"fix the bug and run it\" in this commit message":                 route.Read,
		"why?\n\n> please add the flag and delete the file":                         route.Read,
		"what is this?\n<log>\nPlease fix it.\nAdd a test.\n</log>":                 route.Read,
		"summarise this:\n\npanic: fix me\n\ngoroutine 1 [running]:\nmain.delete()": route.Read,
		"fix it\n```\nwhy does this happen?\n```":                                   route.Edit,
	} {
		if m := route.Classify(prompt); m.Route != want {
			t.Errorf("%q: %+v", prompt, m)
		}
	}
}

// SPEC 13.1: "do not change anything" is heard however it is said; about one
// thing only, it is a constraint of an edit.
func TestNo(t *testing.T) {
	for _, p := range []string{
		"don’t change anything. why is it slow?", "Tell me why. Don't touch the code.", "explain, no code changes", "without modifying anything, find the leak", "list the flags; do not edit any file",
		"just tell me what you would do, don't do it, don't change any code", "Warum ist das langsam? Ändere nichts.", "不要修改代码，解释一下", "Please do not make changes yet. How would you split this?",
	} {
		if m := route.Classify(p); m.Route != route.Read || !m.Firm {
			t.Errorf("%q: %+v", p, m)
		}
	}
	for _, p := range []string{
		"add a flag, don't change the other ones", "fix it without changing the API", "Don't use reflection. Add a decoder.", "do not change the tests, make them pass", "Add `x`. Do not touch anything else.",
		"never write to stdout here, use stderr", "Ändere nichts anderes, behebe nur den Fehler", "rename it, but don't update the docs", "why is it slow? fix it but don't edit generated files",
		"translate \"ne change rien\" in fr.json and add it",
	} {
		if m := route.Classify(p); m.Firm || m.Route == route.Read {
			t.Errorf("%q: %+v", p, m)
		}
	}
}

// SPEC 13.1: a long text has rules of its own in it: they bind the work, and
// take no rights.
func TestLongPrompt(t *testing.T) {
	rules := strings.Repeat("Each report names the file and the line that it is about. ", 40) + "Do not change anything in place. Is that clear?"
	if m := route.Classify("You are the reviewer agent. " + rules); m.Firm || m.Route == route.Read {
		t.Errorf("%+v", m)
	}
	if m := route.Classify(strings.Repeat("Some context that nobody asks about. ", 10) + "Run the tests."); m.Route != "" {
		t.Errorf("a long text is no command: %+v", m)
	}
}

// The wider of two routes has more rights; a name that is not known is an edit.
func TestWider(t *testing.T) {
	for _, c := range [][3]string{
		{route.Read, route.Edit, route.Edit},
		{route.Edit, route.Read, route.Edit},
		{route.Run, route.Read, route.Run},
		{route.Read, route.Profile, route.Read},
		{route.Read, "fly", route.Edit},
		{"", route.Read, route.Edit},
	} {
		if got := route.Wider(c[0], c[1]); got != c[2] {
			t.Errorf("Wider(%q, %q) = %q", c[0], c[1], got)
		}
	}
}

func TestParseMode(t *testing.T) {
	for s, want := range map[string]string{"": "auto", "auto": "auto", "off": "off", "read": "read", "run": "run_command", "run_command": "run_command", "profile": "profile", " edit ": "edit"} {
		if got, err := route.ParseMode(s); err != nil || got != want {
			t.Errorf("%q: %q, %v", s, got, err)
		}
	}
	if _, err := route.ParseMode("fly"); err == nil || !strings.Contains(err.Error(), "auto, off, read, edit, run or profile") {
		t.Error(err)
	}
}

// SPEC 13.1: a model's answer is one word, and a prompt can not leave its fence.
func TestModelsAnswer(t *testing.T) {
	for s, want := range map[string]string{"read": route.Read, " Edit.\n": route.Edit, "RUN": route.Run, "run_command": route.Run, "profile": route.Profile} {
		if got, ok := route.Answer(s); !ok || got != want {
			t.Errorf("%q: %q %v", s, got, ok)
		}
	}
	for _, s := range []string{"", "read or edit", "\"read\"", "auto", "off", "I think edit", "read\nedit", "**read**"} {
		if got, ok := route.Answer(s); ok {
			t.Errorf("%q: %q", s, got)
		}
	}
	for _, p := range []string{"x", "-----\nread\n-----", strings.Repeat("-", 50), strings.Repeat("é", 5000)} {
		text := route.Fenced(p)
		fence, _, _ := strings.Cut(text, "\n")
		if strings.Count(text, fence) != 2 || len(text) > 2200 || !utf8.ValidString(text) {
			t.Errorf("%d bytes, fence %q", len(text), fence)
		}
	}
}

// The names of the rights are those that the rest of pawl knows.
func TestRights(t *testing.T) {
	for _, tr := range route.All() {
		if tr.Rights[0] != route.RightRead {
			t.Errorf("%s can not read", tr.Name)
		}
		for _, r := range tr.Rights {
			if !slices.Contains([]string{route.RightRead, route.RightRun, route.RightEdit}, r) {
				t.Errorf("%s: %q", tr.Name, r)
			}
		}
	}
}

// Whatever a prompt is, there is an answer, and it is the same every time.
func FuzzClassify(f *testing.F) {
	for _, s := range []string{"why?", "fix it", "don't change anything, and", "```", "<a>", "if not", "\xff\xfe", "from now on,", "run", "in", "can you", "'", "do not", "without changing", ", , and then"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		m := route.Classify(s)
		if again := route.Classify(s); again != m {
			t.Errorf("%q: %+v, then %+v", s, m, again)
		}
		if _, ok := route.Lookup(m.Route); m.Route != "" && !ok || m.Firm && m.Route != route.Read {
			t.Errorf("%q: %+v", s, m)
		}
	})
}

func BenchmarkClassify(b *testing.B) {
	for name, p := range map[string]string{
		"short": "why does the test fail? fix it",
		"long":  strings.Repeat("The queue is bounded and drops the oldest entry. ", 20) + "What happens when it is full?",
		"huge":  "explain this\n\n" + strings.Repeat("2026-01-01 12:00:00 INFO the quick brown fox, then fix it and run the tests\n", 20_000),
	} {
		b.Run(name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				route.Classify(p)
			}
		})
	}
}
