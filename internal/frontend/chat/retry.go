package chat

import (
	"fmt"
	"strings"
	"time"

	"github.com/pawl-agent/pawl/internal/core/cut"
	"github.com/pawl-agent/pawl/internal/core/event"
	"github.com/pawl-agent/pawl/internal/core/fault"
	"github.com/pawl-agent/pawl/internal/core/lazyregexp"
	"github.com/pawl-agent/pawl/internal/core/plural"
	"github.com/pawl-agent/pawl/internal/core/took"
	"github.com/pawl-agent/pawl/internal/frontend/plain"
)

// retry adds a failed try to those before it that failed for the same reason.
func (t *Timeline) retry(e event.Event, b event.Retried) {
	t.withdraw(e, isThinking, isReply)
	r := Retry{Reason: faultWords(b.Error)}
	p := t.find(isRetry)
	if p != nil && (b.Shown || p.Body.(Retry).Reason != r.Reason) { // what was shown stands between
		t.endRetry(e)
		p = nil
	}
	first := p == nil
	if first {
		p = &part{Block: Block{ID: id("retry", e.Seq), Began: e.Time}}
	} else {
		r = p.Body.(Retry)
	}
	r.Tries++
	r = r.in(b, b.Wait)
	r.Failed = true
	if p.Body, p.retried = r, b; first {
		t.add(p)
	} else {
		t.change(Changed, p, "")
	}
	if b.Model != "" {
		t.endRetry(e)
	}
}

// countDown shows how long it is until the next try.
func (t *Timeline) countDown(p *part, left time.Duration) {
	p.Body = p.Body.(Retry).in(p.retried, left)
	t.change(Changed, p, "")
}

// endRetry ends a retry: it keeps how many tries failed, not when the next one was due.
func (t *Timeline) endRetry(e event.Event) {
	if p := t.find(isRetry); p != nil {
		p.Body = p.Body.(Retry).over(p.retried)
		t.finish(e, p, "", false)
	}
}

// errorKind is a provider's own name of a kind of error, which its message says in words.
var errorKind = lazyregexp.New(` \[[A-Za-z]+(_[A-Za-z0-9]+)+\]`)

// faultWords returns what went wrong in plain words; pawl why and the log have the provider's
// name of it too.
func faultWords(f event.Fault) string {
	text := plain.Line(f.Message)
	if f.Category != string(fault.Provider) || strings.Contains(text, ": no explanation [") {
		return text
	}
	return errorKind().ReplaceAllString(text, "")
}

// in returns a retry whose next try comes after a time.
func (r Retry) in(b event.Retried, left time.Duration) Retry {
	if b.Model != "" {
		return r.over(b)
	}
	r.Left, r.Failed, r.Next = left, false, fmt.Sprintf("try %d", b.Attempt+1)
	if b.Most > 0 {
		r.Next += fmt.Sprintf(" of %d", b.Most)
	}
	if left > 0 {
		r.Next = "waiting " + took.Text(left) + " before " + r.Next
	} else {
		r.Next += " now"
	}
	until := ""
	if b.Left > 0 && b.Most == 0 {
		until = ", gives up in " + took.Text(coarse(left+b.Left))
	}
	return r.say(b, r.Next+until)
}

// coarse rounds a time up to minutes, until it is short: a second clock beside that of the
// next try would say less.
func coarse(d time.Duration) time.Duration {
	if d < 2*time.Minute {
		return d.Round(time.Second)
	}
	return (d + time.Minute - 1).Truncate(time.Minute)
}

// over returns a retry after which no other try of the same request and model comes.
func (r Retry) over(b event.Retried) Retry {
	r.Left, r.Next, r.Failed = 0, "", false
	s := plural.Of(r.Tries, "try") + " failed"
	if b.Model != "" {
		s += ", " + plain.Line(b.Model) + " goes on from here"
	}
	return r.say(b, s)
}

func (r Retry) say(b event.Retried, then string) Retry {
	r.Text = cut.Runes(r.Reason, 200) + "; " + then
	if b.Shown {
		r.Text += " (its text so far is discarded)"
	}
	return r
}
