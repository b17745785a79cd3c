package checks

import (
	"path"
	"slices"
	"strings"

	"github.com/pawl-agent/pawl/internal/core/shellsyntax"
	"github.com/pawl-agent/pawl/internal/policy/trust"
)

// cargoChecks returns the test of the changed crate, then that of its workspace.
func (t *tree) cargoChecks(u unit) (narrow, wide []Check) {
	root := u.dir
	for _, dir := range up(path.Join(u.dir, "x")) {
		if section(t.read(path.Join(dir, "Cargo.toml")), "workspace") != nil {
			root = dir
			break
		}
	}
	words, defined := "cargo test", t.buildScripts(u.dir)
	if section(t.read(path.Join(root, "Cargo.toml")), "workspace") != nil {
		words += " --workspace"
		t.walk(root, maxTestFiles, func(name string) {
			if path.Base(name) == "Cargo.toml" {
				defined = appendNames(defined, t.buildScripts(path.Dir(name)))
			}
		})
	}
	wide = []Check{{Name: "cargo test", Command: in(root, words), Kind: kindCargo, Defined: defined}}
	name := strings.Trim(section(t.read(path.Join(u.dir, "Cargo.toml")), "package")["name"], `"'`)
	if root != u.dir && name != "" {
		narrow = []Check{{Name: "cargo test", Command: in(root, "cargo test -p "+shellsyntax.Quote(name)), Kind: kindCargo, Part: true, Defined: defined}}
	}
	return narrow, wide
}

// buildScripts returns the paths of the programs that cargo runs to build a crate; they
// may not exist.
func (t *tree) buildScripts(dir string) []string {
	out := []string{path.Join(dir, "build.rs")}
	if name := strings.Trim(section(t.read(path.Join(dir, "Cargo.toml")), "package")["build"], `"'`); strings.HasSuffix(name, ".rs") {
		out = appendNames(out, []string{path.Join(dir, name)})
	}
	return out
}

// section returns the plain keys of a section of a TOML file. It is nil if the file has
// neither the section nor a subsection.
func section(text, name string) map[string]string {
	var out map[string]string
	inside := false
	for l := range strings.Lines(text) {
		l = strings.TrimSpace(l)
		if strings.HasPrefix(l, "[") {
			head := strings.Trim(l, "[] ")
			inside = head == name
			if (inside || strings.HasPrefix(head, name+".")) && out == nil {
				out = map[string]string{}
			}
			continue
		}
		if k, v, ok := strings.Cut(l, "="); ok && inside {
			out[strings.TrimSpace(k)] = strings.TrimSpace(v)
		}
	}
	return out
}

// target returns the checking target of a folder's make or just: check or test; "" if
// there is none.
func (t *tree) target(dir, kind string) string {
	for _, f := range trust.BuildFiles(kind) {
		text := t.read(path.Join(dir, f))
		if text == "" {
			continue
		}
		names := targets(text, kind)
		for _, want := range []string{"check", "test"} {
			if slices.Contains(names, want) {
				return want
			}
		}
		return ""
	}
	return ""
}

// targets returns the targets of a makefile or the recipes of a justfile: the names
// before a colon at the start of a line.
func targets(text, kind string) []string {
	var out []string
	for l := range strings.Lines(text) {
		if l = strings.TrimPrefix(l, "@"); l == "" || strings.ContainsAny(l[:1], " \t#.") {
			continue
		}
		head, rest, ok := strings.Cut(l, ":")
		names := strings.Fields(head)
		switch {
		case !ok || len(names) == 0 || strings.HasPrefix(rest, "=") || strings.HasPrefix(rest, ":="):
		case kind == kindJust: // parameters follow
			out = append(out, names[0])
		case !strings.ContainsAny(head, "=$"):
			out = append(out, names...)
		}
	}
	return out
}

func (t *tree) targetChecks(u unit) []Check {
	words := u.kind + " " + t.target(u.dir, u.kind)
	return []Check{{Name: words, Command: in(u.dir, words), Kind: u.kind, Defined: t.runs(u.dir, words)}}
}
