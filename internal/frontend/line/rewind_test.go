package line

import (
	"strings"
	"testing"

	"github.com/pawl-agent/pawl/internal/core/event"
	"github.com/pawl-agent/pawl/internal/core/llm/llmtest"
)

func writes(path, content string) []llmtest.Turn {
	return []llmtest.Turn{llmtest.Use("write", `{"path":"`+path+`","content":"`+content+`"}`), llmtest.Say("done")}
}

// SPEC 10.2: back to a prompt, conversation and files; the prompt comes back to
// be edited, and nothing of the old session is gone.
func TestRewind(t *testing.T) {
	m := llmtest.New(append(append(writes("a.txt", "one"), writes("b.txt", "two")...), llmtest.Say("again"))...)
	r := newTestConversation(t, m, keysOf("/mode yolo", "make a", "make b, please", "/rewind", "2", "b", "y", "make c", "/rewind 9", "/rewind 1 nothing", "/rewind 1 files", "n")...)
	_, seen := r.run()
	for _, want := range []string{
		"   1  ", "make a  (changed a.txt)", "make b, please  (changed b.txt)", "would undo: b.txt (removes it", "the prompt was:\n    make b, please",
		"session s2;", "do it, and take 1 prompt out of the conversation?", "left out: 1 prompt with what followed", "there is no prompt 9", "say what to restore", "would undo: a.txt", "nothing was changed",
	} {
		if !strings.Contains(seen, want) {
			t.Errorf("%q was not seen", want)
		}
	}
	if t.Failed() {
		t.Log(seen)
	}
	if r.file("a.txt") != "one" || !strings.HasPrefix(r.file("b.txt"), "error") {
		t.Errorf("a %q, b %q", r.file("a.txt"), r.file("b.txt"))
	}
	var prompts []string
	for _, p := range events[event.Prompted](r, "s2") {
		prompts = append(prompts, p.Text)
	}
	if strings.Join(prompts, "|") != "make a|make c" || len(events[event.Prompted](r, "s1")) != 2 || len(events[event.Undone](r, "s1")) != 1 {
		t.Errorf("%q", prompts)
	}
	last := m.Requests()[len(m.Requests())-1].Messages
	for _, msg := range last {
		if strings.Contains(msg.Text(), "make b") {
			t.Errorf("the model still knows: %+v", last)
		}
	}
}

// SPEC 11.2: what is loose is asked about by its name, and an interrupt at a
// question changes nothing.
func TestUndoAsks(t *testing.T) {
	m := llmtest.New(append(writes("a.txt", "one"), writes("b.txt", "two")...)...)
	r := newTestConversation(t, m, append(keysOf("/mode yolo", "make a", "make b"), interrupt(""), key{text: "/undo"}, interrupt(""), key{text: "/undo file a.txt"}, key{text: "maybe"}, key{text: "y"}, key{text: "/undo file nope"}, key{text: "/undo nonsense"})...)
	_, seen := r.run()
	if r.file("b.txt") != "two" || !strings.HasPrefix(r.file("a.txt"), "error") {
		t.Errorf("a %q, b %q\n%s", r.file("a.txt"), r.file("b.txt"), seen)
	}
	for _, want := range []string{"undone: a.txt (removed)", "there is nothing to undo", "unknown argument: use turn, file PATH"} {
		if !strings.Contains(seen, want) {
			t.Errorf("%q was not seen in\n%s", want, seen)
		}
	}
	safe(t, seen)
}

// An undo does not stick at a change that cannot be undone: it is named and passed over, and
// the turn before is reached.
//
// SPEC 11.2
func TestUndoPassesOver(t *testing.T) {
	m := llmtest.New(
		llmtest.Use("write", `{"path":"a.txt","content":"a\n"}`), llmtest.Say("a is written"),
		llmtest.Use("write", `{"path":"n.txt","content":"n\n"}`), llmtest.Say("n is written"),
	)
	r := newTestConversation(t, m, keysOf("make a", "make n", "!rm n.txt && mkdir n.txt", "/undo", "n", "/undo turn", "y", "y")...)
	r.mode = "yolo"
	_, seen := r.run()
	if n := strings.Count(seen, "cannot undo: n.txt"); n != 2 || strings.Count(seen, "skip it, and undo the change before it? [y]es, [n]o: ") != 2 {
		t.Errorf("it is not named:\n%s", seen)
	}
	if !strings.Contains(seen, "undone: a.txt (removed)") || strings.Count(seen, "nothing was changed") != 1 {
		t.Errorf("the turn before was not undone:\n%s", seen)
	}
}
