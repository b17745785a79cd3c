package cli

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"slices"
	"strings"

	"github.com/pawl-agent/pawl/internal/adapter/folder"
	"github.com/pawl-agent/pawl/internal/adapter/provider/catalog"
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
func (a *App) welcome(ctx context.Context, dir string, conf settings.Loaded, mode permission.Mode) []string {
	var found []string
	for _, l := range catalog.Usable(a.Want("", conf)) {
		if l.Usable {
			found = append(found, l.Provider)
		}
	}
	for _, l := range a.Probe(ctx) {
		found = append(found, fmt.Sprintf("%s at %s (%s)", l.Provider, l.URL, models(len(l.Models))))
	}
	out := []string{"this is your first start; you can use models of " + orNobody(found) + " and offline, the built-in planner"}
	if text := mode.About(); text != "" {
		out = append(out, "mode "+string(mode)+": it "+text+"; Shift+Tab or /mode changes the mode, and /undo undoes changes")
	}
	out = append(out, fromOthers(folder.Others(dir, a.Env("HOME")))...)
	return append(out, `try: “what is this project, and how is it tested?” or “the tests fail: find the cause and fix it”; /help lists the commands, ? the keys`)
}

func models(n int) string {
	if n == 1 {
		return "1 model"
	}
	return fmt.Sprintf("%d models", n)
}

func orNobody(found []string) string {
	if len(found) == 0 {
		return "no provider (pawl models shows what to set)"
	}
	return strings.Join(found, ", ")
}

// fromOthers returns which settings of other agents are used, a line for each use.
func fromOthers(found []folder.Setting) []string {
	var out []string
	for _, use := range []struct {
		is   folder.Use
		text string
	}{{folder.Read, "used: "}, {folder.Trusted, "used if you trust the folder (pawl trust): "}, {folder.Partly, "used in part: "}, {folder.Ignored, "not used: "}} {
		var names []string
		for _, s := range found {
			if s.Use == use.is {
				names = append(names, s.Path)
			}
		}
		if len(names) > 0 {
			out = append(out, "settings of other agents, "+use.text+strings.Join(names, ", "))
		}
	}
	if slices.ContainsFunc(found, func(s folder.Setting) bool { return s.Use == folder.Ignored || s.Use == folder.Partly }) {
		out[len(out)-1] += "; pawl doctor shows what to do"
	}
	return out
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
			used := f.Use == claudecode.Used || f.Use == claudecode.Differently
			out = append(out, finding{ok: used && !f.Guard, what: "other agents", is: g.File.Name + ": " + f.Key + " is " + string(f.Use), do: f.Note})
		}
	}
	for _, s := range folder.Others(dir, env("HOME")) {
		if s.Use == folder.Partly {
			continue // key by key
		}
		is := map[folder.Use]string{folder.Read: "read", folder.Trusted: "used if the folder is trusted", folder.Ignored: "not used"}[s.Use]
		out = append(out, finding{ok: s.Use != folder.Ignored || s.How == "", what: "other agents", is: s.Path + " is " + is, do: s.How})
	}
	return out
}
