package settings

import (
	"encoding/json"
	"os"
	"path/filepath"

	"github.com/pawl-agent/pawl/internal/core/atomicfile"
)

// Told remembers what a person was told about a folder, so that a line about it is shown
// once and not at every start. Losing it repeats a line.
type Told struct{ Path string }

// maxTold is how many folders are remembered.
const maxTold = 2000

// First reports whether the line about a folder is new, and remembers it.
func (t Told) First(dir, line string) bool {
	all := map[string]string{}
	if raw, err := os.ReadFile(t.Path); err == nil {
		_ = json.Unmarshal(raw, &all) // an unreadable file has nothing
	}
	if all[dir] == line {
		return false
	}
	if len(all) >= maxTold {
		clear(all)
	}
	all[dir] = line
	if raw, err := json.Marshal(all); err == nil && os.MkdirAll(filepath.Dir(t.Path), 0o700) == nil {
		_ = atomicfile.Write(t.Path, raw, 0o600)
	}
	return true
}
