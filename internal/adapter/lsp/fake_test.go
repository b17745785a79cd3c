package lsp

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/pawl-agent/pawl/internal/core/must"
	"github.com/pawl-agent/pawl/internal/core/process"
)

// fake is a language server in this process: what it answers is a function for
// each method, and what it heard is kept.
type fake struct {
	t       *testing.T
	answers map[string]func(params json.RawMessage) any // fakeError: an error; silence{}: no answer
	heard   chan message
	caps    string

	inR  *io.PipeReader
	inW  *io.PipeWriter
	outR *io.PipeReader
	outW *io.PipeWriter
	done chan struct{}
	once sync.Once
	wmu  sync.Mutex

	mu     sync.Mutex
	all    []message
	docs   map[string]string // what it was told of open documents
	opened []string
	// versioned: it names the document version of its diagnostics.
	versioned bool
	versions  map[string]int
}

type message struct {
	ID     json.RawMessage `json:"id,omitempty"`
	Method string          `json:"method,omitempty"`
	Params json.RawMessage `json:"params,omitempty"`
	Result json.RawMessage `json:"result,omitempty"`
	Error  json.RawMessage `json:"error,omitempty"`
}

type silence struct{}

type fakeError struct {
	Code    int    `json:"code"`
	Message string `json:"message"`
}

func newFake(t *testing.T) *fake {
	f := &fake{t: t, answers: map[string]func(json.RawMessage) any{}, done: make(chan struct{}), docs: map[string]string{}, versions: map[string]int{}}
	f.caps = `{"textDocumentSync":{"openClose":true,"change":2,"save":true},"definitionProvider":true,"referencesProvider":true,"hoverProvider":true,"renameProvider":true,"documentSymbolProvider":true,"workspaceSymbolProvider":true,"codeActionProvider":true,"completionProvider":{}}`
	f.inR, f.inW = io.Pipe()
	f.outR, f.outW = io.Pipe()
	return f
}

func (f *fake) In() io.WriteCloser         { return f.inW }
func (f *fake) Out() io.ReadCloser         { return f.outR }
func (f *fake) Pid() int                   { return 1 }
func (f *fake) Wait() error                { <-f.done; return nil }
func (f *fake) Refused() []process.Refusal { return nil }

// Kill is part of process.Process, and what a crash does.
func (f *fake) Kill(time.Duration) {
	f.once.Do(func() {
		_, _ = f.inR.Close(), f.outW.Close()
		close(f.done)
	})
}

// run answers until it is killed.
func (f *fake) run() {
	defer f.Kill(0)
	r := bufio.NewReader(f.inR)
	for {
		length := 0
		for {
			line, err := r.ReadString('\n')
			if err != nil {
				return
			}
			if line = strings.TrimSpace(line); line == "" {
				break
			}
			if n, ok := strings.CutPrefix(line, "Content-Length: "); ok {
				_, _ = fmt.Sscan(n, &length)
			}
		}
		body := make([]byte, length)
		if _, err := io.ReadFull(r, body); err != nil {
			return
		}
		var m message
		if err := json.Unmarshal(body, &m); err != nil {
			f.t.Errorf("pawl sent what cannot be read: %s", body)
			return
		}
		f.hear(m)
		if m.Method == "exit" {
			return
		}
	}
}

func (f *fake) hear(m message) {
	f.mu.Lock()
	f.all = append(f.all, m)
	f.follow(m)
	f.mu.Unlock()
	if f.heard != nil {
		f.heard <- m
	}
	answer := f.answers[m.Method]
	if m.Method == "" {
		return
	}
	var out any
	switch {
	case answer != nil:
		out = answer(m.Params)
	case m.Method == "initialize":
		out = map[string]any{"capabilities": json.RawMessage(f.caps)}
	}
	if m.ID == nil {
		return
	}
	if _, ok := out.(silence); ok {
		return
	}
	if e, ok := out.(fakeError); ok {
		f.send(map[string]any{"jsonrpc": "2.0", "id": m.ID, "error": e})
		return
	}
	f.send(map[string]any{"jsonrpc": "2.0", "id": m.ID, "result": out})
}

// follow keeps the documents as a server would: what pawl sends must add up.
func (f *fake) follow(m message) {
	switch m.Method {
	case "textDocument/didOpen":
		var p didOpen
		_ = json.Unmarshal(m.Params, &p)
		if _, open := f.docs[p.TextDocument.URI]; open {
			f.t.Errorf("%s was opened twice", p.TextDocument.URI)
		}
		f.docs[p.TextDocument.URI] = p.TextDocument.Text
		f.versions[p.TextDocument.URI] = p.TextDocument.Version
		f.opened = append(f.opened, p.TextDocument.URI)
	case "textDocument/didChange":
		var p didChange
		_ = json.Unmarshal(m.Params, &p)
		f.versions[p.TextDocument.URI] = *p.TextDocument.Version
		for _, ch := range p.ContentChanges {
			if ch.Range == nil {
				f.docs[p.TextDocument.URI] = ch.Text
				continue
			}
			next, err := newText(f.docs[p.TextDocument.URI]).apply([]textEdit{{*ch.Range, ch.Text}}, utf16Units)
			if err != nil {
				f.t.Errorf("didChange: %v", err)
			}
			f.docs[p.TextDocument.URI] = next
		}
	case "textDocument/didClose":
		var p didClose
		_ = json.Unmarshal(m.Params, &p)
		delete(f.docs, p.TextDocument.URI)
	}
}

func (f *fake) send(v any) {
	b, err := json.Marshal(v)
	if err != nil {
		f.t.Error(err)
	}
	f.raw(fmt.Sprintf("Content-Length: %d\r\n\r\n%s", len(b), b))
}

func (f *fake) raw(s string) {
	f.wmu.Lock()
	defer f.wmu.Unlock()
	_, _ = io.WriteString(f.outW, s) // it may be killed by now
}

// publish sends a file's diagnostics.
func (f *fake) publish(path string, version int, messages ...string) {
	p := publishDiagnostics{URI: toURI(path), Diagnostics: []diagnostic{}}
	if f.versioned {
		f.mu.Lock()
		version = f.versions[p.URI]
		f.mu.Unlock()
	}
	if version > 0 {
		p.Version = &version
	}
	for i, m := range messages {
		line := i
		if n, text, ok := strings.Cut(m, "|"); ok {
			_, _ = fmt.Sscan(n, &line)
			m = text
		}
		p.Diagnostics = append(p.Diagnostics, diagnostic{Range: textRange{position{line, 0}, position{line, 1}}, Severity: 1, Message: m})
	}
	f.send(map[string]any{"jsonrpc": "2.0", "method": "textDocument/publishDiagnostics", "params": p})
}

func (f *fake) last(method string) (m message, n int) {
	f.mu.Lock()
	defer f.mu.Unlock()
	for _, x := range f.all {
		if x.Method == method {
			m = x
			n++
		}
	}
	return m, n
}

func (f *fake) doc(path string) string {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.docs[toURI(path)]
}

// bench is a workspace with fakes for servers.
type bench struct {
	*Servers
	t      *testing.T
	dir    string
	make   func(process.Program) (*fake, error)
	mu     sync.Mutex
	fakes  []*fake
	starts []process.Program
}

func (b *bench) Start(_ context.Context, c process.Program) (process.Process, error) {
	f, err := b.make(c)
	if err != nil {
		return nil, err
	}
	b.mu.Lock()
	b.fakes = append(b.fakes, f)
	b.starts = append(b.starts, c)
	b.mu.Unlock()
	go f.run()
	return f, nil
}

// fake is the nth server that was started.
func (b *bench) fake(n int) *fake {
	b.mu.Lock()
	defer b.mu.Unlock()
	if n >= len(b.fakes) {
		b.t.Fatalf("only %d servers were started", len(b.fakes))
	}
	return b.fakes[n]
}

func (b *bench) started() int {
	b.mu.Lock()
	defer b.mu.Unlock()
	return len(b.starts)
}

// newBench makes a workspace of files, and a table in which "x" knows .x files
// below project.x.
func newBench(t *testing.T, files map[string]string, change func(*Options)) *bench {
	dir := must.Get(filepath.EvalSymlinks(t.TempDir()))(t)
	b := &bench{t: t, dir: dir, make: func(process.Program) (*fake, error) { return newFake(t), nil }}
	for n, s := range files {
		b.write(n, s)
	}
	o := Options{
		Root: dir, Start: b, Trusted: func(string) bool { return true },
		Table: []Server{{Name: "x", Commands: [][]string{{"x-server"}}, Files: map[string]string{".x": "x"}, Roots: []string{"project.x"}, Anywhere: true, Install: "get x"}},
		Find:  func(name string) (string, error) { return "/programs/" + name, nil },
		Usage: func(int) int64 { return 0 },
	}
	if change != nil {
		change(&o)
	}
	b.Servers = New(o)
	return b
}

func (b *bench) path(name string) string { return filepath.Join(b.dir, filepath.FromSlash(name)) }

func (b *bench) write(name, content string) {
	b.t.Helper()
	must.Do(b.t, errors.Join(os.MkdirAll(filepath.Dir(b.path(name)), 0o755), os.WriteFile(b.path(name), []byte(content), 0o644)))
}

// connected is a client and the fake behind it, without a workspace.
func connected(t *testing.T, f *fake, srv *Server, opt *Options) *client {
	if opt == nil {
		opt = &Options{}
	}
	if opt.Root == "" {
		opt.Root = t.TempDir()
	}
	opt.defaults()
	if srv == nil {
		srv = &Server{Name: "x", Files: map[string]string{".x": "x"}}
	}
	go f.run()
	return connect(srv, opt.Root, opt, f, &tail{})
}
