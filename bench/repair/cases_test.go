package main

import (
	"testing"

	"github.com/pawl-agent/pawl/internal/core/must"
)

// The sets are read, are as large as promised, and every bug changes its file.
func TestLoad(t *testing.T) {
	t.Parallel()
	for set, least := range map[string]int{"quixbugs": 30, "planted": 40, "fresh": 20} {
		cases := must.Get(load(data, "testdata/"+set))(t)
		if len(cases) < least {
			t.Errorf("%s has %d cases", set, len(cases))
		}
		seen := map[string]bool{}
		for _, c := range cases {
			if seen[c.name] || c.right == c.broken || len(c.hidden) == 0 || c.kind == "" {
				t.Errorf("%s: %s is not a case", set, c.name)
			}
			seen[c.name] = true
		}
	}
}
