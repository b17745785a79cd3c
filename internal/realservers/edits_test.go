//go:build realservers

package realservers

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/pawl-agent/pawl/internal/adapter/lsp"
	"github.com/pawl-agent/pawl/internal/adapter/shell"
	"github.com/pawl-agent/pawl/internal/adapter/tools"
	"github.com/pawl-agent/pawl/internal/core/event"
	"github.com/pawl-agent/pawl/internal/core/llm/llmtest"
	"github.com/pawl-agent/pawl/internal/core/must"
	"github.com/pawl-agent/pawl/internal/core/process"
	"github.com/pawl-agent/pawl/internal/core/tool"
)

// counting counts what a server is sent.
type counting struct {
	process.Starter
	sent *atomic.Int64
}

type countedProcess struct {
	process.Process
	in io.WriteCloser
}

func (p countedProcess) In() io.WriteCloser { return p.in }

type countedWriter struct {
	io.WriteCloser
	sent *atomic.Int64
}

func (w countedWriter) Write(b []byte) (int, error) {
	w.sent.Add(int64(len(b)))
	return w.WriteCloser.Write(b)
}

func (c counting) Start(ctx context.Context, p process.Program) (process.Process, error) {
	run, err := c.Starter.Start(ctx, p)
	if err != nil {
		return nil, err
	}
	return countedProcess{run, countedWriter{run.In(), c.sent}}, nil
}

// pkg is a package that calls the one before it.
func pkg(i int, params, note string) string {
	body, imports := "return 0", ""
	if i > 0 {
		imports, body = fmt.Sprintf("import \"example.com/m/p%d\"\n\n", i-1), fmt.Sprintf("return p%d.F(1)", i-1)
	}
	return fmt.Sprintf("// Package p%d is one of many.%s\npackage p%d\n\n%s// F calls the one before.\nfunc F(%s) int { %s }\n", i, note, i, imports, params, body)
}

// TestTenEdits makes ten edits of which five break something elsewhere, and
// says how long after the edit that is known: with the server in the edit's own
// result or a later one, without it at the build that comes last.
func TestTenEdits(t *testing.T) {
	dir := must.Dir(t)
	write := func(name, text string) {
		t.Helper()
		must.Write(t, filepath.Join(dir, name), text)
	}
	write("go.mod", "module example.com/m\n\ngo 1.26\n")
	for i := range 20 {
		write(fmt.Sprintf("p%d/p.go", i), pkg(i, "n int", ""))
	}
	start := shell.NewStarter(shell.StarterOptions{})
	defer start.Close()
	var sent atomic.Int64
	s := lsp.New(lsp.Options{Root: dir, Table: lsp.Table(nil)[:1], Start: counting{start, &sent}, Confine: process.Free, Find: find})
	defer s.Close()
	steps, notes, inTime := 0, 0, 0
	var open []string // broken, and not told of yet
	var took []time.Duration
	var warm int64
	for i := range 10 {
		at := 2*i + 1 // each edit in a file of its own
		file := fmt.Sprintf("p%d/p.go", at)
		old, _ := os.ReadFile(filepath.Join(dir, file))
		breaks := i%2 == 0
		if breaks {
			write(file, pkg(at, "n, m int", ""))
		} else {
			write(file, pkg(at, "n int", " It was edited."))
		}
		if i == 1 {
			warm = sent.Load()
		}
		began := time.Now()
		ds := s.Changed(t.Context(), []tool.CodeChange{{Path: file, Existed: true, Before: func(context.Context) ([]byte, error) { return old, nil }}})
		took = append(took, time.Since(began))
		broke := fmt.Sprintf("p%d/p.go", at+1)
		for _, d := range ds {
			notes += len(tools.DiagnosticLine(d)) + 3
		}
		for _, d := range ds {
			if !slices.Contains(open, d.Path) && d.Path != broke {
				t.Errorf("edit %d of %s: %v", i, file, lines(ds))
			}
		}
		named := func(p string) bool {
			return slices.ContainsFunc(ds, func(d tool.Diagnostic) bool { return d.Path == p })
		}
		open = slices.DeleteFunc(open, named) // by now, with a later result
		switch {
		case breaks && named(broke):
			inTime++
		case breaks:
			open = append(open, broke)
		case named(broke):
			t.Errorf("edit %d of %s broke nothing: %v", i, file, lines(ds))
		}
		if breaks {
			steps += 10 - i // without: the build after the tenth
		}
	}
	if len(open) > 0 {
		t.Errorf("never told of %q", open)
	}
	out, err := exec.Command("go", "build", "-C", dir, "./...").CombinedOutput()
	if err == nil || !strings.Contains(string(out), "not enough arguments") {
		t.Errorf("the build that comes last: %v %s", err, out)
	}
	slices.Sort(took)
	t.Logf("%d of 5 breakages were in the result of their own edit; without a server they are met %.1f steps later on average. Notes: %d bytes in all. An edit waits %s (median; the first %s) and sends %d bytes",
		inTime, float64(steps)/5, notes, took[len(took)/2].Round(time.Millisecond), took[len(took)-1].Round(time.Millisecond), (sent.Load()-warm)/9)
}

// TestPairedSessions runs one scripted session twice, with the language server and
// without: ten edits, of which five break another file, and a build at the end. It
// says how many steps after the edit the model is first shown what broke.
func TestPairedSessions(t *testing.T) {
	steps, notes := map[bool]int{}, map[bool]int{}
	for _, served := range []bool{true, false} {
		files := map[string]string{"go.mod": "module example.com/m\n\ngo 1.26\n"}
		for i := range 21 {
			files[fmt.Sprintf("p%d/p.go", i)] = pkg(i, "n int", "")
		}
		var turns []llmtest.Turn
		var breaks []string // by edit: the package that it breaks
		for i := range 10 {
			at := 2*i + 1
			text, broke := pkg(at, "n int", " It was edited."), ""
			if i%2 == 0 {
				text, broke = pkg(at, "n, m int", ""), fmt.Sprintf("p%d/p.go:", at+1)
			}
			in := must.Get(json.Marshal(map[string]string{"path": fmt.Sprintf("p%d/p.go", at), "content": text}))(t)
			turns = append(turns, llmtest.Use("read", fmt.Sprintf(`{"files":[{"path":"p%d/p.go"}]}`, at), "write", string(in)))
			breaks = append(breaks, broke)
		}
		turns = append(turns, llmtest.Use("bash", `{"command":"go build ./..."}`), llmtest.Say("done"))
		k := talkOf(t, llmtest.New(turns...), files, served)
		step, open := -1, map[string]int{}
		for _, e := range k.turn("do it") {
			switch b := e.Body.(type) {
			case event.Replied:
				if step++; step < len(breaks) && breaks[step] != "" {
					open[breaks[step]] = step
				}
			case event.CallDone:
				if i := strings.Index(b.Result.Text, "[the language server finds"); i >= 0 {
					notes[served] += len(b.Result.Text) - i
				}
				for file, at := range open {
					if strings.Contains(b.Result.Text, file) {
						steps[served] += step - at
						delete(open, file)
					}
				}
			}
		}
		if served && len(open) > 0 {
			t.Errorf("never told of %v", open)
		}
		for _, at := range open { // the build stops at the first: the others are met even later
			steps[served] += len(breaks) - at
		}
	}
	if steps[true] > 3 || steps[false] < 30 {
		t.Errorf("%d steps with the server, %d without", steps[true], steps[false])
	}
	t.Logf("five breakages are shown %.1f steps after their edit with the server and at least %.1f without; the notes are %d bytes, about %d tokens", float64(steps[true])/5, float64(steps[false])/5, notes[true], notes[true]/4)
}
