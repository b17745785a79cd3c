package fsm

import (
	"fmt"
	"slices"
	"strings"
)

func Formats() []string { return []string{"text", "mermaid", "dot"} }

// Draw returns a table as text, as a Mermaid state diagram or as a Graphviz graph.
// The same table always produces the same bytes. An unknown format is an error
// that lists the known ones.
func (t *Table) Draw(format string) (string, error) {
	switch format {
	case "text":
		return t.text(), nil
	case "mermaid":
		return t.mermaid(), nil
	case "dot":
		return t.dot(), nil
	}
	return "", fmt.Errorf("no format %q: it is one of %s", format, strings.Join(Formats(), ", "))
}

// text lists the states with their possible next states, one state a line.
func (t *Table) text() string {
	var b strings.Builder
	fmt.Fprintf(&b, "%s: %s\n", t.Name, t.counts())
	if t.Doc != "" {
		fmt.Fprintf(&b, "%s\n", t.Doc)
	}
	wide := 0
	for _, s := range t.States {
		wide = max(wide, len(s))
	}
	for i, s := range t.States {
		mark := " "
		if i == 0 {
			mark = "*"
		}
		to := make([]string, len(t.Legal[s]))
		for i, n := range t.Legal[s] {
			to[i] = string(n)
			if when := t.When[s][n]; when != "" {
				to[i] += " (" + when + ")"
			}
		}
		if len(to) == 0 {
			to = []string{"(the end)"}
		}
		fmt.Fprintf(&b, "  %s %-*s → %s\n", mark, wide, s, strings.Join(to, ", "))
	}
	return b.String()
}

func (t *Table) counts() string {
	return fmt.Sprintf("%d states, %d transitions", len(t.States), t.Len())
}

// mermaid returns a Mermaid state diagram, without the fence around it.
func (t *Table) mermaid() string {
	var b strings.Builder
	b.WriteString("stateDiagram-v2\n")
	fmt.Fprintf(&b, "    [*] --> %s\n", t.States[0])
	for from, to := range t.Arrows {
		fmt.Fprintf(&b, "    %s --> %s", from, to)
		if when := t.When[from][to]; when != "" {
			// Mermaid ends a label at a semicolon.
			b.WriteString(" : " + strings.ReplaceAll(strings.ReplaceAll(when, ";", ","), ":", " –"))
		}
		b.WriteByte('\n')
	}
	for _, s := range t.States {
		if len(t.Legal[s]) == 0 {
			fmt.Fprintf(&b, "    %s --> [*]\n", s)
		}
	}
	return b.String()
}

// dot returns a Graphviz graph. Both directions between two states are one edge
// with two heads, so that large tables stay readable.
func (t *Table) dot() string {
	var b strings.Builder
	fmt.Fprintf(&b, "digraph %q {\n", t.Name)
	b.WriteString("  node [shape=box, style=rounded];\n")
	fmt.Fprintf(&b, "  %q [penwidth=2];\n", t.States[0])
	for _, s := range t.States {
		if len(t.Legal[s]) == 0 {
			fmt.Fprintf(&b, "  %q [peripheries=2];\n", s)
		}
	}
	for from, to := range t.Arrows {
		back := from != to && t.Allows(to, from)
		when := t.When[from][to]
		switch {
		case when != "" || t.When[to][from] != "":
			fmt.Fprintf(&b, "  %q -> %q [label=%q];\n", from, to, when)
		case back && slices.Index(t.States, from) > slices.Index(t.States, to):
			// Drawn with the other direction.
		case back:
			fmt.Fprintf(&b, "  %q -> %q [dir=both];\n", from, to)
		default:
			fmt.Fprintf(&b, "  %q -> %q;\n", from, to)
		}
	}
	b.WriteString("}\n")
	return b.String()
}
