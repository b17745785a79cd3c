package attach

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"iter"
	"net"
	"reflect"
	"sync"
	"syscall"
	"time"

	"github.com/pawl-agent/pawl/internal/core/event"
	"github.com/pawl-agent/pawl/internal/core/fault"
	"github.com/pawl-agent/pawl/internal/engine/session"
	"github.com/pawl-agent/pawl/internal/policy/undo"
)

// ErrNoOwner means that no pawl has the session open, or none that can be reached.
var ErrNoOwner = errors.New("no pawl has it open")

// Owner is a session in another process. It is a session.Owner.
type Owner struct {
	conn  net.Conn
	lines *bufio.Reader
	hello hello
	steer bool

	mu           sync.Mutex
	n            int64
	waiting      map[int64]chan *done
	ended        bool // the owner announced it, and was not killed
	planned      int64
	plan         undo.Plan // the last one of PlanUndo, and the number of its request
	disconnected chan struct{}
}

// Dial reaches the owner of a session. With steer it takes operations as well.
// The error is ErrNoOwner where there is none.
func Dial(ctx context.Context, state, id string, steer bool) (*Owner, error) {
	path := socketPath(state, id)
	if len(path) > longest {
		return nil, tooLong(path)
	}
	c, err := (&net.Dialer{}).DialContext(ctx, "unix", path)
	switch {
	case errors.Is(err, fs.ErrNotExist), errors.Is(err, syscall.ECONNREFUSED):
		return nil, ErrNoOwner
	case err != nil:
		return nil, err
	}
	o := &Owner{conn: c, lines: bufio.NewReader(c), steer: steer, waiting: map[int64]chan *done{}, disconnected: make(chan struct{})}
	m, err := readLine[fromOwner](o.lines)
	switch {
	case err != nil || m.Hello == nil:
		err = ErrNoOwner // it was about to end
	case m.Hello.Session != id:
		err = fmt.Errorf("its socket is that of session %s", m.Hello.Session)
	case m.Hello.Protocol != protocol:
		err = fault.NewConfiguration("use the same version of pawl in both terminals", "session %s is open in pawl %s, which this one cannot follow", id, m.Hello.Pawl)
	case steer && m.Hello.NoSteer != nil:
		err = errorOf(m.Hello.NoSteer)
	default:
		o.hello = *m.Hello
		return o, nil
	}
	_ = c.Close()
	return nil, err
}

// patience is how long an owner may take for what it does at once: it may be
// suspended.
const patience = 3 * time.Second

// PID returns the process that has the session.
func (o *Owner) PID() int { return o.hello.PID }

// Events implements session.Owner; it is called once.
func (o *Owner) Events(ctx context.Context, after int64) iter.Seq2[event.Event, error] {
	err := writeLine(o.conn, fromWatcher{Follow: &follow{Protocol: protocol, After: after, Steer: o.steer}})
	return func(yield func(event.Event, error) bool) {
		defer o.disconnect()
		defer context.AfterFunc(ctx, func() { _ = o.conn.Close() })()
		for err == nil {
			var m fromOwner
			if m, err = readLine[fromOwner](o.lines); err != nil {
				break
			}
			switch {
			case m.Bye != nil:
				o.mu.Lock()
				o.ended = true
				o.mu.Unlock()
				return
			case m.Done != nil:
				o.answer(m.Done)
			case m.Event != nil:
				var e event.Event
				if e, err = m.Event.event(o.hello.Session); err == nil && !yield(e, nil) {
					return
				}
			}
		}
		if ctx.Err() == nil {
			yield(event.Event{}, err)
		}
	}
}

// disconnect ends the calls that wait for a result.
func (o *Owner) disconnect() {
	_ = o.conn.Close()
	close(o.disconnected)
}

func (o *Owner) answer(d *done) {
	o.mu.Lock()
	ch := o.waiting[d.N]
	delete(o.waiting, d.N)
	o.mu.Unlock()
	if ch != nil {
		ch <- d
	}
}

// Ended reports whether the owner closed the session by itself; otherwise it was
// killed. It is known after the last event.
func (o *Owner) Ended() bool {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.ended
}

func (o *Owner) Submit(ctx context.Context, op session.Op) (int64, error) {
	name, args := nameOf(op), any(op)
	if u, ok := op.(session.Undo); ok {
		o.mu.Lock()
		known := o.planned != 0 && reflect.DeepEqual(u.Plan, o.plan)
		name, args = doUndo, undoing{o.planned, u.Consent}
		o.mu.Unlock()
		if !known {
			return 0, errOtherPlan()
		}
	}
	if name == "" && o.steer {
		return 0, fault.NewConfiguration("do it in the terminal that has the session open", "this cannot be done from another terminal")
	}
	if _, slow := op.(session.Prompt); !slow { // a person's hooks judge one
		var stop context.CancelFunc
		ctx, stop = withPatience(ctx, patience)
		defer stop()
	}
	d, err := o.ask(ctx, name, args)
	if err != nil {
		return 0, err
	}
	return d.Cause, errorOf(d.Error)
}

// PlanUndo implements session.Owner. The owner looks at all files of the plan.
func (o *Owner) PlanUndo(ctx context.Context, w undo.Selector) (undo.Plan, error) {
	ctx, stop := withPatience(ctx, 10*patience)
	defer stop()
	d, err := o.ask(ctx, planUndo, w)
	switch {
	case err != nil:
		return undo.Plan{}, err
	case d.Nothing && w.Kind == undo.ByRedo:
		return undo.Plan{}, undo.ErrNoRedo
	case d.Nothing:
		return undo.Plan{}, undo.ErrNothing
	case d.Error != nil || d.Plan == nil:
		return undo.Plan{}, errorOf(d.Error)
	}
	o.mu.Lock()
	defer o.mu.Unlock()
	o.planned, o.plan = d.N, *d.Plan
	return o.plan, nil
}

func withPatience(ctx context.Context, d time.Duration) (context.Context, context.CancelFunc) {
	return context.WithTimeoutCause(ctx, d, fault.NewConfiguration("", "the pawl that has the session open does not answer"))
}

// ask has the owner do something, and waits for its answer.
func (o *Owner) ask(ctx context.Context, name string, in any) (*done, error) {
	if !o.steer {
		return nil, errWatchesOnly()
	}
	args, err := json.Marshal(in)
	if err != nil {
		return nil, err
	}
	result := make(chan *done, 1)
	o.mu.Lock()
	o.n++
	n := o.n
	o.waiting[n] = result
	err = writeLine(o.conn, fromWatcher{N: n, Op: name, Args: args})
	o.mu.Unlock()
	if err != nil {
		return nil, o.lostError()
	}
	select {
	case d := <-result:
		return d, nil
	case <-o.disconnected:
		return nil, o.lostError()
	case <-ctx.Done():
		return nil, context.Cause(ctx)
	}
}

func (o *Owner) lostError() error {
	return fault.NewConfiguration("", "the pawl that had session %s open is gone", o.hello.Session)
}

// Leave ends the connection of an owner whose events are not read.
func (o *Owner) Leave() { _ = o.conn.Close() }
