package plugin

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"github.com/pawl-agent/pawl/internal/core/jsonc"
)

// Names of the files that describe a plugin and a list of plugins.
const (
	manifestFile = ".claude-plugin/plugin.json"
	marketFile   = ".claude-plugin/marketplace.json"
)

// Manifest describes the parts of a plugin. Paths are relative to its root.
type Manifest struct {
	Title       string `json:"-"` // the name in the plugin's own description
	Description string `json:"description,omitempty"`
	Version     string `json:"version,omitempty"`
	// Commands, Agents and Skills are paths of files and folders.
	Commands []string `json:"commands,omitempty"`
	Agents   []string `json:"agents,omitempty"`
	Skills   []string `json:"skills,omitempty"`
	// Hooks are values of "hooks" of settings files; Servers are values of "mcpServers".
	Hooks   []Defined `json:"-"`
	Servers []Defined `json:"-"`
	// Unused names the parts that pawl does not use.
	Unused []string `json:"unused,omitempty"`
}

// Defined is a JSON value with the name of the file that contains it.
type Defined struct {
	File string
	Raw  json.RawMessage
}

// fields are the keys of plugin.json, and of a plugin's entry in a list, that describe
// its parts. Each part may be a path, a list of paths, or (hooks and servers) the value
// itself.
type fields struct {
	Name        string          `json:"name"`
	Description string          `json:"description"`
	Version     string          `json:"version"`
	Strict      *bool           `json:"strict"`
	Commands    json.RawMessage `json:"commands"`
	Agents      json.RawMessage `json:"agents"`
	Skills      json.RawMessage `json:"skills"`
	Hooks       json.RawMessage `json:"hooks"`
	Servers     json.RawMessage `json:"mcpServers"`
}

// unusedParts are parts of Claude Code's plugins that pawl does not use.
var unusedParts = []struct{ field, file string }{
	{"lspServers", ".lsp.json"},
	{"outputStyles", ""},
	{"monitors", "monitors/monitors.json"},
	{"themes", ""},
	{"settings", "settings.json"},
}

// readManifest reads the description of a plugin: its default folders and files, and what
// plugin.json and its entry in a list add.
func readManifest(read func(string) ([]byte, error), entry json.RawMessage) (m Manifest, err error) {
	m.Commands, m.Agents, m.Skills = []string{"commands"}, []string{"agents"}, []string{"skills"}
	for _, f := range []struct {
		name string
		add  func(string, json.RawMessage) error
	}{{"hooks/hooks.json", m.addHooks}, {".mcp.json", m.addServers}} {
		raw, err := read(f.name)
		if err == nil {
			err = f.add(f.name, raw)
		}
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			return m, err
		}
	}
	raw, err := read(manifestFile)
	switch {
	case errors.Is(err, fs.ErrNotExist) && entry == nil:
		return m, fmt.Errorf("it is not a plugin: it has no %s", manifestFile)
	case err == nil:
		if err := m.add(read, manifestFile, raw); err != nil {
			return m, err
		}
	case !errors.Is(err, fs.ErrNotExist):
		return m, err
	}
	if entry != nil {
		if err := m.add(read, marketFile, entry); err != nil {
			return m, err
		}
	}
	for _, u := range unusedParts {
		if _, err := read(u.file); err == nil && u.file != "" {
			m.Unused = append(m.Unused, u.file)
		}
	}
	return m, nil
}

// add adds the fields of one description of the plugin. Earlier names and versions stay.
func (m *Manifest) add(read func(string) ([]byte, error), from string, raw json.RawMessage) error {
	var f fields
	var all map[string]json.RawMessage
	raw = jsonc.Plain(raw)
	if err := errors.Join(json.Unmarshal(raw, &f), json.Unmarshal(raw, &all)); err != nil {
		return fmt.Errorf("%s: %w", from, err)
	}
	for _, s := range []struct {
		to *string
		is string
	}{{&m.Title, f.Name}, {&m.Description, f.Description}, {&m.Version, f.Version}} {
		if *s.to == "" {
			*s.to = s.is
		}
	}
	for _, l := range []struct {
		to  *[]string
		raw json.RawMessage
	}{{&m.Commands, f.Commands}, {&m.Agents, f.Agents}, {&m.Skills, f.Skills}} {
		paths, _, err := pathsOf(from, l.raw)
		if err != nil {
			return err
		}
		for _, p := range paths {
			if !slices.Contains(*l.to, p) {
				*l.to = append(*l.to, p)
			}
		}
	}
	for _, u := range unusedParts {
		if all[u.field] != nil && string(all[u.field]) != "null" {
			m.Unused = append(m.Unused, u.field)
		}
	}
	return errors.Join(m.values(read, from, f.Hooks, m.addHooks), m.values(read, from, f.Servers, m.addServers))
}

// values adds values that are given directly, or in files that are named.
func (m *Manifest) values(read func(string) ([]byte, error), from string, raw json.RawMessage, add func(string, json.RawMessage) error) error {
	paths, direct, err := pathsOf(from, raw)
	if err != nil {
		return err
	}
	for _, d := range direct {
		if err := add(from, d); err != nil {
			return err
		}
	}
	for _, p := range paths {
		text, err := read(p)
		if err == nil {
			err = add(p, text)
		}
		if err != nil {
			return fmt.Errorf("%s names %s: %w", from, p, err)
		}
	}
	return nil
}

// pathsOf reads a path, an object, or a list of these. A path that leads out of the
// plugin is an error.
func pathsOf(from string, raw json.RawMessage) (paths []string, values []json.RawMessage, err error) {
	if len(raw) == 0 || string(raw) == "null" {
		return nil, nil, nil
	}
	list := []json.RawMessage{raw}
	if raw[0] == '[' {
		if err := json.Unmarshal(raw, &list); err != nil {
			return nil, nil, fmt.Errorf("%s: %w", from, err)
		}
	}
	for _, one := range list {
		var p string
		switch {
		case json.Unmarshal(one, &p) == nil:
			local, err := within(p)
			if err != nil {
				return nil, nil, fmt.Errorf("%s: %w", from, err)
			}
			paths = append(paths, local)
		case one[0] == '{':
			values = append(values, one)
		default:
			return nil, nil, fmt.Errorf("%s: %.60s is neither a path nor an object", from, one)
		}
	}
	return paths, values, nil
}

// within returns a path of the plugin without ./ and a trailing slash.
func within(p string) (string, error) {
	clean := path.Clean(strings.TrimPrefix(strings.ReplaceAll(p, "${CLAUDE_PLUGIN_ROOT}/", ""), "./"))
	if p == "" || strings.HasPrefix(p, "/") || strings.Contains(p, `\`) || slices.Contains(strings.Split(p, "/"), "..") || !filepath.IsLocal(clean) {
		return "", fmt.Errorf("%.200q leads out of the plugin", p)
	}
	return clean, nil
}

// addHooks adds a value of "hooks", or of an object that has this key.
func (m *Manifest) addHooks(file string, raw json.RawMessage) error {
	inner, err := under(file, "hooks", raw)
	if err == nil && !slices.ContainsFunc(m.Hooks, func(d Defined) bool { return d.File == file }) {
		m.Hooks = append(m.Hooks, Defined{file, inner})
	}
	return err
}

// addServers adds a value of "mcpServers", or of an object that has this key.
func (m *Manifest) addServers(file string, raw json.RawMessage) error {
	inner, err := under(file, "mcpServers", raw)
	if err == nil && !slices.ContainsFunc(m.Servers, func(d Defined) bool { return d.File == file }) {
		m.Servers = append(m.Servers, Defined{file, inner})
	}
	return err
}

func under(file, key string, raw json.RawMessage) (json.RawMessage, error) {
	var all map[string]json.RawMessage
	raw = jsonc.Plain(raw)
	if err := json.Unmarshal(raw, &all); err != nil {
		return nil, fmt.Errorf("%s: %w", file, err)
	}
	if inner, ok := all[key]; ok {
		return inner, nil
	}
	delete(all, "description")
	delete(all, "$schema")
	return json.Marshal(all)
}
