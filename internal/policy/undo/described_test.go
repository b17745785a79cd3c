package undo

import (
	"encoding/json"
	"testing"

	"github.com/pawl-agent/pawl/internal/core/event"
	"github.com/pawl-agent/pawl/internal/core/llm"
)

func said(text string) event.Body {
	return event.Replied{Reply: llm.Reply{Message: llm.Message{Parts: []llm.Part{{Kind: llm.Text, Text: text}}}}}
}

func asked(id, args string) event.Body {
	return event.CallAsked{ID: id, Tool: "edit", Args: json.RawMessage(args)}
}

func changed(call, path string) event.Body {
	return event.FileChanged{Call: call, Tool: "edit", Path: path, Before: "1", After: "2", Kept: true}
}

// SPEC 11.1: each change is journaled with its step and its description.
func TestDescribed(t *testing.T) {
	var f log
	apply := f.add
	expect := func(path string, step int, what string) {
		t.Helper()
		u, err := f.Select(Selector{Kind: ByFile, Path: path})
		if err != nil || len(u.Files) != 1 || u.Files[0].Step != step || u.Files[0].Description != what {
			t.Errorf("%s: %+v, %v; want step %d, %q", path, u.Files, err, step, what)
		}
		if got := u.Files[0].Decide(FileState{Hash: "2"}, nil); got.Step != step || got.Description != what {
			t.Errorf("%s: the plan has step %d, %q", path, got.Step, got.Description)
		}
	}
	apply(event.Prompted{Source: event.Person}, said("\nI will mend the parser.\nIt reads too far."),
		asked("1", `{"path":"a"}`), asked("2", `{"path":"b","description":"mend the test"}`), changed("1", "a"), changed("2", "b"))
	expect("a", 1, "I will mend the parser.")
	expect("b", 1, "mend the test")

	apply(said(""), asked("1", `{"path":"c"}`), asked("2", `{"path":"d","explanation":" why\nmore"}`), asked("3", `{"path":"e","description":["no","text"]}`),
		changed("1", "c"), changed("2", "d"), changed("3", "e"))
	expect("c", 2, "")
	expect("d", 2, "why")
	expect("e", 2, "")

	// Attempts of autofix are steps of the same turn; a change found later names no call.
	apply(event.Ended{}, event.Prompted{Source: event.Autofix}, said("again"), asked("1", `{}`), changed("1", "g"), changed("", "h"))
	expect("g", 3, "again")
	expect("h", 3, "")

	apply(event.Ended{}, event.Prompted{Source: event.Person}, said("next"), asked("1", `{}`), changed("1", "a"))
	expect("a", 1, "next")

	// An undo is no step of the model.
	apply(event.FileChanged{Tool: Tool, Path: "a", Before: "2", After: "1"}, event.Undone{Changes: []int64{f.seq}})
	u, err := f.Select(Selector{Kind: ByRedo})
	if err != nil || u.Files[0].Step != 0 || u.Files[0].Description != "" {
		t.Errorf("%+v, %v", u.Files, err)
	}
}
