package command

import (
	"path"
	"slices"
	"strings"
	"unicode"

	"github.com/pawl-agent/pawl/internal/core/shellsyntax"
)

// Limits of how far a check's definition is followed.
const (
	maxDefined = 64
	maxCalled  = 4 // levels of scripts that call scripts
)

// DefinedBy returns the names of the files that define what a check does (SPEC 16.4),
// in the folder in which it runs; none for a check that its command line fully defines.
func DefinedBy(c shellsyntax.Command) []string {
	name, _ := c.Program()
	if p := known(name); p != nil && p.check != nil && !p.has(launches) { // a launched program has files of its own
		return p.builds.Files()
	}
	return nil
}

// Defines reports whether a file is one that can define what a check runs, if the
// project's own files define that.
func Defines(name string) bool {
	base := strings.ToLower(path.Base(name))
	switch base {
	case "makefile", "gnumakefile", "justfile", ".justfile", "package.json", ".npmrc", ".yarnrc.yml", "pnpm-workspace.yaml", "tox.ini", "noxfile.py",
		"rakefile", "composer.json", "build.zig", "cmakelists.txt", "dockerfile":
		return true
	}
	switch base {
	case "license", "readme", "changelog", "notice", "authors", "copying", "codeowners", "version":
		return false
	}
	switch path.Ext(base) {
	case ".sh", ".bash", ".zsh", ".fish", ".mk", ".just", ".cmake", ".awk", ".pl", ".ps1", ".bat", ".cmd":
		return true
	}
	return path.Ext(base) == "" // a script without an extension
}

// Called returns the scripts that the files of a definition call, and the scripts that
// those call. read returns a file's text, and whether the file exists; names are
// relative to the folder in which the check runs.
func Called(defined []string, read func(name string) (string, bool)) []string {
	var out []string
	seen := map[string]bool{}
	for _, d := range defined {
		seen[path.Clean(d)] = true
	}
	for range maxCalled {
		var next []string
		for _, d := range defined {
			text, ok := read(d)
			if !ok {
				continue
			}
			if path.Base(d) == "package.json" {
				text = scriptsOf(text)
			}
			for _, s := range scriptsIn(text) {
				if _, ok := read(s); ok && !seen[s] && len(out) < maxDefined {
					seen[s] = true
					out = append(out, s)
					if shellText(s) {
						next = append(next, s)
					}
				}
			}
		}
		defined = next
	}
	return out
}

// scriptsOf returns the part of a package.json that defines its scripts.
func scriptsOf(text string) string {
	_, after, _ := strings.Cut(text, `"scripts"`)
	in, _, _ := strings.Cut(after, "}")
	return in
}

// scriptsIn returns the words of a text that look like scripts of the workspace.
func scriptsIn(text string) []string {
	var out []string
	for w := range strings.FieldsFuncSeq(text, func(r rune) bool { return unicode.IsSpace(r) || strings.ContainsRune("\"'`;&|()<>{}=,:@\\", r) }) {
		w = strings.TrimPrefix(strings.TrimPrefix(strings.TrimPrefix(w, "$CURDIR/"), "$PWD/"), "-")
		name := path.Clean(w)
		if !path.IsAbs(name) && !strings.HasPrefix(name, "..") && !strings.ContainsAny(name, "*?$") && script(w) && !slices.Contains(out, name) {
			out = append(out, name)
		}
	}
	return out
}

func script(w string) bool {
	switch path.Ext(w) {
	case ".sh", ".bash", ".zsh", ".py", ".rb", ".pl", ".js", ".mjs", ".cjs", ".ts", ".mts", ".mk", ".awk", ".php", ".lua":
		return true
	case "":
		return strings.Contains(w, "/")
	}
	return false
}

func shellText(name string) bool {
	switch path.Ext(name) {
	case ".sh", ".bash", ".zsh", ".mk", "":
		return true
	}
	return false
}
