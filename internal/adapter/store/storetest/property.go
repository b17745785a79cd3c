package storetest

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/pawl-agent/pawl/internal/adapter/store"
	"github.com/pawl-agent/pawl/internal/core/event"
)

// model is the simplest possible store: every session has a copy of all its events.
type model struct {
	nodes map[string]*node
	blobs map[string]bool
	fresh map[string]bool // put, and not named by an event since
}

type node struct {
	id, title string
	texts     []string // of all events, also those that a fork shares
	own       map[string]bool
	origin    *event.Origin
	parent    *node
	deleted   bool
}

// kept reports whether a session's events are still there.
func (m *model) kept(n *node) bool {
	if !n.deleted {
		return true
	}
	for _, c := range m.nodes {
		if c.parent == n && m.kept(c) {
			return true
		}
	}
	return false
}

func (m *model) drop() {
	for changed := true; changed; {
		changed = false
		for id, n := range m.nodes {
			if m.kept(n) {
				continue
			}
			delete(m.nodes, id)
			changed = true
			for h := range n.own {
				used := m.fresh[h]
				for _, o := range m.nodes {
					used = used || o.own[h]
				}
				if !used {
					delete(m.blobs, h)
				}
			}
		}
	}
}

func (m *model) live(id string) *node {
	if n := m.nodes[id]; n != nil && !n.deleted {
		return n
	}
	return nil
}

// property runs random commands against a store and the model. One store is
// used for all runs: each has its own ids and contents.
func property(t *testing.T, s event.Store) {
	ctx := context.Background()
	run := 0
	rapid.Check(t, func(rt *rapid.T) {
		run++
		m := &model{nodes: map[string]*node{}, blobs: map[string]bool{}, fresh: map[string]bool{}}
		id := rapid.Map(rapid.SampledFrom([]string{"a", "ab", "abc", "b", "ba", "c"}), func(s string) string { return fmt.Sprintf("%d-%s", run, s) })
		content := rapid.Map(rapid.SampledFrom([]string{"x", "y", "z"}), func(s string) string {
			return strings.Repeat(fmt.Sprintf("%s%d ", s, run), 1000)
		})
		defer func() { // leave nothing to the next run
			for _, n := range m.nodes {
				if !n.deleted {
					s.Delete(ctx, n.id)
				}
			}
		}()
		rt.Repeat(map[string]func(*rapid.T){
			"append": func(rt *rapid.T) { m.append(rt, s, id.Draw(rt, "id")) },
			"name":   func(rt *rapid.T) { m.name(rt, s, id.Draw(rt, "id"), content.Draw(rt, "content")) },
			"put": func(rt *rapid.T) {
				h, err := s.Put(ctx, []byte(content.Draw(rt, "content")))
				if err != nil {
					rt.Fatal(err)
				}
				m.blobs[h], m.fresh[h] = true, true
			},
			"fork":   func(rt *rapid.T) { m.fork(rt, s, id.Draw(rt, "from"), id.Draw(rt, "id")) },
			"delete": func(rt *rapid.T) { m.delete(rt, s, id.Draw(rt, "id")) },
			"":       func(rt *rapid.T) { m.check(rt, s, fmt.Sprintf("%d-", run)) },
		})
	})
}

func expect(rt *rapid.T, got, want error) {
	if want == nil && got != nil || want != nil && !errors.Is(got, want) {
		rt.Fatalf("error %v, want %v", got, want)
	}
}

func (m *model) append(rt *rapid.T, s event.Store, id string) {
	n := m.nodes[id]
	last := 0
	if n != nil {
		last = len(n.texts)
	}
	after := int64(last)
	if rapid.IntRange(0, 4).Draw(rt, "other after") == 0 {
		after = rapid.Int64Range(0, 6).Draw(rt, "after")
	}
	var ds []event.Draft
	for range rapid.IntRange(1, 3).Draw(rt, "batch") {
		text := rapid.StringN(0, 20, -1).Draw(rt, "text")
		if rapid.Bool().Draw(rt, "person") {
			ds = append(ds, prompt(text))
		} else {
			ds = append(ds, note(text))
		}
	}
	var want error
	switch {
	case n == nil && after != 0, n != nil && n.deleted:
		want = event.ErrNoSession
	case n != nil && after != int64(last):
		want = event.ErrStale
	}
	_, err := s.Append(context.Background(), id, after, ds...)
	expect(rt, err, want)
	if want == nil {
		m.add(id, ds)
	}
}

func (m *model) add(id string, ds []event.Draft) {
	n := m.nodes[id]
	if n == nil {
		n = &node{id: id, own: map[string]bool{}}
		m.nodes[id] = n
	}
	for _, d := range ds {
		switch b := d.Body.(type) {
		case event.Prompted:
			n.title = cmp.Or(n.title, store.Title(b.Text))
			n.texts = append(n.texts, "prompt "+b.Text)
		case event.Noted:
			n.texts = append(n.texts, b.Text)
		case event.FileChanged:
			n.texts = append(n.texts, "changed")
			n.own[string(b.After)] = true
			delete(m.fresh, string(b.After))
		}
	}
}

func (m *model) name(rt *rapid.T, s event.Store, id, content string) {
	n := m.live(id)
	if n == nil {
		return
	}
	h, err := s.Put(context.Background(), []byte(content))
	expect(rt, err, nil)
	m.blobs[h], m.fresh[h] = true, true
	d := changed("", h)
	_, err = s.Append(context.Background(), id, int64(len(n.texts)), d)
	expect(rt, err, nil)
	m.add(id, []event.Draft{d})
}

func (m *model) fork(rt *rapid.T, s event.Store, from, id string) {
	at := rapid.Int64Range(0, 6).Draw(rt, "at")
	p := m.live(from)
	var want error
	switch {
	case p == nil:
		want = event.ErrNoSession
	case at > int64(len(p.texts)):
		want = store.ErrRefused
	case m.nodes[id] != nil:
		want = store.ErrExists
	}
	o := event.Origin{Session: from, At: at}
	expect(rt, s.Fork(context.Background(), o, id), want)
	if want != nil {
		return
	}
	n := &node{id: id, own: map[string]bool{}, origin: &o, parent: p, texts: slices.Clone(p.texts[:at])}
	for _, t := range n.texts {
		if text, ok := strings.CutPrefix(t, "prompt "); ok {
			n.title = cmp.Or(n.title, store.Title(text))
		}
	}
	m.nodes[id] = n
}

func (m *model) delete(rt *rapid.T, s event.Store, id string) {
	n := m.live(id)
	var want error
	if n == nil {
		want = event.ErrNoSession
	}
	expect(rt, s.Delete(context.Background(), id), want)
	if n != nil {
		n.deleted = true
		m.drop()
	}
}

// check compares everything that callers can see.
func (m *model) check(rt *rapid.T, s event.Store, mine string) {
	ctx := context.Background()
	rows, err := s.Sessions(ctx, "")
	expect(rt, err, nil)
	seen := map[string]bool{}
	for _, r := range rows {
		if !strings.HasPrefix(r.ID, mine) {
			continue
		}
		seen[r.ID] = true
		n := m.live(r.ID)
		if n == nil {
			rt.Fatalf("%s is listed", r.ID)
		}
		if r.Last != int64(len(n.texts)) || r.Events != r.Last || r.Title != n.title ||
			(r.Origin == nil) != (n.origin == nil) || r.Origin != nil && *r.Origin != *n.origin {
			rt.Fatalf("row %+v of %+v", r, n)
		}
		es, err := read(s, r.ID, 0)
		expect(rt, err, nil)
		var got []string
		for i, e := range es {
			if e.Seq != int64(i+1) || e.Session != r.ID {
				rt.Fatalf("%s: event %+v at place %d", r.ID, e, i)
			}
			switch b := e.Body.(type) {
			case event.Prompted:
				got = append(got, "prompt "+b.Text)
			case event.Noted:
				got = append(got, b.Text)
			default:
				got = append(got, "changed")
			}
		}
		if !slices.Equal(got, n.texts) {
			rt.Fatalf("%s reads %q, want %q", r.ID, got, n.texts)
		}
	}
	for id, n := range m.nodes {
		if !n.deleted && !seen[id] {
			rt.Fatalf("%s is not listed", id)
		}
	}
	for _, h := range slices.Sorted(maps.Keys(m.blobs)) {
		_, err := s.Get(ctx, h)
		expect(rt, err, nil)
	}
}
