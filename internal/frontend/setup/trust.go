package setup

import (
	"cmp"
	"errors"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/pawl-agent/pawl/internal/adapter/agents"
	"github.com/pawl-agent/pawl/internal/adapter/checks"
	"github.com/pawl-agent/pawl/internal/adapter/folder"
	"github.com/pawl-agent/pawl/internal/adapter/lsp"
	"github.com/pawl-agent/pawl/internal/adapter/mcp"
	"github.com/pawl-agent/pawl/internal/adapter/settings"
	"github.com/pawl-agent/pawl/internal/core/event"
	"github.com/pawl-agent/pawl/internal/core/fault"
	"github.com/pawl-agent/pawl/internal/frontend/brief"
	"github.com/pawl-agent/pawl/internal/policy/hook"
	"github.com/pawl-agent/pawl/internal/policy/trust"
)

// Trust decides, for one session, which of a folder's own programs pawl may run
// automatically (SPEC 16.1). At the start only the folder itself is read; a project
// below it is read when one of its checks is about to run.
type Trust struct {
	Dir  string
	home string
	// as, if set, is the folder whose stored answer applies: Dir is a worker's copy of
	// it. Parts with the same content are trusted; those that a worker changed are not.
	as      string
	store   settings.Trust
	finder  *checks.Finder // nil: no checks are run
	here    []checks.Check // what it found at the start
	servers []lsp.Server   // the language servers that may be started
	find    func(program string) (string, error)
	// by is who trusts the folder regardless of stored answers: "flag", "pawl", or "".
	by         string
	folder     string           // see folder.Identity
	Assessment trust.Assessment // on the parts that were judged last

	first *firstHashes // used if by is set

	// servers of the person, read once; own are those that depend on the folder.
	personal    []mcp.Server
	personalErr error
	own         []mcp.Server

	mcp       *trust.Source  // the folder's MCP servers as they were read; nil: none
	agentMCP  []trust.Source // and those of its agents
	agentOwn  []mcp.Server   // those of the person's agents
	hooks     []hook.Rule    // configured by the folder
	hookParts []trust.Part
	ownHooks  []hook.Rule // see dependentHooks
	userHooks []hook.Rule // the person's
}

// firstHashes are the first hashes of the parts of a folder that is trusted regardless
// of stored answers. Changes that a run makes are not trusted, nor are they in the
// conversation that continues it.
type firstHashes struct {
	mu     sync.Mutex
	hashes map[string]string
}

// of returns the first hash of a part.
func (m *firstHashes) of(p trust.Part) string {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.hashes == nil {
		m.hashes = map[string]string{}
	}
	if _, met := m.hashes[p.Key()]; !met {
		m.hashes[p.Key()] = p.Hash
	}
	return m.hashes[p.Key()]
}

// folderTrust reads what the folder configures, and asks a person about it if pawl
// would use it and they have not answered yet.
func (s *opening) folderTrust() error {
	opt := s.opt
	t := s.newTrust(s.conf, s.paths, s.session.Dir, s.given, opt.Driver.Agents)
	if s.o.Trust, t.as = t, opt.TrustedAs; !opt.autofix(s.conf.User) {
		t.finder = nil
	}
	t.userHooks = s.userHooks(s.conf, s.paths, t.Dir)
	for _, k := range opt.Driver.Agents {
		t.userHooks = append(t.userHooks, k.Rules...)
	}
	t.ownHooks = t.dependentHooks(slices.Concat(t.userHooks, pluginHooks(s.plugins)), s.o.Confinement)
	switch {
	case s.fr.OwnFolder:
		t.by = "pawl"
	case opt.Trust && s.InPawl():
		return Usage("only a person can use --trust; this pawl was started by an agent")
	case opt.Trust:
		t.by = "flag"
	}
	parts, err := t.ownParts(!s.session.Permission.Mode().ReadsOnly()) // such a mode runs no check
	if err != nil {
		return err
	}
	if err := t.Assess(parts); err != nil {
		s.o.warn(err.Error())
	}
	if t.Assessment.State != trust.Trusted {
		if err := t.judgeRest(parts, s.o); err != nil {
			return err
		}
	}
	if t.by == "" && s.fr.Person && s.fr.Confirm != nil && len(t.Assessment.Asks()) > 0 && !t.Assessment.Declined {
		if err := t.ask(s.fr, s.Now); err != nil {
			return err
		}
	}
	if s.fr.Person {
		if text := brief.Inert(*t.Event()); text != "" {
			s.o.warn(text)
		}
	}
	return nil
}

// newTrust returns what is decided for a folder, as far as the person's own configuration
// says it.
func (e *Environment) newTrust(conf settings.Loaded, paths settings.Paths, dir string, given []mcp.Server, defined []agents.Kind) *Trust {
	t := &Trust{
		Dir: dir, home: e.Env("HOME"), store: paths.Trust(), first: &e.process().first,
		finder: finderOf(conf.User, dir, e.Env), servers: serverTable(conf.User.LSP), find: e.serverProgram,
	}
	t.personal, t.personalErr = e.ownServers(paths, dir)
	t.agentOwn = e.ownAgentServers(conf, paths, dir, defined)
	t.own = slices.Concat(t.dependent(t.personal), t.dependent(given), t.dependent(t.agentOwn))
	return t
}

// ownParts returns what the folder itself makes pawl run automatically: its checks,
// language servers, MCP servers and hooks.
func (t *Trust) ownParts(checks bool) (parts []trust.Part, err error) {
	if t.finder != nil && checks {
		if t.here, err = t.finder.Here(); err != nil {
			return nil, err
		}
		parts = t.finder.Parts(t.here)
	}
	parts = append(parts, lsp.Parts(t.Dir, t.servers, t.find)...)
	servers, err := t.readServers()
	if err != nil {
		return nil, err
	}
	if t.hooks, t.hookParts, err = folder.Hooks(t.Dir); err != nil {
		return nil, err
	}
	own, err := t.ownHookParts()
	return slices.Concat(parts, servers, t.hookParts, own), err
}

// judgeRest also judges what a folder configures for other agents, so that a person is
// shown it.
func (t *Trust) judgeRest(parts []trust.Part, o *Opened) error {
	more, err := folder.Look(t.Dir)
	if err != nil {
		return err
	}
	for _, p := range more {
		if p.Kind != trust.MCP && p.Kind != trust.Hook { // these are in parts already
			parts = append(parts, p)
		}
	}
	if err := t.Assess(parts); err != nil && t.Assessment.State == "" {
		o.warn(err.Error())
	}
	return nil
}

// Assess compares parts of the folder with the stored answer. An unreadable answer
// counts as missing; its error is returned.
func (t *Trust) Assess(parts []trust.Part) error {
	v, err := t.compare(parts)
	t.Assessment = v
	return err
}

func (t *Trust) compare(parts []trust.Part) (trust.Assessment, error) {
	if t.by != "" {
		e := trust.Accept(t.Dir, "", time.Time{}, true, nil)
		for _, p := range parts {
			e.Parts[p.Key()] = trust.AnsweredPart{Hash: t.first.of(p)}
		}
		return trust.Assess(&e, "", parts), nil
	}
	of := cmp.Or(t.as, t.Dir)
	if t.store.Within(t.Dir, t.home) || t.store.Within(of, t.home) {
		return trust.Assess(nil, "", parts), t.misplaced()
	}
	id, err := folder.Identity(of)
	if err != nil {
		return trust.Assess(nil, "", parts), err
	}
	t.folder = id
	e, err := t.store.Of(of, id)
	return trust.Assess(e, id, parts), err
}

// misplaced returns the error for a store of answers that lies in the folder itself.
func (t *Trust) misplaced() error {
	return fault.NewConfiguration("set PAWL_HOME to a folder outside it", "%s, where answers are stored, is in the folder itself, so nothing is trusted", t.store.Dir)
}

// checkTrusted is autofix.Config.Trusted: it judges the present definition of a check.
func (t *Trust) checkTrusted(c checks.Check) (untrusted, stamp string) {
	parts := t.finder.Parts([]checks.Check{c})
	v, err := t.compare(parts)
	stamp = parts[0].Hash
	open := v.Asks()
	switch {
	case len(open) == 0:
		return "", stamp
	case err != nil:
		return err.Error(), stamp
	case t.by != "":
		return "its definition changed in this run", stamp
	}
	untrusted = open[0].Why
	if diff := open[0].Difference(); len(diff) > 0 {
		if len(diff) > 3 {
			diff = append(diff[:3], "…")
		}
		untrusted += ": " + strings.Join(diff, "; ")
	}
	return untrusted, stamp
}

// allChecks reports whether all checks of the folder are trusted in their present
// state: by the run's flag, or by a person's stored answer.
func (t *Trust) allChecks(finder *checks.Finder) (bool, error) {
	if t.by != "" || t.Assessment.State == trust.Untrusted {
		return t.by != "", nil
	}
	found, whole, err := finder.Everywhere()
	if err != nil || !whole {
		return false, err
	}
	v, _ := t.compare(finder.Parts(found)) // unreadable parts were reported and are not trusted
	return v.State == trust.Trusted, nil
}

// Event returns the event for the log and the result, nil if t is nil.
func (t *Trust) Event() *event.FolderTrust {
	if t == nil {
		return nil
	}
	e := &event.FolderTrust{State: string(t.Assessment.State)}
	if t.Assessment.State == trust.Trusted {
		if e.By = t.by; e.By == "" {
			e.By = "person"
		}
		return e
	}
	for _, p := range t.Assessment.Inert() {
		runs := slices.DeleteFunc(slices.Clone(p.Runs), t.untold)
		e.Inert = append(e.Inert, event.InertPart{Kind: string(p.Kind), Name: p.Name, Runs: runs, Why: p.Why})
	}
	return e
}

// untold reports whether a command is a check that a change of the sources does not
// trigger: the model is not told of it, and a person is asked about it and no more.
func (t *Trust) untold(line string) bool {
	named := func(c checks.Check) bool { return c.Command == line }
	return t.finder != nil && slices.ContainsFunc(t.here, named) && !slices.ContainsFunc(t.finder.Promised(t.here), named)
}

// ask shows a person what the folder would run, and stores their answer. It reads all
// projects in the folder.
func (t *Trust) ask(fr Frontend, now func() time.Time) error {
	parts, whole, err := t.everything()
	if err != nil {
		return err
	}
	if err := t.Assess(parts); err != nil {
		return err // already reported; nothing could be stored
	}
	fr.ShowTrust(t, whole)
	yes, err := fr.Confirm("trust this folder?")
	switch {
	case errors.Is(err, ErrLater): // nothing is stored, so the next start asks again
		return nil
	case err != nil:
		return err
	}
	return t.Answer(yes, parts, now())
}

// everything returns all that the folder configures. whole is false if the folder has
// more projects than are read.
func (t *Trust) everything() (parts []trust.Part, whole bool, err error) {
	found, whole, err := t.finder.Everywhere()
	if err != nil {
		return nil, false, err
	}
	more, err := folder.Look(t.Dir)
	if err != nil {
		return nil, false, err
	}
	own, err := t.ownServerParts()
	if err != nil {
		return nil, false, err
	}
	hooks, err := t.ownHookParts()
	parts = append(t.finder.Parts(found), lsp.Parts(t.Dir, t.servers, t.find)...)
	return slices.Concat(parts, more, own, hooks), whole, err
}

// Answer stores a person's answer about parts of the folder, and judges them again.
func (t *Trust) Answer(yes bool, parts []trust.Part, now time.Time) error {
	if t.store.Within(t.Dir, t.home) {
		return t.misplaced()
	}
	if err := t.store.Keep(trust.Accept(t.Dir, t.folder, now, yes, parts)); err != nil {
		return err
	}
	return t.Assess(parts)
}

// Revoke deletes the stored answer, and reports whether it existed.
func (t *Trust) Revoke() (found bool, err error) {
	path := t.Dir
	if e, _ := t.store.Of(t.Dir, t.folder); e != nil { // an unreadable answer is removed as well
		path = e.Path
	}
	return t.store.Revoke(path)
}

// StoredTrust returns the stored answer about a folder, "" for the current one, without
// reading what the folder configures.
func (e *Environment) StoredTrust(dir string) (*Trust, error) {
	real, err := e.RealDir(dir)
	if err != nil {
		return nil, err
	}
	conf, paths, err := e.SettingsIn(real)
	if err != nil {
		return nil, err
	}
	t := e.newTrust(conf, paths, real, nil, nil)
	t.folder, err = folder.Identity(real)
	return t, err
}

// ReadTrust reads and judges all of a folder, "" for the current one. whole is false if
// it has more projects than are read.
func (e *Environment) ReadTrust(dir string) (t *Trust, parts []trust.Part, whole bool, err error) {
	if t, err = e.StoredTrust(dir); err == nil {
		err = e.readOwnHooks(t)
	}
	if err != nil {
		return nil, nil, false, err
	}
	if parts, whole, err = t.everything(); err != nil {
		return nil, nil, false, err
	}
	return t, parts, whole, t.Assess(parts)
}
