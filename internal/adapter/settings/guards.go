package settings

import (
	"encoding/json"
	"os"
	"path/filepath"

	"github.com/pelletier/go-toml/v2"

	"github.com/pawl-agent/pawl/internal/core/jsonc"
	"github.com/pawl-agent/pawl/internal/policy/claudecode"
)

// guards reads the settings files of Claude Code: those of the folder and of the folders
// that it is a copy of, and the person's own. They are read before the folder is trusted,
// since without the person's word (agreed) they can only narrow.
func guards(home, dir string, originals []string, agreed bool) []claudecode.Settings {
	var out []claudecode.Settings
	var own os.FileInfo
	if home != "" {
		path := filepath.Join(home, filepath.FromSlash(claudecode.Own))
		own, _ = os.Stat(path)
		out = append(out, readGuards(path, claudecode.File{Name: "~/" + claudecode.Own, Own: true, Agreed: agreed, Root: filepath.ToSlash(dir), Beside: filepath.ToSlash(filepath.Dir(path))})...)
	}
	for i, at := range append([]string{dir}, originals...) {
		for _, name := range claudecode.Project {
			path := filepath.Join(at, filepath.FromSlash(name))
			if st, err := os.Stat(path); err == nil && own != nil && os.SameFile(own, st) {
				continue // the folder is the home
			}
			shown := name
			if i > 0 {
				shown = filepath.ToSlash(path)
			}
			out = append(out, readGuards(path, claudecode.File{Name: shown, Root: filepath.ToSlash(dir)})...)
		}
	}
	return append(out, foreign(home, dir)...)
}

// foreign reads the settings files of other agents, of the folder and of the person.
func foreign(home, dir string) (out []claudecode.Settings) {
	for _, f := range claudecode.Foreigns {
		at := dir
		if f.Home {
			at = home
		}
		if at == "" || !f.Home && at == home { // the folder is the home
			continue
		}
		raw, err := readSmall(filepath.Join(at, filepath.FromSlash(f.Path)))
		if missing(err) {
			continue
		}
		all := map[string]any{}
		switch {
		case err != nil:
		case filepath.Ext(f.Path) == ".toml":
			err = toml.Unmarshal(raw, &all)
		default:
			err = json.Unmarshal(jsonc.Plain(raw), &all)
		}
		if err != nil {
			all = nil
		}
		out = append(out, f.Read(all))
	}
	return out
}

// readGuards reads a file; it returns nothing if the file does not exist.
func readGuards(path string, f claudecode.File) []claudecode.Settings {
	raw, err := readSmall(path)
	if missing(err) {
		return nil
	}
	f.Text, f.Unread = raw, err
	return []claudecode.Settings{claudecode.Read(f)}
}
