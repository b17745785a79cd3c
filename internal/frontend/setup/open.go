package setup

import (
	"context"
	"slices"

	"github.com/pawl-agent/pawl/internal/adapter/agents"
	"github.com/pawl-agent/pawl/internal/adapter/lsp"
	"github.com/pawl-agent/pawl/internal/adapter/mcp"
	"github.com/pawl-agent/pawl/internal/adapter/memory"
	"github.com/pawl-agent/pawl/internal/adapter/plugin"
	"github.com/pawl-agent/pawl/internal/adapter/settings"
	"github.com/pawl-agent/pawl/internal/adapter/shell"
	"github.com/pawl-agent/pawl/internal/adapter/workspace"
	"github.com/pawl-agent/pawl/internal/core/event"
	"github.com/pawl-agent/pawl/internal/core/tool"
	"github.com/pawl-agent/pawl/internal/engine/session"
	"github.com/pawl-agent/pawl/internal/frontend/slash"
	"github.com/pawl-agent/pawl/internal/policy/secrets"
)

// parallelCalls is how many calls of one step run at once (SPEC 4.1).
const parallelCalls = 8

// Open puts a session together: its choices, its tools and services, and the model's
// instructions. The caller closes it.
func (e *Environment) Open(ctx context.Context, opt *Options, fr Frontend) (*Opened, error) {
	s := &opening{Environment: e, opt: opt, fr: fr, o: &Opened{}}
	if err := s.open(ctx); err != nil {
		s.o.Close()
		return nil, err
	}
	return s.o, nil
}

// opening is a session that is being put together. The steps are in the files of their
// subjects; each uses what those before it decided.
type opening struct {
	*Environment
	opt     *Options
	fr      Frontend
	o       *Opened
	paths   settings.Paths
	conf    settings.Loaded
	session session.Config // as far as it is decided

	beside  []string     // rules that allow reading the folders of --add-dir
	given   []mcp.Server // from --mcp-config, or from the editor
	plan    []event.PhaseStep
	plugins []Plugin
	posix   bool // sh runs the commands
	starter *shell.Starter
	servers *lsp.Servers // nil: none are used
	kinds   []agents.Kind
	nodes   *memory.Nodes // nil if nothing is stored

	// These are slow and depend on little: each starts early beside the rest, and waits for its
	// result where that is needed.
	keys  func() []secrets.File // files of secrets of the folder and the home
	store func() (event.Store, error)
	state func() workspace.State // of the repository; nil: the model is not told
}

func (s *opening) open(ctx context.Context) error {
	kind, err := s.asAgent()
	if err != nil {
		return err
	}
	if err := s.choose(ctx); err != nil {
		return err
	}
	if err := s.services(ctx); err != nil {
		return err
	}
	skills, err := s.instructions(ctx)
	if err != nil {
		return err
	}
	start := s.session.Permission.Mode()
	s.identity()
	s.models()
	s.tools(skills)
	s.rights()
	s.autofix()
	s.languageServers()
	s.pressure()
	s.narrow(kind)
	s.isolation()
	if s.o.Store, err = s.store(); err != nil {
		return err
	}
	s.session.Store = s.o.Store
	if s.fr.Configure != nil {
		s.fr.Configure(&s.session)
	}
	if s.o.Session, err = session.Open(ctx, s.session); err != nil {
		return err
	}
	if err := s.settleMode(ctx, start); err != nil {
		return err
	}
	if len(s.plan) > 0 {
		if _, err := s.o.Submit(ctx, session.Phase{Plan: s.plan}); err != nil {
			return err
		}
	}
	s.serveAttach()
	return s.attachObservers()
}

// Opened is a session with everything that must be closed after it.
type Opened struct {
	*session.Session
	Store       event.Store
	Trust       *Trust // nil for a session that is only read
	Confinement Confinement
	Git         *workspace.Git // pawl's own git
	// GitUses is what git's configuration makes git run, and what pawl's rules import.
	GitUses  func(files ...string) []tool.GitUse
	Warnings []string
	Custom   []slash.Custom // the person's own commands
	Plugins  []plugin.Plugin
	// StatusLine is nil if the person has none.
	StatusLine StatusLine
	// SetServers is agentsdk.Options.SetServers, nil for a session without a program.
	SetServers func(ctx context.Context, config []byte) (any, error)

	hold    func(...string) // hides secrets from now on
	model   ModelChoice
	closers []func() error
}

// Close closes the session, and then the services that it uses.
func (o *Opened) Close() {
	if o.Session != nil {
		// The run has already reported a broken log.
		_ = o.Session.Close()
	}
	for _, c := range slices.Backward(o.closers) {
		_ = c() // no acknowledged event depends on it
	}
}

func (o *Opened) onClose(c ...func() error) { o.closers = append(o.closers, c...) }

func (o *Opened) warn(lines ...string) { o.Warnings = append(o.Warnings, lines...) }
