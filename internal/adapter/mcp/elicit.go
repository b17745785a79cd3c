package mcp

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/pawl-agent/pawl/internal/core/tool"
)

// Limits of one question of a server.
const (
	maxFields   = 8
	maxOptions  = 8
	maxQuestion = 2000
)

// field is one thing that a server asks for.
type field struct {
	Type        string          `json:"type"`
	Title       string          `json:"title"`
	Description string          `json:"description"`
	Default     json.RawMessage `json:"default"`
	choices
	Items choices `json:"items"` // of an array
}

// choices are the values that a field may have.
type choices struct {
	Enum      []string `json:"enum"`
	EnumNames []string `json:"enumNames"`
	OneOf     []choice `json:"oneOf"`
	AnyOf     []choice `json:"anyOf"`
}

// choice is a value with its title.
type choice struct {
	Const string `json:"const"`
	Title string `json:"title"`
}

func (c choices) list() []choice {
	out := slices.Concat(c.OneOf, c.AnyOf)
	for i, v := range c.Enum {
		one := choice{Const: v}
		if i < len(c.EnumNames) {
			one.Title = c.EnumNames[i]
		}
		out = append(out, one)
	}
	return out
}

// shown returns the choice in the form for a person.
func (c choice) shown() string {
	if c.Title != "" && c.Title != c.Const {
		return cut(visible(c.Title+" ("+c.Const+")"), 100)
	}
	return cut(visible(c.Const), 100)
}

// pick returns the value that an answer names.
func pick(all []choice, answer string) (string, bool) {
	answer = strings.TrimSpace(answer)
	for _, c := range all {
		if answer == c.shown() || answer == c.Const || strings.EqualFold(answer, c.Title) && c.Title != "" {
			return c.Const, true
		}
	}
	return "", false
}

// asks lets the server ask the person of the running call until end is called. end
// returns the questions that were declined because nobody answers.
func (c *conn) asks(a tool.Asker) (end func() []string) {
	if a == nil {
		a = absentPerson{}
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.callers = append(c.callers, a)
	i, over := len(c.callers)-1, false
	return func() []string {
		c.mu.Lock()
		defer c.mu.Unlock()
		if over {
			return nil
		}
		over = true
		c.callers[i] = nil
		if !slices.ContainsFunc(c.callers, func(a tool.Asker) bool { return a != nil }) {
			c.callers = nil
		}
		said := c.declined
		c.declined = nil
		return said
	}
}

// absentPerson declines all questions: no person is there.
type absentPerson struct{}

func (absentPerson) Question(context.Context, string, []string) (string, error) {
	return "", tool.ErrNobody
}

// person returns the person to ask: that of the one running call. If several calls are
// running, it returns nil, since nobody knows to which call the question belongs.
func (c *conn) person() tool.Asker {
	c.mu.Lock()
	defer c.mu.Unlock()
	var one tool.Asker
	for _, a := range c.callers {
		if a != nil && one != nil {
			return nil
		}
		if a != nil {
			one = a
		}
	}
	return one
}

// maxDeclined is how many unanswered questions of a call its result lists.
const maxDeclined = 3

// decline answers a question without a person, and records it for the result of the call.
func (c *conn) decline(p *sdk.ElicitParams, why string) *sdk.ElicitResult {
	c.mu.Lock()
	defer c.mu.Unlock()
	if len(c.declined) < maxDeclined {
		c.declined = append(c.declined, fmt.Sprintf("[the server asked %q, and got no answer: %s]", cut(visible(p.Message), 300), why))
	}
	return &sdk.ElicitResult{Action: "decline"}
}

// unanswered answers a form where nobody is there: with the server's own defaults if the
// person configured that and each field has one, otherwise it declines. The result of the
// call says so.
func (c *conn) unanswered(p *sdk.ElicitParams, fields map[string]field, why error) *sdk.ElicitResult {
	content := map[string]any{}
	for name, f := range fields {
		var v any
		if !c.defaults || len(f.Default) == 0 || json.Unmarshal(f.Default, &v) != nil {
			return c.decline(p, why.Error())
		}
		content[name] = v
	}
	c.decline(p, why.Error()+", so it got its defaults (acceptDefaults)")
	return &sdk.ElicitResult{Action: "accept", Content: content}
}

// byProgram lets the program that drives pawl answer. What is no answer declines.
func (c *conn) byProgram(ctx context.Context, p *sdk.ElicitParams) *sdk.ElicitResult {
	raw, err := c.inside.Elicit(ctx, Elicitation{c.name, p.Message, cmp.Or(p.Mode, "form"), p.URL, p.ElicitationID, p.RequestedSchema})
	var r sdk.ElicitResult
	if err == nil {
		err = json.Unmarshal(raw, &r)
	}
	if err == nil && !slices.Contains([]string{"accept", "decline", "cancel"}, r.Action) {
		err = fmt.Errorf("the program's answer has the action %q", cut(visible(r.Action), 40))
	}
	if err != nil {
		return c.decline(p, err.Error())
	}
	return &r
}

// elicit asks the person a server's question. The question names the server,
// and an empty answer sends the server nothing. A request to open an address is
// declined.
func (c *conn) elicit(ctx context.Context, p *sdk.ElicitParams) (*sdk.ElicitResult, error) {
	if c.inside != nil {
		return c.byProgram(ctx, p), nil
	}
	who := c.person()
	if p.Mode == "url" {
		return c.decline(p, "it asks to open an address, which pawl does not do: "+cut(visible(p.URL), 300)), nil
	}
	if who == nil {
		return c.decline(p, "it does not belong to one call"), nil
	}
	var schema struct {
		Properties map[string]field `json:"properties"`
		Required   []string         `json:"required"`
	}
	raw, err := json.Marshal(p.RequestedSchema)
	if err == nil {
		err = json.Unmarshal(raw, &schema)
	}
	if err != nil || len(schema.Properties) > maxFields {
		return c.decline(p, "pawl cannot ask for this"), nil
	}
	head := fmt.Sprintf("The MCP server %s asks, and gets what you answer: %s", c.name, cut(visible(p.Message), maxQuestion))
	if len(schema.Properties) == 0 {
		answer, err := who.Question(ctx, head, []string{"accept", "decline"})
		switch {
		case err != nil:
			return c.decline(p, err.Error()), nil
		case answer != "accept":
			return &sdk.ElicitResult{Action: "decline"}, nil
		}
		return &sdk.ElicitResult{Action: "accept", Content: map[string]any{}}, nil
	}
	content := map[string]any{}
	for _, name := range slices.Sorted(maps.Keys(schema.Properties)) {
		f := schema.Properties[name]
		text, options := f.question(head, name)
		answer, err := who.Question(ctx, text, options)
		if errors.Is(err, tool.ErrNobody) {
			return c.unanswered(p, schema.Properties, err), nil
		}
		if err != nil { // the call ended
			return &sdk.ElicitResult{Action: "cancel"}, nil
		}
		if answer = strings.TrimSpace(answer); answer == "" {
			var v any
			switch {
			case len(f.Default) > 0 && json.Unmarshal(f.Default, &v) == nil:
				content[name] = v
			case slices.Contains(schema.Required, name):
				return &sdk.ElicitResult{Action: "cancel"}, nil
			}
			continue
		}
		v, ok := f.value(answer)
		if !ok {
			return &sdk.ElicitResult{Action: "cancel"}, nil
		}
		content[name] = v
	}
	return &sdk.ElicitResult{Action: "accept", Content: content}, nil
}

// question returns the text and the options for a field.
func (f field) question(head, name string) (text string, options []string) {
	text = head + "\n" + cut(visible(strings.TrimSpace(name+" "+f.Title+" "+f.Description)), 500)
	for _, c := range slices.Concat(f.list(), f.Items.list()) {
		options = append(options, c.shown())
	}
	if f.Type == "boolean" {
		options = []string{"yes", "no"}
	}
	switch {
	case f.Type == "array": // several: they are typed
		text += "\nseveral, with commas between them: " + cut(strings.Join(options, ", "), 500)
		options = nil
	case len(options) > maxOptions:
		text += "\none of: " + cut(strings.Join(options, ", "), 500)
		options = nil
	}
	if len(f.Default) > 0 {
		text += "\nwithout an answer: " + cut(visible(string(f.Default)), 100)
	}
	return text, options
}

// value parses an answer by the field's type.
func (f field) value(answer string) (any, bool) {
	if all := f.list(); len(all) > 0 {
		return pick(all, answer)
	}
	switch f.Type {
	case "array":
		out := []string{}
		for one := range strings.SplitSeq(answer, ",") {
			v, ok := pick(f.Items.list(), one)
			if !ok {
				return nil, false
			}
			out = append(out, v)
		}
		return out, true
	case "boolean":
		switch strings.ToLower(answer) {
		case "yes", "y", "true":
			return true, true
		case "no", "n", "false":
			return false, true
		}
		return nil, false
	case "integer":
		n, err := strconv.ParseInt(answer, 10, 64)
		return n, err == nil
	case "number":
		n, err := strconv.ParseFloat(answer, 64)
		return n, err == nil
	case "string", "":
		return answer, true
	}
	return nil, false
}
