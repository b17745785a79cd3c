package setup

import (
	"errors"
	"maps"
	"os"
	"slices"
	"strings"

	"github.com/pawl-agent/pawl/internal/adapter/sandbox"
	"github.com/pawl-agent/pawl/internal/adapter/settings"
	"github.com/pawl-agent/pawl/internal/adapter/shell"
	"github.com/pawl-agent/pawl/internal/core/fault"
	"github.com/pawl-agent/pawl/internal/core/process"
	"github.com/pawl-agent/pawl/internal/policy/confine"
	"github.com/pawl-agent/pawl/internal/policy/permission"
)

// Confinement describes how the commands of a session are confined (SPEC 16.12).
type Confinement struct {
	boxes   *sandbox.Boxes     // nil: they are not confined
	apart   []string           // see shell.StarterOptions
	extra   map[string]string  // variables of the person's, beside the usual ones
	Has     permission.Sandbox // what the sandbox can do here
	Warning string             // what is missing, and what that means; "" for nothing
	// Readable is what commands may read, confined or not: see permission.Config.
	Readable func() confine.Policy
	// Scratch is as permission.Config.Scratch.
	Scratch func(path string, write bool) bool
}

// Confine determines how commands can be confined in a folder. If something is missing, and
// the user configured a sandbox, that is an error. For a folder that pawl made itself
// nothing is stored.
func (e *Environment) Confine(opt *Options, conf settings.Loaded, paths settings.Paths, dir string, made bool) (by Confinement, err error) {
	want, from := opt.Sandbox, "--sandbox"
	if want == "" {
		want, from = conf.User.Sandbox, "\"sandbox\" of your configuration"
	}
	boxes := sandbox.NewBoxes(e.Env, dir, paths.Spill(), paths.State, paths.Config)
	boxes.Temporary, boxes.Self = opt.NoSession || made, e.Self
	boxes.Short = pressure(conf.User.Resources, e.Now, dir)
	by.Readable, by.apart, by.extra = boxes.Readable, e.apart(dir, opt.TrustedAs), conf.Taken.Env
	switch want {
	case "off":
		by.Has.Off = true
		return by, nil
	case "", "workspace", "read-only":
	default:
		return by, Usage("%s is %q: use workspace, read-only or off", from, want)
	}
	missing := func(what string, err error) (Confinement, error) {
		if want != "" {
			return by, fault.NewConfiguration("see pawl doctor; to run commands without a sandbox: --sandbox off", "%s requires the sandbox %q, but %s: %v", from, want, what, err)
		}
		then := "a folder's checks need a permission unless you trust the folder, and an allowed command has all your rights"
		if errors.Is(err, confine.ErrPolicy) {
			then = "every command needs a permission, and an allowed command has all your rights"
			if by.boxes != nil {
				then = strings.Replace(then, "every", "every other", 1)
			}
		}
		by.Warning = what + ": " + err.Error() + "; " + then + " (see pawl doctor)"
		return by, nil
	}
	readOnly, workspace := boxes.Try()
	if readOnly != nil {
		return missing("there is no sandbox for commands", readOnly)
	}
	by.boxes = boxes
	by.Has = permission.Sandbox{ReadOnly: true, Workspace: workspace == nil, Narrow: want == "read-only", Configured: want != "", Holds: sandbox.Holds}
	by.Scratch = boxes.Scratch
	if workspace != nil && want != "read-only" {
		return missing("there is a sandbox only for commands that read", workspace)
	}
	return by, nil
}

// Confined reports whether commands are confined at all.
func (by Confinement) Confined() bool { return by.boxes != nil }

// Starter returns a starter of processes that applies this confinement. stop ends the
// processes and removes the files that they leave.
func (by Confinement) Starter() (start *shell.Starter, stop func()) {
	opt := shell.StarterOptions{Apart: by.apart, Allow: slices.Sorted(maps.Keys(by.extra))}
	if by.boxes != nil {
		opt.Confiner = by.boxes
	}
	if len(by.extra) > 0 {
		opt.Env = func() []string {
			env := slices.DeleteFunc(os.Environ(), func(kv string) bool {
				name, _, _ := strings.Cut(kv, "=")
				return slices.Contains(opt.Allow, name)
			})
			for _, name := range opt.Allow {
				env = append(env, name+"="+by.extra[name])
			}
			return env
		}
	}
	start = shell.NewStarter(opt)
	return start, func() {
		_ = start.Close()
		if by.boxes != nil {
			_ = by.boxes.Close()
		}
	}
}

// Off is this confinement without a sandbox.
func (by Confinement) Off() Confinement { return Confinement{apart: by.apart, extra: by.extra} }

// Git returns how pawl's own git is confined.
func (by Confinement) Git() process.Confine {
	if by.boxes == nil {
		return process.Free
	}
	return process.Confine{}
}
