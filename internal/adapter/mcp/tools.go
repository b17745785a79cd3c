package mcp

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/pawl-agent/pawl/internal/core/llm"
	"github.com/pawl-agent/pawl/internal/core/sorting"
	"github.com/pawl-agent/pawl/internal/core/tool"
)

// Tools returns the tools that are known now, as they were accepted, and the reasons why
// others are left out. It starts nothing.
//
// The person's own servers come first, so a folder's server cannot take a name from them.
func (s *Servers) Tools() (set tool.Set, left []string) {
	taken := map[string]string{}
	for _, p := range s.ownFirst() {
		a := p.wasAccepted()
		if a == nil {
			continue
		}
		about := p.about(a)
		for _, m := range p.make(a) {
			if p.whyBlocked(m.item.Key()) != "" {
				continue
			}
			i, t, err := m.item, m.tool, m.err
			if err == nil {
				if other := taken[folded(t.Spec.Name)]; other != "" {
					err = fmt.Errorf("its name is too similar to that of %s", other)
				}
			}
			if err != nil {
				left = append(left, fmt.Sprintf("the tool %s of the MCP server %s is not offered: %v", cut(visible(i.Name), 64), p.srv.Name, err))
				continue
			}
			taken[folded(t.Spec.Name)] = t.Spec.Name
			if about != "" { // with the first one
				t.Spec.Doc, about = strings.TrimSpace(t.Spec.Doc+"\n"+about), ""
			}
			set = append(set, t)
		}
	}
	return set, left
}

// about returns what a server says of all its tools, marked as its text. Like the
// descriptions, it is what was accepted.
func (p *managedServer) about(a *Accepted) string {
	text := strings.TrimSpace(visible(a.Instructions))
	if text == "" {
		return ""
	}
	return cut("The MCP server "+p.srv.Name+" says of all its tools: "+text, maxDoc)
}

// ownFirst lists the servers, the person's own before a folder's.
func (s *Servers) ownFirst() []*managedServer {
	managed := s.all()
	slices.SortStableFunc(managed, func(a, b *managedServer) int {
		switch {
		case a.srv.Project == b.srv.Project:
			return 0
		case a.srv.Project:
			return 1
		}
		return -1
	})
	return managed
}

// serverTool is a tool of a server; err is why it cannot be offered, nil if it can.
type serverTool struct {
	item trustItem
	tool tool.Tool
	err  error
}

// make returns the tools of what was accepted. They are made once.
func (p *managedServer) make(a *Accepted) []serverTool {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.madeOf == a {
		return p.made
	}
	p.made, p.madeOf = nil, a
	items := slices.Clone(a.Items)
	sorting.By(items, func(a, b trustItem) int { return strings.Compare(a.Name, b.Name) })
	for _, i := range items {
		if i.Kind == "tool" {
			t, err := p.tool(i)
			p.made = append(p.made, serverTool{i, t, err})
		}
	}
	return p.made
}

// maxName is the longest name that model APIs accept, in bytes.
const maxName = 64

// toolName returns the name of a server's tool for the model. A name that is too long is
// cut and ends in a hash of the whole name.
func toolName(server, name string) string {
	out := "mcp__" + server + "__" + strings.ReplaceAll(name, ".", "_")
	if len(out) <= maxName {
		return out
	}
	sum := sha256.Sum256([]byte(server + "\x00" + name))
	return out[:maxName-9] + "_" + hex.EncodeToString(sum[:4])
}

// folded returns a name in the form in which a reader, or a model, may confuse it:
// without case, and with all separators alike.
func folded(name string) string {
	return strings.Join(strings.FieldsFunc(strings.ToLower(name), func(r rune) bool { return r == '_' || r == '-' || r == '.' }), "_")
}

func (p *managedServer) tool(i trustItem) (tool.Tool, error) {
	var said struct {
		Description string               `json:"description"`
		Schema      json.RawMessage      `json:"schema"`
		Annotations *sdk.ToolAnnotations `json:"annotations"`
	}
	if err := json.Unmarshal(i.Said, &said); err != nil {
		return tool.Tool{}, err
	}
	schema, err := shown(said.Schema)
	if err != nil {
		return tool.Tool{}, err
	}
	doc := strings.TrimSpace(visible(said.Description))
	if doc != "" { // text from a server is marked as such
		doc = cut("The MCP server "+p.srv.Name+" says: "+doc, maxDoc)
	}
	spec := llm.ToolSpec{Name: toolName(p.srv.Name, i.Name), Doc: doc, Schema: schema}
	// What a server on this machine writes is found by comparing the workspace before and
	// after, so its call runs alone there. A server elsewhere changes no file of the
	// workspace.
	here := p.srv.Here()
	t := tool.Raw(spec, func(tool.Env, json.RawMessage) (tool.Footprint, error) {
		return tool.Footprint{Unknown: here}, nil
	}, func(ctx context.Context, env tool.Env, in json.RawMessage) (tool.Result, error) {
		return p.call(ctx, env, i, in)
	})
	t.Check = checker(schema)
	t.Facts = tool.Facts{Kind: tool.Exec, Claim: claim(said.Annotations)}
	t.Timeout = callTime
	if p.srv.Timeout > 0 {
		t.Timeout = p.srv.Timeout
	}
	return t, nil
}

// claim returns what a server says of a tool's effects, for the question about a call; ""
// if it says nothing. It gives no right.
func claim(a *sdk.ToolAnnotations) string {
	switch {
	case a == nil:
		return ""
	case a.ReadOnlyHint:
		return "its server says that it only reads"
	case a.DestructiveHint == nil:
		return ""
	case *a.DestructiveHint:
		return "its server says that it may destroy something"
	}
	return "its server says that it only adds something"
}
