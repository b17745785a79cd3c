package sessiontest

import (
	"context"
	"os"
	"path/filepath"
	"testing"

	"github.com/pawl-agent/pawl/internal/core/event"
	"github.com/pawl-agent/pawl/internal/core/llm/llmtest"
	"github.com/pawl-agent/pawl/internal/core/must"
	"github.com/pawl-agent/pawl/internal/engine/session"
)

// Rig is a session in a folder, with a scripted model. A package that needs more embeds it.
type Rig struct {
	*session.Session // nil before Open
	T                *testing.T
	Dir              string
	Model            *llmtest.Model
	Store            event.Store // the log, below what a test puts before it in Cfg
	Cfg              session.Config
}

// New returns a rig in a new folder. A test changes Cfg and then opens it.
func New(t *testing.T, m *llmtest.Model) *Rig {
	t.Helper()
	return Of(t, Config(t, must.Dir(t), m, nil))
}

// Of returns a rig for a session that is configured already.
func Of(t *testing.T, cfg session.Config) *Rig {
	m, _ := cfg.Model.(*llmtest.Model) // nil for another
	return &Rig{T: t, Dir: cfg.Dir, Model: m, Store: cfg.Store, Cfg: cfg}
}

// Open opens the session, and takes it up again after Close or the death of its process.
func (r *Rig) Open() {
	r.T.Helper()
	r.Session = Open(r.T, r.Cfg)
}

// Run prompts and follows the turn to its end; on, if not nil, is called for each event.
func (r *Rig) Run(prompt string, on func(event.Event)) []event.Event {
	r.T.Helper()
	var out []event.Event
	events := r.Events(r.T.Context(), r.View().Last())
	must.Done(r.T)(r.Submit(r.T.Context(), session.Prompt{Text: prompt}))
	for e, err := range events {
		must.Do(r.T, err)
		out = append(out, e)
		if on != nil {
			on(e)
		}
		if _, ok := e.Body.(event.Ended); ok {
			return out
		}
	}
	r.T.Fatal("the events ended before the turn")
	return nil
}

// Log returns all events of the session that are stored.
func (r *Rig) Log() []event.Event {
	r.T.Helper()
	return Stored(r.T, r.Store, r.Cfg.ID)
}

// Put writes a file of the folder.
func (r *Rig) Put(name, text string) {
	r.T.Helper()
	must.Write(r.T, filepath.Join(r.Dir, name), text)
}

// File returns the text of a file of the folder, or the error, which begins with "error: ".
func (r *Rig) File(name string) string {
	b, err := os.ReadFile(filepath.Join(r.Dir, name))
	if err != nil {
		return "error: " + err.Error()
	}
	return string(b)
}

// Stored returns all events of a session in a store.
func Stored(t must.T, st event.Store, id string) (log []event.Event) {
	t.Helper()
	for e, err := range st.Read(context.Background(), id, 0) {
		must.Do(t, err)
		log = append(log, e)
	}
	return log
}

// Find returns the bodies of one kind.
func Find[B event.Body](es []event.Event) (out []B) {
	for _, e := range es {
		if b, ok := e.Body.(B); ok {
			out = append(out, b)
		}
	}
	return out
}
