// Package page writes a session as one page of HTML: for a browser, a mail, an archive.
//
// It promises that the page needs no network and no script and loads nothing, and that
// nothing in a session can change what the page does or hide what it shows. Every
// string that is not from pawl's source code is escaped (html.go), package plain makes
// control and bidirectional characters visible, and a content security policy in the
// page forbids the rest. The page is written while the session is read; a long page is
// cut, with a count of what is missing. It does not decide what is secret: the caller
// passes only events that may be shown.
package page

import (
	"bufio"
	"crypto/sha256"
	_ "embed"
	"encoding/base64"
	"io"
	"strings"
	"sync"
	"time"

	"github.com/pawl-agent/pawl/internal/core/event"
	"github.com/pawl-agent/pawl/internal/frontend/chat"
	"github.com/pawl-agent/pawl/internal/policy/lifecycle"
)

// Options are the facts that the page states about itself, and its mask.
type Options struct {
	Version string
	// Mask masks keys in a text that were unknown when the text was recorded; nil masks
	// nothing.
	Mask func(string) string
}

// Sizes in bytes of text. After folds bytes, folded texts are omitted; after entries
// bytes, every entry is.
const (
	folds    = 12 << 20
	entries  = 24 << 20
	mostText = 256 << 10 // of a prompt or a reply
	mostFold = 48 << 10  // of an output, of reasoning, of a diff
	mostLine = 400
	mostList = 300 // prompts in the list of contents, lines of evidence, items of a plan
)

// Write writes the page. read passes the events of the session in order, from the first
// one. It is called twice, since the head of the page summarises all that follows.
func Write(w io.Writer, read func(func(event.Event) error) error, o Options) error {
	if o.Mask == nil {
		o.Mask = func(s string) string { return s }
	}
	sum := summary{clean: cleaner{o.Mask}}
	if err := read(sum.event); err != nil {
		return err
	}
	out := bufio.NewWriter(w)
	p := &writer{out: out, clean: cleaner{o.Mask}, folds: folds, entries: entries}
	p.putHead(sum.head())
	if err := read(p.event); err != nil {
		return err
	}
	p.putTail(o.Version)
	if p.err != nil {
		return p.err
	}
	return out.Flush()
}

// writer draws the blocks of a timeline when they finish.
type writer struct {
	out      io.StringWriter
	clean    cleaner
	timeline chat.Timeline
	activity lifecycle.Activity
	prompts  int
	turn     bool // a section is open
	size     int
	left     int // entries that were left out
	err      error

	folds, entries int
	single         bool // one block, for Fragment
}

func (p *writer) event(e event.Event) error {
	p.activity.Apply(e)
	for _, c := range p.timeline.Apply(e) {
		if c.What == chat.Finished && !c.Block.Ephemeral {
			p.draw(c.Block)
		}
	}
	return p.err
}

//go:embed page.css
var css string

// Blocks is the style sheet of what Fragment draws, and of its colours.
//
//go:embed blocks.css
var Blocks string

// style returns the page's style sheet and its hash. The security policy names the
// hash, so no other style is applied.
var style = sync.OnceValues(func() (markup, string) {
	all := Blocks + css
	hash := sha256.Sum256([]byte(all))
	return markup(all), "sha256-" + base64.StdEncoding.EncodeToString(hash[:])
})

// moment is a time in a form for people and one for programs.
type moment struct{ time.Time }

func (m moment) Shown() string { return m.UTC().Format("2006-01-02 15:04:05 UTC") }
func (m moment) Exact() string { return m.UTC().Format(time.RFC3339) }

// joined joins the texts that are not empty into one line.
func joined(parts ...string) string {
	var out []string
	for _, s := range parts {
		if s != "" {
			out = append(out, s)
		}
	}
	return strings.Join(out, " · ")
}
