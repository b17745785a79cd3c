package session_test

import (
	"context"
	"encoding/json"
	"strings"
	"testing"

	"github.com/pawl-agent/pawl/internal/adapter/tools"
	"github.com/pawl-agent/pawl/internal/core/event"
	"github.com/pawl-agent/pawl/internal/core/llm"
	"github.com/pawl-agent/pawl/internal/core/llm/llmtest"
	"github.com/pawl-agent/pawl/internal/core/tool"
	"github.com/pawl-agent/pawl/internal/engine/session"
)

// SPEC 17.7: the provider's search is a request of its own, whose cost is recorded; the
// conversation has its result as that of a call, and pages are quoted.
func TestProviderSearches(t *testing.T) {
	found := llmtest.Turn{Text: "It is 1.26.", Usage: llm.Usage{Known: true, Input: 1000, Output: 100, Searches: 2}}
	m := llmtest.New(llmtest.Use("web_search", `{"query":"newest go"}`), found, llmtest.Say("1.26"))
	m.InfoValue.Search = true
	price := llm.Price{Input: 1, Output: 10, Search: 0.01}
	m.InfoValue.Price = &price
	r := newRig(t, "yolo", m, func(c *session.Config) { c.Tools = append(c.Tools, tools.WebSearch()) })
	es := r.run("what is the newest go?", nil)
	asked := m.Requests()
	if len(asked) != 3 {
		t.Fatalf("%d requests", len(asked))
	}
	if h := asked[1].Head; len(h.Tools) != 1 || h.Tools[0].Server != llm.ServerSearch || len(asked[1].Messages) != 1 || asked[1].Messages[0].Text() != "newest go" {
		t.Errorf("%+v", asked[1])
	}
	var done event.CallDone
	var charged event.Charged
	for _, e := range es {
		switch b := e.Body.(type) {
		case event.CallDone:
			done = b
		case event.Charged:
			charged = b
		}
	}
	if !strings.Contains(done.Result.Text, "> It is 1.26.") {
		t.Errorf("%q", done.Result.Text)
	}
	if !strings.HasPrefix(charged.By, "web_search") || charged.Usage.Searches != 2 || charged.USD == nil || *charged.USD < 0.0219 || *charged.USD > 0.0221 {
		t.Errorf("%+v", charged)
	}
}

// service is a configured search service.
type service struct{ asked []string }

func (s *service) Host() string { return "search.test" }

func (s *service) Search(_ context.Context, q string) (tool.Found, error) {
	s.asked = append(s.asked, q)
	return tool.Found{Hits: []tool.Hit{{Title: "T", URL: "https://h/"}}}, nil
}

// SPEC 17.7: a configured service is asked instead; where nobody searches, the call says
// so and nothing is sent.
func TestConfiguredSearch(t *testing.T) {
	for _, configured := range []bool{true, false} {
		m := llmtest.New(llmtest.Use("web_search", `{"query":"x"}`), llmtest.Say("ok"))
		s := new(service)
		r := newRig(t, "yolo", m, func(c *session.Config) {
			c.Tools = append(c.Tools, tools.WebSearch())
			if configured {
				m.InfoValue.Search = true
				c.Search = s
			}
		})
		r.run("go on", nil)
		if (len(s.asked) == 1) != configured || len(m.Requests()) != 2 {
			t.Errorf("configured %v: asked %q, %d requests", configured, s.asked, len(m.Requests()))
		}
	}
}

// SPEC 17.7: a person is told once that their model sees no images, and the model is told
// of them in words.
func TestImagesAreSaidOnce(t *testing.T) {
	m := llmtest.New(llmtest.Use("todo", `{"items":[]}`), llmtest.Say("a"), llmtest.Say("b"))
	r := newRig(t, "yolo", m)
	if _, err := r.Submit(t.Context(), session.Prompt{Source: event.Person, Text: "look", Images: []llm.Media{{Type: "image/png", Data: []byte("PIXELS")}}}); err != nil {
		t.Fatal(err)
	}
	r.run("and again", nil)
	told := 0
	for _, e := range stored(t, r.store, "s1") {
		if w, ok := e.Body.(event.Warned); ok && w.What == "images" {
			told++
			if !strings.Contains(w.Text, "scripted/script") {
				t.Errorf("%q", w.Text)
			}
		}
	}
	if told != 1 {
		t.Errorf("told %d times", told)
	}
	for _, q := range m.Requests() {
		raw, err := json.Marshal(q.Messages)
		if err != nil || strings.Contains(string(raw), "UElYRUxT") || !strings.Contains(string(raw), "left out here") {
			t.Errorf("%s %v", raw, err)
		}
	}
}
