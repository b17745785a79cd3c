package setup

import (
	"cmp"
	"context"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"time"

	"github.com/pawl-agent/pawl/internal/adapter/folder"
	"github.com/pawl-agent/pawl/internal/adapter/mcp"
	"github.com/pawl-agent/pawl/internal/adapter/settings"
	"github.com/pawl-agent/pawl/internal/adapter/shell"
	"github.com/pawl-agent/pawl/internal/core/event"
	"github.com/pawl-agent/pawl/internal/policy/budget"
	"github.com/pawl-agent/pawl/internal/policy/permission"
	"github.com/pawl-agent/pawl/internal/policy/phase"
	"github.com/pawl-agent/pawl/internal/policy/route"
	"github.com/pawl-agent/pawl/internal/policy/secrets"
)

// choices are the values of options, settings and environment. What is slow and depends
// on few of them is started in parallel.
type choices struct {
	dir      string
	beside   []string     // rules that allow reading the folders of --add-dir
	given    []mcp.Server // from --mcp-config, or from the editor
	strict   bool         // only those, and no configured ones
	paths    settings.Paths
	conf     settings.Loaded
	plan     []event.PhaseStep
	limits   budget.Limits
	retry    time.Duration
	posix    bool
	perm     *permission.Policy
	routes   route.Config
	trust    *Trust
	plugins  []Plugin
	by       Confinement
	keys     <-chan []secrets.File       // files of secrets of the folder and the home; read in parallel
	store    func() (event.Store, error) // waits for the store, which is opened in parallel
	readOnly bool                        // as Frontend.ReadOnly
}

func (e *Environment) choices(ctx context.Context, opt *Options, fr Frontend, o *Opened) (choices, error) {
	c, err := e.readFolder(opt, fr)
	if err != nil {
		return c, err
	}
	if !fr.ReadOnly {
		if err := e.keepGuards(opt, c, o); err != nil {
			return c, err
		}
		e.taken(opt, &c, o)
	}
	c.store = e.openingStore(ctx, opt, c.paths, c.conf, o)
	var confined func() (Confinement, string, error) // runs in parallel
	if !fr.ReadOnly {
		confined = e.confining(opt, c.conf, c.paths, c.dir, fr.OwnFolder)
	}
	if e.wide(c.dir) {
		o.warn(c.dir + " is not the folder of a project: pawl asks before every change here, except in the mode yolo; start pawl in a project's folder")
	}
	o.warn(c.conf.Warnings...)
	if !fr.ReadOnly { // a folder that is not there is told before a model that is not
		if c.plugins, err = e.usePlugins(opt, c.paths, c.dir, c.conf.Guards, o); err != nil {
			return c, err
		}
	}
	if err := e.chooseModels(ctx, opt, fr, &c, o); err != nil {
		return c, err
	}
	c.posix = shell.New(shell.Options{Root: c.dir}).POSIX() // starts nothing
	if confined != nil {
		warning := ""
		if c.by, warning, err = confined(); err != nil {
			return c, err
		}
		if warning != "" {
			o.Warnings = append([]string{warning}, o.Warnings...)
		}
		if err := keepSandbox(c, o); err != nil {
			return c, err
		}
	}
	if c.perm, err = e.permissions(opt, c, fr, o); err != nil {
		return c, err
	}
	if c.routes, err = routes(opt, c.conf.User); err != nil || fr.ReadOnly {
		return c, err
	}
	return c, e.chooseTrust(opt, fr, &c, o)
}

// readFolder reads the folders and files that the options name, and the configuration.
func (e *Environment) readFolder(opt *Options, fr Frontend) (c choices, err error) {
	c.readOnly = fr.ReadOnly
	if c.dir, err = e.RealDir(opt.Dir); err != nil {
		return c, err
	}
	if c.beside, err = e.beside("--add-dir", opt.AddDirs); err != nil {
		return c, err
	}
	if c.given, err = e.givenServers(opt, c.dir); err != nil {
		return c, err
	}
	keys := make(chan []secrets.File, 1)
	go func(dir, home string) { keys <- append(folder.Keys(dir), folder.HomeKeys(home)...) }(c.dir, e.home())
	c.keys = keys
	if c.plan, err = e.planFile(opt.Plan); err != nil {
		return c, err
	}
	if c.paths, err = settings.PathsFrom(e.Env); err != nil {
		return c, err
	}
	if opt.NoSession {
		c.paths.Results = filepath.Join(os.TempDir(), "pawl-"+NewID())
	}
	var originals []string
	if opt.TrustedAs != "" {
		originals = append(originals, opt.TrustedAs)
	}
	if c.conf, err = settings.Load(c.paths, c.dir, originals...); err != nil {
		return c, err
	}
	c.conf.User.Effort, c.conf.TaskBudget = cmp.Or(opt.Effort, c.conf.User.Effort), opt.TaskBudget
	c.strict = opt.StrictMCP
	given, err := e.givenSettings(opt, c.dir)
	c.conf.Guards = append(c.conf.Guards, given...)
	e.JudgeStyles(c.dir, c.conf.Guards)
	return c, err
}

// chooseModels chooses the model and the limits of its use. It opens no model.
func (e *Environment) chooseModels(ctx context.Context, opt *Options, fr Frontend, c *choices, o *Opened) (err error) {
	if fr.ReadOnly {
		o.model = offlineChoice("the session is only read")
	} else if o.model, err = e.chooseModel(ctx, opt, c.conf, fr); err != nil {
		return err
	}
	if c.limits, err = limits(opt, c.conf.User.Budget, fr.Person, o.model.Info); err != nil {
		return err
	}
	if c.retry, err = retryFor(opt, c.conf); err != nil {
		return err
	}
	for _, ref := range fallback(opt, c.conf) {
		if _, err := e.Resolve(ref, c.conf); err != nil && !fr.ReadOnly {
			o.warn(fmt.Sprintf("the fallback model %s cannot be used: %v", ref, err))
		}
	}
	if c.limits.Assumed && o.model.Info.Price == nil {
		o.warn(fmt.Sprintf("the price of the model is unknown: costs are not counted, and the budget of $%.2f has no effect", c.limits.USD))
	}
	return nil
}

// wide reports whether a folder is not that of a project.
func (e *Environment) wide(dir string) bool {
	return permission.HoldsHome(dir, e.Env("HOME")) || permission.HoldsHome(dir, e.home())
}

// chooseTrust decides what the folder may run.
func (e *Environment) chooseTrust(opt *Options, fr Frontend, c *choices, o *Opened) (err error) {
	if c.trust, err = e.folderTrust(opt, *c, fr, o); err != nil {
		return err
	}
	if c.by.Has.Workspace || e.wide(c.dir) { // the sandbox confines the folder's checks, or there are none of a project
		return nil
	}
	trusted, err := c.trust.allChecks(finderOf(c.conf.User, c.dir, e.Env))
	if trusted {
		c.perm.Trust()
	}
	return err
}

// maxPlan is the size limit of a plan file, in bytes.
const maxPlan = 1 << 20

// planFile reads the phases of a plan file; it returns nil for the name "".
func (e *Environment) planFile(name string) ([]event.PhaseStep, error) {
	if name == "" {
		return nil, nil
	}
	f, err := os.Open(e.Path(name))
	if err != nil {
		return nil, Usage("cannot read the plan: %w", err)
	}
	defer f.Close()
	if st, err := f.Stat(); err != nil || !st.Mode().IsRegular() {
		return nil, Usage("the plan %s is not a file", name)
	}
	text, err := io.ReadAll(io.LimitReader(f, maxPlan+1))
	switch {
	case err != nil:
		return nil, Usage("cannot read the plan %s: %w", name, err)
	case len(text) > maxPlan:
		return nil, Usage("the plan %s is longer than 1 MB", name)
	}
	steps, err := phase.ParsePlan(string(text))
	if err != nil {
		return nil, Usage("the plan %s cannot be used: %w", name, err)
	}
	return steps, nil
}
