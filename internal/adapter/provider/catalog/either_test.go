package catalog

import (
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"

	"github.com/pawl-agent/pawl/internal/core/event"
	"github.com/pawl-agent/pawl/internal/core/llm"
	"github.com/pawl-agent/pawl/internal/core/must"
	"github.com/pawl-agent/pawl/internal/policy/window"
)

const (
	chatReply      = `{"choices":[{"message":{"content":"by chat"},"finish_reason":"stop"}]}`
	responsesReply = `{"id":"r","model":"m","status":"completed","output":[{"type":"message","role":"assistant","content":[{"type":"output_text","text":"by responses"}]}]}`
	needsResponses = `{"error":{"message":"Function tools with reasoning_effort are not supported for gpt-5.5 in /v1/chat/completions. To use function tools, use /v1/responses or set reasoning_effort to 'none'.","type":"invalid_request_error","param":"reasoning_effort"}}`
)

// gateway is a server in OpenAI's place.
type gateway struct {
	responses, chat int // status; 0: 200
	refusal         string

	mu    sync.Mutex
	asked []string // the API and what of a body tells its form
}

func (g *gateway) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	body, _ := io.ReadAll(r.Body)
	form := "chat"
	if strings.Contains(string(body), `"input":[`) {
		form = "responses"
	}
	if strings.Contains(string(body), `"reasoning_effort"`) {
		form += " effort"
	}
	g.mu.Lock()
	defer g.mu.Unlock()
	g.asked = append(g.asked, strings.TrimPrefix(r.URL.Path, "/v1/")+" "+form)
	status, reply := g.chat, chatReply
	if strings.HasSuffix(r.URL.Path, "/responses") {
		status, reply = g.responses, responsesReply
	}
	if status != 0 {
		w.WriteHeader(status)
		reply = g.refusal
	}
	_, _ = io.WriteString(w, reply)
}

// ask asks a model once for a conversation of a session, and returns what it said, its
// notice, and the error.
func ask(t *testing.T, m llm.Model, b *window.Builder, c *window.Conversation) (text, notice string, failed error) {
	t.Helper()
	c.Apply(event.Event{Body: event.Prompted{Text: "hi"}})
	r := must.Get(b.Request(llm.Tail{MaxTokens: 100}))(t)
	for d, err := range m.Stream(t.Context(), r) {
		failed = err
		if d.Reply != nil {
			text, notice = d.Reply.Message.Text(), d.Reply.Notice
			c.Apply(event.Event{Body: event.Replied{Reply: *d.Reply}})
		}
	}
	return text, notice, failed
}

// SPEC 20.1, 5.1: behind an address of one's own a reasoning model is asked by the
// Responses API, and by Chat Completions where that is not there; a refusal that names the
// Responses API leads there. It is found out once for a server and said once.
func TestEither(t *testing.T) {
	const notFound = `{"error":{"message":"no such route"}}`
	for name, c := range map[string]struct {
		ref     string
		server  *gateway
		said    string // "": an error
		asked   string // by three requests of two models of one process
		notices int
	}{
		"both there":              {"openai/gpt-5.5", &gateway{}, "by responses", "responses responses|responses responses|responses responses", 0},
		"not found":               {"openai/gpt-5.5", &gateway{responses: 404, refusal: notFound}, "by chat", "responses responses|chat/completions chat|chat/completions chat|chat/completions chat", 1},
		"not allowed":             {"openai-compatible/gpt-5.6-sol", &gateway{responses: 405, refusal: ""}, "by chat", "responses responses|chat/completions chat|chat/completions chat|chat/completions chat", 1},
		"neither":                 {"openai-compatible/o3", &gateway{responses: 404, chat: 404, refusal: notFound}, "", "responses responses|chat/completions chat|responses responses|chat/completions chat|responses responses|chat/completions chat", 0},
		"a wrong key":             {"openai/gpt-5.5", &gateway{responses: 401, refusal: notFound}, "", "responses responses|responses responses|responses responses", 0},
		"no reasoning model":      {"openai/gpt-4.1", &gateway{}, "by chat", "chat/completions chat|chat/completions chat|chat/completions chat", 0},
		"a name of the gateway's": {"openai-compatible/my-gpt", &gateway{chat: 400, refusal: needsResponses}, "by responses", "chat/completions chat|responses responses|responses responses|responses responses", 1},
		"chat by name":            {"openai-chat/gpt-5.5", &gateway{chat: 400, refusal: needsResponses}, "by responses", "chat/completions chat|responses responses|responses responses|responses responses", 1},
		"another refusal":         {"openai-compatible/my-gpt", &gateway{chat: 400, refusal: notFound}, "", "chat/completions chat|chat/completions chat|chat/completions chat", 0},
		"each needs the other":    {"openai/gpt-5.5", &gateway{responses: 404, chat: 400, refusal: needsResponses}, "", "responses responses|chat/completions chat|chat/completions chat|chat/completions chat", 0},
	} {
		t.Run(name, func(t *testing.T) {
			s := httptest.NewServer(c.server)
			defer s.Close()
			choice := must.Get(Resolve(Want{Flag: c.ref, Env: env("OPENAI_API_KEY=k", "OPENAI_BASE_URL="+s.URL+"/v1", "PAWL_BASE_URL="+s.URL+"/v1")}))(t)
			var known Endpoints
			notices := 0
			for _, requests := range []int{2, 1} {
				m := must.Get(choice.Open(nil, &known))(t)
				var conv window.Conversation
				conv.Apply(event.Event{Body: event.Rebased{Info: m.Info(), Head: llm.Head{Model: m.Info().Model, Effort: m.Info().Effort}}})
				b := window.NewBuilder(&conv, m.(llm.Encoded).Codec())
				for range requests {
					text, notice, err := ask(t, m, b, &conv)
					if text != c.said || (err == nil) != (c.said != "") {
						t.Errorf("said %q, %v", text, err)
					}
					if notice != "" {
						notices++
					}
				}
			}
			if got := strings.Join(c.server.asked, "|"); got != c.asked {
				t.Errorf("asked %s", got)
			}
			if notices != c.notices {
				t.Errorf("%d notices", notices)
			}
		})
	}
}

// SPEC 20.1: where there is only Chat Completions, OpenAI's models are asked for an effort
// if the person asks for one.
func TestEitherEffort(t *testing.T) {
	for asked, want := range map[string]string{"": "chat/completions chat", "high": "chat/completions chat effort"} {
		g := &gateway{responses: 404}
		s := httptest.NewServer(g)
		choice := must.Get(Resolve(Want{Flag: "openai/gpt-5.4", Effort: asked, Env: env("OPENAI_API_KEY=k", "OPENAI_BASE_URL="+s.URL+"/v1")}))(t)
		m := must.Get(choice.Open(nil, nil))(t)
		for range m.Stream(t.Context(), &llm.Request{Head: llm.Head{Model: "gpt-5.4", Effort: m.Info().Effort}}) {
		}
		if got := g.asked[len(g.asked)-1]; got != want {
			t.Errorf("with the effort %q: %s", asked, got)
		}
		s.Close()
	}
}

// A request that was built before the other API was chosen is built anew: the server
// never gets one API's body at the other's address.
func TestEitherStaleBody(t *testing.T) {
	g := &gateway{responses: 404}
	s := httptest.NewServer(g)
	defer s.Close()
	choice := must.Get(Resolve(Want{Flag: "openai/gpt-5.5", Env: env("OPENAI_API_KEY=k", "OPENAI_BASE_URL="+s.URL+"/v1")}))(t)
	m := must.Get(choice.Open(nil, nil))(t)
	var conv window.Conversation
	conv.Apply(event.Event{Body: event.Rebased{Info: m.Info(), Head: llm.Head{Model: "gpt-5.5"}}})
	conv.Apply(event.Event{Body: event.Prompted{Text: "hi"}})
	r := must.Get(window.NewBuilder(&conv, m.(llm.Encoded).Codec()).Request(llm.Tail{}))(t)
	for range 2 {
		for d, err := range m.Stream(t.Context(), r) {
			if err != nil || d.Reply != nil && d.Reply.Message.Text() != "by chat" {
				t.Errorf("%+v %v", d, err)
			}
		}
	}
	if got := strings.Join(g.asked, "|"); got != "responses responses|chat/completions chat|chat/completions chat" {
		t.Error(got)
	}
}
