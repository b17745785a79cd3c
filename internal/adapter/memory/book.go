// Package memory stores what outlives a session (SPEC 11.4–11.6): preferences and notes
// in a book, results of turns in a journal of nodes, and answers that are still valid in
// a cache. All of it belongs to the user and is in pawl's state folder; none of it is in
// a repository.
//
// It promises that stored entries can be listed and removed, that parallel processes do
// not damage the book, and that a damaged line affects only that line. The journal of
// turns may lose a line if two processes trim it at once. Entries are text for the model
// and grant no permission.
package memory

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"
)

// The kinds of entries.
const (
	Note       = ""
	Preference = "preference"
)

// Entry is a line of the book.
type Entry struct {
	Dir  string    `json:"dir"` // the project's real path; empty: in every project
	Time time.Time `json:"time"`
	Text string    `json:"text"`
	Kind string    `json:"sort,omitempty"`
	Gone bool      `json:"gone,omitempty"` // this line removes the entry with that text
}

// Limits of the book.
const (
	maxStanding = 100 // entries of a project, and as many for all projects
	maxHistory  = 100
	maxEntry    = 1000 // bytes of a text
	maxTold     = 8 << 10
)

// Book is the file of notes and preferences: one line of JSON each, to which lines are
// only appended.
type Book struct {
	Path string
	Dir  string // the project
	Now  func() time.Time
}

// Remember stores a note for the project; it implements tool.Notes.
func (b Book) Remember(_ context.Context, text string) error { return b.Keep(Note, text, false) }

// Keep stores an entry, for this project or everywhere. An entry that exists is not
// stored twice. If there are 100 already, the oldest is removed.
func (b Book) Keep(sort, text string, everywhere bool) error {
	text = tidy(text)
	switch {
	case text == "":
		return errors.New("the text is empty")
	case len(text) > maxEntry:
		return fmt.Errorf("a note of %d bytes is too long, the limit is %d: keep only what matters", len(text), maxEntry)
	}
	e := Entry{Dir: b.Dir, Time: b.Now(), Text: text, Kind: sort}
	if everywhere {
		e.Dir = ""
	}
	all, err := b.List()
	if err != nil {
		return err
	}
	same := []Entry{}
	for _, o := range all {
		if o.Dir == e.Dir {
			same = append(same, o)
		}
		if o.Dir == e.Dir && o.Text == e.Text && o.Kind == e.Kind {
			return nil
		}
	}
	lines := []Entry{e}
	if len(same) >= maxStanding {
		old := same[0]
		old.Gone, old.Time = true, e.Time
		lines = append(lines, old)
	}
	return b.append(lines...)
}

// Forget removes and returns the newest entry with this text, of this project or
// everywhere; false if there is none.
func (b Book) Forget(text string) (Entry, bool, error) {
	all, err := b.List()
	if err != nil {
		return Entry{}, false, err
	}
	text = tidy(text)
	for _, e := range slices.Backward(all) {
		if e.Text == text {
			gone := e
			gone.Gone, gone.Time = true, b.Now()
			return e, true, b.append(gone)
		}
	}
	return Entry{}, false, nil
}

// List returns the entries of the project and of everywhere, oldest first.
func (b Book) List() ([]Entry, error) {
	var out []Entry
	err := b.read(func(e Entry) {
		out = slices.DeleteFunc(out, func(o Entry) bool { return o.Dir == e.Dir && o.Kind == e.Kind && o.Text == e.Text })
		if !e.Gone {
			out = append(out, e)
		}
	})
	return out, err
}

// History returns the newest 100 lines of the project and of everywhere, oldest first,
// including removals.
func (b Book) History() ([]Entry, error) {
	var out []Entry
	err := b.read(func(e Entry) {
		if len(out) == maxHistory {
			out = slices.Delete(out, 0, 1)
		}
		out = append(out, e)
	})
	return out, err
}

func (b Book) read(each func(Entry)) error {
	raw, err := os.ReadFile(b.Path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return fmt.Errorf("read what is remembered: %w", err)
	}
	s := bufio.NewScanner(bytes.NewReader(raw))
	s.Buffer(nil, len(raw)+1)
	for s.Scan() {
		var e Entry
		// Skip a line that a process did not finish writing.
		if json.Unmarshal(s.Bytes(), &e) == nil && e.Text != "" && (e.Dir == "" || e.Dir == b.Dir) {
			each(e)
		}
	}
	return s.Err()
}

func (b Book) append(es ...Entry) error {
	var lines []byte
	for _, e := range es {
		line, err := json.Marshal(e)
		if err != nil {
			return err
		}
		lines = append(append(lines, line...), '\n')
	}
	return appendLines(b.Path, lines)
}

// appendLines appends whole lines to one of pawl's own files. It uses one write call, so
// that lines of two processes do not mix. After an unfinished last line it starts a new
// one.
func appendLines(path string, lines []byte) (err error) {
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		return fmt.Errorf("keep a note: %w", err)
	}
	f, err := os.OpenFile(path, os.O_APPEND|os.O_CREATE|os.O_RDWR, 0o600)
	if err != nil {
		return fmt.Errorf("keep a note: %w", err)
	}
	defer func() { err = errors.Join(err, f.Close()) }()
	if info, err := f.Stat(); err == nil && info.Size() > 0 {
		last := []byte{0}
		if _, err := f.ReadAt(last, info.Size()-1); err == nil && last[0] != '\n' {
			lines = append([]byte{'\n'}, lines...)
		}
	}
	if _, err := f.Write(lines); err != nil {
		return fmt.Errorf("keep a note: %w", err)
	}
	return nil
}

// tidy returns a text as one line with single spaces.
func tidy(s string) string {
	return strings.Join(strings.Fields(strings.ToValidUTF8(s, "\uFFFD")), " ")
}
