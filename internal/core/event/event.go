// Package event is the vocabulary of the log: everything that happens in a
// session is an Event, and every piece of state is a fold over events.
//
// Promises: an appended event is never changed or removed; Seq rises within a
// session (gaps are allowed); a body that this version does not know is kept as
// Unknown and written back unchanged. Refused: state that is not derived from
// events.
package event

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"iter"
	"time"
)

// Event is one thing that happened. Seq 0 marks an ephemeral event: a streamed
// delta that is shown and never stored. Cause is the Seq of the event that led to
// it, 0 for none.
type Event struct {
	Session    string
	Seq, Cause int64
	Time       time.Time
	Body       Body
}

// Appender appends to the log of one session.
type Appender interface {
	Append(ctx context.Context, ds ...Draft) error
}

// Draft is an event that has no sequence number yet.
type Draft struct {
	Cause int64
	Body  Body
}

// Body is what happened. Kind is its name in the log.
type Body interface{ Kind() string }

// Versioned is a body whose encoding changed in a way that older versions would
// misread. The version of other bodies is 1.
type Versioned interface {
	Body
	Version() int
}

// VersionOf returns the version of a body's encoding.
func VersionOf(b Body) int {
	if v, ok := b.(Versioned); ok {
		return v.Version()
	}
	return 1
}

// Unknown is a body of a kind or version that this version does not know. So
// events of a newer pawl survive an older one.
type Unknown struct {
	Name string
	V    int
	Raw  json.RawMessage
}

// Kind is the unknown kind's own name.
func (u Unknown) Kind() string { return u.Name }

// Version is the unknown version.
func (u Unknown) Version() int { return u.V }

// ErrStale means that the session has new events since the caller read it.
var ErrStale = errors.New("the session moved on")

// ErrNoSession means that the session does not exist.
var ErrNoSession = errors.New("no such session")

// Log stores events.
//
// Append stores drafts atomically after the event with the sequence number after
// (0: the session must be empty) and returns them as events. It returns ErrStale
// if the session's last event is another one. When it returns without error, the
// events are as durable as the log's setting promises.
//
// Read yields the events with Seq > after in order. For a fork, the parent's
// events up to the fork come first, with Session as it was asked for. An error
// ends the sequence.
type Log interface {
	Append(ctx context.Context, session string, after int64, ds ...Draft) ([]Event, error)
	Read(ctx context.Context, session string, after int64) iter.Seq2[Event, error]
}

// Chooser is a log that reads only events of some kinds, which costs less where
// the others are large.
type Chooser interface {
	// ReadKinds is Read without the events of other kinds.
	ReadKinds(ctx context.Context, session string, after int64, kinds ...string) iter.Seq2[Event, error]
}

// Holder is a log that several processes may have open. Hold reserves a session
// for the caller: only the caller may append to it until release. The death of
// the process, however it happens, releases it as well. Hold returns a HeldError
// if another process has it.
type Holder interface {
	Hold(session string) (release func(), err error)
}

// Snapshots is a log that also keeps what was folded from a session's events, so
// that they need not all be folded again. It is a cache: it may lose them at any
// time.
type Snapshots interface {
	// SaveSnapshot keeps data, what was folded from the session's events up to and
	// including the one with the sequence number at, in place of an earlier one of
	// that name: letters.
	SaveSnapshot(ctx context.Context, session, name string, at int64, data []byte) error
	// Snapshot returns what was saved last. It returns ErrNoSnapshot if there is
	// none, if it is damaged, or if the event at is not the one that it was saved
	// after.
	Snapshot(ctx context.Context, session, name string) (at int64, data []byte, err error)
}

// ErrNoSnapshot means that no snapshot is kept that could be used.
var ErrNoSnapshot = errors.New("no snapshot")

// HeldError reports which process has a session open. PID is 0 if that is not known.
type HeldError struct {
	Session string
	PID     int
	Since   time.Time
}

func (e *HeldError) Error() string {
	if e.PID == 0 {
		return "session " + e.Session + " is open in another pawl"
	}
	return fmt.Sprintf("session %s is open in another pawl (process %d, since %s)", e.Session, e.PID, e.Since.Local().Format("2006-01-02 15:04"))
}

// Fold is a piece of state. Only Apply changes it.
type Fold interface{ Apply(Event) }

// Each is a fold that calls a function.
type Each func(Event)

func (f Each) Apply(e Event) { f(e) }

// Origin is the event up to which a fork shares its parent's events.
type Origin struct {
	Session string `json:"session"`
	At      int64  `json:"at"`
}

// Row is a session in a list.
type Row struct {
	ID      string    `json:"id"`
	Dir     string    `json:"dir"`
	Title   string    `json:"title"`
	Model   string    `json:"model"`
	Created time.Time `json:"created"`
	Updated time.Time `json:"updated"`
	Events  int64     `json:"events"`
	Last    int64     `json:"last"` // the last Seq
	Origin  *Origin   `json:"origin,omitempty"`
	// Parent, for an agent's session, is the call that started it.
	Parent *ParentCall `json:"parent,omitempty"`
}

// Blobs stores contents by their hash (hex SHA-256).
type Blobs interface {
	// Put stores data and returns its hash; storing the same data twice costs nothing.
	Put(ctx context.Context, data []byte) (string, error)
	// Get returns ErrNoBlob if no content has this hash.
	Get(ctx context.Context, hash string) ([]byte, error)
}

// ErrNoBlob means that no content with that hash is stored.
var ErrNoBlob = errors.New("no such content")

// Store is everything that keeps a session: the log, the blobs and the list of
// sessions. Close does not wait for events that were already acknowledged.
type Store interface {
	Log
	Blobs
	// Sessions lists sessions, newest first; dir "" lists all.
	Sessions(ctx context.Context, dir string) ([]Row, error)
	// Newest yields these rows one after the other, so that the newest cost no more
	// where there are many: without those of agents whose session is one of them.
	Newest(ctx context.Context, dir string) iter.Seq2[Row, error]
	// Count returns how many rows Newest yields.
	Count(ctx context.Context, dir string) (int, error)
	// Agents lists the sessions of a session's agents, the one with the oldest
	// last event first.
	Agents(ctx context.Context, id string) ([]Row, error)
	// Session returns one row, or ErrNoSession. A unique prefix of an ID is enough.
	Session(ctx context.Context, id string) (Row, error)
	// Fork makes a session that shares the events of another one up to and
	// including the sequence number at.
	Fork(ctx context.Context, from Origin, id string) error
	// Delete removes a whole session with the blobs that only it used, and the
	// sessions of its agents. The events of a session that was forked are kept
	// until its forks are deleted.
	Delete(ctx context.Context, id string) error
	Close() error
}
