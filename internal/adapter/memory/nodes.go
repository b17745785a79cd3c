package memory

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"time"

	"github.com/pawl-agent/pawl/internal/core/atomicfile"
	"github.com/pawl-agent/pawl/internal/core/event"
)

// Node is the result of one turn.
type Node struct {
	Session string        `json:"session"`
	Time    time.Time     `json:"time"` // when it ended
	Route   string        `json:"route,omitempty"`
	End     string        `json:"end"`
	Error   string        `json:"error,omitempty"`
	Retries int           `json:"retries,omitempty"`
	Calls   int           `json:"calls"`
	Files   int           `json:"files"` // changed
	Took    time.Duration `json:"took_ns"`
}

// maxNodes is how many turns of a project are returned; the file has at most about twice
// as many.
const maxNodes = 1000

// Nodes is a project's journal of turns: its own file with one line of JSON for each
// turn.
type Nodes struct {
	Path string

	now   Node
	files map[string]bool
	began time.Time
	lines int // lines in the file, 0: not counted yet
	err   error
}

// Apply records a live event. It is not safe for concurrent use.
func (n *Nodes) Apply(e event.Event) {
	if e.Seq == 0 {
		return
	}
	switch b := e.Body.(type) {
	case event.Prompted:
		if b.Source == event.Person {
			n.now, n.files, n.began = Node{Session: e.Session}, map[string]bool{}, e.Time
		}
	case event.Routed:
		n.now.Route = b.Route
	case event.Retried:
		n.now.Retries++
	case event.CallDone:
		n.now.Calls++
	case event.FileChanged:
		if n.files != nil && !n.files[b.Path] {
			n.files[b.Path] = true
			n.now.Files++
		}
	case event.Ended:
		if n.began.IsZero() {
			return // the turn began in another process
		}
		n.now.Time, n.now.End, n.now.Took = e.Time, string(b.End), e.Time.Sub(n.began)
		if b.Error != nil {
			n.now.Error = b.Error.Message
		}
		n.keep()
		n.began = time.Time{}
	}
}

func (n *Nodes) keep() {
	line, err := json.Marshal(n.now)
	if err == nil {
		err = appendLines(n.Path, append(line, '\n'))
	}
	if err != nil {
		n.err = err
		return
	}
	if n.lines++; n.lines == 1 || n.lines > 2*maxNodes {
		n.err = n.trim()
	}
}

// trim removes the oldest lines, but only when there are more than twice maxNodes, so
// that it rarely rewrites the file.
func (n *Nodes) trim() error {
	raw, err := os.ReadFile(n.Path)
	if err != nil {
		return err
	}
	n.lines = bytes.Count(raw, []byte("\n"))
	if n.lines <= 2*maxNodes {
		return nil
	}
	for n.lines > maxNodes {
		raw = raw[bytes.IndexByte(raw, '\n')+1:]
		n.lines--
	}
	return atomicfile.Write(n.Path, raw, 0o600)
}

// Close returns an error if the journal could not be written.
func (n *Nodes) Close() error { return n.err }

// List returns the newest 1,000 turns, oldest first.
func (n *Nodes) List() ([]Node, error) {
	raw, err := os.ReadFile(n.Path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("read what turns came to: %w", err)
	}
	var out []Node
	for line := range bytes.Lines(raw) {
		var x Node
		if json.Unmarshal(line, &x) == nil && x.End != "" {
			out = append(out, x)
		}
	}
	return out[max(0, len(out)-maxNodes):], nil
}
