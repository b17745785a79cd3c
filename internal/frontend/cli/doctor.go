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
	"strings"

	"github.com/spf13/cobra"

	"github.com/pawl-agent/pawl/internal/adapter/settings"
	"github.com/pawl-agent/pawl/internal/adapter/store/sqlite"
	"github.com/pawl-agent/pawl/internal/frontend/brief"
	"github.com/pawl-agent/pawl/internal/frontend/plain"
)

// finding is one line of the doctor's: what was looked at, what was found, and
// what to do where something is missing.
type finding struct {
	ok   bool
	must bool // without it pawl cannot work: exit code 3
	what string
	is   string
	do   string
}

func (a *App) doctorCommand() *cobra.Command {
	return &cobra.Command{
		Use: "doctor", Short: "What is found, what is missing, what to do", Args: exactly(0),
		RunE: func(c *cobra.Command, _ []string) error {
			broken := false
			fmt.Fprintf(a.Out, "pawl %s, %s/%s, %s\n\n", Version, runtime.GOOS, runtime.GOARCH, runtime.Version())
			for _, f := range a.examine(c.Context()) {
				mark := "ok  "
				if !f.ok {
					mark = "note"
					if f.must {
						mark, broken = "BAD ", true
					}
				}
				line := fmt.Sprintf("%s  %-13s %s", mark, f.what, f.is)
				if !f.ok && f.do != "" {
					line += "; " + f.do
				}
				fmt.Fprintln(a.Out, plain.Line(line))
			}
			if broken {
				return &exitError{code: 3}
			}
			return nil
		},
	}
}

func (a *App) examine(ctx context.Context) []finding {
	out := []finding{a.program("git", "install git: changes, logs and ignore files are read with it", true), a.program("bash", "sh is used instead", false)}
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
		for _, w := range conf.Warnings {
			out = append(out, finding{what: "configuration", is: w})
		}
	}
	if err := stateWritable(paths.State); err != nil {
		out = append(out, finding{must: true, what: "state", is: err.Error(), do: "make it writable, set PAWL_HOME to another folder, or run with --no-session"})
	} else {
		out = append(out, finding{ok: true, what: "state", is: paths.State})
	}
	out = append(out, a.examineLog(ctx, paths))
	if c, err := a.resolve("", conf); err == nil {
		out = append(out, finding{ok: true, what: "model", is: c.info.Ref() + " (" + c.why + "), " + brief.PriceOf(c.info)})
	} else {
		out = append(out, finding{what: "model", is: err.Error()})
	}
	for _, l := range a.probe(ctx) {
		out = append(out, finding{ok: true, what: "local model", is: fmt.Sprintf("%s at %s with %d models", l.Provider, l.URL, len(l.Models))})
	}
	where := finding{ok: true, what: "workspace", is: a.Dir + ", a git repository"}
	if !isRepository(a.Dir) {
		where.is = a.Dir + ", not a git repository"
	}
	return append(append(out, where, examineSandbox()), a.toolchains()...)
}

func (a *App) program(name, do string, must bool) finding {
	path, err := exec.LookPath(name)
	if err != nil {
		return finding{what: name, is: "not found on PATH", do: do, must: must}
	}
	return finding{ok: true, what: name, is: path}
}

func (a *App) examineLog(ctx context.Context, paths settings.Paths) finding {
	st, err := os.Stat(paths.Database())
	if errors.Is(err, fs.ErrNotExist) {
		return finding{ok: true, what: "sessions", is: "none yet"}
	}
	if err != nil {
		return finding{must: true, what: "sessions", is: err.Error()}
	}
	log, err := sqlite.Open(ctx, paths.Database(), sqlite.Options{Now: a.Now})
	if err != nil {
		return finding{must: true, what: "sessions", is: err.Error()}
	}
	defer log.Close()
	if bad, err := log.Check(ctx); err != nil || len(bad) > 0 {
		return finding{must: true, what: "sessions", is: fmt.Sprintf("%s is damaged: %s %v", paths.Database(), strings.Join(bad, "; "), err), do: "export what can be read (pawl sessions export), then move the file aside"}
	}
	rows, err := log.Sessions(ctx, "")
	if err != nil {
		return finding{must: true, what: "sessions", is: err.Error()}
	}
	return finding{ok: true, what: "sessions", is: fmt.Sprintf("%d in %s, %.1f MB", len(rows), paths.Database(), float64(st.Size())/1e6)}
}
