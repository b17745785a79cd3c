package session

import (
	"github.com/pawl-agent/pawl/internal/core/event"
	"github.com/pawl-agent/pawl/internal/core/freeze"
	"github.com/pawl-agent/pawl/internal/engine/eventlog"
	"github.com/pawl-agent/pawl/internal/policy/lifecycle"
)

// Folded is the folds of a session, for tests of their snapshots.
type Folded struct {
	Folds []event.Fold
	Roots []any // their state

	agent    *lifecycle.Agent
	activity *lifecycle.Activity
	machines *machines
	codec    *freeze.Codec
}

// Fresh returns a function for those of a session as they are before its first event. All
// that it returns have one codec, whose making takes longest.
func Fresh(cfg Config) func() (*Folded, error) {
	snap := snapshots(cfg)
	var codec *freeze.Codec
	return func() (f *Folded, err error) {
		f = &Folded{Folds: snap.Fresh()}
		for _, x := range f.Folds {
			r, ok := x.(eventlog.Rooted)
			switch {
			case !ok:
				f.Roots = append(f.Roots, x)
			case r.Root() != nil:
				f.Roots = append(f.Roots, r.Root())
			}
			switch x := x.(type) {
			case *lifecycle.Agent:
				f.agent = x
			case *lifecycle.Activity:
				f.activity = x
			case *machinesFold:
				f.machines = x.machines
			}
		}
		if codec == nil {
			codec, err = freeze.New(f.Roots, snap.Known...)
		}
		f.codec = codec
		return f, err
	}
}

func (f *Folded) Apply(es ...event.Event) {
	for _, e := range es {
		for _, x := range f.Folds {
			x.Apply(e)
		}
	}
}

// Bytes is a snapshot of the state.
func (f *Folded) Bytes() ([]byte, error) {
	f.touch()
	return f.codec.Append(nil, f.Roots)
}

// Set reads a snapshot.
func (f *Folded) Set(data []byte) error {
	err := f.codec.Read(data, f.Roots)
	f.touch()
	return err
}

// touch makes the machines that are made when somebody first asks.
func (f *Folded) touch() {
	f.agent.State()
	f.activity.State()
	f.machines.app.State()
	f.machines.window.State()
	f.machines.storage.State()
}
