package questions

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"

	"github.com/pawl-agent/pawl/internal/core/event"
	"github.com/pawl-agent/pawl/internal/core/must"
	"github.com/pawl-agent/pawl/internal/core/process"
	"github.com/pawl-agent/pawl/internal/core/tool"
)

// diary is a log of questions and answers, in the order recorded.
type diary struct {
	mu    sync.Mutex
	lines []string
	ids   []string // of the questions
	n     int
}

func (d *diary) Append(_ context.Context, ds ...event.Draft) error {
	d.mu.Lock()
	defer d.mu.Unlock()
	for _, dr := range ds {
		switch b := dr.Body.(type) {
		case event.Asked:
			d.lines = append(d.lines, strings.TrimSpace("asked "+b.Text+" "+b.From))
			d.ids = append(d.ids, b.ID)
		case event.Answered:
			d.lines = append(d.lines, "answered "+b.Text)
			if !slices.Contains(d.ids, b.ID) {
				return fmt.Errorf("%s is no question of this log", b.ID)
			}
		}
	}
	return nil
}

func (d *diary) last() string {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.ids[len(d.ids)-1]
}

func of(d *diary, up *Questions, agent string) *Questions {
	return New(Config{Person: true, Log: d, Parent: up, Agent: agent, NewID: func() string {
		d.mu.Lock()
		defer d.mu.Unlock()
		d.n++
		return fmt.Sprintf("%s%d", agent, d.n)
	}})
}

// SPEC 14.1: what an agent of an agent asks reaches the person by both sessions,
// with who asks, and each of the three logs has both sides under an id of its own.
func TestAQuestionReachesThePerson(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var top, mid, low diary
		q := of(&top, nil, "")
		deep := of(&low, of(&mid, q, "plan"), "explore")
		done := make(chan event.Answered, 1)
		go func() {
			a, err := deep.Ask(t.Context(), event.Asked{Text: "which?"})
			if err != nil {
				t.Error(err)
			}
			done <- a
		}()
		synctest.Wait()
		must.Do(t, q.Answer(event.Answered{ID: top.last(), Text: "this"}))
		if a := <-done; a.Text != "this" || a.ID != low.last() {
			t.Errorf("%+v", a)
		}
		for name, d := range map[string]*diary{"[asked which? plan: explore answered this]": &top, "[asked which? explore answered this]": &mid, "[asked which? answered this]": &low} {
			if got := fmt.Sprint(d.lines); got != name {
				t.Errorf("%s, want %s", got, name)
			}
		}
		if err := q.Answer(event.Answered{ID: top.last()}); err == nil {
			t.Error("a question was answered twice")
		}
	})
}

// SPEC 1.5: two calls that ask at once are asked one after the other, and one that
// is interrupted while it waits lets the next one ask.
func TestOneQuestionAtATime(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var d diary
		q := of(&d, nil, "")
		ctx, cancel := context.WithCancelCause(t.Context())
		why := errors.New("interrupted")
		got := make(chan error, 2)
		go func() { _, err := q.Ask(ctx, event.Asked{Text: "first"}); got <- err }()
		synctest.Wait()
		go func() { _, err := q.Ask(t.Context(), event.Asked{Text: "second"}); got <- err }()
		synctest.Wait()
		if len(d.ids) != 1 {
			t.Fatalf("%d questions at once", len(d.ids))
		}
		cancel(why)
		if err := <-got; !errors.Is(err, why) {
			t.Error(err)
		}
		synctest.Wait()
		if err := q.Answer(event.Answered{ID: d.last(), Text: "yes"}); err != nil {
			t.Error(err)
		}
		if err := <-got; err != nil || fmt.Sprint(d.lines) != "[asked first asked second answered yes]" {
			t.Error(err, d.lines)
		}
	})
}

// SPEC 16.14: a question about a command that has ended is no longer open, in the log of
// the agent that asked and in those above it, and the next one is asked.
func TestAWithdrawnQuestionIsClosed(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var top, low diary
		q := of(&top, nil, "")
		deep := of(&low, q, "explore")
		ctx, cancel := context.WithCancelCause(t.Context())
		got := make(chan error, 1)
		go func() { _, err := deep.Ask(ctx, event.Asked{Text: "may it?"}); got <- err }()
		synctest.Wait()
		cancel(process.ErrWithdrawn)
		if err := <-got; !errors.Is(err, process.ErrWithdrawn) {
			t.Error(err)
		}
		for _, d := range []*diary{&top, &low} {
			if len(d.lines) != 2 || d.lines[1] != "answered "+process.ErrWithdrawn.Error() {
				t.Errorf("%q", d.lines)
			}
		}
		if err := q.Answer(event.Answered{ID: top.last()}); err == nil {
			t.Error("it could be answered")
		}
	})
}

// SPEC 4.7: where nobody is there, nothing is asked and nothing is recorded.
func TestNobodyIsAsked(t *testing.T) {
	var d diary
	q := New(Config{Log: &d})
	if _, err := q.Ask(t.Context(), event.Asked{Text: "may I?"}); !errors.Is(err, tool.ErrNobody) || len(d.lines) != 0 {
		t.Error(err, d.lines)
	}
}
