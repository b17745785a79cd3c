package cli

import (
	"cmp"
	"fmt"
	"io"
	"strings"
	"sync"

	"github.com/pawl-agent/pawl/internal/adapter/checks"
	"github.com/pawl-agent/pawl/internal/adapter/folder"
	"github.com/pawl-agent/pawl/internal/adapter/lsp"
	"github.com/pawl-agent/pawl/internal/adapter/settings"
	"github.com/pawl-agent/pawl/internal/core/event"
	"github.com/pawl-agent/pawl/internal/core/fault"
	"github.com/pawl-agent/pawl/internal/frontend/plain"
	"github.com/pawl-agent/pawl/internal/policy/hook"
	"github.com/pawl-agent/pawl/internal/policy/permission"
	"github.com/pawl-agent/pawl/internal/policy/trust"
)

// folderTrust decides which of a folder's own programs pawl may run by itself
// (SPEC 16.1), for one session. At the start only the folder itself is read;
// projects below it are read when a check of theirs is about to run.
type folderTrust struct {
	dir, home string
	// as, if set, is the folder whose answer counts: dir is a worker's copy of it.
	// What has the same content there is trusted here; what a worker changed is not.
	as      string
	store   settings.Trust
	finder  *checks.Finder // nil: no checks are run
	servers []lsp.Server   // the language servers that may be started
	find    func(program string) (string, error)
	// by is who trusts the folder independent of stored answers: "flag", "pawl", or "".
	by      string
	folder  string // see folder.Identity
	verdict trust.Verdict

	met *firstMet // used if by is set

	mcp       *trust.Source // the folder's MCP servers as they were read; nil: none
	hooks     []hook.Rule   // that the folder configures
	hookParts []trust.Part
}

// firstMet are the first hashes of the parts of a folder that is trusted
// independent of stored answers: changes by a run are not trusted, nor in the
// conversation that continues it.
type firstMet struct {
	mu     sync.Mutex
	hashes map[string]string
}

// of returns the first hash of a part.
func (m *firstMet) of(p trust.Part) string {
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

// trustOf reads what the folder configures, and asks a person about it if it
// would be used and they were not asked yet.
func (a *App) trustOf(f *flags, c choices, fr front, o *opened) (*folderTrust, error) {
	t := &folderTrust{
		dir: c.dir, as: f.trustedAs, home: a.Env("HOME"), store: c.paths.Trust(),
		finder: f.fixing.finder(c.conf.User, c.dir, a.Env), servers: serverTable(c.conf.User.LSP), find: a.serverProgram, met: cmp.Or(f.met, &firstMet{}),
	}
	switch {
	case fr.made:
		t.by = "pawl"
	case f.trust && a.inPawl():
		return nil, usageError("--trust is for a person, and this was started by pawl itself")
	case f.trust:
		t.by = "flag"
	}
	var parts []trust.Part
	if t.finder != nil && c.perm.Mode() != permission.Plan { // which runs no check
		found, err := t.finder.Here()
		if err != nil {
			return nil, err
		}
		parts = t.finder.Parts(found)
	}
	parts = append(parts, lsp.Parts(t.dir, t.servers, t.find)...)
	servers, err := t.readServers()
	if err != nil {
		return nil, err
	}
	parts = append(parts, servers...)
	if t.hooks, t.hookParts, err = folder.Hooks(t.dir); err != nil {
		return nil, err
	}
	parts = append(parts, t.hookParts...)
	warn := func(err error) { o.warnings = append(o.warnings, err.Error()) }
	if err := t.judge(parts); err != nil {
		warn(err)
	}
	if t.verdict.State != trust.Trusted {
		more, err := folder.Look(t.dir)
		if err != nil {
			return nil, err
		}
		for _, p := range more {
			if p.Kind != trust.MCP && p.Kind != trust.Hook { // those are among them
				parts = append(parts, p)
			}
		}
		if err := t.judge(parts); err != nil && t.verdict.State == "" {
			warn(err)
		}
	}
	if t.by == "" && fr.person && fr.confirm != nil && len(t.verdict.Asks()) > 0 && !t.verdict.Declined {
		if err := a.askTrust(t, fr); err != nil {
			return nil, err
		}
	}
	if fr.person {
		if text := inert(t.event()); text != "" {
			o.warnings = append(o.warnings, text)
		}
	}
	return t, nil
}

// judge compares parts of the folder with the stored answer. An unreadable
// answer counts as missing, and is reported.
func (t *folderTrust) judge(parts []trust.Part) error {
	v, err := t.compare(parts)
	t.verdict = v
	return err
}

func (t *folderTrust) compare(parts []trust.Part) (trust.Verdict, error) {
	if t.by != "" {
		e := trust.Accept(t.dir, "", noTime, true, nil)
		for _, p := range parts {
			e.Parts[p.Key()] = trust.Stored{Hash: t.met.of(p)}
		}
		return trust.Judge(&e, "", parts), nil
	}
	of := cmp.Or(t.as, t.dir)
	if t.store.Within(t.dir, t.home) || t.store.Within(of, t.home) {
		return trust.Judge(nil, "", parts), t.misplaced()
	}
	id, err := folder.Identity(of)
	if err != nil {
		return trust.Judge(nil, "", parts), err
	}
	t.folder = id
	e, err := t.store.Of(of, id)
	return trust.Judge(e, id, parts), err
}

// misplaced is the error for a store that the folder could contain.
func (t *folderTrust) misplaced() error {
	return fault.NewConfiguration("set PAWL_HOME to a folder elsewhere", "%s is within the folder that it would speak of, so nothing is trusted by it", t.store.Dir)
}

// trusted is autofix.Config.Trusted: it checks the present definition of a check.
func (t *folderTrust) trusted(c checks.Check) (untrusted, stamp string) {
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
		return "what defines it changed in this run", stamp
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

// checks reports whether all the checks of the folder are trusted in their
// present state: by the person's flag for this run, or because they were asked.
func (t *folderTrust) checks(finder *checks.Finder) (bool, error) {
	if t.by != "" || t.verdict.State == trust.Untrusted {
		return t.by != "", nil
	}
	found, whole, err := finder.Everywhere()
	if err != nil || !whole {
		return false, err
	}
	v, _ := t.compare(finder.Parts(found)) // unreadable parts were reported and are not trusted
	return v.State == trust.Trusted, nil
}

// event returns the event for the log and the result, nil for nothing.
func (t *folderTrust) event() *event.FolderTrust {
	if t == nil {
		return nil
	}
	e := &event.FolderTrust{State: string(t.verdict.State)}
	if t.verdict.State == trust.Trusted {
		if e.By = t.by; e.By == "" {
			e.By = "person"
		}
		return e
	}
	for _, p := range t.verdict.Inert() {
		e.Inert = append(e.Inert, event.InertPart{Kind: string(p.Kind), Name: p.Name, Runs: p.Runs, Why: p.Why})
	}
	return e
}

// askTrust shows a person what would run of the folder, and stores their
// answer. It reads all projects in the folder.
func (a *App) askTrust(t *folderTrust, fr front) error {
	parts, whole, err := t.everything()
	if err != nil {
		return err
	}
	if err := t.judge(parts); err != nil {
		return err // it was told; nothing could be stored
	}
	t.show(fr.out, whole)
	yes, err := fr.confirm("trust this folder? [y]es, [n]o: ")
	if err != nil {
		return err
	}
	if err := t.keep(a, yes, parts); err != nil {
		return err
	}
	return t.judge(parts)
}

// everything returns all that the folder configures; whole is false if it has
// more projects than are read.
func (t *folderTrust) everything() (parts []trust.Part, whole bool, err error) {
	found, whole, err := t.finder.Everywhere()
	if err != nil {
		return nil, false, err
	}
	more, err := folder.Look(t.dir)
	parts = append(t.finder.Parts(found), lsp.Parts(t.dir, t.servers, t.find)...)
	return append(parts, more...), whole, err
}

func (t *folderTrust) keep(a *App, yes bool, parts []trust.Part) error {
	if t.store.Within(t.dir, t.home) {
		return t.misplaced()
	}
	return t.store.Keep(trust.Accept(t.dir, t.folder, a.Now(), yes, parts))
}

// Limits of how many parts, and lines of each, a person is shown.
const (
	shownParts = 20
	shownLines = 8
)

// show shows what runs of the folder, with the relevant lines, and what changed.
func (t *folderTrust) show(out io.Writer, whole bool) {
	say := func(format string, args ...any) { fmt.Fprintln(out, plain.Line(fmt.Sprintf(format, args...))) }
	v := t.verdict
	is := map[trust.State]string{
		trust.Nothing: "there is nothing in it that pawl would run by itself", trust.Trusted: "trusted", trust.Untrusted: "not trusted", trust.Changed: "changed since it was trusted",
	}[v.State]
	switch {
	case v.Replaced:
		is = "another folder than the one that was trusted at this path"
	case v.Declined:
		is = "not trusted: you said no"
	}
	say("%s: %s", t.dir, is)
	head := true
	n := 0
	for _, p := range v.Parts {
		if !p.Kind.Runs() {
			continue
		}
		if head {
			say("pawl runs by itself, as you, checks after changes, language servers when code is asked about, MCP servers for their tools and hooks:")
			head = false
		}
		if n++; n > shownParts {
			continue
		}
		mark := ""
		if !p.Trusted && v.State == trust.Changed {
			mark = " (" + p.Why + ")"
		}
		name := p.Name
		switch p.Kind {
		case trust.LSP:
			name = "language server " + name
		case trust.MCP:
			name = "MCP server " + name
		case trust.Hook:
			name = "hook " + name
		}
		say("  %s: %s%s", name, strings.Join(p.Runs, ", "), mark)
		lines := p.Lines
		if p.Was != nil && !p.Trusted {
			lines = p.Difference()
		}
		for i, l := range lines {
			if i == shownLines {
				say("      … and %d lines more", len(lines)-i)
				break
			}
			say("      %s", l)
		}
	}
	if n > shownParts {
		say("  … and %d more; pawl trust status --json lists all", n-shownParts)
	}
	if !whole {
		say("  there are more projects than were looked at; pawl asks about a check of theirs when it would run")
	}
	if n > 0 {
		say("to trust it is to trust the code that these run, tests too: an edit of source does not ask again, a change of what is shown here does")
	}
	head = true
	for i, p := range v.Parts {
		if p.Kind.Runs() {
			continue
		}
		if head {
			say("not run by this pawl, trusted or not:")
			head = false
		}
		if i-n >= shownParts {
			say("  … and more; pawl trust status --json lists all")
			break
		}
		line := "  " + string(p.Kind) + ": " + p.Name
		if len(p.Runs) > 0 {
			line += ": " + strings.Join(p.Runs, ", ")
		}
		say("%s", line)
	}
}
