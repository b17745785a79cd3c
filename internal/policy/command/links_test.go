package command

import "testing"

// SPEC 16.3: what may come to a place as a link, by what it is called with.
func TestLinks(t *testing.T) {
	for line, want := range map[string]struct {
		symbolic, hard, copies bool
		dst, anywhere          string
		takes                  int // words, -1: anything
	}{
		"ln -s a b":             {symbolic: true, dst: "b"},
		"gln --symbolic a b":    {symbolic: true, dst: "b"},
		"ln a b":                {hard: true, dst: "b"},
		"ln -s /x/a":            {symbolic: true, dst: "."},
		"link a b":              {hard: true, dst: "b"},
		"cp -s a b":             {symbolic: true, copies: true, dst: "b"},
		"cp -al a b":            {hard: true, dst: "b"},
		"cp -t d a":             {copies: true, dst: "d"},
		"cp --target=d a":       {copies: true, dst: "d"},
		"mv a b":                {copies: true, dst: "b", takes: 1},
		"rsync -at a b":         {copies: true, dst: "b", takes: -1},
		"git mv a b":            {copies: true, dst: "b", takes: -1},
		"install a b":           {dst: "b"},
		"tar xf a.tar":          {anywhere: "tar"},
		"git checkout main":     {anywhere: "git checkout", takes: -1},
		"git switch -c x":       {takes: -1},
		"git stash pop":         {anywhere: "git stash", takes: -1},
		"git log":               {},
		"rm -r a b":             {takes: 3},
		"find . -name x":        {takes: -1},
		"$PROGRAM a b":          {takes: -1},
		"echo a b":              {},
		"7z x a.7z":             {anywhere: "7z"},
		"git -C sub pull":       {anywhere: "git pull", takes: -1},
		"git mv -f a b":         {copies: true, dst: "b", takes: -1},
		"gmv a b":               {copies: true, dst: "b", takes: 1},
		"grm -r a":              {takes: 2},
		"cp --no-dereference a": {copies: true},
	} {
		c := parse(t, line)[0]
		k, _ := CopyingOf(c)
		dst := ""
		if len(k.Dst) > 0 {
			dst = k.Dst[0].Text
		}
		words, anything := TakesAway(c)
		takes := len(words)
		if anything {
			takes = -1
		}
		if k.Symbolic != want.symbolic || k.Hard != want.hard || k.Copies != want.copies || dst != want.dst || LinksAnywhere(c) != want.anywhere || takes != want.takes {
			t.Errorf("%s: %+v, anywhere %q, takes %d", line, k, LinksAnywhere(c), takes)
		}
	}
}
