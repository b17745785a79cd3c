package brief

import (
	"strings"

	"github.com/pawl-agent/pawl/internal/core/event"
	"github.com/pawl-agent/pawl/internal/frontend/plain"
)

// Lost collects what a turn destroyed that no undo can restore (SPEC 11.1). The zero
// Lost is ready to use. All: of every turn, not only of the last one.
type Lost struct {
	All     bool
	files   []string
	running bool // a turn is running
}

const cannot = "cannot be undone: "

func (l *Lost) Apply(b event.Body) bool {
	switch b := b.(type) {
	case event.Prompted:
		if !l.running && b.Source != event.Autofix && !l.All {
			l.files = nil
		}
		l.running = true
	case event.Ended:
		l.running = false
	case event.Warned:
		if b.What == event.WarnedLost {
			l.files = append(l.files, plain.Line(strings.TrimPrefix(b.Text, cannot)))
			return true
		}
	}
	return false
}

// Add adds a line from pawl if it names something lost.
func (l *Lost) Add(line string) {
	if text, ok := strings.CutPrefix(line, cannot); ok {
		l.files = append(l.files, text)
	}
}

// Forget begins another turn.
func (l *Lost) Forget() { l.files = nil }

// String names what is lost; it returns "" for nothing.
func (l *Lost) String() string {
	if len(l.files) == 0 {
		return ""
	}
	return cannot + strings.Join(l.files, ", ")
}
