package evidence

import (
	"strings"
	"testing"

	"github.com/pawl-agent/pawl/internal/core/event"
	"github.com/pawl-agent/pawl/internal/core/llm"
	"github.com/pawl-agent/pawl/internal/core/tool"
)

func wrote(call, by, path string, before, after tool.Hash) event.Body {
	return event.FileChanged{Call: call, Tool: by, Path: path, Before: before, After: after}
}

// ran is a command that wrote what is given while it ran.
func ran(command string, exit int, wrote ...event.Body) []event.Body {
	out := append([]event.Body{event.CallAsked{ID: "1", Tool: "bash"}}, wrote...)
	return append(out, event.CallDone{ID: "1", Tool: "bash", Command: command, Exit: &exit, Result: llm.Result{Text: passing}})
}

// seen is the same, with what the sandbox saw.
func seen(bs []event.Body, untouched bool) []event.Body {
	last := &bs[len(bs)-1]
	done := (*last).(event.CallDone)
	done.Untouched = untouched
	*last = done
	return bs
}

// piped is the same, with the check's own exit code.
func piped(bs []event.Body) []event.Body {
	last := &bs[len(bs)-1]
	done := (*last).(event.CallDone)
	check, _, _ := strings.Cut(done.Command, " |")
	done.Checks = []tool.Ended{{Command: check, Exit: *done.Exit}}
	*last = done
	return bs
}

// ofAgent is what the log of a session has of what an agent of it did.
func ofAgent(bs ...event.Body) (out []event.Body) {
	for i, b := range bs {
		at := event.ChildEvent{Session: "child", Seq: int64(i + 1)}
		switch b := event.Completed(b).(type) {
		case event.FileChanged:
			at.Call, b.Call = b.Call, "a"
			b.Child = &at
			if b.Tool == "mcp__x__y" {
				b.Does = tool.Exec
			}
			out = append(out, b)
		case event.CallDone:
			at.Call = b.ID
			out = append(out, event.AgentCalled{Call: "a", Child: at, Done: b})
		}
	}
	return out
}

// SPEC 13.3: only a check newer than the last change proves something, and one
// that rewrote what it was to check does not; what it leaves behind is no
// matter.
func TestChecksThatChangeFiles(t *testing.T) {
	coverage := wrote("1", "bash", "c.out", "", "1")
	check := ran("go test ./...", 0)
	for name, c := range map[string]struct {
		events   [][]event.Body
		verified bool
		files    int
	}{
		"an agent's change":             {[][]event.Body{check, ofAgent(wrote("1", "edit", "b.go", "", "1"))}, false, 2},
		"an agent's check":              {[][]event.Body{ofAgent(ran("go test ./...", 0)...)}, true, 1},
		"an agent's check, told later":  {[][]event.Body{ofAgent(ran("go test ./...", 0)...), {event.CallDone{ID: "a", Tool: "agent"}}}, true, 1},
		"an agent's check leaves":       {[][]event.Body{ofAgent(ran("go test ./...", 0, coverage)...)}, true, 2},
		"an agent's check rewrites":     {[][]event.Body{ofAgent(ran("go test ./...", 0, wrote("1", "bash", "a.go", "y", "z"))...)}, false, 1},
		"an agent's command":            {[][]event.Body{check, ofAgent(ran("./gen", 0)...)}, false, 1},
		"an agent's command writes":     {[][]event.Body{check, ofAgent(ran("./gen", 0, wrote("1", "bash", "b.go", "", "1"))...)}, false, 2},
		"an agent's tool writes":        {[][]event.Body{check, ofAgent(ran("", 0, wrote("1", "mcp__x__y", "b.go", "", "1"))...)}, false, 2},
		"an agent's background command": {[][]event.Body{check, ofAgent(wrote("", "bash", "b.go", "", "1"))}, false, 2},
		"an agent dies in a command":    {[][]event.Body{check, ofAgent(wrote("1", "bash", "b.go", "", "1")), {event.AgentEnded{Call: "a", Child: "child"}}}, false, 2},
		"an agent's check fails":        {[][]event.Body{check, ofAgent(ran("go test ./...", 1)...)}, false, 1},

		"a check":                     {[][]event.Body{check}, true, 1},
		"leaves a file":               {[][]event.Body{ran("go test ./...", 0, coverage)}, true, 2},
		"leaves it again":             {[][]event.Body{ran("go test ./...", 0, coverage), ran("go test ./...", 0, wrote("1", "bash", "c.out", "1", "2"))}, true, 2},
		"another check leaves it":     {[][]event.Body{check, ran("go vet ./...", 0, coverage)}, true, 2},
		"a look":                      {[][]event.Body{check, ran("cat a.go", 0)}, true, 1},
		"another command":             {[][]event.Body{check, ran("./gen", 0)}, false, 1},
		"another, in the sandbox":     {[][]event.Body{check, seen(ran("./gen", 0), true)}, true, 1},
		"an agent's, in the sandbox":  {[][]event.Body{check, ofAgent(seen(ran("./gen", 0), true)...)}, true, 1},
		"that did something there":    {[][]event.Body{check, seen(ran("./gen", 0), false)}, false, 1},
		"and wrote what is not there": {[][]event.Body{check, seen(ran("./gen", 0, wrote("1", "bash", "b.go", "", "1")), true)}, false, 2},
		"formatted before it":         {[][]event.Body{ran("gofmt -w a.go && go test ./...", 0, wrote("1", "bash", "a.go", "y", "z"))}, true, 1},
		"something before a script":   {[][]event.Body{ran("gofmt -w a.go && make test", 0, wrote("1", "bash", "a.go", "y", "z"))}, false, 1},
		"a look before it":            {[][]event.Body{ran("cat a.go && go test ./...", 0, wrote("1", "bash", "a.go", "y", "z"))}, false, 1},
		"a folder before it":          {[][]event.Body{ran("cd x; go test ./...", 0, wrote("1", "bash", "a.go", "y", "z"))}, false, 1},
		"a check in a pipe":           {[][]event.Body{piped(ran("go test ./... | tail", 0))}, true, 1},
		"one that fails":              {[][]event.Body{piped(ran("go test ./... | tail", 1))}, false, 1},
		"one of an old log":           {[][]event.Body{ran("go test ./... | tail", 0)}, false, 1},
		"a command before a check":    {[][]event.Body{check, ran("./gen && go vet ./...", 0)}, false, 1},
		"a check after a look":        {[][]event.Body{check, ran("cd x && ls && go vet ./...", 0)}, true, 1},
		"rewrites what was changed":   {[][]event.Body{ran("go test ./...", 0, wrote("1", "bash", "a.go", "y", "z"))}, false, 1},
		"once more":                   {[][]event.Body{ran("go test ./...", 0, wrote("1", "bash", "a.go", "y", "z")), check}, true, 1},
		"a change after it":           {[][]event.Body{check, ran("./gen", 0, wrote("1", "bash", "b.go", "", "1"))}, false, 2},
		"a background command's":      {[][]event.Body{check, {wrote("0", "bash", "b.go", "", "1")}}, false, 2},
		"a person's own":              {[][]event.Body{check, {wrote("", "command", "mine", "", "1")}}, false, 1},
		"a person's on the same file": {[][]event.Body{check, {wrote("", "command", "a.go", "y", "x")}}, false, 0},
	} {
		var f Fold
		turn := [][]event.Body{{event.Prompted{Source: event.Person}, wrote("1", "edit", "a.go", "x", "y"), event.CallDone{ID: "1", Tool: "edit"}}}
		for _, bs := range append(turn, c.events...) {
			for _, b := range bs {
				f.Apply(event.Event{Body: event.Completed(b)})
			}
		}
		r := f.Report()
		if (r.Verified != nil && r.Verified.OK) != c.verified || len(r.Files) != c.files {
			t.Errorf("%s: verified %+v (%s), %d files", name, r.Verified, r.Unverified, len(r.Files))
		}
	}
}
