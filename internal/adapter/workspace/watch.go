package workspace

import "slices"

// This file is for the journal, a separate package below this one.

// Ignore is the ignore rules in force in a folder. The zero value ignores nothing.
type Ignore struct{ chain []rules }

// With adds the text of an ignore file. base is the file's folder relative to
// the walk's root; for a file above the root, down is the root relative to the
// file's folder. Each is "" or ends in a slash.
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

// IgnoreMax is the size limit of an ignore file, in bytes.
const IgnoreMax = ignoreMax

// Repository finds the folder above dir (or dir) that has a .git, "" for none.
func Repository(dir string) string { return repository(dir) }

// Temporary reports whether a name is a temporary name of a write.
func Temporary(name string) bool { return isTemp(name) }

// Lines counts the added and removed lines between two contents; none if one of
// them is not text, or too large.
func Lines(before, after []byte) (added, removed int) {
	_, added, removed = unified("a", "b", before, after)
	return added, removed
}
