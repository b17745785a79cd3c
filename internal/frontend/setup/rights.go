package setup

import (
	"cmp"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/pawl-agent/pawl/internal/adapter/checks"
	"github.com/pawl-agent/pawl/internal/adapter/settings"
	"github.com/pawl-agent/pawl/internal/adapter/shell"
	"github.com/pawl-agent/pawl/internal/policy/claudecode"
	"github.com/pawl-agent/pawl/internal/policy/permission"
	"github.com/pawl-agent/pawl/internal/policy/route"
)

// permissions sets what is allowed, from all who have a say in it.
func (s *opening) permissions() error {
	conf, opt, dir, by := s.conf, s.opt, s.session.Dir, s.o.Confinement
	mode, err := permission.ParseMode(cmp.Or(opt.Mode, conf.User.Mode, string(s.fr.Mode), string(permission.Default(s.fr.Person))))
	if err != nil {
		return Usage("%w", err)
	}
	if mode, err = s.narrowMode(mode); err != nil {
		return err
	}
	grants, err := settings.Grants{Path: s.paths.Grants()}.List(dir)
	if err != nil {
		return err
	}
	s.posix = shell.New(shell.Options{Root: dir}).POSIX() // starts nothing
	p := permission.New(permission.Config{
		Mode: mode, Root: dir, Home: s.Env("HOME"), RealHome: s.home(), Spill: s.paths.Spill(), State: s.paths.State, Own: ownFolders(s.paths), POSIX: s.posix, Sandbox: by.Has, Readable: by.Readable, Scratch: by.Scratch,
		Runs:    func(line string) []permission.Ran { return checks.Runs(dir, s.Env("PATH"), line) },
		Refused: claudecode.RefusedBy(conf.Guards),
	})
	s.session.Permission = p
	p.AddRules(claudecode.Join(conf.Guards).Rules)
	for _, set := range []struct {
		from             permission.Source
		allow, ask, deny []string
	}{
		{permission.User, conf.User.Permissions.Allow, conf.User.Permissions.Ask, conf.User.Permissions.Deny},
		{permission.Project, nil, conf.Project.Ask, conf.Project.Deny},
		{permission.Flag, append(s.beside, opt.Allow...), opt.Ask, opt.Deny},
	} {
		if err := p.Add(set.from, set.allow, set.ask, set.deny); err != nil {
			if set.from == permission.Flag {
				return Usage("%w", err)
			}
			return err
		}
	}
	for _, g := range grants {
		rules, err := permission.ParseRules(permission.Allows, permission.User, g.Rule)
		if err != nil {
			return err
		}
		for _, r := range rules {
			p.AddRules([]permission.Rule{r.AgreedAt(g.Agreed)})
		}
	}
	if _, err := only(nil, opt.Tools); err != nil {
		return err
	}
	return nameless(p.Rules())
}

// home returns the real path of the home folder, "" if it does not exist.
func (e *Environment) home() string {
	home := e.Env("HOME")
	if home == "" {
		return ""
	}
	real, err := RealPath(home)
	if err != nil {
		return ""
	}
	return real
}

// ownFolders returns the real paths of pawl's own folders: no command may read them.
func ownFolders(paths settings.Paths) []string {
	out := []string{paths.Config}
	for _, p := range []string{paths.Config, paths.State} {
		if real, err := RealPath(p); err == nil { // a folder that does not exist yet has no other path
			out = append(out, real)
		}
	}
	return out
}

// rulesBeside returns rules that allow reading other folders. from names who wants it.
func (e *Environment) rulesBeside(from string, dirs []string) ([]string, error) {
	var out []string
	for _, dir := range dirs {
		if rest, ok := strings.CutPrefix(dir, "~/"); ok {
			dir = filepath.Join(e.Env("HOME"), rest)
		}
		if !filepath.IsAbs(dir) {
			dir = filepath.Join(e.Dir, dir)
		}
		real, err := RealPath(dir)
		if err != nil {
			return nil, Usage("%s %s: %w", from, dir, err)
		}
		if st, err := os.Stat(real); err != nil || !st.IsDir() || strings.ContainsAny(real, "*?[]{}(),\n") {
			return nil, Usage("%s %s: it is not a folder, or its name contains one of *?[]{}(),", from, dir)
		}
		if permission.HoldsHome(real, e.Env("HOME")) || permission.HoldsHome(real, e.home()) {
			return nil, Usage("%s %s: it contains keys and other projects; name only the folder that you need", from, dir)
		}
		out = append(out, "read("+filepath.ToSlash(real)+"/**)")
	}
	return out, nil
}

// taken uses what the person's own settings for Claude Code give and this machine has.
func (s *opening) taken() {
	t, user := s.conf.Taken, &s.conf.User
	for _, dir := range t.Dirs {
		rules, err := s.rulesBeside("additionalDirectories:", []string{dir})
		if err != nil {
			s.o.warn(err.Error())
		}
		user.Permissions.Allow = append(user.Permissions.Allow, rules...)
	}
	if t.Model != "" && user.Model == "" && s.opt.Model == "" {
		if _, err := s.Resolve(t.Model, s.conf); err != nil {
			s.o.warn(fmt.Sprintf("the model %s of ~/%s cannot be used: %v", t.Model, claudecode.Own, err))
		} else {
			user.Model = t.Model
		}
	}
}

// routes sets how prompts are routed: by the flag or, without one, the user's setting.
func (s *opening) routes() error {
	mode, err := route.ParseMode(cmp.Or(s.opt.Route, s.conf.User.Route))
	if err != nil {
		return Usage("%w", err)
	}
	model := s.conf.User.RouteModel
	s.session.Route = route.Config{Mode: mode, Model: model != nil && *model}
	return nil
}
