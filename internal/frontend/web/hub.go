package web

import (
	"crypto/rand"
	"encoding/json"
	"fmt"
	"strconv"
	"strings"
	"sync"
)

// hub is the one stream of events that all viewers read. It keeps the newest ones: a
// viewer that comes back goes on at its cursor, and one that is too slow finds that its
// place is gone and loads again. So a viewer needs no queue of its own, and what is
// published waits for nobody.
type hub struct {
	epoch string // of this process: the cursors of another one mean nothing here

	mu     sync.Mutex
	frames []frame
	first  int64 // the number of frames[0]
	size   int
	wake   chan struct{} // closed when there is more
	over   bool
}

// frame is an event as it is sent.
type frame struct {
	kind string
	data []byte
}

// What is kept, at most.
const (
	mostFrames = 8192
	mostBytes  = 8 << 20
)

func newHub() *hub {
	return &hub{epoch: rand.Text()[:8], wake: make(chan struct{})}
}

// publish adds an event, until end.
func (h *hub) publish(kind string, v any) {
	data, err := json.Marshal(v) // which escapes line ends and < > &
	if err != nil {
		panic(err) // the types of api.go can be written
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.over {
		return // a session that ends with the server has nobody to tell
	}
	h.frames = append(h.frames, frame{kind, data})
	h.size += len(data)
	drop := 0
	for len(h.frames)-drop > mostFrames || h.size > mostBytes && len(h.frames)-drop > 1 {
		h.size -= len(h.frames[drop].data)
		h.frames[drop].data = nil
		drop++
	}
	h.frames, h.first = h.frames[drop:], h.first+int64(drop)
	close(h.wake)
	h.wake = make(chan struct{})
}

// end lets viewers leave after the last event.
func (h *hub) end() {
	h.mu.Lock()
	defer h.mu.Unlock()
	if !h.over {
		h.over = true
		close(h.wake)
	}
}

// since returns the frames from a number on, and the channel that is closed when there
// are more. missed: some of them are gone; over: no more will come.
func (h *hub) since(n int64) (fs []frame, next int64, missed, over bool, wake <-chan struct{}) {
	h.mu.Lock()
	defer h.mu.Unlock()
	next = h.first + int64(len(h.frames))
	if missed = n < h.first || n > next; missed {
		n = next
	}
	return append(fs, h.frames[n-h.first:]...), next, missed, h.over, h.wake
}

// cursor returns the place after the newest event.
func (h *hub) cursor() string {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.cursorAt(h.first + int64(len(h.frames)))
}

func (h *hub) cursorAt(n int64) string { return fmt.Sprintf("%s-%d", h.epoch, n) }

// place reads a cursor; ok is false for one of another process.
func (h *hub) place(cursor string) (n int64, ok bool) {
	epoch, number, _ := strings.Cut(cursor, "-")
	n, err := strconv.ParseInt(number, 10, 64)
	return n, err == nil && n >= 0 && epoch == h.epoch
}
