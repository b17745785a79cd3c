//go:build realservers

package realservers

import (
	"bufio"
	"context"
	"flag"
	"fmt"
	"io"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"

	"github.com/pawl-agent/pawl/internal/adapter/lsp"
	"github.com/pawl-agent/pawl/internal/core/must"
	"github.com/pawl-agent/pawl/internal/core/process"
)

var record = flag.String("record", "", "write what each server says in a short session to this folder: adapter/lsp/testdata/transcripts")

// recording writes down what is said in both directions, a message a line: ">" to
// the server, "<" from it.
type recording struct {
	process.Starter
	mu  sync.Mutex
	out []string
}

func (r *recording) Start(ctx context.Context, p process.Program) (process.Process, error) {
	run, err := r.Starter.Start(ctx, p)
	if err != nil {
		return nil, err
	}
	return &recordedProcess{run, r.tee("> ", run.In(), nil), r.tee("< ", nil, run.Out())}, nil
}

type recordedProcess struct {
	process.Process
	in  *tee
	out *tee
}

func (p *recordedProcess) In() io.WriteCloser { return p.in }
func (p *recordedProcess) Out() io.ReadCloser { return p.out }

type tee struct {
	io.WriteCloser
	r    io.ReadCloser
	copy *io.PipeWriter
}

func (r *recording) tee(mark string, w io.WriteCloser, of io.ReadCloser) *tee {
	pr, pw := io.Pipe()
	go func() {
		in := bufio.NewReader(pr)
		for {
			length := 0
			for {
				line, err := in.ReadString('\n')
				if err != nil {
					return
				}
				if line = strings.TrimSpace(line); line == "" {
					break
				}
				if n, ok := strings.CutPrefix(line, "Content-Length: "); ok {
					length, _ = strconv.Atoi(n)
				}
			}
			body := make([]byte, length)
			if _, err := io.ReadFull(in, body); err != nil {
				return
			}
			r.mu.Lock()
			r.out = append(r.out, mark+string(body))
			r.mu.Unlock()
		}
	}()
	return &tee{w, of, pw}
}

func (t *tee) Write(b []byte) (int, error) {
	_, _ = t.copy.Write(b)
	return t.WriteCloser.Write(b)
}

func (t *tee) Read(b []byte) (int, error) {
	n, err := t.r.Read(b)
	_, _ = t.copy.Write(b[:n])
	return n, err
}

func (t *tee) Close() error {
	_ = t.copy.Close()
	if t.WriteCloser != nil {
		return t.WriteCloser.Close()
	}
	return t.r.Close()
}

// TestRecord records the transcripts that adapter/lsp replays.
func TestRecord(t *testing.T) {
	if *record == "" {
		return // nothing is asked for
	}
	for _, p := range projects {
		t.Run(p.server, func(t *testing.T) {
			r := newRealProject(t, p)
			rec := &recording{Starter: r.start}
			table := slices.DeleteFunc(lsp.Table(nil), func(s lsp.Server) bool { return s.Name != p.server })
			r.Servers = lsp.New(lsp.Options{Root: r.dir, Table: table, Start: rec, Confine: process.Free, Find: find, Trusted: func(string) bool { return true }})
			path := p.symbols.at.Path
			if path == "" {
				path = p.hover.at.Path
			}
			must.Done(t)(r.Symbols(t.Context(), path, ""))
			if p.diagnostic.want != "-" {
				must.Done(t)(r.Diagnostics(t.Context(), []string{p.diagnostic.at.Path}))
			}
			if p.hover.want != "-" {
				must.Done(t)(r.Hover(t.Context(), p.hover.at))
			}
			_ = r.Close()
			var b strings.Builder
			for i, l := range rec.out {
				const log = `"method":"window/logMessage"`
				if strings.Contains(l, log) { // says where things are on this machine
					if i > 0 && strings.Contains(rec.out[i-1], log) {
						continue
					}
					l = l[:2] + `{"jsonrpc":"2.0",` + log + `,"params":{"type":3,"message":"a line of the log"}}`
				}
				fmt.Fprintln(&b, strings.ReplaceAll(l, r.dir, "$ROOT"))
			}
			must.Write(t, filepath.Join(*record, p.server+".transcript"), b.String())
		})
	}
}
