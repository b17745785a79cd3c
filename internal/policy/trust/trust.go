// Package trust judges what a folder may make pawl run automatically (SPEC 16.1).
//
// A folder configures programs: checks, hooks, MCP servers, language servers,
// environment files. Each is a Part, with a hash of everything in its files that
// decides what runs, and of nothing else, so an ordinary edit of source code does not
// change it. A person trusts the parts that they were shown: an Entry. Assess decides
// which of the present parts these are.
//
// It promises that a part which is new, changed or unreadable is never trusted; that an
// entry applies to one folder, not to folders below or beside it; and that a folder
// that replaces another one at the same path counts as another folder. To trust a check
// is to trust the code that it runs: a test is source code, and after an edit of it
// pawl does not ask again.
package trust

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/pawl-agent/pawl/internal/core/cut"
)

type Kind string

// The kinds of parts.
const (
	Check  Kind = "check"
	Hook   Kind = "hook"
	MCP    Kind = "mcp"    // an MCP server
	LSP    Kind = "lsp"    // a language server
	Env    Kind = "env"    // an environment file
	Git    Kind = "git"    // a git hook, or a git setting that runs a program
	Editor Kind = "editor" // an editor's task, a container's start
	Other  Kind = "other"  // of another agent
)

// Runs reports whether this version of pawl runs parts of a kind automatically once
// they are trusted. Other kinds are reported, but not asked about: a person trusts only
// what they were asked about, so a later version that runs a kind asks then. Parts in
// the files of other tools are of these other kinds.
func (k Kind) Runs() bool { return k == Check || k == LSP || k == MCP || k == Hook }

// Part is something executable that a folder configures.
type Part struct {
	Kind Kind
	Name string   // distinguishes it from others of its kind
	Runs []string // the command lines that run it, or its description
	From []string // the files that define it, relative to the folder
	// Lines are the parts of the files that decide what runs, for comparison by
	// a person. Their number is limited, so a difference may be beyond them.
	Lines []string
	// Hash covers everything that decides what runs; "" if a file could not be read.
	Hash string
	sums map[string]string // by file, of its lines
}

// Key identifies a part within a folder.
func (p Part) Key() string { return string(p.Kind) + ":" + p.Name }

// Entry is a person's answer about a folder.
type Entry struct {
	Path string `json:"path"` // the real path
	// Folder distinguishes the folder from another one at the same path.
	Folder string    `json:"folder"`
	At     time.Time `json:"at"`
	// No: the person was asked and refused. Parts are the ones that they saw.
	No    bool                    `json:"no,omitempty"`
	Parts map[string]AnsweredPart `json:"parts"`
}

// AnsweredPart is a part as the person saw it.
type AnsweredPart struct {
	Hash  string   `json:"hash"`
	Runs  []string `json:"runs,omitempty"`
	Lines []string `json:"lines,omitempty"`
}

// State is the trust state of a folder.
type State string

// The states of a folder.
const (
	Nothing   State = "nothing" // it configures nothing that pawl would run
	Trusted   State = "trusted"
	Untrusted State = "untrusted" // nobody was asked, or the person refused
	Changed   State = "changed"   // it was trusted and has changed since
)

// Assessment tells which parts of a folder are trusted.
type Assessment struct {
	State State
	// Declined: the person refused all of it in its present state.
	Declined bool
	// Replaced: another folder is at the path now.
	Replaced bool
	Parts    []AssessedPart
}

// AssessedPart is a part with its judgement.
type AssessedPart struct {
	Part
	Trusted bool
	// Why is the reason if the part is not trusted.
	Why string
	// Was is the part when it was trusted, nil if it did not exist.
	Was *AnsweredPart
}

// Assess compares the parts of a folder with the person's answer; e is nil if
// there is none. folder is the folder's identity, see Entry.Folder. Parts that
// are only in the entry are no change: less runs.
func Assess(e *Entry, folder string, parts []Part) Assessment {
	v := Assessment{State: Trusted}
	v.Replaced = e != nil && e.Folder != folder
	asked, open, seen := 0, 0, 0
	for _, p := range parts {
		j := AssessedPart{Part: p}
		if !p.Kind.Runs() {
			j.Why = "pawl does not run it"
			v.Parts = append(v.Parts, j)
			continue
		}
		asked++
		j.Trusted, j.Why, j.Was = judge(e, v.Replaced, p)
		if !j.Trusted {
			open++
		}
		if e != nil && e.No && !v.Replaced && p.Hash != "" && e.Parts[p.Key()].Hash == p.Hash {
			seen++
		}
		v.Parts = append(v.Parts, j)
	}
	switch {
	case asked == 0:
		v.State = Nothing
	case open == 0:
	case e == nil || e.No:
		v.State = Untrusted
		v.Declined = e != nil && seen == asked
	default:
		v.State = Changed
	}
	return v
}

func judge(e *Entry, replaced bool, p Part) (trusted bool, why string, was *AnsweredPart) {
	if e == nil || e.No {
		return false, "this folder is not trusted", nil
	}
	s, known := e.Parts[p.Key()]
	if known {
		was = &s
	}
	switch {
	case replaced:
		return false, "another folder was trusted at this path", nil
	case p.Hash == "":
		return false, "a file that defines it cannot be read, is not a regular file or is too long", was
	case !known:
		return false, "it is new since this folder was trusted", nil
	case s.Hash != p.Hash:
		return false, "it changed since this folder was trusted", was
	}
	return true, "", was
}

// Asks returns the parts that a person must be asked about.
func (v Assessment) Asks() []AssessedPart {
	var out []AssessedPart
	for _, j := range v.Parts {
		if j.Kind.Runs() && !j.Trusted {
			out = append(out, j)
		}
	}
	return out
}

// Inert returns the parts that do not run: those that are not trusted, and those of
// kinds that pawl never runs.
func (v Assessment) Inert() []AssessedPart {
	return slices.DeleteFunc(slices.Clone(v.Parts), func(j AssessedPart) bool { return j.Trusted })
}

// Accept returns the entry of a person who was shown these parts and answered yes or
// no. An unreadable part is omitted, so it stays untrusted.
func Accept(path, folder string, at time.Time, yes bool, parts []Part) Entry {
	e := Entry{Path: path, Folder: folder, At: at.UTC().Truncate(time.Second), No: !yes, Parts: map[string]AnsweredPart{}}
	for _, p := range parts {
		if p.Kind.Runs() && p.Hash != "" {
			e.Parts[p.Key()] = AnsweredPart{Hash: p.Hash, Runs: p.Runs, Lines: p.Lines}
		}
	}
	return e
}

// Difference returns lines that describe how a part differs from what was trusted.
func (j AssessedPart) Difference() []string {
	if j.Was == nil {
		return nil
	}
	var out []string
	for _, l := range j.Was.Lines {
		if !slices.Contains(j.Lines, l) {
			out = append(out, "- "+l)
		}
	}
	for _, l := range j.Lines {
		if !slices.Contains(j.Was.Lines, l) {
			out = append(out, "+ "+l)
		}
	}
	if len(out) == 0 && j.Hash != j.Was.Hash {
		out = append(out, "what changed is in "+strings.Join(j.From, ", ")+", beyond the lines that pawl compares")
	}
	return out
}

// Differ returns the files that differ between two states of a part.
func Differ(was, is Part) []string {
	var out []string
	for _, name := range slices.Concat(was.From, is.From) {
		a, there := was.sums[name]
		b, then := is.sums[name]
		if (a != b || there != then) && !slices.Contains(out, name) {
			out = append(out, name)
		}
	}
	return out
}

// Source is a file that defines something, with its text as read.
type Source struct {
	Name string // relative to the folder, with /
	Text string
	// Unread: it exists but could not be read completely.
	Unread bool
}

// Limits of what is stored of a part for comparison by people.
const (
	maxLines = 60
	maxLine  = 300
)

// Define returns a part made from the files that define it.
func Define(kind Kind, name string, runs []string, sources []Source) Part {
	p := Part{Kind: kind, Name: name, Runs: runs, sums: map[string]string{}}
	h := sha256.New()
	fmt.Fprintf(h, "%q %q\n", kind, name)
	whole := true
	for _, s := range sources {
		p.From = append(p.From, s.Name)
		if s.Unread {
			whole = false
			p.Lines = append(p.Lines, s.Name+": cannot be read")
			continue
		}
		lines := Executable(s.Name, s.Text)
		sum := sha256.Sum256([]byte(strings.Join(lines, "\n")))
		p.sums[s.Name] += hex.EncodeToString(sum[:8])
		fmt.Fprintf(h, "%q %d\n", s.Name, len(lines))
		for _, l := range lines {
			fmt.Fprintf(h, "%q\n", l)
			if l = strings.TrimSpace(l); l != "" && len(p.Lines) < maxLines {
				p.Lines = append(p.Lines, s.Name+": "+cut.Runes(strings.ToValidUTF8(l, "\uFFFD"), maxLine))
			}
		}
	}
	if whole {
		p.Hash = hex.EncodeToString(h.Sum(nil))
	}
	return p
}
