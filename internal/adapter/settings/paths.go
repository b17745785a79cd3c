package settings

import (
	"cmp"
	"os"
	"path/filepath"

	"github.com/pawl-agent/pawl/internal/core/fault"
)

// Paths are the folders of pawl's own files. No folder is created before it is needed.
type Paths struct {
	Config string // the user's configuration
	State  string // sessions, grants, spilled results
	Data   string // plugins, which commands may read
	// Results, if set, replaces the folder in State for results too long for a model: for
	// a session that stores nothing.
	Results string
	// Home is the person's home folder, where other agents keep their settings; "":
	// unknown.
	Home string
}

// PathsFrom returns the folders: PAWL_HOME itself; else below XDG_CONFIG_HOME,
// XDG_STATE_HOME and XDG_DATA_HOME; else, also if one of these is not absolute,
// ~/.config/pawl, ~/.local/state/pawl and ~/.local/share/pawl.
func PathsFrom(env func(string) string) (Paths, error) {
	if home := env("PAWL_HOME"); home != "" {
		abs, err := filepath.Abs(home)
		if err != nil {
			return Paths{}, err
		}
		return Paths{Config: abs, State: abs, Data: abs, Home: env("HOME")}, nil
	}
	config, state, data := env("XDG_CONFIG_HOME"), env("XDG_STATE_HOME"), env("XDG_DATA_HOME")
	home := env("HOME")
	if home == "" && (config == "" || state == "" || data == "") {
		h, err := os.UserHomeDir()
		if err != nil {
			return Paths{}, fault.NewConfiguration("set HOME, or PAWL_HOME to a folder for pawl's own files", "no home folder is known")
		}
		home = h
	}
	if config == "" || !filepath.IsAbs(config) {
		config = filepath.Join(home, ".config")
	}
	if state == "" || !filepath.IsAbs(state) {
		state = filepath.Join(home, ".local", "state")
	}
	if data == "" || !filepath.IsAbs(data) {
		data = filepath.Join(home, ".local", "share")
	}
	return Paths{Config: filepath.Join(config, "pawl"), State: filepath.Join(state, "pawl"), Data: filepath.Join(data, "pawl"), Home: env("HOME")}, nil
}

// Told returns the path of what a person was told once.
func (p Paths) Told() string { return filepath.Join(p.State, "told.json") }

// Plugins returns the folder of installed plugins.
func (p Paths) Plugins() string { return filepath.Join(p.Data, "plugins") }

// Database returns the path of the session log.
func (p Paths) Database() string { return filepath.Join(p.State, "pawl.db") }

// Swarms returns the path of the data of swarms that is not in their logs.
func (p Paths) Swarms() string { return filepath.Join(p.State, "swarms.db") }

// SwarmNotes returns the folder of what the workers of swarms learned, as JSON files.
func (p Paths) SwarmNotes() string { return filepath.Join(p.State, "swarm-notes") }

// Grants returns the path of the permissions that were granted permanently.
func (p Paths) Grants() string { return filepath.Join(p.State, "grants.json") }

// Spill returns the folder of results too long for a model.
func (p Paths) Spill() string {
	return cmp.Or(p.Results, filepath.Join(p.State, "spill"))
}

// Kept returns the folder of what commands removed or replaced.
func (p Paths) Kept() string {
	if p.Results != "" {
		return p.Results + "-kept"
	}
	return filepath.Join(p.State, "kept")
}

// Keys returns the folder of the keys that pawl login stored.
func (p Paths) Keys() string { return filepath.Join(p.State, "keys") }

func (p Paths) Notes() string { return filepath.Join(p.State, "notes.jsonl") }
