package plugin

import (
	"bytes"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"github.com/pawl-agent/pawl/internal/core/frontmatter"
	"github.com/pawl-agent/pawl/internal/core/lazyregexp"
	"github.com/pawl-agent/pawl/internal/core/sorting"
	"github.com/pawl-agent/pawl/internal/policy/claudecode"
	"github.com/pawl-agent/pawl/internal/policy/hook"
	"github.com/pawl-agent/pawl/internal/policy/trust"
)

// RootVars are the variables that give hooks and servers the plugin's folder.
var RootVars = []string{"CLAUDE_PLUGIN_ROOT", "PAWL_PLUGIN_ROOT"}

// Set holds the hooks and servers of plugins, each with its part for trust.
type Set struct {
	Hooks     []hook.Rule
	HookParts []trust.Part // of Hooks
	Servers   []byte       // {"mcpServers": {…}}, with their names in pawl
	Parts     []trust.Part // of the servers
}

func (s Set) All() []trust.Part { return slices.Concat(s.HookParts, s.Parts) }

// Set returns the hooks and servers of an installed plugin, with its current files.
func (p Plugin) Set() (Set, error) {
	root, err := os.OpenRoot(p.Root)
	if err != nil {
		return Set{}, err
	}
	defer root.Close()
	if len(p.Manifest.Hooks) == 0 && len(p.Manifest.Servers) == 0 && !p.Manifest.hasFrontHooks(root.FS()) {
		return Set{}, nil
	}
	var files []file
	total := int64(0)
	err = fs.WalkDir(root.FS(), ".", func(name string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		st, err := d.Info()
		if err != nil {
			return err
		}
		if !st.Mode().IsRegular() {
			return fmt.Errorf("%s is not a regular file", name)
		}
		if total += st.Size(); total > maxBytes || len(files) == maxFiles {
			return errors.New("it has more files or larger ones than a plugin may have")
		}
		text, err := root.ReadFile(name)
		files = append(files, file{name, text, st.Mode()&0o111 != 0})
		return err
	})
	if err != nil {
		return Set{}, fmt.Errorf("the plugin %s was changed after it was installed: %w; remove it and add it again", p.Name, err)
	}
	return set(p.Name, p.Root, p.Manifest, files)
}

// Set returns the hooks and servers of a plugin that is not installed yet.
func (f *Fetched) Set() (Set, error) { return set(f.Name, "", f.Manifest, f.files) }

func set(name, root string, m Manifest, files []file) (out Set, err error) {
	every := everyFile(files)
	add := func(rules []hook.Rule) {
		for _, r := range rules {
			r.Free, r.Root = false, root
			out.Hooks = append(out.Hooks, r)
			out.HookParts = append(out.HookParts, trust.HookPart(r, append(named(files, r.Command), every)))
		}
	}
	for _, d := range m.Hooks {
		rules, err := hook.Rules("plugin "+name+": "+d.File, d.Raw)
		if err != nil {
			return out, fmt.Errorf("%s: %w", d.File, err)
		}
		add(rules)
	}
	for _, f := range files {
		if m.isFront(f.path) {
			rules, _ := frontHooks(root, name, f) // the file is not used, and the reader says why
			add(rules)
		}
	}
	all := map[string]json.RawMessage{}
	for _, d := range m.Servers {
		var servers map[string]json.RawMessage
		if err := json.Unmarshal(d.Raw, &servers); err != nil {
			return out, fmt.Errorf("%s: %w", d.File, err)
		}
		for _, n := range slices.Sorted(maps.Keys(servers)) {
			if _, twice := all[ServerName(name, n)]; !twice {
				all[ServerName(name, n)] = servers[n]
			}
		}
	}
	if len(all) == 0 {
		return out, nil
	}
	if out.Servers, err = json.Marshal(map[string]any{"mcpServers": all}); err != nil {
		return out, err
	}
	entries, ok := trust.ServerEntries(trust.Source{Name: "plugin " + name, Text: string(out.Servers)}, "mcpServers")
	if !ok {
		return out, fmt.Errorf("the servers of the plugin %s cannot be read", name)
	}
	for _, e := range entries {
		out.Parts = append(out.Parts, e.Part(append(named(files, e.Line), every)))
	}
	return out, nil
}

// isFront reports whether a file is an agent, a skill or a command.
func (m Manifest) isFront(file string) bool {
	return strings.EqualFold(path.Ext(file), ".md") && slices.ContainsFunc(slices.Concat(m.Agents, m.Skills, m.Commands), func(at string) bool {
		at = path.Clean(at)
		return at == "." || file == at || strings.HasPrefix(file, at+"/")
	})
}

// hasFrontHooks reports whether one of those files may have hooks.
func (m Manifest) hasFrontHooks(files fs.FS) (has bool) {
	for _, at := range slices.Concat(m.Agents, m.Skills, m.Commands) {
		_ = fs.WalkDir(files, path.Clean(at), func(name string, _ fs.DirEntry, _ error) error { // most do not exist
			if m.isFront(name) {
				text, _ := fs.ReadFile(files, name) // one that cannot be read is not used
				has = has || bytes.Contains(text, []byte("hooks"))
			}
			return nil
		})
	}
	return has
}

// frontHooks returns the hooks of such a file, which hold while it is used.
func frontHooks(root, name string, f file) ([]hook.Rule, error) {
	fields, _, err := frontmatter.Parse(string(f.text))
	if err != nil {
		return nil, err
	}
	rules, err := claudecode.Hooks(filepath.Join(root, filepath.FromSlash(f.path)), fields)
	for i := range rules {
		rules[i].From = "plugin " + name + ": " + f.path
	}
	return rules, err
}

// everyFile returns one source that covers every byte of the plugin.
func everyFile(files []file) trust.Source {
	files = slices.Clone(files)
	sorting.By(files, func(a, b file) int { return strings.Compare(a.path, b.path) })
	var text strings.Builder
	for _, f := range files {
		mark := ""
		if f.exec {
			mark = " executable"
		}
		fmt.Fprintf(&text, "%s %x%s\n", f.path, sha256.Sum256(f.text), mark)
	}
	return trust.Source{Name: "its files", Text: text.String()}
}

// named returns the text files below 64 KB that a command line names, for a person to
// read.
func named(files []file, line string) (out []trust.Source) {
	for _, f := range files {
		if strings.Contains(line, f.path) && len(f.text) < 64<<10 && !bytes.ContainsRune(f.text, 0) {
			out = append(out, trust.Source{Name: f.path, Text: string(f.text)})
		}
	}
	return out
}

var odd = lazyregexp.New(`[^A-Za-z0-9-]+`)

// ServerName returns the name in pawl of a plugin's server: the one that its tools have
// in Claude Code (mcp__plugin_NAME_SERVER__tool), shortened to 40 bytes.
func ServerName(plugin, server string) string {
	tidy := func(s string) string { return strings.Trim(odd().ReplaceAllString(s, "_"), "_") }
	name := "plugin_" + tidy(plugin) + "_" + tidy(server)
	if len(name) > 40 {
		name = strings.TrimRight(name[:31], "_-") + fmt.Sprintf("-%x", sha256.Sum256([]byte(name)))[:9]
	}
	return name
}

// Changes returns the files that differ between an installed plugin and a fetched one: +
// for a new file, - for a removed one, ~ for a changed one.
func (p Plugin) Changes(f *Fetched) []string {
	var out []string
	root, err := os.OpenRoot(p.Root)
	if err != nil {
		return []string{"~ all files: " + err.Error()}
	}
	defer root.Close()
	have := map[string]bool{}
	for _, x := range f.files {
		have[x.path] = true
		was, err := root.ReadFile(x.path)
		st, serr := root.Stat(x.path)
		switch {
		case err != nil || serr != nil:
			out = append(out, "+ "+x.path)
		case !bytes.Equal(was, x.text) || x.exec != (st.Mode()&0o100 != 0):
			out = append(out, "~ "+x.path)
		}
	}
	_ = fs.WalkDir(root.FS(), ".", func(name string, d fs.DirEntry, err error) error { // a file that cannot be read was listed above
		if err == nil && !d.IsDir() && !have[name] {
			out = append(out, "- "+name)
		}
		return nil
	})
	slices.SortFunc(out, func(a, b string) int { return strings.Compare(path.Clean(a[2:]), path.Clean(b[2:])) })
	return out
}
