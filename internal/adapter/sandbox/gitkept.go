package sandbox

import (
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/pawl-agent/pawl/internal/core/lazyregexp"
	"github.com/pawl-agent/pawl/internal/policy/confine"
)

// A repository's configuration can run files of the workspace and read more
// configuration from there (core.hooksPath = .githooks, include.path =
// ../.gitconfig): the next git of the person would run what a command wrote. So
// these files are kept as .git/hooks and .git/config are.

// runsByGit are the settings of git that name a program, or a line for a shell.
var runsByGit = lazyregexp.New(`^(core\.(fsmonitor|sshcommand|editor|pager|askpass|gitproxy|alternaterefscommand)|sequence\.editor|diff\.external|interactive\.difffilter|alias\..+|pager\..+|uploadpack\.packobjectshook|submodule\..+\.update|.+\.(textconv|command|cmd|clean|smudge|process|driver|program|helper|uploadpack|receivepack|.*cmd))$`)

// maxIncludes is how deep files of configuration are followed, as git does.
const maxIncludes = 10

// keptByGit returns what of a workspace the files of git's configuration run or
// read, whether it is there or not.
func keptByGit(root string, configs ...string) []string {
	var out []string
	seen := map[string]bool{}
	var read func(file string, depth int)
	keep := func(path string) string {
		path = real(path)
		if path == root || !confine.Within(root, path) {
			return ""
		}
		if !slices.Contains(out, path) {
			out = append(out, path)
		}
		return path
	}
	read = func(file string, depth int) {
		if seen[file] || depth > maxIncludes {
			return
		}
		seen[file] = true
		for _, s := range gitSettings(file) {
			switch {
			case s.key == "core.hookspath" && s.value != "":
				// husky's own hooks run those in the folder above.
				if at := keep(against(root, s.value)); filepath.Base(at) == "_" && filepath.Base(filepath.Dir(at)) == ".husky" {
					keep(filepath.Dir(at))
				}
			case s.key == "include.path" || strings.HasPrefix(s.key, "includeif.") && strings.HasSuffix(s.key, ".path"):
				at := against(filepath.Dir(file), s.value)
				keep(at)
				read(at, depth+1)
			case s.key == "core.attributesfile":
				keep(against(root, s.value))
			case strings.HasPrefix(s.key, "alias.") && !strings.HasPrefix(s.value, "!"): // git's own words
			case runsByGit().MatchString(s.key):
				for _, w := range strings.FieldsFunc(s.value, func(r rune) bool { return strings.ContainsRune(" \t'\"!;|&()<>=`$", r) }) {
					at := against(root, w)
					if st, err := os.Stat(at); err == nil && st.Mode().IsRegular() && !slices.ContainsFunc(strings.Split(at, "/"), func(n string) bool { return n == "node_modules" || n == "vendor" }) {
						keep(at)
					}
				}
			}
		}
	}
	for _, c := range configs {
		read(c, 0)
	}
	return out
}

// gitSetting is a line of git's configuration: section.name or
// section.part.name in lower case, and its value.
type gitSetting struct{ key, value string }

// gitSettings reads a file of git's configuration; there are none in one that
// cannot be read.
func gitSettings(file string) []gitSetting {
	st, err := os.Stat(file)
	if err != nil || !st.Mode().IsRegular() {
		return nil
	}
	f, err := os.Open(file)
	if err != nil {
		return nil
	}
	defer f.Close()
	b, _ := io.ReadAll(io.LimitReader(f, 1<<20)) // what was read counts
	var out []gitSetting
	section := ""
	for line := range strings.SplitSeq(strings.ReplaceAll(strings.ReplaceAll(string(b), "\r\n", "\n"), "\\\n", ""), "\n") {
		line = strings.TrimSpace(strings.TrimPrefix(line, "\ufeff"))
		if strings.HasPrefix(line, "[") {
			// The first bracket that is not in quotes ends it; a setting may follow.
			quoted, end := false, -1
			for i := 0; i < len(line) && end < 0; i++ {
				switch {
				case line[i] == '\\' && quoted:
					i++
				case line[i] == '"':
					quoted = !quoted
				case line[i] == ']' && !quoted:
					end = i
				}
			}
			if end < 0 {
				continue
			}
			name, part, _ := strings.Cut(line[1:end], " ")
			section = strings.ToLower(name)
			if part = strings.Trim(strings.TrimSpace(part), `"`); part != "" {
				section += "." + part
			}
			line = strings.TrimSpace(line[end+1:])
		}
		if line == "" || line[0] == '#' || line[0] == ';' {
			continue
		}
		name, value, _ := strings.Cut(line, "=")
		out = append(out, gitSetting{section + "." + strings.ToLower(strings.TrimSpace(name)), gitValue(value)})
	}
	return out
}

// gitValue returns a value without its quotes and its comment.
func gitValue(s string) string {
	var b strings.Builder
	quoted := false
	s = strings.TrimSpace(s)
	for i := 0; i < len(s); i++ {
		switch c := s[i]; {
		case c == '\\' && i+1 < len(s):
			i++
			b.WriteByte(s[i])
		case c == '"':
			quoted = !quoted
		case (c == '#' || c == ';') && !quoted:
			return strings.TrimSpace(b.String())
		default:
			b.WriteByte(c)
		}
	}
	return strings.TrimSpace(b.String())
}
