package structured

import (
	"strings"
	"testing"

	"github.com/pawl-agent/pawl/internal/core/llm/llmtest"
	"github.com/pawl-agent/pawl/internal/core/must"
	"github.com/pawl-agent/pawl/internal/engine/session"
	"github.com/pawl-agent/pawl/internal/engine/session/sessiontest"
)

const schema = `{"type":"object","properties":{"n":{"type":"integer","minimum":1}},"required":["n"],"additionalProperties":false}`

func TestRead(t *testing.T) {
	s := must.Get(New([]byte(schema)))(t)
	for text, want := range map[string]string{
		`{"n":3}`: `{"n":3}`, " {\n \"n\": 3\n}\n": `{"n":3}`, "```json\n{\"n\":3}\n```": `{"n":3}`, "```\n{\"n\":3}```": `{"n":3}`,
		`{"n":12345678901234567890}`: `{"n":12345678901234567890}`,
		``:                           "", `3`: "", `{"n":0}`: "", `{"n":"3"}`: "", `{}`: "", `{"n":1,"m":2}`: "", `{"n":1.5}`: "", `null`: "",
		`{"n":3} and more`: "", `{"n":3}{"n":4}`: "", `Here it is: {"n":3}`: "", "```json\n{\"n\":3}\n```\nDone.": "", "```json\n{\"n\":3}\n```\n```json\n{\"n\":4}\n```": "",
		`{"n":3`: "", "```": "", "{\"n\":\x003}": "",
	} {
		got, err := s.read(text)
		if string(got) != want || (err == nil) != (want != "") {
			t.Errorf("%q: %s, %v", text, got, err)
		}
	}
}

func TestBadSchemas(t *testing.T) {
	for _, bad := range []string{``, `[]`, `"x"`, `{"type":`, `{"type":12}`, `{"$ref":"https://example.com/x.json"}`, `{"$ref":"#/$defs/none"}`, `{"pattern":"("}`} {
		if s, err := New([]byte(bad)); err == nil {
			t.Errorf("%s is taken: %v", bad, s)
		}
	}
}

// SPEC 17.6: an answer that does not fit is asked for again, at most twice.
func TestAskedAgain(t *testing.T) {
	for _, c := range []struct {
		name     string
		says     []string
		value    string
		requests int
	}{
		{"at once", []string{`{"n":1}`}, `{"n":1}`, 1},
		{"the second time", []string{"one", `{"n":1}`}, `{"n":1}`, 2},
		{"the third time", []string{"one", `{"n":0}`, `{"n":1}`}, `{"n":1}`, 3},
		{"never", []string{"one", "two", "three", `{"n":1}`}, ``, 3},
	} {
		t.Run(c.name, func(t *testing.T) {
			var turns []llmtest.Turn
			for _, text := range c.says {
				turns = append(turns, llmtest.Say(text))
			}
			model := llmtest.New(turns...)
			s := sessiontest.Open(t, sessiontest.Config(t, t.TempDir(), model, nil))
			form := must.Get(New([]byte(schema)))(t)
			must.Done(t)(s.RunPrompt(t.Context(), session.Prompt{Text: "count", Answer: form}, session.Observer{}))
			value, why := form.Value()
			if string(value) != c.value || (why == "") != (c.value != "") || len(model.Requests()) != c.requests {
				t.Errorf("%s, %q, %d requests", value, why, len(model.Requests()))
			}
			if c.requests > 1 {
				last := model.Requests()[1].Messages
				if text := last[len(last)-1].Text(); !strings.Contains(text, "not JSON") || !strings.Contains(text, schema) {
					t.Errorf("asked again with %q", text)
				}
			}
		})
	}
}
