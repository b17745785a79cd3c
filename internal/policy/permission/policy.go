package permission

import (
	"cmp"
	"fmt"
	"maps"
	"path"
	"slices"
	"strings"

	"github.com/pawl-agent/pawl/internal/core/event"
	"github.com/pawl-agent/pawl/internal/core/process"
	"github.com/pawl-agent/pawl/internal/core/tool"
	"github.com/pawl-agent/pawl/internal/policy/confine"
)

// Verdict is what happens to a call. The zero Verdict denies.
type Verdict int

// The verdicts.
const (
	Deny Verdict = iota
	Ask
	Allow
)

func (v Verdict) String() string { return [...]string{"deny", "ask", "allow"}[v] }

// Call is the call to decide.
type Call struct {
	Tool             string
	Family           string   // see tool.Facts
	Aliases          []string // see tool.Facts
	AnsweredByPerson bool     // see tool.Facts
	ListsTools       bool     // see tool.Facts
	Mention          bool     // a person's prompt names the file that it shows
	Written          bool     // pawl makes it, as a person or a file wrote it, and not a model
	ReadOnly         bool     // the tool's author declares that it changes nothing
	Footprint        tool.Footprint
	// Subject is what the brackets of a rule name if the call touches no file, command
	// or host: the kind of an agent, a skill. "": they can name nothing.
	Subject string
}

// Decision is the result. Reason is one sentence without the full stop, for the model
// and for the person.
type Decision struct {
	Verdict Verdict
	By      event.BlockedBy
	Reason  string
	Rule    string // the rule that decided, as it was written
	// Pattern is what a session grant or a permanent grant would add: one rule, or
	// several with commas. Empty: the call can only be allowed once.
	Pattern string
	// CanAlways: the grant may be permanent.
	CanAlways bool
	// Flag is what a headless run would need on its command line, "" if no flag
	// would allow it.
	Flag string
	// Instead is a sentence on what the model can do in this run where the call is
	// not allowed, "" if nothing is known.
	Instead string
	// MissingRight is the right that the call needs and the turn's route lacks, "" if
	// it lacks none. Explicit: somebody asked for this restriction.
	MissingRight string
	Explicit     bool
	// Confine is what the processes of the call may access when it runs.
	Confine process.Confine
	// Changes are the rules that would let the call change the workspace, if Confine.Asks;
	// "": it can be allowed only once. CanAlways says whether they may be permanent.
	Changes string
}

// Config is the configuration of a Policy.
type Config struct {
	Mode Mode
	Root string // the workspace's real path
	Home string // the user's home; "": ~ is unknown
	// RealHome is where Home leads, if that is another path.
	RealHome string
	// Spill is the folder of outputs stored for the model, which may read there.
	Spill string
	// State is pawl's own folder with its keys: no tool may read it.
	State string
	// Own are pawl's other folders, which no command may read either.
	Own []string
	// POSIX: commands run in a plain sh, since the machine has no bash.
	POSIX bool
	// Sandbox is the confinement that the kernel offers.
	Sandbox Sandbox
	// Readable returns what a confined command may read on this machine: toolchains
	// and caches, wherever they are. That takes a while, so it is called only for a
	// path outside the workspace. nil: what is usual in a system and in Home.
	Readable func() confine.Policy `freeze:"-"`
	// Scratch reports whether a path is the session's own in the folder for temporary files
	// that everybody shares; with write, or a new name there. nil: nothing is.
	Scratch func(path string, write bool) bool `freeze:"-"`
	// Runs returns the files of the workspace that a command line is made of. It is called
	// only if a rule would let the command run where nothing confines it. nil: not known.
	Runs func(line string) []Ran `freeze:"-"`
	// Refused are modes that cannot be chosen, each with who refuses it.
	Refused map[Mode]string
}

// Policy is the rules in effect: a fold over the events of a session. It is not safe
// for concurrent use.
type Policy struct {
	cfg     Config
	mode    Mode
	rules   []Rule
	ignored []Rule
	// changed are the base names of files the agent changed, folded.
	changed      map[string]bool
	git          []tool.GitUse  // what git runs or reads in the call that is judged
	runs         func() []Ran   // what its command line runs
	began        moment         // when the session was opened first
	holdsHome    bool           // see HoldsHome
	unconfinable string         // see whyUnconfinable
	trusted      bool           // see Trust
	system       confine.Policy // what every confined command may read
	keys         []string       // what no confined command may read
	// turn is the route of the running turn, which limits the rights, folded.
	turn event.Routed
	// limits are the tool lists of commands and skills for the running turn, folded;
	// parentLimits are those of the turn that this session works for.
	limits, parentLimits limits
}

// New returns a policy without rules.
func New(cfg Config) *Policy {
	if cfg.Mode == "" {
		cfg.Mode = Default(true)
	}
	cfg.Root = clean(cfg.Root)
	cfg.Home, cfg.RealHome = clean(cfg.Home), clean(cfg.RealHome)
	cfg.Spill, cfg.State = clean(cfg.Spill), clean(cfg.State)
	p := &Policy{cfg: cfg, mode: cfg.Mode, holdsHome: cfg.Root != "" && (HoldsHome(cfg.Root, cfg.Home) || HoldsHome(cfg.Root, cfg.RealHome)), changed: map[string]bool{}}
	p.unconfinable = whyUnconfinable(cfg)
	p.system = confine.New(confine.ReadOnly, confine.Facts{Home: cfg.Home})
	p.keys = slices.Concat(p.system.Secrets, confine.New(confine.ReadOnly, confine.Facts{Home: cfg.RealHome}).Secrets)
	return p
}

// Copy returns a policy with the same rules, into which other events can be folded.
func (p *Policy) Copy() *Policy {
	q := *p
	q.rules, q.changed, q.began = slices.Clone(p.rules), maps.Clone(p.changed), 0
	return &q
}

// Trust records that the person trusts the programs that the folder's checks run (SPEC
// 16.1). Without a sandbox they run as the person.
func (p *Policy) Trust() { p.trusted = true }

func clean(p string) string {
	if p == "" {
		return ""
	}
	return path.Clean(p)
}

func (p *Policy) Mode() Mode { return p.mode }

// Sandbox returns the confinement that the kernel offers.
func (p *Policy) Sandbox() Sandbox { return p.cfg.Sandbox }

// HoldsHome reports whether a folder is not a project's folder: the whole machine, all homes
// or a home. There the modes accept-edits and auto ask where they would not ask in a
// project.
func HoldsHome(root, home string) bool {
	root, home = clean(root), clean(home)
	return root == "/" || root == "/home" || root == "/Users" || home != "" && root == home
}

// In returns the same policy in another mode, to see what it would decide. The result
// is valid until the next event.
func (p *Policy) In(m Mode) *Policy {
	q := *p
	q.mode = m
	return &q
}

// Add adds the rules of one source. A project's allow rules are not added (SPEC
// 16.2); Explain lists them. The error names the rule that cannot be parsed; then none
// is added.
func (p *Policy) Add(from Source, allow, ask, deny []string) error {
	var all []Rule
	for _, set := range []struct {
		list  List
		texts []string
	}{{Allows, allow}, {Asks, ask}, {Denies, deny}} {
		for _, text := range set.texts {
			rs, err := ParseRules(set.list, from, text)
			if err != nil {
				return err
			}
			all = append(all, rs...)
		}
	}
	p.AddRules(all)
	return nil
}

// AddRules adds rules that were parsed, as Add does.
func (p *Policy) AddRules(rules []Rule) {
	for _, r := range rules {
		if r.From == Project && r.List == Allows {
			p.ignored = append(p.ignored, r)
			continue
		}
		p.rules = append(p.rules, r)
	}
}

// Guarded returns a function that reports whether a deny or ask rule names a file that
// is read; nil without such a rule. It is safe for concurrent use.
func (p *Policy) Guarded() func(path string) bool {
	rules := slices.DeleteFunc(slices.Clone(p.rules), func(r Rule) bool {
		return r.List == Allows || r.Bare || r.family() != tool.ReadFamily
	})
	if len(rules) == 0 {
		return nil
	}
	own := Policy{cfg: p.cfg}
	return func(path string) bool {
		abs := own.abs(path)
		return slices.ContainsFunc(rules, func(r Rule) bool { return own.pathMatch(r.Pattern, abs, true) })
	}
}

func (p *Policy) Rules() []Rule { return slices.Clone(p.rules) }

// Apply implements event.Fold: grants, modes, and changed definitions of checks
// (SPEC 16.4).
func (p *Policy) Apply(e event.Event) {
	switch b := e.Body.(type) {
	case event.Opened:
		p.setMode(b.Mode)
		if p.began == 0 {
			p.began = at(e.Time)
		}
	case event.Resumed:
		p.setMode(b.Mode)
	case event.ModeSet:
		p.setMode(b.Mode)
	case event.Granted:
		list := map[event.Scope]List{event.Session: Allows, event.Always: Allows, event.Never: Denies}[b.Scope]
		if list == "" {
			return
		}
		// A rule of a newer version that cannot be read grants nothing.
		if rs, err := ParseRules(list, Granted, b.Rule); err == nil {
			for _, r := range rs {
				r.agreed = at(e.Time)
				i := slices.IndexFunc(p.rules, func(o Rule) bool { return o.Text == r.Text && o.List == list && o.From == Granted })
				if i < 0 {
					p.rules = append(p.rules, r)
				} else {
					p.rules[i].agreed = r.agreed
				}
			}
		}
	case event.Revoked:
		if rs, err := ParseRules(Allows, Granted, b.Rule); err == nil {
			p.rules = slices.DeleteFunc(p.rules, func(o Rule) bool {
				return o.From == Granted && slices.ContainsFunc(rs, func(r Rule) bool { return r.Text == o.Text })
			})
		}
	case event.Prompted:
		if b.Source == event.Person { // prompts by checks or hooks do not change it
			p.turn = event.Routed{}
		}
	case event.Routed:
		p.turn = b
	case event.Narrowed:
		p.limit(b)
	case event.Ended:
		p.limits, p.rules = nil, slices.DeleteFunc(p.rules, ofTurn)
	case event.FileChanged:
		if b.Tool == "command" { // the person's own
			return
		}
		p.changed[fold(path.Base(b.Path))] = true
	case event.CallDone:
		p.ran(b.Command)
	case event.AgentCalled:
		p.ran(b.Done.Command)
	}
}

func (p *Policy) setMode(s string) {
	m, err := ParseMode(s)
	switch {
	case err != nil || s == "":
	case p.Refuses(m) != nil: // the session is older than the refusal
		p.mode = p.cfg.Mode
	default:
		p.mode = m
	}
}

// Refuses returns why a mode cannot be chosen, nil if it can.
func (p *Policy) Refuses(m Mode) error {
	if by := p.cfg.Refused[m]; by != "" {
		return fmt.Errorf("the mode %s is refused by %s", m, by)
	}
	return nil
}

// Explain returns lines that describe what is in effect, for "pawl permissions".
func (p *Policy) Explain() []string {
	out := []string{"mode " + string(p.mode) + ": " + p.mode.About()}
	for _, l := range []List{Denies, Asks, Allows} {
		for _, r := range p.rules {
			if r.List == l {
				out = append(out, fmt.Sprintf("%-5s %s (%s)", l, r.Text, cmp.Or(r.Origin, string(r.From))))
			}
		}
	}
	for _, r := range p.ignored {
		out = append(out, fmt.Sprintf("not in force: allow %s (a project cannot allow)", r.Text))
	}
	return append(out,
		"always asks: writing "+strings.Join(protectedNames, " ")+", and what is outside the workspace",
		"always refused: removing the system, the home or the workspace; git hooks and configuration; key files; downloads run as code; disks; shutdown")
}
