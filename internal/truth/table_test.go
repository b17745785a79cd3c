//go:build truth && linux

package truth

import (
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/pawl-agent/pawl/internal/core/must"
)

// program is a program that people read with, with its options.
type program struct {
	name    string
	options []string // with their dashes; one that takes a value ends in "="
}

// table reads the programs of testdata, of which lines are composed.
func table(t *testing.T) []program {
	t.Helper()
	raw, err := os.ReadFile("testdata/programs.txt")
	must.Do(t, err)
	var out []program
	for row := range strings.Lines(string(raw)) {
		f := strings.Split(strings.TrimSuffix(row, "\n"), "\t")
		out = append(out, program{f[0], slices.DeleteFunc(f[1:], func(o string) bool { return o == "" })})
	}
	if len(out) < 150 {
		t.Fatal("the table has only ", len(out), " programs")
	}
	return out
}

// tabled are the names of the programs of the table.
func tabled(t *testing.T) []string {
	var out []string
	for _, p := range table(t) {
		words := strings.Fields(p.name)
		if w := words[0]; w == "git" || w == "go" || w == "npm" {
			if len(words) > 1 {
				w += " " + words[1]
			}
			out = append(out, w)
			continue
		}
		out = append(out, words[0])
	}
	slices.Sort(out)
	return slices.Compact(out)
}
