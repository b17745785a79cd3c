// Package plugin stores plugins: folders of git repositories with skills, commands,
// agents, hooks and MCP servers, in the format of Claude Code
// (.claude-plugin/plugin.json), and lists of such folders (marketplace.json).
//
// It promises that adding a plugin runs no code of it. Git fetches objects into an empty
// repository and checks nothing out, so there are no hooks, filters, submodules or LFS.
// The files of one commit are then written one by one, within one folder. Links,
// submodules, names that lead elsewhere and repositories that are too large are refused
// as a whole. An installed plugin is pinned to its commit and changes only by an update.
//
// A plugin's texts are used like other texts. Its hooks and servers are parts of
// policy/trust. Each part covers every file of the plugin, so an update that changes any
// file asks again (ADR 032).
package plugin

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/pawl-agent/pawl/internal/core/atomicfile"
	"github.com/pawl-agent/pawl/internal/core/lazyregexp"
)

// Record is the stored description of an installed plugin.
type Record struct {
	Name   string    `json:"name"`
	From   string    `json:"from"`             // address or path of the repository
	Ref    string    `json:"ref,omitempty"`    // the branch, tag or commit that was requested; "": its HEAD
	Folder string    `json:"folder,omitempty"` // of the repository; "": its root
	Commit string    `json:"commit"`
	Time   time.Time `json:"time"` // of the last update
	// Market is the list that the plugin came from, nil for none.
	Market *Source `json:"market,omitempty"`
	// Entry is the plugin's entry in that list.
	Entry json.RawMessage `json:"entry,omitempty"`
}

// Plugin is an installed plugin.
type Plugin struct {
	Record
	Manifest
	Root string // the folder of its files
}

// Store is the folder of installed plugins. Each has a record NAME.json and a folder
// NAME@COMMIT.
type Store struct{ Dir string }

var validName = lazyregexp.New(`^[A-Za-z0-9][A-Za-z0-9_.-]{0,39}$`)

// checkName returns an error if a name is not valid for a plugin.
func checkName(name string) error {
	if !validName().MatchString(name) || strings.HasSuffix(strings.ToLower(name), ".json") {
		return fmt.Errorf("%.60q is not a plugin name: use at most 40 letters, digits, -, _ and dots", name)
	}
	return nil
}

// All returns the installed plugins by name. One that cannot be read causes a warning.
func (s Store) All() (out []Plugin, warnings []string) {
	entries, err := os.ReadDir(s.Dir)
	if err != nil {
		if !errors.Is(err, fs.ErrNotExist) {
			warnings = append(warnings, "the plugins were not read: "+err.Error())
		}
		return nil, warnings
	}
	for _, e := range entries {
		name, ok := strings.CutSuffix(e.Name(), ".json")
		if !ok || !e.Type().IsRegular() {
			continue
		}
		p, err := s.read(name)
		if err != nil {
			warnings = append(warnings, fmt.Sprintf("the plugin %s is not used: %v", name, err))
			continue
		}
		out = append(out, p)
	}
	return out, warnings
}

// Of returns an installed plugin; nil if none has this name. Case does not matter.
func (s Store) Of(name string) (*Plugin, error) {
	entries, err := os.ReadDir(s.Dir)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, err
	}
	for _, e := range entries {
		if strings.EqualFold(e.Name(), name+".json") {
			p, err := s.read(strings.TrimSuffix(e.Name(), ".json"))
			return &p, err
		}
	}
	return nil, nil
}

func (s Store) file(name string) string { return filepath.Join(s.Dir, name+".json") }

func (s Store) root(r Record) string { return filepath.Join(s.Dir, r.Name+"@"+r.Commit[:12]) }

// Key returns the path that identifies a plugin for trust. Updates do not change it.
func (s Store) Key(r Record) string {
	if r.Given() {
		return filepath.Join(r.From, manifestFile) // the folder may be trusted by itself
	}
	return filepath.Join(s.Dir, r.Name)
}

// Given reports whether the plugin is a folder that is not installed.
func (r Record) Given() bool { return r.Commit == "" }

// InFolder returns the plugin of a folder, for one run. It may have no description. servers:
// its MCP servers are used.
func InFolder(dir string, servers bool) (p Plugin, err error) {
	p.Root, p.From, p.Name = dir, dir, filepath.Base(dir)
	root, err := os.OpenRoot(dir)
	if err != nil {
		return p, err
	}
	defer root.Close()
	if p.Manifest, err = readManifest(readIn(root.FS()), json.RawMessage("{}")); err != nil {
		return p, err
	}
	if p.Title != "" {
		p.Name = p.Title
	}
	if !servers {
		p.Servers = nil
	}
	return p, checkName(p.Name)
}

// Identity returns a text that distinguishes a plugin from another one of the same name.
func (r Record) Identity() string { return r.From + "#" + r.Folder }

func (s Store) read(name string) (p Plugin, err error) {
	if err := checkName(name); err != nil {
		return p, err
	}
	raw, err := os.ReadFile(s.file(name))
	if err == nil {
		err = json.Unmarshal(raw, &p.Record)
	}
	switch {
	case err != nil:
		return p, err
	case p.Name != name || !commitID().MatchString(p.Commit):
		return p, errors.New("its record is damaged; pawl plugin remove " + name)
	}
	p.Root = s.root(p.Record)
	root, err := os.OpenRoot(p.Root)
	if err != nil {
		return p, err
	}
	defer root.Close()
	p.Manifest, err = readManifest(readIn(root.FS()), p.Entry)
	return p, err
}

// Remove deletes a plugin: its record first, so that a half-deleted plugin is not used.
func (s Store) Remove(name string) error {
	if err := checkName(name); err != nil {
		return err
	}
	if err := os.Remove(s.file(name)); err != nil {
		return err
	}
	return s.sweep(name)
}

// sweep deletes the folders of a plugin except those in but.
func (s Store) sweep(name string, but ...string) error {
	entries, err := os.ReadDir(s.Dir)
	for _, e := range entries {
		at := filepath.Join(s.Dir, e.Name())
		if strings.HasPrefix(e.Name(), name+"@") && !slices.Contains(but, at) {
			err = errors.Join(err, os.RemoveAll(at))
		}
	}
	return err
}

// Install writes the fetched files, and then the record. The previous version stays until
// the next update, since a running session may use it.
func (s Store) Install(f *Fetched, now time.Time) (Plugin, error) {
	f.Time = now.UTC().Truncate(time.Second)
	p := Plugin{Record: f.Record, Manifest: f.Manifest, Root: s.root(f.Record)}
	was, _ := s.Of(f.Name) // a damaged record is replaced
	temp, err := os.MkdirTemp(s.Dir, ".new-")
	if err != nil {
		return p, err
	}
	defer os.RemoveAll(temp)
	if err := f.write(temp); err != nil {
		return p, err
	}
	if err := os.RemoveAll(p.Root); err != nil { // left by an attempt that failed, or by the same version
		return p, err
	}
	if err := os.Rename(temp, p.Root); err != nil {
		return p, err
	}
	raw, err := json.MarshalIndent(p.Record, "", "  ")
	if err != nil {
		return p, err
	}
	if err := atomicfile.Write(s.file(p.Name), append(raw, '\n'), 0o600); err != nil {
		return p, err
	}
	keep := []string{p.Root}
	if was != nil {
		keep = append(keep, was.Root)
	}
	return p, s.sweep(p.Name, keep...)
}
