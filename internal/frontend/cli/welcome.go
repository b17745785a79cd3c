package cli

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"strings"

	"github.com/pawl-agent/pawl/internal/adapter/folder"
	"github.com/pawl-agent/pawl/internal/adapter/settings"
	"github.com/pawl-agent/pawl/internal/policy/claudecode"
	"github.com/pawl-agent/pawl/internal/policy/permission"
)

// This file is the message at the first start of pawl: what was found, what pawl may
// do, what to try. It asks nothing. A later start recognises itself by one file.

// isFirst reports whether no session was ever stored here.
func isFirst(paths settings.Paths) bool {
	_, err := os.Stat(paths.Database())
	return errors.Is(err, fs.ErrNotExist)
}

// welcome returns the lines of the message at the first start.
func (a *App) welcome(dir string, mode permission.Mode) []string {
	out := []string{"try: “fix the failing tests”; /help"}
	if text := mode.About(); text != "" {
		out = append(out, "pawl "+text+"; Shift+Tab changes that, /undo undoes")
	}
	return append(out, fromOthers(folder.Others(dir, a.Env("HOME")))...)
}

// fromOthers tells in a line that there are settings of other agents. Of those that are used
// in part each key is told (setup.keepGuards).
func fromOthers(found []folder.Setting) []string {
	count := map[folder.Use]int{}
	for _, s := range found {
		count[s.Use]++
	}
	var is []string
	for _, use := range []struct {
		is   folder.Use
		text string
	}{{folder.Read, "used"}, {folder.Trusted, "used if you trust the folder"}, {folder.Ignored, "not used"}} {
		if n := count[use.is]; n > 0 {
			is = append(is, fmt.Sprintf("%d %s", n, use.text))
		}
	}
	if len(is) == 0 {
		return nil
	}
	return []string{"settings of other agents: " + strings.Join(is, ", ") + "; pawl doctor lists them"}
}

// examineOthers returns the findings of `pawl doctor` about the same settings, with
// what to do.
func examineOthers(dir string, env func(string) string, guards []claudecode.Settings) []finding {
	var out []finding
	for _, g := range guards {
		for _, p := range g.Problems {
			out = append(out, finding{must: !g.File.Own, what: "other agents", is: p})
		}
		for _, f := range g.Findings {
			if f.Key == "$schema" {
				continue
			}
			is := finding{ok: !f.Guard, what: "other agents", is: g.File.Name + ": " + f.String()}
			if f.Guard || f.Use != claudecode.Used && f.Use != claudecode.Differently {
				is = finding{what: is.what, is: g.File.Name + ": " + f.Key + " is " + f.Is(), do: f.Note}
			}
			out = append(out, is)
		}
	}
	for _, s := range folder.Others(dir, env("HOME")) {
		if s.Use == folder.Partly {
			continue // key by key
		}
		is := map[folder.Use]string{folder.Read: "read", folder.Trusted: "used if you trust the folder", folder.Ignored: "not used"}[s.Use]
		out = append(out, finding{ok: s.Use != folder.Ignored || s.How == "", what: "other agents", is: s.Path + " is " + is, do: s.How})
	}
	return out
}
