package leases

import (
	"crypto/hmac"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"github.com/nats-io/nats.go"
)

// ask answers one question. It must not block: all questions go through it.
func (b *Board) ask(m *nats.Msg) {
	var q question
	if err := json.Unmarshal(m.Data, &q); err != nil {
		b.say("garbage", "a message that is not of a worker of pawl was refused")
		return
	}
	if q.Epoch != b.epoch {
		return // of a worker of an earlier run: its lease has ended, which it will notice
	}
	b.mu.Lock()
	who := b.members[q.Worker]
	l := b.leases[q.Fence]
	b.mu.Unlock()
	if who == nil || !hmac.Equal(q.MAC, q.mac(who.key)) {
		b.say("forged", "a message in the name of worker %.60q was refused: it is not signed by it (%.20s of lease %d)", q.Worker, q.Kind, q.Fence)
		return
	}
	reply := func(a answer) {
		a.MAC = a.mac(who.key, &q)
		_ = m.Respond(encode(a)) // if this is lost, the worker asks again
	}
	if l == nil {
		if q.Kind == kindDone {
			b.say("late", "a result of worker %s for lease %d was refused: the lease is over", q.Worker, q.Fence)
		}
		reply(answer{State: stateOver, Why: "it was given up or finished"})
		return
	}
	op, refused := b.note(l, who, &q)
	if refused != "" {
		if q.Kind != kindTake { // an offer that arrives twice is normal and not reported
			b.say("foreign", "a %.20s of worker %s for lease %d was refused: %s", q.Kind, q.Worker, q.Fence, refused)
		}
		reply(answer{State: stateOver, Why: refused})
		return
	}
	go func() {
		select {
		case <-op.ready:
			reply(op.answer)
		case <-time.After(patience):
			reply(answer{State: stateWait})
		}
	}()
}

// note returns the earlier question of a lease with the same number, or starts to answer
// a new one.
func (b *Board) note(l *lease, who *member, q *question) (op *asked, refused string) {
	b.mu.Lock()
	defer b.mu.Unlock()
	switch {
	case l.over, b.life.Err() != nil:
		return nil, "it was given up or finished"
	case l.worker == "" && q.Kind == kindTake:
		l.worker = who.id
	case l.worker != who.id:
		return nil, "it is not this worker's"
	}
	if op = l.asked[q.N]; op != nil {
		return op, ""
	}
	if q.Kind == kindTake && len(l.asked) > 0 {
		return nil, "this worker has it already" // the offer arrived twice
	}
	if len(l.asked) >= maxAsked {
		return nil, fmt.Sprintf("it asked more than %d times", maxAsked)
	}
	select {
	case l.life <- struct{}{}: // a repeated message is not a sign of life
	default:
	}
	op = &asked{ready: make(chan struct{})}
	l.asked[q.N] = op
	b.running.Go(func() {
		op.answer = b.answer(l, q)
		close(op.ready)
	})
	return op, ""
}

// maxAsked limits the number of questions of one lease. A beat every ten seconds for a
// week is 60,000.
const maxAsked = 200_000

func (b *Board) answer(l *lease, q *question) answer {
	if q.Kind == kindTake {
		return b.take(l, q)
	}
	body, err := b.serve(l, q)
	if err != nil {
		return answer{State: stateFail, Why: err.Error()}
	}
	return answer{State: stateDone, Body: body}
}

// take gives the task of an offer to a worker. A worker that may not have it leaves the
// offer to the others.
func (b *Board) take(l *lease, q *question) answer {
	b.mu.Lock()
	by := Taker{Machine: q.Worker, Labels: b.members[q.Worker].labels}
	b.mu.Unlock()
	if err := json.Unmarshal(q.Body, &by.Trees); err != nil || len(by.Trees) > MostTrees {
		by.Trees = nil // all is sent
	}
	job, err := l.Begin(by)
	if err == nil {
		b.mu.Lock()
		l.Job = job
		b.mu.Unlock()
		close(l.taken)
		return answer{State: stateDone, Body: encode(job)}
	}
	a := answer{State: stateOver, Why: err.Error()}
	switch {
	case errors.Is(err, ErrAside):
		a.State = stateAside
	case errors.Is(err, ErrElsewhere):
		a.State = stateElsewhere
	default:
		l.failed <- err
		return a
	}
	b.mu.Lock()
	l.worker = ""
	clear(l.asked)
	b.mu.Unlock()
	return a
}

func (b *Board) serve(l *lease, q *question) (json.RawMessage, error) {
	switch q.Kind {
	case kindBeat:
		return nil, nil
	case kindSaw:
		var s saw
		if err := json.Unmarshal(q.Body, &s); err != nil {
			return nil, err
		}
		// The lease determines whose call it is, not the worker.
		s.Call.Worker = l.Job.Worker
		if s.Failure != nil {
			s.Failure.Worker = l.Job.Worker
		}
		var tell []string
		if l.Saw != nil {
			tell = l.Saw(s.Call, s.Failure)
		}
		return encode(tell), nil
	case kindReserve:
		return b.reserve(l, q.Body)
	case kindSettle:
		return nil, b.settle(l, q)
	case kindDone:
		var r Result
		if err := json.Unmarshal(q.Body, &r); err != nil {
			return nil, err
		}
		r.Machine = q.Worker
		select {
		case l.done <- r:
			return nil, nil
		default:
			return nil, errors.New("the lease has a result")
		}
	}
	return nil, fmt.Errorf("%.20q is not known here", q.Kind)
}
