package undo

import (
	"testing"

	"github.com/pawl-agent/pawl/internal/core/event"
	"github.com/pawl-agent/pawl/internal/core/tool"
)

func change(path string, before, after tool.Hash) event.Body {
	return event.FileChanged{Tool: "edit", Path: path, Before: before, After: after, Kept: true}
}

// SPEC 11.2: a change is undone once; files back to what they were are none.
func TestLast(t *testing.T) {
	var f log
	apply := f.add
	if _, ok := f.Last(); ok {
		t.Fatal("an empty session has something to undo")
	}
	apply(event.Prompted{Source: event.Person}, change("a", "1", "2"), change("a", "2", "3"), change("b", "", "x"), change("c", "1", "2"), change("c", "2", "1"))
	apply(event.Prompted{Source: event.Person}) // 7: changes nothing
	last, ok := f.Last()
	if !ok || last.Prompt != 1 || len(last.Files) != 2 {
		t.Fatalf("%+v %v", last, ok)
	}
	if last.Files[0] != (Restore{Path: "a", Now: "3", Before: "1", Kept: true}) || last.Files[1].Before != "" {
		t.Errorf("%+v", last.Files)
	}
	apply(event.Prompted{Source: event.Person}, change("d", "1", "2"), event.Prompted{Source: event.Autofix}, change("d", "2", "3"))
	if last, _ = f.Last(); last.Prompt != 8 || last.Files[0].Now != "3" {
		t.Errorf("autofix's change is not the person's turn's: %+v", last)
	}
	apply(event.FileChanged{Tool: Tool, Path: "d", Before: "3", After: "1"}, event.Undone{Prompt: 8})
	if last, _ = f.Last(); last.Prompt != 1 {
		t.Errorf("after an undo the one before is next: %+v", last)
	}
}
