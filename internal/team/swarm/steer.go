package swarm

import (
	"context"
	"errors"

	"github.com/pawl-agent/pawl/internal/core/event"
	"github.com/pawl-agent/pawl/internal/policy/swarm"
)

// Order is what a person decides about a task while the swarm runs.
type Order struct {
	event.TaskSteered
	Done func(error) // is called once, with nil if the order is in the log
}

// errTakenBack is the cause of the end of a worker whose task a person took back.
var errTakenBack = errors.New("you took it back")

// mailbox holds the messages of one lease's worker.
type mailbox struct {
	texts []string
	asked int // of texts up to here a person wants to know that they are heard
	heard int
}

// steer carries out an order: it is recorded first. No task is taken meanwhile, so a
// message is either in the prompt of a worker or in its mailbox.
func (c *coordinator) steer(ctx context.Context, o event.TaskSteered) error {
	c.taking.Lock()
	defer c.taking.Unlock()
	worker := ""
	c.cfg.Log.View(func() {
		if t, _ := c.cfg.Schedule.Task(o.Task); t.State == swarm.Taken {
			worker = t.Lease.Worker
		}
	})
	if err := Steer(ctx, c.cfg.Log, c.cfg.Schedule, o); err != nil || worker == "" {
		return err
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if o.Do == event.OrderMessage {
		box := c.box(worker)
		box.texts = append(box.texts, "[The person who runs the swarm says:] "+o.Text)
		box.asked = len(box.texts)
	} else if stop := c.stop[worker]; stop != nil {
		stop(errTakenBack)
	}
	return nil
}

// Steer records an order for a swarm. One that is recorded already changes nothing.
func Steer(ctx context.Context, log Log, s *swarm.Schedule, o event.TaskSteered) error {
	var known bool
	var refused error
	log.View(func() { known, refused = s.Steered(o.ID), s.Refuses(o) })
	if known || refused != nil {
		if known {
			refused = nil
		}
		return refused
	}
	return log.Append(ctx, event.Draft{Body: o})
}

// box returns the mailbox of a worker. The caller holds c.mu.
func (c *coordinator) box(worker string) *mailbox {
	if c.mail[worker] == nil {
		c.mail[worker] = &mailbox{}
	}
	return c.mail[worker]
}

// unheard reports whether a person's message did not reach a worker. The caller holds c.mu.
func (c *coordinator) unheard(worker string) bool {
	box := c.mail[worker]
	return box != nil && box.heard < box.asked
}
