package setup

import (
	mathrand "math/rand/v2"
	"path/filepath"

	"github.com/pawl-agent/pawl/internal/adapter/settings"
	"github.com/pawl-agent/pawl/internal/adapter/skills"
	"github.com/pawl-agent/pawl/internal/adapter/tokenizer"
	"github.com/pawl-agent/pawl/internal/adapter/web"
	"github.com/pawl-agent/pawl/internal/adapter/workspace"
	"github.com/pawl-agent/pawl/internal/core/gitrepo"
	"github.com/pawl-agent/pawl/internal/core/llm"
	"github.com/pawl-agent/pawl/internal/core/tool"
	"github.com/pawl-agent/pawl/internal/engine/session"
	"github.com/pawl-agent/pawl/internal/engine/turn"
	"github.com/pawl-agent/pawl/internal/policy/command"
	"github.com/pawl-agent/pawl/internal/policy/guidance"
	"github.com/pawl-agent/pawl/internal/policy/permission"
	"github.com/pawl-agent/pawl/internal/policy/window"
)

// identity sets who the session is, and its clock.
func (s *opening) identity() {
	c := &s.session
	c.Frontend, c.Version, c.Branch, c.Program = s.fr.Name, s.Version, workspace.Branch(c.Dir), BuildID(s.Version)
	c.Person, c.ReadOnly = s.fr.Person, s.fr.ReadOnly
	c.Now, c.Sleep, c.Jitter, c.NewID = s.Now, session.SleepFor, mathrand.Float64, NewID
}

// models sets how models are used, and when a run goes on in circles.
func (s *opening) models() {
	c, user := &s.session, s.conf.User
	c.OpenModel = func(ref, effort string) (llm.Model, error) {
		by := s.conf
		by.User.Effort = effort
		m, err := s.Resolve(ref, by)
		if err != nil {
			return nil, err
		}
		return m.open()
	}
	c.Timeout, c.Effort = s.opt.Timeout, user.Effort
	c.Progress, c.Window = user.Progress, user.Window
	if c.Window.BPE() { // better than the estimate; it is loaded when there is time
		c.Counter = func() (window.Counter, error) { return tokenizer.Load() }
	}
}

// tools sets the session's tools.
func (s *opening) tools(known []skills.Skill) {
	c, user := &s.session, s.conf.User
	c.Tools = toolSet(offer{
		model: s.o.model.Info, kinds: s.kinds, skills: known, mask: c.Mask.String,
		search: c.Search != nil, person: s.fr.Person, git: gitrepo.Above(c.Dir) != "",
	})
	c.Tools, _ = only(c.Tools, s.opt.Tools) // the names were checked at the start
	limits, _ := user.Tools.Timeouts()      // the settings were checked when they were read
	limited(c.Tools, limits)
	c.Agents, c.AutoCorrect = user.Agents.Levels(), user.Tools.All()
	c.Web, c.Locks, c.SpillDir = web.New(web.Options{}), turn.NewLocks(parallelCalls), s.paths.Spill()
}

// rights sets what the gates need to know.
func (s *opening) rights() {
	c := &s.session
	c.GitUses = s.o.GitUses
	c.InGit = s.o.Git.InGit(c.Dir, func() func(string) string { return Runs(c.Dir, s.o.GitUses()) })
	c.Keep = func(rule string) error {
		return settings.Grants{Path: s.paths.Grants()}.Add(c.Dir, rule, s.Now())
	}
}

// Runs returns what tells who runs or obeys a file of a workspace.
func Runs(root string, git []tool.GitUse) func(abs string) string {
	return func(abs string) string {
		rel, err := filepath.Rel(root, abs)
		if err != nil {
			rel = abs
		}
		rel = filepath.ToSlash(rel)
		who := guidance.Obeyed(rel)
		switch {
		case who != "":
		case permission.Protected(rel, filepath.ToSlash(abs), git):
			who = "protected"
		case command.Defines(rel):
			who = "defines what runs"
		}
		return who
	}
}
