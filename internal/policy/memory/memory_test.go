package memory

import (
	"fmt"
	"strings"
	"testing"

	"github.com/pawl-agent/pawl/internal/core/event"
	"github.com/pawl-agent/pawl/internal/core/llm"
	"github.com/pawl-agent/pawl/internal/core/tool"
)

func apply(f *Fold, bodies ...event.Body) {
	for i, b := range bodies {
		f.Apply(event.Event{Seq: int64(i + 1), Body: b})
	}
}

func said(text string) event.Replied {
	return event.Replied{Reply: llm.Reply{Message: llm.Message{Role: llm.Assistant, Parts: []llm.Part{llm.TextPart(text)}}}}
}

// SPEC 11.4: working memory is derived from the turn: kept while it goes wrong,
// gone when it went well or a person begins another task.
func TestWorking(t *testing.T) {
	var f Fold
	apply(&f, event.Prompted{Source: event.Person, Text: "fix it"}, event.Routed{Route: "edit"}, said("I look"),
		event.FileSeen{Spans: []tool.Span{{Path: "d", Dir: true}, {Path: "a.go", Hash: "1"}}},
		event.CallDone{Tool: "edit", Outcome: event.Failed, Result: llm.Result{Text: "no such text"}},
		event.FileChanged{Path: "b.go"}, event.Checked{Command: "go test", Exit: new(1), Output: "FAIL"},
		event.Prompted{Source: event.Autofix, Text: "again"}, said("hm"), event.CallDone{Outcome: event.Cancelled},
		event.Retried{Error: event.Fault{Message: "529"}})
	w := f.Working()
	if w.Node != "edit" || w.Step != 2 || w.File != "b.go" || w.Retries != 2 || w.LastError != "request: 529" || len(w.Feedback) != 3 {
		t.Errorf("%+v", w)
	}
	for i := range 30 {
		apply(&f, event.CallDone{Tool: "bash", Outcome: event.Failed, Result: llm.Result{Text: fmt.Sprint("e", i, strings.Repeat(" x", 9999))}})
	}
	w = f.Working()
	if len(w.Feedback) != 20 || !strings.HasPrefix(w.Feedback[19], "bash: e29") || len(w.Feedback[19]) > 400 {
		t.Errorf("%d: %.40q", len(w.Feedback), w.Feedback[len(w.Feedback)-1])
	}
	apply(&f, event.Ended{End: event.EndProvider, Error: &event.Fault{Message: "gone"}})
	if f.Working().LastError != "gone" {
		t.Error("what went wrong is forgotten")
	}
	apply(&f, event.Prompted{Source: event.Person, Text: "x"}, event.CallDone{Tool: "t", Outcome: event.Failed}, event.Ended{End: event.EndDone})
	if w := f.Working(); w.LastError != "" || w.Feedback != nil || w.Step != 0 {
		t.Errorf("left of a success: %+v", w)
	}
}

// SPEC 11.4: session memory has the files that were read with their newest
// content, and the newest prompts with their answers, within bounds.
func TestSession(t *testing.T) {
	var f Fold
	for i := range 1200 {
		apply(&f, event.FileSeen{Spans: []tool.Span{{Path: fmt.Sprintf("f%d", i%700), Hash: tool.Hash(fmt.Sprint(i))}}})
	}
	files := f.Session().Files
	if len(files) > maxFiles {
		t.Errorf("%d files", len(files))
	}
	seen := map[string]bool{}
	for _, r := range files {
		if seen[r.Path] {
			t.Errorf("%s twice", r.Path)
		}
		seen[r.Path] = true
	}
	if last := files[len(files)-1]; last.Path != "f499" || last.Hash != "1199" {
		t.Errorf("%+v", last)
	}
	for i := range 15 {
		apply(&f, event.Prompted{Source: event.Person, Text: fmt.Sprint("q", i)}, said("first"), event.Recalled{Text: fmt.Sprint("a", i)}, said(""))
	}
	talks := f.Session().Exchanges
	if len(talks) != maxTalk || talks[9] != (Exchange{"q14", "a14"}) {
		t.Errorf("%+v", talks)
	}
}
