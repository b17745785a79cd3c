package cli

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/pawl-agent/pawl/internal/adapter/sandbox"
	"github.com/pawl-agent/pawl/internal/adapter/settings"
	"github.com/pawl-agent/pawl/internal/adapter/store/sqlite"
	"github.com/pawl-agent/pawl/internal/core/gitrepo"
	"github.com/pawl-agent/pawl/internal/core/plural"
	"github.com/pawl-agent/pawl/internal/frontend/brief"
	"github.com/pawl-agent/pawl/internal/frontend/plain"
	"github.com/pawl-agent/pawl/internal/frontend/setup"
	"github.com/pawl-agent/pawl/internal/policy/claudecode"
	"github.com/pawl-agent/pawl/internal/policy/trust"
)

// finding is one line of `pawl doctor`: what was checked, the result, and what to do if
// something is missing.
type finding struct {
	ok   bool
	must bool // without it pawl cannot work: exit code 3
	what string
	is   string
	do   string
}

// String returns the finding as one line.
func (f finding) String() string {
	mark := "ok  "
	switch {
	case !f.ok && f.must:
		mark = "BAD "
	case !f.ok:
		mark = "note"
	}
	line := fmt.Sprintf("%s  %-13s %s", mark, f.what, f.is)
	if !f.ok && f.do != "" {
		line += "; " + f.do
	}
	return plain.Line(line)
}

func doctorCommand(a *App) *cobra.Command {
	var offline bool
	c := &cobra.Command{
		Use: "doctor", Short: "Check the installation: what is found, what is missing, what to do", Args: exactly(0),
		Long: `Check the installation, and print what is found, what is missing and what to do.
To test the key of the current model, pawl asks the provider for its list of
models, which is free of charge. With --offline pawl contacts no provider.`,
		RunE: func(c *cobra.Command, _ []string) error {
			broken := false
			out := wrapped(a.Out, true)
			fmt.Fprintf(out, "pawl %s, %s/%s, %s\n\n", Version, runtime.GOOS, runtime.GOARCH, runtime.Version())
			for _, f := range examine(c.Context(), a, offline) {
				broken = broken || !f.ok && f.must
				fmt.Fprintln(out, f)
			}
			if broken {
				return &exitError{code: 3}
			}
			return nil
		},
	}
	c.Flags().BoolVar(&offline, "offline", false, "do not contact a provider to test the key")
	return c
}

// keyTime is how long a provider may take to test a key.
const keyTime = 3 * time.Second

// examineKey tests the key of a model, if the test costs nothing.
func examineKey(ctx context.Context, c setup.ModelChoice) []finding {
	if c.TryKey == nil {
		return nil
	}
	ctx, cancel := context.WithTimeout(ctx, keyTime)
	defer cancel()
	t, ok := c.TryKey(ctx)
	if !ok {
		return nil
	}
	f := finding{ok: t.Right, what: "key", is: c.KeyName + " at " + t.Where + ": " + t.Said}
	if t.Known && !t.Right {
		f.do = "set the right key"
	}
	return []finding{f}
}

func examine(ctx context.Context, a *App, offline bool) []finding {
	out := []finding{findProgram("git", "install git: pawl uses it to read changes, logs and ignore files", true), findProgram("bash", "sh is used instead", false)}
	paths, err := settings.PathsFrom(a.Env)
	if err != nil {
		return append(out, finding{must: true, what: "state", is: err.Error()})
	}
	conf, err := settings.Load(paths, a.Dir)
	if err != nil {
		out = append(out, finding{must: true, what: "configuration", is: err.Error()})
	} else {
		is := "none (" + filepath.Join(paths.Config, "config.json") + " would be read)"
		if len(conf.Files) > 0 {
			is = strings.Join(conf.Files, ", ")
		}
		out = append(out, finding{ok: true, what: "configuration", is: is})
		for _, p := range conf.Unkept {
			if !slices.ContainsFunc(conf.Guards, func(g claudecode.Settings) bool { return slices.Contains(g.Problems, p) }) {
				out = append(out, finding{must: true, what: "configuration", is: p, do: "correct or remove it: no session starts here"})
			}
		}
		for _, w := range conf.Warnings {
			out = append(out, finding{what: "configuration", is: w})
		}
	}
	if err := stateWritable(paths.State); err != nil {
		out = append(out, finding{must: true, what: "state", is: err.Error(), do: "make it writable, set PAWL_HOME to another folder, or use --no-session"})
	} else {
		out = append(out, finding{ok: true, what: "state", is: paths.State})
	}
	cache := filepath.Join(sandbox.UserCache(a.Env, a.Env("HOME")), "pawl")
	if _, err := os.Stat(cache); err == nil {
		out = append(out, finding{ok: true, what: "cache", is: cache + ", made again when it is removed"})
	}
	out = append(out, examineLog(ctx, a.Now, paths))
	if c, err := a.Resolve("", conf); err == nil {
		out = append(out, finding{ok: true, what: "model", is: c.Info.Ref() + " (" + c.Why + "), " + brief.Effort(c.Info) + brief.PriceOf(c.Info)})
		if !offline {
			out = append(out, examineKey(ctx, c)...)
		}
	} else {
		out = append(out, finding{what: "model", is: err.Error()})
	}
	for _, l := range a.Probe(ctx) {
		out = append(out, finding{ok: true, what: "local model", is: fmt.Sprintf("%s at %s with %s", l.Provider, l.URL, plural.Of(len(l.Models), "model"))})
	}
	where := finding{ok: true, what: "workspace", is: a.Dir + ", a git repository"}
	if gitrepo.Above(a.Dir) == "" {
		where.is = a.Dir + ", not a git repository"
	}
	out = append(out, where, a.examineTrust(), examineSandbox(), examineConfining(a, conf, paths))
	a.JudgeStyles(a.Dir, conf.Guards)
	out = append(append(out, toolchains(a.Dir)...), examineOthers(a.Dir, a.Env, append(conf.Guards, a.UnusedKeys(a.Dir, paths)))...)
	if m, err := a.MCP(a.Dir); err == nil {
		for _, w := range m.Warnings {
			if strings.HasPrefix(w, trust.ServersFile+":") { // then nothing of it is used
				out = slices.DeleteFunc(out, func(f finding) bool { return f.ok && strings.HasPrefix(f.is, trust.ServersFile+" is ") })
			}
			out = append(out, finding{what: "MCP servers", is: w, do: "correct the file"})
		}
	}
	return append(out, lessOn(runtime.GOOS)...)
}

func findProgram(name, do string, must bool) finding {
	path, err := exec.LookPath(name)
	if err != nil {
		return finding{what: name, is: "not found on PATH", do: do, must: must}
	}
	return finding{ok: true, what: name, is: path}
}

func examineLog(ctx context.Context, now func() time.Time, paths settings.Paths) finding {
	st, err := os.Stat(paths.Database())
	if errors.Is(err, fs.ErrNotExist) {
		return finding{ok: true, what: "sessions", is: "none yet"}
	}
	if err != nil {
		return finding{must: true, what: "sessions", is: err.Error()}
	}
	log, err := sqlite.Open(ctx, paths.Database(), sqlite.Options{Now: now})
	if err != nil {
		return finding{must: true, what: "sessions", is: err.Error()}
	}
	defer log.Close()
	if bad, err := log.Check(ctx); err != nil || len(bad) > 0 {
		return finding{must: true, what: "sessions", is: fmt.Sprintf("%s is damaged: %s %v", paths.Database(), strings.Join(bad, "; "), err), do: "export what can be read (pawl sessions export), then move the file to another place"}
	}
	rows, err := log.Sessions(ctx, "")
	if err != nil {
		return finding{must: true, what: "sessions", is: err.Error()}
	}
	return finding{ok: true, what: "sessions", is: fmt.Sprintf("%d in %s, %.1f MB", len(rows), paths.Database(), float64(st.Size())/1e6)}
}

// stateWritable returns an error if pawl cannot write its own files.
func stateWritable(dir string) error {
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return err
	}
	f, err := os.CreateTemp(dir, ".probe-*")
	if err != nil {
		return err
	}
	name := f.Name()
	_ = f.Close()
	return os.Remove(name)
}

// examineConfining reports how the commands of a session here would be confined.
func examineConfining(a *App, conf settings.Loaded, paths settings.Paths) finding {
	f := finding{what: "commands here"}
	dir, err := setup.RealPath(a.Dir)
	if err != nil {
		f.is = err.Error()
		return f
	}
	by, err := a.Confine(&setup.Options{}, conf, paths, dir, false)
	switch {
	case err != nil:
		f.is = err.Error()
	case by.Warning != "":
		f.is, f.do = by.Warning, "see doc/safety.md"
	case !by.Confined():
		f.is = "not in a sandbox, as your configuration sets"
	case by.Has.Narrow:
		f.ok, f.is = true, "in a read-only sandbox, as your configuration sets"
	default:
		f.ok, f.is = true, "in a sandbox, which depends on the permission of each command"
	}
	return f
}
