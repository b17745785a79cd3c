package chat

import (
	"context"
	"encoding/json"
	"fmt"
	"path/filepath"
	"reflect"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"pgregory.net/rapid"

	"github.com/pawl-agent/pawl/internal/adapter/store/sqlite"
	"github.com/pawl-agent/pawl/internal/core/event"
	"github.com/pawl-agent/pawl/internal/core/event/eventtest"
	"github.com/pawl-agent/pawl/internal/core/freeze"
	"github.com/pawl-agent/pawl/internal/core/llm"
	"github.com/pawl-agent/pawl/internal/core/llm/llmtest"
	"github.com/pawl-agent/pawl/internal/core/must"
	"github.com/pawl-agent/pawl/internal/engine/session"
	"github.com/pawl-agent/pawl/internal/engine/session/sessiontest"
	"github.com/pawl-agent/pawl/internal/frontend/slash"
	"github.com/pawl-agent/pawl/internal/policy/budget"
)

// stored are the events of a session that a log keeps, with events of every other kind
// among them.
func stored(t *rapid.T) (out []event.Event) {
	kinds := event.Kinds()
	for _, e := range (&life{t: t}).session() {
		if e.Seq == 0 {
			continue
		}
		for range rapid.IntRange(0, 2).Draw(t, "others") {
			b := event.New(rapid.SampledFrom(kinds).Draw(t, "kind"))
			v := reflect.New(reflect.TypeOf(b)).Elem()
			eventtest.Fill(v, rapid.SampledFrom([]string{"c01", "x", "s"}).Draw(t, "text"), json.RawMessage(`{}`))
			out = append(out, event.Event{Session: "s", Time: e.Time, Body: event.Completed(v.Interface().(event.Body))})
		}
		out = append(out, e)
	}
	for i := range out {
		out[i].Seq = int64(i + 1)
	}
	return out
}

// SPEC 18.1, 19.3: whatever is not shown of the beginning, the rest of a session is shown
// as it was, whether its beginning is folded or read from a snapshot.
func TestTheRestIsShownAsItWas(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		log := stored(t)
		at := rapid.IntRange(1, len(log)).Draw(t, "not shown")
		var whole Timeline
		fold(&whole, log[:at])
		open := whole.Open()
		want := fold(&whole, log[at:])

		before := newPrefix()
		for _, e := range log[:at] {
			before.Apply(e)
		}
		codec, err := freeze.New([]any{newPrefix()})
		must.Do(t, err)
		data, err := codec.Append(nil, []any{before})
		if err != nil {
			t.Fatalf("no snapshot can be taken: %v", err)
		}
		read := newPrefix()
		must.Do(t, codec.Read(data, []any{read}))
		for how, f := range map[string]*prefix{"folded": before, "read": read} {
			if d := cmp.Diff(open, f.timeline.Open(), cmpopts.IgnoreUnexported(budget.Spent{})); d != "" {
				t.Fatalf("%s: other blocks are open:\n%s", how, d)
			}
			if got := fold(&f.timeline, log[at:]); !reflect.DeepEqual(got, want) {
				t.Fatalf("%s: the rest is\n%+v\nwant\n%+v", how, got, want)
			}
		}
	})
}

// SPEC 19.3: of a long session that is opened again only the end is passed on, with what is
// still open and the last prompt. The second time nothing before it is read.
func TestRecent(t *testing.T) {
	st, err := sqlite.Open(t.Context(), filepath.Join(t.TempDir(), "pawl.db"), sqlite.Options{})
	must.Do(t, err)
	defer st.Close()
	var ds []event.Draft
	put := func(b event.Body) { ds = append(ds, event.Draft{Body: event.Completed(b)}) }
	dir := t.TempDir()
	put(event.Opened{Dir: dir, Mode: "yolo"})
	put(event.Prompted{Source: event.Person, Text: "the only prompt"})
	put(event.CallAsked{ID: "open", Tool: "bash", Args: json.RawMessage(`{"command":"sleep 9"}`)})
	put(event.CallStarted{ID: "open"})
	const replies = 1000
	for i := range replies {
		put(event.Requested{Attempt: 1})
		put(event.Replied{Reply: llm.Reply{Message: llm.Message{Role: llm.Assistant, Parts: []llm.Part{llm.TextPart(fmt.Sprint("reply ", i))}}}})
	}
	const id = "s1"
	es, err := st.Append(t.Context(), id, 0, ds...)
	must.Do(t, err)
	last := es[len(es)-1].Seq

	for _, c := range []struct {
		name   string
		recent int64
	}{{"all", 0}, {"more than there is", last + 100}, {"the first time", 200}, {"again", 200}, {"less of it", 150}, {"more of it than the snapshot leaves", 400}} {
		t.Run(c.name, func(t *testing.T) {
			cfg := sessiontest.Config(t, dir, llmtest.New(), nil)
			cfg.Store, cfg.ID, cfg.Program, cfg.ReadOnly = st, id, "test", false
			cfg.SnapshotEvery = 1 << 40 // of the session's own folds none are taken
			var s *session.Session
			talk := Begin(t.Context(), Config{Now: time.Now, Recent: c.recent, Open: func(ctx context.Context, _ slash.Want, _ Person) (*Opened, error) {
				var err error
				if s, err = session.Open(ctx, cfg); err != nil {
					return nil, err
				}
				return &Opened{Session: s, Close: func() { _ = s.Close() }}, nil
			}}, slash.Want{})
			defer talk.Close()
			var prompts, texts []string
			var start Start
			calls := 0
			for over := false; !over; {
				changes, err := talk.Next(t.Context())
				must.Do(t, err)
				for _, ch := range changes {
					switch b := ch.Block.Body.(type) {
					case Start:
						start = b
						over = ch.What == Finished
					case Prompt:
						prompts = append(prompts, b.Text)
					case Reply:
						if ch.What == Finished {
							texts = append(texts, b.Text)
						}
					case Call:
						if ch.What == Added {
							calls++
						}
						if !ch.Past {
							t.Errorf("%+v did not happen before", ch)
						}
					}
				}
			}
			if calls != 1 {
				t.Errorf("the open call is shown %d times", calls)
			}
			if start.Prompt != "the only prompt" || start.Answer != fmt.Sprint("reply ", replies-1) {
				t.Errorf("it ended in %q, %q", start.Prompt, start.Answer)
			}
			want := replies
			if c.recent > 0 && c.recent < last {
				want = int(c.recent / 2)
			}
			// Opening it again records some events of its own, which are newer.
			if whole := len(prompts) > 0; whole != (want == replies) || len(texts) > want || len(texts) < want-5 {
				t.Errorf("%d prompts and %d replies are shown, want %d", len(prompts), len(texts), want)
			}
			if n := len(texts); n == 0 || texts[n-1] != fmt.Sprint("reply ", replies-1) {
				t.Errorf("the last replies are %v", texts[max(0, len(texts)-3):])
			}
			if (start.Earlier > 0) != (want < replies) {
				t.Errorf("it says that nothing is shown up to %d", start.Earlier)
			}
			if at, _, err := st.Snapshot(t.Context(), id, "shown"); c.recent == 200 && (err != nil || at == 0 || at > start.Earlier || at < start.Earlier-snapshotEvery/4) {
				t.Errorf("the snapshot for what is shown from %d on ends at %d (%v)", start.Earlier, at, err)
			}
		})
	}
}
