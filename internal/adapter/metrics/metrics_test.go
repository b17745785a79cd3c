package metrics

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/pawl-agent/pawl/internal/core/event"
	"github.com/pawl-agent/pawl/internal/core/llm"
	"github.com/pawl-agent/pawl/internal/core/must"
)

const secret = "sk-the-content-of-a-prompt"

// turn is a turn with a retry, a call that works and one that fails.
func turn() []event.Event {
	bodies := []event.Body{
		event.Rebased{Info: llm.Info{Provider: "gemini", Model: "g-1"}},
		event.Prompted{Source: event.Person, Text: secret},
		event.Requested{Attempt: 1, Model: "gemini/g-1"},
		event.Retried{Attempt: 1, Error: event.Fault{Category: "provider", Message: secret}},
		event.Requested{Attempt: 2, Model: "gemini/g-1"},
		event.Replied{
			Cost: new(0.25), Took: 2 * time.Second,
			Reply: llm.Reply{
				Message: llm.Message{Role: llm.Assistant, Parts: []llm.Part{llm.TextPart(secret)}},
				Finish:  "STOP", Model: "g-1-001", Response: "r1", Usage: llm.Usage{Known: true, Input: 10, CacheRead: 90, CacheWrite: 5, Output: 7},
			},
		},
		event.CallAsked{ID: "0", Tool: "bash", Args: json.RawMessage(`{"command":"` + secret + `"}`)},
		event.CallStarted{ID: "0"},
		event.CallDone{ID: "0", Tool: "bash", Outcome: event.OK, Took: time.Second, Result: llm.Result{Text: secret}},
		event.CallAsked{ID: "0", Tool: "edit"},
		event.CallStarted{ID: "0"},
		event.CallDone{ID: "0", Tool: "edit", Outcome: event.Failed, Took: time.Second},
		event.Stuck{Rule: `odd "rule"`, Level: "recovery"},
		event.Checked{Command: secret, Exit: new(1)},
		event.Ended{End: event.EndDone},
	}
	var es []event.Event
	for i, b := range bodies {
		es = append(es, event.Event{Session: "s1", Seq: int64(i + 1), Time: time.Unix(1000+int64(i), 0).UTC(), Body: b})
	}
	return append(es, event.Event{Body: event.TextDelta{Text: secret}})
}

// SPEC 15.1: what Prometheus reads is in its text format and counts what
// happened.
func TestServe(t *testing.T) {
	s := must.Get(Serve("127.0.0.1:0"))(t)
	defer s.Close()
	for _, e := range turn() {
		s.Apply(e)
	}
	res := must.Get(http.Get("http://" + s.Addr() + "/metrics"))(t)
	defer res.Body.Close()
	body, _ := io.ReadAll(res.Body)
	text := string(body)
	for _, want := range []string{
		`pawl_turns_total{end="done"} 1`,
		`pawl_turn_running 0`,
		`pawl_requests_total{model="gemini/g-1"} 2`,
		`pawl_retries_total{model="gemini/g-1"} 1`,
		`pawl_tokens_total{model="gemini/g-1",kind="cache_read"} 90`,
		`pawl_cost_usd_total{model="gemini/g-1"} 0.25`,
		`pawl_calls_total{tool="bash",outcome="ok"} 1`,
		`pawl_calls_total{tool="edit",outcome="failed"} 1`,
		`pawl_stuck_total{rule="odd \"rule\"",level="recovery"} 1`,
		`pawl_checks_total{outcome="failed"} 1`,
	} {
		if !strings.Contains(text, want+"\n") {
			t.Errorf("no line %s", want)
		}
	}
	if strings.Contains(text, secret) {
		t.Error("a content leaves with the counts")
	}
	sample := regexp.MustCompile(`^[a-z_]+(\{[a-z_]+="([^"\\]|\\.)*"(,[a-z_]+="([^"\\]|\\.)*")*\})? [0-9.e+-]+$`)
	seen := map[string]bool{}
	for l := range strings.Lines(text) {
		l = strings.TrimSuffix(l, "\n")
		if strings.HasPrefix(l, "# ") {
			continue
		}
		if !sample.MatchString(l) {
			t.Errorf("not a sample: %q", l)
		}
		key, _, _ := strings.Cut(l, " ")
		if seen[l[:strings.LastIndex(l, " ")]] {
			t.Errorf("twice: %s", key)
		}
		seen[l[:strings.LastIndex(l, " ")]] = true
	}
	if res, err := http.Get("http://" + s.Addr() + "/debug"); err != nil || res.StatusCode != http.StatusNotFound {
		t.Errorf("another path gives %v %v", res, err)
	}
	if _, err := Serve(s.Addr()); err == nil || !strings.Contains(err.Error(), "cannot be used to listen") {
		t.Errorf("a taken address gives %v", err)
	}
}

// collector keeps what it is sent; codes are its first answers.
func collector(t *testing.T, codes ...int) (url string, got chan map[string]any) {
	got = make(chan map[string]any, 10)
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if len(codes) > 0 {
			w.WriteHeader(codes[0])
			codes = codes[1:]
			return
		}
		var m map[string]any
		if err := json.NewDecoder(r.Body).Decode(&m); err != nil {
			t.Error(err)
		}
		m["path"], m["key"] = r.URL.Path, r.Header.Get("X-Key")
		got <- m
	}))
	t.Cleanup(srv.Close)
	return srv.URL, got
}

func env(kv ...string) func(string) string {
	m := map[string]string{}
	for i := 0; i < len(kv); i += 2 {
		m[kv[i]] = kv[i+1]
	}
	return func(k string) string { return m[k] }
}

// SPEC 15.1: a turn becomes spans by the names of the conventions, below what
// called pawl, and no content goes with them.
func TestExport(t *testing.T) {
	url, got := collector(t)
	target, ok, warnings := TargetFrom(env(
		"OTEL_EXPORTER_OTLP_ENDPOINT", url+"/", "OTEL_EXPORTER_OTLP_HEADERS", "x-key=a%20b,broken",
		"OTEL_RESOURCE_ATTRIBUTES", "service.name=ci,team=x", "TRACEPARENT", "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01",
	), "1.2")
	if !ok || len(warnings) > 0 {
		t.Fatal(ok, warnings)
	}
	x := Export(target)
	for _, e := range turn() {
		x.Apply(e)
	}
	must.Do(t, x.Close())
	m := <-got
	if m["path"] != "/v1/traces" || m["key"] != "a b" {
		t.Errorf("sent to %v with key %v", m["path"], m["key"])
	}
	raw, _ := json.Marshal(m)
	if strings.Contains(string(raw), secret) {
		t.Error("a content leaves with the spans")
	}
	var req otlpRequest
	must.Do(t, json.Unmarshal(raw, &req))
	rs := req.ResourceSpans[0]
	if got := lines(rs.Resource.Attributes); !strings.Contains(got, "service.name=ci ") || !strings.Contains(got, "team=x ") {
		t.Errorf("resource: %s", got)
	}
	var have []string
	turnSpan := rs.ScopeSpans[0].Spans[len(rs.ScopeSpans[0].Spans)-1].SpanID
	for _, s := range rs.ScopeSpans[0].Spans {
		if s.TraceID != "0af7651916cd43dd8448eb211c80319c" {
			t.Errorf("%s: trace %s", s.Name, s.TraceID)
		}
		parent := map[string]string{"b7ad6b7169203331": "caller", turnSpan: "turn"}[s.Parent]
		have = append(have, fmt.Sprintf("%s kind=%d under=%s %s..%s code=%d %s", s.Name, s.Kind, parent, s.Start[:4], s.End[:4], s.Status.Code, lines(s.Attributes)))
	}
	want := []string{
		"chat g-1 kind=3 under=turn 1002..1003 code=2 gen_ai.operation.name=chat gen_ai.conversation.id=s1 gen_ai.provider.name=gcp.gemini gen_ai.request.model=g-1 error.type=provider ",
		"chat g-1 kind=3 under=turn 1004..1005 code=0 gen_ai.operation.name=chat gen_ai.conversation.id=s1 gen_ai.provider.name=gcp.gemini gen_ai.request.model=g-1 pawl.attempt=2 gen_ai.response.model=g-1-001 gen_ai.response.id=r1 gen_ai.response.finish_reasons=STOP gen_ai.usage.input_tokens=105 gen_ai.usage.output_tokens=7 gen_ai.usage.cache_read.input_tokens=90 gen_ai.usage.cache_creation.input_tokens=5 pawl.cost.usd=0.25 ",
		"execute_tool bash kind=1 under=turn 1007..1008 code=0 gen_ai.operation.name=execute_tool gen_ai.conversation.id=s1 gen_ai.tool.type=function gen_ai.tool.call.id=0 gen_ai.tool.name=bash pawl.outcome=ok ",
		"execute_tool edit kind=1 under=turn 1010..1011 code=2 gen_ai.operation.name=execute_tool gen_ai.conversation.id=s1 gen_ai.tool.type=function gen_ai.tool.call.id=0 gen_ai.tool.name=edit pawl.outcome=failed error.type=failed ",
		"invoke_agent pawl kind=1 under=caller 1001..1014 code=0 gen_ai.operation.name=invoke_agent gen_ai.agent.name=pawl gen_ai.conversation.id=s1 gen_ai.provider.name=gcp.gemini gen_ai.request.model=g-1 pawl.outcome=done ",
	}
	if d := cmp.Diff(want, have); d != "" {
		t.Error(d)
	}
}

func lines(as []otlpAttr) string {
	out := ""
	for _, a := range as {
		v := a.Value["stringValue"]
		for _, k := range []string{"intValue", "doubleValue"} {
			if w, ok := a.Value[k]; ok {
				v = w
			}
		}
		if arr, ok := a.Value["arrayValue"].(map[string]any); ok {
			v = arr["values"].([]any)[0].(map[string]any)["stringValue"]
		}
		out += fmt.Sprintf("%s=%v ", a.Key, v)
	}
	return out
}

// A collector that refuses, or is not there, costs the run nothing: the spans
// are dropped and it is said.
func TestExportFails(t *testing.T) {
	url, got := collector(t, 400)
	x := Export(Target{URL: url, Timeout: time.Second})
	for _, e := range turn() {
		x.Apply(e)
	}
	if err := x.Close(); err == nil || !strings.Contains(err.Error(), "5 spans were not sent") || !strings.Contains(err.Error(), "400") {
		t.Errorf("refused: %v", err)
	}
	if len(got) != 0 {
		t.Error("a refused batch was sent again")
	}
	url, got = collector(t, 503)
	x = Export(Target{URL: url, Timeout: time.Second})
	for _, e := range turn() {
		x.Apply(e)
	}
	if err := x.Close(); err != nil || len(got) != 1 {
		t.Errorf("busy at first: %v, %d batches", err, len(got))
	}
}

func TestTargetFrom(t *testing.T) {
	for name, c := range map[string]struct {
		env  []string
		url  string // "": nothing is sent
		warn string
	}{
		"nothing":   {},
		"disabled":  {env: []string{"OTEL_SDK_DISABLED", "TRUE", "OTEL_EXPORTER_OTLP_ENDPOINT", "http://h:1"}},
		"none":      {env: []string{"OTEL_TRACES_EXPORTER", "none", "OTEL_EXPORTER_OTLP_ENDPOINT", "http://h:1"}},
		"unknown":   {env: []string{"OTEL_TRACES_EXPORTER", "zipkin"}, warn: "zipkin"},
		"base":      {env: []string{"OTEL_EXPORTER_OTLP_ENDPOINT", "http://h:1/x"}, url: "http://h:1/x/v1/traces"},
		"traces":    {env: []string{"OTEL_EXPORTER_OTLP_TRACES_ENDPOINT", "https://h/y", "OTEL_EXPORTER_OTLP_ENDPOINT", "http://z"}, url: "https://h/y"},
		"no url":    {env: []string{"OTEL_EXPORTER_OTLP_ENDPOINT", "h:4317"}, warn: "not an http(s) URL"},
		"grpc":      {env: []string{"OTEL_EXPORTER_OTLP_ENDPOINT", "http://h", "OTEL_EXPORTER_OTLP_PROTOCOL", "grpc"}, url: "http://h/v1/traces", warn: "http/json"},
		"bad limit": {env: []string{"OTEL_EXPORTER_OTLP_ENDPOINT", "http://h", "OTEL_EXPORTER_OTLP_TIMEOUT", "soon"}, url: "http://h/v1/traces", warn: "10 s"},
	} {
		target, ok, warnings := TargetFrom(env(c.env...), "1")
		if ok != (c.url != "") || ok && target.URL != c.url {
			t.Errorf("%s: %v %s", name, ok, target.URL)
		}
		if all := strings.Join(warnings, "; "); !strings.Contains(all, c.warn) || c.warn == "" && all != "" {
			t.Errorf("%s: warnings %q", name, all)
		}
	}
	for s, want := range map[string]string{
		"":    "",
		"abc": "",
		"00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01": "0af7651916cd43dd8448eb211c80319c",
		"00-00000000000000000000000000000000-b7ad6b7169203331-01": "",
		"ff-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01": "",
		"00-0AF7651916CD43DD8448EB211C80319C-b7ad6b7169203331-01": "",
	} {
		if got, _ := parent(s); got != want {
			t.Errorf("parent(%q) = %q", s, got)
		}
	}
}

// A session whose log began in another process, and one that never ends its
// calls, give no span without an end.
func TestSpansOfHalfALog(t *testing.T) {
	n := 0
	f := Spans{NewID: func(int) string { n++; return fmt.Sprintf("%016x", n) }}
	var got []Span
	for i, b := range []event.Body{
		event.CallDone{ID: "x", Tool: "bash"},
		event.Replied{},
		event.Ended{},
		event.Requested{},
		event.CallStarted{ID: "y"},
		event.Ended{End: event.EndInterrupted, Error: &event.Fault{Category: "cancellation"}},
	} {
		got = append(got, f.Apply(event.Event{Session: "s", Seq: int64(i + 1), Time: time.Unix(int64(i), 0), Body: b})...)
	}
	if len(got) != 3 {
		t.Fatalf("%d spans: %v", len(got), got)
	}
	for _, s := range got {
		if s.End.IsZero() || s.Trace == "" || s.ID == "" {
			t.Errorf("%+v", s)
		}
	}
}
