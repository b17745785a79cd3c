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

var (
	// patternForm matches a package pattern or a folder.
	patternForm = lazyregexp.New(`^[A-Za-z0-9_.\-/]+$`)
	// named matches a package in a prompt, with the end of the sentence.
	named = lazyregexp.New("(?:^|[\\s\"'`(])(\\./[A-Za-z0-9_.\\-/]+)")
	// goCheck matches a command line of the go tool that looks at packages.
	goCheck = lazyregexp.New(`^(?:cd (\S+) && )?go (?:-C (\S+) )?(?:test|vet|build)\b(.*)$`)
)

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
	for _, m := range named().FindAllStringSubmatch(prompt, -1) {
		p := m[1]
		if !strings.HasSuffix(p, "/...") {
			p = strings.TrimSuffix(p, ".")
		}
		if p != "./..." && !outward(p) && path.Ext(strings.TrimSuffix(p, "/...")) == "" {
			parts = append(parts, part{pattern: p})
		}
	}
	return parts
}

// tested returns the packages that a command line of the go tool names. known is false
// if the line may look at the whole project. Another program's line has no parts.
func tested(line string) (parts []part, known bool) {
	m := goCheck().FindStringSubmatch(line)
	if m == nil {
		return nil, true
	}
	dir, last := path.Join(m[1], m[2]), ""
	words, _, _ := strings.Cut(m[3], " -args")
	var patterns []string
	for _, w := range strings.Fields(words) {
		local := w == "." || strings.HasPrefix(w, "./")
		switch {
		case last == "-C":
			dir = path.Join(dir, w)
		case strings.HasPrefix(w, "-"):
		case !local && (!strings.HasPrefix(last, "-") || strings.Contains(last, "=")):
			return nil, false // an import path, or more than a check
		case local:
			patterns = append(patterns, w)
		}
		last = w
	}
	if len(patterns) == 0 {
		patterns = []string{"."}
	}
	for _, p := range patterns {
		if p == "./..." && dir == "" || !patternForm().MatchString(dir+p) || outward(dir) || outward(p) {
			return nil, false
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
