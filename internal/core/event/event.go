// Package event is the vocabulary of the log: everything that happens in a
// session is an Event, and every piece of state is a fold over events.
//
// Promises: an event that was appended is never changed or removed; Seq rises
// within a session (gaps are allowed); a body that this pawl does not know is
// kept as Unknown and written back as it came. Refused: state that is not
// derived from events.
package event

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"iter"
	"time"
)

// Event is one thing that happened. Seq 0 is ephemeral: a streamed delta that
// is shown and never stored. Cause is the Seq of the event that led to it, 0
// for none.
type Event struct {
	Session    string
	Seq, Cause int64
	Time       time.Time
	Body       Body
}

// Draft is an event before the log gave it a sequence number.
type Draft struct {
	Cause int64
	Body  Body
}

// Body is what happened. Kind is its name in the log.
type Body interface{ Kind() string }

// Versioned is a body whose shape changed in a way that older readers would
// misread. The version of other bodies is 1.
type Versioned interface {
	Body
	Version() int
}

// VersionOf returns the version of a body's shape.
func VersionOf(b Body) int {
	if v, ok := b.(Versioned); ok {
		return v.Version()
	}
	return 1
}

// Unknown is a body of a kind or version that this pawl does not know. A
// newer pawl's event survives an older one.
type Unknown struct {
	Name string
	V    int
	Raw  json.RawMessage
}

// Kind is the unknown kind's own name.
func (u Unknown) Kind() string { return u.Name }

// Version is the unknown version.
func (u Unknown) Version() int { return u.V }

// ErrStale means that the session moved on since the caller looked.
var ErrStale = errors.New("the session moved on")

// ErrNoSession means that there is no such session.
var ErrNoSession = errors.New("no such session")

// Log stores events.
//
// Append stores drafts atomically after the event with that seq (0: the
// session must be empty) and returns them as events; ErrStale when the
// session's last event is another one. When it returns without error the
// events are as durable as the log's setting promises.
//
// Read yields the events with Seq > after in order, those of a fork's parent
// up to the fork first, with Session as it was asked for. An error ends it.
type Log interface {
	Append(ctx context.Context, session string, after int64, ds ...Draft) ([]Event, error)
	Read(ctx context.Context, session string, after int64) iter.Seq2[Event, error]
}

// Holder is a log that several processes may have open. Hold takes a session
// for the caller, who alone appends to it until release; the death of the
// process, however it comes, is a release as well. HeldError where another has
// it.
type Holder interface {
	Hold(session string) (release func(), err error)
}

// HeldError reports who has a session. PID is 0 where that is not known.
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

// Fold is a piece of state. Apply is the only way it changes.
type Fold interface{ Apply(Event) }

// Origin is up to where a forked session shares its parent's events up to.
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
	// Parent is set where it is an agent's: the call that it was made for.
	Parent *ParentCall `json:"parent,omitempty"`
}

// Blobs keeps contents by their hash (hex SHA-256).
type Blobs interface {
	// Put stores data and returns its hash; storing the same twice is free.
	Put(ctx context.Context, data []byte) (string, error)
	// Get returns ErrNoBlob where there is none.
	Get(ctx context.Context, hash string) ([]byte, error)
}

// ErrNoBlob means that no content of that hash is kept.
var ErrNoBlob = errors.New("no such content")

// Store is all that a session needs to be kept: the log, the blobs and the
// list of sessions. Close waits for nothing that was acknowledged.
type Store interface {
	Log
	Blobs
	// Sessions lists sessions, newest first; dir "" lists all.
	Sessions(ctx context.Context, dir string) ([]Row, error)
	// Session returns one row; a unique prefix of an ID is enough. ErrNoSession.
	Session(ctx context.Context, id string) (Row, error)
	// Fork makes a session that shares the events of another up to and
	// including seq at.
	Fork(ctx context.Context, from Origin, id string) error
	// Delete removes a whole session with the blobs that only it used. A
	// session that others were forked from keeps its events until they go. The
	// sessions of its agents go with it.
	Delete(ctx context.Context, id string) error
	Close() error
}
