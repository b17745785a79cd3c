package session_test

import (
	"context"
	"strings"
	"testing"
	"time"

	"github.com/pawl-agent/pawl/internal/core/event"
	"github.com/pawl-agent/pawl/internal/core/llm/llmtest"
	"github.com/pawl-agent/pawl/internal/engine/session"
)

// SPEC 15.1: while memory or disk is short no new work begins, it is said why,
// and it goes on when there is room; where none comes, the turn ends.
func TestPressure(t *testing.T) {
	alone := false
	run := func(short int) ([]event.Event, int) {
		m := llmtest.New(llmtest.Say("done"))
		left, slept := short, 0
		at := time.Unix(1_700_000_000, 0)
		r := newRig(t, "yolo", m, func(c *session.Config) {
			c.Pressure = func() (string, string) {
				if left--; left >= 0 {
					return "disk", "only 5 MB is left"
				}
				return "", ""
			}
			c.EndAtFullDisk = alone
			c.Now = func() time.Time { return at }
			c.Sleep = func(_ context.Context, d time.Duration) error {
				slept++
				at = at.Add(d)
				return nil
			}
		})
		return r.Run("go", nil), slept
	}
	texts := func(es []event.Event) (out []string) {
		for _, w := range find[event.Warned](es) {
			if w.What == "pressure" {
				out = append(out, w.Text)
			}
		}
		return out
	}
	if es, slept := run(0); len(texts(es)) != 0 || slept != 0 {
		t.Errorf("without pressure: %q, waited %d times", texts(es), slept)
	}
	es, slept := run(3)
	if got := texts(es); slept != 3 || len(got) != 2 || !strings.Contains(got[0], "5 MB") || !strings.Contains(got[1], "continues") {
		t.Errorf("waited %d times: %q", slept, got)
	}
	if end := find[event.Ended](es)[0]; end.End != event.EndDone {
		t.Errorf("ended %+v", end)
	}
	// Ten minutes, and not hours: a run that cannot go on says so.
	es, slept = run(1 << 30)
	if waited := time.Duration(slept) * 2 * time.Second; waited != 10*time.Minute {
		t.Errorf("waited %s for room", waited)
	}
	if end := find[event.Ended](es)[0]; end.End != event.EndFailed || !strings.Contains(end.Error.Message, "5 MB") || !strings.Contains(end.Error.Message, "--resume") {
		t.Errorf("ended %+v", end)
	}
	if n := len(find[event.Requested](es)); n != 0 {
		t.Errorf("%d requests under pressure", n)
	}
	alone = true
	es, slept = run(1 << 30)
	if end := find[event.Ended](es)[0]; slept != 0 || end.End != event.EndDisk || !strings.Contains(end.Error.Message, "5 MB") {
		t.Errorf("without a person it waited %d times and ended %+v", slept, end)
	}
}
