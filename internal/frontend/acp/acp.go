// Package acp lets an editor drive pawl over the Agent Client Protocol: JSON-RPC, a
// message on each line, on standard input and output (ADR 023, doc/programs.md). It speaks
// version 1 and the published preview of version 2; the editor's first request decides
// which.
//
// It draws the blocks of package chat, so a session looks in an editor as it does on the
// screen, and a session that is loaded looks as it did while it ran. A session's id is
// pawl's own: the editor and the terminal continue the same sessions.
//
// It promises that every request is answered, that messages of the editor are handled in
// the order in which they came, and that a call which needs permission runs only after an
// answer that was among those offered. Files are read and written as the person sees them
// in the editor, saved or not (buffers.go). It refuses to run anything in the editor's
// terminals: a command there would run outside the sandbox, the journal and undo.
package acp

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"path/filepath"
	"slices"
	"strconv"
	"sync"
	"time"

	"github.com/sourcegraph/jsonrpc2"

	"github.com/pawl-agent/pawl/internal/core/event"
	"github.com/pawl-agent/pawl/internal/core/llm"
	"github.com/pawl-agent/pawl/internal/core/tool"
	"github.com/pawl-agent/pawl/internal/frontend/chat"
	"github.com/pawl-agent/pawl/internal/frontend/slash"
)

// Place is what an editor sets for a session.
type Place struct {
	Dir  string   // absolute
	Dirs []string // further folders, absolute
	// Servers is the editor's MCP servers in the format of .mcp.json, nil for none.
	Servers json.RawMessage
	// Files, if set, puts the texts of the editor over those on the disk.
	Files func(tool.Files) tool.Files
}

// Options of Run.
type Options struct {
	In  io.Reader
	Out io.Writer
	Err io.Writer // what a person should know; never part of the protocol

	// Chat returns the configuration of a conversation at a place.
	Chat func(context.Context, Place) (chat.Config, error)
	// Sessions lists the stored sessions of a folder, of all folders for "", newest first.
	Sessions func(ctx context.Context, dir string) ([]event.Row, error)
	Delete   func(ctx context.Context, id string) error
	// Models lists the models that can be used, each as provider/name.
	Models func(context.Context) []string
	// Usable returns the model that sessions begin with, or why none can be used, for want
	// of a key.
	Usable func() (llm.Info, error)

	Version    string
	BufferTime time.Duration // how long the editor may take to give a text; 0: as usual
	Signals    <-chan string // each one ends the conversation
}

// The error codes of JSON-RPC that are used.
const (
	notFound    = -32002 // a session
	signInFirst = -32000
	failed      = jsonrpc2.CodeInternalError
	invalid     = jsonrpc2.CodeInvalidParams
)

// agent is the agent's side of a connection.
type agent struct {
	Options
	ctx  context.Context
	conn *jsonrpc2.Conn
	dialect

	readsBuffers, writesBuffers bool           // what the editor offers
	pendingRequests             sync.WaitGroup // requests that are not answered yet

	mu       sync.Mutex
	sessions map[string]*openSession // open sessions
	calls    uint64                  // requests to the editor so far
}

// patience is how long the answers to what was asked may take after the editor has
// closed its side.
const patience = 10 * time.Second

// Run serves one editor until it closes its side or a signal comes, then closes all
// sessions. The name of the signal is returned, "" for none.
func Run(ctx context.Context, o Options) (signal string, err error) {
	ctx, stop := context.WithCancel(ctx)
	defer stop()
	o.BufferTime = cmp.Or(o.BufferTime, bufferTime)
	a := &agent{Options: o, ctx: ctx, sessions: map[string]*openSession{}}
	ready := make(chan struct{})
	in := newLines(o.In, o.Out, o.Err)
	in.ended = a.finish // the connection can send until then
	a.conn = jsonrpc2.NewConn(ctx, in, handler{a, ready}, jsonrpc2.SetLogger(noLog{}))
	close(ready)
	select {
	case <-a.conn.DisconnectNotify():
	case signal = <-o.Signals:
	case <-ctx.Done():
		signal = "SIGTERM"
	}
	a.closeAll()
	_ = a.conn.Close()
	return signal, nil
}

// session returns an open session, nil for another one.
func (a *agent) session(id string) *openSession {
	a.mu.Lock()
	defer a.mu.Unlock()
	return a.sessions[id]
}

func (a *agent) closeAll() {
	a.mu.Lock()
	open := slices.Collect(maps.Values(a.sessions))
	a.mu.Unlock()
	for _, t := range open {
		t.close()
	}
}

// finish answers what is due once the editor has closed its side.
func (a *agent) finish() {
	a.closeAll()
	done := make(chan struct{})
	go func() {
		a.pendingRequests.Wait()
		close(done)
	}()
	select {
	case <-done:
	case <-time.After(patience):
	case <-a.ctx.Done():
	}
}

// noLog drops the connection's log, which would contain messages.
type noLog struct{}

func (noLog) Printf(string, ...any) {}

// handler passes the editor's messages on, one after the other.
type handler struct {
	a     *agent
	ready <-chan struct{} // closed once a.conn is set
}

func (h handler) Handle(ctx context.Context, _ *jsonrpc2.Conn, r *jsonrpc2.Request) {
	<-h.ready
	a := h.a
	var raw json.RawMessage
	if r.Params != nil {
		raw = *r.Params
	}
	if !r.Notif {
		a.pendingRequests.Add(1)
	}
	reply := func(result any, err error) {
		if r.Notif {
			return
		}
		defer a.pendingRequests.Done()
		if err != nil {
			_ = a.conn.ReplyWithError(a.ctx, r.ID, rpcError(err))
			return
		}
		_ = a.conn.Reply(a.ctx, r.ID, result)
	}
	a.handle(r.Method, raw, reply)
}

// rpcError returns an error in the protocol's form.
func rpcError(err error) *jsonrpc2.Error {
	var e *jsonrpc2.Error
	if errors.As(err, &e) {
		return e
	}
	return &jsonrpc2.Error{Code: failed, Message: err.Error()}
}

func refuse(code int64, format string, args ...any) error {
	return &jsonrpc2.Error{Code: code, Message: fmt.Sprintf(format, args...)}
}

// answer answers a request, once: at once or later.
type answer func(result any, err error)

// handle handles a message. It does not block: what takes time answers later.
func (a *agent) handle(method string, raw json.RawMessage, reply answer) {
	switch method {
	case "initialize":
		with(raw, reply, a.initialize)
	case "authenticate":
		with(raw, reply, func(p authenticateParams, reply answer) { go func() { reply(struct{}{}, a.authenticate(p.Method)) }() })
	case "session/new":
		with(raw, reply, func(p openParams, reply answer) { a.open(p, slash.Want{}, false, reply) })
	case "session/load": // version 1
		with(raw, reply, func(p openParams, reply answer) { a.open(p, slash.Want{Resume: p.SessionID}, true, reply) })
	case "session/resume":
		with(raw, reply, func(p openParams, reply answer) {
			a.open(p, slash.Want{Resume: p.SessionID}, p.ReplayFrom != nil, reply)
		})
	case "session/fork": // not part of a version yet
		with(raw, reply, func(p openParams, reply answer) {
			a.open(p, slash.Want{Resume: p.SessionID, Fork: true}, false, reply)
		})
	case "session/list":
		with(raw, reply, func(p listParams, reply answer) { go func() { reply(a.list(p)) }() })
	case "session/delete":
		with(raw, reply, func(p sessionParams, reply answer) { go func() { reply(struct{}{}, a.remove(p.SessionID)) }() })
	case "session/close":
		a.withSession(raw, reply, func(t *openSession, reply answer) {
			go func() {
				t.close()
				reply(struct{}{}, nil)
			}()
		})
	case "session/prompt":
		var p promptParams
		a.handleSession(raw, &p, &p.SessionID, reply, func(t *openSession) { t.prompt(p.Prompt, reply) })
	case "session/cancel":
		a.withSession(raw, reply, func(t *openSession, _ answer) { t.chat.Interrupt("person") })
	case "session/set_mode": // version 1
		var p modeParams
		a.handleSession(raw, &p, &p.SessionID, reply, func(t *openSession) { reply(struct{}{}, t.setMode(p.ModeID)) })
	case "session/set_config_option":
		var p optionParams
		a.handleSession(raw, &p, &p.SessionID, reply, func(t *openSession) { go func() { reply(t.setOption(p.ConfigID, p.Value)) }() })
	default:
		reply(nil, refuse(jsonrpc2.CodeMethodNotFound, "pawl does not know %s", method))
	}
}

// read reads the parameters of a request, and answers it if that is not possible.
func read(raw json.RawMessage, p any, reply answer) bool {
	err := json.Unmarshal(raw, p)
	if err != nil {
		reply(nil, refuse(invalid, "the parameters cannot be read: %v", err))
	}
	return err == nil
}

// with reads the parameters of a request.
func with[P any](raw json.RawMessage, reply answer, do func(P, answer)) {
	var p P
	if read(raw, &p, reply) {
		do(p, reply)
	}
}

// handleSession reads the parameters of a request about an open session.
func (a *agent) handleSession(raw json.RawMessage, p any, id *string, reply answer, do func(*openSession)) {
	if !read(raw, p, reply) {
		return
	}
	t := a.session(*id)
	if t == nil {
		reply(nil, refuse(notFound, "no session %q is open on this connection", *id))
		return
	}
	do(t)
}

func (a *agent) withSession(raw json.RawMessage, reply answer, do func(*openSession, answer)) {
	var p sessionParams
	a.handleSession(raw, &p, &p.SessionID, reply, func(t *openSession) { do(t, reply) })
}

// initialize agrees on a version: the newest that both speak.
func (a *agent) initialize(p initializeParams, reply answer) {
	a.version = max(1, min(p.Version, 2))
	has := p.Client
	if a.version == 2 {
		has = p.Second
	}
	a.terminals = a.version == 2 || has.Meta.Terminal
	a.readsBuffers, a.writesBuffers = has.Files.Read, has.Files.Write
	a.signsIn = has.Auth.Terminal == true
	a.canAskText = has.Elicitation != nil && has.Elicitation.Form != nil
	var info llm.Info
	if a.Usable != nil {
		info, _ = a.Usable()
	}
	reply(a.initializeResult(a.Version, info), nil)
}

// authenticate looks whether there is a key: a person stores it with `pawl login`.
func (a *agent) authenticate(method string) error {
	if method != keyMethod {
		return refuse(invalid, "unknown sign-in method %q", method)
	}
	if _, why := a.Usable(); why != nil {
		return refuse(signInFirst, "%v", why)
	}
	return nil
}

// open opens a session. It answers once that is done, after the replay if there is one.
func (a *agent) open(p openParams, want slash.Want, replay bool, reply answer) {
	place := Place{Dir: p.Dir, Dirs: p.Dirs, Servers: servers(p.Servers)}
	for _, dir := range slices.Concat([]string{p.Dir}, p.Dirs) {
		if !filepath.IsAbs(dir) {
			reply(nil, refuse(invalid, "%q is not an absolute path", dir))
			return
		}
	}
	if !want.Fork && a.session(want.Resume) != nil {
		reply(nil, refuse(jsonrpc2.CodeInvalidRequest, "session %s is open on this connection", want.Resume))
		return
	}
	texts := &buffers{a: a}
	if a.readsBuffers {
		place.Files = texts.over
	}
	go func() {
		cfg, err := a.Chat(a.ctx, place)
		if err != nil {
			reply(nil, err)
			return
		}
		t := &openSession{a: a, texts: texts, dir: p.Dir, chat: chat.Begin(a.ctx, cfg, want), replay: replay, ready: reply, done: make(chan struct{})}
		t.ctx, t.stop = context.WithCancel(a.ctx)
		defer t.stop()
		t.run()
	}()
}

// listed is the largest number of sessions in one answer.
const listed = 200

// list lists the stored sessions, from the one that the cursor counts to.
func (a *agent) list(p listParams) (any, error) {
	from := 0
	if p.Cursor != "" {
		var err error
		if from, err = strconv.Atoi(p.Cursor); err != nil || from < 0 {
			return nil, refuse(invalid, "%q is not a cursor of pawl", p.Cursor)
		}
	}
	all, err := a.Sessions(a.ctx, p.Dir)
	if err != nil {
		return nil, err
	}
	all = all[min(from, len(all)):]
	out := object{}
	if len(all) > listed {
		all = all[:listed]
		out["nextCursor"] = strconv.Itoa(from + listed)
	}
	rows := []object{}
	for _, l := range all {
		rows = append(rows, object{"sessionId": l.ID, "cwd": l.Dir, "title": l.Title, "updatedAt": l.Updated.UTC().Format(time.RFC3339)})
	}
	out["sessions"] = rows
	return out, nil
}

// remove deletes a stored session that is not open.
func (a *agent) remove(id string) error {
	if a.session(id) != nil {
		return refuse(jsonrpc2.CodeInvalidRequest, "session %s is open: close it first", id)
	}
	return a.Delete(a.ctx, id)
}

// request sends a request to the editor and waits for the answer. The end of ctx
// withdraws it.
func (a *agent) request(ctx context.Context, method string, params, result any) error {
	a.mu.Lock()
	a.calls++
	id := jsonrpc2.ID{Num: a.calls}
	a.mu.Unlock()
	err := a.conn.Call(ctx, method, params, result, jsonrpc2.PickID(id))
	if ctx.Err() != nil {
		_ = a.conn.Notify(a.ctx, "$/cancel_request", object{"requestId": id})
	}
	return err
}
