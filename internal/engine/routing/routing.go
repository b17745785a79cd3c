// Package routing classifies a person's prompts as questions, commands, preferences or
// edits (SPEC 13).
//
// It promises that each prompt of a person is routed before the first request that
// contains it, and that the route is recorded with its reason. A route sets the rights
// that a turn starts with and never takes back rights that a person granted. Where nobody
// can grant more, a route that pawl chose has all rights and no note. An error in routing
// does not fail the turn. The classification itself is in policy/route.
package routing

import (
	"cmp"
	"context"
	"slices"

	"github.com/pawl-agent/pawl/internal/core/event"
	"github.com/pawl-agent/pawl/internal/core/llm"
	"github.com/pawl-agent/pawl/internal/engine/answers"
	"github.com/pawl-agent/pawl/internal/engine/eventlog"
	"github.com/pawl-agent/pawl/internal/engine/side"
	"github.com/pawl-agent/pawl/internal/policy/permission"
	"github.com/pawl-agent/pawl/internal/policy/route"
)

// Fold holds what is needed to route a person's prompts. The zero value is ready.
type Fold struct {
	open    bool             // a turn runs
	waiting []event.Prompted // a person's prompts without a route
	current event.Routed     // of the turn since a person last began one
}

func (r *Fold) Apply(e event.Event) {
	switch b := e.Body.(type) {
	case event.Prompted:
		if b.Source == event.Person {
			if !r.open {
				r.current = event.Routed{}
			}
			r.waiting = append(r.waiting, b)
		}
		r.open = true
	case event.Routed:
		r.current, r.waiting = b, nil
	case event.Ended:
		r.open, r.waiting = false, nil
	}
}

// Current returns the route of a person's running or last turn; the zero value if prompts
// are not routed. Call it in a View of the log.
func (r *Fold) Current() event.Routed { return r.current }

// Router routes the prompts of one session.
type Router struct {
	Route   route.Config
	Person  bool // somebody is there to answer
	Log     *eventlog.Log
	Fold    *Fold           // one of Log's
	Model   func() llm.Info // in use
	Mode    func() permission.Mode
	Side    *side.Requests
	Answers *answers.Cache
}

// Next routes the prompts of a person that the next request is the first to contain
// (SPEC 13.1). Messages of checks, hooks and parents are not routed (SPEC 13.2).
func (s *Router) Next(ctx context.Context) error {
	if s.Route.Mode == "" || s.Route.Mode == route.Off {
		return nil
	}
	var waiting []event.Prompted
	var now event.Routed
	preference := ""
	s.Log.View(func() {
		waiting, now, preference = slices.Clone(s.Fold.waiting), s.Fold.current, s.Answers.Preference()
	})
	if len(waiting) == 0 {
		return nil
	}
	next := now
	for _, p := range waiting {
		r, err := s.classify(ctx, p, next)
		if err != nil {
			return err
		}
		next = join(next, r)
	}
	ds := []event.Draft{{Body: next}}
	if text := note(now, next); text != "" && s.narrows(next.By) && !s.Answers.IsPreference(preference, next) {
		ds = append(ds, event.Draft{Body: event.Noted{Why: event.NotedRoute, Text: text}})
	}
	return s.Log.Append(ctx, ds...)
}

// wider returns the one of two routes that has more rights, for a prompt that joins a
// running turn. Unknown names count as an edit.
func wider(a, b string) string {
	x, ok := route.Lookup(a)
	y, ok2 := route.Lookup(b)
	if !ok || !ok2 {
		return route.Edit
	} else if len(y.Rights) > len(x.Rights) {
		return y.Name
	}
	return x.Name
}

// join returns the route after a prompt joined a turn: the wider of both. A prompt
// without a route of its own changes nothing.
func join(now, r event.Routed) event.Routed {
	switch {
	case now.Route == "":
		return r
	case r.By == event.RoutedByDefault, r.Route != now.Route && wider(now.Route, r.Route) == now.Route:
		return now
	case now.Explicit && r.Route != route.Edit:
		r.Explicit, r.Why = true, now.Why // permission to run something is not permission to change it
	}
	return r
}

// note returns the note to the model about a route, "" for none.
func note(before, now event.Routed) string {
	t, _ := route.Lookup(now.Route)
	switch {
	case before.Explicit && !now.Explicit:
		return "[The user's new request comes without the restriction: changes are allowed again as before.]"
	case before.Route == now.Route && before.Explicit == now.Explicit:
		return "" // it was told
	case now.Explicit && now.Route == route.Read:
		return route.ExplicitNote
	}
	return t.Note
}

// classify returns the route of a prompt that begins a turn or joins one with the route
// now. If that fails, the turn goes on: the prompt is then an edit, with all rights.
func (s *Router) classify(ctx context.Context, prompt event.Prompted, now event.Routed) (event.Routed, error) {
	mode := s.Route.Mode
	if mode != route.Auto {
		return s.routed(mode, event.RoutedByFlag, "", mode != route.Edit), nil
	}
	m := route.ClassifyTyped(cmp.Or(prompt.Typed, prompt.Text), prompt.Text)
	switch {
	case m.Trouble && now.Explicit: // it takes no "change nothing" back
		return s.routed(route.Edit, event.RoutedByDefault, "", false), nil
	case m.Route != "":
		return s.routed(m.Route, event.RoutedByPattern, m.Why, m.Explicit), nil
	case now.Route != "" || m.Words < 3 || !s.worthAsking():
		return s.routed(route.Edit, event.RoutedByDefault, "", false), nil
	}
	name, why, err := s.askRoute(ctx, prompt.Text)
	if err != nil {
		return event.Routed{}, err
	}
	if name == "" {
		return s.routed(route.Edit, event.RoutedByDefault, why, false), nil
	}
	return s.routed(name, event.RoutedByModel, "", false), nil
}

func (s *Router) routed(name string, by event.RoutedBy, why string, explicit bool) event.Routed {
	t, _ := route.Lookup(name)
	r := event.Routed{Route: t.Name, By: by, Why: why, Path: t.Path(), Rights: t.Rights, Explicit: explicit}
	if !s.narrows(by) {
		all, _ := route.Lookup(route.Edit)
		r.Rights, r.Explicit = all.Rights, false
	}
	return r
}

// narrows reports whether a route may take rights: a person can grant them again, or has
// set the route.
func (s *Router) narrows(by event.RoutedBy) bool { return s.Person || by == event.RoutedByFlag }

// worthAsking reports whether a model's answer could change anything: in a run
// without a person a route widens by itself, and where each edit asks or is
// denied anyway, no route is narrower.
func (s *Router) worthAsking() bool {
	m := s.Mode()
	return s.Route.Model && s.Person && m.Edits() && !s.Model().Planner()
}

// GrantRight adds to the running turn a right that its route lacks.
func (s *Router) GrantRight(ctx context.Context, right string, by event.RoutedBy, what string) error {
	now := eventlog.Query(s.Log, s.Fold.Current)
	if slices.Contains(now.Rights, right) {
		return nil
	}
	name := route.Edit
	if right == route.RightRun {
		name = wider(now.Route, route.Run)
	}
	r := s.routed(name, by, what, false)
	r.Path = append(slices.Clone(now.Path), r.Path[1:]...)
	return s.Log.Append(ctx, event.Draft{Body: r})
}
