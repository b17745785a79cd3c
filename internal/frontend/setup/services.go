package setup

import (
	"cmp"
	"context"
	"errors"
	"io"
	"os"
	"path/filepath"
	"slices"
	"sync"

	"github.com/pawl-agent/pawl/internal/adapter/sandbox"
	"github.com/pawl-agent/pawl/internal/adapter/sandbox/kept"
	"github.com/pawl-agent/pawl/internal/adapter/shell"
	"github.com/pawl-agent/pawl/internal/adapter/web"
	"github.com/pawl-agent/pawl/internal/adapter/workspace"
	"github.com/pawl-agent/pawl/internal/adapter/workspace/journal"
	"github.com/pawl-agent/pawl/internal/core/fault"
	"github.com/pawl-agent/pawl/internal/core/gitrepo"
	"github.com/pawl-agent/pawl/internal/engine/changes"
	"github.com/pawl-agent/pawl/internal/policy/secrets"
)

// services opens what the session uses. Closing s.o closes what needs it.
func (s *opening) services(ctx context.Context) (err error) {
	o, c, by := s.o, &s.session, s.o.Confinement
	if s.opt.NoSession {
		o.onClose(func() error { return errors.Join(os.RemoveAll(s.paths.Spill()), os.RemoveAll(s.paths.Kept())) }) // when nothing writes there any more
	}
	if c.ID, err = s.sessionID(ctx); err != nil {
		return err
	}
	if s.opt.ForkAfter != "" && !s.opt.Fork {
		o.warn("the conversation goes on in a copy, session " + c.ID + ": the old one keeps all of its messages")
	}
	if c.Model, err = o.model.open(); err != nil {
		return err
	}
	if m, ok := c.Model.(io.Closer); ok {
		o.onClose(m.Close)
	}
	if err := s.openSearch(); err != nil {
		return err
	}
	outside, held := s.mcpServers()
	c.Mask = secrets.New(append(held, s.Secrets()...)...)
	c.Mask.Hold(s.keys()...)
	o.hold = c.Mask.HoldTexts
	starter, stop := by.Starter()
	s.starter = starter
	o.onClose(func() error { stop(); return nil })
	o.Git, o.GitUses = &workspace.Git{Starter: starter, Confine: by.Git()}, sandbox.NewGitUses(s.Env, c.Dir).Of
	if s.opt.SystemPrompt == "" && s.Recorded == "" && !s.fr.WorkerTree && !s.fr.ReadOnly && gitrepo.Above(c.Dir) != "" {
		s.state = sync.OnceValue(func() workspace.State {
			limited, cancel := context.WithTimeout(ctx, stateLimit)
			defer cancel()
			return o.Git.State(limited, c.Dir)
		})
		go s.state() // git takes longer for it than all of the rest
	}
	files, err := workspace.Open(c.Dir, workspace.Options{Outside: true, Git: o.Git}) // the permission gate decides before
	if err != nil {
		return err
	}
	sh := shell.New(shell.Options{Root: c.Dir, Starter: starter, SpillDir: filepath.Join(s.paths.Spill(), c.ID), Mask: c.Mask.MaskBytes})
	found := s.newJournal()
	limits := s.conf.User.Kept
	c.Files, c.Shell, c.Journal = files, sh, changes.Share(found)
	c.Kept = kept.Open(filepath.Join(s.paths.Kept(), c.ID), kept.Limits{Session: cmp.Or(limits.SessionMB, 2048) << 20, File: cmp.Or(limits.FileMB, 64) << 20})
	o.onClose(files.Close, sh.Close, found.Close)
	c.Hooks = joinHooks(s.hooks(), s.opt.Driver.Hooks)
	o.StatusLine = s.statusLine()
	if s.conf.User.LSP.On() && o.Trust != nil {
		s.servers = s.startLanguageServers(c.Dir, s.paths, s.conf.User.LSP, o.Trust, starter, by.server())
		o.onClose(s.servers.Close)
	}
	ask := outside
	if o.Trust != nil {
		ask = append(slices.Clone(outside), s.agentServers(o.Trust)...)
	}
	if err := s.askPackages(ask); err != nil {
		return err
	}
	s.prepareOwn(outside)
	s.prepareServers(outside)
	return nil
}

// openSearch opens the service that searches the web, if one is configured.
func (s *opening) openSearch() error {
	conf := s.conf.User.Search
	if conf.API == "" && conf.URL == "" {
		return nil
	}
	search, err := web.NewSearch(web.SearchOptions{API: conf.API, URL: conf.URL, Env: s.Env})
	if err != nil {
		s.o.warn("web search is not available: " + err.Error())
	} else {
		s.session.Search, s.session.SearchUSD = search, conf.Price
	}
	if conf.Price < 0 {
		return fault.NewConfiguration("set it to the price of a search in USD: pawl config set search.price 0.005", "search.price is %v, and must not be negative", conf.Price)
	}
	return nil
}

// newJournal returns the journal that finds the changes that commands make. It does
// nothing before the first command. Of a session that is not stored it stores nothing.
func (s *opening) newJournal() *journal.Journal {
	opt := journal.Options{Dir: filepath.Join(s.paths.State, "journal"), Skip: []string{s.paths.State, s.paths.Config}, Git: s.o.Git}
	if s.opt.NoSession {
		opt.Dir = ""
	}
	return journal.New(s.session.Dir, opt)
}
