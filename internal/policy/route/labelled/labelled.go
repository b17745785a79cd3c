// Package labelled scores the classification of prompts on lists of prompts
// that a person labelled. It is for tests and for bench/route; the lists are in
// policy/route/testdata.
package labelled

import (
	"fmt"
	"slices"
	"strings"

	"github.com/pawl-agent/pawl/internal/policy/route"
)

// Prompt is a prompt and what it is.
type Prompt struct {
	Route    string
	Explicit bool // it asks to change nothing
	Text     string
}

// Parse reads a list: lines of "LABEL: PROMPT", with "!" after the label for
// Explicit, \n for a line break, and # in front of comments.
func Parse(list string) ([]Prompt, error) {
	var out []Prompt
	n := 0
	for line := range strings.Lines(list) {
		n++
		line = strings.TrimRight(line, "\n")
		if line == "" || line[0] == '#' {
			continue
		}
		label, text, ok := strings.Cut(line, ": ")
		name, firm := strings.CutSuffix(label, "!")
		if _, known := route.Lookup(name); !ok || !known || text == "" {
			return nil, fmt.Errorf("line %d: %q is not LABEL: PROMPT", n, line)
		}
		out = append(out, Prompt{Route: name, Explicit: firm, Text: strings.ReplaceAll(text, `\n`, "\n")})
	}
	return out, nil
}

// Miss is a prompt that was taken for something else.
type Miss struct {
	Prompt
	Got route.Match
}

// Score is how a list came out.
type Score struct {
	Prompts   int
	Right     int // by the patterns alone
	Undecided int // left open by the patterns: edits, unless a model decides otherwise
	Default   int // of these, those that are edits
	// Confusion counts by label and by what the patterns said; "" is undecided.
	Confusion map[string]map[string]int
	// Narrowed are those that began with fewer rights than they need: the
	// person is asked once, a run without one widens by itself. Trapped are
	// those of them that nothing but a person widens. NotExplicit are those whose
	// "don't change anything" was not understood.
	Narrowed, Trapped, NotExplicit []Miss
	Misses                         []Miss
}

// Of scores a list.
func Of(ps []Prompt) Score {
	s := Score{Prompts: len(ps), Confusion: map[string]map[string]int{}}
	for _, p := range ps {
		m := route.Classify(p.Text)
		if s.Confusion[p.Route] == nil {
			s.Confusion[p.Route] = map[string]int{}
		}
		s.Confusion[p.Route][m.Route]++
		miss := Miss{p, m}
		switch {
		case m.Route == "":
			s.Undecided++
			if p.Route == route.Edit {
				s.Default++
			}
		case m.Route == p.Route && m.Explicit == p.Explicit:
			s.Right++
			continue
		}
		s.Misses = append(s.Misses, miss)
		if m.Route != "" && !covers(m.Route, p.Route) {
			s.Narrowed = append(s.Narrowed, miss)
		}
		if m.Explicit && !p.Explicit {
			s.Trapped = append(s.Trapped, miss)
		}
		if p.Explicit && !m.Explicit {
			s.NotExplicit = append(s.NotExplicit, miss)
		}
	}
	return s
}

// covers reports whether a route has all the rights of another.
func covers(got, want string) bool {
	g, _ := route.Lookup(got)
	w, _ := route.Lookup(want)
	return !slices.ContainsFunc(w.Rights, func(r string) bool { return !slices.Contains(g.Rights, r) })
}

// String is the figures, a class a line.
func (s Score) String() string {
	var b strings.Builder
	fmt.Fprintf(&b, "%d prompts: %d right by the patterns (%s), %d undecided (%s), of which %d are edits: right with the default %s\n",
		s.Prompts, s.Right, share(s.Right, s.Prompts), s.Undecided, share(s.Undecided, s.Prompts), s.Default, share(s.Right+s.Default, s.Prompts))
	fmt.Fprintf(&b, "too narrow %d, trapped %d, a no to changes not understood %d\n", len(s.Narrowed), len(s.Trapped), len(s.NotExplicit))
	names := []string{route.Read, route.Edit, route.Run, route.Profile, ""}
	fmt.Fprintf(&b, "%-12s", "is \\ taken")
	for _, n := range names {
		fmt.Fprintf(&b, " %11s", name(n))
	}
	b.WriteString("  precision recall\n")
	for _, want := range names[:4] {
		fmt.Fprintf(&b, "%-12s", want)
		total, taken := 0, 0
		for _, got := range names {
			n := s.Confusion[want][got]
			total += n
			fmt.Fprintf(&b, " %11d", n)
		}
		for _, w := range names[:4] {
			taken += s.Confusion[w][want]
		}
		hit := s.Confusion[want][want]
		fmt.Fprintf(&b, "  %9s %6s\n", share(hit, taken), share(hit, total))
	}
	return b.String()
}

func name(route string) string {
	if route == "" {
		return "undecided"
	}
	return route
}

func share(n, of int) string {
	if of == 0 {
		return "-"
	}
	return fmt.Sprintf("%.1f %%", 100*float64(n)/float64(of))
}
