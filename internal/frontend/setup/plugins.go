package setup

import (
	"fmt"
	"slices"
	"strings"

	"github.com/pawl-agent/pawl/internal/adapter/mcp"
	"github.com/pawl-agent/pawl/internal/adapter/plugin"
	"github.com/pawl-agent/pawl/internal/adapter/settings"
	"github.com/pawl-agent/pawl/internal/core/process"
	"github.com/pawl-agent/pawl/internal/frontend/agentsdk"
	"github.com/pawl-agent/pawl/internal/policy/claudecode"
	"github.com/pawl-agent/pawl/internal/policy/hook"
	"github.com/pawl-agent/pawl/internal/policy/trust"
)

// Plugin is an installed plugin with the judgement of which of its parts may run.
type Plugin struct {
	plugin.Plugin
	Content    plugin.Set
	Assessment trust.Assessment
	Err        error // why no part of it runs
}

// Plugins returns the plugins in given folders and the installed ones, of which none is read
// from a workspace, where a repository could contain a forged one. A given one replaces an
// installed one of its name.
func (e *Environment) Plugins(paths settings.Paths, dir string, given ...agentsdk.Plugin) (out []Plugin, warnings []string) {
	for _, g := range given {
		out = append(out, e.GivenPlugin(paths, g))
	}
	store := plugin.Store{Dir: paths.Plugins()}
	all, warnings := store.All()
	if len(all) > 0 && (settings.Trust{Dir: store.Dir}).Within(dir, e.Env("HOME")) {
		return out, append(warnings, "plugins are not used: "+store.Dir+" is in this folder; set PAWL_HOME to a folder outside it")
	}
	for _, p := range all {
		if !slices.ContainsFunc(out, func(o Plugin) bool { return strings.EqualFold(o.Name, p.Name) }) {
			out = append(out, AssessPlugin(store, paths, p))
		}
	}
	return out, warnings
}

// GivenPlugin reads and judges the plugin in a folder.
func (e *Environment) GivenPlugin(paths settings.Paths, g agentsdk.Plugin) Plugin {
	at, err := RealPath(e.Path(g.Path))
	if err != nil {
		return Plugin{Plugin: plugin.Plugin{Root: g.Path}, Err: err}
	}
	p, err := plugin.InFolder(at, !g.NoServers)
	if err != nil {
		return Plugin{Plugin: p, Err: err}
	}
	return AssessPlugin(plugin.Store{}, paths, p)
}

// plugins are the folders with plugins for this run.
func (opt *Options) plugins() []agentsdk.Plugin {
	return slices.Concat(opt.Plugins, opt.Driver.Plugins)
}

// AssessPlugin reads what a plugin would run, and judges it.
func AssessPlugin(store plugin.Store, paths settings.Paths, p plugin.Plugin) Plugin {
	u := Plugin{Plugin: p}
	if u.Content, u.Err = p.Set(); u.Err != nil {
		return u
	}
	e, err := paths.Trust().Of(store.Key(p.Record), p.Identity())
	u.Assessment, u.Err = trust.Assess(e, p.Identity(), u.Content.All()), err
	return u
}

// usePlugins returns the plugins of a session, and warns of the parts that do not run. Parts
// of a given one stop the start: whoever gave it counts on its hooks.
func (s *opening) usePlugins() error {
	all, warnings := s.Plugins(s.paths, s.session.Dir, s.opt.plugins()...)
	s.o.warn(warnings...)
	off := claudecode.Join(s.conf.Guards).Plugins
	isOff := func(p Plugin) bool {
		return slices.ContainsFunc(off, func(n string) bool { return strings.EqualFold(n, p.Name) })
	}
	all = slices.DeleteFunc(all, func(p Plugin) bool { return isOff(p) && !p.Given() })
	for _, p := range all {
		s.o.Plugins = append(s.o.Plugins, p.Plugin)
		switch asks := p.Assessment.Asks(); {
		case p.Given() && p.Err != nil:
			return Usage("the plugin in %s cannot be used: %w", p.Root, p.Err)
		case p.Given() && isOff(p):
			return Usage("the plugin in %s is switched off by the settings of Claude Code here (enabledPlugins)", p.Root)
		case p.Given() && len(asks) > 0 && !s.opt.Trust:
			return Usage("the plugin in %s would run %d hooks and servers that are not trusted; to look at them and trust them: pawl plugin trust %s", p.Root, len(asks), p.Root)
		case p.Given():
			for i := range p.Assessment.Parts { // --trust is only for people: folderTrust
				p.Assessment.Parts[i].Trusted = p.Assessment.Parts[i].Kind.Runs()
			}
		case p.Err != nil:
			s.o.warn(fmt.Sprintf("the hooks and servers of the plugin %s do not run: %v", p.Name, p.Err))
		case len(asks) > 0 && !p.Assessment.Declined:
			why := "they are not trusted"
			if p.Assessment.State == trust.Changed {
				why = "they changed since you trusted them"
			}
			s.o.warn(fmt.Sprintf("%d hooks and servers of the plugin %s do not run: %s; to trust them: pawl plugin trust %s", len(asks), p.Name, why, p.Name))
		}
	}
	s.plugins = all
	return nil
}

// WhyNot returns why a part of the plugin does not run, "" if it does.
func (u Plugin) WhyNot(p trust.Part) string {
	if u.Err != nil {
		return u.Err.Error()
	}
	for _, j := range u.Assessment.Parts {
		if j.Key() == p.Key() && j.Trusted {
			return ""
		}
	}
	return "the plugin is not trusted; to trust it: pawl plugin trust " + u.Name
}

func pluginHooks(all []Plugin) (out []hook.Rule) {
	for _, p := range all {
		for i, r := range p.Content.Hooks {
			if p.WhyNot(p.Content.HookParts[i]) == "" {
				out = append(out, r)
			}
		}
	}
	return out
}

// changedHook returns what changed in a hook's plugin since the hook was judged, "" for
// nothing.
func changedHook(all []Plugin, r hook.Rule) string {
	return changedPlugin(all, r.Root, func(s plugin.Set) (trust.Part, bool) {
		i := slices.IndexFunc(s.Hooks, func(x hook.Rule) bool { return x.From == r.From && x.Name == r.Name })
		if i < 0 {
			return trust.Part{}, false
		}
		return s.HookParts[i], true
	})
}

// changedServer returns what changed in what a server runs since it was trusted.
func (s *opening) changedServer(of mcp.Server) string {
	if of.Root == "" {
		return s.o.Trust.changedServer(of)
	}
	return changedPlugin(s.plugins, of.Root, func(set plugin.Set) (trust.Part, bool) {
		i := slices.IndexFunc(set.Parts, func(p trust.Part) bool { return strings.HasPrefix(p.Name, of.Name+" (") })
		if i < 0 {
			return trust.Part{}, false
		}
		return set.Parts[i], true
	})
}

func changedPlugin(all []Plugin, root string, part func(plugin.Set) (trust.Part, bool)) string {
	i := slices.IndexFunc(all, func(p Plugin) bool { return p.Root == root })
	if i < 0 {
		return "its plugin is not installed"
	}
	now, err := all[i].Plugin.Set()
	if err != nil {
		return err.Error()
	}
	was, ok := part(all[i].Content)
	is, still := part(now)
	if !ok || !still || was.Hash == "" || is.Hash != was.Hash {
		return fmt.Sprintf("files of the plugin %s changed since this session began: %s (see pawl plugin update)", all[i].Name, strings.Join(trust.Differ(was, is), ", "))
	}
	return ""
}

// pluginServers returns the trusted servers of plugins. They are treated like a
// folder's: confined, and without pawl's keys.
func (e *Environment) pluginServers(all []Plugin) (out []mcp.Server, warnings []string) {
	for _, p := range all {
		if p.Content.Servers == nil {
			continue
		}
		env := func(name string) string {
			if slices.Contains(plugin.RootVars, name) {
				return p.Root
			}
			return e.withoutKeys(name)
		}
		list, err := mcp.Parse("plugin "+p.Name, p.Content.Servers, true, env)
		if err != nil {
			warnings = append(warnings, err.Error())
		}
		for _, s := range list {
			part := slices.IndexFunc(p.Content.Parts, func(x trust.Part) bool { return strings.HasPrefix(x.Name, s.Name+" (") })
			if part < 0 || p.WhyNot(p.Content.Parts[part]) != "" {
				continue // reported with the plugin
			}
			if s.Problem != "" {
				warnings = append(warnings, "the MCP server "+s.Name+" cannot be used: "+s.Problem)
			}
			s.Root = p.Root
			for _, v := range plugin.RootVars {
				s.Env[v] = p.Root
			}
			out = append(out, s)
		}
	}
	return out, warnings
}

// withReads returns a confinement that may also read a plugin's folder.
func withReads(c process.Confine, root string) process.Confine {
	if root != "" && c.Level != process.Unconfined {
		c.Reads = append(slices.Clone(c.Reads), root)
	}
	return c
}
