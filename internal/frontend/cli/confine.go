package cli

import (
	"errors"
	"os"
	"path/filepath"
	"strings"

	"github.com/pawl-agent/pawl/internal/adapter/sandbox"
	"github.com/pawl-agent/pawl/internal/adapter/settings"
	"github.com/pawl-agent/pawl/internal/adapter/shell"
	"github.com/pawl-agent/pawl/internal/core/fault"
	"github.com/pawl-agent/pawl/internal/core/process"
	"github.com/pawl-agent/pawl/internal/policy/confine"
	"github.com/pawl-agent/pawl/internal/policy/permission"
)

// confinedBy is how the commands of a session are confined (SPEC 16.12).
type confinedBy struct {
	boxes *sandbox.Boxes // nil: they are not confined
	has   permission.Sandbox
}

// confining finds out how commands can be confined in a folder. warning names
// what is missing; if a person configured a sandbox, that is an error. For a
// folder that pawl made itself nothing is kept. The test runs in parallel with
// the rest of the start; the result waits for it.
func (a *App) confining(f *flags, conf settings.Loaded, paths settings.Paths, dir string, made bool) func() (by confinedBy, warning string, err error) {
	var by confinedBy
	var warning string
	var err error
	done := make(chan struct{})
	go func() {
		defer close(done)
		by, warning, err = a.tryConfining(f, conf, paths, dir, made)
	}()
	return func() (confinedBy, string, error) {
		<-done
		return by, warning, err
	}
}

func (a *App) tryConfining(f *flags, conf settings.Loaded, paths settings.Paths, dir string, made bool) (by confinedBy, warning string, err error) {
	want, from := f.sandbox, "--sandbox"
	if want == "" {
		want, from = conf.User.Sandbox, "\"sandbox\" of your configuration"
	}
	switch want {
	case "off":
		by.has.Off = true
		return by, "", nil
	case "", "workspace", "read-only":
	default:
		return by, "", usageError("%s is %q: use workspace, read-only or off", from, want)
	}
	missing := func(what string, err error) (confinedBy, string, error) {
		if want != "" {
			return by, "", fault.NewConfiguration("see: pawl doctor; --sandbox off runs commands without it", "%s asks for a sandbox (%s), and %s: %v", from, want, what, err)
		}
		then := "the mode auto behaves as accept-edits, a folder's checks ask unless you trust it, and what is allowed may do all that you may"
		if errors.Is(err, confine.ErrPolicy) {
			then = "every command asks, and what is allowed may do all that you may"
			if by.boxes != nil {
				then = strings.Replace(then, "every", "every other", 1)
			}
		}
		return by, what + ": " + err.Error() + "; " + then + " (see: pawl doctor)", nil
	}
	boxes := sandbox.NewBoxes(a.Env, dir, paths.Spill(), paths.State, paths.Config)
	boxes.Temporary, boxes.Self = f.noSession || made, a.Self
	readOnly, workspace := boxes.Try()
	if readOnly != nil {
		return missing("commands are not confined", readOnly)
	}
	by = confinedBy{boxes, permission.Sandbox{ReadOnly: true, Workspace: workspace == nil, Narrow: want == "read-only", Named: want != ""}}
	if workspace != nil && want != "read-only" {
		return missing("only commands that just read are confined", workspace)
	}
	return by, "", nil
}

// git returns how pawl's own git is confined.
func (by confinedBy) git() process.Confine {
	if by.boxes == nil {
		return process.Free
	}
	return process.Confine{}
}

// starter returns the starter of a session's processes. What it leaves is
// removed after it is closed.
func (o *opened) starter(by confinedBy) *shell.Starter {
	if by.boxes == nil {
		return shell.NewStarter(shell.StarterOptions{})
	}
	o.closers = append(o.closers, by.boxes.Close)
	return shell.NewStarter(shell.StarterOptions{Confiner: by.boxes})
}

func (a *App) permissions(f *flags, c choices, fr front) (*permission.Policy, error) {
	conf, paths, dir := c.conf, c.paths, c.dir
	name := first(f.mode, conf.User.Mode)
	if name == "" {
		name = "accept-edits"
		if fr.person {
			name = "ask"
		}
	}
	mode, err := permission.ParseMode(name)
	if err != nil {
		return nil, usageError("%w", err)
	}
	grants, err := settings.Grants{Path: paths.Grants()}.List(dir)
	if err != nil {
		return nil, err
	}
	beside, err := a.beside(f)
	if err != nil {
		return nil, err
	}
	p := permission.New(permission.Config{
		Mode: mode, Root: dir, Home: a.Env("HOME"), RealHome: a.home(), Spill: paths.Spill(), State: paths.State, Own: ownFolders(paths), POSIX: c.posix, Sandbox: c.by.has,
	})
	for _, set := range []struct {
		from             permission.Source
		allow, ask, deny []string
	}{
		{permission.User, conf.User.Permissions.Allow, conf.User.Permissions.Ask, conf.User.Permissions.Deny},
		{permission.User, grants, nil, nil},
		{permission.Project, nil, conf.Project.Ask, conf.Project.Deny},
		{permission.Flag, append(beside, f.allow...), nil, f.deny},
	} {
		if err := p.Add(set.from, set.allow, set.ask, set.deny); err != nil {
			if set.from == permission.Flag {
				return nil, usageError("%w", err)
			}
			return nil, err
		}
	}
	return p, nil
}

// home returns the real path of the home folder, "" if it does not exist.
func (a *App) home() string {
	home := a.Env("HOME")
	if home == "" {
		return ""
	}
	real, err := realPath(home)
	if err != nil {
		return ""
	}
	return real
}

// ownFolders returns the real paths of pawl's own folders: no command may read them.
func ownFolders(paths settings.Paths) []string {
	out := []string{paths.Config}
	for _, p := range []string{paths.Config, paths.State} {
		if real, err := realPath(p); err == nil { // one that is not there yet has its own name only
			out = append(out, real)
		}
	}
	return out
}

// examineConfining reports how the commands of a session here would be confined.
func (a *App) examineConfining(conf settings.Loaded, paths settings.Paths) finding {
	f := finding{what: "commands here"}
	dir, err := realPath(a.Dir)
	if err != nil {
		f.is = err.Error()
		return f
	}
	by, warning, err := a.tryConfining(&flags{}, conf, paths, dir, false)
	switch {
	case err != nil:
		f.is = err.Error()
	case warning != "":
		f.is, f.do = warning, "see doc/sandbox.md"
	case by.boxes == nil:
		f.is = "not confined, as your configuration says"
	case by.has.Narrow:
		f.ok, f.is = true, "confined to reading, as your configuration says"
	default:
		f.ok, f.is = true, "confined, each as its permission says"
	}
	return f
}

// beside returns the rules that allow reading the folders of --add-dir.
func (a *App) beside(f *flags) ([]string, error) {
	var out []string
	for _, dir := range f.addDirs {
		if !filepath.IsAbs(dir) {
			dir = filepath.Join(a.Dir, dir)
		}
		real, err := realPath(dir)
		if err != nil {
			return nil, usageError("--add-dir %s: %w", dir, err)
		}
		if st, err := os.Stat(real); err != nil || !st.IsDir() || strings.ContainsAny(real, "*?[]{}(),\n") {
			return nil, usageError("--add-dir %s: it is no folder, or its name has signs that stand for others in a rule", dir)
		}
		if permission.Wide(real, a.Env("HOME")) || permission.Wide(real, a.home()) {
			return nil, usageError("--add-dir %s: it holds keys and other projects; name the folder that is needed", dir)
		}
		out = append(out, "read("+filepath.ToSlash(real)+"/**)")
	}
	return out, nil
}
