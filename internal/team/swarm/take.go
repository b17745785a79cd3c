package swarm

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/pawl-agent/pawl/internal/core/event"
	"github.com/pawl-agent/pawl/internal/policy/swarm"
)

// lease is a task that is being worked on.
type lease struct {
	event.TaskTaken
	task   event.Task
	prompt string
}

// take gives the next task to a worker on a machine. What the worker begins from and is
// told is fixed here, and not when it was asked.
func (c *coordinator) take(ctx context.Context, stop context.CancelCauseFunc, machine string, labels []string) (l lease, err error) {
	c.taking.Lock()
	defer c.taking.Unlock()
	c.mu.Lock()
	c.cfg.Log.View(func() {
		s := c.cfg.Schedule
		if why := s.Aside(machine); why != "" {
			err = &AsideError{why}
			return
		}
		var t swarm.TaskProgress
		if t, err = s.Next(machine, c.waited[machine], labels...); err != nil {
			return
		}
		l = lease{task: t.Task, prompt: swarm.Prompt(s, &c.lessons, t), TaskTaken: event.TaskTaken{
			Task: t.ID, Worker: fmt.Sprintf("w%d", s.Fence()), Fence: s.Fence(), Until: c.cfg.Now().Add(c.cfg.Lease), Base: s.Tip(), Machine: machine,
		}}
	})
	if err == nil {
		delete(c.waited, machine)
	} else if errors.Is(err, swarm.ErrElsewhere) {
		c.waited[machine]++
	}
	c.mu.Unlock()
	if err != nil {
		return l, err
	}
	if err = c.cfg.Log.Append(ctx, event.Draft{Body: l.TaskTaken}); err == nil {
		c.asked--
		c.mu.Lock()
		c.stop[l.Worker] = stop
		c.mu.Unlock()
	}
	return l, err
}

// work asks for a worker, which takes a task, and checks its result. A failure is part of
// the result.
func (c *coordinator) work(ctx context.Context) (r result) {
	ctx, stop := context.WithCancelCause(ctx)
	defer stop(nil)
	var mu sync.Mutex // guards what follows: nothing is taken after the end
	var l lease
	over := false
	timer := time.AfterFunc(time.Hour, func() {}) // of the task, once it is taken
	defer func() { timer.Stop() }()
	begin := func(machine string, labels ...string) (j Job, err error) {
		mu.Lock()
		defer mu.Unlock()
		if over || r.taken || ctx.Err() != nil {
			return j, swarm.ErrNoTask
		}
		if l, err = c.take(ctx, stop, machine, labels); err != nil {
			if !errors.Is(err, swarm.ErrNoTask) && !errors.Is(err, swarm.ErrElsewhere) && !errors.As(err, new(*AsideError)) {
				r.err = err
			}
			return j, err
		}
		r.taken = true
		late := swarm.TimeFor(l.task)
		timer = time.AfterFunc(late, func() { stop(&lateError{late}) })
		return Job{Worker: l.Worker, Fence: l.Fence, Base: l.Base, Task: l.task, Prompt: l.prompt}, nil
	}
	done, err := c.do(ctx, begin)
	mu.Lock()
	over = true
	mu.Unlock()
	if !r.taken {
		c.taking.Lock()
		c.asked--
		c.taking.Unlock()
		if r.err == nil && !errors.Is(err, swarm.ErrNoTask) && ctx.Err() == nil {
			r.err = err
		}
		return r
	}
	r.TaskReturned = event.TaskReturned{
		Task: l.Task, Worker: l.Worker, Fence: l.Fence,
		Session: done.Session, Model: done.Model, USD: done.USD, Tokens: done.Tokens, Checks: done.Checks,
	}
	c.mu.Lock()
	for _, ref := range done.Refers {
		c.lessons.AddReferences(ref)
		c.notes.keep(noteFound, ref)
	}
	c.circles.Leave(l.Worker)
	delete(c.stop, l.Worker)
	c.mu.Unlock()
	if ended(&r.TaskReturned, context.Cause(ctx), err); r.Outcome == event.TaskDone && done.Commit != l.Base {
		r.Commit, r.Files = done.Commit, done.Files
	}
	return r
}

func (c *coordinator) do(ctx context.Context, begin Begin) (done Done, err error) {
	defer func() {
		if p := recover(); p != nil {
			err = fmt.Errorf("the worker broke: %v", p)
		}
	}()
	return c.workers.Do(ctx, begin, c.saw)
}
