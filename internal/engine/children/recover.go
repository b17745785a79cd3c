package children

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/pawl-agent/pawl/internal/core/event"
	"github.com/pawl-agent/pawl/internal/core/fault"
	"github.com/pawl-agent/pawl/internal/core/tool"
)

// Recovered holds what must be reported about the children that ran when pawl died.
type Recovered struct {
	calls map[string]string // by the call that waited for the child
	notes []string          // of those in the background
}

// For returns the text for the result of a call, "" for none.
func (r Recovered) For(call string) string { return r.calls[call] }

// Note returns the note to the model about children in the background.
func (r Recovered) Note() []event.Draft {
	if len(r.notes) == 0 {
		return nil
	}
	return []event.Draft{{Body: event.Noted{Why: event.NotedAgent, Text: strings.Join(r.notes, "\n")}}}
}

// Recover closes the children that ran when pawl died, and records what they had done.
// The caller recovers the session itself after that, since a command of a child may
// have run last.
func (c *Children) Recover(ctx context.Context) (Recovered, error) {
	out := Recovered{calls: map[string]string{}}
	for _, a := range slices.Clone(c.cfg.Fold.running) {
		row, err := c.cfg.Store.Session(ctx, a.Child)
		ended := event.AgentEnded{Call: a.Call, Child: a.Child, End: event.EndInterrupted, Error: &event.Fault{
			Category: string(fault.Cancellation), Message: "pawl was stopped while this agent ran",
		}}
		m := &mirror{Children: c, running: map[string]bool{}, changed: map[string]bool{}}
		// A fork has the events of another session, whose agents are not its own.
		if err == nil && !a.Isolated && row.ID == a.Child && row.Parent != nil && row.Parent.Session == c.cfg.Session {
			if err := m.reopen(ctx, a); err != nil {
				return out, err
			}
			ended.Calls = m.calls
		}
		if err := c.cfg.Log.Append(ctx, event.Draft{Body: ended}); err != nil {
			return out, err
		}
		if a.Background {
			out.notes = append(out.notes, m.describe(a))
		} else {
			out.calls[a.Call] += m.describe(a)
		}
	}
	return out, nil
}

// reopen opens the child, whose own recovery closes what was open in it, and closes it.
func (m *mirror) reopen(ctx context.Context, a event.AgentStarted) error {
	m.child = m.childOf(a.Call, tool.Agent{Kind: a.Agent})
	m.child.ID, m.child.Recovering = a.Child, true
	s, err := m.cfg.Parent.Open(ctx, m.child)
	if err != nil {
		return err
	}
	return m.close(ctx, s, nil)
}

func TreeName(child string) string { return "agent-" + child[:min(8, len(child))] }

// describe describes what an agent had done when pawl died.
func (m *mirror) describe(a event.AgentStarted) string {
	var b strings.Builder
	if a.Isolated { // its tree may be gone, or be somebody's work by now
		return fmt.Sprintf("[The agent %s (%s) was cut short when pawl was stopped. It worked in a worktree of its own: git worktree list shows it, with the branch worktree-%s.]", a.Agent, a.Title, TreeName(a.Child))
	}
	fmt.Fprintf(&b, "[The agent %s (%s) was cut short when pawl was stopped. It had made %d calls", a.Agent, a.Title, m.calls)
	if len(m.files) > 0 {
		const most = 20
		fmt.Fprintf(&b, " and changed %s", strings.Join(m.files[:min(len(m.files), most)], ", "))
		if more := len(m.files) - most; more > 0 {
			fmt.Fprintf(&b, " and %d more files", more)
		}
	} else {
		b.WriteString(" and changed no file")
	}
	b.WriteString(".")
	if m.reply != "" {
		b.WriteString(" Its last words: " + strings.Join(strings.Fields(m.reply), " "))
	}
	b.WriteString("]")
	return b.String()
}
