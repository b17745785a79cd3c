package web

import (
	"context"
	"slices"
	"sync"

	"github.com/pawl-agent/pawl/internal/core/event"
	"github.com/pawl-agent/pawl/internal/frontend/chat"
)

// history is the finished blocks of a session. Each event of its log is folded once, not
// once a request.
type history struct {
	id string

	mu      sync.Mutex
	t       chat.Timeline
	last    int64   // the last event that was folded
	blocks  []Block // the newest ones
	size    int     // of their HTML, in bytes
	dropped bool    // there were older ones
}

const (
	// mostHistories is how many sessions have their blocks in memory, mostHistory what
	// those of one of them may take.
	mostHistories = 4
	mostHistory   = 4 << 20
)

// history returns what was read of a session, which may be nothing.
func (s *sessions) history(id string) *history {
	s.mu.Lock()
	defer s.mu.Unlock()
	h := &history{id: id}
	if i := slices.IndexFunc(s.read, func(h *history) bool { return h.id == id }); i >= 0 {
		h = s.read[i]
		s.read = slices.Delete(s.read, i, i+1)
	} else if len(s.read) == mostHistories {
		s.read = slices.Delete(s.read, 0, 1)
	}
	s.read = append(s.read, h)
	return h
}

// catchUp folds what the log has got since, or what it has before a block.
func (h *history) catchUp(ctx context.Context, log event.Store, before string) error {
	for e, err := range log.Read(ctx, h.id, h.last) {
		if err != nil {
			return err
		}
		h.last = e.Seq
		for _, c := range h.t.Apply(e) {
			if c.What != chat.Finished || c.Block.Ephemeral {
				continue
			}
			if c.Block.ID == before {
				return nil
			}
			if b := finished(h.id, c.Block); b.HTML != "" {
				h.add(b)
			}
		}
	}
	return nil
}

// add adds a block, and forgets the oldest ones where there is no room. As many as one
// request may ask for stay.
func (h *history) add(b Block) {
	h.blocks = append(h.blocks, b)
	h.size += len(b.HTML)
	for h.size > mostHistory && len(h.blocks) > mostAtOnce {
		h.size -= len(h.blocks[0].HTML)
		h.blocks[0] = Block{} // the array is still there
		h.blocks, h.dropped = h.blocks[1:], true
	}
}

// index is where a block is, -1 if it is not among these.
func (h *history) index(id string) int {
	return slices.IndexFunc(h.blocks, func(b Block) bool { return b.ID == id })
}

// blocks returns the newest n blocks of a session, or those before one.
func (s *sessions) blocks(ctx context.Context, id, before string, n int) (Blocks, error) {
	var open []Block
	if l := s.of(id); l != nil && before == "" {
		open = l.openBlocks() // before the log is read: what ends meanwhile is in both
	}
	h := s.history(id)
	h.mu.Lock()
	defer h.mu.Unlock()
	if err := h.catchUp(ctx, s.cfg.Store, ""); err != nil {
		return Blocks{}, err
	}
	to := len(h.blocks)
	if at := h.index(before); at >= n || at >= 0 && !h.dropped {
		to = at
	} else if before != "" && h.dropped {
		h = &history{id: id} // what is wanted was forgotten: fold again, up to there
		if err := h.catchUp(ctx, s.cfg.Store, before); err != nil {
			return Blocks{}, err
		}
		to = len(h.blocks)
	}
	from := max(to-n, 0)
	out := Blocks{Blocks: append([]Block{}, h.blocks[from:to]...), More: from > 0 || h.dropped}
	for _, b := range open {
		if h.index(b.ID) < 0 {
			out.Blocks = append(out.Blocks, b)
		}
	}
	return out, nil
}
