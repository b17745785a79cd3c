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
	out, _, err := w.run(w.goIn("test", "-vet=off -count=1 -v -timeout=280s -run='^TestPawlProbe$'", shellsyntax.Quote(w.m.pattern(p.dir))), files)
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
