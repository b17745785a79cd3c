package setup

import (
	"cmp"
	"context"
	"errors"
	"io"
	"os"
	"path/filepath"
	"slices"

	"github.com/pawl-agent/pawl/internal/adapter/lsp"
	"github.com/pawl-agent/pawl/internal/adapter/sandbox"
	"github.com/pawl-agent/pawl/internal/adapter/sandbox/kept"
	"github.com/pawl-agent/pawl/internal/adapter/settings"
	"github.com/pawl-agent/pawl/internal/adapter/shell"
	"github.com/pawl-agent/pawl/internal/adapter/web"
	"github.com/pawl-agent/pawl/internal/adapter/workspace"
	"github.com/pawl-agent/pawl/internal/adapter/workspace/journal"
	"github.com/pawl-agent/pawl/internal/core/fault"
	"github.com/pawl-agent/pawl/internal/core/gitrepo"
	"github.com/pawl-agent/pawl/internal/core/llm"
	"github.com/pawl-agent/pawl/internal/core/tool"
	"github.com/pawl-agent/pawl/internal/engine/hooks"
	"github.com/pawl-agent/pawl/internal/engine/session"
	"github.com/pawl-agent/pawl/internal/policy/secrets"
)

// services are what a session uses. Closing the Opened closes those that need it.
type services struct {
	id      string
	model   llm.Model
	files   *workspace.Workspace
	starter *shell.Starter
	shell   *shell.Shell
	journal *journal.Journal
	kept    tool.Keeper // nil: no sandbox here keeps anything
	mask    *secrets.Masker
	servers *lsp.Servers    // nil: none are used
	outside session.Outside // nil: there are no MCP servers
	own     func(file string) (session.OwnServers, error)
	hooks   hooks.Runner // nil: there are none
	search  *web.Search  // nil: none is configured
	state   func() workspace.State
}

func (e *Environment) services(ctx context.Context, opt *Options, fr Frontend, c choices, o *Opened) (w services, err error) {
	if opt.NoSession {
		o.onClose(func() error { return errors.Join(os.RemoveAll(c.paths.Spill()), os.RemoveAll(c.paths.Kept())) }) // when nothing writes there any more
	}
	if w.id, err = sessionID(ctx, opt, c); err != nil {
		return w, err
	}
	if opt.ForkAfter != "" && !opt.Fork {
		o.warn("the conversation goes on in a copy, session " + w.id + ": the old one keeps all of its messages")
	}
	if w.model, err = o.model.open(); err != nil {
		return w, err
	}
	if m, ok := w.model.(io.Closer); ok {
		o.onClose(m.Close)
	}
	if conf := c.conf.User.Search; conf.API != "" || conf.URL != "" {
		if w.search, err = web.NewSearch(web.SearchOptions{API: conf.API, URL: conf.URL, Env: e.Env}); err != nil {
			o.warn("web search is not available: " + err.Error())
			w.search = nil
		}
		if conf.Price < 0 {
			return w, fault.NewConfiguration("set it to the price of a search in USD: pawl config set search.price 0.005", "search.price is %v, and must not be negative", conf.Price)
		}
	}
	outside, held := e.mcpServers(c, o)
	w.mask = secrets.New(append(held, e.Secrets()...)...)
	w.mask.Hold(<-c.keys...)
	o.hold = w.mask.HoldTexts
	starter := o.starter(c.by)
	w.starter = starter
	o.Confinement, o.Git, o.GitUses = c.by, &workspace.Git{Starter: starter, Confine: c.by.Git()}, sandbox.NewGitUses(e.Env, c.dir).Of
	if opt.SystemPrompt == "" && e.Recorded == "" && !fr.WorkerTree && !fr.ReadOnly && gitrepo.Above(c.dir) != "" {
		w.state = beside(ctx, func(ctx context.Context) workspace.State { return o.Git.State(ctx, c.dir) })
	}
	if w.files, err = workspace.Open(c.dir, workspace.Options{Outside: true, Git: o.Git}); err != nil { // the permission gate decides before
		return w, errors.Join(err, starter.Close())
	}
	w.shell = shell.New(shell.Options{Root: c.dir, Starter: starter, SpillDir: filepath.Join(c.paths.Spill(), w.id), Mask: w.mask.MaskBytes})
	w.journal = newJournal(c.dir, c.paths, opt.NoSession, o.Git)
	limits := c.conf.User.Kept
	w.kept = kept.Open(filepath.Join(c.paths.Kept(), w.id), kept.Limits{Session: cmp.Or(limits.SessionMB, 2048) << 20, File: cmp.Or(limits.FileMB, 64) << 20})
	o.onClose(w.files.Close, starter.Close, w.shell.Close, w.journal.Close)
	w.hooks = joinHooks(e.hooks(c, starter, o), opt.Driver.Hooks)
	o.StatusLine = e.statusLine(c, starter)
	if c.conf.User.LSP.On() && c.trust != nil {
		w.servers = e.startLanguageServers(c.dir, c.paths, c.conf.User.LSP, c.trust, starter, c.by.server())
		o.onClose(w.servers.Close)
	}
	ask := outside
	if c.trust != nil {
		ask = append(slices.Clone(outside), e.agentServers(c.trust)...)
	}
	if err = e.askPackages(ask, c, fr, o); err != nil {
		return w, err
	}
	w.own = e.prepareOwn(outside, opt, c, starter, o)
	w.outside = e.startServers(outside, opt, c, starter, o)
	return w, nil
}

// newJournal returns the journal that finds the changes that commands make. It does
// nothing before the first command. With noSession it stores nothing.
func newJournal(dir string, paths settings.Paths, noSession bool, git *workspace.Git) *journal.Journal {
	opt := journal.Options{Dir: filepath.Join(paths.State, "journal"), Skip: []string{paths.State, paths.Config}, Git: git}
	if noSession {
		opt.Dir = ""
	}
	return journal.New(dir, opt)
}
