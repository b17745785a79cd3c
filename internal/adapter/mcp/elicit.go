package mcp

import (
	"context"
	"encoding/json"
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
	Type        string   `json:"type"`
	Title       string   `json:"title"`
	Description string   `json:"description"`
	Enum        []string `json:"enum"`
}

// asks lets the server ask the person of the running call, until end is called.
func (c *conn) asks(a tool.Asker) (end func()) {
	if a == nil {
		return func() {}
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.callers = append(c.callers, a)
	i := len(c.callers) - 1
	return func() {
		c.mu.Lock()
		defer c.mu.Unlock()
		c.callers[i] = nil
		if !slices.ContainsFunc(c.callers, func(a tool.Asker) bool { return a != nil }) {
			c.callers = nil
		}
	}
}

// person returns who is asked: the person of the one running call. If several
// calls are running, nobody can tell whose question it is.
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

// elicit asks the person a server's question. The question names the server,
// and an empty answer sends the server nothing. A request to open an address is
// declined.
func (c *conn) elicit(ctx context.Context, p *sdk.ElicitParams) (*sdk.ElicitResult, error) {
	who := c.person()
	if p.Mode == "url" || who == nil {
		return &sdk.ElicitResult{Action: "decline"}, nil
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
		return &sdk.ElicitResult{Action: "decline"}, nil // what it asks for can not be asked
	}
	head := fmt.Sprintf("The MCP server %s asks, and gets what you answer: %s", c.name, cut(visible(p.Message), maxQuestion))
	if len(schema.Properties) == 0 {
		answer, err := who.Question(ctx, head, []string{"accept", "decline"})
		if err != nil || answer != "accept" {
			return &sdk.ElicitResult{Action: "decline"}, nil // nobody is there, or the call ended
		}
		return &sdk.ElicitResult{Action: "accept", Content: map[string]any{}}, nil
	}
	content := map[string]any{}
	for _, name := range slices.Sorted(maps.Keys(schema.Properties)) {
		f := schema.Properties[name]
		text := head + "\n" + cut(visible(strings.TrimSpace(name+" "+f.Title+" "+f.Description)), 500)
		options := f.Enum
		if f.Type == "boolean" {
			options = []string{"yes", "no"}
		}
		if len(options) > maxOptions {
			options = nil
		}
		for i := range options {
			options[i] = visible(options[i])
		}
		answer, err := who.Question(ctx, text, options)
		if err != nil {
			return &sdk.ElicitResult{Action: "cancel"}, nil // nobody is there, or the call ended
		}
		if answer = strings.TrimSpace(answer); answer == "" {
			if slices.Contains(schema.Required, name) {
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

// value parses an answer by the field's type.
func (f field) value(answer string) (any, bool) {
	switch f.Type {
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
