package attach

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"sync"
	"time"

	"github.com/pawl-agent/pawl/internal/core/event"
	"github.com/pawl-agent/pawl/internal/core/fault"
	"github.com/pawl-agent/pawl/internal/engine/session"
	"github.com/pawl-agent/pawl/internal/policy/undo"
)

// grace is how long a watcher has, once the session is closed, to take the rest.
const grace = 500 * time.Millisecond

// Serve lets others attach to a session that this process holds. started reports
// whether a pawl started a process: such a one may only watch. stop, which is
// for after the session was closed, waits until they have the end, for a
// limited time.
func Serve(state, version string, s *session.Session, started func(pid int) (bool, error)) (stop func(), err error) {
	path := socketPath(state, s.ID())
	if len(path) > longest {
		return nil, tooLong(path)
	}
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		return nil, err
	}
	_ = os.Remove(path) // of one that was killed: this process holds the session now
	l, err := net.Listen("unix", path)
	if err != nil {
		return nil, fmt.Errorf("others cannot attach: %w", err)
	}
	_ = os.Chmod(path, 0o600) // its folder is closed to others already
	o := &owner{session: s, version: version, onWatcher: started, conns: map[net.Conn]struct{}{}}
	go o.accept(l)
	return func() { o.stop(l) }, nil
}

// owner serves one session.
type owner struct {
	session   *session.Session
	version   string
	onWatcher func(pid int) (bool, error)

	mu     sync.Mutex
	conns  map[net.Conn]struct{}
	closed bool
	served sync.WaitGroup
}

func (o *owner) accept(l net.Listener) {
	for {
		c, err := l.Accept()
		if err != nil {
			return
		}
		o.mu.Lock()
		if o.closed {
			o.mu.Unlock()
			_ = c.Close()
			return
		}
		o.conns[c] = struct{}{}
		o.served.Add(1)
		o.mu.Unlock()
		go func() {
			defer o.served.Done()
			o.serve(c)
			_ = c.Close()
			o.mu.Lock()
			delete(o.conns, c)
			o.mu.Unlock()
		}()
	}
}

func (o *owner) stop(l net.Listener) {
	_ = l.Close() // which removes the socket
	o.mu.Lock()
	o.closed = true
	for c := range o.conns {
		_ = c.SetDeadline(time.Now().Add(grace)) // it need not read
	}
	o.mu.Unlock()
	o.served.Wait()
}

// watcher is one who is attached.
type watcher struct {
	*owner
	conn net.Conn

	writing sync.Mutex
	steers  bool
	prompts map[string]bool // the ids of those that it sent

	planning sync.Mutex
	planned  int64 // the number of the request for plan
	plan     undo.Plan
}

// serve answers one watcher until it leaves or the session ends.
func (o *owner) serve(c net.Conn) {
	w := &watcher{owner: o, conn: c, prompts: map[string]bool{}}
	lines := bufio.NewReader(c)
	refused := o.refusal(c)
	if w.write(fromOwner{Hello: &hello{Protocol: protocol, Session: o.session.ID(), PID: os.Getpid(), Pawl: o.version, NoSteer: refused}}) != nil {
		return
	}
	first, err := readLine[fromWatcher](lines)
	if err != nil || first.Follow == nil || first.Follow.Protocol != protocol {
		return
	}
	w.steers = first.Follow.Steer && refused == nil
	ctx, stop := context.WithCancel(context.Background())
	defer stop()
	events := o.session.Events(ctx, first.Follow.After)
	go func() {
		defer stop() // it left
		for {
			m, err := readLine[fromWatcher](lines)
			if err != nil {
				return
			}
			if m.Op == planUndo {
				go func() { _ = w.write(fromOwner{Done: w.planUndo(ctx, m)}) }()
				continue
			}
			op, err := w.operation(m)
			go func() { // an interrupt does not wait for a hook that judges a prompt
				_ = w.write(fromOwner{Done: w.submit(ctx, m.N, op, err)}) // if it left, the reading ends too
			}()
		}
	}()
	if w.follow(events, o.session.View().Last()) && ctx.Err() == nil {
		_ = w.write(fromOwner{Bye: &struct{}{}})
	}
}

// follow sends events, and reports whether the session has ended. What comes of
// a request that was made before the watcher came is sent when it is whole: its
// beginning is not there.
func (w *watcher) follow(events func(func(event.Event, error) bool), came int64) (ended bool) {
	part, cut := true, pieces{}
	for e, err := range events {
		if err != nil {
			return false
		}
		if e.Seq != 0 {
			cut.over(e.Body)
		}
		e.Body = cut.whole(e.Body)
		switch e.Body.(type) {
		case event.Requested:
			part = part && e.Seq <= came
		case event.TextDelta, event.ReasoningDelta, event.CallDelta:
			if part {
				continue
			}
		}
		s, err := send(e)
		if err != nil || w.write(fromOwner{Event: s}) != nil {
			return false
		}
	}
	return true
}

// submit submits a watcher's operation and returns the answer to it.
func (w *watcher) submit(ctx context.Context, n int64, op session.Op, err error) *done {
	d := &done{N: n}
	if err == nil {
		d.Cause, err = w.session.Submit(context.WithoutCancel(ctx), op)
	}
	d.Error = faultOf(err)
	return d
}

// planUndo answers what an undo would do, and keeps that plan for the undo itself.
func (w *watcher) planUndo(ctx context.Context, m fromWatcher) *done {
	d := &done{N: m.N}
	var of undo.Selector
	err := errWatchesOnly()
	if w.steers {
		err = json.Unmarshal(m.Args, &of)
	}
	if err == nil {
		var p undo.Plan
		if p, err = w.session.PlanUndo(ctx, of); err == nil {
			w.planning.Lock()
			w.planned, w.plan = m.N, p
			w.planning.Unlock()
			d.Plan = &p
		}
	}
	d.Nothing = errors.Is(err, undo.ErrNothing) || errors.Is(err, undo.ErrNoRedo)
	d.Error = faultOf(err)
	return d
}

// undo returns the undo of the last plan that this watcher was shown.
func (w *watcher) undo(args json.RawMessage) (session.Op, error) {
	var u undoing
	if err := json.Unmarshal(args, &u); err != nil {
		return nil, err
	}
	w.planning.Lock()
	defer w.planning.Unlock()
	if w.planned == 0 || u.Plan != w.planned {
		return nil, errOtherPlan()
	}
	return session.Undo{Plan: w.plan, Consent: u.Consent}, nil
}

func errOtherPlan() error {
	return fault.NewConfiguration("preview it again, then undo", "nothing was undone: this is not the plan that was shown last")
}

// operation returns what a watcher asks for, if it may.
func (w *watcher) operation(m fromWatcher) (session.Op, error) {
	if !w.steers {
		return nil, errWatchesOnly()
	}
	if m.Op == doUndo {
		return w.undo(m.Args)
	}
	of, ok := operations[m.Op]
	if !ok {
		return nil, fault.NewConfiguration("", "this cannot be done from another terminal: %q", m.Op)
	}
	op, err := read(of, m.Args)
	switch p := op.(type) {
	case session.Prompt:
		p.Source = event.Person // whatever the watcher sent
		w.prompts[p.ID] = true
		return p, err
	case session.Withdraw:
		if err == nil && !w.prompts[p.ID] {
			return nil, fault.NewConfiguration("", "the prompt belongs to another terminal")
		}
	}
	return op, err
}

func errWatchesOnly() error {
	return fault.NewConfiguration("end this, and attach again with --steer to take part", "this terminal only watches")
}

func (w *watcher) write(m fromOwner) error {
	w.writing.Lock()
	defer w.writing.Unlock()
	return writeLine(w.conn, m)
}

// writeLine writes a message, at once.
func writeLine(c net.Conn, m any) error { return json.NewEncoder(c).Encode(m) }

func readLine[T any](r *bufio.Reader) (m T, err error) {
	line, err := r.ReadBytes('\n')
	if err == nil {
		err = json.Unmarshal(line, &m)
	}
	return m, err
}
