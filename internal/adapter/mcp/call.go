package mcp

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"reflect"
	"slices"
	"strings"
	"sync/atomic"
	"time"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/pawl-agent/pawl/internal/core/llm"
	"github.com/pawl-agent/pawl/internal/core/tool"
	"github.com/pawl-agent/pawl/internal/policy/trust"
)

type trustItem = trust.Item

var tokens atomic.Int64

// cancelTime is how long a server may take to accept a cancellation. Then its process is
// ended.
const cancelTime = 2 * time.Second

// Call calls a tool of a server for the person, and returns what the server answers.
func (s *Servers) Call(ctx context.Context, server, name string, env tool.Env, in json.RawMessage) (tool.Result, error) {
	p := s.find(server)
	if p == nil {
		return tool.Result{}, fmt.Errorf("there is no MCP server %s", server)
	}
	c, err := p.get(ctx)
	if err != nil {
		return tool.Result{}, err
	}
	if why := p.whyBlocked(trustItem{Kind: "tool", Name: name}.Key()); why != "" {
		return tool.Result{}, fmt.Errorf("%s was not called: %s", name, why)
	}
	return p.ask(ctx, c, env, name, in)
}

// call calls a tool. A failure of the server is returned as a result, not as an error.
func (p *managedServer) call(ctx context.Context, env tool.Env, i trustItem, in json.RawMessage) (tool.Result, error) {
	c, err := p.get(ctx)
	if err != nil {
		if ctx.Err() != nil {
			return tool.Result{}, context.Cause(ctx)
		}
		return tool.Errorf("The MCP server %s is not available: %v. Do the task without it, or say what is missing.", p.srv.Name, err), nil
	}
	if why := p.whyBlocked(i.Key()); why != "" {
		return tool.Errorf("%s was not called: %s.", toolName(p.srv.Name, i.Name), why), nil
	}
	r, err := p.ask(ctx, c, env, i.Name, in)
	switch {
	case err == nil:
		return r, nil
	case ctx.Err() != nil:
		return tool.Result{}, context.Cause(ctx)
	}
	if e := (*SignInError)(nil); errors.As(err, &e) {
		return tool.Errorf("The MCP server %s did nothing: %v. Tell the person.", p.srv.Name, e), nil
	}
	if wire := (*jsonrpc.Error)(nil); errors.As(err, &wire) {
		return tool.Errorf("The MCP server %s answered with an error: %s", p.srv.Name, cut(p.s.hide(err.Error()), 4000)), nil
	}
	if c.proc != nil { // none of the server's answers can be trusted now
		c.kill(0)
		select {
		case <-c.gone:
		case <-ctx.Done():
		}
	}
	return tool.Errorf("The MCP server %s failed during the call: %v. What the call did may stand; look before you repeat it.", p.srv.Name, p.withLog(err)), nil
}

// ask sends a call to a running server, and waits for its answer.
func (p *managedServer) ask(ctx context.Context, c *conn, env tool.Env, name string, in json.RawMessage) (tool.Result, error) {
	params := &sdk.CallToolParams{Name: name, Arguments: in}
	if env.Out != nil {
		token := fmt.Sprintf("pawl-%d", tokens.Add(1))
		params.SetProgressToken(token)
		defer c.watch(token, env.Out)()
	}
	unasked := c.asks(env.Ask)
	defer unasked()
	type answer struct {
		r   *sdk.CallToolResult
		err error
	}
	got := make(chan answer, 1)
	go func() {
		r, err := c.ss.CallTool(ctx, params)
		got <- answer{r, err}
	}()
	select {
	case a := <-got:
		if a.err != nil {
			return tool.Result{}, a.err
		}
		r := result(a.r)
		r.Text = strings.Join(append([]string{p.s.hide(r.Text)}, unasked()...), "\n")
		return r, nil
	case <-ctx.Done():
		t := time.NewTimer(cancelTime)
		defer t.Stop()
		select {
		case <-got:
		case <-t.C:
			c.kill(0)
		}
		return tool.Result{}, context.Cause(ctx)
	}
}

// maxProgress is how many lines of progress of one call are shown.
const maxProgress = 200

// watch shows the progress that a server reports for a call.
func (c *conn) watch(token string, out func(string)) (end func()) {
	n, last := 0, ""
	c.mu.Lock()
	defer c.mu.Unlock()
	c.progress[token] = func(text string) {
		if text != last && n < maxProgress {
			n, last = n+1, text
			out(text)
		}
	}
	return func() {
		c.mu.Lock()
		defer c.mu.Unlock()
		delete(c.progress, token)
	}
}

// How much of media one answer may bring along.
const (
	maxImages = 10
	maxImage  = 4 << 20 // bytes of one image
	maxTokens = 64_000  // of all: a document of 32 pages
)

// result returns a server's answer in the form for the model.
func result(r *sdk.CallToolResult) tool.Result {
	out := tool.Result{Error: r.IsError}
	var text []string
	add := func(typ string, data []byte, name string) {
		if why := attach(&out, typ, data); why != "" {
			text = append(text, "["+name+why+"]")
		}
	}
	for _, c := range r.Content {
		switch c := c.(type) {
		case *sdk.TextContent:
			text = append(text, c.Text)
		case *sdk.ImageContent:
			add(c.MIMEType, c.Data, "image")
		case *sdk.AudioContent:
			add(c.MIMEType, c.Data, "audio")
		case *sdk.ResourceLink:
			text = append(text, strings.TrimSpace(fmt.Sprintf("[resource %s: %s] %s", c.Name, c.URI, c.Description)))
		case *sdk.EmbeddedResource:
			if r := c.Resource; r != nil && len(r.Blob) > 0 {
				add(r.MIMEType, r.Blob, "resource "+cut(r.URI, 300))
			} else {
				text = append(text, embedded(r))
			}
		default:
			text = append(text, "[content of a kind that pawl does not know, left out]")
		}
	}
	if r.StructuredContent != nil {
		if raw, err := json.MarshalIndent(r.StructuredContent, "", "  "); err == nil && !slices.ContainsFunc(text, func(t string) bool { return sameJSON(t, raw) }) {
			text = append(text, string(raw))
		}
	}
	out.Text = strings.ToValidUTF8(strings.Join(text, "\n"), "\uFFFD")
	if out.Text == "" && len(out.Images) == 0 {
		out.Text = "(the tool returned nothing)"
	}
	return out
}

// sameJSON reports whether a text is the JSON of a value. Servers should return a
// structured result also as text, for clients that only read text. In many cases the text
// has no more.
func sameJSON(text string, value []byte) bool {
	var a, b any
	return json.Unmarshal([]byte(text), &a) == nil && json.Unmarshal(value, &b) == nil && reflect.DeepEqual(a, b)
}

// attach adds media to a result, or returns why it is left out.
func attach(out *tool.Result, typ string, data []byte) (why string) {
	m, err := llm.NewMedia(typ, data)
	switch {
	case err != nil:
		return fmt.Sprintf(" of type %s, %d bytes, left out: %v", cut(typ, 40), len(data), err)
	case m.Kind() == llm.Images && len(data) > maxImage:
		return fmt.Sprintf(" of %d bytes, left out: more than %d", len(data), maxImage)
	case llm.TokensOf(out.Images)+m.Tokens() > maxTokens:
		return fmt.Sprintf(", about %d tokens, left out: an answer may bring %d", m.Tokens(), maxTokens)
	case len(out.Images) >= maxImages:
		return fmt.Sprintf(", left out: there are %d before it", maxImages)
	}
	out.Images = append(out.Images, m)
	return ""
}

func embedded(r *sdk.ResourceContents) string {
	if r == nil {
		return "[an empty resource]"
	}
	return "== " + cut(r.URI, 300) + " ==\n" + r.Text
}
