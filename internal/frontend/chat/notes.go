package chat

import (
	"fmt"
	"strings"
	"time"

	"github.com/pawl-agent/pawl/internal/core/event"
	"github.com/pawl-agent/pawl/internal/frontend/brief"
	"github.com/pawl-agent/pawl/internal/frontend/plain"
	"github.com/pawl-agent/pawl/internal/policy/permission"
)

// remark handles the events that become a line by pawl.
func (t *Timeline) remark(e event.Event) {
	switch b := e.Body.(type) {
	case event.Opened:
		t.note(e, Note{Kind: OfSession, Text: plain.Line(fmt.Sprintf("session %s in %s, %s", e.Session, b.Dir, e.Time.UTC().Format(time.DateTime+" MST")))})
	case event.Rebased:
		t.window = b.Info.Window
		t.note(e, Note{Kind: OfModel, Text: brief.Model(b.Info)})
	case event.Routed:
		if text := brief.Route(b); text != "" {
			t.note(e, Note{Kind: OfRoute, Text: text, Explicit: b.Explicit})
		}
	case event.ModeSet:
		t.note(e, Note{Kind: OfMode, Text: plain.Line("mode " + b.Mode)})
	case event.Granted:
		text := "allowed for this session: "
		if b.Scope == event.Always {
			text = "always allowed: "
		}
		if b.Scope == event.Never {
			text = "denied for this session: "
		}
		t.note(e, Note{Kind: OfGrant, Text: plain.Line(text + permission.InWords(b.Rule))})
	case event.Revoked:
		t.note(e, Note{Kind: OfGrant, Text: plain.Line("no longer allowed: " + b.Rule)})
	case event.Narrowed:
		t.note(e, Note{Kind: OfGrant, Text: brief.Narrowed(b)})
	case event.LimitSet:
		t.note(e, Note{Kind: OfGrant, Text: brief.Limit(b)})
	case event.PlanDecided:
		text := "the plan is rejected"
		if b.Approved {
			text = "the plan is approved"
		}
		t.note(e, Note{Kind: OfPlan, Text: text})
	case event.RemoteAct:
		t.note(e, Note{Kind: OfRemote, Text: plain.Line(b.What + ", from " + b.Device)})
	case event.Warned:
		t.note(e, Note{Kind: OfWarning, Text: plain.Line(b.Text)})
	case event.Stuck:
		if text := stuckWords(b, ""); text != "" {
			n := Note{Kind: OfStuck, Text: text}
			for _, l := range b.Evidence {
				n.Evidence = append(n.Evidence, plain.Line(l))
			}
			t.note(e, n)
		}
	case event.Compacted:
		said := compactionLines(b)
		t.note(e, Note{Kind: OfCompaction, Text: said[0], More: said[1:]})
	case event.Undone:
		n := Note{Kind: OfUndo, Text: plain.Line("undone: " + strings.Join(b.Paths, ", "))}
		if len(b.Kept) > 0 {
			n.More = []string{plain.Line("with later changes kept in: " + strings.Join(b.Kept, ", "))}
		}
		t.note(e, n)
	case event.Redone:
		t.note(e, Note{Kind: OfUndo, Text: plain.Line("redone: " + strings.Join(b.Paths, ", "))})
	case event.Noted:
		if b.Why == "phase" || b.Why == "route" || b.Why == "plan" {
			return // the person sees it as a separate block
		}
		text := b.Text
		if first, _, long := strings.Cut(text, "\n"); long { // rules: their heading tells which
			text = strings.TrimSuffix(first, ":")
		}
		kind := OfTold
		if b.Why == event.NotedTools || b.Why == event.NotedJob { // it concerns the person, too
			kind = OfWarning
		}
		t.note(e, Note{Kind: kind, Text: plain.Line(strings.TrimSuffix(strings.TrimPrefix(text, "["), "]"))})
	case event.Progressed:
		t.note(e, Note{Kind: OfProgress, Text: progressedWords(b)})
	}
}
