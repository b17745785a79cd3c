package acp

import (
	"strings"

	"github.com/bluekeyes/go-gitdiff/gitdiff"
)

// diffs returns unified diffs as the content of a call. Text that cannot be read as a
// diff, such as a note that a file is binary, is shown as it is.
func (d dialect) diffs(dir, diff string) []object {
	files, _, err := gitdiff.Parse(strings.NewReader(diff))
	if err != nil || len(files) == 0 {
		return []object{{"type": "content", "content": text(fenced("diff", diff))}}
	}
	if d.v2() {
		return []object{patched(dir, files)}
	}
	var out []object
	for _, f := range files {
		path := absolute(dir, nameOf(f))
		for _, h := range f.TextFragments {
			var before, after strings.Builder
			for _, l := range h.Lines {
				if l.Op != gitdiff.OpAdd {
					before.WriteString(l.Line)
				}
				if l.Op != gitdiff.OpDelete {
					after.WriteString(l.Line)
				}
			}
			o := object{"type": "diff", "path": path, "oldText": before.String(), "newText": after.String()}
			if f.IsNew {
				o["oldText"] = nil
			}
			out = append(out, o)
		}
	}
	return out
}

// patched returns a diff in version 2: what became of each file, and a patch to show.
func patched(dir string, files []*gitdiff.File) object {
	changes := []object{}
	var patch strings.Builder
	for _, f := range files {
		path := absolute(dir, nameOf(f))
		operation, from, to := "modify", path, path
		switch {
		case f.IsNew:
			operation, from = "add", "/dev/null"
		case f.IsDelete:
			operation, to = "delete", "/dev/null"
		}
		changes = append(changes, object{"operation": operation, "path": path, "fileType": "text"})
		patch.WriteString("diff --git " + path + " " + path + "\n--- " + from + "\n+++ " + to + "\n")
		for _, h := range f.TextFragments {
			patch.WriteString(h.String())
		}
	}
	return object{"type": "diff", "changes": changes, "patch": object{"format": "git_patch", "text": patch.String()}}
}

// nameOf returns the name of a file, without the a/ or b/ that diffs put before it.
func nameOf(f *gitdiff.File) string {
	if f.NewName != "" {
		return strings.TrimPrefix(f.NewName, "b/")
	}
	return strings.TrimPrefix(f.OldName, "a/")
}
