package mcpserve

import (
	"context"
	"encoding/json"
	"strings"
	"sync"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/pawl-agent/pawl/internal/core/cut"
	"github.com/pawl-agent/pawl/internal/core/event"
	"github.com/pawl-agent/pawl/internal/engine/session"
	"github.com/pawl-agent/pawl/internal/frontend/chat"
	"github.com/pawl-agent/pawl/internal/frontend/plain"
	"github.com/pawl-agent/pawl/internal/policy/permission"
)

// observer reports the blocks of a call's turn to the program, and asks the program's
// person.
type observer struct {
	ctx      context.Context
	req      *sdk.CallToolRequest
	s        *session.Session
	n        float64
	timeline chat.Timeline
	work     sync.WaitGroup
}

// asks reports whether a program can ask its person a server's questions (elicitation).
func asks(by *sdk.ServerSession) bool {
	in := by.InitializeParams()
	return in != nil && in.Capabilities != nil && in.Capabilities.Elicitation != nil
}

// see handles an event of the turn. It must not block.
func (w *observer) see(e event.Event) error {
	for _, c := range w.timeline.Apply(e) {
		switch b := c.Block.Body.(type) {
		case chat.Call:
			if c.What == chat.Changed && b.Started && !b.AsksPerson && c.More == "" {
				w.progress(b.Title)
			}
		case chat.Reply:
			if c.What == chat.Finished && !c.Block.Ephemeral {
				text, _, _ := strings.Cut(strings.TrimSpace(b.Text), "\n")
				w.progress(text)
			}
		case chat.Question:
			if c.What == chat.Added {
				w.work.Go(func() { _, _ = w.s.Submit(context.WithoutCancel(w.ctx), w.answer(b)) })
			}
		}
	}
	return nil
}

// progress reports a line, if the program requested progress.
func (w *observer) progress(text string) {
	token := w.req.Params.GetProgressToken()
	if text = plain.Line(text); token == nil || text == "" {
		return
	}
	w.n++
	_ = w.req.Session.NotifyProgress(w.ctx, &sdk.ProgressNotificationParams{ProgressToken: token, Progress: w.n, Message: cut.Bytes(text, 200)})
}

// The answers to a question about a call.
const (
	allowOnce = "allow once"
	allowMore = "allow for this session"
	deny      = "deny"
)

// answer asks the program's person. If it cannot, a call that needs a permission is
// denied. pawl's own questions (to spend more, to continue) are always answered with
// no, since the server's flags set its limits.
func (w *observer) answer(q chat.Question) session.Answer {
	out := session.Answer{ID: q.ID}
	if len(q.Calls) == 0 {
		if q.Why == "" && asks(w.req.Session) {
			prop := map[string]any{"type": "string"}
			if len(q.Options) > 0 {
				prop["enum"] = q.Options
			}
			out.Text = w.elicit(q.Text, prop)
		}
		return out
	}
	for _, c := range q.Calls {
		v := event.Verdict{Call: c.Call, Scope: event.No}
		if q.Why == "" && asks(w.req.Session) {
			options := []string{allowOnce, deny}
			if c.Rule != "" {
				options = []string{allowOnce, allowMore, deny}
			}
			switch w.elicit(question(q.From, c), map[string]any{"type": "string", "enum": options}) {
			case allowOnce:
				v.Scope = event.Once
			case allowMore:
				if c.Rule != "" {
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

// question returns the text of a question about a call.
func question(from string, c chat.Consent) string {
	text := "pawl asks: " + c.Title
	if from != "" {
		text = "pawl's agent " + from + " asks: " + c.Title
	}
	if c.Reason != "" {
		text += " (" + c.Reason + ")"
	}
	if c.Rule != "" {
		text += "\n" + allowMore + ": " + permission.InWords(c.Rule)
	}
	if p := c.Preview; p != "" {
		text += "\n\n" + cut.Bytes(p, maxPreview)
	}
	return text
}

// elicit asks for one answer; it returns "" if there is none.
func (w *observer) elicit(text string, prop map[string]any) string {
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
