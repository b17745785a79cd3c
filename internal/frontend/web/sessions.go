package web

import (
	"cmp"
	"context"
	"errors"
	"maps"
	"path/filepath"
	"slices"
	"sync"
	"time"

	"github.com/pawl-agent/pawl/internal/core/cut"
	"github.com/pawl-agent/pawl/internal/core/event"
	"github.com/pawl-agent/pawl/internal/core/fault"
	"github.com/pawl-agent/pawl/internal/core/sorting"
	"github.com/pawl-agent/pawl/internal/engine/session"
	"github.com/pawl-agent/pawl/internal/frontend/attach"
	"github.com/pawl-agent/pawl/internal/frontend/plain"
)

// sessions are those of this person: the ones that are open somewhere are followed, the
// others are read when somebody looks.
type sessions struct {
	cfg  Config
	hub  *hub
	push *pusher
	ctx  context.Context

	scanning sync.Mutex       // one scan at a time
	here     *session.Session // of Config.Here, which was followed

	mu      sync.Mutex
	live    map[string]*live
	tried   map[string]time.Time // sockets, with the time of the one that was tried
	said    string               // the list that was published
	read    []*history           // of the sessions that were looked at, the last one last
	running sync.WaitGroup
}

// mostRows is how many sessions are listed.
const mostRows = 100

// scan finds sessions that other processes opened, and follows them.
func (s *sessions) scan(ctx context.Context) error {
	s.scanning.Lock()
	defer s.scanning.Unlock()
	sockets := attach.Sockets(s.cfg.State)
	s.mu.Lock()
	fresh := map[string]bool{}
	for name, made := range sockets {
		if at, ok := s.tried[name]; !ok || !at.Equal(made) {
			fresh[name] = true
		}
	}
	s.tried = sockets
	s.mu.Unlock()
	if len(fresh) == 0 {
		return nil
	}
	for row, err := range s.cfg.Store.Newest(ctx, "") {
		if err != nil {
			return err
		}
		name := attach.Socket(row.ID)
		if !fresh[name] {
			continue
		}
		if delete(fresh, name); s.of(row.ID) == nil {
			if o, err := s.cfg.Follow(s.ctx, row); err == nil {
				s.add(o, row)
			} // else nobody is there any more, or it cannot be followed: it is listed as closed
		}
		if len(fresh) == 0 {
			break
		}
	}
	return nil
}

// takeHere follows the session of this process's terminal: a new one after /clear.
func (s *sessions) takeHere() {
	if s.cfg.Here == nil {
		return
	}
	if o := s.cfg.Here(); o != nil && o != s.here {
		row, err := s.cfg.Store.Session(s.ctx, o.ID())
		if err != nil {
			return // it is not stored, or not yet
		}
		s.here = o
		s.add(&Opened{Session: o, Close: func() {}, Steers: true}, row) // its terminal closes it
	}
}

// add follows an open session until it ends.
func (s *sessions) add(o *Opened, row event.Row) *live {
	l := newLive(o, row, s.hub)
	l.swarm = s.isSwarm(s.ctx, l.id)
	l.tell = s.push.told(s.ctx, l.id)
	s.mu.Lock()
	if old := s.live[l.id]; old != nil || s.ctx.Err() != nil {
		s.mu.Unlock()
		o.Close()
		return cmp.Or(old, l)
	}
	ctx, end := context.WithCancel(s.ctx)
	l.end = end
	s.live[l.id] = l
	s.running.Add(1)
	s.mu.Unlock()
	go func() {
		defer s.running.Done()
		defer end()
		l.follow(ctx, s.publishRows)
		s.mu.Lock()
		delete(s.live, l.id)
		s.mu.Unlock()
		o.Close()
		close(l.closed)
		if s.ctx.Err() == nil {
			s.hub.publish("state", l.ended())
			s.hub.publish("reset", struct{}{}) // what was open in it is not finished by any event
			s.publishRows()
		}
	}()
	return l
}

// ended is the state of a session that no pawl has open any more.
func (l *live) ended() State {
	out := l.state()
	out.Status, out.Doing, out.Closed, out.ReadOnly = "idle", "", true, false
	out.Queue, out.Questions, out.Plan = []Waiting{}, []Question{}, nil
	return out
}

// of returns an open session, nil for another one.
func (s *sessions) of(id string) *live {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.live[id]
}

// row finds a session. Its whole id is needed.
func (s *sessions) row(ctx context.Context, id string) (event.Row, error) {
	row, err := s.cfg.Store.Session(ctx, id)
	if errors.Is(err, event.ErrNoSession) || err == nil && row.ID != id {
		return row, errNoSession
	}
	return row, err
}

var errNoSession = fault.NewConfiguration("go back to the list", "there is no such session")

// state returns all about a session but its blocks.
func (s *sessions) state(ctx context.Context, id string) (State, error) {
	if l := s.of(id); l != nil {
		return l.state(), nil
	}
	row, err := s.row(ctx, id)
	return State{
		Session: row.ID, Title: plain.Line(row.Title), Status: "idle", Swarm: err == nil && s.isSwarm(ctx, row.ID), Model: plain.Line(row.Model), Closed: true,
		Modes: []string{}, Queue: []Waiting{}, Questions: []Question{},
	}, err
}

// rank is the order of the list.
var rank = map[string]int{"waiting": 0, "running": 1, "idle": 2}

func (s *sessions) rows(ctx context.Context) ([]Row, error) {
	s.mu.Lock()
	states := map[string]State{}
	lives := slices.Collect(maps.Values(s.live))
	s.mu.Unlock()
	for _, l := range lives {
		states[l.id] = l.state()
	}
	out := []Row{}
	for r, err := range s.cfg.Store.Newest(ctx, "") {
		if err != nil {
			return nil, err
		}
		st, isOpen := states[r.ID]
		if delete(states, r.ID); len(out) >= mostRows && !isOpen {
			if len(states) == 0 {
				break
			}
			continue
		}
		row := Row{ID: r.ID, Title: cmp.Or(st.Title, plain.Line(r.Title)), Place: plain.Line(r.Dir), Status: cmp.Or(st.Status, "idle"), Cost: st.Cost, Updated: r.Updated.UTC().Truncate(time.Second)}
		if len(st.Questions) > 0 {
			row.Asks = asks(st.Questions[0])
		}
		out = append(out, row)
	}
	sorting.By(out, func(a, b Row) int { return rank[a.Status] - rank[b.Status] })
	return out, nil
}

// asks is a question in one line.
func asks(q Question) string {
	if len(q.Calls) > 0 {
		return cut.Runes(q.Calls[0].Title, 120)
	}
	return cut.Runes(plain.Line(q.Text), 120)
}

// publishRows publishes the list if it is another one.
func (s *sessions) publishRows() {
	rows, err := s.rows(s.ctx)
	if err != nil {
		return // the next change shows it
	}
	said := ""
	for _, r := range rows {
		said += r.ID + "\x00" + r.Title + "\x00" + r.Status + "\x00" + r.Asks + "\x00" + r.Cost + "\n"
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if said != s.said {
		s.said = said
		s.hub.publish("sessions", List{rows})
	}
}

// folders are where sessions were, and where the server was started: a new one may begin
// there and nowhere else.
func (s *sessions) folders(ctx context.Context) ([]string, error) {
	out := []string{}
	for r, err := range s.cfg.Store.Newest(ctx, "") {
		if err != nil {
			return nil, err
		}
		if filepath.IsAbs(r.Dir) && !slices.Contains(out, r.Dir) {
			out = append(out, r.Dir)
		}
		if len(out) == 30 {
			break
		}
	}
	if s.cfg.Dir != "" && !slices.Contains(out, s.cfg.Dir) {
		out = append(out, s.cfg.Dir)
	}
	return out, nil
}
