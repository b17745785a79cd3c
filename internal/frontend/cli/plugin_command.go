package cli

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"path"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/pawl-agent/pawl/internal/adapter/plugin"
	"github.com/pawl-agent/pawl/internal/adapter/settings"
	"github.com/pawl-agent/pawl/internal/adapter/skills"
	"github.com/pawl-agent/pawl/internal/frontend/agentsdk"
	"github.com/pawl-agent/pawl/internal/frontend/plain"
	"github.com/pawl-agent/pawl/internal/frontend/setup"
	"github.com/pawl-agent/pawl/internal/policy/trust"
)

// pluginCommand installs, lists, updates and removes plugins.
func pluginCommand(a *App) *cobra.Command {
	var asJSON, yes bool
	c := &cobra.Command{
		Use: "plugin", Short: "Install and manage plugins (skills, commands, hooks, servers)", Args: exactly(0),
		Long: `Plugins add skills, commands, agents, hooks and MCP servers from git repositories, in
the format of Claude Code. Adding a plugin runs nothing: pawl copies the files of one
commit, and asks you whether the plugin's hooks and servers may run.
See doc/extending.md.`,
	}
	list := &cobra.Command{
		Use: "list", Short: "List the installed plugins", Args: exactly(0),
		RunE: func(*cobra.Command, []string) error { return pluginList(a, asJSON) },
	}
	c.RunE = list.RunE
	for _, x := range []*cobra.Command{c, list} {
		x.Flags().BoolVar(&asJSON, "json", false, "print as JSON")
	}
	add := &cobra.Command{
		Use: "add URL|FOLDER[@REF] [NAME]", Short: "Install a plugin; with NAME, the plugin of that name in a marketplace", Aliases: []string{"install"},
		Example: "  pawl plugin add https://git.example.com/tools/reviewer.git@v1.2\n  pawl plugin add owner/marketplace formatter",
		Args:    between(1, 2),
		RunE: func(c *cobra.Command, args []string) error {
			return changePlugins(a, func(p plugins) error { return p.add(c.Context(), args[0], strings.Join(args[1:], ""), yes) })
		},
	}
	one := func(use, short string, run func(p plugins, ctx context.Context, name string) error) *cobra.Command {
		return &cobra.Command{Use: use, Short: short, Args: exactly(1), RunE: func(c *cobra.Command, args []string) error {
			return changePlugins(a, func(p plugins) error { return run(p, c.Context(), args[0]) })
		}}
	}
	update := &cobra.Command{
		Use: "update [NAME]", Short: "Update a plugin, or all; pawl shows the changes and asks first", Args: atMostOne,
		RunE: func(c *cobra.Command, args []string) error {
			return changePlugins(a, func(p plugins) error { return p.update(c.Context(), args, yes) })
		},
	}
	trusts := one("trust NAME|FOLDER", "Show what a plugin runs, and choose whether it may", func(p plugins, _ context.Context, name string) error {
		u, err := p.named(name)
		if err != nil {
			return err
		}
		return p.ask(u, yes)
	})
	remove := one("remove NAME", "Remove a plugin", func(p plugins, _ context.Context, name string) error { return p.remove(name) })
	remove.Aliases = []string{"rm", "uninstall"}
	for _, x := range []*cobra.Command{add, update, trusts} {
		x.Flags().BoolVarP(&yes, "yes", "y", false, "let its hooks and servers run; do not ask for confirmation")
	}
	c.AddCommand(list)
	c.AddCommand(a.forPerson(add, update, trusts, remove)...)
	return c
}

// plugins is the state that the subcommands share.
type plugins struct {
	a     *App
	paths settings.Paths
	store plugin.Store
	git   plugin.Git
}

func changePlugins(a *App, do func(plugins) error) error {
	paths, err := settings.PathsFrom(a.Env)
	if err != nil {
		return err
	}
	starter := a.OwnStarter() // git reaches the network with the person's own credentials
	err = do(plugins{a, paths, plugin.Store{Dir: paths.Plugins()}, plugin.Git{Start: starter, Env: a.Env}})
	return errors.Join(err, starter.Close())
}

func (p plugins) say(format string, args ...any) {
	fmt.Fprintln(wrapped(p.a.Out, true), plain.Line(fmt.Sprintf(format, args...)))
}

func (p plugins) named(name string) (setup.Plugin, error) {
	if strings.ContainsAny(name, `/\`) || name == "." { // for runs that name the folder
		u := p.a.GivenPlugin(p.paths, agentsdk.Plugin{Path: name})
		return u, u.Err
	}
	found, err := p.store.Of(name)
	if err == nil && found == nil {
		err = usageError("unknown plugin %s; pawl plugin list shows all", name)
	}
	if err != nil {
		return setup.Plugin{}, err
	}
	return setup.AssessPlugin(p.store, p.paths, *found), nil
}

func (p plugins) add(ctx context.Context, text, name string, yes bool) error {
	isFolder := func(at string) bool { st, err := os.Stat(at); return err == nil && st.IsDir() }
	from, err := plugin.ParseSource(text, p.a.Dir, isFolder)
	if err != nil {
		return usageError("%w", err)
	}
	f, err := p.store.Fetch(ctx, p.git, from, name)
	if err != nil {
		return p.choice(text, err)
	}
	if was, _ := p.store.Of(f.Name); was != nil { // list reports damaged ones
		return usageError("the plugin %s is installed already, from %s; to update it: pawl plugin update %s, or remove it first", was.Name, was.From, was.Name)
	}
	installed, err := p.install(f)
	if err != nil {
		return err
	}
	return p.ask(installed, yes)
}

// choice prints the plugins of a list, if the person must choose one.
func (p plugins) choice(text string, err error) error {
	var c *plugin.Choice
	if !errors.As(err, &c) {
		return err
	}
	for _, l := range c.Listed {
		p.say("  %s: %s", l.Name, l.Description)
	}
	return usageError("%w; for example: pawl plugin add %s %s", err, text, append(c.Listed, plugin.Listed{Name: "NAME"})[0].Name)
}

// install stores a plugin and shows what it contains. Its texts are used from now on.
func (p plugins) install(f *plugin.Fetched) (setup.Plugin, error) {
	is, err := p.store.Install(f, p.a.Now())
	if err != nil {
		return setup.Plugin{}, err
	}
	u := setup.AssessPlugin(p.store, p.paths, is)
	p.say("%s", pluginLine(u))
	for _, l := range pluginContents(u) {
		p.say("  %s", l)
	}
	if len(f.Pointers) > 0 {
		p.say("  not fetched, because it is stored in git LFS: %s", strings.Join(f.Pointers, ", "))
	}
	return u, u.Err
}

// ask shows what a plugin would run, and stores the person's answer.
func (p plugins) ask(u setup.Plugin, yes bool) error {
	if u.Err != nil {
		return u.Err
	}
	asks := u.Assessment.Asks()
	if len(asks) == 0 {
		return nil
	}
	p.show(asks)
	said, err := p.answer("may these run, in the sandbox? [y]es, [n]o: ", yes)
	if err != nil {
		return fmt.Errorf("its hooks and servers do not run: %w; to allow them later: pawl plugin trust %s", err, cmp.Or(map[bool]string{true: u.Root}[u.Given()], u.Name))
	}
	if err := p.keep(u, said); err != nil {
		return err
	}
	if !said {
		return &exitError{code: 8, err: fmt.Errorf("the hooks and servers of %s do not run; its skills, commands and agents are used", u.Name)}
	}
	return nil
}

func (p plugins) keep(u setup.Plugin, yes bool) error {
	return p.paths.Trust().Keep(trust.Accept(p.store.Key(u.Record), u.Identity(), p.a.Now(), yes, u.Content.All()))
}

// show prints parts with what they run, or what changed in them.
func (p plugins) show(asks []trust.AssessedPart) {
	p.say("pawl would run these programs of the plugin automatically, in every folder:")
	for i, j := range asks {
		if i == shownParts {
			p.say("  … and %d more", len(asks)-i)
			break
		}
		if j.Was == nil {
			j.Lines = slices.DeleteFunc(slices.Clone(j.Lines), func(l string) bool { return strings.HasPrefix(l, "its files: ") })
		}
		showPart(p.say, j, false, 2*shownLines)
	}
}

func (p plugins) answer(question string, yes bool) (bool, error) {
	if yes {
		return true, nil
	}
	return p.a.saysYes(question, "there was no answer; to allow them without a question: --yes")
}

func (p plugins) update(ctx context.Context, names []string, yes bool) error {
	all, warnings := p.store.All()
	p.a.warn(warnings...)
	var failed []error
	found := false
	for _, is := range all {
		if len(names) > 0 && !strings.EqualFold(names[0], is.Name) {
			continue
		}
		found = true
		if err := p.renew(ctx, setup.AssessPlugin(p.store, p.paths, is), yes); err != nil {
			failed = append(failed, fmt.Errorf("%s: %w", is.Name, err))
		}
	}
	if len(names) > 0 && !found {
		return usageError("unknown plugin %s; pawl plugin list shows all", names[0])
	}
	return errors.Join(failed...)
}

// renew updates one plugin. If the update changes what the plugin runs, the person is
// asked first; a no changes nothing.
func (p plugins) renew(ctx context.Context, u setup.Plugin, yes bool) error {
	f, err := p.store.Update(ctx, p.git, u.Plugin)
	if err != nil {
		return err
	}
	changes := u.Changes(f)
	if f.Commit == u.Commit && len(changes) == 0 {
		p.say("%s is up to date, at %s", u.Name, u.Commit[:12])
		return nil
	}
	p.say("%s: %s → %s", u.Name, u.Commit[:12], f.Commit[:12])
	for i, c := range changes {
		if i == 4*shownParts {
			p.say("  … and %d more files", len(changes)-i)
			break
		}
		p.say("  %s", c)
	}
	set, err := f.Set()
	if err != nil {
		return err
	}
	e, err := p.paths.Trust().Of(p.store.Key(u.Record), u.Identity())
	if err != nil {
		return err
	}
	next := trust.Assess(e, f.Identity(), set.All())
	asks := next.Asks()
	trusted := e != nil && !e.No
	if trusted && len(asks) > 0 {
		p.show(asks)
		said, err := p.answer("install this version, and let these run? [y]es, [n]o (keep the installed version): ", yes)
		if err == nil && !said {
			err = &exitError{code: 8, err: errors.New("not updated")}
		}
		if err != nil {
			return err
		}
	}
	if trusted {
		if err := p.keep(setup.Plugin{Plugin: plugin.Plugin{Record: f.Record}, Content: set}, true); err != nil {
			return err
		}
	}
	is, err := p.install(f)
	if err == nil && !trusted {
		err = p.ask(is, yes)
	}
	return err
}

func (p plugins) remove(name string) error {
	u, err := p.store.Of(name)
	switch {
	case u == nil && err == nil:
		return usageError("unknown plugin %s; pawl plugin list shows all", name)
	case err == nil:
		name = u.Name
	}
	_, rerr := p.paths.Trust().Revoke(p.store.Key(plugin.Record{Name: name}))
	if err := errors.Join(rerr, p.store.Remove(name)); err != nil {
		return err
	}
	p.say("removed %s", name)
	return nil
}

// pluginLine returns a plugin as one line.
func pluginLine(u setup.Plugin) string {
	s := u.Name
	if u.Version != "" {
		s += " " + u.Version
	}
	s += " from " + u.From
	if u.Ref != "" {
		s += "@" + u.Ref
	}
	if u.Folder != "" {
		s += " (" + u.Folder + ")"
	}
	s += ", commit " + u.Commit[:12]
	if u.Description != "" {
		s += ": " + u.Description
	}
	return s
}

// pluginContents lists what a plugin contains.
func pluginContents(u setup.Plugin) (out []string) {
	var names []string
	add := func(what string) {
		if len(names) > 0 {
			out = append(out, what+": "+strings.Join(names, ", "))
		}
		names = nil
	}
	folders := func(paths []string) (out []skills.Folder) {
		for _, at := range paths {
			out = append(out, skills.Folder{Root: u.Root, Path: at, Prefix: u.Name + ":"})
		}
		return out
	}
	all, warnings := skills.Load(folders(u.Skills)...)
	for _, s := range all {
		if name := s.Name; s.NoModel {
			names = append(names, "/"+name)
		} else {
			names = append(names, name)
		}
	}
	add("skills")
	commands, more := skills.LoadCommands(folders(u.Commands)...)
	for _, c := range commands {
		names = append(names, "/"+c.Name)
	}
	add("commands")
	kinds, notes := setup.LoadAgents([]setup.Plugin{u})
	for _, k := range kinds {
		if k.File != "" {
			names = append(names, k.Name)
		}
	}
	add("agents")
	for i, h := range u.Content.Hooks {
		name := string(h.Event)
		if h.InactiveBecause != "" {
			name += " (not run: " + h.InactiveBecause + ")"
		} else if u.WhyNot(u.Content.HookParts[i]) != "" {
			name += " (not trusted)"
		}
		names = append(names, name)
	}
	add("hooks")
	for _, s := range u.Content.Parts {
		name, _, _ := strings.Cut(s.Name, " ")
		if u.WhyNot(s) != "" {
			name += " (not trusted)"
		}
		names = append(names, name)
	}
	add("MCP servers")
	names = u.Unused
	add("not used by pawl")
	for _, w := range slices.Concat(warnings, more, notes) {
		out = append(out, "note: "+strings.ReplaceAll(w, u.Root, path.Base(u.Root)))
	}
	return out
}

func pluginList(a *App, asJSON bool) error {
	paths, err := settings.PathsFrom(a.Env)
	if err != nil {
		return err
	}
	store := plugin.Store{Dir: paths.Plugins()}
	all, warnings := store.All()
	a.warn(warnings...)
	if asJSON {
		type listed struct {
			plugin.Record
			plugin.Manifest
			Root    string      `json:"root"`
			Trusted trust.State `json:"trust"`
		}
		out := []listed{}
		for _, p := range all {
			u := setup.AssessPlugin(store, paths, p)
			out = append(out, listed{p.Record, p.Manifest, p.Root, u.Assessment.State})
		}
		return printJSON(a.Out, out)
	}
	say := plugins{a: a}.say
	if len(all) == 0 {
		say("no plugins are installed; to install one: pawl plugin add URL")
	}
	for _, p := range all {
		u := setup.AssessPlugin(store, paths, p)
		say("%s", pluginLine(u))
		for _, l := range pluginContents(u) {
			say("  %s", l)
		}
		if u.Err != nil {
			say("  %v", u.Err)
		}
	}
	return nil
}
