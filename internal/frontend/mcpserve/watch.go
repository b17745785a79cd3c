package mcpserve

import (
	"context"
	"encoding/json"
	"strings"
	"sync"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/pawl-agent/pawl/internal/core/event"
	"github.com/pawl-agent/pawl/internal/engine/session"
	"github.com/pawl-agent/pawl/internal/frontend/plain"
)

// watch tells a program what happens in its call, and asks its person.
type watch struct {
	ctx   context.Context
	req   *sdk.CallToolRequest
	s     *session.Session
	n     float64
	calls map[string]string // titles, by id
	work  sync.WaitGroup
}

// asks reports whether a program asks its person what a server asks.
func asks(by *sdk.ServerSession) bool {
	in := by.InitializeParams()
	return in != nil && in.Capabilities != nil && in.Capabilities.Elicitation != nil
}

// see handles an event of the turn. It must not wait.
func (w *watch) see(e event.Event) error {
	switch b := e.Body.(type) {
	case event.CallStarted:
		w.progress(w.calls[b.ID])
	case event.CallAsked:
		w.calls[b.ID] = first(b.Title, b.Tool)
	case event.CallDone:
		delete(w.calls, b.ID)
	case event.Replied:
		text, _, _ := strings.Cut(strings.TrimSpace(b.Reply.Message.Text()), "\n")
		w.progress(text)
	case event.Asked:
		w.work.Go(func() { _, _ = w.s.Submit(context.WithoutCancel(w.ctx), w.answer(b)) })
	}
	return nil
}

func first(a, b string) string {
	if a != "" {
		return a
	}
	return b
}

// progress reports a line, where the program wants progress.
func (w *watch) progress(text string) {
	token := w.req.Params.GetProgressToken()
	if text = plain.Line(text); token == nil || text == "" {
		return
	}
	if len(text) > 200 {
		text = strings.ToValidUTF8(text[:200], "") + "…"
	}
	w.n++
	_ = w.req.Session.NotifyProgress(w.ctx, &sdk.ProgressNotificationParams{ProgressToken: token, Progress: w.n, Message: text})
}

// The answers to a question about a call.
const (
	allowOnce = "allow once"
	allowMore = "allow for this session"
	deny      = "deny"
)

// answer asks the program's person. Without one, what needs a permission is
// denied; pawl's own questions (to spend more, to go on) are always answered
// with no, since the flags of the server say how far it goes.
func (w *watch) answer(a event.Asked) session.Answer {
	out := session.Answer{ID: a.ID}
	if len(a.Questions) == 0 {
		if a.Why == "" && asks(w.req.Session) {
			prop := map[string]any{"type": "string"}
			if len(a.Options) > 0 {
				prop["enum"] = a.Options
			}
			out.Text = w.elicit(a.Text, prop)
		}
		return out
	}
	for _, q := range a.Questions {
		v := event.Verdict{Call: q.Call, Scope: event.No}
		if a.Why == "" && asks(w.req.Session) {
			options := []string{allowOnce, deny}
			if q.Pattern != "" {
				options = []string{allowOnce, allowMore, deny}
			}
			switch w.elicit(question(a.From, q), map[string]any{"type": "string", "enum": options}) {
			case allowOnce:
				v.Scope = event.Once
			case allowMore:
				if q.Pattern != "" {
					v.Scope = event.Session
				}
			default:
				v.Why = "the person did not allow it"
			}
		}
		out.Verdicts = append(out.Verdicts, v)
	}
	return out
}

// maxPreview is how much of a preview is shown, in bytes.
const maxPreview = 8 << 10

// question is the text about a call.
func question(from string, q event.Question) string {
	text := "pawl asks: " + q.Title
	if from != "" {
		text = "pawl's agent " + from + " asks: " + q.Title
	}
	if q.Reason != "" {
		text += " (" + q.Reason + ")"
	}
	if q.Pattern != "" {
		text += "\n" + allowMore + ": " + q.Pattern
	}
	if p := q.Preview; p != "" {
		if len(p) > maxPreview {
			p = strings.ToValidUTF8(p[:maxPreview], "") + "…"
		}
		text += "\n\n" + p
	}
	return plain.Text(text)
}

// elicit asks for one answer; "" is none.
func (w *watch) elicit(text string, prop map[string]any) string {
	schema, err := json.Marshal(map[string]any{"type": "object", "properties": map[string]any{"answer": prop}, "required": []string{"answer"}})
	if err != nil {
		return ""
	}
	r, err := w.req.Session.Elicit(w.ctx, &sdk.ElicitParams{Message: text, RequestedSchema: json.RawMessage(schema)})
	if err != nil || r.Action != "accept" {
		return ""
	}
	answer, _ := r.Content["answer"].(string)
	return answer
}
