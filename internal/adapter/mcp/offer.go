package mcp

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/pawl-agent/pawl/internal/core/llm"
	"github.com/pawl-agent/pawl/internal/core/sorting"
	"github.com/pawl-agent/pawl/internal/core/tool"
)

// firstWait is how long a first request waits for servers whose tools are not known yet.
const firstWait = 3 * time.Second

// lateWait is how long a call or a search waits for servers that are still starting: as
// long as a start may take.
const lateWait = startTime + listTime

// share is the percentage of a model's window that schemas may use. Beyond it the model
// gets two tools instead: one finds tools, the other calls them.
const share = 10

// Offer returns the tools that a model is offered, and notes about them, each only once.
// With wait, it starts the servers whose tools are not known yet, and waits for them, at
// most Options.Wait. The tools of a server that needs longer can be searched and called
// (Late): a search, or a call, waits for it.
func (s *Servers) Offer(ctx context.Context, m llm.Info, wait bool) (tool.Set, []string) {
	var notes []string
	most := time.Duration(0)
	if wait {
		s.Begin()
		most = s.opt.Wait
	}
	slow := s.WaitReady(ctx, most)
	if len(slow) > 0 && ctx.Err() == nil {
		if n := "MCP servers that are still starting: " + strings.Join(slow, ", ") + ". The model can search for their tools; a call waits for the server."; s.once(n) {
			notes = append(notes, n)
		}
	}
	set, left := s.Tools()
	for _, l := range append(s.Notes(), left...) {
		if s.once(l) {
			notes = append(notes, l)
		}
	}
	size := 0
	for _, t := range set {
		size += len(t.Spec.Name) + len(t.Spec.Doc) + len(t.Spec.Schema)
	}
	if size > cmp.Or(m.Window, 128_000)*4*share/100 { // four bytes are about a token
		for i := range set {
			set[i].Hidden = true
		}
	} else if len(slow) == 0 {
		return set, notes
	}
	return append(tool.Set{s.search(set, slow), s.through(set)}, set...), notes
}

// Late returns a tool that was not known when the model's tools were listed. It waits for
// a server that is still starting, at most lateWait. why is the reason if a tool of a
// server cannot be called, "" if no server has that name.
func (s *Servers) Late(ctx context.Context, name string) (t tool.Tool, why string, ok bool) {
	p := s.serverOf(name)
	if p == nil {
		return t, "", false
	}
	first := p.wasAccepted() == nil
	p.learnOnce()
	if slow := settle(ctx, lateWait, p); len(slow) > 0 {
		return t, "The MCP server " + p.srv.Name + " is still starting: call its tool again later, or do the task without it.", false
	}
	set, _ := s.Tools()
	if t, ok = set.Find(name); ok {
		return t, "", true
	}
	st := p.status()
	switch {
	case st.State == "failed" && first:
		why = fmt.Sprintf("The MCP server %s is not available: %s. Do the task without it, or say what is missing.", p.srv.Name, st.Why)
	case first:
		why = fmt.Sprintf("The MCP server %s has no such tool, or none that was accepted: %s. Find the names of its tools with mcp_search.", p.srv.Name, cut(visible(name), 100))
	}
	return t, why, false
}

// serverOf returns the server that a tool's name for the model belongs to, or nil.
func (s *Servers) serverOf(tool string) *managedServer {
	rest, ok := strings.CutPrefix(tool, "mcp__")
	server, _, named := strings.Cut(rest, "__")
	if !ok || !named {
		return nil
	}
	return s.find(server)
}

// once reports whether a text was not reported before.
func (s *Servers) once(text string) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.told[text] {
		return false
	}
	if s.told == nil {
		s.told = map[string]bool{}
	}
	s.told[text] = true
	return true
}

// The limits of a search's result.
const (
	foundTools = 8
	foundBytes = 24 << 10
)

type searchIn struct {
	Query string `json:"query" doc:"words of what you need, such as: create issue; or the exact name of a tool"`
}

// search returns the tool that finds tools by words and returns their schemas. It waits
// for the servers that are still starting.
func (s *Servers) search(set tool.Set, slow []string) tool.Tool {
	names := map[string]int{}
	for _, t := range set {
		parts := strings.SplitN(t.Spec.Name, "__", 3)
		names[parts[1]]++
	}
	var servers []string
	for n, c := range names {
		servers = append(servers, fmt.Sprintf("%s (%d tools)", n, c))
	}
	for _, n := range slow {
		servers = append(servers, n+" (starting; a search waits for it)")
	}
	slices.Sort(servers)
	t := tool.New("mcp_search", "Find tools of MCP servers: "+cut(strings.Join(servers, ", "), 1000)+". Returns names, descriptions and argument schemas of the best matches. Call what you found with mcp_call.",
		func(tool.Env, searchIn) (tool.Footprint, error) { return tool.Footprint{}, nil },
		func(ctx context.Context, _ tool.Env, in searchIn) (tool.Result, error) {
			if len(slow) == 0 {
				return found(set, in.Query), nil
			}
			still := s.WaitReady(ctx, lateWait)
			if ctx.Err() != nil {
				return tool.Result{}, context.Cause(ctx)
			}
			all, _ := s.Tools()
			r := found(all, in.Query)
			if len(still) > 0 {
				r.Text += "\n[still starting, and not searched: " + strings.Join(still, ", ") + "]"
			}
			return r, nil
		})
	t.Kind, t.ReadOnly, t.Repeatable, t.ListsTools = tool.Search, true, true, true
	return t
}

func found(set tool.Set, query string) tool.Result {
	words := strings.FieldsFunc(strings.ToLower(query), func(r rune) bool { return r < 0x80 && !('a' <= r && r <= 'z' || '0' <= r && r <= '9') })
	type scored struct {
		t tool.Tool
		n int
	}
	var all []scored
	for _, t := range set {
		name, doc, n := strings.ToLower(t.Spec.Name), strings.ToLower(t.Spec.Doc), 0
		if name == strings.ToLower(strings.TrimSpace(query)) {
			n += 1000
		}
		for _, w := range words {
			if strings.Contains(name, w) {
				n += 3
			}
			if strings.Contains(doc, w) {
				n++
			}
		}
		if n > 0 {
			all = append(all, scored{t, n})
		}
	}
	sorting.By(all, func(a, b scored) int { return b.n - a.n })
	if len(all) == 0 {
		return tool.Text("No tool matches. Try other words, or the name of a server.")
	}
	var b strings.Builder
	for i, f := range all {
		if i == foundTools || b.Len() > foundBytes {
			fmt.Fprintf(&b, "%d more match: use more exact words.\n", len(all)-i)
			break
		}
		fmt.Fprintf(&b, "%s\n%s\narguments: %s\n\n", f.t.Spec.Name, f.t.Spec.Doc, f.t.Spec.Schema)
	}
	return tool.Result{Text: b.String(), Note: fmt.Sprintf("%d tools", len(all))}
}

// through returns the tool that calls another one by name. The call is judged and run as
// a call of that other tool.
func (s *Servers) through(set tool.Set) tool.Tool {
	schema := `{"type":"object","properties":{"name":{"type":"string","description":"the name that mcp_search returned: mcp__server__tool"},"arguments":{"type":"object","description":"as its schema says"}},"required":["name"],"additionalProperties":false}`
	spec := llm.ToolSpec{Name: "mcp_call", Doc: "Call a tool of an MCP server that mcp_search found.", Schema: json.RawMessage(schema)}
	t := tool.Raw(spec, nil, func(_ context.Context, _ tool.Env, in json.RawMessage) (tool.Result, error) {
		name, _, err := inner(in)
		if err != nil {
			return tool.Errorf("%v", err), nil
		}
		return tool.Errorf("There is no tool %s. Find its name with mcp_search.", cut(visible(name), 100)), nil
	})
	// It runs itself only if it names no known tool: then it does nothing.
	t.Footprint = func(tool.Env, json.RawMessage) (tool.Footprint, error) { return tool.Footprint{}, nil }
	t.Kind, t.ReadOnly = tool.Exec, true
	t.StandsFor = func(in json.RawMessage) (string, json.RawMessage, bool) {
		name, args, err := inner(in)
		_, ok := set.Find(name)
		return name, args, err == nil && (ok || s.serverOf(name) != nil) // Late finds it, or says why not
	}
	return t
}

func inner(in json.RawMessage) (name string, args json.RawMessage, err error) {
	var call struct {
		Name      string          `json:"name"`
		Arguments json.RawMessage `json:"arguments"`
	}
	err = json.Unmarshal(in, &call)
	if len(call.Arguments) == 0 || string(call.Arguments) == "null" {
		call.Arguments = json.RawMessage(`{}`)
	}
	return call.Name, call.Arguments, err
}
