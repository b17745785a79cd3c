// Package confine describes what a command may touch: the policy that a sandbox
// enforces (SPEC 16.12). It is a value: nothing here reads the machine's state.
//
// It promises: the files that configure tools which run commands (.git/hooks,
// .pawl, AGENTS.md and the other protected names) cannot be changed or removed
// anywhere in the workspace; no folder can become a git repository; everything
// that is not in the lists is refused. Linux and Seatbelt return the policy in
// each system's form.
//
// It refuses a policy whose readable folders contain a secret (Validate), since
// neither system can reliably exclude a part of a readable folder. So the home
// folder itself cannot be the workspace.
package confine

import (
	"errors"
	"fmt"
	"path"
	"slices"
	"strings"

	"github.com/pawl-agent/pawl/internal/core/process"
	"github.com/pawl-agent/pawl/internal/policy/host"
)

// Level is how much a confined command may do.
type Level = process.Level

// The levels. At Workspace it has no network except between its own processes, and to the
// granted hosts.
const (
	ReadOnly  = process.ReadOnly
	Workspace = process.Workspace
)

// Policy is what a command may touch. All paths are absolute, clean and real
// (without symbolic links). The zero value allows nothing.
type Policy struct {
	Level Level
	Facts
	// Granted are folders that a person granted. They can be read, and the sandbox
	// itself makes the changes in them, as in the workspace: protected names hold.
	Granted []string
	// Opened are files that a person allowed to change, including protected
	// ones of the workspace: the sandbox changes them itself, as in the
	// workspace.
	Opened []string
	// Rules are the person's rules about paths, absolute. They take away from all of this.
	Rules []process.PathRule
	// Secrets are paths that nothing readable may contain: keys, pawl's own state.
	Secrets []string
	// Loopback allows connections between the sandbox's own processes.
	Loopback bool
	// Proxy is the loopback port of the proxy, for systems that must know it
	// beforehand (Seatbelt). 0: there is none yet.
	Proxy int
}

// Facts are the input of a policy, and a part of it.
type Facts struct {
	// Root is the workspace, "" for none. It is readable at every level. Protected
	// names hold in it.
	Root, Home string
	// State are pawl's own folders.
	State []string
	// Lists are folders in which only names can be listed. If the workspace contains
	// paths that no command may read, Lists has it and the folders down to Parts, and
	// Parts has its readable paths. Such a policy allows no change.
	Lists, Parts []string
	// Reads are other files and folders that can be read: as input, the toolchain folders
	// of this machine in unusual places, such as GOMODCACHE.
	Reads []string
	// Writes are folders that can be read and, from the level Workspace on,
	// changed: the sandbox's own. Protected names do not hold in them.
	Writes []string
	// Git are the workspace's own git folders outside it, which may be changed
	// like a .git in it. Common are those that a linked worktree shares with
	// others; only the shared parts may be changed.
	Git, Common []string
	// Kept are paths that git runs or reads because of its configuration. They are
	// protected like the configuration, wherever they are.
	Kept []string
	// Hosts are the person's grants, from the level Workspace on, in the form of
	// host.ParseGrant: example.org, *.example.org, example.org:8443. They can be reached
	// only through pawl's proxy.
	Hosts []string
}

func New(l Level, f Facts) Policy {
	p := Policy{Level: l, Facts: f, Loopback: l >= Workspace, Secrets: slices.Clone(f.State)}
	p.Reads = append(slices.Clone(system), f.Reads...)
	if f.Home != "" {
		for _, r := range toolchains {
			p.Reads = append(p.Reads, path.Join(f.Home, r))
		}
		for _, s := range keys {
			p.Secrets = append(p.Secrets, path.Join(f.Home, s))
		}
	}
	p.Secrets = append(p.Secrets, closed[:]...)
	if l < Workspace {
		p.Hosts = nil
	}
	return p
}

// ErrPolicy is wrapped by the errors of Validate.
var ErrPolicy = errors.New("this cannot be confined")

// Validate returns why a policy cannot be enforced, nil if it can.
func (p Policy) Validate() error {
	if p.Root == "" {
		return fmt.Errorf("%w: there is no workspace", ErrPolicy)
	}
	if err := p.Apart(); err != nil && (len(p.Lists) == 0 || p.Level > ReadOnly) {
		return err
	}
	for _, r := range slices.Concat(p.whole(), p.Reads, p.Writes, p.Granted, p.Git, p.Common) {
		if !path.IsAbs(r) || path.Clean(r) != r {
			return fmt.Errorf("%w: %q is not an absolute, clean path", ErrPolicy, r)
		}
		if err := p.holdsSecret(r); err != nil {
			return err
		}
	}
	for _, w := range p.Writes {
		if err := p.opensRoot(w); err != nil {
			return err
		}
	}
	for _, h := range p.Hosts {
		if _, err := host.ParseGrant(h); err != nil {
			return fmt.Errorf("%w: %w", ErrPolicy, err)
		}
	}
	return nil
}

// Apart returns why the workspace cannot be kept apart from what no command may
// read: it holds some of that, or lies in it; nil where it can.
func (p Policy) Apart() error {
	if err := p.holdsSecret(p.Root); err != nil {
		return err
	}
	for _, s := range p.Secrets {
		if Within(s, p.Root) && !slices.Contains(closed[:], s) {
			return fmt.Errorf("%w: %s is in %s, which no command may read; work in a folder elsewhere", ErrPolicy, p.Root, s)
		}
	}
	return nil
}

// holdsSecret returns an error where a folder holds what no command may read.
func (p Policy) holdsSecret(folder string) error {
	for _, s := range p.Secrets {
		if Within(folder, s) {
			return fmt.Errorf("%w: %s holds %s, which no command may read; work in a folder that does not", ErrPolicy, folder, s)
		}
	}
	return nil
}

// Within reports whether a path is a folder or below it.
func Within(folder, p string) bool {
	return p == folder || folder == "/" || strings.HasPrefix(p, folder) && p[len(folder)] == '/'
}

func within(folders []string, p string) bool {
	return slices.ContainsFunc(folders, func(f string) bool { return Within(f, p) })
}

// MayRead reports whether a file or folder can be read.
func (p Policy) MayRead(file string) bool {
	return within(p.whole(), file) || within(p.Reads, file) || within(p.Writes, file) || within(p.Granted, file) || within(p.Git, file) || within(p.Common, file)
}

// whole are the folders of the workspace that can be read with all below them.
func (p Policy) whole() []string {
	switch {
	case len(p.Lists) > 0:
		return p.Parts
	case p.Root != "":
		return []string{p.Root}
	}
	return nil
}
