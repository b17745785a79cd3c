package setup

import (
	"cmp"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"time"

	"github.com/pawl-agent/pawl/internal/adapter/checks"
	"github.com/pawl-agent/pawl/internal/adapter/settings"
	"github.com/pawl-agent/pawl/internal/engine/verify"
	"github.com/pawl-agent/pawl/internal/team/autofix"
)

// autofix reports whether the folder's checks run after changes.
func (opt *Options) autofix(conf settings.Settings) bool {
	on := conf.Autofix.Enable
	return !opt.NoAutofix && (opt.Autofix || on == nil || *on)
}

// finderOf returns the finder of a folder's checks.
func finderOf(conf settings.Settings, dir string, env func(string) string) *checks.Finder {
	finder := &checks.Finder{Root: dir, LookPath: exec.LookPath, HasModule: checks.HasModule, GoFlags: GoFlags(env)}
	for _, c := range conf.Checks {
		in := c.In
		if rest, ok := strings.CutPrefix(in, "~/"); ok && env("HOME") != "" {
			in = filepath.Join(env("HOME"), rest)
		}
		name := cmp.Or(c.Name, c.Command)
		finder.Configured = append(finder.Configured, checks.Configured{Name: name, Command: c.Command, Paths: c.Paths, In: in})
	}
	return finder
}

// autofixVerifier returns a constructor of the verifier that checks turns that changed
// files; nil if no checks are run.
func autofixVerifier(conf settings.Settings, t *Trust) func() verify.Verifier {
	if t == nil || t.finder == nil {
		return nil
	}
	a := conf.Autofix
	run := autofix.Config{Find: t.finder.Find, Lacks: t.finder.Lacks, Trusted: t.checkTrusted, Timeout: time.Duration(a.TimeoutSeconds) * time.Second}
	if a.Attempts != nil {
		run.Attempts = *a.Attempts
		run.Attempts = cmp.Or(run.Attempts, -1)
	}
	return autofix.New(run)
}

// GoFlags returns the GOFLAGS that apply to every go command: from the environment or,
// if it sets none, from the file that `go env -w` writes.
func GoFlags(env func(string) string) string {
	if v := env("GOFLAGS"); v != "" {
		return v
	}
	name := env("GOENV")
	if name == "" {
		dir, err := os.UserConfigDir()
		if err != nil {
			return ""
		}
		name = filepath.Join(dir, "go", "env")
	}
	text, err := os.ReadFile(name)
	if err != nil { // most people have none
		return ""
	}
	for l := range strings.Lines(string(text)) {
		if v, ok := strings.CutPrefix(l, "GOFLAGS="); ok {
			return strings.TrimSpace(v)
		}
	}
	return ""
}

// autofix adds the checks at the end of a turn.
func (s *opening) autofix() {
	s.session.Autofix, s.session.Trust = autofixVerifier(s.conf.User, s.o.Trust), s.o.Trust.Event()
}
