package confine

import (
	"math/rand/v2"
	"regexp"
	"strings"
	"testing"

	"github.com/pawl-agent/pawl/internal/core/process"
)

// What rules say of a file (SPEC 16.5): a deny rule wins, and of those that ask and allow
// the more specific one.
func TestRuled(t *testing.T) {
	deny := process.PathRule{List: process.DeniesPath, Pattern: "/w/secret/**", Rank: 9}
	ask := process.PathRule{List: process.AsksPath, Pattern: "/w/conf", Rank: 5}
	for _, c := range []struct {
		name, file string
		rules      []process.PathRule
		want       Ruling
	}{
		{"none", "/w/secret/x", nil, Unruled},
		{"denied", "/w/secret/x", []process.PathRule{deny}, Denies},
		{"denied, in another case", "/W/SECRET/x", []process.PathRule{deny}, Denies},
		{"no rule carves out of one that denies", "/w/secret/x", []process.PathRule{deny, {List: process.AllowsPath, Pattern: "/w/secret/x", Rank: 99}}, Denies},
		{"beside it", "/w/secrets/x", []process.PathRule{deny}, Unruled},
		{"about changes", "/w/secret/x", []process.PathRule{{List: process.DeniesPath, Write: true, Pattern: "/w/secret/**", Rank: 9}}, Unruled},
		{"asks", "/w/conf/a/b", []process.PathRule{ask}, Asks},
		{"asks, and a more specific one allows", "/w/conf/a", []process.PathRule{ask, {List: process.AllowsPath, Pattern: "/w/conf/a", Rank: 6}}, Unruled},
		{"asks, and as specific a one allows", "/w/conf/a", []process.PathRule{ask, {List: process.AllowsPath, Pattern: "/w/c*f/a", Rank: 5}}, Asks},
		{"what allows is not wide", "/w/conf/A", []process.PathRule{ask, {List: process.AllowsPath, Pattern: "/w/conf/a", Rank: 6}}, Asks},
		{"what a wildcard allows is not what is below", "/w/conf/a/b", []process.PathRule{ask, {List: process.AllowsPath, Pattern: "/w/conf/*", Rank: 6}}, Asks},
		{"a wildcard denies what is below", "/w/x.d/b", []process.PathRule{{List: process.DeniesPath, Pattern: "/w/**/*.d", Rank: 6}}, Denies},
	} {
		if got, _ := (Policy{Rules: c.rules}).Ruled(c.file, false); got != c.want {
			t.Errorf("%s: %v, want %v", c.name, got, c.want)
		}
	}
}

// Whatever a rule covers at or below a path, it covers after a move that does not escape.
func TestEscapes(t *testing.T) {
	names := []string{"a", "b", "ab", "B"}
	pieces := append([]string{"*", "**", "?", "a*"}, names...)
	pick := func(r *rand.Rand, from []string, n int) string {
		out := []string{""}
		for range 1 + r.IntN(n) {
			out = append(out, from[r.IntN(len(from))])
		}
		return strings.Join(out, "/")
	}
	r := rand.New(rand.NewPCG(1, 2))
	escaped, covered := 0, 0
	for range 50_000 {
		p := Policy{Rules: []process.PathRule{{List: process.DeniesPath, Pattern: pick(r, pieces, 4), Rank: 1}}}
		from, to, below := pick(r, names, 3), pick(r, names, 3), ""
		if r.IntN(3) > 0 {
			below = pick(r, names, 3)
		}
		before, _ := p.Ruled(from+below, false)
		after, _ := p.Ruled(to+below, false)
		if p.Escapes(from, to) {
			escaped++
		} else if before == Denies {
			if covered++; after != Denies {
				t.Fatalf("%s: %s to %s takes %s out", p.Rules[0].Pattern, from, to, from+below)
			}
		}
		if again, _ := p.Ruled(from+below, false); (again == Denies) != regexp.MustCompile(expression(strings.Split(p.Rules[0].Pattern, "/"))+"(/|$)").MatchString(from+below) && !strings.ContainsAny(p.Rules[0].Pattern, "?") {
			t.Fatalf("%s: %s, and its expression differs: %s", p.Rules[0].Pattern, from+below, expression(strings.Split(p.Rules[0].Pattern, "/")))
		}
	}
	if escaped < 500 || covered < 500 {
		t.Errorf("%d moves escape, %d do not", escaped, covered)
	}
}
