package session_test

import (
	"bytes"
	"context"
	"encoding/base64"
	"encoding/json"
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/pawl-agent/pawl/internal/adapter/provider/openaichat"
	"github.com/pawl-agent/pawl/internal/adapter/tools"
	"github.com/pawl-agent/pawl/internal/core/event"
	"github.com/pawl-agent/pawl/internal/core/llm"
	"github.com/pawl-agent/pawl/internal/core/llm/llmtest"
	"github.com/pawl-agent/pawl/internal/core/must"
	"github.com/pawl-agent/pawl/internal/core/tool"
	"github.com/pawl-agent/pawl/internal/engine/session"
	"github.com/pawl-agent/pawl/internal/policy/budget"
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
	es := r.Run("what is the newest go?", nil)
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
type service struct {
	asked []string
	fails bool
}

func (s *service) Host() string { return "search.test" }

func (s *service) Search(_ context.Context, q string) (tool.SearchResult, error) {
	s.asked = append(s.asked, q)
	if s.fails {
		return tool.SearchResult{}, errors.New("no answer")
	}
	return tool.SearchResult{Hits: []tool.Hit{{Title: "T", URL: "https://h/"}}}, nil
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
		r.Run("go on", nil)
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
	must.Done(t)(r.Submit(t.Context(), session.Prompt{Source: event.Person, Text: "look", Images: []llm.Media{{Type: "image/png", Data: []byte("PIXELS")}}}))
	r.Run("and again", nil)
	told := 0
	for _, e := range stored(t, r.Store, "s1") {
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

// SPEC 17.2, 9.4: a document reaches a model that takes it, with the same bytes after the
// session is opened again; another model is told of it in words, and refused a new one by name.
func TestDocuments(t *testing.T) {
	m := llmtest.New()
	m.InfoValue.PDF, m.CodecValue = true, openaichat.New(openaichat.Dialect{}, nil)
	r := newRig(t, "yolo", m, func(c *session.Config) { c.Model = llmtest.Scripted{Model: m} })
	pdf := llm.Media{Type: "application/pdf", Data: []byte("%PDF-1.7 the pages")}
	must.Done(t)(r.Submit(t.Context(), session.Prompt{Source: event.Person, Text: "look", Images: []llm.Media{pdf}}))
	r.Run("and again", nil)
	_ = r.Close()
	r.Open()
	r.Run("and after a pause", nil)
	sent := base64.StdEncoding.EncodeToString(pdf.Data)
	var before []byte
	for i, q := range m.Requests() {
		body := slices.Concat(q.Body[0], q.Body[1])
		if !bytes.HasPrefix(body, before) || bytes.Count(body, []byte(sent)) != 1 {
			t.Errorf("request %d: %s", i, body)
		}
		before = body
	}
	long := llm.Media{Type: "application/pdf", Data: []byte("%PDF-1.7" + strings.Repeat("<</Type/Page>>", 99))}
	if _, err := r.Submit(t.Context(), session.Prompt{Source: event.Person, Text: "look", Images: []llm.Media{long, long}}); err == nil || !strings.Contains(err.Error(), "the prompt has 2 PDFs, about 396000 tokens: the window of scripted/script has 200000") {
		t.Error(err)
	}
	blind := llmtest.New()
	blind.InfoValue.Model = "blind"
	_ = r.Close()
	r.Cfg.Model = blind
	r.Open()
	_, err := r.Submit(t.Context(), session.Prompt{Source: event.Person, Text: "look", Images: []llm.Media{pdf}})
	if err == nil || !strings.Contains(err.Error(), "scripted/blind takes no PDFs") || !strings.Contains(err.Error(), `models."scripted/blind".pdf`) || len(blind.Requests()) != 0 {
		t.Errorf("%v, %d requests", err, len(blind.Requests()))
	}
	r.Run("go on", nil)
	raw := must.Get(json.Marshal(blind.Requests()[0].Messages))(t)
	if strings.Contains(string(raw), sent) || !strings.Contains(string(raw), "a PDF (application/pdf, 18 bytes) is left out here") {
		t.Errorf("%s", raw)
	}
}

// SPEC 17.7, 8.1: what a search service charges is reserved before it is asked and
// counted after, as a guess where it failed; a budget holds.
func TestPaidSearch(t *testing.T) {
	for _, c := range []struct {
		name  string
		limit float64
		fails bool
		asked int
		usd   float64
	}{
		{"charged", 1, false, 2, 0.02}, {"failed", 1, true, 2, 0.02}, {"over the budget", 0.015, false, 1, 0.01}, {"not even once", 0.005, false, 0, 0},
	} {
		t.Run(c.name, func(t *testing.T) {
			m := llmtest.New(llmtest.Use("web_search", `{"query":"x"}`), llmtest.Use("web_search", `{"query":"y"}`), llmtest.Say("ok"))
			m.InfoValue.Price = &llm.Price{}
			s := &service{fails: c.fails}
			r := newRig(t, "yolo", m, func(cfg *session.Config) {
				cfg.Tools = append(cfg.Tools, tools.WebSearch())
				cfg.Search, cfg.SearchUSD, cfg.Limits = s, 0.01, budget.Limits{USD: c.limit}
			})
			usd, open, guess := 0.0, "", false
			for _, e := range r.Run("go on", nil) {
				switch b := e.Body.(type) {
				case event.SideRequest:
					if open != "" || len(s.asked) > c.asked || b.Reserved == nil || *b.Reserved != 0.01 || b.Model != "search.test" {
						t.Errorf("%+v", b)
					}
					open = b.By
				case event.Charged:
					if b.By != open || b.Usage.Searches != 1 {
						t.Errorf("%+v", b)
					}
					usd, open, guess = usd+*b.USD, "", b.Guess
				}
			}
			all, _ := r.View().Spent()
			if len(s.asked) != c.asked || usd != c.usd || all.USD+all.Guessed != c.usd || open != "" || guess != c.fails {
				t.Errorf("asked %q, charged %v, counted %v", s.asked, usd, all.USD)
			}
		})
	}
}
