package mcp

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/pawl-agent/pawl/internal/core/arguments"
	"github.com/pawl-agent/pawl/internal/core/lazyregexp"
	"github.com/pawl-agent/pawl/internal/core/llm"
	"github.com/pawl-agent/pawl/internal/core/tool"
)

// This file handles what a person requests from a server: prompts, which are commands of
// a conversation, and resources, which a prompt mentions. Both are read when the person
// names them, and never because a model or a server requests it.

// askTime is how long a server may take for a prompt or a resource.
const askTime = 30 * time.Second

// maxAsked is the size limit of the text of one prompt or resource, in bytes.
const maxAsked = 128 << 10

// Prompt is a prompt of a server.
type Prompt struct {
	Server, Name string
	Doc          string
	Args         []PromptArg
}

// PromptArg is an argument of a prompt.
type PromptArg struct {
	Name     string `json:"name"`
	Required bool   `json:"required"`
}

// Command returns the name of the command for the prompt.
func (p Prompt) Command() string { return toolName(p.Server, p.Name) }

// Usage returns the names of the prompt's arguments, optional ones in brackets.
func (p Prompt) Usage() string {
	var out []string
	for _, a := range p.Args {
		name := strings.ToUpper(cut(visible(a.Name), 30))
		if !a.Required {
			name = "[" + name + "]"
		}
		out = append(out, name)
	}
	return strings.Join(out, " ")
}

// promptName matches the names that can be typed as a command.
var promptName = lazyregexp.New(`^[A-Za-z0-9_.-]{1,64}$`)

// Prompts lists the accepted prompts. It starts nothing.
func (s *Servers) Prompts() []Prompt {
	var out []Prompt
	taken := map[string]bool{}
	for _, p := range s.ownFirst() {
		a := p.wasAccepted()
		if a == nil {
			continue
		}
		for _, i := range a.Items {
			if i.Kind != "prompt" || !promptName().MatchString(i.Name) || p.whyBlocked(i.Key()) != "" {
				continue
			}
			var said struct {
				Title       string      `json:"title"`
				Description string      `json:"description"`
				Args        []PromptArg `json:"arguments"`
			}
			if json.Unmarshal(i.Said, &said) != nil {
				continue
			}
			one := Prompt{Server: p.srv.Name, Name: i.Name, Doc: cut(visible(firstOf(said.Description, said.Title)), 200), Args: said.Args}
			if name := folded(one.Command()); !taken[name] {
				taken[name] = true
				out = append(out, one)
			}
		}
	}
	return out
}

func firstOf(a, b string) string {
	if strings.TrimSpace(a) != "" {
		return a
	}
	return b
}

// Say gets a prompt from a server. words are the person's arguments: values in the
// prompt's order, where the last takes the rest, or NAME=VALUE.
func (s *Servers) Say(ctx context.Context, prompt Prompt, words string) (text string, images []llm.Media, err error) {
	args, err := prompt.args(words)
	if err != nil {
		return "", nil, err
	}
	ctx, cancel := context.WithTimeoutCause(ctx, askTime, fmt.Errorf("the MCP server %s did not answer within %s", prompt.Server, askTime))
	defer cancel()
	p := s.find(prompt.Server)
	if p == nil {
		return "", nil, fmt.Errorf("there is no MCP server %s", prompt.Server)
	}
	c, err := p.get(ctx)
	if err == nil {
		if why := p.whyBlocked("prompt:" + prompt.Name); why != "" {
			return "", nil, fmt.Errorf("/%s is not used: %s", prompt.Command(), why)
		}
		var r *sdk.GetPromptResult
		if r, err = within(ctx, c, func() (*sdk.GetPromptResult, error) {
			return c.ss.GetPrompt(ctx, &sdk.GetPromptParams{Name: prompt.Name, Arguments: args})
		}); err == nil {
			text, images = said(r)
			return s.hide(text), images, nil
		}
	}
	return "", nil, fmt.Errorf("the MCP server %s did not return the prompt: %s", prompt.Server, cut(s.hide(err.Error()), 1000))
}

// within calls ask but does not wait longer than ctx, even if the server ignores the
// cancellation.
func within[T any](ctx context.Context, c *conn, ask func() (T, error)) (T, error) {
	type answer struct {
		r   T
		err error
	}
	got := make(chan answer, 1)
	go func() {
		r, err := ask()
		got <- answer{r, err}
	}()
	select {
	case a := <-got:
		if a.err != nil && ctx.Err() != nil {
			a.err = context.Cause(ctx)
		}
		return a.r, a.err
	case <-ctx.Done():
		t := time.NewTimer(cancelTime)
		defer t.Stop()
		select {
		case <-got:
		case <-t.C:
			c.kill(0)
		}
		var none T
		return none, context.Cause(ctx)
	}
}

// args returns a prompt's arguments by name.
func (p Prompt) args(words string) (map[string]string, error) {
	out := map[string]string{}
	var free []string
	for _, w := range arguments.Split(words, " \t") {
		name, value, ok := strings.Cut(w, "=")
		if ok && slices.ContainsFunc(p.Args, func(a PromptArg) bool { return a.Name == name }) {
			out[name] = value
		} else {
			free = append(free, w)
		}
	}
	var open []string
	for _, a := range p.Args {
		if _, given := out[a.Name]; !given {
			open = append(open, a.Name)
		}
	}
	for i, name := range open {
		switch {
		case i >= len(free):
		case i == len(open)-1:
			out[name] = strings.Join(free[i:], " ")
		default:
			out[name] = free[i]
		}
	}
	if len(free) > 0 && len(open) == 0 {
		return nil, fmt.Errorf("/%s takes no such argument: %s", p.Command(), strings.Join(free, " "))
	}
	for _, a := range p.Args {
		if _, given := out[a.Name]; a.Required && !given {
			return nil, fmt.Errorf("/%s needs %s: /%s %s", p.Command(), visible(a.Name), p.Command(), p.Usage())
		}
	}
	return out, nil
}

// said returns the text and images of a prompt's messages. An assistant's messages are
// marked.
func said(r *sdk.GetPromptResult) (string, []llm.Media) {
	var texts []string
	var images []llm.Media
	for _, m := range r.Messages {
		if m == nil || m.Content == nil {
			continue
		}
		one := result(&sdk.CallToolResult{Content: []sdk.Content{m.Content}})
		if len(images) < maxImages {
			images = append(images, one.Images...)
		}
		text := visible(one.Text)
		if text == "" || len(one.Images) > 0 {
			continue
		}
		if m.Role != "user" {
			text = "[an answer that the prompt brings along:]\n" + text
		}
		texts = append(texts, text)
	}
	return cut(strings.Join(texts, "\n\n"), maxAsked), images
}

// resourceRef is SERVER:URI.
var resourceRef = lazyregexp.New(`^([A-Za-z0-9_-]{1,40}):([A-Za-z][A-Za-z0-9+.-]*:.+)$`)

// Resource reads the resource that a person mentions as SERVER:URI. known is false if ref
// does not name one of the servers. why is the reason if the resource could not be read.
func (s *Servers) Resource(ctx context.Context, ref string) (r tool.Result, why string, known bool) {
	m := resourceRef().FindStringSubmatch(ref)
	if m == nil {
		return r, "", false
	}
	p := s.find(m[1])
	if p == nil {
		return r, "", false
	}
	ctx, cancel := context.WithTimeoutCause(ctx, askTime, fmt.Errorf("it did not answer within %s", askTime))
	defer cancel()
	c, err := p.get(ctx)
	if err == nil && !offersResources(c) {
		err = errors.New("it has no resources")
	}
	var got *sdk.ReadResourceResult
	if err == nil {
		got, err = within(ctx, c, func() (*sdk.ReadResourceResult, error) {
			return c.ss.ReadResource(ctx, &sdk.ReadResourceParams{URI: m[2]})
		})
	}
	if err != nil {
		return r, fmt.Sprintf("the MCP server %s: %s", p.srv.Name, cut(s.hide(err.Error()), 500)), true
	}
	var texts []string
	for _, one := range got.Contents {
		if one == nil || len(one.Blob) == 0 {
			texts = append(texts, embedded(one))
		} else if why := attach(&r, one.MIMEType, one.Blob); why != "" {
			texts = append(texts, "[resource "+cut(one.URI, 300)+why+"]")
		}
	}
	r.Text = fmt.Sprintf("[resource of the MCP server %s]\n%s", p.srv.Name, cut(s.hide(strings.ToValidUTF8(strings.Join(texts, "\n"), "\uFFFD")), maxAsked))
	return r, "", true
}

func offersResources(c *conn) bool {
	init := c.ss.InitializeResult()
	return init != nil && init.Capabilities != nil && init.Capabilities.Resources != nil
}

// Complete lists the known resources of known servers whose mention begins with the text
// begin. It starts nothing.
func (s *Servers) Complete(begin string) []string {
	const most = 50
	var out []string
	for _, p := range s.all() {
		a := p.wasAccepted()
		if a == nil {
			continue
		}
		p.mu.Lock()
		list := a.Resources
		if p.resources != nil {
			list = p.resources
		}
		p.mu.Unlock()
		for _, uri := range list {
			if ref := p.srv.Name + ":" + uri; strings.HasPrefix(ref, begin) && len(out) < most {
				out = append(out, ref)
			}
		}
	}
	return out
}
