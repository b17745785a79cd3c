package lsp

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"path/filepath"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/pawl-agent/pawl/internal/core/must"
)

// SPEC 12.3: what the server asks is answered, and it changes nothing.
func TestServersQuestions(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newFake(t)
		srv := &Server{Name: "x", Files: map[string]string{".x": "x"}, Settings: map[string]any{"a": map[string]any{"b": 1}}, Edits: []string{"x.fix"}}
		c := connected(t, f, srv, nil)
		defer c.fail(errGone)
		must.Do(t, c.start(t.Context()))
		for i, q := range []struct{ method, params, want string }{
			{"workspace/configuration", `{"items":[{"section":"a.b"},{"section":"a"},{"section":"none"},{"section":"a.b.c"},{}]}`, `[1,{"b":1},null,null,{"a":{"b":1}}]`},
			{"workspace/configuration", `7`, `-32602`},
			{"client/registerCapability", `{"registrations":[{"id":"1","method":"workspace/didChangeWatchedFiles","registerOptions":{"watchers":[{"globPattern":"**/*.cfg"}]}}]}`, `null`},
			{"workspace/workspaceFolders", ``, `[{"name":"` + filepath.Base(c.root) + `","uri":"` + toURI(c.root) + `"}]`},
			{"workspace/applyEdit", `{"edit":{"changes":{}}}`, `{"applied":false,"failureReason":"nobody asked for this change"}`},
			{"window/showMessageRequest", `{"type":1,"message":"Delete all?","actions":[{"title":"Yes"}]}`, `null`},
			{"window/workDoneProgress/create", `{"token":"t"}`, `null`},
			{"window/showDocument", `{"uri":"http://x"}`, `{"success":false}`},
			{"workspace/diagnostic/refresh", ``, `null`},
			{"no/such", `{}`, `-32601`},
			{"client/unregisterCapability", `{"unregisterations":[{"id":"1","method":"workspace/didChangeWatchedFiles"}]}`, `null`},
		} {
			if q.method == "client/unregisterCapability" && !c.watches(filepath.Join(c.root, "a", "b.cfg")) {
				t.Error("a registered pattern is not watched")
			}
			m := map[string]any{"jsonrpc": "2.0", "id": i + 1, "method": q.method}
			if q.params != "" {
				m["params"] = json.RawMessage(q.params)
			}
			f.send(m)
			synctest.Wait()
			got := f.all[len(f.all)-1]
			if text := string(got.Result) + string(got.Error); !strings.Contains(text, q.want) {
				t.Errorf("%s: %s, want %s", q.method, text, q.want)
			}
		}
		if c.watches(filepath.Join(c.root, "a", "b.cfg")) {
			t.Error("a pattern that was taken back is watched")
		}
		f.send(map[string]any{"jsonrpc": "2.0", "id": "a string", "method": "window/showMessageRequest"})
		synctest.Wait()
		if got := f.all[len(f.all)-1]; string(got.ID) != `"a string"` {
			t.Errorf("the answer to an id that is a string goes to %s", got.ID)
		}
	})
}

// SPEC 12.3: a request that nobody waits for is cancelled, and its late answer
// is nobody's.
func TestCancel(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newFake(t)
		f.answers["slow"] = func(json.RawMessage) any { return silence{} }
		f.answers["quick"] = func(json.RawMessage) any { return "right" }
		c := connected(t, f, nil, nil)
		defer c.fail(errGone)
		must.Do(t, c.start(t.Context()))
		ctx, cancel := context.WithCancelCause(t.Context())
		stop := errors.New("the person pressed Esc")
		time.AfterFunc(time.Second, func() { cancel(stop) })
		var got string
		if err := c.call(ctx, "slow", nil, &got); !errors.Is(err, stop) {
			t.Fatalf("got %v", err)
		}
		synctest.Wait()
		slow, _ := f.last("slow")
		told, n := f.last("$/cancelRequest")
		if n != 1 || !strings.Contains(string(told.Params), string(slow.ID)) {
			t.Errorf("told %s, asked as %s", told.Params, slow.ID)
		}
		for _, id := range []any{json.RawMessage(slow.ID), 0, 999, nil, "1", -1, 1.5} { // late, and wrong
			f.send(map[string]any{"jsonrpc": "2.0", "id": id, "result": "wrong"})
		}
		if err := c.call(t.Context(), "quick", nil, &got); err != nil || got != "right" {
			t.Errorf("got %q, %v", got, err)
		}
	})
}

// SPEC 12.3: hung → timeout 30 s. A silent server is ended; one
// that is busy is not.
func TestHung(t *testing.T) {
	for name, at := range map[string]time.Duration{"silent": 0, "busy": 10 * time.Second, "only what it sent before": 500 * time.Millisecond} {
		talks := at > leftover
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				f := newFake(t)
				f.answers["slow"] = func(json.RawMessage) any { return silence{} }
				c := connected(t, f, nil, nil)
				defer c.fail(errGone)
				must.Do(t, c.start(t.Context()))
				if at > 0 {
					time.AfterFunc(at, func() {
						f.send(map[string]any{"jsonrpc": "2.0", "method": "$/progress", "params": json.RawMessage(`{"token":1,"value":{"kind":"begin","title":"Indexing"}}`)})
					})
				}
				began := time.Now()
				err := c.call(t.Context(), "slow", nil, nil)
				if !errors.Is(err, errHung) || time.Since(began) != 30*time.Second {
					t.Errorf("%v after %s", err, time.Since(began))
				}
				if ended := c.alive() != nil; ended == talks {
					t.Errorf("ended: %v", ended)
				}
			})
		})
	}
}

// SPEC 12.3: answers that say "ask again" are asked again, other errors come up,
// and what cannot be read is an error.
func TestAnswers(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newFake(t)
		tries := 0
		f.answers["again"] = func(json.RawMessage) any {
			if tries++; tries < 3 {
				return fakeError{contentModified, "content modified"}
			}
			return "now"
		}
		f.answers["never"] = func(json.RawMessage) any { return fakeError{serverCancelled, "cancelled"} }
		f.answers["refuse"] = func(json.RawMessage) any { return fakeError{-32603, "column is beyond end of line"} }
		f.answers["number"] = func(json.RawMessage) any { return 7 }
		c := connected(t, f, nil, nil)
		defer c.fail(errGone)
		must.Do(t, c.start(t.Context()))
		var s string
		if err := c.call(t.Context(), "again", nil, &s); err != nil || s != "now" {
			t.Errorf("%q, %v", s, err)
		}
		if err := c.call(t.Context(), "never", nil, &s); err == nil {
			t.Error("an answer that is never given")
		}
		if err := c.call(t.Context(), "refuse", nil, &s); err == nil || !strings.Contains(err.Error(), "beyond end of line") {
			t.Errorf("%v", err)
		}
		if err := c.call(t.Context(), "number", nil, &s); err == nil || c.alive() != nil {
			t.Errorf("a number for a text: %v, ended: %v", err, c.alive())
		}
	})
}

// SPEC 12.3: a server that dies, or speaks no protocol, ends its requests.
func TestDeath(t *testing.T) {
	for name, end := range map[string]func(f *fake){
		"killed":   func(f *fake) { f.Kill(0) },
		"rubbish":  func(f *fake) { go f.raw(strings.Repeat("panic: runtime error\n", 100_000)) },
		"a length": func(f *fake) { go f.raw("Content-Length: 999999999999\r\n\r\n") },
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				f := newFake(t)
				f.answers["ask"] = func(json.RawMessage) any { end(f); return silence{} }
				c := connected(t, f, nil, nil)
				must.Do(t, c.start(t.Context()))
				began := time.Now()
				if err := c.call(t.Context(), "ask", nil, nil); err == nil || time.Since(began) > time.Second {
					t.Errorf("%v after %s", err, time.Since(began))
				}
				if err := c.call(t.Context(), "ask", nil, nil); err == nil {
					t.Error("a dead server is asked")
				}
			})
		})
	}
}

// late is a server whose last lines are still in its pipe when it has ended.
type late struct {
	*fake
	shut chan struct{}
}

func (l late) Out() io.ReadCloser { return l }

func (l late) Read(p []byte) (int, error) {
	<-l.done
	select {
	case <-time.After(time.Millisecond):
		return copy(p, "no protocol here\n"), io.EOF
	case <-l.shut:
		return 0, io.ErrClosedPipe
	}
}

func (l late) Close() error {
	close(l.shut)
	return nil
}

// SPEC 12.3: what a server printed before its end is read, however it ended.
func TestLastWords(t *testing.T) {
	for name, end := range map[string]func(c *client){
		"it ended":          func(c *client) { c.proc.Kill(0) },
		"it was ended":      func(c *client) { c.fail(errHung) },
		"it was told to go": func(c *client) { c.stop(t.Context()) },
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				opt := Options{Root: t.TempDir()}
				opt.defaults()
				l := late{newFake(t), make(chan struct{})}
				c := connect(&Server{Name: "x"}, opt.Root, &opt, l, &tail{})
				end(c)
				if err := c.start(t.Context()); err == nil {
					t.Error("a server that ended has started")
				}
				if got := c.log.all(); len(got) != 1 || !strings.Contains(got[0], "no protocol here") {
					t.Errorf("it printed %q", got)
				}
			})
		})
	}
}

// SPEC 12.3: what a server announces at the handshake is used as it is.
func TestHandshake(t *testing.T) {
	for _, c := range []struct {
		name, caps string
		enc        encoding
		sync       syncOptions
		fails      bool
	}{
		{"nothing said", `{}`, utf16Units, syncOptions{openClose: true, change: 1, save: true}, false},
		{"a number", `{"textDocumentSync":2}`, utf16Units, syncOptions{openClose: true, change: 2, save: true}, false},
		{"options", `{"positionEncoding":"utf-8","textDocumentSync":{"openClose":true,"change":2,"save":{"includeText":true}}}`, utf8Units, syncOptions{true, 2, true, true}, false},
		{"save as a word", `{"textDocumentSync":{"openClose":true,"change":1,"save":true}}`, utf16Units, syncOptions{true, 1, true, false}, false},
		{"save not", `{"textDocumentSync":{"openClose":true,"change":1,"save":false}}`, utf16Units, syncOptions{true, 1, false, false}, false},
		{"an encoding that was not offered", `{"positionEncoding":"utf-32"}`, "", syncOptions{}, true},
	} {
		t.Run(c.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				f := newFake(t)
				f.caps = c.caps
				cl := connected(t, f, nil, nil)
				defer cl.fail(errGone)
				err := cl.start(t.Context())
				if (err != nil) != c.fails || err == nil && (cl.enc != c.enc || cl.sync != c.sync) {
					t.Errorf("%v %s %+v", err, cl.enc, cl.sync)
				}
				hello, _ := f.last("initialize")
				if !strings.Contains(string(hello.Params), `"positionEncodings":["utf-8","utf-16"]`) || strings.Contains(string(hello.Params), `"diagnostic":`) {
					t.Errorf("the handshake offers %s", hello.Params)
				}
			})
		})
	}
}

// SPEC 12.3: ending is asked for, then enforced.
func TestStop(t *testing.T) {
	for name, deaf := range map[string]bool{"polite": false, "deaf": true} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				f := newFake(t)
				if deaf {
					f.answers["shutdown"] = func(json.RawMessage) any { return silence{} }
				}
				c := connected(t, f, nil, nil)
				must.Do(t, c.start(t.Context()))
				began := time.Now()
				c.stop(t.Context())
				if took := time.Since(began); took > time.Second || deaf != (took > 0) {
					t.Errorf("took %s", took)
				}
				select {
				case <-f.done:
				default:
					t.Error("the process runs on")
				}
				if _, n := f.last("exit"); deaf == (n == 1) {
					t.Errorf("exit was said %d times", n)
				}
			})
		})
	}
}
