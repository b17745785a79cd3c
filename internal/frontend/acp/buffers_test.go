package acp

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/pawl-agent/pawl/internal/core/llm/llmtest"
	"github.com/pawl-agent/pawl/internal/core/must"
	"github.com/pawl-agent/pawl/internal/frontend/chat"
)

// file answers a request about a file, as an editor that saves what it is given.
func (e *editor) file(m object) {
	p, _ := m["params"].(object)
	path, _ := p["path"].(string)
	if path == "" || e.silent {
		return
	}
	switch m["method"] {
	case "fs/read_text_file":
		text, open := e.texts[path]
		if !open {
			b, _ := os.ReadFile(path)
			text = strings.ReplaceAll(string(b), "\r\n", "\n") // as editors do
		}
		e.write(object{"id": m["id"], "result": object{"content": text}})
	case "fs/write_text_file":
		delete(e.texts, path)
		if err := os.WriteFile(path, []byte(p["content"].(string)), 0o600); err != nil {
			e.t.Error(err)
		}
		e.write(object{"id": m["id"], "result": nil})
	}
}

func (e *editor) holds(name, text string) {
	e.t.Helper()
	if got, _ := os.ReadFile(filepath.Join(e.dir, name)); string(got) != text {
		e.t.Errorf("%s is %q, not %q\n%s", name, got, text, e.log())
	}
}

// SPEC 17.2: a read sees what the person sees in the editor; an edit keeps what they typed,
// and the editor is told of it; undo gives back what they had.
func TestUnsavedText(t *testing.T) {
	for name, c := range map[string]struct {
		offers object
		disk   string
		typed  string // in the editor, unsaved
		then   string // what the person types while they are asked
		is     string // what is on the disk at the end
		sees   string // what the model reads
		saves  int    // how often the editor is told to save
		undone string
	}{
		"typed":               {disk: "one\n", typed: "one\ntwo\n", is: "ONE\ntwo\n", sees: "two", saves: 2, undone: "one\ntwo\n"},
		"nothing typed":       {disk: "one\n", is: "ONE\n", sees: "one", saves: 1, undone: "one\n"},
		"other line ends":     {disk: "one\r\n", typed: "one\n", is: "ONE\r\n", sees: "one", saves: 1, undone: "one\r\n"},
		"typed meanwhile":     {disk: "one\n", then: "one\nthree\n", is: "ONE\nthree\n", sees: "one", saves: 2, undone: "one\nthree\n"},
		"only reads":          {offers: object{"readTextFile": true}, disk: "one\n", typed: "one\ntwo\n", is: "one\n", sees: "two", undone: "one\n"},
		"no answer":           {offers: object{"readTextFile": true, "writeTextFile": true, "silent": true}, disk: "one\n", typed: "x\n", is: "ONE\n", sees: "one", undone: "one\n"},
		"does not offer them": {offers: object{}, disk: "one\n", typed: "x\n", is: "ONE\n", sees: "one", undone: "one\n"},
	} {
		t.Run(name, func(t *testing.T) {
			offers := c.offers
			if offers == nil {
				offers = object{"readTextFile": true, "writeTextFile": true}
			}
			e := editWith(t, 0, offers, llmtest.Use("read", `{"path":"a.txt"}`), llmtest.Use("edit", `{"path":"a.txt","old":"one","new":"ONE"}`), llmtest.Say("done"))
			e.silent = offers["silent"] != nil
			file := filepath.Join(e.dir, "a.txt")
			must.Write(t, file, c.disk)
			e.texts = map[string]string{}
			if c.typed != "" {
				e.texts[file] = c.typed
			}
			e.begin(1, offers)
			sent := e.say("edit it")
			for {
				m := e.next("the question or the end", func(m object) bool {
					return m["method"] == "session/request_permission" || m["method"] == nil && m["id"] == float64(sent)
				})
				if m["method"] == nil {
					break
				}
				if c.then != "" {
					e.texts[file] = c.then
				}
				e.choose(m["id"], chat.Yes)
			}
			e.holds("a.txt", c.is)
			if text := e.log(); !strings.Contains(text, c.sees) {
				t.Errorf("not read: %s", text)
			}
			if n := strings.Count(e.log(), "fs/write_text_file"); n != c.saves {
				t.Errorf("saved %d times", n)
			}
			e.undo()
			e.holds("a.txt", c.undone)
		})
	}
}

func (e *editor) undo() {
	e.t.Helper()
	sent := e.say("/undo")
	for {
		m := e.next("the undo", func(m object) bool {
			return m["method"] == "session/request_permission" || m["method"] == "elicitation/create" || m["method"] == nil && m["id"] == float64(sent)
		})
		switch m["method"] {
		case nil:
			return
		case "elicitation/create":
			e.write(object{"id": m["id"], "result": object{"action": "accept", "content": object{"answer": "y"}}})
		default:
			first := m["params"].(object)["options"].([]any)[0].(object)
			e.choose(m["id"], first["optionId"].(string))
		}
	}
}
