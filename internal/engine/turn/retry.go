package turn

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/pawl-agent/pawl/internal/core/event"
	"github.com/pawl-agent/pawl/internal/core/fault"
	"github.com/pawl-agent/pawl/internal/core/llm"
)

// Retries of one request (SPEC 3.4).
const (
	// RetryFor is the default time for retries of a request: a laptop wakes up,
	// a provider's peak passes.
	RetryFor  = 5 * time.Minute
	firstWait = 500 * time.Millisecond
	maxWait   = 30 * time.Second
	leastTry  = time.Second // with less time an attempt would end by the run's limit alone
	// maxRetries limits retries that waiting does not improve: after unusable
	// replies, which all cost money, and before another model takes over.
	maxRetries = 4
)

// retryState tracks the failed attempts of one request to one model.
type retryState struct {
	limit    time.Duration
	tries    int
	unusable int           // of them with a reply that could not be used
	since    time.Time     // the first failure
	waited   time.Duration // between the tries
}

func (l *Loop) newRetryState() *retryState {
	p := &retryState{limit: l.Retry.For}
	p.limit = cmp.Or(p.limit, RetryFor)
	return p
}

// failed counts a failed attempt and returns how much time is left for more.
func (p *retryState) failed(now time.Time) (left time.Duration) {
	if p.tries++; p.tries == 1 {
		p.since = now
	}
	// Count the waits separately: a clock may stand still or be set back.
	return p.limit - max(now.Sub(p.since), p.waited)
}

// retry decides what follows a failed attempt: another one after a wait, one
// with the model that it returns, or the end, which is the error. r is the
// event to record, err is why the attempt failed.
func (l *Loop) retry(ctx context.Context, p *retryState, r event.Retried, err error) (llm.Model, error) {
	left := p.failed(l.Clock.Now())
	asked := retryAfter(err)
	long := left > 0 && asked > left
	if fault.CategoryOf(err) != fault.Provider {
		p.unusable++
	}
	if left <= 0 || long || p.tries > maxRetries {
		if next, ferr := l.fallback(ctx, r); next != nil || ferr != nil {
			return next, ferr
		}
	}
	switch {
	case left <= 0 || p.unusable > maxRetries:
		return nil, withAttempts(err, p)
	case long:
		r.Wait = asked
		if l.Retry.Longer == nil {
			return nil, withWaitHint(err, asked)
		}
		ok, lerr := l.Retry.Longer(ctx, r)
		if lerr != nil {
			return nil, lerr
		}
		if !ok {
			return nil, withWaitHint(err, asked)
		}
		*p = *l.newRetryState() // the time agreed on is over and above
	default:
		// Never sooner than our own backoff: a server that always answers "at
		// once" would be asked a thousand times.
		r.Wait = max(asked, min(l.backoff(p.tries), left))
		p.waited += r.Wait
		r.Left = max(0, left-r.Wait)
		if p.unusable > 0 {
			r.Most = r.Attempt + maxRetries + 1 - p.unusable
		}
		if l.Retry.TimeLeft != nil {
			if rest, ok := l.Retry.TimeLeft(); ok && r.Wait+leastTry > rest {
				return nil, withAttempts(err, p)
			}
		}
	}
	if err := l.Log.Append(ctx, event.Draft{Body: r}); err != nil {
		return nil, err
	}
	return nil, l.countDown(ctx, r.Attempt, r.Wait)
}

func (l *Loop) fallback(ctx context.Context, r event.Retried) (llm.Model, error) {
	if l.Retry.Fallback == nil {
		return nil, nil
	}
	return l.Retry.Fallback(ctx, r)
}

// backoff returns our own wait before the next attempt: doubling, with jitter
// between half and all of it.
func (l *Loop) backoff(tries int) time.Duration {
	d := maxWait
	if tries < 8 { // 500 ms << 7 is over maxWait
		d = min(firstWait<<(tries-1), maxWait)
	}
	return d/2 + time.Duration(l.Retry.Jitter()*float64(d/2))
}

// countDown waits, and shows the remaining time: each second in the last
// minute, each ten seconds before.
func (l *Loop) countDown(ctx context.Context, attempt int, left time.Duration) error {
	for left > 0 {
		unit := time.Second
		if left > time.Minute {
			unit = 10 * time.Second
		}
		step := min(left, unit+left%unit) // whole units from the first look on
		if err := l.Clock.Sleep(ctx, step); err != nil {
			return context.Cause(ctx)
		}
		if left -= step; left > 0 {
			l.Log.Publish(event.Waiting{Attempt: attempt, Left: left})
		}
	}
	return nil
}

// retryAfter is how long the provider asked to wait, 0 where it did not say.
func retryAfter(err error) time.Duration {
	if e := (*fault.Error)(nil); errors.As(err, &e) {
		return e.RetryAfter
	}
	return 0
}

// withAttempts adds the number of attempts to an error.
func withAttempts(err error, p *retryState) error {
	e := (*fault.Error)(nil)
	if p.tries < 2 || !errors.As(err, &e) {
		return err
	}
	f := *e
	f.Message = fmt.Sprintf("after %d tries: %s", p.tries, f.Message)
	return &f
}

// withWaitHint adds to an error how to permit the wait.
func withWaitHint(err error, asked time.Duration) error {
	e := (*fault.Error)(nil)
	if !errors.As(err, &e) {
		return err
	}
	f := *e
	f.Hint = fmt.Sprintf("it asks to wait %s: try again then, or let pawl wait with --retry-for %s", asked.Round(time.Second), asked.Round(time.Second)+time.Minute)
	return &f
}
