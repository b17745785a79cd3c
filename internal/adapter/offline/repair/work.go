package repair

import (
	_ "embed"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"path"
	"strconv"
	"strings"

	"github.com/pawl-agent/pawl/internal/core/shellsyntax"
)

// work is one repair's use of the Hands: it counts commands and knows what to
// put back.
type work struct {
	h        Hands
	opt      Options
	m        *module
	runs     int
	standing *change // in the tree, and not accepted yet
}

// run runs a command on the workspace, or as it would be with files (path -> text).
func (w *work) run(command string, files map[string]string) (out string, exit int, err error) {
	if w.runs >= w.opt.Runs {
		return "", 0, errRuns
	}
	w.runs++
	if files == nil {
		out, exit, err = w.h.Run(command)
	} else {
		out, exit, err = w.h.Overlay(command, files)
	}
	if err != nil {
		err = fmt.Errorf("%w: run %q: %w", ErrHands, command, err)
	}
	return out, exit, err
}

// In makes a command line that runs in a folder of the workspace.
func In(dir, command string) string {
	if dir == "" {
		return command
	}
	return "cd " + shellsyntax.Quote(dir) + " && " + command
}

// goTest writes a command that tests, without a cache.
func (w *work) goTest(args string) string {
	return In(w.opt.Dir, "go test -count=1 -timeout="+strconv.Itoa(timeout)+"s "+args)
}

func (w *work) everything(r *Report) (TestRun, int, error) {
	var args []string
	for _, p := range w.opt.Packages {
		args = append(args, shellsyntax.Quote(p))
	}
	command := w.goTest(strings.Join(args, " "))
	out, exit, err := w.run(command, nil)
	r.Command, r.Exit = command, exit
	return ReadTests(out), exit, err
}

// apply makes a change in the tree.
func (w *work) apply(e change) error {
	w.standing = &e
	old, new := Narrow(e.before, e.after)
	if err := w.h.Edit(e.Path, old, new); err != nil {
		return fmt.Errorf("%w: edit %s: %w", ErrHands, e.Path, err)
	}
	return nil
}

// revert puts the standing change back. The error says that it is still there.
func (w *work) revert() error {
	if w.standing == nil {
		return nil
	}
	e := *w.standing
	now, err := w.h.ReadAll([]string{e.Path})
	if err == nil && now[e.Path] != e.before {
		old, new := Narrow(now[e.Path], e.before)
		err = w.h.Edit(e.Path, old, new)
	}
	if err != nil {
		return fmt.Errorf("%w: still changed: %s: %w", ErrHands, e.Path, err)
	}
	w.standing = nil
	return nil
}

//go:embed runtime/rt.txt
var rtText string

//go:embed runtime/explore.txt
var exploreText string

//go:embed runtime/values.txt
var valuesText string

//go:embed runtime/probe.txt
var probeText string

// errRuns means that the commands that may be run are used up.
var errRuns = errors.New("no more commands")

// errBuild means that what was generated does not compile, or did not come to
// its end.
var errBuild = errors.New("the instrumented tests do not build or do not end")

// probeConfig is read by runtime/probe.txt.
type probeConfig struct {
	Mode     string
	Tests    []string
	Failing  []string
	Variants []int
	Seconds  int
}

// probed is what runtime/probe.txt prints, in lines of JSON with one field each.
type probed struct {
	End bool // it came to its end

	Failing []string       // hits: the tests that fail alone
	Slow    int            // hits: milliseconds of the slowest test that passes
	Fails   int            // hits: how many tests and subtests fail
	Hits    map[int][2]int // hits: how many of those that fail, and that pass, run a statement

	Passed []int // screen: the variants that pass
	Tried  int   // screen: how many ran

	Inputs, Right int // diff: how many there were, and how many on which the code as it was is taken to be right
	Class         *struct {
		Panics, Stops, Changed int
		Members                []int
	} // diff: variants that behave alike
	Row *struct {
		Func, Input string
		Out         map[int]string
	} // diff: an input on which they do not
}

// probe runs our probe among a package's tests, with files laid over the tree. each, if
// not nil, is called after each line.
func (w *work) probe(p *pkg, files map[string]string, c probeConfig, each ...func(*probed)) (*probed, error) {
	b, err := json.Marshal(c)
	if err != nil {
		return nil, fmt.Errorf("encode the probe: %w", err)
	}
	in := func(name string) string { return path.Join(w.m.dir, "pawlrt", name) }
	maps.Copy(files, map[string]string{
		in("rt.go"):      rtText + "\nconst module = " + strconv.Quote(w.m.path) + "\n",
		in("explore.go"): exploreText,
		in("values.go"):  valuesText,
		path.Join(p.dir, "zz_pawl_probe_test.go"): strings.NewReplacer("CONFIG", strconv.Quote(string(b)), "PACKAGE", p.name).Replace(probeText),
	})
	out, _, err := w.run(In(w.opt.Dir, "go test -vet=off -count=1 -v -timeout=280s -run='^TestPawlProbe$' "+shellsyntax.Quote(w.m.pattern(p.dir))), files)
	if err != nil {
		return nil, err
	}
	got := &probed{}
	for line := range strings.Lines(out) {
		text, ok := strings.CutPrefix(line, "PAWL ")
		if !ok {
			continue
		}
		got.Class, got.Row = nil, nil
		if err := json.Unmarshal([]byte(text), got); err != nil {
			return nil, errBuild
		}
		for _, f := range each {
			f(got)
		}
	}
	if !got.End {
		return nil, errBuild
	}
	return got, nil
}
