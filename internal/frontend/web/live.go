package web

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"
	"unicode/utf8"

	"github.com/pawl-agent/pawl/internal/core/cut"
	"github.com/pawl-agent/pawl/internal/core/event"
	"github.com/pawl-agent/pawl/internal/engine/session"
	"github.com/pawl-agent/pawl/internal/frontend/brief"
	"github.com/pawl-agent/pawl/internal/frontend/chat"
	"github.com/pawl-agent/pawl/internal/frontend/page"
	"github.com/pawl-agent/pawl/internal/frontend/plain"
	"github.com/pawl-agent/pawl/internal/policy/lifecycle"
	"github.com/pawl-agent/pawl/internal/policy/permission"
)

// Opened is a session that some pawl has open: this one, or another that is attached to.
type Opened struct {
	Session *session.Session
	Close   func()
	// Own: it is open in this process. Steers: operations are accepted. Runs: it is a
	// swarm that goes on here.
	Own, Steers, Runs bool
}

// live follows an open session. One goroutine folds its events; requests come from
// others.
type live struct {
	*Opened
	id     string
	hub    *hub
	end    context.CancelFunc // ends follow, which closes the session
	closed chan struct{}
	tell   func(title, what, block string)
	swarm  bool

	mu        sync.Mutex
	title     string
	open      []*streaming // in the order of their appearance
	questions []chat.Question
	waiting   []Waiting
	prompts   map[string]bool // the ids that were taken
	said      string          // the state that was published
	paced     bool            // what is streamed waits for the end of pieceEvery
}

// streaming is an open block with the text that it has got.
type streaming struct {
	chat.Block
	text  strings.Builder
	units int  // of UTF-16
	full  bool // the rest comes when the block is finished
	sent  mark // up to where viewers were told
}

// mark is a place in a text.
type mark struct{ bytes, units int }

// mostOpenText is how much text of an open block is kept and sent, in bytes.
const mostOpenText = 256 << 10

// pieceEvery is how often streamed text is published: a model writes in smaller pieces.
const pieceEvery = 100 * time.Millisecond

func newLive(o *Opened, row event.Row, h *hub) *live {
	return &live{Opened: o, id: o.Session.ID(), hub: h, closed: make(chan struct{}), title: plain.Line(row.Title), prompts: map[string]bool{}}
}

// follow publishes what happens in the session until it ends. changed is called when the
// list of sessions may differ.
func (l *live) follow(ctx context.Context, changed func()) {
	f := chat.Follow(ctx, l.Session)
	defer f.Stop()
	err := f.CatchUp(ctx, func(c chat.Change) { l.change(c, false) })
	for err == nil {
		if l.publishState() {
			changed()
		}
		for quiet := true; quiet && err == nil; { // until something but streamed text has changed
			var changes []chat.Change
			changes, err = f.Next(ctx)
			for _, c := range changes {
				l.change(c, true)
				quiet = quiet && c.What == chat.Changed && c.More != ""
			}
		}
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	l.open = nil
}

// change takes over a change of a block.
func (l *live) change(c chat.Change, publish bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	at := slices.IndexFunc(l.open, func(s *streaming) bool { return s.ID == c.Block.ID })
	l.track(c)
	if what := news(c); publish && what != "" {
		go l.tell(l.title, what, c.Block.ID) // it reads a file
	}
	switch {
	case c.What == chat.Finished && at >= 0:
		l.open = slices.Delete(l.open, at, at+1)
	case c.What != chat.Finished && at < 0:
		l.open = append(l.open, &streaming{Block: c.Block})
		at = len(l.open) - 1
	case c.What != chat.Finished:
		l.open[at].Block = c.Block
	}
	switch {
	case c.What == chat.Finished && c.Block.Ephemeral:
		if publish && at >= 0 {
			l.hub.publish("gone", Gone{l.id, c.Block.ID})
		}
	case c.What == chat.Finished:
		if b := finished(l.id, c.Block); publish && (b.HTML != "" || at >= 0) {
			l.hub.publish("block", b)
		}
	case c.More != "":
		l.piece(l.open[at], c.More, publish)
	default:
		s := l.open[at]
		if s.sent = s.end(); publish {
			l.hub.publish("block", s.shown(l.id))
		}
	}
}

func (l *live) piece(s *streaming, more string, publish bool) {
	if s.full = s.full || s.text.Len()+len(more) > mostOpenText; s.full {
		return
	}
	s.text.WriteString(more)
	s.units += units(more)
	switch {
	case !publish:
		s.sent = s.end()
	case !l.paced:
		l.publishPieces()
	}
}

// publishPieces publishes what was streamed since the last time, and again at the end of
// pieceEvery. Callers hold mu.
func (l *live) publishPieces() {
	l.paced = false
	for _, s := range l.open {
		if s.sent.bytes < s.text.Len() {
			l.hub.publish("piece", Piece{l.id, s.ID, s.sent.units, s.text.String()[s.sent.bytes:]})
			s.sent, l.paced = s.end(), true
		}
	}
	if l.paced {
		time.AfterFunc(pieceEvery, func() {
			l.mu.Lock()
			defer l.mu.Unlock()
			l.publishPieces()
		})
	}
}

func (s *streaming) end() mark { return mark{s.text.Len(), s.units} }

// units is the length of a text in UTF-16 units, as a browser counts.
func units(s string) int {
	n := utf8.RuneCountInString(s)
	for _, r := range s {
		if r > 0xFFFF {
			n++
		}
	}
	return n
}

// track knows what waits and what is asked. Callers hold mu.
func (l *live) track(c chat.Change) {
	switch b := c.Block.Body.(type) {
	case chat.Prompt:
		if b.Queued != "" {
			l.prompts[b.Queued] = true
			l.waiting = slices.DeleteFunc(l.waiting, func(w Waiting) bool { return w.ID == b.Queued })
		}
		if l.title == "" && b.Source == event.Person {
			first, _, _ := strings.Cut(strings.TrimSpace(b.Text), "\n")
			l.title = cut.Runes(first, 100)
		}
	case chat.Question:
		l.questions = slices.DeleteFunc(l.questions, func(q chat.Question) bool { return q.ID == b.ID })
		if c.What != chat.Finished {
			l.questions = append(l.questions, b)
		}
	}
}

func (s *streaming) shown(id string) Block {
	return Block{Session: id, ID: s.ID, Kind: kindOf(s.Body), Open: true, HTML: page.Fragment(s.Block), Text: s.text.String()}
}

func finished(id string, b chat.Block) Block {
	return Block{Session: id, ID: b.ID, Kind: kindOf(b.Body), HTML: page.Fragment(b)}
}

// openBlocks returns the open blocks with their texts.
func (l *live) openBlocks() []Block {
	l.mu.Lock()
	defer l.mu.Unlock()
	var out []Block
	for _, s := range l.open {
		out = append(out, s.shown(l.id))
	}
	return out
}

// publishState publishes the state if it is another one, and reports that.
func (l *live) publishState() bool {
	s := l.state()
	raw, _ := json.Marshal(s)
	l.mu.Lock()
	defer l.mu.Unlock()
	if string(raw) == l.said {
		return false
	}
	l.said = string(raw)
	l.hub.publish("state", s)
	return true
}

func (l *live) state() State {
	v := l.Session.View()
	w := v.Window()
	out := State{
		Session: l.id, Status: "running", Model: plain.Line(v.Info().Ref()), Mode: string(v.Mode()), Window: Window{Used: w.Tokens, Size: w.Window},
		Queue: []Waiting{}, Questions: []Question{}, ReadOnly: !l.Steers, Swarm: l.swarm,
	}
	for _, m := range permission.Modes() {
		if v.RefusesMode(m) == nil {
			out.Modes = append(out.Modes, string(m))
		}
	}
	if p := v.Phases(); p.Open != nil {
		out.Phase = plain.Line(fmt.Sprintf("%d: %s", p.Open.Number, p.Open.Description))
	}
	if all, _ := v.Spent(); all.USD > 0 {
		out.Cost = brief.Cost(&all.USD)
	}
	if s := v.State(); s == lifecycle.Idle || s == lifecycle.Error || s == lifecycle.Disposed {
		out.Status = "idle"
	} else {
		out.Doing = string(v.Activity())
	}
	plan := l.proposed()
	l.mu.Lock()
	defer l.mu.Unlock()
	out.Title, out.Plan = l.title, plan
	out.Queue = append(out.Queue, l.waiting...)
	for _, q := range l.questions {
		out.Status = "waiting"
		out.Questions = append(out.Questions, questionOf(q))
	}
	return out
}

func questionOf(q chat.Question) Question {
	out := Question{ID: q.ID, From: q.From, Why: plain.Line(q.Why), Text: q.Text, Options: q.Options}
	for _, c := range q.Calls {
		call := Call{Call: c.Call, Title: c.Title, Wants: c.Wants, Preview: c.Preview, Diff: c.Diff, Reason: c.Reason, Rule: permission.InWords(c.Rule), Always: c.Always && c.Rule != ""}
		if c.Diff {
			call.HTML = page.DiffFragment(c.Preview)
		}
		out.Calls = append(out.Calls, call)
	}
	return out
}

func kindOf(b chat.Body) string {
	return strings.ToLower(strings.TrimPrefix(fmt.Sprintf("%T", b), "chat."))
}
