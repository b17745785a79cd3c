package headless

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"log"
	"net/http"
	"net/http/httptest"
	"runtime"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/pawl-agent/pawl/internal/adapter/provider/catalog"
	"github.com/pawl-agent/pawl/internal/core/event"
	"github.com/pawl-agent/pawl/internal/core/fault"
	"github.com/pawl-agent/pawl/internal/core/llm"
	"github.com/pawl-agent/pawl/internal/core/llm/llmtest"
	"github.com/pawl-agent/pawl/internal/core/must"
	"github.com/pawl-agent/pawl/internal/engine/session"
	"github.com/pawl-agent/pawl/internal/policy/budget"
	"github.com/pawl-agent/pawl/internal/policy/hook"
	"github.com/pawl-agent/pawl/internal/policy/permission"
	"github.com/pawl-agent/pawl/internal/policy/why"
)

// These tests send the failures of SPEC 3 through every layer: a server, the
// provider, the loop, the session, the frontend, `pawl why`.

// answer is one answer of a host.
type answer struct {
	status int
	header map[string]string
	body   string
	cut    bool // the connection breaks behind the body
}

// good is an answer of each API that ends the turn.
var good = map[string]string{
	"anthropic": strings.Join(sse(llmtest.Events(1, llmtest.Say("it is done"))), ""),
	"gemini":    `data: {"candidates":[{"content":{"role":"model","parts":[{"text":"it is done"}]},"finishReason":"STOP"}],"usageMetadata":{"promptTokenCount":10,"candidatesTokenCount":3}}` + "\n\n",
	"openai":    `data: {"type":"response.completed","response":{"id":"r","status":"completed","output":[{"type":"message","id":"m","role":"assistant","status":"completed","content":[{"type":"output_text","text":"it is done","annotations":[]}]}],"usage":{"input_tokens":10,"output_tokens":3}}}` + "\n\n",
	"deepseek":  `data: {"id":"c","choices":[{"index":0,"delta":{"role":"assistant","content":"it is done"},"finish_reason":"stop"}],"usage":{"prompt_tokens":10,"completion_tokens":3}}` + "\n\ndata: [DONE]\n\n",
}

func sse(events []string) []string {
	var out []string
	for _, e := range events {
		kind, _, _ := strings.Cut(strings.TrimPrefix(e, `{"type":"`), `"`)
		out = append(out, "event: "+kind+"\ndata: "+e+"\n\n")
	}
	return out
}

// host gives the answers in order, and good ones after them.
type host struct {
	api     string
	answers []answer
	mu      sync.Mutex
	n       int
	models  []string
}

func (h *host) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	body, _ := io.ReadAll(r.Body)
	var asked struct{ Model string }
	_ = json.Unmarshal(body, &asked)
	h.mu.Lock()
	n := h.n
	h.n++
	h.models = append(h.models, asked.Model)
	h.mu.Unlock()
	a := answer{status: 200, body: good[h.api]}
	if n < len(h.answers) {
		a = h.answers[n]
	}
	w.Header().Set("Content-Type", "application/json")
	if a.status == 200 {
		w.Header().Set("Content-Type", "text/event-stream")
	}
	for k, v := range a.header {
		w.Header().Set(k, v)
	}
	w.WriteHeader(a.status)
	_, _ = io.WriteString(w, a.body)
	if a.cut {
		w.(http.Flusher).Flush()
		panic(http.ErrAbortHandler) // what a broken connection looks like
	}
}

func (h *host) requests() (int, []string) {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.n, h.models
}

// modelOf opens a real provider's model whose host is at url.
func modelOf(t *testing.T, ref, url string) llm.Model {
	t.Helper()
	c := must.Get(catalog.Resolve(catalog.Want{Flag: ref, Env: func(k string) string {
		switch {
		case strings.HasSuffix(k, "_BASE_URL"):
			return url
		case strings.HasSuffix(k, "_API_KEY"):
			return "sk-test-00000000000000000000"
		}
		return ""
	}}))(t)
	m := must.Get(c.Open(nil, nil))(t)
	if cl, ok := m.(interface{ Close() }); ok {
		t.Cleanup(cl.Close)
	}
	return m
}

// modelsOf names a model of each API; openai is the Responses API, which another
// base URL of the provider of that name would not speak.
var modelsOf = map[string]string{"anthropic": "anthropic/claude-script", "gemini": "gemini/gemini-script", "openai": "xai/grok-script", "deepseek": "deepseek/deepseek-script"}

func overloaded(message string) string {
	return `{"type":"error","error":{"type":"overloaded_error","message":"` + message + `"}}`
}

// SPEC 3.2, 3.3, 3.4, 5.1: what hosts say when they fail, and what comes of it.
func TestFailuresOfHosts(t *testing.T) {
	half := strings.Join(sse(llmtest.Events(1, llmtest.Turn{Text: "half of it", Wait: make(chan struct{})})), "")
	plain := func(status int) answer { return answer{status: status, body: overloaded("no")} }
	const first, second = 250 * time.Millisecond, 500 * time.Millisecond
	for name, c := range map[string]struct {
		api      string
		answers  []answer
		code     int
		requests int
		waits    []time.Duration
		why      string // the retry, or the halt, as pawl why says it
	}{
		"Retry-After in seconds": {"anthropic", []answer{{status: 429, header: map[string]string{"Retry-After": "7"}, body: overloaded("slow down")}}, 0, 2, []time.Duration{7 * time.Second}, "tried again after 7s"},
		"Retry-After as a date": {"anthropic", []answer{{status: 503, header: map[string]string{
			"Date": "Fri, 02 Jan 2026 03:04:05 GMT", "Retry-After": "Fri, 02 Jan 2026 03:05:35 GMT",
		}, body: overloaded("down")}}, 0, 2, []time.Duration{90 * time.Second}, "tried again after 1m30s"},
		"retry-after-ms":             {"openai", []answer{{status: 429, header: map[string]string{"retry-after-ms": "1500"}, body: `{"error":{"message":"slow","type":"rate_limit","code":"rate_limit_exceeded"}}`}}, 0, 2, []time.Duration{1500 * time.Millisecond}, "tried again after 1.5s"},
		"RetryInfo of Gemini":        {"gemini", []answer{{status: 429, body: `{"error":{"code":429,"message":"quota","status":"RESOURCE_EXHAUSTED","details":[{"@type":"type.googleapis.com/google.rpc.RetryInfo","retryDelay":"48.5s"}]}}`}}, 0, 2, []time.Duration{48500 * time.Millisecond}, "tried again after 48.5s"},
		"a wait that is too long":    {"anthropic", []answer{{status: 429, header: map[string]string{"Retry-After": "3600"}, body: overloaded("come back")}}, 4, 1, nil, "come back"},
		"overloaded inside a stream": {"anthropic", []answer{{status: 200, body: half + "event: error\ndata: " + overloaded("Overloaded") + "\n\n"}}, 0, 2, []time.Duration{first}, "its text so far was discarded"},
		"408":                        {"anthropic", []answer{plain(408)}, 0, 2, []time.Duration{first}, "answered 408"},
		"409":                        {"anthropic", []answer{plain(409)}, 0, 2, []time.Duration{first}, "answered 409"},
		"500, then 529":              {"anthropic", []answer{plain(500), plain(529)}, 0, 3, []time.Duration{first, second}, "answered 529"},
		"never":                      {"anthropic", []answer{plain(529), plain(529), plain(529), plain(529), plain(529), plain(529)}, 4, 5, []time.Duration{first, second, 2 * second, first}, "after 5 tries: "},
		"400":                        {"anthropic", []answer{{status: 400, body: `{"type":"error","error":{"type":"invalid_request_error","message":"bad field"}}`}}, 4, 1, nil, "bad field"},
		"401":                        {"anthropic", []answer{{status: 401, body: `{"type":"error","error":{"type":"authentication_error","message":"invalid x-api-key"}}`}}, 3, 1, nil, "invalid x-api-key"},
		"403":                        {"openai", []answer{{status: 403, body: `{"error":{"message":"not for you","type":"permission"}}`}}, 3, 1, nil, "not for you"},
		"404":                        {"deepseek", []answer{{status: 404, body: `{"error":{"message":"no such model"}}`}}, 4, 1, nil, "no such model"},
		"a key that Google refuses":  {"gemini", []answer{{status: 400, body: `{"error":{"code":400,"message":"API key not valid. Please pass a valid API key.","status":"INVALID_ARGUMENT"}}`}}, 3, 1, nil, "API key not valid"},
		"a connection that breaks":   {"anthropic", []answer{{status: 200, body: half, cut: true}}, 0, 2, []time.Duration{first}, "a request to anthropic/claude-script failed"},
		"a reply that is cut off":    {"deepseek", []answer{{status: 200, body: `data: {"id":"c","choices":[{"index":0,"delta":{"role":"assistant","content":"half"}}]}` + "\n\n"}}, 0, 2, []time.Duration{first}, "a request to deepseek/deepseek-script failed"},
		"a reply that is no JSON":    {"deepseek", []answer{{status: 200, body: "data: {\"id\n\n"}}, 0, 2, []time.Duration{first}, "a request to deepseek/deepseek-script failed"},
		"an empty reply":             {"gemini", []answer{{status: 200, body: `data: {"candidates":[{"content":{"role":"model","parts":[]},"finishReason":"STOP"}]}` + "\n\n"}}, 0, 2, []time.Duration{first}, "empty reply"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			h := &host{api: c.api, answers: c.answers}
			srv := httptest.NewUnstartedServer(h)
			srv.Config.ErrorLog = quiet()
			srv.Start()
			defer srv.Close()
			var waited, want time.Duration // a wait is slept a second at a time
			for _, w := range c.waits {
				want += w
			}
			a := newAgent(t, modelOf(t, modelsOf[c.api], srv.URL), nil, func(cfg *session.Config) {
				cfg.RetryFor = 2 * time.Minute
				if name == "never" {
					cfg.RetryFor = 2 * time.Second
				}
				cfg.Sleep = func(ctx context.Context, d time.Duration) error {
					waited += d
					return ctx.Err()
				}
			})
			var out, errs bytes.Buffer
			r := must.Get(Run(t.Context(), a.Session, "do it", opts(JSON, &out, &errs)))(t)
			n, _ := h.requests()
			if r.ExitCode != c.code || n != c.requests || waited != want || c.code == 0 && r.Text != "it is done" {
				t.Errorf("exit code %d, %d requests, waited %v, %q, %+v", r.ExitCode, n, waited, r.Text, r.Error)
			}
			a.explained(c.why)
		})
	}
}

// explained checks what pawl why says.
func (a *agent) explained(want string) {
	a.t.Helper()
	fold := why.Fold{}
	for e, err := range a.store.Read(a.t.Context(), "s1", 0) {
		must.Do(a.t, err)
		fold.Apply(e)
	}
	if found := fmt.Sprintf("%+v", fold.Findings()); !strings.Contains(found, want) {
		a.t.Errorf("why does not say %q: %s", want, found)
	}
	if bad := a.View().States().Violations; len(bad) > 0 {
		a.t.Errorf("illegal transitions: %+v", bad)
	}
}

// SPEC 3.3: a request that is too long is made shorter and sent again, whatever
// the host's words for it, over every API.
func TestContextLengthOfHosts(t *testing.T) {
	for name, c := range map[string]struct {
		api    string
		status int
		body   string
	}{
		"anthropic":        {"anthropic", 400, `{"type":"error","error":{"type":"invalid_request_error","message":"prompt is too long: 210000 tokens > 200000 maximum"}}`},
		"anthropic, 413":   {"anthropic", 413, `{"type":"error","error":{"type":"request_too_large","message":"Request exceeds the maximum size"}}`},
		"openai":           {"openai", 400, `{"error":{"message":"Your input exceeds the context window of this model.","type":"invalid_request_error","code":"context_length_exceeded"}}`},
		"openai in stream": {"openai", 200, `data: {"type":"error","code":"context_length_exceeded","message":"Your input exceeds the context window of this model."}` + "\n\n"},
		"gemini":           {"gemini", 400, `{"error":{"code":400,"message":"The input token count (1200000) exceeds the maximum number of tokens allowed (1048576).","status":"INVALID_ARGUMENT"}}`},
		"compatible":       {"deepseek", 400, `{"error":{"message":"This model's maximum context length is 65536 tokens. However, you requested 70000 tokens","type":"invalid_request_error"}}`},
		"llama.cpp":        {"deepseek", 400, `{"error":{"code":400,"message":"the request exceeds the available context size, try increasing it","type":"exceed_context_size_error"}}`},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			h := &host{api: c.api}
			srv := httptest.NewServer(h)
			defer srv.Close()
			a := newAgent(t, modelOf(t, modelsOf[c.api], srv.URL), nil, func(cfg *session.Config) { cfg.Sleep = atOnce })
			for range 6 {
				a.turnOf(session.Prompt{Text: strings.Repeat("a long prompt of many words. ", 300)}, nil)
			}
			n, _ := h.requests()
			h.mu.Lock()
			h.answers = append(make([]answer, 0, n+1), make([]answer, n)...)
			h.answers = append(h.answers, answer{status: c.status, body: c.body})
			h.mu.Unlock()
			var out, errs bytes.Buffer
			r, err := Run(t.Context(), a.Session, "and now?", opts(Text, &out, &errs))
			if err != nil || r.ExitCode != 0 || r.Text != "it is done" {
				t.Fatalf("%+v, %v", r, err)
			}
			if !strings.Contains(errs.String(), "the conversation was made shorter") {
				t.Errorf("it is not said: %s", errs.String())
			}
			compacted := 0
			for e := range a.store.Read(t.Context(), "s1", 0) {
				if b, ok := e.Body.(event.Compacted); ok && b.Why == "length" {
					compacted++
				}
			}
			if compacted != 1 {
				t.Errorf("compacted %d times", compacted)
			}
			a.explained("a request to " + modelsOf[c.api] + " failed")
		})
	}
}

// SPEC 3.3: when the retries are used up the next model of the chain goes on.
func TestFallbackOfHosts(t *testing.T) {
	h := &host{api: "anthropic", answers: []answer{{status: 529, body: overloaded("no")}, {status: 529, body: overloaded("no")}, {status: 529, body: overloaded("no")}, {status: 529, body: overloaded("no")}, {status: 529, body: overloaded("no")}}}
	srv := httptest.NewServer(h)
	defer srv.Close()
	a := newAgent(t, modelOf(t, "anthropic/claude-script", srv.URL), nil, func(cfg *session.Config) {
		cfg.Sleep = atOnce
		cfg.Fallback = []string{"anthropic/claude-other"}
		cfg.OpenModel = func(ref, _ string) (llm.Model, error) { return modelOf(t, ref, srv.URL), nil }
	})
	var out, errs bytes.Buffer
	r, err := Run(t.Context(), a.Session, "do it", opts(JSON, &out, &errs))
	n, models := h.requests()
	if err != nil || r.ExitCode != 0 || r.Model != "anthropic/claude-other" || n != 6 || models[4] != "claude-script" || models[5] != "claude-other" {
		t.Errorf("%+v, %v, %v", r, err, models)
	}
	if len(r.Fallbacks) != 1 || r.Fallbacks[0].Model != "anthropic/claude-other" || !strings.Contains(r.Fallbacks[0].Why, "529") {
		t.Errorf("%+v", r.Fallbacks)
	}
	a.explained("went on with anthropic/claude-other")
}

// SPEC 3.1, 3.3: the kinds of failure that are not a host's, what the run comes
// to, and what pawl why says.
func TestFailuresOfARun(t *testing.T) {
	use := func(turn llmtest.Turn) []llmtest.Turn { return []llmtest.Turn{turn, llmtest.Say("it is done")} }
	for name, c := range map[string]struct {
		script []llmtest.Turn
		change func(*session.Config)
		sig    string
		code   int
		why    string
	}{
		"a tool that fails":            {use(bash("exit 3")), nil, "", 0, "cost"},
		"a tool that there is not":     {use(llmtest.Use("nonesuch", "{}")), nil, "", 0, "did not run"},
		"arguments that do not fit":    {use(llmtest.Use("read", `{"files":7}`)), nil, "", 0, "did not run"},
		"a tool that takes too long":   {use(llmtest.Use("bash", `{"command":"sleep 60","timeout":1}`)), nil, "", 0, "cost"},
		"the last call is not allowed": {use(bash("curl https://example.com -o x")), headlessMode, "", 8, "was not allowed"},
		"a budget":                     {use(bash("true")), func(c *session.Config) { c.Limits = budget.Limits{USD: 0.0001} }, "", 6, "budget"},
		"steps":                        {use(bash("true")), func(c *session.Config) { c.Limits = budget.Limits{Steps: 1} }, "", 7, "turns"},
		"configuration":                {[]llmtest.Turn{{Err: fault.NewConfiguration("set X", "X is not set")}}, nil, "", 3, "X is not set"},
		"a refusal":                    {[]llmtest.Turn{{Text: "no", Stop: llm.StopRefusal}}, nil, "", 4, "refused"},
		"cancelled":                    {[]llmtest.Turn{{Text: "half", Wait: make(chan struct{})}}, nil, "SIGINT", 130, "interrupted"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			signals := make(chan string, 1)
			if c.sig != "" { // while the model answers: before, there is nothing to explain
				c.script[0].Before = func(*llm.Request) { signals <- c.sig }
			}
			a := newAgent(t, llmtest.New(c.script...), nil, func(cfg *session.Config) {
				cfg.Sleep = atOnce
				if c.change != nil {
					c.change(cfg)
				}
			})
			o := opts(JSON, &bytes.Buffer{}, &bytes.Buffer{})
			o.Signals = signals
			r, err := Run(t.Context(), a.Session, "do it", o)
			if err != nil || r.ExitCode != c.code {
				t.Errorf("%+v, %v", r, err)
			}
			a.explained(c.why)
		})
	}
}

// SPEC 3.4: a wait is counted down: in text a line each ten seconds, in
// stream-json each second, and nothing of it is in the log. SPEC 3.3: it is said
// which model took over and why.
func TestWaitsAreCountedDown(t *testing.T) {
	for _, format := range []Format{Text, Stream} {
		late := fault.NewProvider("scripted", 429, "too many", nil)
		late.RetryAfter = 30 * time.Second
		busy := fault.NewProvider("scripted", 529, "overloaded", nil)
		other := llmtest.New(llmtest.Say("it is done"))
		other.InfoValue.Model = "other"
		var out, errs shared
		a := newAgent(t, llmtest.New(llmtest.Turn{Err: late}, llmtest.Turn{Err: busy}, llmtest.Turn{Err: busy}, llmtest.Turn{Err: busy}, llmtest.Turn{Err: busy}), nil, func(cfg *session.Config) {
			cfg.Sleep = func(ctx context.Context, _ time.Duration) error {
				// A reader that hears late of the wait is not told of its seconds.
				for !strings.Contains(out.String(), `"type":"retried"`) && !strings.Contains(errs.String(), " before try 2") && ctx.Err() == nil {
					runtime.Gosched()
				}
				return ctx.Err()
			}
			cfg.Fallback = []string{"scripted/other"}
			cfg.OpenModel = func(string, string) (llm.Model, error) { return other, nil }
		})
		if r, err := Run(t.Context(), a.Session, "do it", opts(format, &out, &errs)); err != nil || r.ExitCode != 0 {
			t.Fatal(r, err)
		}
		if format == Text {
			if got := strings.Count(errs.String(), "pawl: waiting "); got != 2 || strings.Contains(errs.String(), "pawl: try 2 now") || !strings.Contains(errs.String(), "overloaded; 4 tries failed, scripted/other goes on from here") {
				t.Errorf("%d lines of a count-down:\n%s", got, errs.String())
			}
		} else if got := strings.Count(out.String(), `"type":"waiting"`); got < 29 || got > 29+10 {
			t.Errorf("%d ticks", got)
		}
		for e, err := range a.Session.Events(t.Context(), 0) {
			if _, tick := e.Body.(event.Waiting); tick || err != nil {
				t.Error(e, err)
			}
			if _, over := e.Body.(event.Ended); over {
				break
			}
		}
	}
}

// shared is a buffer that is read while it is written.
type shared struct {
	mu sync.Mutex
	b  bytes.Buffer
}

func (s *shared) Write(p []byte) (int, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.b.Write(p)
}

func (s *shared) String() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.b.String()
}

func headlessMode(c *session.Config) {
	c.Permission = permission.New(permission.Config{Mode: permission.AcceptEdits, Root: c.Dir})
}

// SPEC 6.3: a reply that is cut off ends the request: the host is not left
// sending, and what it would have sent is not paid for.
func TestRunawayReplyEndsTheRequest(t *testing.T) {
	gone := make(chan int, 1)
	s := &llmtest.Server{Gone: func(n int) { gone <- n }}
	s.Reply = func(n int, _ []byte) llmtest.Turn {
		if n == 0 {
			return llmtest.Turn{Text: strings.Repeat(passage, 20_000), Piece: 30}
		}
		return llmtest.Say("it is done")
	}
	srv := httptest.NewServer(s)
	defer srv.Close()
	a := newAgent(t, modelOf(t, "anthropic/claude-script", srv.URL), nil)
	var out, errs bytes.Buffer
	r, err := Run(t.Context(), a.Session, "do it", opts(Stream, &out, &errs))
	if err != nil || r.ExitCode != 0 || r.Text != "it is done" {
		t.Fatalf("%+v, %v", r, err)
	}
	if n := <-gone; n != 0 {
		t.Errorf("the client left reply %d", n)
	}
	if n := strings.Count(out.String(), `"type":"text_delta"`); n > 400 {
		t.Errorf("%d pieces were shown", n)
	}
}

// quiet is a log that nobody reads: the server tells of connections that the
// test breaks.
func quiet() *log.Logger { return log.New(io.Discard, "", 0) }

// slow is a hook that runs until it is ended.
type slow struct{ began chan struct{} }

func (h slow) Rules() []hook.Rule {
	rules, err := hook.Rules("test", json.RawMessage(`{"UserPromptSubmit":[{"hooks":[{"type":"command","command":"sleep"}]}]}`))
	if err != nil {
		panic(err)
	}
	return rules
}

func (h slow) Run(ctx context.Context, _ hook.Rule, _ []byte) hook.Ran {
	close(h.began)
	<-ctx.Done()
	return hook.Ran{Failed: context.Cause(ctx).Error()}
}

// SPEC 3.3, 2.5: a signal ends a run with its own exit code however early it
// comes, also while a hook still judges the prompt.
func TestInterruptBeforeThePromptIsAccepted(t *testing.T) {
	for sig, code := range map[string]int{"SIGINT": 130, "SIGTERM": 143} {
		t.Run(sig, func(t *testing.T) {
			h := slow{make(chan struct{})}
			a := newAgent(t, llmtest.New(llmtest.Say("never")), nil, func(cfg *session.Config) { cfg.Hooks = h })
			o := opts(JSON, &bytes.Buffer{}, &bytes.Buffer{})
			signals := make(chan string)
			o.Signals = signals
			go func() {
				<-h.began
				signals <- sig
			}()
			r, err := Run(t.Context(), a.Session, "do it", o)
			if err != nil || r.ExitCode != code || r.Outcome != string(event.EndInterrupted) || r.Type != "result" {
				t.Errorf("%+v, %v", r, err)
			}
		})
	}

	// The time limit is no interrupt there either.
	h := slow{make(chan struct{})}
	a := newAgent(t, llmtest.New(llmtest.Say("never")), nil, func(cfg *session.Config) { cfg.Hooks = h })
	o := opts(JSON, &bytes.Buffer{}, &bytes.Buffer{})
	o.Timeout = time.Nanosecond
	r, err := Run(t.Context(), a.Session, "do it", o)
	if err != nil || r.ExitCode != 124 || r.Outcome != string(event.EndTimeout) || r.Error == nil || r.Error.Category != string(fault.Cancellation) {
		t.Errorf("%+v, %v", r, err)
	}
}
