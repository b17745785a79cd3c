package setup

import (
	mathrand "math/rand/v2"
	"path/filepath"

	"github.com/pawl-agent/pawl/internal/adapter/settings"
	"github.com/pawl-agent/pawl/internal/adapter/tokenizer"
	"github.com/pawl-agent/pawl/internal/adapter/web"
	"github.com/pawl-agent/pawl/internal/adapter/workspace"
	"github.com/pawl-agent/pawl/internal/core/gitrepo"
	"github.com/pawl-agent/pawl/internal/core/llm"
	"github.com/pawl-agent/pawl/internal/core/tool"
	"github.com/pawl-agent/pawl/internal/engine/changes"
	"github.com/pawl-agent/pawl/internal/engine/session"
	"github.com/pawl-agent/pawl/internal/engine/turn"
	"github.com/pawl-agent/pawl/internal/policy/command"
	"github.com/pawl-agent/pawl/internal/policy/guidance"
	"github.com/pawl-agent/pawl/internal/policy/permission"
	"github.com/pawl-agent/pawl/internal/policy/window"
)

// assembly is the input of a session's parts.
type assembly struct {
	env          *Environment
	opt          *Options
	front        Frontend
	choices      choices
	services     services
	instructions instructions
	session      *Opened
}

// parts lists the parts of a session. A new part is written in the file of its subject
// and added here.
var parts = []func(*assembly, *session.Config){
	(*assembly).identity,
	(*assembly).models,
	(*assembly).tools,
	(*assembly).rights,
	(*assembly).progress,
	(*assembly).memory,          // memory.go
	(*assembly).autofix,         // autofix.go
	(*assembly).languageServers, // lsp.go
	(*assembly).mcp,             // mcp.go
	(*assembly).hooks,           // hooks.go
	(*assembly).pressure,        // observers.go
}

func (s *assembly) config() session.Config {
	var conf session.Config
	for _, part := range parts {
		part(s, &conf)
	}
	return conf
}

// identity sets the session's id and its parent. The store may still be opening.
func (s *assembly) identity(conf *session.Config) {
	conf.ID, conf.Dir = s.services.id, s.choices.dir
	conf.Frontend, conf.Version, conf.Branch = s.front.Name, s.env.Version, workspace.Branch(conf.Dir)
	conf.Program = BuildID(s.env.Version)
	conf.Person, conf.ReadOnly = s.front.Person, s.front.ReadOnly
	conf.Now, conf.Sleep, conf.Jitter, conf.NewID = s.env.Now, session.SleepFor, mathrand.Float64, NewID
}

// models sets the models and how they are used.
func (s *assembly) models(conf *session.Config) {
	conf.Model, conf.System = s.services.model, s.instructions.system
	conf.Models = session.Models{
		OpenModel: func(ref, effort string) (llm.Model, error) {
			by := s.choices.conf
			by.User.Effort = effort
			m, err := s.env.Resolve(ref, by)
			if err != nil {
				return nil, err
			}
			return m.open()
		},
		Fallback: fallback(s.opt, s.choices.conf), RetryFor: s.choices.retry, Timeout: s.opt.Timeout, Effort: s.choices.conf.User.Effort,
	}
	conf.Limits = s.choices.limits
}

// tools sets the session's tools.
func (s *assembly) tools(conf *session.Config) {
	conf.Tools = toolSet(offer{
		model: s.session.model.Info, kinds: s.instructions.kinds, skills: s.instructions.skills, mask: s.services.mask.String,
		search: s.services.search != nil, person: s.front.Person, git: gitrepo.Above(s.choices.dir) != "",
	})
	conf.Tools, _ = only(conf.Tools, s.opt.Tools)     // the names were checked at the start
	limits, _ := s.choices.conf.User.Tools.Timeouts() // the settings were checked when they were read
	limited(conf.Tools, limits)
	conf.Agents = s.choices.conf.User.Agents.Levels()
	if s.services.search != nil {
		conf.Search, conf.SearchUSD = s.services.search, s.choices.conf.User.Search.Price
	}
	conf.Files, conf.Shell, conf.Web, conf.Journal = s.services.files, s.services.shell, web.New(web.Options{}), changes.Share(s.services.journal)
	conf.Kept = s.services.kept
	conf.Locks = turn.NewLocks(parallelCalls)
	conf.AutoCorrect = s.choices.conf.User.Tools.All()
	conf.Mask, conf.SpillDir = s.services.mask, s.choices.paths.Spill()
}

// rights sets permissions and routing.
func (s *assembly) rights(conf *session.Config) {
	conf.Permission, conf.Route = s.choices.perm, s.choices.routes
	conf.GitUses = s.session.GitUses
	conf.InGit = s.session.Git.InGit(s.choices.dir, func() func(string) string { return Runs(s.choices.dir, s.session.GitUses()) })
	conf.Keep = func(rule string) error {
		return settings.Grants{Path: s.choices.paths.Grants()}.Add(s.choices.dir, rule, s.env.Now())
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

// progress sets the configuration of stuck detection and of the context window.
func (s *assembly) progress(conf *session.Config) {
	conf.Progress = s.choices.conf.User.Progress
	conf.Window, conf.Counter = s.choices.conf.User.Window, counter(s.choices.conf.User.Window)
}

// counter returns a loader of a token counter that is better than the estimate; it is
// loaded when there is time.
func counter(c window.Config) func() (window.Counter, error) {
	if !c.BPE() {
		return nil
	}
	return func() (window.Counter, error) { return tokenizer.Load() }
}
