package setup

import (
	"cmp"
	mathrand "math/rand/v2"

	"github.com/pawl-agent/pawl/internal/adapter/settings"
	"github.com/pawl-agent/pawl/internal/adapter/tokenizer"
	"github.com/pawl-agent/pawl/internal/adapter/web"
	"github.com/pawl-agent/pawl/internal/core/llm"
	"github.com/pawl-agent/pawl/internal/engine/changes"
	"github.com/pawl-agent/pawl/internal/engine/session"
	"github.com/pawl-agent/pawl/internal/engine/turn"
	"github.com/pawl-agent/pawl/internal/policy/window"
)

// assembly is what is known when a session is put together.
type assembly struct {
	e   *Environment
	opt *Options
	fr  Frontend
	c   choices
	w   services
	t   instructions
	o   *Opened
}

// parts lists the parts of a session. To add a part, write it in the file of
// its subject and add it here.
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
	(*assembly).pressure,        // watch.go
}

func (s *assembly) config() session.Config {
	var conf session.Config
	for _, part := range parts {
		part(s, &conf)
	}
	return conf
}

// whose sets which session it is, and its parent. Its store is still being opened.
func (s *assembly) identity(conf *session.Config) {
	conf.ID, conf.Dir = s.w.id, s.c.dir
	conf.Front, conf.Version = s.fr.Name, s.e.Version
	conf.Program = BuildID(s.e.Version)
	conf.Person, conf.ReadOnly = s.fr.Person, s.fr.ReadOnly
	conf.Now, conf.Sleep, conf.Jitter, conf.NewID = s.e.Now, session.SleepFor, mathrand.Float64, NewID
}

// models sets the models and how they are used.
func (s *assembly) models(conf *session.Config) {
	conf.Model, conf.System = s.w.model, s.t.system
	conf.Models = session.Models{
		OpenModel: func(ref string) (llm.Model, error) {
			m, err := s.e.Resolve(ref, s.c.conf)
			if err != nil {
				return nil, err
			}
			return m.open()
		},
		Fallback: fallback(s.opt, s.c.conf), RetryFor: s.c.retry, Timeout: s.opt.Timeout, Effort: cmp.Or(s.opt.Effort, s.c.conf.User.Effort),
	}
	conf.Limits = s.c.limits
}

// tools sets the tools.
func (s *assembly) tools(conf *session.Config) {
	conf.Tools = toolSet(s.o.model.Info, s.t.kinds, s.t.skills, s.w.mask.String, s.w.search != nil)
	conf.Agents = s.c.conf.User.Agents.Levels()
	if s.w.search != nil {
		conf.Search, conf.SearchUSD = s.w.search, s.c.conf.User.Search.Price
	}
	conf.Files, conf.Shell, conf.Web, conf.Journal = s.w.files, s.w.shell, web.New(web.Options{}), changes.Share(s.w.journal)
	conf.Locks = turn.NewLocks(parallelCalls)
	conf.AutoCorrect = s.c.conf.User.Tools.All()
	conf.Mask, conf.SpillDir = s.w.mask, s.c.paths.Spill()
}

// rights sets permissions and routing.
func (s *assembly) rights(conf *session.Config) {
	conf.Permission, conf.Route = s.c.perm, s.c.routes
	conf.GitUses = s.o.GitUses.Of
	conf.Keep = func(rule string) error { return settings.Grants{Path: s.c.paths.Grants()}.Add(s.c.dir, rule) }
}

// judged sets the configuration of stuck detection and the window.
func (s *assembly) progress(conf *session.Config) {
	conf.Progress = s.c.conf.User.Progress
	conf.Window, conf.Counter = s.c.conf.User.Window, counter(s.c.conf.User.Window)
}

// counter returns a better counter of tokens than the estimate, loaded when
// there is time.
func counter(c window.Config) func() (window.Counter, error) {
	if !c.BPE() {
		return nil
	}
	return func() (window.Counter, error) { return tokenizer.Load() }
}
