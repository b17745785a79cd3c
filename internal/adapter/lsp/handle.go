package lsp

import (
	"context"
	"encoding/json"
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"github.com/bmatcuk/doublestar/v4"
	"github.com/sourcegraph/jsonrpc2"

	"github.com/pawl-agent/pawl/internal/core/cut"
)

// handler handles the messages that a server sends unasked. It never blocks: while it
// runs, no other message is read.
type handler struct{ c *client }

func (h handler) Handle(ctx context.Context, conn *jsonrpc2.Conn, r *jsonrpc2.Request) {
	params := json.RawMessage("null")
	if r.Params != nil {
		params = *r.Params
	}
	if r.Notif {
		h.c.hear(r.Method, params)
		return
	}
	result, refusal := h.c.answer(r.Method, params)
	if refusal != nil {
		_ = conn.ReplyWithError(ctx, r.ID, refusal) // if the connection is gone, other calls report it
		return
	}
	_ = conn.Reply(ctx, r.ID, result)
}

// hear handles a notification. An invalid or unknown one is ignored.
func (c *client) hear(method string, params json.RawMessage) {
	switch method {
	case "textDocument/publishDiagnostics":
		var p publishDiagnostics
		if json.Unmarshal(params, &p) == nil {
			c.published(p)
		}
	case "$/progress":
		var p struct {
			Token json.RawMessage `json:"token"`
			Value struct {
				Kind    string `json:"kind"`
				Title   string `json:"title"`
				Message string `json:"message"`
			} `json:"value"`
		}
		if json.Unmarshal(params, &p) == nil {
			c.progressed(string(p.Token), p.Value.Kind, p.Value.Title, p.Value.Message)
		}
	case "window/logMessage", "window/showMessage":
		var p struct {
			Message string `json:"message"`
		}
		if json.Unmarshal(params, &p) == nil {
			c.log.add(p.Message)
		}
	}
}

// workLimit is how many tasks in progress of a server are stored.
const workLimit = 100

func (c *client) progressed(token, kind, title, message string) {
	c.mu.Lock()
	t, known := c.progress[token]
	switch {
	case kind == "end":
		delete(c.progress, token)
	case kind == "begin" && len(c.progress) < workLimit:
		c.progress[token] = task{title, message}
	case kind == "report" && known && message != "":
		c.progress[token] = task{t.title, message}
	}
	c.mu.Unlock()
	if kind != "report" { // how far a task is changes nothing for those who wait for its end
		c.diags.wake()
	}
}

// task is a task in progress, as the server describes it.
type task struct{ title, message string }

// taskWidth is how much of a server's description of a task is shown, in bytes.
const taskWidth = 100

func (t task) String() string {
	return cut.Bytes(strings.Join(strings.Fields(strings.TrimSuffix(t.title+": "+t.message, ": ")), " "), taskWidth)
}

// unfinished returns an error if the server has a task in progress, such as reading the
// project: what it did not find until now may be there.
func (c *client) unfinished() error {
	if work := c.work(); len(work) > 0 {
		return fmt.Errorf("%w: %s is still at work (%s), so this is not all that it will find; ask again later", errUnfinished, c.server.Name, strings.Join(work, ", "))
	}
	return nil
}

// answer answers a server's request. Null answers a question that a person would leave
// open. A request that would change files or open windows is refused.
func (c *client) answer(method string, params json.RawMessage) (any, *jsonrpc2.Error) {
	switch method {
	case "workspace/configuration":
		var p struct {
			Items []struct {
				Section string `json:"section"`
			} `json:"items"`
		}
		if json.Unmarshal(params, &p) != nil {
			return nil, invalid
		}
		out := make([]any, len(p.Items))
		for i, it := range p.Items {
			out[i] = c.setting(it.Section)
		}
		return out, nil
	case "client/registerCapability":
		var p struct {
			Registrations []registration `json:"registrations"`
		}
		if json.Unmarshal(params, &p) != nil {
			return nil, invalid
		}
		c.mu.Lock()
		for _, r := range p.Registrations {
			if len(c.dynamic) < workLimit {
				c.dynamic[r.ID] = r
			}
		}
		c.mu.Unlock()
		return nil, nil
	case "client/unregisterCapability":
		var p struct {
			Registrations []registration `json:"unregisterations"` // spelt so in the protocol
		}
		if json.Unmarshal(params, &p) != nil {
			return nil, invalid
		}
		c.mu.Lock()
		for _, r := range p.Registrations {
			delete(c.dynamic, r.ID)
		}
		c.mu.Unlock()
		return nil, nil
	case "workspace/workspaceFolders":
		return []any{map[string]any{"uri": toURI(c.root), "name": filepath.Base(c.root)}}, nil
	case "workspace/applyEdit":
		var p applyEditParams
		if json.Unmarshal(params, &p) != nil {
			return nil, invalid
		}
		return c.applyAsked(p), nil
	case "workspace/diagnostic/refresh":
		c.diags.refresh()
		return nil, nil
	case "window/showMessageRequest", "window/workDoneProgress/create", "workspace/semanticTokens/refresh",
		"workspace/inlayHint/refresh", "workspace/codeLens/refresh", "workspace/foldingRange/refresh":
		return nil, nil
	case "window/showDocument":
		return map[string]bool{"success": false}, nil
	}
	return nil, &jsonrpc2.Error{Code: jsonrpc2.CodeMethodNotFound, Message: "pawl does not know " + method}
}

var invalid = &jsonrpc2.Error{Code: jsonrpc2.CodeInvalidParams, Message: "the parameters cannot be read"}

// setting returns a section of the server's settings. gopls requests the section with its
// own name, and gets its options there.
func (c *client) setting(name string) any {
	if name == c.server.Name && c.server.Settings == nil && c.server.Options != nil {
		return c.server.Options
	}
	return section(c.server.Settings, name)
}

// applyAsked receives an edit that the server proposes. It is accepted only while a
// command runs for pawl, and then stored for the call that runs it: only tools change
// files.
func (c *client) applyAsked(p applyEditParams) map[string]any {
	c.mu.Lock()
	defer c.mu.Unlock()
	if len(c.grants) != 1 { // with two at once it is not known which one caused it
		return map[string]any{"applied": false, "failureReason": "nobody asked for this change"}
	}
	for _, g := range c.grants {
		g.edits = append(g.edits, p.Edit)
	}
	return map[string]any{"applied": true}
}

// allow lets the server propose edits until the returned function is called. That
// function returns them.
func (c *client) allow() (done func() []workspaceEdit) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.grantSeq++
	n, g := c.grantSeq, &grant{}
	c.grants[n] = g
	return func() []workspaceEdit {
		c.mu.Lock()
		defer c.mu.Unlock()
		delete(c.grants, n)
		return g.edits
	}
}

// watches reports whether the server wants to be told of changes of a file. Without a
// registration these are the files that it knows.
func (c *client) watches(path string) bool {
	if c.server.Language(filepath.ToSlash(path)) != "" || slices.Contains(c.server.Roots, filepath.Base(path)) {
		return true
	}
	c.mu.Lock()
	var all []registration
	for _, r := range c.dynamic {
		if r.Method == "workspace/didChangeWatchedFiles" {
			all = append(all, r)
		}
	}
	c.mu.Unlock()
	return slices.ContainsFunc(all, func(r registration) bool { return matches(r.RegisterOptions, c.root, path) })
}

// matches reports whether a registration's patterns cover a path.
func matches(options json.RawMessage, root, path string) bool {
	var o struct {
		Watchers []struct {
			Glob json.RawMessage `json:"globPattern"`
		} `json:"watchers"`
	}
	if json.Unmarshal(options, &o) != nil {
		return false
	}
	for _, w := range o.Watchers {
		base, pattern := root, ""
		if json.Unmarshal(w.Glob, &pattern) != nil {
			var rel struct {
				Base    json.RawMessage `json:"baseUri"`
				Pattern string          `json:"pattern"`
			}
			if json.Unmarshal(w.Glob, &rel) != nil {
				continue
			}
			var uri string
			var folder struct {
				URI string `json:"uri"`
			}
			if json.Unmarshal(rel.Base, &uri) != nil && json.Unmarshal(rel.Base, &folder) == nil {
				uri = folder.URI
			}
			p, ok := fromURI(uri)
			if !ok {
				continue
			}
			base, pattern = p, rel.Pattern
		}
		name := filepath.ToSlash(path)
		if !strings.HasPrefix(pattern, "/") {
			rel, err := filepath.Rel(base, path)
			if err != nil || !within(base, path) {
				continue
			}
			name = filepath.ToSlash(rel)
		}
		if ok, err := doublestar.Match(pattern, name); err == nil && ok {
			return true
		}
	}
	return false
}
