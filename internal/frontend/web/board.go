package web

import (
	"context"
	"slices"

	"github.com/pawl-agent/pawl/internal/core/fault"
	"github.com/pawl-agent/pawl/internal/frontend/brief"
	"github.com/pawl-agent/pawl/internal/frontend/page"
	"github.com/pawl-agent/pawl/internal/frontend/plain"
	team "github.com/pawl-agent/pawl/internal/team/swarm"
)

// Swarms are what the page does with swarms.
type Swarms interface {
	// Is reports whether a session is a swarm's.
	Is(ctx context.Context, id string) bool
	// Report is what `pawl swarm status --json` prints; again is the command that
	// continues the swarm, "" if nothing is left to do.
	Report(ctx context.Context, id string) (r team.Report, again string, err error)
	// Cancel ends a swarm, in whichever process it runs.
	Cancel(ctx context.Context, id string, c CancelSwarm) (said string, err error)
	// Steer decides about a task, and Diff is what its newest result changes.
	Steer(ctx context.Context, id string, o SteerTask) error
	Diff(ctx context.Context, id, task string) (string, error)
	// Resume continues a swarm in this process, until it ends or is closed.
	Resume(ctx context.Context, id string, r ResumeSwarm) (*Opened, error)
}

var (
	errNoSwarm = fault.NewConfiguration("", "this session is not a swarm's")
	errSwarm   = fault.NewConfiguration("resume the swarm, or begin another session", "a swarm takes no prompts")
	errRuns    = fault.NewConfiguration("", "the swarm runs")
)

// isSwarm reports whether a session is a swarm's.
func (s *sessions) isSwarm(ctx context.Context, id string) bool {
	return s.cfg.Swarms != nil && s.cfg.Swarms.Is(ctx, id)
}

func (s *server) board(r *request) (Board, error) {
	row, err := s.sessions.row(r.Context(), r.PathValue("id"))
	if err != nil {
		return Board{}, err
	}
	if !s.sessions.isSwarm(r.Context(), row.ID) {
		return Board{}, errNoSwarm
	}
	rep, again, err := s.cfg.Swarms.Report(r.Context(), row.ID)
	if err != nil {
		return Board{}, err
	}
	if s.sessions.runs(row.ID) {
		again = ""
	}
	return boardOf(rep, again), nil
}

func boardOf(r team.Report, again string) Board {
	out := Board{
		Goal: plain.Line(r.Goal), Outcome: plain.Line(string(r.Outcome)), Error: plain.Line(r.Error), Cost: brief.Cost(&r.USD), More: !r.Known, Tokens: r.Tokens,
		Again: plain.Line(again), Tasks: []BoardTask{}, Machines: []BoardMachine{}, Aside: []string{},
	}
	for _, why := range r.Aside {
		out.Aside = append(out.Aside, plain.Line(why))
	}
	for _, t := range r.Tasks {
		one := BoardTask{
			ID: plain.Line(t.ID), Title: plain.Line(t.Title), State: plain.Line(string(t.State)), Worker: plain.Line(t.Worker), Machine: plain.Line(t.Machine),
			Model: plain.Line(t.Model), Tries: t.Tries, Error: plain.Line(t.Error), After: []string{}, MergedBy: plain.Line(t.By), Review: t.Review, Since: t.Since,
		}
		if t.USD != nil {
			one.Cost = brief.Cost(t.USD)
		}
		for _, a := range t.After {
			one.After = append(one.After, plain.Line(a))
		}
		out.Tasks = append(out.Tasks, one)
	}
	for _, m := range r.Machines {
		out.Machines = append(out.Machines, BoardMachine{Name: plain.Line(m.Name), Works: m.Works, Done: m.Done, Failed: m.Failed, Aside: plain.Line(m.Aside)})
	}
	return out
}

var errOrder = fault.NewConfiguration("load the page again", "this was not offered")

func (s *server) steerTask(r *request, in SteerTask) (struct{}, error) {
	r.detail = in.What + " " + in.Task
	id := r.PathValue("id")
	switch {
	case !s.sessions.isSwarm(r.Context(), id):
		return struct{}{}, errNoSwarm
	case !slices.Contains([]string{"message", "retry", "edit", "cancel", "accept"}, in.What):
		return struct{}{}, errOrder
	}
	return struct{}{}, s.cfg.Swarms.Steer(r.Context(), id, in)
}

func (s *server) taskDiff(r *request) (TaskDiff, error) {
	id := r.PathValue("id")
	if !s.sessions.isSwarm(r.Context(), id) {
		return TaskDiff{}, errNoSwarm
	}
	text, err := s.cfg.Swarms.Diff(r.Context(), id, r.FormValue("task"))
	if text == "" {
		return TaskDiff{}, err
	}
	return TaskDiff{page.DiffFragment(plain.Text(text))}, err
}

// runs reports whether a process runs a swarm.
func (s *sessions) runs(id string) bool {
	l := s.of(id)
	return l != nil && (!l.Own || l.Runs)
}

// resumeSwarm continues a swarm that no process runs.
func (s *server) resumeSwarm(r *request, in ResumeSwarm) (struct{}, error) {
	row, err := s.sessions.row(r.Context(), r.PathValue("id"))
	switch {
	case err != nil:
		return struct{}{}, err
	case !s.sessions.isSwarm(r.Context(), row.ID):
		return struct{}{}, errNoSwarm
	case s.sessions.runs(row.ID):
		return struct{}{}, errRuns
	}
	if l := s.sessions.of(row.ID); l != nil { // it was opened here, to undo something
		l.end()
		<-l.closed
	}
	o, err := s.cfg.Swarms.Resume(s.sessions.ctx, row.ID, in)
	if err == nil {
		s.sessions.add(o, row)
	}
	return struct{}{}, err
}

// cancelSwarm waits for the end of the swarm.
func (s *server) cancelSwarm(r *request, in CancelSwarm) (Said, error) {
	id := r.PathValue("id")
	if !s.sessions.isSwarm(r.Context(), id) {
		return Said{}, errNoSwarm
	}
	said, err := s.cfg.Swarms.Cancel(r.Context(), id, in)
	return Said{plain.Line(said)}, err
}
