package session_test

import (
	"encoding/json"
	"fmt"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/pawl-agent/pawl/internal/adapter/provider/catalog"
	"github.com/pawl-agent/pawl/internal/adapter/store/memory"
	"github.com/pawl-agent/pawl/internal/adapter/tools"
	"github.com/pawl-agent/pawl/internal/core/event"
	"github.com/pawl-agent/pawl/internal/core/llm"
	"github.com/pawl-agent/pawl/internal/core/llm/llmtest"
	"github.com/pawl-agent/pawl/internal/core/must"
	"github.com/pawl-agent/pawl/internal/core/tool"
	"github.com/pawl-agent/pawl/internal/engine/session"
)

// boundModel opens a model whose server binds thinking, with a window of 24,000 tokens.
func boundModel(t *testing.T, url, ref string) llm.Model {
	t.Helper()
	env := map[string]string{"ANTHROPIC_API_KEY": "k", "ANTHROPIC_BASE_URL": url}
	c := must.Get(catalog.Resolve(catalog.Want{Flag: ref, Env: func(name string) string { return env[name] }, Config: catalog.Config{
		Models: map[string]catalog.Override{ref: {Window: 24_000}},
	}}))(t)
	m := must.Get(c.Open(nil, nil))(t)
	return m
}

// thinker answers as a model that thinks before each of a prompt's calls.
func thinker(calls int) func(n int, body []byte) llmtest.Turn {
	n := 0
	return func(_ int, body []byte) llmtest.Turn {
		if !strings.Contains(string(body), `"tools":[`) {
			return llmtest.Turn{Reasoning: "what matters?", Text: "Done: looked at pages, one by one from the first to the last, and found no door."}
		}
		if n++; n%calls == 0 {
			return llmtest.Turn{Reasoning: "that is all", Text: "all read"}
		}
		x := llmtest.Use("look", fmt.Sprintf(`{"n":%d}`, 100+n))
		x.Reasoning = fmt.Sprintf("page %d is next", n)
		return x
	}
}

// SPEC 20.1, 9.4, 9.6, 10.4: where thinking is bound to what precedes it, a session lives
// through compactions, other tools when it is taken up again, an older reading replaced,
// and another model; between these the thinking goes back, and none is carried over one.
func TestBoundThinking(t *testing.T) {
	for _, ref := range []string{"anthropic/claude-sonnet-5-5", "anthropic/claude-fable-5-1", "anthropic/claude-haiku-5-5"} {
		t.Run(ref, func(t *testing.T) {
			srv := &llmtest.Server{Reply: thinker(40), Binding: &llmtest.Binding{}}
			web := httptest.NewServer(srv)
			defer web.Close()
			c := &clock{now: time.Unix(1_700_000_000, 0)}
			r := newRig(t, "ask", llmtest.New(), func(cfg *session.Config) {
				cfg.Store, cfg.Now = memory.New(c.Now), c.Now
				cfg.Tools = tool.Set{looker(page), tools.Read()}
				cfg.Model = boundModel(t, web.URL, ref)
				cfg.OpenModel = func(ref, _ string) (llm.Model, error) { return boundModel(t, web.URL, ref), nil }
			})
			log := r.Run("read the old house", nil)
			if cs := find[event.Compacted](log); len(cs) < 3 || cs[0].By != event.ByModel {
				t.Errorf("%d compactions", len(cs))
			}
			_ = r.Close()
			r.Cfg.Tools = tool.Set{looker(page)} // as after an update, or agents.depth: 0
			r.Open()
			log = append(log, r.Run("and the garden", nil)...)
			must.Done(t)(r.do(session.SetModel{Ref: "anthropic/claude-opus-5-5"}))
			log = append(log, r.Run("and the cellar", nil)...)
			for _, e := range find[event.Ended](log) {
				if e.End != event.EndDone {
					t.Errorf("%+v", e.Error)
				}
			}
			if kept, dropped, refused := srv.Binding.Counts(); kept < 100 || dropped > 0 || refused > 0 {
				t.Errorf("%d blocks came back, %d were dropped, %d requests refused", kept, dropped, refused)
			}
			prefixes(t, srv.Bodies(), len(find[event.Rebased](readLog(r.Cfg.Store, "s1")))+len(find[event.Compacted](readLog(r.Cfg.Store, "s1"))))
		})
	}
}

// prefixes checks that each request with tools extends the one before, except as often as
// there were rebases.
func prefixes(t *testing.T, bodies [][]byte, rebases int) {
	t.Helper()
	cut, before := 0, ""
	for _, b := range bodies {
		if !strings.Contains(string(b), `"tools":[`) {
			continue
		}
		head, _, _ := strings.Cut(strings.ReplaceAll(string(b), `,"cache_control":{"type":"ephemeral"}`, ""), `],"max_tokens"`)
		if !strings.HasPrefix(head, before) {
			cut++
		}
		before = head
	}
	if cut == 0 || cut > rebases {
		t.Errorf("%d of %d requests do not extend the one before, and there were %d rebases", cut, len(bodies), rebases)
	}
}

// SPEC 20.1: a conversation that was changed all the same (by an older pawl, by a
// gateway) is not refused: each request asks the server to drop such thinking.
func TestDropBlockIsAsked(t *testing.T) {
	srv := &llmtest.Server{Reply: thinker(3), Binding: &llmtest.Binding{}}
	web := httptest.NewServer(srv)
	defer web.Close()
	r := newRig(t, "ask", llmtest.New(), func(cfg *session.Config) {
		cfg.Tools, cfg.Model = tool.Set{looker(page)}, boundModel(t, web.URL, "anthropic/claude-opus-5-5")
	})
	foreign := llm.Part{Kind: llm.Reasoning, Text: "x", Wire: "anthropic-messages", Raw: json.RawMessage(`{"type":"thinking","thinking":"x","signature":"of something else"}`)}
	for _, b := range []event.Body{
		event.Prompted{Text: "hi"},
		event.Replied{Reply: llm.Reply{Message: llm.Message{Role: llm.Assistant, Parts: []llm.Part{foreign, llm.TextPart("hello")}}, Stop: llm.StopEnd}},
		event.Ended{End: event.EndDone},
	} {
		r.reopen(b)
	}
	if end := find[event.Ended](r.Run("go on", nil)); len(end) != 1 || end[0].End != event.EndDone {
		t.Fatalf("%+v", end)
	}
	if _, dropped, refused := srv.Binding.Counts(); dropped == 0 || refused > 0 {
		t.Errorf("%d dropped, %d refused", dropped, refused)
	}
}
