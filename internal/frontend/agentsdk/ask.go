package agentsdk

import (
	"bytes"
	"cmp"
	"encoding/json"
	"fmt"
	"strings"

	"github.com/pawl-agent/pawl/internal/core/event"
	"github.com/pawl-agent/pawl/internal/engine/session"
	"github.com/pawl-agent/pawl/internal/policy/hook"
	"github.com/pawl-agent/pawl/internal/policy/permission"
)

// ask is an open question to the program.
type ask struct {
	of       *pendingAnswer
	question event.Question
	text     string          // of a question of the model's own
	input    json.RawMessage // as it was sent to the program
	rule     rule            // the rule that "from now on" would add
}

// pendingAnswer collects the answers to one question of the session, which may be about
// several calls.
type pendingAnswer struct {
	answer session.Answer
	open   int
}

// rule is a permission rule in the program's format.
type rule struct {
	Tool    string `json:"toolName"`
	Content string `json:"ruleContent,omitempty"`
}

// permissionUpdate is a change of permissions, which pawl suggests and the program
// sends back.
type permissionUpdate struct {
	Type        string `json:"type"` // addRules, setMode, …
	Rules       []rule `json:"rules,omitempty"`
	Behavior    string `json:"behavior,omitempty"`
	Mode        string `json:"mode,omitempty"`
	Destination string `json:"destination"`
}

// askRequest is the question whether a call may run.
type askRequest struct {
	Subtype     string             `json:"subtype"` // can_use_tool
	Tool        string             `json:"tool_name"`
	Input       json.RawMessage    `json:"input"`
	Suggestions []permissionUpdate `json:"permission_suggestions,omitempty"`
	Reason      string             `json:"decision_reason,omitempty"`
	Title       string             `json:"title,omitempty"`
	Call        string             `json:"tool_use_id"`
}

// The program's names for a question of the model.
const askTool = "AskUserQuestion"

// ask passes a question of the session to the program. pawl's own questions (whether to
// spend more, to go on in circles, to wait long) are answered with no: the program set
// the limits, and the result reports that one was reached.
func (t *conversation) ask(a event.Asked) {
	if !t.Ask || t.silent || a.Why != "" {
		why := ""
		if t.silent {
			why = "nobody is asked in this mode: do what is possible without it"
		}
		t.answer(session.Answer{ID: a.ID, Verdicts: refuse(a.Questions, why)})
		return
	}
	sh := &pendingAnswer{answer: session.Answer{ID: a.ID}}
	if len(a.Questions) == 0 {
		input := t.asksPerson(a)
		t.put(ask{of: sh, text: a.Text, input: input}, askRequest{Tool: askTool, Input: input, Call: t.last})
		return
	}
	for _, q := range a.Questions {
		c, known := t.w.calls[q.Call]
		if !known { // of an agent or a check: only the question's text is known
			c.Tool, c.Args = q.Tool, encode(map[string]string{"description": q.Title, "preview": q.Preview})
		}
		name, input := t.w.name(c.Tool), hook.Renamed(c.Args)
		k := ask{of: sh, question: q, input: input, rule: t.ruleOf(q.Pattern)}
		r := askRequest{Tool: name, Input: input, Reason: q.Reason, Title: q.Title, Call: q.Call}
		if a.From != "" {
			r.Title = a.From + ": " + r.Title
		}
		if q.Pattern != "" {
			r.Suggestions = append(r.Suggestions, permissionUpdate{Type: "addRules", Rules: []rule{k.rule}, Behavior: "allow", Destination: "session"})
		}
		if q.Edits {
			r.Suggestions = append(r.Suggestions, permissionUpdate{Type: "setMode", Mode: permission.Default(true).Editing().Hook(), Destination: "session"})
		}
		t.put(k, r)
	}
}

// asksPerson returns a question of the model in the programs' format.
func (t *conversation) asksPerson(a event.Asked) json.RawMessage {
	type option struct {
		Label       string `json:"label"`
		Description string `json:"description"`
	}
	options := []option{}
	for _, o := range a.Options {
		options = append(options, option{Label: o})
	}
	return encode(map[string]any{"questions": []any{map[string]any{
		"question": a.Text, "header": "Question", "options": options, "multiSelect": false,
	}}})
}

// put sends one question to the program.
func (t *conversation) put(k ask, r askRequest) {
	t.requests++
	id := fmt.Sprintf("pawl-%d", t.requests)
	r.Subtype = "can_use_tool"
	t.open[id] = k
	k.of.open++
	t.w.request(id, r)
}

// answered handles the program's answer to a question. An answer to an unknown or
// withdrawn question is ignored.
func (t *conversation) answered(r response) {
	if c, ok := t.outgoingRequests[r.RequestID]; ok {
		delete(t.outgoingRequests, r.RequestID)
		c.answer <- r
		return
	}
	k, ok := t.open[r.RequestID]
	if !ok {
		return
	}
	delete(t.open, r.RequestID)
	sh := k.of
	sh.open--
	var said struct {
		Behavior    string             `json:"behavior"` // allow, deny
		Message     string             `json:"message"`
		Interrupt   bool               `json:"interrupt"`
		Input       json.RawMessage    `json:"updatedInput"`
		Permissions []permissionUpdate `json:"updatedPermissions"`
	}
	if err := json.Unmarshal(r.Response, &said); r.Subtype != "success" || err != nil {
		said.Behavior, said.Message = "deny", "the question could not be answered: "+r.Error
		if err != nil {
			said.Message += err.Error()
		}
	}
	allowed := said.Behavior == "allow"
	if k.text != "" {
		if allowed {
			sh.answer.Text = chosen(said.Input, k.text)
		}
	} else {
		v := event.Verdict{Call: k.question.Call, Scope: event.No, Why: said.Message}
		switch {
		case allowed && len(said.Input) > 0 && !sameJSON(said.Input, k.input):
			// The call is recorded and checked as the model asked for it. Only the
			// model may ask for a different one.
			v.Why = "not run as asked; it may run with these arguments: " + string(said.Input)
		case allowed:
			v.Scope, v.Why = k.scope(said.Permissions), ""
		}
		sh.answer.Verdicts = append(sh.answer.Verdicts, v)
	}
	for _, p := range said.Permissions {
		if allowed && p.Type == "setMode" {
			if err := t.change(p.Mode); err != nil {
				t.say("%v", err)
			}
		}
	}
	if sh.open == 0 {
		t.answer(sh.answer)
	}
	if said.Interrupt && !allowed {
		if k.text == "" { // the turn ends before the refusal is recorded
			c := t.w.calls[k.question.Call]
			t.w.turn.denials = append(t.w.turn.denials, denial{t.w.name(cmp.Or(c.Tool, k.question.Tool)), k.question.Call, k.input})
		}
		_, _ = t.s.Submit(t.ctx, session.Interrupt{By: "person"})
	}
}

// scope returns for how long the program allows the call: "from now on" only if it
// sends back the suggested rule. What may not be allowed for good the gate knows.
func (k ask) scope(ps []permissionUpdate) event.Scope {
	scope := event.Once
	for _, p := range ps {
		if p.Type != "addRules" || p.Behavior != "allow" || len(p.Rules) != 1 || p.Rules[0] != k.rule {
			continue
		}
		if p.Destination == "session" || p.Destination == "cliArg" {
			scope = event.Session
		} else {
			return event.Always
		}
	}
	return scope
}

// inputClosed answers all open and later questions with no, since the program has closed its
// side. Hooks and servers inside it fail from now on.
func (t *conversation) inputClosed() {
	t.Ask = false
	for id, c := range t.outgoingRequests {
		c.answer <- response{Error: errAway.Error()}
		delete(t.outgoingRequests, id)
	}
	for _, k := range t.open {
		if k.text == "" {
			k.of.answer.Verdicts = append(k.of.answer.Verdicts, event.Verdict{Call: k.question.Call, Scope: event.No, Why: "nobody is there to be asked any more"})
		}
		if k.of.open--; k.of.open == 0 {
			t.answer(k.of.answer)
		}
	}
	clear(t.open)
}

// answer submits an answer. Its error is not needed: the question is no longer open.
func (t *conversation) answer(a session.Answer) { _, _ = t.s.Submit(t.ctx, a) }

// withdraw tells the program that its answers are no longer needed.
func (t *conversation) withdraw() {
	for id := range t.open {
		t.w.cancelRequest(id)
	}
	clear(t.open)
}

// refuse answers all questions with no.
func refuse(qs []event.Question, why string) []event.Verdict {
	var out []event.Verdict
	for _, q := range qs {
		out = append(out, event.Verdict{Call: q.Call, Scope: event.No, Why: why})
	}
	return out
}

// chosen returns the answer to the model's question.
func chosen(input json.RawMessage, question string) string {
	var in struct {
		Answers map[string]string `json:"answers"`
	}
	if json.Unmarshal(input, &in) != nil {
		return ""
	}
	return in.Answers[question]
}

// ruleOf splits a rule of pawl, tool(what), and uses the programs' name of the tool.
func (t *conversation) ruleOf(pattern string) rule {
	tool, what, _ := strings.Cut(strings.TrimSuffix(pattern, ")"), "(")
	return rule{t.w.name(tool), what}
}

// sameJSON reports whether two values are the same JSON.
func sameJSON(a, b json.RawMessage) bool {
	var x, y any
	if json.Unmarshal(a, &x) != nil || json.Unmarshal(b, &y) != nil {
		return false
	}
	return bytes.Equal(encode(x), encode(y))
}

// encode encodes a value. It never fails, since all its arguments can be encoded.
func encode(v any) json.RawMessage {
	b, err := json.Marshal(v)
	if err != nil {
		panic(err)
	}
	return b
}
