package setup

import (
	"cmp"
	"context"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"sync"

	"github.com/pawl-agent/pawl/internal/adapter/folder"
	"github.com/pawl-agent/pawl/internal/adapter/settings"
	"github.com/pawl-agent/pawl/internal/core/event"
	"github.com/pawl-agent/pawl/internal/policy/permission"
	"github.com/pawl-agent/pawl/internal/policy/phase"
	"github.com/pawl-agent/pawl/internal/policy/secrets"
)

// choose decides from options, settings and environment.
func (s *opening) choose(ctx context.Context) error {
	if err := s.readFolder(); err != nil {
		return err
	}
	dir, own := s.session.Dir, !s.fr.ReadOnly
	if own {
		if err := s.keepGuards(); err != nil {
			return err
		}
		s.taken()
	}
	s.openStore(ctx)
	confined := sync.OnceValues(func() (Confinement, error) { return s.Confine(s.opt, s.conf, s.paths, dir, s.fr.OwnFolder) })
	if own {
		go confined()
	}
	if s.wide(dir) {
		s.o.warn(dir + " is not the folder of a project: pawl asks before every change here, except in the mode yolo; start pawl in a project's folder")
	}
	s.o.warn(s.conf.Warnings...)
	if own { // a folder that is not there is told before a model that is not
		if err := s.usePlugins(); err != nil {
			return err
		}
	}
	if err := s.chooseModels(ctx); err != nil {
		return err
	}
	if own {
		var err error
		if s.o.Confinement, err = confined(); err != nil {
			return err
		}
		if w := s.o.Confinement.Warning; w != "" {
			s.o.Warnings = append([]string{w}, s.o.Warnings...)
		}
		if err := s.keepSandbox(); err != nil {
			return err
		}
	}
	if err := s.permissions(); err != nil {
		return err
	}
	if err := s.routes(); err != nil || s.fr.ReadOnly {
		return err
	}
	return s.chooseTrust()
}

// readFolder reads the folders and files that the options name, and the configuration.
func (s *opening) readFolder() (err error) {
	opt := s.opt
	if s.session.Dir, err = s.RealDir(opt.Dir); err != nil {
		return err
	}
	dir := s.session.Dir
	if s.beside, err = s.rulesBeside("--add-dir", opt.AddDirs); err != nil {
		return err
	}
	if s.given, err = s.givenServers(); err != nil {
		return err
	}
	s.keys = sync.OnceValue(func() []secrets.File { return append(folder.Keys(dir), folder.HomeKeys(s.home())...) })
	go s.keys()
	if s.plan, err = s.planFile(opt.Plan); err != nil {
		return err
	}
	if s.paths, err = settings.PathsFrom(s.Env); err != nil {
		return err
	}
	if opt.NoSession {
		s.paths.Results = filepath.Join(os.TempDir(), "pawl-"+NewID())
	}
	var originals []string
	if opt.TrustedAs != "" {
		originals = append(originals, opt.TrustedAs)
	}
	if s.conf, err = settings.Load(s.paths, dir, originals...); err != nil {
		return err
	}
	s.conf.User.Effort, s.conf.TaskBudget = cmp.Or(opt.Effort, s.conf.User.Effort), opt.TaskBudget
	given, err := s.givenSettings()
	s.conf.Guards = append(s.conf.Guards, given...)
	s.JudgeStyles(dir, s.conf.Guards)
	return err
}

// chooseModels chooses the model and the limits of its use. It opens no model.
func (s *opening) chooseModels(ctx context.Context) (err error) {
	if s.fr.ReadOnly {
		s.o.model = offlineChoice("the session is only read")
	} else if s.o.model, err = s.chooseModel(ctx); err != nil {
		return err
	}
	l := &s.session.Limits
	if *l, err = limits(s.opt, s.conf.User.Budget, s.fr.Person, s.o.model.Info); err != nil {
		return err
	}
	if s.session.RetryFor, err = settings.RetryFor(cmp.Or(s.opt.RetryFor, s.conf.User.RetryFor)); err != nil {
		return Usage("--retry-for: %w", err) // the configuration's value was checked before
	}
	s.session.Fallback = s.opt.Fallback
	if len(s.session.Fallback) == 0 {
		s.session.Fallback = s.conf.User.Fallback
	}
	for _, ref := range s.session.Fallback {
		if _, err := s.Resolve(ref, s.conf); err != nil && !s.fr.ReadOnly {
			s.o.warn(fmt.Sprintf("the fallback model %s cannot be used: %v", ref, err))
		}
	}
	if l.Assumed && s.o.model.Info.Price == nil {
		s.o.warn(fmt.Sprintf("the price of the model is unknown: costs are not counted, and the budget of $%.2f has no effect", l.USD))
	}
	return nil
}

// wide reports whether a folder is not that of a project.
func (e *Environment) wide(dir string) bool {
	return permission.HoldsHome(dir, e.Env("HOME")) || permission.HoldsHome(dir, e.home())
}

// chooseTrust decides what the folder may run.
func (s *opening) chooseTrust() error {
	if err := s.folderTrust(); err != nil {
		return err
	}
	dir := s.session.Dir
	if s.o.Confinement.Has.Workspace || s.wide(dir) { // the sandbox confines the folder's checks, or there are none of a project
		return nil
	}
	trusted, err := s.o.Trust.allChecks(finderOf(s.conf.User, dir, s.Env))
	if trusted {
		s.session.Permission.Trust()
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
