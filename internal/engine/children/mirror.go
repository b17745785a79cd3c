package children

import (
	"context"
	"path/filepath"
	"slices"

	"github.com/pawl-agent/pawl/internal/core/event"
	"github.com/pawl-agent/pawl/internal/core/tool"
	"github.com/pawl-agent/pawl/internal/engine/eventlog"
)

// Fold holds which children run, and up to which event their actions are recorded. The
// zero value is ready.
type Fold struct {
	running    []event.AgentStarted
	recordedTo map[string]int64 // by child session: the last sequence number there
}

func (d *Fold) Apply(e event.Event) {
	at := func(e event.ChildEvent) {
		if d.recordedTo == nil {
			d.recordedTo = map[string]int64{}
		}
		d.recordedTo[e.Session] = max(d.recordedTo[e.Session], e.Seq)
	}
	switch b := e.Body.(type) {
	case event.AgentStarted:
		d.running = append(d.running, b)
	case event.AgentEnded:
		d.running = slices.DeleteFunc(d.running, func(a event.AgentStarted) bool { return a.Child == b.Child })
		delete(d.recordedTo, b.Child)
	case event.AgentCalled:
		at(b.Child)
	case event.FileChanged:
		if b.Child != nil {
			at(*b.Child)
		}
	}
}

// mirror records a child's actions in the log of its parent. A change is in the child's
// log first. If pawl dies between the two, Recover records what is missing.
type mirror struct {
	*Children
	child   Child
	seq     int64           // of the child's last event that was seen
	tree    *Tree           // nil: it works in the folder of the session
	running map[string]bool // the child's calls
	live    bool            // its calls are shown while it runs
	calls   int
	files   []string
	changed map[string]bool // the files
	reply   string          // the last words of its model
	said    event.Answer
}

// close closes the child and records what came after its turn: the effects of
// background commands until they were killed.
func (m *mirror) close(ctx context.Context, s Session, err error) error {
	if sh, ok := m.child.Shell.(*shell); ok {
		sh.end()
	}
	if cerr := s.Close(); err == nil {
		err = cerr
	}
	if rerr := m.recordRest(context.WithoutCancel(ctx)); err == nil {
		err = rerr
	}
	return err
}

// recordRest records the remaining events of the child's log.
func (m *mirror) recordRest(ctx context.Context) error {
	for e, err := range m.cfg.Store.Read(ctx, m.child.ID, m.seq) {
		if err != nil {
			return err
		}
		if err := m.see(e); err != nil {
			return err
		}
	}
	return nil
}

// see records an event of the child.
func (m *mirror) see(e event.Event) error {
	if e.Seq == 0 {
		return nil
	}
	m.seq = e.Seq
	call, at := m.child.Of.Call, event.ChildEvent{Session: m.child.ID, Seq: e.Seq}
	m.said.Apply(e.Body)
	switch b := e.Body.(type) {
	case event.Replied:
		if t := m.said.Text(); t != "" {
			m.reply = t
		}
	case event.CallAsked:
		if m.live {
			m.cfg.Log.Publish(event.OutputDelta{Call: call, Text: b.Title + "\n"})
		}
	case event.CallStarted:
		m.running[b.ID] = true
	case event.CallDone:
		m.calls++
		delete(m.running, b.ID)
		if b.Does == tool.Exec && m.tree == nil { // in another tree it proves nothing of this one
			at.Call, b.Diff, b.Result.Images = b.ID, "", nil
			return m.record(event.AgentCalled{Call: call, Child: at, Done: b})
		}
	case event.AgentCalled: // of an agent of the agent
		if m.tree != nil {
			return nil
		}
		at.Call = b.Child.Session + "/" + b.Child.Call
		return m.record(event.AgentCalled{Call: call, Child: at, Done: b.Done})
	case event.FileChanged:
		if !m.changed[b.Path] {
			m.changed[b.Path] = true
			m.files = append(m.files, b.Path)
		}
		if b.Path = m.here(b.Path); b.Path == "" {
			return nil
		}
		at.Call = m.callOf(b.Call, b.Child)
		b.Call, b.Child = call, &at
		return m.record(b)
	case event.Kept:
		if b.Path = m.here(b.Path); b.Path == "" {
			return nil
		}
		at.Call = m.callOf(b.Call, b.Child)
		b.Call, b.Child = call, &at
		return m.record(b)
	case event.Blocked:
		if m.live && b.By != event.ByStuck {
			b.Call = call
			return m.record(b)
		}
	}
	return nil
}

// here returns a path of the child as a path of the session, "" if it is in the child's own
// tree. It may have changed a file elsewhere, with a permission for that.
func (m *mirror) here(path string) string {
	if m.tree == nil {
		return path
	}
	if rel, err := filepath.Rel(m.tree.Dir, path); err != nil || filepath.IsLocal(rel) { // a relative one is of the tree
		return ""
	}
	if rel, err := filepath.Rel(m.tree.From, path); err == nil && filepath.IsLocal(rel) {
		return filepath.ToSlash(rel)
	}
	return path
}

// callOf returns the call of the child that made a change, "" if it is not known.
func (m *mirror) callOf(call string, child *event.ChildEvent) string {
	switch {
	case child != nil && child.Call != "":
		return child.Session + "/" + child.Call
	case child == nil && m.running[call]:
		return call
	}
	return ""
}

// record records what is not recorded yet.
func (m *mirror) record(b event.Body) error {
	told := eventlog.Query(m.cfg.Log, func() int64 { return m.cfg.Fold.recordedTo[m.child.ID] })
	if m.seq <= told {
		return nil
	}
	return m.cfg.Log.Append(context.Background(), event.Draft{Body: b})
}
