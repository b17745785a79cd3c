package lsp

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/pawl-agent/pawl/internal/core/must"
	"github.com/pawl-agent/pawl/internal/core/process"
	"github.com/pawl-agent/pawl/internal/core/tool"
)

// checker makes a fake that finds "bad" on lines of documents, and in every open
// document that uses what is not in any: a change of one file breaks another.
func checker(b *bench, delay time.Duration) func(process.Program) (*fake, error) {
	return func(process.Program) (*fake, error) {
		f := newFake(b.t)
		check := func() any {
			time.Sleep(delay)
			f.mu.Lock()
			docs := map[string]string{}
			defined := ""
			for uri, s := range f.docs {
				docs[uri] = s
				defined += s
			}
			f.mu.Unlock()
			for uri, s := range docs {
				path, _ := fromURI(uri)
				var found []string
				for i, line := range strings.Split(s, "\n") {
					if strings.Contains(line, "bad") {
						found = append(found, fmt.Sprintf("%d|bad: %s", i, strings.TrimSpace(line)))
					}
					if name, ok := strings.CutPrefix(line, "use "); ok && !strings.Contains(defined, "def "+name) {
						found = append(found, fmt.Sprintf("%d|undefined: %s", i, name))
					}
				}
				f.publish(path, 0, found...)
			}
			return nil
		}
		for _, m := range []string{"textDocument/didOpen", "textDocument/didChange"} {
			f.answers[m] = func(json.RawMessage) any { return check() }
		}
		return f, nil
	}
}

// change writes a file as a tool does, and tells of it.
func (b *bench) change(name, content string) []string {
	old, err := os.ReadFile(b.path(name))
	b.write(name, content)
	ch := tool.CodeChange{Path: name, Existed: err == nil}
	if ch.Existed {
		ch.Before = func(context.Context) ([]byte, error) { return old, nil }
	}
	return b.told(ch)
}

func (b *bench) told(cs ...tool.CodeChange) []string {
	var out []string
	for _, d := range b.Changed(b.t.Context(), cs) {
		out = append(out, fmt.Sprintf("%s:%d %s", d.Path, d.Line, d.Message))
	}
	return out
}

// SPEC 12.2: after each edit its new diagnostics come back, only those that the
// edit caused.
func TestOnlyWhatTheEditCaused(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := newBench(t, map[string]string{"project.x": "", "a.x": "def f\nbad one\n", "b.x": "use f\nbad two\nbad two\n"}, func(o *Options) { o.Table[0].OpenOnly = true })
		defer b.Close()
		b.make = checker(b, 50*time.Millisecond)
		b.write("a2.x", "a\n")
		for _, step := range []struct{ what, file, to, want string }{
			{"the first edit starts the server: what was wrong before is not told", "a.x", "def f\nbad one\nbad more\n", "a.x:3 bad: bad more"},
			{"nothing new", "a.x", "def f\nbad one\nbad more\nx\n", ""},
			{"lines above move the rest", "a.x", "\n\n\ndef f\nbad one\nbad more\nx\n", ""},
			{"one mended", "a.x", "def f\nbad one\nx\n", ""},
			{"and broken again", "a.x", "def f\nbad one\nbad more\nx\n", "a.x:3 bad: bad more"},
			{"another file breaks", "a.x", "def g\nbad one\nbad more\nx\n", "b.x:1 undefined: f"},
			{"and is told once", "a.x", "def g\nbad one\nbad more\nxx\n", ""},
			{"the same words once more", "b.x", "use f\nbad two\nbad two\nbad two\n", "b.x:4 bad: bad two"},
			{"a new file", "c.x", "bad new\n", "c.x:1 bad: bad new"},
		} {
			got := strings.Join(b.change(step.file, step.to), ", ")
			if got != step.want {
				t.Errorf("%s: %q, want %q", step.what, got, step.want)
			}
		}
		must.Do(t, os.Remove(b.path("c.x")))
		if got := b.told(tool.CodeChange{Path: "c.x", Existed: true}); len(got) > 0 {
			t.Errorf("a file that is gone: %v", got)
		}
		synctest.Wait()
		if b.fake(0).doc(b.path("c.x")) != "" {
			t.Error("the server has a document whose file is gone")
		}
	})
}

// SPEC 12.2: what changes brought and is there still is known: not what was wrong
// before, nor what was mended, wherever its lines moved.
func TestStanding(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := newBench(t, map[string]string{"project.x": "", "a.x": "bad before\n", "b.x": "one\n"}, nil)
		defer b.Close()
		b.make = checker(b, 50*time.Millisecond)
		for _, step := range []struct{ file, to, want string }{
			{"a.x", "bad before\nbad mine\n", "a.x:2 bad: bad mine"},
			{"b.x", "bad here\n", "a.x:2 bad: bad mine, b.x:1 bad: bad here"},
			{"a.x", "\n\n\nbad before\nbad mine\n", "a.x:5 bad: bad mine, b.x:1 bad: bad here"},
			{"a.x", "bad before\n", "b.x:1 bad: bad here"},
			{"a.x", "good\nbad mine\n", "a.x:2 bad: bad mine, b.x:1 bad: bad here"},
			{"b.x", "two\n", "a.x:2 bad: bad mine"},
			{"a.x", "good\n", ""},
		} {
			b.change(step.file, step.to)
			var got []string
			for _, d := range b.Remaining() {
				got = append(got, fmt.Sprintf("%s:%d %s", d.Path, d.Line, d.Message))
			}
			if strings.Join(got, ", ") != step.want {
				t.Errorf("%s = %q: %q, want %q", step.file, step.to, got, step.want)
			}
		}
		// What is under way is waited for, for a short time.
		b.make = checker(b, time.Second)
		b.Restart(t.Context(), "")
		b.write("a.x", "bad again\n")
		ctx, cancel := context.WithCancel(t.Context())
		cancel()
		b.Changed(ctx, []tool.CodeChange{{Path: "a.x", Existed: true, Before: func(context.Context) ([]byte, error) { return []byte("good\n"), nil }}})
		began := time.Now()
		if b.Wait(t.Context()); time.Since(began) != 1500*time.Millisecond {
			t.Errorf("waited %s", time.Since(began))
		}
		time.Sleep(time.Minute)
		began = time.Now()
		if b.Wait(t.Context()); time.Since(began) != 0 || len(b.told()) != 1 || len(b.Remaining()) != 1 {
			t.Errorf("after %s: %v", time.Since(began), b.Remaining())
		}
	})
}

// SPEC 12.2: what comes later than 1.5 s comes with the next result, once.
func TestLate(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := newBench(t, map[string]string{"project.x": "", "a.x": "one\n"}, nil)
		defer b.Close()
		b.make = checker(b, 3*time.Second)
		began := time.Now()
		if got := b.change("a.x", "bad\n"); len(got) > 0 {
			t.Errorf("early: %v", got)
		}
		if took := time.Since(began); took != 1500*time.Millisecond {
			t.Errorf("waited %s", took)
		}
		time.Sleep(20 * time.Second)
		began = time.Now()
		if got := b.told(); !slices.Equal(got, []string{"a.x:1 bad: bad"}) {
			t.Errorf("later: %v", got)
		}
		if time.Since(began) != 0 {
			t.Error("a call without changes waited")
		}
		if got := b.told(); len(got) > 0 {
			t.Errorf("again: %v", got)
		}
	})
}

// SPEC 12.2: a question asked while the server still learns what was wrong before
// a change does not hide what the change broke.
func TestQuestionMeanwhile(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := newBench(t, map[string]string{"project.x": "", "a.x": "one\n"}, nil)
		defer b.Close()
		slow := checker(b, 2*time.Second)
		b.make = func(p process.Program) (*fake, error) {
			f, err := slow(p)
			f.versioned = true
			return f, err
		}
		if got := b.change("a.x", "bad\n"); len(got) > 0 {
			t.Errorf("early: %v", got)
		}
		must.Done(t)(b.Hover(t.Context(), tool.CodeAt{Path: "a.x", Line: 1}))
		time.Sleep(10 * time.Second)
		if got := b.told(); !slices.Equal(got, []string{"a.x:1 bad: bad"}) {
			t.Errorf("later: %v", got)
		}
	})
}

// SPEC 12.2: what somebody else broke meanwhile is not the edit's doing.
func TestNotTheEdits(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := newBench(t, map[string]string{"project.x": "", "a.x": "one\n", "b.x": "two\n"}, nil)
		defer b.Close()
		b.make = checker(b, 0)
		b.change("a.x", "three\n")
		b.write("b.x", "bad, by a person\n")
		time.Sleep(time.Minute)
		if _, err := b.Hover(t.Context(), tool.CodeAt{Path: "b.x", Line: 1}); err != nil { // looks again
			t.Fatal(err)
		}
		time.Sleep(time.Minute)
		if got := b.change("a.x", "bad\n"); !slices.Equal(got, []string{"a.x:1 bad: bad"}) {
			t.Errorf("got %v", got)
		}
	})
}

// SPEC 12.2: diagnostics of an older version are late and are not taken.
func TestStaleDiagnostics(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := newBench(t, map[string]string{"project.x": "", "a.x": "one\n"}, nil)
		defer b.Close()
		b.make = func(process.Program) (*fake, error) {
			f := newFake(t)
			f.answers["textDocument/didOpen"] = func(json.RawMessage) any { f.publish(b.path("a.x"), 1); return nil }
			f.answers["textDocument/didChange"] = func(json.RawMessage) any {
				f.publish(b.path("a.x"), 1, "of the old text")
				time.Sleep(time.Second)
				f.publish(b.path("a.x"), 2, "of the new text")
				f.publish(b.path("a.x"), 1, "of the old text, again")
				return nil
			}
			return f, nil
		}
		if got := b.change("a.x", "two\n"); !slices.Equal(got, []string{"a.x:1 of the new text"}) {
			t.Errorf("got %v", got)
		}
	})
}

// SPEC 12.2: servers that are asked for diagnostics, as TypeScript 7.
func TestPulled(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := newBench(t, map[string]string{"project.x": "", "a.x": "one\n", "b.x": "a is used\n"}, func(o *Options) {
			o.Table[0].Pull, o.Table[0].OpenOnly = true, true
		})
		defer b.Close()
		b.make = func(process.Program) (*fake, error) {
			f := newFake(t)
			f.caps = `{"textDocumentSync":2,"hoverProvider":true,"diagnosticProvider":{"identifier":"x","interFileDependencies":true}}`
			f.answers["textDocument/diagnostic"] = func(raw json.RawMessage) any {
				var p pullParams
				_ = json.Unmarshal(raw, &p)
				if p.Identifier != "x" {
					t.Errorf("asked with %s", raw)
				}
				text := f.doc(strings.TrimPrefix(p.TextDocument.URI, "file://"))
				report := documentReport{Kind: "full", ResultID: text, Items: []diagnostic{}}
				if strings.Contains(text, "bad") {
					report.Items = append(report.Items, diagnostic{Message: "bad"})
				}
				if a := f.doc(b.path("a.x")); strings.Contains(p.TextDocument.URI, "b.x") && strings.Contains(a, "renamed") {
					report.ResultID = "other"
					report.Items = append(report.Items, diagnostic{Message: "a has no such thing"})
				}
				if p.PreviousResultID == report.ResultID {
					return map[string]any{"kind": "unchanged", "resultId": text}
				}
				return report
			}
			return f, nil
		}
		if got := b.change("a.x", "bad\nrenamed\n"); !slices.Equal(got, []string{"a.x:1 bad", "b.x:1 a has no such thing"}) {
			t.Errorf("got %v", got)
		}
		if got := b.change("a.x", "bad\nrenamed again\n"); len(got) > 0 {
			t.Errorf("again %v", got)
		}
	})
}

// SPEC 12.2: a server hears of every change on disk before it is asked.
func TestFilesAreWatched(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := newBench(t, map[string]string{"project.x": "", "a.x": "one\n", "b.x": "two\n", "node_modules/c.x": "", ".git/d.x": ""}, nil)
		defer b.Close()
		ask := func() {
			t.Helper()
			must.Done(t)(b.Hover(t.Context(), tool.CodeAt{Path: "a.x", Line: 1}))
			synctest.Wait()
		}
		ask()
		f := b.fake(0)
		if _, n := f.last("workspace/didChangeWatchedFiles"); n != 0 {
			t.Error("told of files before anything changed")
		}
		b.write("a.x", "\ufeffone 🐾 changed\n") // the mark at the beginning is not sent
		b.write("new/e.x", "new\n")
		b.write("node_modules/f.x", "of others\n")
		must.Do(t, os.Remove(b.path("b.x")))
		time.Sleep(time.Minute)
		ask()
		m, _ := f.last("workspace/didChangeWatchedFiles")
		var p didChangeWatched
		_ = json.Unmarshal(m.Params, &p)
		var got []string
		for _, e := range p.Changes {
			path, _ := fromURI(e.URI)
			got = append(got, fmt.Sprintf("%s %d", b.rel(path), e.Type))
		}
		if !slices.Equal(got, []string{"a.x 2", "b.x 3", "new/e.x 1"}) {
			t.Errorf("told of %v", got)
		}
		if f.doc(b.path("a.x")) != "one 🐾 changed\n" {
			t.Errorf("the server has %q", f.doc(b.path("a.x")))
		}
	})
}

// SPEC 12.2: no more documents are open than the limit.
func TestOpenDocumentsAreBounded(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		files := map[string]string{"project.x": ""}
		for i := range openLimit + 20 {
			files[fmt.Sprintf("f%d.x", i)] = "text\n"
		}
		b := newBench(t, files, nil)
		defer b.Close()
		for i := range openLimit + 20 {
			must.Done(t)(b.Hover(t.Context(), tool.CodeAt{Path: fmt.Sprintf("f%d.x", i), Line: 1}))
		}
		f := b.fake(0)
		f.mu.Lock()
		n := len(f.docs)
		f.mu.Unlock()
		if n != openLimit || b.list()[0].running().version(b.path("f0.x")) != 0 {
			t.Errorf("%d are open", n)
		}
	})
}
