package workspace

import "slices"

// What is here is for the journal, a package of its own below this one.

// Ignore is the ignore rules in force in a folder. The zero value ignores
// nothing.
type Ignore struct{ chain []rules }

// With adds the text of an ignore file. base is the file's folder relative to
// the walk's root; down the other way round, the walk's root as seen from a
// file above it. Each is "" or ends in a slash.
func (i Ignore) With(base, down, text string) Ignore {
	r := parseIgnore(base, text)
	if len(r.patterns) == 0 {
		return i
	}
	r.down = down
	return Ignore{append(slices.Clip(i.chain), r)}
}

// Match reports whether a path, relative to the walk's root, is ignored; the
// folders above it are not.
func (i Ignore) Match(rel string, dir bool) bool { return ignored(i.chain, rel, dir) }

// IgnoreMax is how much of an ignore file is read, bytes.
const IgnoreMax = ignoreMax

// Repository finds the folder above dir (or dir) that has a .git, "" for none.
func Repository(dir string) string { return repository(dir) }

// Temporary reports whether a name is one of those that writes go through.
func Temporary(name string) bool { return isTemp(name) }

// Lines counts the lines that came and went between two contents; none where
// one of them is not text, or too large.
func Lines(before, after []byte) (added, removed int) {
	_, added, removed = unified("a", "b", before, after)
	return added, removed
}
