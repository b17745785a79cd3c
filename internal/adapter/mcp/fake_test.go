package mcp

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/pawl-agent/pawl/internal/core/llm"
	"github.com/pawl-agent/pawl/internal/core/process"
	"github.com/pawl-agent/pawl/internal/core/tool"
)

// starter starts servers in this process, by the name of the program.
type starter struct {
	run map[string]func(*fakeProcess) // one ends when its function returns

	mu    sync.Mutex
	asked []process.Program
	all   []*fakeProcess
}

type fakeProcess struct {
	inR    *io.PipeReader
	inW    *io.PipeWriter
	outR   *io.PipeReader
	outW   *io.PipeWriter
	stderr io.Writer
	of     process.Program
	done   chan struct{}
	once   sync.Once
	killed chan struct{} // closed when pawl ended it, with all that it had started
	kill   sync.Once
}

func (p *fakeProcess) In() io.WriteCloser         { return p.inW }
func (p *fakeProcess) Out() io.ReadCloser         { return p.outR }
func (p *fakeProcess) Pid() int                   { return 7 }
func (p *fakeProcess) Wait() error                { <-p.done; return nil }
func (p *fakeProcess) Refused() []process.Refusal { return nil }
func (p *fakeProcess) Kill(time.Duration) {
	p.kill.Do(func() { close(p.killed) })
	p.end()
}

func (p *fakeProcess) end() {
	p.once.Do(func() {
		_, _ = p.inR.Close(), p.outW.Close()
		close(p.done)
	})
}

func (s *starter) Start(_ context.Context, prog process.Program) (process.Process, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.asked = append(s.asked, prog)
	run := s.run[filepath.Base(prog.Path)]
	if run == nil {
		return nil, exec.ErrNotFound
	}
	p := &fakeProcess{stderr: prog.Stderr, of: prog, done: make(chan struct{}), killed: make(chan struct{})}
	p.inR, p.inW = io.Pipe()
	p.outR, p.outW = io.Pipe()
	s.all = append(s.all, p)
	go func() {
		defer p.end()
		run(p)
	}()
	return p, nil
}

func (s *starter) starts() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return len(s.asked)
}

// serve runs a real server of the SDK on the process's pipes.
func serve(build func() *sdk.Server) func(*fakeProcess) {
	return func(p *fakeProcess) {
		_ = build().Run(context.Background(), &sdk.IOTransport{Reader: p.inR, Writer: p.outW})
	}
}

// by answers messages one by one: "" sends nothing. Raw text goes out as it is.
func by(answer func(method string, id json.RawMessage, p *fakeProcess) string) func(*fakeProcess) {
	return func(p *fakeProcess) {
		r := bufio.NewReaderSize(p.inR, 1<<20)
		for {
			line, err := r.ReadBytes('\n')
			if err != nil {
				return
			}
			var m struct {
				ID     json.RawMessage `json:"id"`
				Method string          `json:"method"`
			}
			if json.Unmarshal(line, &m) != nil || m.Method == "" {
				continue
			}
			out := answer(m.Method, m.ID, p)
			if out == "die" {
				return
			}
			if _, err := io.WriteString(p.outW, out); err != nil {
				return
			}
		}
	}
}

// usual answers what every server does, with these tools.
func usual(tools string, call func(id json.RawMessage, p *fakeProcess) string) func(*fakeProcess) {
	return by(func(method string, id json.RawMessage, p *fakeProcess) string {
		switch method {
		case "initialize":
			return reply(id, `{"protocolVersion":"2025-11-25","capabilities":{"tools":{"listChanged":true}},"serverInfo":{"name":"x","version":"1"}}`)
		case "tools/list":
			return reply(id, `{"tools":`+tools+`}`)
		case "tools/call":
			return call(id, p)
		}
		return ""
	})
}

func reply(id json.RawMessage, result string) string {
	result = strings.ReplaceAll(result, "\n", "")
	return fmt.Sprintf("{\"jsonrpc\":\"2.0\",\"id\":%s,\"result\":%s}\n", id, result)
}

func textOf(id json.RawMessage, text string) string {
	raw, _ := json.Marshal(text)
	return reply(id, `{"content":[{"type":"text","text":`+string(raw)+`}]}`)
}

const oneTool = `[{"name":"go","description":"goes","inputSchema":{"type":"object","properties":{"n":{"type":"integer"}}}}]`

// fakeServers is Servers with fake programs.
type fakeServers struct {
	*Servers
	start *starter
	pins  Pins
	conf  []Server

	packages Packages
	confine  process.Confine
}

func newFakeServers(t *testing.T, run map[string]func(*fakeProcess)) *fakeServers {
	t.Helper()
	w := &fakeServers{start: &starter{run: run}, pins: NewPins(t.TempDir()), confine: process.Free}
	for name := range run {
		w.conf = append(w.conf, Server{Name: name, Transport: "stdio", Command: []string{name}, start: []string{name}})
	}
	w.open(t)
	return w
}

// open is a session that begins: only what was accepted is left of the last.
func (w *fakeServers) open(t *testing.T) {
	t.Helper()
	if w.Servers != nil {
		_ = w.Servers.Close()
	}
	w.Servers = New(Options{
		Root: t.TempDir(), Servers: w.conf, Start: w.start, Pins: NewPins(w.pins.Dir), Version: "test", Wait: time.Minute,
		Confine: func(Server) process.Confine { return w.confine }, Packages: w.packages, Sleep: func(ctx context.Context, _ time.Duration) error { return ctx.Err() },
	})
	s := w.Servers
	t.Cleanup(func() { _ = s.Close() })
}

// offer is what a first request has.
func (w *fakeServers) offer(t *testing.T) (tool.Set, []string) {
	t.Helper()
	return w.Offer(t.Context(), llm.Info{Window: 200_000}, true)
}

func call(t *testing.T, ctx context.Context, set tool.Set, name, args string) (tool.Result, error) {
	t.Helper()
	of, in, ok := set.Meant(name, json.RawMessage(args))
	if !ok {
		t.Fatalf("there is no %s among %q", name, set.Names())
	}
	if err := of.Check(in); err != nil {
		return tool.Result{}, err
	}
	return of.Run(ctx, tool.Env{Out: func(string) {}}, in)
}
