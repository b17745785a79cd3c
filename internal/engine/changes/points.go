package changes

import (
	"context"
	"fmt"
	"time"

	"github.com/pawl-agent/pawl/internal/core/event"
)

// Point is a person's prompt to which the session can be rewound.
type Point struct {
	Seq   int64 // the sequence number of the prompt's event
	Time  time.Time
	Text  string
	Files []string // that its turn changed and that are not undone
}

// Before returns the sequence number at which a fork ends that contains neither
// the prompt nor anything after it. All calls before it have their results: a
// prompt is never recorded between a call and its result.
func (p Point) Before() int64 { return p.Seq - 1 }

// Points lists the prompts of persons, oldest first (SPEC 10.2). It reads the
// log at each call and caches nothing.
func (h *History) Points(ctx context.Context) ([]Point, error) {
	files := map[int64][]string{}
	h.r.log.View(func() {
		for _, t := range h.r.fold.undo.Turns() {
			for _, f := range t.Files {
				files[t.Prompt] = append(files[t.Prompt], f.Path)
			}
		}
	})
	var out []Point
	for e, err := range h.r.cfg.Store.Read(ctx, h.r.cfg.Session, 0) {
		if err != nil {
			return nil, fmt.Errorf("read session %s: %w", h.r.cfg.Session, err)
		}
		if b, ok := e.Body.(event.Prompted); ok && b.Source == event.Person {
			out = append(out, Point{Seq: e.Seq, Time: e.Time, Text: b.Text, Files: files[e.Seq]})
		}
	}
	return out, nil
}
