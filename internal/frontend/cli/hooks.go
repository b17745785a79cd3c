package cli

import (
	"cmp"
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"

	"github.com/spf13/cobra"

	"github.com/pawl-agent/pawl/internal/adapter/folder"
	hookrun "github.com/pawl-agent/pawl/internal/adapter/hook"
	"github.com/pawl-agent/pawl/internal/adapter/shell"
	"github.com/pawl-agent/pawl/internal/core/process"
	"github.com/pawl-agent/pawl/internal/engine/hooks"
	"github.com/pawl-agent/pawl/internal/engine/session"
	"github.com/pawl-agent/pawl/internal/frontend/agentsdk"
	"github.com/pawl-agent/pawl/internal/frontend/plain"
	"github.com/pawl-agent/pawl/internal/policy/hook"
	"github.com/pawl-agent/pawl/internal/policy/trust"
)

// userHooks returns the hooks of a person's own configuration, including those
// that pawl does not run.
func userHooks(c choices) []hook.Rule {
	rules, _ := hook.Rules("config.json", c.conf.User.Hooks) // it was read before
	return rules
}

// trustedHooks are the folder's hooks that a person trusted, as they were then.
func (t *folderTrust) trustedHooks() (rules []hook.Rule, were map[string]trust.Part) {
	v, err := t.compare(t.hookParts)
	if err != nil {
		return nil, nil // it was reported, and nothing is trusted
	}
	were = map[string]trust.Part{}
	for i, j := range v.Parts {
		if j.Trusted {
			rules = append(rules, t.hooks[i])
			were[t.hooks[i].From+t.hooks[i].Name] = j.Part
		}
	}
	return rules, were
}

// hooks returns the runner of a session's hooks; nil if there are none.
func (a *App) hooks(c choices, starter *shell.Starter, o *opened) hooks.Runner {
	if c.trust == nil {
		return nil // the session is only looked at
	}
	rules := userHooks(c)
	for _, r := range rules {
		if r.Idle != "" {
			o.warnings = append(o.warnings, fmt.Sprintf("the hook %s of your config.json is not run: %s", r.Name, r.Idle))
		}
	}
	theirs, were := c.trust.trustedHooks()
	if rules = slices.Concat(rules, pluginHooks(c.plugins), theirs); len(rules) == 0 {
		return nil
	}
	home := a.Env("HOME")
	return hookrun.New(rules, hookrun.Options{
		Dir: c.dir, Start: starter,
		Confine: func(r hook.Rule) process.Confine {
			if r.Free {
				return process.Free
			}
			confine := withReads(c.by.server(), r.Root)
			if _, project := were[r.From+r.Name]; !project && r.Root == "" && confine.Level != process.Unconfined {
				confine.Reads = append(slices.Clone(confine.Reads), ownFiles(r.Command, home)...)
			}
			return confine
		},
		Changed: func(r hook.Rule) string {
			if r.Root != "" {
				return changedHook(c.plugins, r)
			}
			was, project := were[r.From+r.Name]
			if !project {
				return ""
			}
			now, err := folder.HookPart(c.dir, r)
			switch {
			case err != nil:
				return err.Error()
			case now.Hash != was.Hash:
				return changedSince(was, now)
			}
			return ""
		},
	})
}

// ownFiles returns the files that the command of a person's own hook names: it
// may read its own script wherever that is.
func ownFiles(command, home string) []string {
	var out []string
	for _, w := range trust.Words(command) {
		for _, v := range []string{"~/", "$HOME/", "${HOME}/"} {
			if rest, ok := strings.CutPrefix(w, v); ok && home != "" {
				w = filepath.Join(home, rest)
			}
		}
		if !filepath.IsAbs(w) {
			continue
		}
		real, err := filepath.EvalSymlinks(w)
		if err != nil {
			continue
		}
		if st, err := os.Stat(real); err == nil && st.Mode().IsRegular() {
			out = append(out, real)
		}
	}
	return out
}

// listedHook is a hook as `pawl hooks list --json` has it.
type listedHook struct {
	Event   hook.Event `json:"event"`
	Matcher string     `json:"matcher,omitempty"`
	Command string     `json:"command"`
	From    string     `json:"from"`
	Seconds float64    `json:"timeout"`
	Free    bool       `json:"unconfined,omitempty"`
	Inert   string     `json:"inert,omitempty"` // why it does not run
}

func (a *App) hooksCommand() *cobra.Command {
	c := &cobra.Command{
		Use: "hooks", Short: "List the hooks: programs that run at points of a session", Args: exactly(0),
		Long: `Hooks are programs that run at points of a session: before a call, after it, when
a prompt is taken, when a turn ends. They stand in your config.json and, where the
folder is trusted, in its .claude/settings.json and .pawl/config.json. See
doc/hooks.md.`,
	}
	var dir string
	var asJSON bool
	list := &cobra.Command{
		Use: "list", Short: "List the hooks of this folder and your own, and which of them run", Args: exactly(0),
		RunE: func(*cobra.Command, []string) error {
			all, err := a.listHooks(dir)
			if err != nil {
				return err
			}
			if asJSON {
				return a.json(all)
			}
			out := wrapped(a.Out, true)
			if len(all) == 0 {
				fmt.Fprintln(out, "there are no hooks; doc/hooks.md says how to write one")
			}
			for _, h := range all {
				fmt.Fprintln(out, plain.Line(h.String()))
			}
			return nil
		},
	}
	c.RunE = list.RunE
	for _, x := range []*cobra.Command{c, list} {
		x.Flags().StringVarP(&dir, "dir", "C", "", "this folder instead of the current one")
		x.Flags().BoolVar(&asJSON, "json", false, "as JSON")
	}
	c.AddCommand(list)
	return c
}

func (h listedHook) String() string {
	s := string(h.Event)
	if h.Matcher != "" {
		s += " " + h.Matcher
	}
	s += ": " + h.Command + " (" + h.From + ")"
	if h.Free {
		s += ", outside the sandbox"
	}
	if h.Inert != "" {
		s += ", not run: " + h.Inert
	}
	return s
}

func (a *App) listHooks(dir string) ([]listedHook, error) {
	conf, paths, err := a.settings()
	if err != nil {
		return nil, err
	}
	t, err := a.trustStore(dir)
	if err != nil {
		return nil, err
	}
	var out []listedHook
	add := func(r hook.Rule, inert string) {
		out = append(out, listedHook{Event: r.Event, Matcher: r.Matcher, Command: r.Command, From: r.From, Seconds: r.Timeout.Seconds(), Free: r.Free, Inert: cmp.Or(r.Idle, inert)})
	}
	for _, r := range userHooks(choices{conf: conf}) {
		add(r, "")
	}
	plugins, _ := a.plugins(paths, t.dir) // what can not be read is told by pawl plugin
	for _, p := range plugins {
		for i, r := range p.set.Hooks {
			add(r, p.whyNot(p.set.HookParts[i]))
		}
	}
	rules, parts, err := folder.Hooks(t.dir)
	if err != nil {
		return nil, err
	}
	v, verr := t.compare(parts) // what cannot be read counts as missing, so it is not trusted
	for i, j := range v.Parts {
		why := j.Why
		if verr != nil {
			why = verr.Error()
		}
		add(rules[i], why)
	}
	return out, nil
}

// hooks adds the hooks of a person, and those of the folder that are trusted.
func (s *assembly) hooks(conf *session.Config) { conf.Hooks = s.w.hooks }

// joinedHooks are those of the configuration and of the program that drives pawl.
type joinedHooks []hooks.Runner

// joinHooks joins the hooks of a program, nil for none, to others.
func joinHooks(ours hooks.Runner, program *agentsdk.Hooks) hooks.Runner {
	switch {
	case program == nil:
		return ours
	case ours == nil:
		return program
	}
	return joinedHooks{ours, program}
}

// Rules implements hooks.Runner.
func (j joinedHooks) Rules() (out []hook.Rule) {
	for _, r := range j {
		out = append(out, r.Rules()...)
	}
	return out
}

// Run implements hooks.Runner. All run in parallel.
func (j joinedHooks) Run(ctx context.Context, rules []hook.Rule, input []byte) []hook.Ran {
	out := make([]hook.Ran, len(rules))
	for i, r := range rules {
		out[i] = hook.Ran{Command: r.Command, Failed: "nobody runs it"} // which is no yes
	}
	var wg sync.WaitGroup
	for _, runner := range j {
		own := runner.Rules()
		var mine []hook.Rule
		var at []int
		for i, r := range rules {
			if slices.Contains(own, r) {
				mine, at = append(mine, r), append(at, i)
			}
		}
		if len(mine) == 0 {
			continue
		}
		wg.Go(func() {
			for i, ran := range runner.Run(ctx, mine, input) {
				out[at[i]] = ran
			}
		})
	}
	wg.Wait()
	return out
}
