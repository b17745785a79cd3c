package setup

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/pawl-agent/pawl/internal/adapter/folder"
	hookrun "github.com/pawl-agent/pawl/internal/adapter/hook"
	"github.com/pawl-agent/pawl/internal/adapter/settings"
	"github.com/pawl-agent/pawl/internal/core/jsonc"
	"github.com/pawl-agent/pawl/internal/core/process"
	"github.com/pawl-agent/pawl/internal/engine/hooks"
	"github.com/pawl-agent/pawl/internal/frontend/agentsdk"
	"github.com/pawl-agent/pawl/internal/policy/claudecode"
	"github.com/pawl-agent/pawl/internal/policy/guidance"
	"github.com/pawl-agent/pawl/internal/policy/hook"
	"github.com/pawl-agent/pawl/internal/policy/trust"
)

// userHooks returns the hooks of the user's own configuration, including those that pawl does
// not run, and those of their agents, skills and commands. What they have for Claude Code is
// not read before they said that it is used.
func (e *Environment) userHooks(conf settings.Loaded, paths settings.Paths, dir string) []hook.Rule {
	used, _ := hook.Rules("config.json", conf.User.Hooks) // its errors were reported when it was read
	used = append(used, folder.FrontHooks(paths.Config, "agents", "skills", "commands")...)
	if conf.User.ClaudeSettings {
		used = append(used, e.claudeHooks(conf, dir)...)
	}
	return used
}

// claudeHooks returns the hooks of what the user has for Claude Code.
func (e *Environment) claudeHooks(conf settings.Loaded, dir string) []hook.Rule {
	out := slices.Clone(conf.Taken.Hooks)
	if home := e.Env("HOME"); home != "" && filepath.Clean(home) != dir { // otherwise they are the folder's
		out = append(out, folder.FrontHooks(home, guidance.HomeFronts()...)...)
	}
	return out
}

// trustedHooks returns those hooks that a person trusted in this folder, and their parts
// as they were then.
func (t *Trust) trustedHooks(all []hook.Rule, parts []trust.Part) (rules []hook.Rule, were map[string]trust.Part) {
	v, err := t.compare(parts)
	if err != nil {
		return nil, nil // it was reported, and nothing is trusted
	}
	were = map[string]trust.Part{}
	for i, j := range v.Parts {
		if j.Trusted {
			rules = append(rules, all[i])
			were[all[i].From+all[i].Name] = j.Part
		}
	}
	return rules, were
}

// waits is why a hook of the person's does not start in a folder that is not trusted.
const waits = "it would run in this folder outside the sandbox, and the folder is not trusted; to trust it: pawl trust, or --trust for one run; if the hook does not need the folder, give it \"cwd\": \"apart\""

// hooks returns the runner of a session's hooks; nil if there are none.
func (s *opening) hooks() hooks.Runner {
	t, by, dir := s.o.Trust, s.o.Confinement, s.session.Dir
	if t == nil {
		return nil // the session is only read
	}
	rules := t.userHooks
	for _, r := range rules {
		if r.InactiveBecause != "" {
			s.o.warn(fmt.Sprintf("the hook %s of your %s is not run: %s", r.Name, r.From, r.InactiveBecause))
		}
	}
	theirs, were := t.trustedHooks(t.hooks, t.hookParts)
	mine := t.trustedOwn()
	for _, r := range t.hooks {
		if _, trusted := were[r.From+r.Name]; !trusted && r.Scope != "" {
			theirs = append(theirs, r) // what is used with it must not go on without it: it fails
		}
	}
	for _, r := range t.ownHooks {
		if _, trusted := mine[r.From+r.Name]; !trusted {
			s.o.warn(fmt.Sprintf("the hook %s (%s) is not run: %s", r.Name, r.From, waits))
		}
	}
	if rules = slices.Concat(rules, pluginHooks(s.plugins), theirs); len(rules) == 0 {
		return nil
	}
	home := s.Env("HOME")
	own := func(r hook.Rule) bool {
		return r.Root == "" && !slices.Contains(t.hooks, r)
	}
	return hookrun.New(rules, hookrun.Options{
		Dir: dir, Start: s.starter, Elsewhere: neutral(s.paths.State, dir), Apart: apartFrom(dir, home), Own: own,
		Confine: func(r hook.Rule) process.Confine {
			if r.Free {
				return process.Free
			}
			confine := withReads(by.server(), r.Root)
			if own(r) && confine.Level != process.Unconfined {
				confine.Reads = append(slices.Clone(confine.Reads), ownFiles(r.Command, home)...)
			}
			return confine
		},
		Changed: func(r hook.Rule) string {
			if r.Root != "" {
				if why := changedHook(s.plugins, r); why != "" {
					return why
				}
			}
			was, judged := were[r.From+r.Name]
			if slices.Contains(t.ownHooks, r) {
				if was, judged = mine[r.From+r.Name]; !judged {
					return waits
				}
			}
			switch {
			case !judged && slices.Contains(t.hooks, r):
				return "the folder is not trusted; to trust it: pawl trust"
			case !judged:
				return ""
			}
			now, err := folder.HookParts(dir, r)
			switch {
			case err != nil:
				return err.Error()
			case now[0].Hash != was.Hash:
				return changedSince(was, now[0])
			}
			return ""
		},
	})
}

// ownFiles returns the files that the command of a user's own hook names: the hook may
// read its own script wherever that is.
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

// readOwnHooks reads the person's hooks that depend on the folder, as in a session without
// flags.
func (e *Environment) readOwnHooks(t *Trust) error {
	conf, paths, err := e.SettingsIn(t.Dir)
	if err != nil {
		return err
	}
	plugins, _ := e.Plugins(paths, t.Dir) // `pawl plugin` reports unreadable ones
	t.userHooks = e.userHooks(conf, paths, t.Dir)
	rules := slices.Concat(t.userHooks, pluginHooks(plugins))
	if len(rules) == 0 {
		return nil
	}
	by, err := e.Confine(&Options{}, conf, paths, t.Dir, true)
	if err != nil {
		return err
	}
	if by.boxes != nil {
		defer by.boxes.Close()
	}
	t.ownHooks = t.dependentHooks(rules, by)
	return nil
}

// trustedOwn returns the parts of those of ownHooks that a person trusted in this folder.
func (t *Trust) trustedOwn() map[string]trust.Part {
	parts, _ := t.ownHookParts() // without its part a hook is not trusted
	_, mine := t.trustedHooks(t.ownHooks[:len(parts)], parts)
	return mine
}

// ListedHook is a configured hook.
type ListedHook struct {
	hook.Rule
	Inert string // why it does not run, "" if it does
}

// ListHooks returns the hooks of a folder, "" for the current one, and the user's own.
func (e *Environment) ListHooks(dir string) ([]ListedHook, error) {
	t, err := e.StoredTrust(dir)
	if err != nil {
		return nil, err
	}
	conf, paths, err := e.SettingsIn(t.Dir)
	if err != nil {
		return nil, err
	}
	var out []ListedHook
	add := func(r hook.Rule, inert string) { out = append(out, ListedHook{r, cmp.Or(r.InactiveBecause, inert)}) }
	if err := e.readOwnHooks(t); err != nil {
		return nil, err
	}
	mine := t.trustedOwn()
	waiting := func(r hook.Rule) string {
		if _, trusted := mine[r.From+r.Name]; trusted || !slices.Contains(t.ownHooks, r) {
			return ""
		}
		return waits
	}
	for _, r := range t.userHooks {
		add(r, waiting(r))
	}
	plugins, _ := e.Plugins(paths, t.Dir) // `pawl plugin` reports unreadable ones
	for _, p := range plugins {
		for i, r := range p.Content.Hooks {
			add(r, cmp.Or(p.WhyNot(p.Content.HookParts[i]), waiting(r)))
		}
	}
	rules, parts, err := folder.Hooks(t.Dir)
	if err != nil {
		return nil, err
	}
	v, verr := t.compare(parts) // an unreadable part counts as missing, so it is not trusted
	for i, j := range v.Parts {
		why := j.Why
		if verr != nil {
			why = verr.Error()
		}
		add(rules[i], why)
	}
	idle, err := folder.IdleHooks(t.Dir)
	idle = append(idle, othersHooks(conf.Guards)...)
	if !conf.User.ClaudeSettings {
		idle = append(idle, e.claudeHooks(conf, t.Dir)...)
	}
	for _, r := range idle {
		add(r, "it is among what you have for another agent; to use that: pawl config set claude_settings true")
	}
	return out, err
}

// othersHooks returns the hooks of the person's own settings of another agent.
func othersHooks(guards []claudecode.Settings) (out []hook.Rule) {
	for _, g := range guards {
		var of struct {
			Hooks json.RawMessage `json:"hooks"`
		}
		if g.File.Own && !g.File.Agreed && json.Unmarshal(jsonc.Plain(g.File.Text), &of) == nil {
			rules, _ := hook.Rules(g.File.Name, of.Hooks) // pawl doctor names what is wrong
			out = append(out, rules...)
		}
	}
	return out
}

// joinedHooks are the hooks of the configuration and of the program that drives pawl.
type joinedHooks []hooks.Runner

// joinHooks joins the hooks of a program, nil for none, to the configured ones.
func joinHooks(ours hooks.Runner, program *agentsdk.Hooks) hooks.Runner {
	switch {
	case program == nil:
		return ours
	case ours == nil:
		return program
	}
	return joinedHooks{ours, program}
}

func (j joinedHooks) Rules() (out []hook.Rule) {
	for _, r := range j {
		out = append(out, r.Rules()...)
	}
	return out
}

// Run implements hooks.Runner.
func (j joinedHooks) Run(ctx context.Context, r hook.Rule, input []byte) hook.Ran {
	for _, runner := range j {
		if slices.Contains(runner.Rules(), r) {
			return runner.Run(ctx, r, input)
		}
	}
	return hook.Ran{Command: r.Command, Failed: "no shell can run it"} // this is not an approval
}
