package offline

import (
	"path"
	"slices"
	"strings"

	"github.com/pawl-agent/pawl/internal/core/lazyregexp"
	"github.com/pawl-agent/pawl/internal/policy/swarm"
)

// This file finds the part of a project that a prompt is about: a worker of a
// swarm is to repair its own packages, while those of others are still broken.

// part is packages of a project: a pattern of the go command, from a folder.
type part struct{ dir, pattern string }

// patternForm matches a package pattern or a folder.
var patternForm = lazyregexp.New(`^[A-Za-z0-9_.\-/]+$`)

// partsOf returns what a prompt limits the work to, nil where it is the whole
// project: what the acceptance checks of a worker's task test, else the packages
// that are named as the go command names them.
func partsOf(prompt string, task swarm.TaskPrompt) []part {
	var parts []part
	for _, line := range task.Accept {
		found, known := tested(line)
		if !known {
			return nil
		}
		parts = append(parts, found...)
	}
	if task.Accept != nil {
		return parts
	}
	for _, t := range tokens(prompt) {
		p := t.text
		if strings.HasSuffix(p, "/..") {
			p += "." // which was taken for the end of the sentence
		}
		if strings.HasPrefix(p, "./") && p != "./..." && patternForm().MatchString(p) && !outward(p) && path.Ext(strings.TrimSuffix(p, "/...")) == "" {
			parts = append(parts, part{pattern: p})
		}
	}
	return parts
}

// tested returns the packages that a command line of the go tool names. known is false
// if the line may look at the whole project. Another program's line has no parts.
func tested(line string) (parts []part, known bool) {
	words := strings.Fields(line)
	dir := ""
	if len(words) > 3 && words[0] == "cd" && words[2] == "&&" {
		dir, words = words[1], words[3:]
	}
	if len(words) < 2 || words[0] != "go" {
		return nil, true
	}
	words = words[1:]
	takeDir := func() {
		if len(words) > 1 && words[0] == "-C" {
			dir, words = path.Join(dir, words[1]), words[2:]
		}
	}
	takeDir()
	if len(words) == 0 || !slices.Contains([]string{"test", "vet", "build"}, words[0]) {
		return nil, true
	}
	words = words[1:]
	takeDir()
	var patterns []string
	for i := 0; i < len(words); i++ {
		switch w := words[i]; {
		case w == "-args" || w == "--args":
			i = len(words)
		case strings.HasPrefix(w, "-"):
			if flag := strings.TrimLeft(w, "-"); !strings.Contains(flag, "=") && !slices.Contains([]string{"race", "v", "short", "cover", "failfast", "json", "x", "n", "a", "msan", "asan", "trimpath", "benchmem", "fullpath"}, flag) {
				i++ // its value
			}
		default:
			patterns = append(patterns, w)
		}
	}
	if len(patterns) == 0 {
		patterns = []string{"."}
	}
	for _, p := range append(patterns, dir) {
		if p != "" && (!patternForm().MatchString(p) || outward(p)) {
			return nil, false
		}
	}
	for _, p := range patterns {
		if p != "." && !strings.HasPrefix(p, "./") || p == "./..." && dir == "" {
			return nil, false // an import path, or all
		}
		parts = append(parts, part{dir: dir, pattern: p})
	}
	return parts, true
}

// outward reports whether a path leads out of the project.
func outward(p string) bool {
	return strings.HasPrefix(p, "/") || slices.Contains(strings.Split(p, "/"), "..")
}

// targets assigns parts to the modules that contain them.
func targets(modules []string, parts []part) []target {
	var out []target
	for _, p := range parts {
		at := path.Join(p.dir, strings.TrimSuffix(p.pattern, "..."))
		module, found := "", false
		for _, m := range modules {
			if (m == "" || at == m || strings.HasPrefix(at, m+"/")) && (!found || len(m) > len(module)) {
				module, found = m, true
			}
		}
		if !found {
			continue
		}
		only := "./" + strings.Trim(strings.TrimPrefix(at, module), "/.")
		if strings.HasSuffix(p.pattern, "...") {
			only = strings.TrimSuffix(only, "/") + "/..."
		} else if only == "./" {
			only = "."
		}
		i := slices.IndexFunc(out, func(t target) bool { return t.dir == module })
		switch {
		case i < 0:
			out = append(out, target{dir: module, only: only})
		case !slices.Contains(strings.Fields(out[i].only), only):
			out[i].only += " " + only
		}
	}
	return out
}

// acceptance runs the checks that accept or refuse a worker's task.
func acceptance(h *hands, lines []string) {
	for _, line := range lines {
		out, exit, err := h.Run(line)
		if err != nil {
			h.Say(stopWords(err))
			return
		}
		h.Say(explain(line, out, exit))
	}
}
