package undo

import (
	"path"
	"slices"
	"strings"
	"testing"

	"github.com/pawl-agent/pawl/internal/core/event"
	"github.com/pawl-agent/pawl/internal/core/must"
	"github.com/pawl-agent/pawl/internal/core/tool"
	"github.com/pawl-agent/pawl/internal/policy/command"
)

// lookup is a workspace in which link leads to real.
var lookup = Workspace{Dir: "/w", Resolve: func(p string) (string, bool, error) {
	rel, ok := strings.CutPrefix(path.Clean(p), "/w/")
	if rest, led := strings.CutPrefix(rel, "link/"); led {
		rel = "real/" + rest
	}
	return rel, ok, nil
}}

// SPEC 11.1: what the sandbox saw a command do is its doing, whatever its words name; a file
// that is there though the command removed it is somebody else's.
func TestSeen(t *testing.T) {
	t.Parallel()
	left := map[string]bool{"made": true, "gone": false}
	n := NamedPaths{Left: func(p string) (there, known bool) { there, known = left[p]; return there, known }}
	for e, want := range map[tool.Effect]bool{
		{Path: "made", After: "2"}:               true,
		{Path: "made", Before: "1", After: "2"}:  true,
		{Path: "made", Before: "1"}:              false, // somebody removed it
		{Path: "gone", Before: "1"}:              true,
		{Path: "gone", Before: "1", After: "2"}:  false, // somebody saved it again
		{Path: "other", Before: "1", After: "2"}: false,
		{Path: "other", Before: "1"}:             false,
	} {
		if got := n.Covers(e, nil); got != want {
			t.Errorf("%+v: %v, want %v", e, got, want)
		}
		if n.Names(e, nil) {
			t.Errorf("%+v: no word names it", e)
		}
	}
}

// SPEC 11.1: what the words of a command name is its doing; anything else that
// changed while it ran may be somebody's.
func TestNames(t *testing.T) {
	t.Parallel()
	written := func(p string) tool.Effect { return tool.Effect{Path: p, Before: "1", After: "2"} }
	created := func(p string) tool.Effect { return tool.Effect{Path: p, After: "2"} }
	removed := func(p string) tool.Effect { return tool.Effect{Path: p, Before: "1"} }
	for _, c := range []struct {
		line   string
		effect tool.Effect
		gone   tool.Hash
		want   bool
	}{
		{"echo x > a", written("a"), "", true},
		{"echo x > a", written("b"), "", false},
		{"cat a", written("a"), "", false},
		{"cd d && echo x >> a", written("d/a"), "", true},
		{"echo x > ../out", written("out"), "", false},
		{"sed -i s/a/b/ link/f", written("real/f"), "", true},
		{"rm a", removed("a"), "", true},
		{"rm a", written("a"), "", false}, // somebody saved it again
		{"rm -r d", removed("d/e/f"), "", true},
		{"rm -r d", created("d/e/f"), "", false},
		{"rm ./*.log", removed("x.log"), "", true},
		{"rm ./*.log", created("x.log"), "", false},
		{"mv a b", removed("a"), "", true},
		{"mv a b", created("b"), "2", true},
		{"mv a b", created("b"), "", false},
		{"mv a d", created("d/a"), "2", true},
		{"mv d e", created("e/x"), "2", true},
		{"mv d e", created("e/x"), "", false},
		{"mv /tmp/x b", created("b"), "", true},
		{"cp a d", created("d/a"), "", true},
		{"ln -s a b", created("b"), "", true},
		{"tool --flag a", written("a"), "", true},
		{"tool --a", written("a"), "", false},
		{"git rm -r d", removed("d/x"), "", true},
		{"git status d", written("d/x"), "", false},
		{"cat b > a", written("b"), "", false},
		{"cp a d", created("d/b"), "", false},
		{"cp --target-directory=d /tmp/a", created("d/a"), "", true},
		{"sed s/a/b/ a > t && mv t a", written("a"), "", true},
		{`mv "$T" b`, created("b"), "", true},
		{"git checkout -- a", written("a"), "", true},
		{"ls d", removed("d/x"), "", false},
	} {
		cmds, err := command.Parse(c.line, "/w")
		if err != nil {
			t.Fatalf("%s: %v", c.line, err)
		}
		gone := map[tool.Hash]bool{}
		if c.gone != "" {
			gone[c.gone] = true
		}
		if got := lookup.PathsNamedBy(cmds).Covers(c.effect, gone); got != c.want {
			t.Errorf("%s, %+v, %q gone: %v", c.line, c.effect, c.gone, got)
		}
	}
}

// SPEC 11.1
func TestDestroys(t *testing.T) {
	t.Parallel()
	for line, want := range map[string]string{
		"rm a":               "a/",
		"rm -r d ./*.log":    "d/ *.log/*",
		"cp a b":             "b",
		"mv a b":             "b",
		"echo x > a":         "a",
		"echo x >> a":        "",
		"echo x | tee a":     "a",
		"rm /etc/x ../y":     "",
		"cd d; rm ../a ./b/": "a/ d/b/ b/",
		"tool a":             "",
		"git checkout -- a":  "a",
		"git add a":          "",
		"dd of=a bs=1":       "a bs=1",
		"cat a b":            "",
		"truncate -s 0 a":    "0 a",
		"sed -i 1d a":        "1d a",
		"sed -n 1p a":        "",
	} {
		cmds := must.Get(command.Parse(line, "/w"))(t)
		var got []string
		for _, c := range cmds {
			for _, d := range lookup.Destroys(c) {
				s := d.Path
				if d.Folders {
					s += "/"
				}
				if d.Glob {
					s += "*"
				}
				got = append(got, s)
			}
		}
		if s := strings.Join(got, " "); s != want {
			t.Errorf("%s: %q, want %q", line, s, want)
		}
	}
}

// SPEC 11.2: lines that moved from one file to another are not put back alone.
func TestFlows(t *testing.T) {
	t.Parallel()
	const moved = "func moved() {\n"
	// The plan takes the line from b, and a change that stands took it from a.
	files := []File{{Path: "b"}, {Path: "c"}}
	flows := FlowsOf([]Flow{FlowOf([]byte("b1\n"+moved), []byte("b1\n")), FlowOf([]byte("c1\n"), []byte("c0\n"))})
	a := Change{FileChanged: event.FileChanged{Path: "a"}}
	flows.AskTaken(files, a, []byte("a1\n"+moved), []byte("a1\n"))
	if files[0].Ask != "it has lines that were taken from a" || files[1].Ask != "" {
		t.Errorf("%+v", files)
	}
	files = []File{{Path: "b"}, {Path: "c"}}
	flows.AskUnattributed(files, a, []byte("a1\n"), []byte("a1\n"+moved))
	if !strings.Contains(files[0].Ask, "came to a while a command ran") || files[1].Ask != "" {
		t.Errorf("%+v", files)
	}
	stays, goes := flows.Split(files, File{Path: "a"}, [][]byte{[]byte("a1\n" + moved)}, []byte("a1\n"))
	if len(stays) != 1 || stays[0].Path != "c" || len(goes) != 1 || goes[0].Path != "b" || !slices.Contains(goes[0].With, "a") {
		t.Errorf("stays %+v, goes %+v", stays, goes)
	}
	// Where another file of the plan gets the line back, nothing is lost.
	files = []File{{Path: "b"}, {Path: "a"}}
	flows = FlowsOf([]Flow{FlowOf([]byte("b1\n"+moved), []byte("b1\n")), FlowOf([]byte("a1\n"), []byte("a1\n"+moved))})
	flows.AskTaken(files, a, []byte("a1\n"+moved), []byte("a1\n"))
	if files[0].Ask != "" || files[1].Ask != "" {
		t.Errorf("%+v", files)
	}
}

// SPEC 11.2: what a death cut short is told, and a whole write is not.
func TestExplain(t *testing.T) {
	t.Parallel()
	a, b, c := event.FileChanged{Path: "a"}, event.FileChanged{Path: "b"}, event.FileChanged{Path: "c"}
	i := Intent{Writing: event.Writing{Tool: "edit"}}
	for _, k := range []struct {
		fate IntentOutcome
		want string
	}{
		{IntentOutcome{Done: []event.FileChanged{a, b}}, ""},
		{IntentOutcome{Due: []event.FileChanged{a, b}}, ""},
		{IntentOutcome{Done: []event.FileChanged{a}, Due: []event.FileChanged{b}}, "(edit): it had written a; it had not written b"},
		{IntentOutcome{Done: []event.FileChanged{a}, Lost: []event.FileChanged{b, c}}, "(edit): it had written a; somebody changed since b, c"},
	} {
		if got := k.fate.Explain(i); !strings.HasSuffix(got, k.want) || (got == "") != (k.want == "") {
			t.Errorf("%+v: %q", k.fate, got)
		}
	}
}
