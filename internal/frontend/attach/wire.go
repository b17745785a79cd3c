// Package attach lets other terminals take part in a session: the process that has the
// session open serves its events on a local socket, and accepts operations there.
//
// It promises that a watcher gets every stored event once and in order, and the live
// output between them; that a read-only watcher changes nothing; that a watcher that is
// slow, stopped or gone holds up nobody; and that nothing runs while nobody is
// attached. It refuses a socket that anybody but the person could reach: it lies in
// pawl's own folder, which only they may enter and which confined commands do not see.
// It refuses operations of a process that pawl itself started: the kernel tells which
// process it is, so its own claims do not matter.
package attach

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/pawl-agent/pawl/internal/core/event"
	"github.com/pawl-agent/pawl/internal/core/fault"
	"github.com/pawl-agent/pawl/internal/engine/session"
	"github.com/pawl-agent/pawl/internal/engine/turn"
	"github.com/pawl-agent/pawl/internal/policy/undo"
)

// Messages are JSON objects, one a line. protocol is their version: both sides must have
// the same.
const protocol = 1

// fromOwner is a line of the owner: who it is first, then events, and results of
// what was asked for. Bye is its last line, unless it was killed.
type fromOwner struct {
	Hello *hello    `json:"hello,omitempty"`
	Event *sent     `json:"event,omitempty"`
	Done  *done     `json:"done,omitempty"`
	Bye   *struct{} `json:"bye,omitempty"`
}

type hello struct {
	Protocol int    `json:"protocol"`
	Session  string `json:"session"`
	PID      int    `json:"pid"`
	Pawl     string `json:"pawl"`
	// NoSteer is why who connected may only watch; none: they may take part.
	NoSteer *event.Fault `json:"no_steer,omitempty"`
}

// sent is an event.
type sent struct {
	Seq   int64           `json:"seq,omitempty"`
	Cause int64           `json:"cause,omitempty"`
	Time  time.Time       `json:"time"`
	Kind  string          `json:"kind"`
	V     int             `json:"v"`
	Body  json.RawMessage `json:"body"`
}

func send(e event.Event) (*sent, error) {
	body, err := event.Encode(e.Body)
	return &sent{Seq: e.Seq, Cause: e.Cause, Time: e.Time, Kind: e.Body.Kind(), V: event.VersionOf(e.Body), Body: body}, err
}

func (s *sent) event(id string) (event.Event, error) {
	body, err := event.Decode(s.Kind, s.V, s.Body)
	return event.Event{Session: id, Seq: s.Seq, Cause: s.Cause, Time: s.Time, Body: body}, err
}

// pieces holds back the beginning of a character that a piece of text ends in:
// JSON has no place for it. The key is what the piece belongs to.
type pieces map[string]string

func (p pieces) whole(b event.Body) event.Body {
	switch d := b.(type) {
	case event.TextDelta:
		d.Text = p.next("text", d.Text)
		return d
	case event.ReasoningDelta:
		d.Text = p.next("reasoning", d.Text)
		return d
	case event.CallDelta:
		d.Text = p.next(fmt.Sprint("arguments ", d.Index), d.Text)
		return d
	case event.OutputDelta:
		d.Text = p.next("output "+d.Call, d.Text)
		return d
	}
	return b
}

// over forgets what the stored event b has whole.
func (p pieces) over(b event.Body) {
	if d, ok := b.(event.CallDone); ok {
		delete(p, "output "+d.ID)
	}
	maps.DeleteFunc(p, func(of, _ string) bool { return !strings.HasPrefix(of, "output ") })
}

func (p pieces) next(of, text string) string {
	text = p[of] + text
	end := len(text)
	for i := 1; i <= min(utf8.UTFMax-1, len(text)); i++ {
		if c := text[len(text)-i]; utf8.RuneStart(c) {
			if !utf8.FullRuneInString(text[len(text)-i:]) {
				end = len(text) - i
			}
			break
		}
	}
	p[of] = text[end:]
	return text[:end]
}

// done is the result of an operation. Plan is that of planUndo; Nothing: there is nothing
// to undo, or to redo.
type done struct {
	N       int64        `json:"n"`
	Cause   int64        `json:"cause,omitempty"`
	Plan    *undo.Plan   `json:"plan,omitempty"`
	Nothing bool         `json:"nothing,omitempty"`
	Error   *event.Fault `json:"error,omitempty"`
}

// fromWatcher is a line of a watcher: which events it lacks, first, and then
// operations.
type fromWatcher struct {
	Follow *follow         `json:"follow,omitempty"`
	N      int64           `json:"n,omitempty"` // of an operation
	Op     string          `json:"op,omitempty"`
	Args   json.RawMessage `json:"args,omitempty"`
}

// follow asks for the events after one. Steer asks to take part.
type follow struct {
	Protocol int   `json:"protocol"`
	After    int64 `json:"after"`
	Steer    bool  `json:"steer,omitempty"`
}

// planUndo asks what an undo would do, which is decided where the files are looked at;
// doUndo has it done. It names the plan by the number of its request, so that a watcher
// has nothing written but what the owner planned.
const planUndo, doUndo = "plan-undo", "undo"

type undoing struct {
	Plan    int64        `json:"plan"`
	Consent undo.Consent `json:"consent"`
}

// operations are the others that may come from another terminal, by their names.
var operations = map[string]session.Op{
	"prompt":    session.Prompt{},
	"interrupt": session.Interrupt{},
	"withdraw":  session.Withdraw{},
	"answer":    session.Answer{},
	"mode":      session.SetMode{},
	"model":     session.SetModel{},
	"command":   session.RunCommand{},
	"compact":   session.Compact{},
	"phase":     session.Phase{},
	"pause":     session.Pause{},
	"plan":      session.WritePlan{},
	"decide":    session.DecidePlan{},
	"remote":    session.Remote{},
}

// read returns the operation of this type that raw has.
func read(of session.Op, raw json.RawMessage) (session.Op, error) {
	op := reflect.New(reflect.TypeOf(of))
	err := json.Unmarshal(raw, op.Interface())
	return op.Elem().Interface().(session.Op), err
}

// nameOf returns the name of an operation, "" if it cannot be sent.
func nameOf(op session.Op) string {
	if p, ok := op.(session.Prompt); ok && p.Until != nil {
		return ""
	}
	for name, of := range operations {
		if reflect.TypeOf(of) == reflect.TypeOf(op) {
			return name
		}
	}
	return ""
}

func faultOf(err error) *event.Fault {
	if err == nil {
		return nil
	}
	f := turn.Describe(err)
	return &f
}

func errorOf(f *event.Fault) error {
	if f == nil {
		return nil
	}
	return &fault.Error{Category: fault.Category(f.Category), Message: f.Message, Retryable: f.Retryable}
}

// socketPath returns the socket of a session, in pawl's own folder for state.
func socketPath(state, id string) string {
	sum := sha256.Sum256([]byte(id))
	return filepath.Join(state, "live", hex.EncodeToString(sum[:8]))
}

// Forget removes the files of a session whose process was killed. The caller has the
// session's lock, or has deleted the session.
func Forget(state, id string) { _ = os.Remove(socketPath(state, id)) }

// longest is how long the path of a socket may be: 104 bytes where it is least.
const longest = 100

func tooLong(path string) error {
	return fmt.Errorf("the path of its socket is longer than %d bytes: %s", longest, path)
}
