package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"time"

	"github.com/pawl-agent/pawl/internal/adapter/agents"
	"github.com/pawl-agent/pawl/internal/adapter/folder"
	"github.com/pawl-agent/pawl/internal/adapter/lsp"
	"github.com/pawl-agent/pawl/internal/adapter/memory"
	"github.com/pawl-agent/pawl/internal/adapter/offline"
	"github.com/pawl-agent/pawl/internal/adapter/provider/catalog"
	"github.com/pawl-agent/pawl/internal/adapter/replay"
	"github.com/pawl-agent/pawl/internal/adapter/sandbox"
	"github.com/pawl-agent/pawl/internal/adapter/settings"
	"github.com/pawl-agent/pawl/internal/adapter/shell"
	"github.com/pawl-agent/pawl/internal/adapter/skills"
	memstore "github.com/pawl-agent/pawl/internal/adapter/store/memory"
	"github.com/pawl-agent/pawl/internal/adapter/store/sqlite"
	"github.com/pawl-agent/pawl/internal/adapter/web"
	"github.com/pawl-agent/pawl/internal/adapter/workspace"
	"github.com/pawl-agent/pawl/internal/adapter/workspace/journal"
	"github.com/pawl-agent/pawl/internal/core/event"
	"github.com/pawl-agent/pawl/internal/core/fault"
	"github.com/pawl-agent/pawl/internal/core/llm"
	"github.com/pawl-agent/pawl/internal/core/tool"
	"github.com/pawl-agent/pawl/internal/engine/answers"
	"github.com/pawl-agent/pawl/internal/engine/hooks"
	"github.com/pawl-agent/pawl/internal/engine/prompt"
	"github.com/pawl-agent/pawl/internal/engine/session"
	"github.com/pawl-agent/pawl/internal/frontend/slash"
	"github.com/pawl-agent/pawl/internal/policy/budget"
	"github.com/pawl-agent/pawl/internal/policy/permission"
	"github.com/pawl-agent/pawl/internal/policy/route"
	"github.com/pawl-agent/pawl/internal/policy/secrets"
)

// parallelCalls is how many calls of one step run at once (SPEC 4.1).
const parallelCalls = 8

// front is which frontend opens a session.
type front struct {
	name     string
	commands bool // prompts that name a command of a file, or a skill, are expanded
	person   bool // somebody is there to answer questions
	away     bool // they are asked only in an open session, and nothing before that
	readOnly bool // only to read a session, or to undo: no model is needed
	// choose, if set, asks a person which model to use if nothing else names one.
	choose func(ctx context.Context, refused error) (string, error)
	// made: pawl created the folder itself.
	made bool
	// set, if set, changes the configuration of a session: a swarm's, or its worker's.
	set func(*session.Config)
	// tree: the folder is a worker's tree, and nothing about it is remembered.
	tree bool
	// confirm, if set, asks a person for a yes. out shows the subject.
	confirm func(question string) (bool, error)
	out     io.Writer
}

// opened is a session with everything that must be closed after it.
type opened struct {
	*session.Session
	store    event.Store
	model    modelChoice
	trust    *folderTrust
	by       confinedBy
	git      *workspace.Git // pawl's own
	uses     *sandbox.GitUses
	warnings []string
	custom   []slash.Custom
	closers  []func() error
}

func (o *opened) close() {
	if o.Session != nil {
		// The run has already reported a broken log.
		_ = o.Session.Close()
	}
	for _, c := range slices.Backward(o.closers) {
		_ = c() // no acknowledged event depends on it
	}
}

// open puts a session together: its choices, the tools and services, and what
// its model is told.
func (a *App) open(ctx context.Context, f *flags, fr front) (_ *opened, err error) {
	o := &opened{}
	defer func() {
		if err != nil {
			o.close()
		}
	}()
	c, err := a.choices(ctx, f, fr, o)
	if err != nil {
		return nil, err
	}
	o.trust = c.trust
	w, err := a.world(ctx, f, c, o)
	if err != nil {
		return nil, err
	}
	t, err := a.instructions(ctx, f, fr, c, w, o)
	if err != nil {
		return nil, err
	}
	start := c.perm.Mode()
	conf := (&assembly{a, f, fr, c, w, t, o}).config()
	if o.store, err = c.store(); err != nil {
		return nil, err
	}
	conf.Store = o.store
	if fr.set != nil {
		fr.set(&conf)
	}
	o.Session, err = session.Open(ctx, conf)
	if err == nil {
		err = a.settleMode(ctx, o, f, fr, start)
	}
	if err == nil && len(c.plan) > 0 {
		_, err = o.Submit(ctx, session.Phase{Plan: c.plan})
	}
	if err != nil {
		return nil, err
	}
	a.served(o, f, fr, c.paths.State)
	return o, a.attachObservers(o, f, fr, t.nodes)
}

// choices are the values of flags, settings and environment. What depends on few
// of them, and takes its time, is begun meanwhile.
type choices struct {
	dir      string
	paths    settings.Paths
	conf     settings.Loaded
	plan     []event.PhaseStep
	limits   budget.Limits
	retry    time.Duration
	posix    bool
	perm     *permission.Policy
	routes   route.Config
	trust    *folderTrust
	plugins  []usedPlugin
	by       confinedBy
	keys     <-chan []string             // of the folder's files of secrets, which are read meanwhile
	store    func() (event.Store, error) // is being opened meanwhile
	readOnly bool                        // as front.readOnly
}

func (a *App) choices(ctx context.Context, f *flags, fr front, o *opened) (c choices, err error) {
	c.readOnly = fr.readOnly
	if c.dir, err = a.realDir(f); err != nil {
		return c, err
	}
	keys := make(chan []string, 1)
	go func(dir string) { keys <- folder.Keys(dir) }(c.dir)
	c.keys = keys
	if c.plan, err = a.planFile(f.plan); err != nil {
		return c, err
	}
	if c.paths, err = settings.PathsFrom(a.Env); err != nil {
		return c, err
	}
	if f.noSession {
		c.paths.Results = filepath.Join(os.TempDir(), "pawl-"+newID())
	}
	if c.conf, err = settings.Load(c.paths, c.dir); err != nil {
		return c, err
	}
	c.store = a.openingStore(ctx, f, c.paths, c.conf, o)
	var confined func() (confinedBy, string, error)
	if !fr.readOnly {
		confined = a.confining(f, c.conf, c.paths, c.dir, fr.made)
	}
	if permission.Wide(c.dir, a.Env("HOME")) || permission.Wide(c.dir, a.home()) {
		o.warnings = append(o.warnings, "this is "+c.dir+", no project's folder: every change here is asked about, whatever the mode but yolo; start pawl in the folder that it shall work in")
	}
	o.warnings = append(o.warnings, c.conf.Warnings...)
	if fr.readOnly {
		o.model = offlineChoice("nothing is asked of it")
	} else if o.model, err = a.chooseModel(ctx, f, c.conf, fr); err != nil {
		return c, err
	}
	if c.limits, err = limits(f, c.conf.User.Budget, fr.person, o.model.info); err != nil {
		return c, err
	}
	if c.retry, err = retryFor(f, c.conf); err != nil {
		return c, err
	}
	for _, ref := range fallback(f, c.conf) {
		if _, err := a.resolve(ref, c.conf); err != nil && !fr.readOnly {
			o.warnings = append(o.warnings, fmt.Sprintf("the fallback model %s can not be used: %v", ref, err))
		}
	}
	if c.limits.Assumed && o.model.info.Price == nil {
		o.warnings = append(o.warnings, fmt.Sprintf("no price is known: costs are not counted, and the budget of $%.2f does not hold", c.limits.USD))
	}
	c.posix = shell.New(shell.Options{Root: c.dir}).POSIX() // starts nothing
	if confined != nil {
		warning := ""
		if c.by, warning, err = confined(); err != nil {
			return c, err
		}
		if warning != "" {
			o.warnings = append([]string{warning}, o.warnings...)
		}
	}
	if c.perm, err = a.permissions(f, c, fr); err != nil {
		return c, err
	}
	if c.routes, err = routes(f, c.conf.User); err != nil || fr.readOnly {
		return c, err
	}
	if c.trust, err = a.trustOf(f, c, fr, o); err != nil {
		return c, err
	}
	c.plugins = a.usePlugins(c.paths, c.dir, o)
	if !c.by.has.Workspace { // otherwise the sandbox confines its checks
		trusted, err := c.trust.checks(finderOf(c.conf.User, c.dir, a.Env))
		if err != nil {
			return c, err
		}
		if trusted {
			c.perm.Trust()
		}
	}
	return c, nil
}

// world is what a session works with. Each part that must be closed is in opened.closers.
type world struct {
	id      string
	model   llm.Model
	files   *workspace.Workspace
	shell   *shell.Shell
	journal *journal.Journal
	mask    *secrets.Masker
	servers *lsp.Servers    // nil: none are used
	outside session.Outside // nil: there are no MCP servers
	hooks   hooks.Runner    // nil: there are none
	search  *web.Search     // nil: none is configured
}

func (a *App) world(ctx context.Context, f *flags, c choices, o *opened) (w world, err error) {
	if f.noSession {
		o.closers = append(o.closers, func() error { return os.RemoveAll(c.paths.Spill()) }) // when nothing writes there any more
	}
	if w.id, err = a.sessionID(ctx, f, c); err != nil {
		return w, err
	}
	if w.model, err = o.model.open(); err != nil {
		return w, err
	}
	if m, ok := w.model.(io.Closer); ok {
		o.closers = append(o.closers, m.Close)
	}
	if conf := c.conf.User.Search; conf.API != "" || conf.URL != "" {
		if w.search, err = web.NewSearch(web.SearchOptions{API: conf.API, URL: conf.URL, Env: a.Env}); err != nil {
			o.warnings = append(o.warnings, "the web is not searched: "+err.Error())
			w.search = nil
		}
		if conf.Price < 0 {
			return w, fault.NewConfiguration("set it to USD for each search: pawl config set search.price 0.005", "search.price is %v", conf.Price)
		}
	}
	outside, held, err := a.outside(f, c, o)
	if err != nil {
		return w, err
	}
	w.mask = secrets.New(slices.Concat(held, a.heldSecrets(), <-c.keys)...)
	starter := o.starter(c.by)
	o.by, o.git, o.uses = c.by, &workspace.Git{Starter: starter, Confine: c.by.git()}, sandbox.NewGitUses(a.Env, c.dir)
	if w.files, err = workspace.Open(c.dir, workspace.Options{Outside: true, Git: o.git}); err != nil { // the permission gate decides before
		return w, errors.Join(err, starter.Close())
	}
	w.shell = shell.New(shell.Options{Root: c.dir, Starter: starter, SpillDir: filepath.Join(c.paths.Spill(), w.id), Mask: w.mask.MaskBytes})
	w.journal = a.journal(c.dir, c.paths, f.noSession, o.git)
	o.closers = append(o.closers, w.files.Close, starter.Close, w.shell.Close, w.journal.Close)
	w.hooks = joinHooks(a.hooks(c, starter, o), f.program.Hooks)
	if c.conf.User.LSP.On() && c.trust != nil {
		w.servers = a.languageServers(c.dir, c.paths, c.conf.User.LSP, c.trust, starter, c.by.server())
		o.closers = append(o.closers, w.servers.Close)
	}
	w.outside = a.startServers(outside, f, c, starter, o)
	return w, nil
}

// instructions is what the model is told about the project and the person, and where
// its notes are stored.
type instructions struct {
	system  string
	rules   func(context.Context, session.Guidance) []string
	nodes   *memory.Nodes // nil where nothing is kept
	notes   tool.Notes
	prefer  func(string) error
	answers answers.Store
	kinds   []agents.Kind // of agents that it may start
	skills  []skills.Skill
}

func (a *App) instructions(ctx context.Context, f *flags, fr front, c choices, w world, o *opened) (t instructions, err error) {
	book, keep := a.rulebook(c.dir, c.paths, w.mask.String), a.kept(c.paths, c.dir, w.mask.String)
	t.rules = ruled(book, keep)
	text, warnings, err := book.start(ctx, fr.readOnly)
	if err != nil {
		return t, err
	}
	o.warnings = append(o.warnings, warnings...)
	if !fr.readOnly {
		known, warnings := keep.start()
		text = known + text // rules come last: they are the closest to the task
		o.warnings = append(o.warnings, warnings...)
	}
	keep.told = text
	if !fr.readOnly && c.conf.User.Agents.Levels() > 0 {
		t.kinds, warnings = a.kinds(c.dir, c.paths, c.plugins, w.mask.String)
		o.warnings = append(o.warnings, warnings...)
	}
	dir := c.dir
	if fr.tree {
		dir = "the current folder" // of all workers: their prompts begin alike, for the provider's cache (SPEC 14.4)
	}
	t.system = f.systemPrompt
	commands := fr.commands || fr.person
	var known []skills.Skill
	if !fr.readOnly && (t.system == "" || commands) {
		known, warnings = skills.Load(a.textFolders(c.dir, c.paths, "skills", c.plugins)...)
		o.warnings = append(o.warnings, warnings...)
	}
	if !fr.readOnly && commands {
		o.custom, warnings = a.commands(c.dir, c.paths, c.plugins, known)
		o.warnings = append(o.warnings, warnings...)
	}
	if t.system == "" {
		t.skills = known
		t.system = prompt.System(prompt.Facts{
			Dir: dir, OS: runtime.GOOS, Shell: shellName(c.posix), Git: isRepository(c.dir), Date: a.Now().Format("2006-01-02"),
			Mode: string(c.perm.Mode()), Person: fr.person,
		})
	}
	t.system += text
	if f.appendPrompt != "" {
		t.system = strings.TrimRight(t.system, "\n") + "\n\n" + f.appendPrompt + "\n"
	}
	if f.noSession || fr.tree {
		return t, nil
	}
	t.nodes, t.notes, t.prefer = keep.nodes, keep, keep.prefer
	if c.conf.User.QueryCache {
		t.answers = keep
	}
	return t, nil
}

func (a *App) openStore(ctx context.Context, f *flags, p settings.Paths, conf settings.Loaded) (event.Store, error) {
	if f.noSession {
		return memstore.New(a.Now), nil
	}
	return sqlite.Open(ctx, p.Database(), sqlite.Options{Durability: conf.User.Store.Durability, Now: a.Now, Ready: true})
}

// openingStore opens the store in parallel with the rest of the start, and
// returns what waits for it. It is closed with o.
func (a *App) openingStore(ctx context.Context, f *flags, p settings.Paths, conf settings.Loaded, o *opened) func() (event.Store, error) {
	var st event.Store
	var err error
	done := make(chan struct{})
	go func() {
		defer close(done)
		st, err = a.openStore(ctx, f, p, conf)
	}()
	o.closers = append(o.closers, func() error {
		if <-done; err != nil {
			return nil // it was not opened
		}
		return st.Close()
	})
	return func() (event.Store, error) {
		<-done
		return st, err
	}
}

func shellName(posix bool) string {
	if posix {
		return "sh"
	}
	return "bash"
}

// modelChoice is a model that was chosen and not opened yet.
type modelChoice struct {
	info llm.Info
	why  string
	open func() (llm.Model, error)
	// tryKey asks whether the key in the variable keyName is right; nil if none
	// is needed.
	tryKey  func(context.Context) (catalog.Tried, bool)
	keyName string
}

func offlineChoice(why string) modelChoice {
	return modelChoice{info: offline.Info(), why: why, open: func() (llm.Model, error) { return offline.New(), nil }}
}

func (a *App) chooseModel(ctx context.Context, f *flags, conf settings.Loaded, fr front) (modelChoice, error) {
	c, err := a.resolve(f.model, conf)
	if !errors.Is(err, catalog.ErrNone) || fr.choose == nil {
		return c, err
	}
	for refused := error(nil); ; {
		ref, err := fr.choose(ctx, refused)
		if err != nil {
			return c, err
		}
		if c, refused = a.resolve(ref, conf); refused == nil {
			return c, nil
		}
	}
}

// resolve finds the model of a reference; "" means the one of environment and settings.
// Its replies are recorded if PAWL_RECORD names a file.
func (a *App) resolve(ref string, conf settings.Loaded) (modelChoice, error) {
	if file, ok := strings.CutPrefix(ref, "replay:"); ok {
		m, err := replay.Open(file)
		if err != nil {
			return modelChoice{}, err
		}
		return modelChoice{info: m.Info(), why: "the command line", open: func() (llm.Model, error) { return m, nil }}, nil
	}
	c, err := a.resolveModel(ref, conf)
	if err != nil || a.recorder == nil {
		return c, err
	}
	open := c.open
	c.open = func() (llm.Model, error) {
		m, err := open()
		if err != nil {
			return nil, err
		}
		return a.recorder.Wrap(m), nil
	}
	return c, nil
}

func (a *App) resolveModel(ref string, conf settings.Loaded) (modelChoice, error) {
	c, err := catalog.Resolve(a.want(ref, conf))
	if err != nil {
		return modelChoice{}, err
	}
	if c.Info.Provider == "offline" {
		return offlineChoice(c.Why), nil
	}
	return modelChoice{
		info: c.Info, why: c.Why, open: func() (llm.Model, error) { return c.Open(nil) },
		tryKey: func(ctx context.Context) (catalog.Tried, bool) { return c.TryKey(ctx, nil) }, keyName: c.KeyName,
	}, nil
}

func isRepository(dir string) bool {
	for {
		if _, err := os.Lstat(filepath.Join(dir, ".git")); err == nil {
			return true
		}
		up := filepath.Dir(dir)
		if up == dir {
			return false
		}
		dir = up
	}
}

func realPath(dir string) (string, error) {
	abs, err := filepath.Abs(dir)
	if err != nil {
		return "", err
	}
	return filepath.EvalSymlinks(abs)
}

func first(ss ...string) string {
	for _, s := range ss {
		if s != "" {
			return s
		}
	}
	return ""
}
