package lsp

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/sourcegraph/jsonrpc2"

	"github.com/pawl-agent/pawl/internal/core/process"
)

// Errors that callers branch on.
var (
	errHung = errors.New("the language server does not answer")
	errGone = errors.New("the language server ended")
	errCan  = errors.New("the language server cannot do that")

	errUnfinished = errors.New("the language server has not finished")
)

// Error codes after which the same request may be made again.
const (
	contentModified = -32801
	serverCancelled = -32802
)

// silent discards the output of the library.
var silent = log.New(io.Discard, "", 0)

// client is one running server: the connection, the negotiated capabilities, and the
// documents that the server knows.
type client struct {
	server *Server
	root   string
	opt    *Options
	proc   process.Process
	dead   chan struct{} // closed when the process has ended
	stream *stream
	conn   *jsonrpc2.Conn
	began  time.Time

	caps   serverCapabilities
	enc    encoding
	sync   syncOptions
	ids    atomic.Uint64
	heard  atomic.Int64 // when the server last sent something, in ns
	used   atomic.Int64 // when the server was last used
	log    *tail
	ready  atomic.Bool
	ending atomic.Bool // it was asked to end

	docs  documents
	diags diagnostics

	mu       sync.Mutex
	why      error // why it ended, the first reason
	dynamic  map[string]registration
	progress map[string]task // tasks in progress, by token
	grants   map[int]*grant  // commands during which the server may propose changes
	grantSeq int
}

// grant collects the edits that a server proposes while a command runs for pawl.
type grant struct{ edits []workspaceEdit }

// connect returns the client of a started process, before the handshake.
func connect(srv *Server, root string, opt *Options, proc process.Process, log *tail) *client {
	c := &client{
		server: srv, root: root, opt: opt, proc: proc, dead: make(chan struct{}), log: log, began: opt.Now(),
		dynamic: map[string]registration{}, progress: map[string]task{}, grants: map[int]*grant{}, enc: utf16Units,
	}
	c.docs.init()
	c.diags.init()
	c.touch()
	c.heard.Store(opt.Now().UnixNano())
	c.stream = newStream(heardReader{proc.Out(), c}, proc.In(), c.kill)
	c.stream.skipped = c.log.add
	c.conn = jsonrpc2.NewConn(context.Background(), c.stream, handler{c}, jsonrpc2.SetLogger(silent))
	go func() {
		_ = proc.Wait() // how it ended does not matter: it should not have ended
		close(c.dead)
		c.fail(errGone)
	}()
	go func() {
		<-c.conn.DisconnectNotify()
		c.fail(errGone)
	}()
	return c
}

// heardReader records the time of each read, as a sign that the server is alive.
type heardReader struct {
	io.Reader
	c *client
}

func (r heardReader) Read(p []byte) (int, error) {
	n, err := r.Reader.Read(p)
	if n > 0 {
		r.c.heard.Store(r.c.opt.Now().UnixNano())
	}
	return n, err
}

// kill ends the process and all processes that it started.
func (c *client) kill() error {
	c.proc.Kill(0)
	return errors.Join(c.proc.In().Close(), c.proc.Out().Close())
}

func (c *client) touch() { c.used.Store(c.opt.Now().UnixNano()) }

// lastWords is how long the pipe of a killed server is still read: the last output often
// has the reason. Only a process that left its group keeps the pipe open for longer.
const lastWords = time.Second

// fail ends the server. Only the first reason is stored. It returns after all output of
// the server was read. The reading goroutine must not call it.
func (c *client) fail(why error) {
	c.mu.Lock()
	if c.why == nil {
		c.why = why
	}
	c.mu.Unlock()
	c.proc.Kill(0)
	select {
	case <-c.conn.DisconnectNotify():
	case <-time.After(lastWords):
	}
	_ = c.conn.Close()
	c.diags.wake()
}

// alive returns the reason why the server ended, or nil if it runs.
func (c *client) alive() error {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.why
}

// answerError is an error in a server's answer, with the server's text.
type answerError struct {
	server string
	err    *jsonrpc2.Error
}

func (e *answerError) Error() string { return e.server + ": " + e.err.Message }

func (e *answerError) Unwrap() error { return e.err }

// leftover is how long after the start of a request messages may still arrive that the
// server sent before it. They do not prove that the server is alive.
const leftover = time.Second

// call sends a request and waits for the answer, at most for Options.Hung. If the server
// was silent during all that time, except for leftovers, the server is ended too.
func (c *client) call(ctx context.Context, method string, params, result any) error {
	for try := 0; ; try++ {
		err := c.callOnce(ctx, method, params, result)
		var e *jsonrpc2.Error
		if try < 3 && errors.As(err, &e) && (e.Code == contentModified || e.Code == serverCancelled) {
			if c.opt.Sleep(ctx, time.Duration(try+1)*50*time.Millisecond) == nil {
				continue
			}
		}
		return err
	}
}

func (c *client) callOnce(ctx context.Context, method string, params, result any) error {
	if err := c.alive(); err != nil {
		return err
	}
	c.touch()
	defer c.touch()
	asked := c.opt.Now()
	limited, cancel := context.WithTimeoutCause(ctx, c.opt.Hung, errHung)
	defer cancel()
	id := jsonrpc2.ID{Num: c.ids.Add(1)} // from 1: an answer without an id reads as 0
	err := c.conn.Call(limited, method, params, result, jsonrpc2.PickID(id))
	var answered *jsonrpc2.Error
	switch {
	case err == nil:
		return nil
	case errors.As(err, &answered):
		return &answerError{c.server.Name, answered}
	case limited.Err() != nil:
		_ = c.notify("$/cancelRequest", map[string]any{"id": id})
		if ctx.Err() != nil {
			return context.Cause(ctx)
		}
		if c.heard.Load() <= asked.Add(leftover).UnixNano() {
			c.fail(errHung)
		}
		return fmt.Errorf("%w: %s for %s on %s", errHung, c.server.Name, c.opt.Hung, method)
	case c.alive() != nil:
		return c.alive()
	case errors.Is(err, jsonrpc2.ErrClosed):
		return errGone
	}
	return fmt.Errorf("%s sent an unreadable answer to %s: %w", c.server.Name, method, err)
}

func (c *client) notify(method string, params any) error {
	return c.conn.Notify(context.Background(), method, params)
}

// syncOptions are the server's options for the synchronisation of documents.
type syncOptions struct {
	openClose   bool
	change      int // 0 not, 1 whole texts, 2 edits
	save        bool
	saveContent bool
}

func parseSync(raw json.RawMessage) syncOptions {
	var kind int
	if json.Unmarshal(raw, &kind) == nil {
		return syncOptions{openClose: true, change: kind, save: true}
	}
	var o struct {
		OpenClose bool    `json:"openClose"`
		Change    int     `json:"change"`
		Save      feature `json:"save"`
	}
	if json.Unmarshal(raw, &o) != nil {
		return syncOptions{openClose: true, change: 1, save: true}
	}
	out := syncOptions{openClose: o.OpenClose, change: o.Change, save: o.Save.on}
	var s struct {
		IncludeText bool `json:"includeText"`
	}
	out.saveContent = json.Unmarshal(o.Save.options, &s) == nil && s.IncludeText
	return out
}

// start makes the handshake.
func (c *client) start(ctx context.Context) error {
	var answer struct {
		Capabilities serverCapabilities `json:"capabilities"`
	}
	if err := c.call(ctx, "initialize", c.hello(), &answer); err != nil {
		c.fail(err)
		return err
	}
	c.caps, c.sync = answer.Capabilities, parseSync(answer.Capabilities.Sync)
	c.enc = cmp.Or(encoding(c.caps.PositionEncoding), utf16Units)
	if c.enc != utf8Units && c.enc != utf16Units {
		err := fmt.Errorf("%s counts characters in %s, which pawl did not offer", c.server.Name, c.enc)
		c.fail(err)
		return err
	}
	if err := c.notify("initialized", struct{}{}); err != nil {
		return err
	}
	if c.server.Settings != nil { // some servers read no other settings
		if err := c.notify("workspace/didChangeConfiguration", map[string]any{"settings": c.server.Settings}); err != nil {
			return err
		}
	}
	c.ready.Store(true)
	return nil
}

// hello returns the parameters of the handshake.
func (c *client) hello() map[string]any {
	folder := map[string]any{"uri": toURI(c.root), "name": filepath.Base(c.root)}
	document := map[string]any{
		"synchronization":    map[string]any{"didSave": true, "dynamicRegistration": false},
		"publishDiagnostics": map[string]any{"versionSupport": true, "relatedInformation": false, "codeDescriptionSupport": false},
		"definition":         map[string]any{"linkSupport": true},
		"references":         map[string]any{},
		"hover":              map[string]any{"contentFormat": []string{"markdown", "plaintext"}},
		"completion":         map[string]any{"completionItem": map[string]any{"snippetSupport": false}, "contextSupport": true},
		"documentSymbol":     map[string]any{"hierarchicalDocumentSymbolSupport": true},
		"rename":             map[string]any{"prepareSupport": false},
		"codeAction": map[string]any{
			"codeActionLiteralSupport": map[string]any{"codeActionKind": map[string]any{"valueSet": []string{"quickfix", "refactor", "source"}}},
			"isPreferredSupport":       true, "disabledSupport": true, "dataSupport": true,
			"resolveSupport": map[string]any{"properties": []string{"edit", "command"}},
		},
	}
	if c.server.Pull {
		document["diagnostic"] = map[string]any{"dynamicRegistration": false, "relatedDocumentSupport": true}
	}
	return map[string]any{
		"processId":  nil, // the starter ends the server with pawl; inside a sandbox the number has no meaning
		"clientInfo": map[string]any{"name": "pawl", "version": c.opt.Version},
		"rootUri":    toURI(c.root), "rootPath": c.root, "workspaceFolders": []any{folder},
		"initializationOptions": c.server.Options,
		"capabilities": map[string]any{
			"general":      map[string]any{"positionEncodings": []encoding{utf8Units, utf16Units}},
			"textDocument": document,
			"window":       map[string]any{"workDoneProgress": true, "showMessage": map[string]any{}, "showDocument": map[string]any{"support": false}},
			"workspace": map[string]any{
				"applyEdit": true, "configuration": true, "workspaceFolders": true,
				"workspaceEdit":          map[string]any{"documentChanges": true, "resourceOperations": []string{"create", "rename", "delete"}, "failureHandling": "abort"},
				"didChangeWatchedFiles":  map[string]any{"dynamicRegistration": true, "relativePatternSupport": true},
				"didChangeConfiguration": map[string]any{"dynamicRegistration": true},
				"symbol":                 map[string]any{}, "executeCommand": map[string]any{},
			},
		},
	}
}

// stop ends the server: first by a request, then by killing it.
func (c *client) stop(ctx context.Context) {
	c.ending.Store(true)
	if c.ready.Load() && c.alive() == nil {
		ctx, cancel := context.WithTimeout(ctx, c.opt.Goodbye)
		if c.conn.Call(ctx, "shutdown", nil, nil, jsonrpc2.PickID(jsonrpc2.ID{Num: c.ids.Add(1)})) == nil {
			_ = c.notify("exit", nil)
			select {
			case <-c.dead:
			case <-ctx.Done():
			}
		}
		cancel()
	}
	c.fail(errGone)
	<-c.dead
}

// work returns the tasks that the server reports as running, sorted.
func (c *client) work() []string {
	c.mu.Lock()
	defer c.mu.Unlock()
	var out []string
	for _, w := range c.progress {
		out = append(out, w.String())
	}
	slices.Sort(out)
	return out
}

// Limits for the stored output of a server: lines, and bytes of one line.
const (
	logLines = 200
	logWidth = 500
)

// tail stores the last lines of a log.
type tail struct {
	mu    sync.Mutex
	lines []string
}

// Write implements io.Writer. It receives the server's standard error.
func (t *tail) Write(p []byte) (int, error) {
	for line := range strings.Lines(string(p)) {
		t.add(line)
	}
	return len(p), nil
}

func (t *tail) add(line string) {
	for len(line) > 0 && (line[len(line)-1] == '\n' || line[len(line)-1] == '\r') {
		line = line[:len(line)-1]
	}
	if line == "" {
		return
	}
	if len(line) > logWidth {
		line = line[:logWidth] + "…"
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	if len(t.lines) == logLines {
		t.lines = slices.Delete(t.lines, 0, 1)
	}
	t.lines = append(t.lines, line)
}

func (t *tail) all() []string {
	t.mu.Lock()
	defer t.mu.Unlock()
	return slices.Clone(t.lines)
}
