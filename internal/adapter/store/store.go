// Package store has the code that the stores below it share: which drafts they accept,
// how a session's row is folded, and which errors they return. The contract itself is
// event.Store; storetest tests it for every store.
//
// In addition to the contract, a store promises: a session's sequence numbers
// have no gaps, so Row.Events equals Row.Last (including the shared events of a
// fork); times never run backwards within a session, even if the clock does;
// ids are matched exactly everywhere except in Session. A session that was
// deleted while others share its events is gone for every caller, and its id
// stays taken.
package store

import (
	"errors"
	"fmt"
	"strings"
	"syscall"
	"unicode"
	"unicode/utf8"

	"github.com/pawl-agent/pawl/internal/core/event"
)

// Errors that stores return besides those of package event.
var (
	// ErrAmbiguous means that a prefix matches more than one session. It comes
	// with event.ErrNoSession, since no session is selected.
	ErrAmbiguous = errors.New("more than one session fits")
	// ErrExists means that a session has that id already.
	ErrExists = errors.New("the session exists already")
	// ErrRefused means that a draft or an id cannot be stored. Nothing was stored.
	ErrRefused = errors.New("refused by the log")
	// ErrCorrupt means that the stored data is damaged.
	ErrCorrupt = errors.New("the log is damaged")
	// ErrFull means that the disk is full. Acknowledged events are kept.
	ErrFull = errors.New("the disk is full")
	// ErrLocked means that others held the log for too long.
	ErrLocked = errors.New("the log is locked")
	// ErrNewer means that a newer version of pawl wrote the log.
	ErrNewer = errors.New("the log is from a newer pawl")
)

// Full reports whether an error is that of a full disk, or of one's share of it.
func Full(err error) bool {
	return errors.Is(err, ErrFull) || errors.Is(err, syscall.ENOSPC) || errors.Is(err, syscall.EDQUOT)
}

const (
	maxID    = 128
	maxTitle = 80
)

// Item is a draft ready to be stored.
type Item struct {
	Cause   int64
	Kind    string
	Version int
	Raw     []byte
	// Blobs are the hashes that the body names: the session uses them.
	Blobs []string
}

// Facts is what drafts state about their session's row; empty fields are unknown.
type Facts struct {
	Dir   string // of the first Opened
	Title string // of the first prompt of a person, or of an agent's parent
	Model string // of the last Rebased
	// Parent is the first Opened's, if the session is an agent's: the call that
	// started it.
	Parent *event.ParentCall
}

// Prepare checks and encodes drafts, and folds their facts about the row.
func Prepare(session string, ds []event.Draft) ([]Item, Facts, error) {
	var facts Facts
	if err := CheckID(session); err != nil {
		return nil, facts, err
	}
	items := make([]Item, len(ds))
	for i, d := range ds {
		it, err := item(d)
		if err != nil {
			return nil, facts, fmt.Errorf("event %d of %d: %w", i+1, len(ds), err)
		}
		items[i] = it
		facts.add(d.Body)
	}
	return items, facts, nil
}

func item(d event.Draft) (Item, error) {
	if d.Body == nil {
		return Item{}, fmt.Errorf("%w: an event without a body", ErrRefused)
	}
	if d.Cause < 0 {
		return Item{}, fmt.Errorf("%w: cause %d", ErrRefused, d.Cause)
	}
	it := Item{Cause: d.Cause, Kind: d.Body.Kind(), Version: event.VersionOf(d.Body)}
	if it.Kind == "" || Ephemeral(it.Kind) {
		return Item{}, fmt.Errorf("%w: %q is shown and never stored", ErrRefused, it.Kind)
	}
	raw, err := event.Encode(d.Body)
	if err != nil {
		return Item{}, fmt.Errorf("%w: %w", ErrRefused, err)
	}
	it.Raw = raw
	switch b := d.Body.(type) {
	case event.FileChanged:
		it.Blobs = append(it.Blobs, hashes(string(b.Before), string(b.After))...)
	case event.Writing:
		for _, f := range b.Files {
			it.Blobs = append(it.Blobs, hashes(string(f.Before), string(f.After))...)
		}
	case event.Unknown:
		// Do not accept what could not be read again.
		if _, err := event.Decode(it.Kind, it.Version, it.Raw); err != nil {
			return Item{}, fmt.Errorf("%w: %w", ErrRefused, err)
		}
		it.Blobs = findHashes(it.Raw)
	}
	return it, nil
}

// Ephemeral reports whether events of a kind are only shown and never stored.
func Ephemeral(kind string) bool {
	switch kind {
	case "text_delta", "reasoning_delta", "call_delta", "output_delta", "progressed", "waiting", "task_called":
		return true
	}
	return false
}

// CheckID returns an error for an id that could not be shown or typed.
func CheckID(id string) error {
	if id == "" || len(id) > maxID || !utf8.ValidString(id) || strings.ContainsFunc(id, unicode.IsControl) {
		return fmt.Errorf("%w: session id %.40q", ErrRefused, id)
	}
	return nil
}

// add folds one body. For Dir and Title the first value counts, for Model the last.
func (f *Facts) add(b event.Body) {
	switch b := b.(type) {
	case event.Opened:
		if f.Dir == "" {
			f.Dir, f.Parent = b.Dir, b.Parent
		}
	case event.Prompted:
		if f.Title == "" && (b.Source == event.Person || b.Source == event.Parent) {
			f.Title = Title(b.Text)
		}
	case event.Rebased:
		f.Model = b.Info.Ref()
	}
}

// Of folds the facts of one stored body, for a store that reads it back.
func Of(b event.Body) Facts {
	var f Facts
	f.add(b)
	return f
}

// Title returns a prompt shortened to one line.
func Title(prompt string) string {
	if len(prompt) > 16*maxTitle {
		prompt = prompt[:16*maxTitle] // a prompt may be 10 MB
	}
	var b strings.Builder
	n, space := 0, false
	for _, r := range prompt {
		if unicode.IsSpace(r) || unicode.IsControl(r) || r == utf8.RuneError {
			space = b.Len() > 0
			continue
		}
		if n+2 > maxTitle {
			b.WriteRune('…')
			break
		}
		if space {
			b.WriteByte(' ')
			n++
			space = false
		}
		b.WriteRune(r)
		n++
	}
	return b.String()
}

func IsHash(s string) bool {
	if len(s) != 64 {
		return false
	}
	for i := range len(s) {
		if !hexDigit(s[i]) {
			return false
		}
	}
	return true
}

func hexDigit(c byte) bool { return '0' <= c && c <= '9' || 'a' <= c && c <= 'f' }

func hashes(ss ...string) []string {
	var out []string
	for _, s := range ss {
		if IsHash(s) {
			out = append(out, s)
		}
	}
	return out
}

// findHashes returns the possible hashes in the body of an unknown event, so that an
// event of a newer version keeps its blobs alive.
func findHashes(raw []byte) []string {
	var out []string
	run := 0
	for i := 0; i <= len(raw); i++ {
		if i < len(raw) && hexDigit(raw[i]) {
			run++
			continue
		}
		if run == 64 {
			out = append(out, string(raw[i-64:i]))
		}
		run = 0
	}
	return out
}

// Ambiguous returns the error for a prefix that fits several ids.
func Ambiguous(prefix string, ids []string) error {
	shown := ids
	if len(shown) > 3 {
		shown = shown[:3]
	}
	more := ""
	if len(ids) > len(shown) {
		more = ", …"
	}
	return fmt.Errorf("%w: %w: %q is the start of %s%s; give more of it", event.ErrNoSession, ErrAmbiguous,
		prefix, strings.Join(shown, ", "), more)
}
