package setup

import (
	"cmp"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/pawl-agent/pawl/internal/adapter/checks"
	"github.com/pawl-agent/pawl/internal/adapter/settings"
	"github.com/pawl-agent/pawl/internal/policy/claudecode"
	"github.com/pawl-agent/pawl/internal/policy/permission"
	"github.com/pawl-agent/pawl/internal/policy/route"
)

func (e *Environment) permissions(opt *Options, c choices, fr Frontend, o *Opened) (*permission.Policy, error) {
	conf, paths, dir := c.conf, c.paths, c.dir
	mode, err := permission.ParseMode(cmp.Or(opt.Mode, conf.User.Mode, string(fr.Mode), string(permission.Default(fr.Person))))
	if err != nil {
		return nil, Usage("%w", err)
	}
	if mode, err = narrowMode(opt, mode, conf.Guards, o); err != nil {
		return nil, err
	}
	grants, err := settings.Grants{Path: paths.Grants()}.List(dir)
	if err != nil {
		return nil, err
	}
	p := permission.New(permission.Config{
		Mode: mode, Root: dir, Home: e.Env("HOME"), RealHome: e.home(), Spill: paths.Spill(), State: paths.State, Own: ownFolders(paths), POSIX: c.posix, Sandbox: c.by.Has, Readable: c.by.Readable, Scratch: c.by.Scratch,
		Runs:    func(line string) []permission.Ran { return checks.Runs(dir, e.Env("PATH"), line) },
		Refused: claudecode.RefusedBy(conf.Guards),
	})
	p.AddRules(claudecode.Join(conf.Guards).Rules)
	for _, set := range []struct {
		from             permission.Source
		allow, ask, deny []string
	}{
		{permission.User, conf.User.Permissions.Allow, conf.User.Permissions.Ask, conf.User.Permissions.Deny},
		{permission.Project, nil, conf.Project.Ask, conf.Project.Deny},
		{permission.Flag, append(c.beside, opt.Allow...), opt.Ask, opt.Deny},
	} {
		if err := p.Add(set.from, set.allow, set.ask, set.deny); err != nil {
			if set.from == permission.Flag {
				return nil, Usage("%w", err)
			}
			return nil, err
		}
	}
	for _, g := range grants {
		rules, err := permission.ParseRules(permission.Allows, permission.User, g.Rule)
		if err != nil {
			return nil, err
		}
		for _, r := range rules {
			p.AddRules([]permission.Rule{r.AgreedAt(g.Agreed)})
		}
	}
	if _, err := only(nil, opt.Tools); err != nil {
		return nil, err
	}
	return p, nameless(p.Rules())
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

// beside returns rules that allow reading other folders. from names who wants it.
func (e *Environment) beside(from string, dirs []string) ([]string, error) {
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
func (e *Environment) taken(opt *Options, c *choices, o *Opened) {
	t := c.conf.Taken
	for _, dir := range t.Dirs {
		rules, err := e.beside("additionalDirectories:", []string{dir})
		if err != nil {
			o.warn(err.Error())
		}
		c.conf.User.Permissions.Allow = append(c.conf.User.Permissions.Allow, rules...)
	}
	if t.Model != "" && c.conf.User.Model == "" && opt.Model == "" {
		if _, err := e.Resolve(t.Model, c.conf); err != nil {
			o.warn(fmt.Sprintf("the model %s of ~/%s cannot be used: %v", t.Model, claudecode.Own, err))
		} else {
			c.conf.User.Model = t.Model
		}
	}
}

// routes returns how prompts are routed: by the flag or, without one, the user's
// setting.
func routes(opt *Options, conf settings.Settings) (route.Config, error) {
	mode, err := route.ParseMode(cmp.Or(opt.Route, conf.Route))
	if err != nil {
		return route.Config{}, Usage("%w", err)
	}
	return route.Config{Mode: mode, Model: conf.RouteModel != nil && *conf.RouteModel}, nil
}
