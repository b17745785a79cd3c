package command

import "slices"

// Same reports whether two lines are the same check in the same folder, apart from flags
// by which it prints more or less, or leaves nothing out.
func Same(a, b string) bool {
	x, okx := plainCheck(a)
	y, oky := plainCheck(b)
	return okx && oky && slices.Equal(x, y)
}

// plainCheck returns a check's folder, its name with the runners that may turn it into
// another one, and its words without flags that change nothing of what it checks. ok is
// false if what stands before it may change that.
func plainCheck(line string) (words []string, ok bool) {
	before, k, ok := LastCheck(line, "/")
	if !ok || !k.Command.Dir.Known || len(k.Command.Assigns)+len(k.Command.Via) > 0 {
		return nil, false
	}
	for _, c := range before {
		if c.Name() != "cd" {
			return nil, false
		}
	}
	words = []string{k.Command.Dir.Text, k.through + k.line.name()}
	rest := true // not the arguments of what it runs
	for _, w := range k.rest {
		rest = rest && w != "--" && w != "-args"
		if !rest || !slices.Contains(changesNothing, w) {
			words = append(words, w)
		}
	}
	return words, true
}

// changesNothing are flags with which every check that has them checks the same.
var changesNothing = []string{"-v", "-vv", "-q", "-race", "-count=1", "--verbose", "--quiet", "--silent"}
