package session_test

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"iter"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/pawl-agent/pawl/internal/adapter/provider"
	"github.com/pawl-agent/pawl/internal/adapter/provider/wiretest"
	"github.com/pawl-agent/pawl/internal/adapter/store/memory"
	"github.com/pawl-agent/pawl/internal/core/event"
	"github.com/pawl-agent/pawl/internal/core/llm"
	"github.com/pawl-agent/pawl/internal/core/must"
	"github.com/pawl-agent/pawl/internal/core/tool"
	"github.com/pawl-agent/pawl/internal/engine/session"
	"github.com/pawl-agent/pawl/internal/engine/session/sessiontest"
	"github.com/pawl-agent/pawl/internal/engine/turn"
	"github.com/pawl-agent/pawl/internal/policy/secrets"
)

// This file drives the whole loop with recorded sessions of real providers:
// real client, real session, tools that answer what they answered then.

// chains returns every recorded session whose steps follow one another, by name.
func chains(t *testing.T) map[string][]wiretest.Case {
	t.Helper()
	dirs, err := filepath.Glob("../../adapter/provider/wiretest/testdata/*")
	if err != nil || len(dirs) == 0 {
		t.Fatalf("no fixtures: %v", err)
	}
	recorded := must.Get(wiretest.Dir())(t)
	if recorded != "" {
		dirs = append(dirs, recorded)
	}
	out := map[string][]wiretest.Case{}
	for _, dir := range dirs {
		cases := must.Get(wiretest.Index(dir))(t)
		for _, c := range cases {
			if c.Session == nil || c.Session.Step != 1 {
				continue
			}
			same := slices.DeleteFunc(slices.Clone(cases), func(o wiretest.Case) bool { return o.API != c.API })
			if chain := wiretest.Chain(same, c.Session.Name); len(chain) > 1 {
				out[filepath.Base(dir)+"/"+c.API+"/"+c.Session.Name] = chain
			}
		}
	}
	return out
}

// watched is a client whose requests are kept.
type watched struct {
	*provider.Client
	mu   sync.Mutex
	sent []*llm.Request
}

func (w *watched) Stream(ctx context.Context, r *llm.Request) iter.Seq2[llm.Delta, error] {
	w.mu.Lock()
	w.sent = append(w.sent, r)
	w.mu.Unlock()
	return w.Client.Stream(ctx, r)
}

func (w *watched) requests() []*llm.Request {
	w.mu.Lock()
	defer w.mu.Unlock()
	return slices.Clone(w.sent)
}

var marker = regexp.MustCompile(`,"cache_control":\{"type":"ephemeral"[^}]*\}`)

// plain is a request without cache markers and without its tail.
func plain(r *llm.Request) []byte {
	return marker.ReplaceAll(slices.Concat(r.Body[0], r.Body[1]), nil)
}

// SPEC 4.8, 5.1, 9.4, 10.4.
func TestRecordedSessions(t *testing.T) {
	t.Parallel()
	n := 0
	for name, chain := range chains(t) {
		n++
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			replay(t, chain)
		})
	}
	t.Logf("%d sessions", n)
}

func replay(t *testing.T, chain []wiretest.Case) {
	server := wiretest.Serve(t, chain...)
	model := &watched{Client: server.Client(t, chain[0])}
	st := memory.New(time.Now)
	cfg := session.Config{
		Store: st, ID: "w", Dir: t.TempDir(), Frontend: "test", Version: "test", System: "You are a test.", Model: model,
		Tools: recordedTools(t, chain), Permission: policy(t, "yolo", t.TempDir()), Locks: turn.NewLocks(8),
		Mask: secrets.New(), SpillDir: t.TempDir(), Now: time.Now,
		Sleep: func(context.Context, time.Duration) error { return nil }, Jitter: func() float64 { return 0 },
		NewID: func() string { return "q" },
	}
	r := over(t, cfg)
	r.Run("go", nil)
	for len(server.Asked()) < len(chain) {
		before := len(server.Asked())
		r.Run("go on", nil) // the recorded person said something here
		if len(server.Asked()) == before {
			t.Fatalf("a prompt led to no request: %d of %d", before, len(chain))
		}
	}
	all := stored(t, st, "w")
	checkRecorded(t, chain, all)
	if want := len(chain) + more(chain[len(chain)-1], all); len(server.Asked()) != want {
		t.Errorf("%d requests, want %d", len(server.Asked()), want)
	}
	checkAsked(t, model.requests(), server.Asked())

	// The same session from its log goes on with the same bytes.
	r.Run("one more", nil)
	live := model.requests()
	last := live[len(live)-1]
	_ = r.Close()
	again := reopened(t, server, chain[0], cfg, all, "one more")
	if a, b := bytes.Join(last.Body, nil), bytes.Join(again.Body, nil); !bytes.Equal(a, b) {
		t.Errorf("reopened, the next request is another:\nlive     %s\nreopened %s", a, b)
	}
	checkCuts(t, server, chain[0], cfg, all, live)
}

// reopened cuts a log off after these events, opens the session and returns the
// request that a prompt leads to.
func reopened(t *testing.T, server *wiretest.Server, c wiretest.Case, cfg session.Config, events []event.Event, prompt string) *llm.Request {
	t.Helper()
	model := &watched{Client: server.Client(t, c)}
	cfg.Store, cfg.Model, cfg.Permission = copied(t, events), model, policy(t, "yolo", cfg.Dir)
	r := over(t, cfg)
	r.Run(prompt, nil)
	checkFold(t, stored(t, cfg.Store, cfg.ID))
	must.Do(t, r.Close())
	return model.requests()[0]
}

// checkCuts cuts the log at every event: the next request begins with every
// request that was made before the cut.
func checkCuts(t *testing.T, server *wiretest.Server, c wiretest.Case, cfg session.Config, all []event.Event, live []*llm.Request) {
	t.Helper()
	asked := 0
	for n, e := range all {
		if _, ok := e.Body.(event.Requested); ok {
			asked++
		}
		if asked == 0 || whole(all, n+1) != n+1 {
			continue
		}
		next := reopened(t, server, c, cfg, all[:n+1], "again")
		if was := plain(live[asked-1]); !bytes.HasPrefix(plain(next), was) {
			t.Errorf("cut behind event %d (%s), the next request does not begin with the one before:\n%s\n%s", n+1, e.Body.Kind(), was, plain(next))
		}
		pairs(t, n, next.Messages)
	}
}

func stored(t must.T, st event.Store, id string) []event.Event { return sessiontest.Stored(t, st, id) }

// copied is a store with only these events.
func copied(t *testing.T, events []event.Event) event.Store {
	t.Helper()
	st := memory.New(time.Now)
	for i, e := range events {
		must.Done(t)(st.Append(t.Context(), e.Session, int64(i), event.Draft{Cause: e.Cause, Body: e.Body}))
	}
	return st
}

// checkAsked checks that each request went out as it was built and begins with
// the one before it (SPEC 9.4).
func checkAsked(t *testing.T, sent []*llm.Request, asked [][]byte) {
	t.Helper()
	for i, r := range sent {
		// The client may change the tail.
		if i < len(asked) && (!json.Valid(asked[i]) || !bytes.HasPrefix(asked[i], slices.Concat(r.Body[0], r.Body[1]))) {
			t.Errorf("request %d went out as\n%s\nand was built as\n%s", i+1, asked[i], bytes.Join(r.Body, nil))
		}
		if i > 0 && !bytes.HasPrefix(plain(r), plain(sent[i-1])) {
			t.Errorf("request %d does not begin with the one before it:\n%s\n%s", i+1, plain(sent[i-1]), plain(r))
		}
		pairs(t, i, r.Messages)
	}
}

// more is 1 where the last recorded reply wants another request.
func more(last wiretest.Case, all []event.Event) int {
	for _, e := range slices.Backward(all) {
		switch b := e.Body.(type) {
		case event.Replied:
			if len(b.Reply.Message.Calls()) > 0 || b.Reply.Stop == llm.StopLength || b.Reply.Stop == llm.StopPaused {
				return 1
			}
			return 0
		case event.Retried:
			return 1
		}
	}
	return 0
}

// checkRecorded checks that the log has the calls and the last text of the
// recording.
func checkRecorded(t *testing.T, chain []wiretest.Case, all []event.Event) {
	t.Helper()
	checkFold(t, all)
	var want, got []string
	for _, c := range chain {
		for _, call := range c.Expected.Calls {
			want = append(want, call.Name)
		}
	}
	for _, a := range find[event.CallAsked](all) {
		got = append(got, a.Tool)
	}
	if fmt.Sprint(got) != fmt.Sprint(want) {
		t.Errorf("calls %v, recorded %v", got, want)
	}
	for _, d := range find[event.CallDone](all) {
		if d.Outcome != event.OK {
			t.Errorf("%s came to %s: %s", d.Tool, d.Outcome, d.Result.Text)
		}
	}
	if text := chain[len(chain)-1].Expected.Text; text != nil {
		replies := find[event.Replied](all)
		if len(replies) == 0 || !strings.HasPrefix(replies[len(replies)-1].Reply.Message.Text(), text.First) {
			t.Errorf("the last text is not %q", text.First)
		}
	}
}

// recordedTools makes a tool of each name that a recording calls, which gives
// what it gave then where the next request has it.
func recordedTools(t *testing.T, chain []wiretest.Case) tool.Set {
	t.Helper()
	answers := map[string][]string{}
	var names []string
	for i, c := range chain {
		var results []recordedResult
		if i+1 < len(chain) {
			next := must.Get(chain[i+1].Load())(t)
			var body any
			if json.Unmarshal(next.Request.Body, &body) == nil {
				results = resultsIn(body, nil)
			}
		}
		for _, call := range c.Expected.Calls {
			if !slices.Contains(names, call.Name) {
				names = append(names, call.Name)
			}
			for _, r := range slices.Backward(results) {
				if call.ID != nil && *call.ID != "" && r.id == *call.ID || r.id == "" && r.name == call.Name {
					answers[call.Name] = append(answers[call.Name], r.text)
					break
				}
			}
		}
	}
	var mu sync.Mutex
	var set tool.Set
	for _, name := range names {
		set = append(set, tool.Tool{
			Spec:      llm.ToolSpec{Name: name, Doc: "recorded", Schema: json.RawMessage(`{"type":"object"}`)},
			Check:     func(json.RawMessage) error { return nil },
			Footprint: func(tool.Env, json.RawMessage) (tool.Footprint, error) { return tool.Footprint{}, nil },
			Run: func(context.Context, tool.Env, json.RawMessage) (tool.Result, error) {
				mu.Lock()
				defer mu.Unlock()
				if q := answers[name]; len(q) > 0 {
					answers[name] = q[1:]
					return tool.Text(q[0]), nil
				}
				return tool.Text("ok"), nil
			},
		})
	}
	return set
}

type recordedResult struct{ id, name, text string }

// resultsIn finds the tool results in a request of any API.
func resultsIn(v any, out []recordedResult) []recordedResult {
	switch v := v.(type) {
	case []any:
		for _, e := range v {
			out = resultsIn(e, out)
		}
	case map[string]any:
		str := func(k string) string { s, _ := v[k].(string); return s }
		switch {
		case v["type"] == "tool_result":
			return append(out, recordedResult{str("tool_use_id"), "", textOf(v["content"])})
		case v["role"] == "tool":
			return append(out, recordedResult{str("tool_call_id"), str("tool_name"), textOf(v["content"])})
		case v["type"] == "function_call_output":
			return append(out, recordedResult{str("call_id"), "", textOf(v["output"])})
		}
		if f, ok := v["functionResponse"].(map[string]any); ok {
			name, _ := f["name"].(string)
			id, _ := f["id"].(string)
			return append(out, recordedResult{id, name, textOf(f["response"])})
		}
		for _, k := range []string{"messages", "contents", "input", "content", "parts"} {
			out = resultsIn(v[k], out)
		}
	}
	return out
}

func textOf(v any) string {
	if s, ok := v.(string); ok {
		return s
	}
	b, err := json.Marshal(v)
	if err != nil {
		return "?"
	}
	return string(b)
}
