package sandbox

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/pawl-agent/pawl/internal/adapter/sandbox/warm"
	"github.com/pawl-agent/pawl/internal/core/process"
	"github.com/pawl-agent/pawl/internal/policy/confine"
)

// Boxes confines the processes of a session. It opens a box for each kind of confinement
// when it is first needed. It implements process.Confiner and is safe for concurrent use.
type Boxes struct {
	// Temporary: Close removes the caches of the commands.
	Temporary bool
	// Self is pawl's own program, which go commands start to read the person's
	// build cache (package gocache). "": they use only the sandbox's own.
	Self string
	// Short returns what the machine is short of, memory or disk, and why that is known;
	// "" if nothing. Commands that used it up are ended. nil: nothing is.
	Short          func() (what, why string)
	root           string // the workspace
	env            func(string) string
	pruneOnce      sync.Once                      // after the caches
	spill          string                         // of pawl's own state, what it kept for the model
	locateOnce     func() (confine.Facts, string) // what a command needs but the toolchains of PATH
	toolchainsOnce func() (confine.Facts, string) // with these, which take a while to find
	git            *GitUses
	scratch        *scratch
	warm           *warm.Filler // set by the first call of locateOnce

	mu     sync.Mutex
	closed bool
	open   map[string]*Box
	temp   string // the folder of temporary caches
	drop   func() error
	also   func() []string
}

var _ process.Confiner = (*Boxes)(nil)

// NewBoxes returns the boxes of a workspace, none of them open; commands read
// nothing of state. Files in spill can be granted although they are part of the state.
func NewBoxes(env func(string) string, root, spill string, state ...string) *Boxes {
	b := &Boxes{env: env, root: real(root), spill: real(spill), open: map[string]*Box{}, git: NewGitUses(env, root), scratch: newScratch()}
	b.locateOnce = sync.OnceValues(func() (confine.Facts, string) {
		facts, own, persons := locate(env, root, state...)
		b.warm = warm.New(persons, facts.Root)
		return facts, own
	})
	b.toolchainsOnce = sync.OnceValues(func() (confine.Facts, string) {
		facts, own := b.locateOnce()
		return withToolchains(facts, env), own
	})
	return b
}

// Keep sets what returns more files that are kept as those are which git runs.
func (b *Boxes) Keep(also func() []string) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.also = also
}

// Try reports whether commands can be confined at the levels read-only and workspace.
// It confines a thread as the start of a command does. In passing it removes what dead
// sessions left.
func (b *Boxes) Try() (readOnly, workspace error) {
	go sweepTemps()
	facts, _ := b.locateOnce()
	if err := confine.New(confine.ReadOnly, facts).Validate(); err != nil {
		return err, err
	}
	workspace = confine.New(confine.Workspace, facts).Validate()
	if workspace == nil {
		workspace = oneLink(facts.Root)
	}
	if workspace == nil {
		if workspace = tryKernel(true); workspace == nil {
			return nil, nil // it asks the kernel for more than read-only
		}
	}
	if readOnly = tryKernel(false); readOnly != nil {
		return readOnly, readOnly
	}
	return nil, workspace
}

// Readable returns what the commands may read at every level. The first call takes a
// while.
func (b *Boxes) Readable() confine.Policy {
	facts, own := b.toolchainsOnce()
	if own != "" { // the messages of compilers name files there
		facts.Writes = append(slices.Clone(facts.Writes), real(own))
	}
	return confine.New(confine.ReadOnly, facts)
}

func (b *Boxes) Confine(cmd *exec.Cmd, c process.Confine, hold process.Hold) (process.Confined, error) {
	box, env, err := b.box(c, cmd.Dir)
	if err != nil {
		return nil, fmt.Errorf("%w: %w", process.ErrUnconfined, err)
	}
	cmd.Env = append(cmd.Env, env...)
	child, err := box.start(cmd, holding{hold: hold, asks: c.Asks, editors: c.Editors, keep: c.Keep, scratch: b.scratch, short: b.Short})
	if errors.Is(err, ErrMissing) {
		return nil, fmt.Errorf("%w: %w", process.ErrUnconfined, err)
	}
	if err != nil {
		return nil, err
	}
	return child, nil
}

// box returns the box for a confinement in dir, and the settings that its commands
// need.
func (b *Boxes) box(c process.Confine, dir string) (*Box, []string, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.closed {
		return nil, nil, errors.New("the session has ended")
	}
	facts, own := b.toolchainsOnce()
	if c.Root != "" {
		facts.Root, facts.Lists, facts.Parts, facts.Git, facts.Common = real(c.Root), nil, nil, nil, nil
	}
	var env []string
	switch c.Level {
	case process.ReadOnly: // nothing could be put into caches
	case process.Workspace:
		facts.Hosts = c.Hosts
		var err error
		if own, err = b.caches(own); err != nil {
			return nil, nil, err
		}
		if env, err = ownCaches(&facts, b.env, own); err != nil {
			return nil, nil, err
		}
		b.warm.Fill(own, dir)
		env = append(env, goCache(&facts, b.Self, b.env, own)...)
		facts.Kept = b.git.paths(dir + "/x")
		if b.also != nil {
			facts.Kept = append(facts.Kept, b.also()...)
		}
		if !b.Temporary {
			b.pruneOnce.Do(func() {
				now := time.Now()
				if caches, err := pruneDue(own, usualBounds, now); err == nil && caches != nil {
					go prune(caches, usualBounds, now)
				}
			})
		}
	default:
		return nil, nil, fmt.Errorf("there is no sandbox of the level %s", c.Level)
	}
	key := strings.Join(append([]string{c.Key()}, facts.Kept...), "\x00") // git's configuration may change
	if box, ok := b.open[key]; ok {
		return box, env, nil
	}
	policy := b.policy(facts, c)
	box, err := Open(policy)
	if errors.Is(err, ErrMissing) && len(policy.Hosts) > 0 {
		policy.Hosts = nil // stricter: without network
		box, err = Open(policy)
	}
	if err != nil {
		return nil, nil, err
	}
	for _, other := range b.open {
		box.share(other)
	}
	b.open[key] = box
	return box, env, nil
}

// policy returns the policy of a level, with the grants that are possible.
func (b *Boxes) policy(facts confine.Facts, c process.Confine) confine.Policy {
	var folders, files, reads, kept []string
	for _, own := range c.Own {
		facts.Writes = append(slices.Clone(facts.Writes), real(own))
	}
	p := confine.New(c.Level, facts)
	for _, w := range c.Writes {
		// Where it leads by now may be the workspace, whose protected files
		// nobody was asked about by this name.
		if at := real(w); at != w && confine.Within(facts.Root, at) && !confine.Within(facts.Root, w) {
			continue
		}
		w = real(w)
		st, err := os.Stat(w)
		folder := err == nil && st.IsDir()
		switch {
		case MayGrant(p, w, folder) != nil: // it stays refused
		case folder:
			folders = append(folders, w)
		default:
			files = append(files, w)
		}
	}
	for _, r := range c.Reads {
		if r = real(r); r != b.spill && confine.Within(b.spill, r) {
			kept = append(kept, r)
		} else {
			reads = append(reads, r)
		}
	}
	p = p.Grant(reads, folders, files)
	p.Reads = append(p.Reads, kept...)
	p.Rules = realRules(c.Rules, b.root, facts.Root)
	return p
}

// realRules returns rules by the paths that files really have: those of the workspace hold
// for its copy, and a rule that names a link holds for where it leads as well.
func realRules(rules []process.PathRule, root, at string) []process.PathRule {
	out := slices.Clone(rules)
	for i, r := range rules {
		if rest, ok := strings.CutPrefix(r.Pattern, root+"/"); ok {
			r.Pattern = at + "/" + rest
			out[i] = r
		}
		fixed := r.Pattern[:strings.IndexAny(r.Pattern+"*", "*?")]
		if fixed = strings.TrimSuffix(fixed[:strings.LastIndexByte(fixed+"/", '/')], "/"); len(fixed) == 0 {
			continue
		}
		if leads := real(fixed); leads != fixed {
			r.Pattern = leads + strings.TrimPrefix(r.Pattern, fixed)
			out = append(out, r)
		}
	}
	return out
}

func (b *Boxes) caches(own string) (string, error) {
	if own != "" && !b.Temporary {
		return own, nil
	}
	var err error
	if b.temp == "" {
		b.temp, b.drop, err = ownTemp()
	}
	return b.temp, err
}

// Close closes the boxes. Their commands must have ended.
func (b *Boxes) Close() error {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.closed = true
	var errs []error
	for _, box := range b.open {
		errs = append(errs, box.Close())
	}
	clear(b.open)
	if b.temp != "" {
		errs = append(errs, b.drop())
	}
	return errors.Join(errs...)
}

// holding is who decides for one command about what its policy does not cover. asks: also
// about its first change of the workspace.
type holding struct {
	hold    process.Hold // nil: nobody
	asks    bool
	editors []string     // see process.Confine
	line    string       // the arguments of the command, as /proc has them
	keep    process.Keep // nil: nothing is kept
	scratch *scratch     // the session's
	short   func() (what, why string)
}
