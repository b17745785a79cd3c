package eventlog

import (
	"github.com/pawl-agent/pawl/internal/core/event"
	"github.com/pawl-agent/pawl/internal/policy/secrets"
)

// streamMasker masks streamed text, piece by piece. A key may be split over two pieces,
// so the end of a piece that could be the beginning of a key is held back until
// the next piece, or the whole text, decides.
type streamMasker struct {
	mask    *secrets.Masker
	text    *secrets.Stream
	thought *secrets.Stream
	args    map[int]*secrets.Stream
	names   map[int]string
	output  map[string]*secrets.Stream // by call
}

// masked returns what may be shown of b: nothing yet, or b.
func (l *streamMasker) masked(b event.Body) []event.Body {
	if l.mask == nil {
		return []event.Body{b}
	}
	switch d := b.(type) {
	case event.TextDelta:
		if l.text == nil {
			l.text = l.mask.Stream()
		}
		return unlessEmpty(event.TextDelta{Text: l.text.Next(d.Text)}, d.Text)
	case event.ReasoningDelta:
		if l.thought == nil {
			l.thought = l.mask.Stream()
		}
		return unlessEmpty(event.ReasoningDelta{Text: l.thought.Next(d.Text)}, d.Text)
	case event.CallDelta:
		s := l.args[d.Index]
		if s == nil {
			if l.args == nil {
				l.args, l.names = map[int]*secrets.Stream{}, map[int]string{}
			}
			s = l.mask.Stream()
			l.args[d.Index] = s
		}
		l.names[d.Index] = l.mask.String(d.Name)
		return unlessEmpty(event.CallDelta{Index: d.Index, Name: l.names[d.Index], Text: s.Next(d.Text)}, d.Text)
	case event.OutputDelta:
		s := l.output[d.Call]
		if s == nil {
			if l.output == nil {
				l.output = map[string]*secrets.Stream{}
			}
			s = l.mask.Stream()
			l.output[d.Call] = s
		}
		return unlessEmpty(event.OutputDelta{Call: l.mask.String(d.Call), Text: s.Next(d.Text)}, d.Text)
	}
	return []event.Body{maskBody(l.mask, b)}
}

// unlessEmpty returns b, or nothing if all of its text is held back until more comes.
func unlessEmpty(b event.Body, came string) []event.Body {
	if pieceSize(b) == 0 && came != "" {
		return nil
	}
	return []event.Body{b}
}

// before returns what is shown before a stored event: held-back text that
// turned out to be harmless. Text that was held back when a stream broke off is
// never shown, since it may be half a key.
func (l *streamMasker) before(b event.Body) (out []event.Body) {
	switch b := b.(type) {
	case event.Replied:
		out = l.flush()
	case event.Retried, event.Interrupted, event.Ended, event.Requested:
		l.text, l.thought, l.args, l.names = nil, nil, nil, nil
		if _, ended := b.(event.Ended); ended {
			l.output = nil
		}
	case event.CallDone:
		out = l.endOutput(b.ID)
	case event.Checked, event.Baseline:
		out = append(l.endOutput(event.CheckCall), l.endOutput("")...)
	case event.PersonRan:
		out = l.endOutput("")
	case event.OpDone:
		delete(l.output, "") // of a command that was not recorded
	}
	return out
}

func (l *streamMasker) flush() (out []event.Body) {
	if l.thought != nil {
		if s := l.thought.Rest(); s != "" {
			out = append(out, event.ReasoningDelta{Text: s})
		}
	}
	if l.text != nil {
		if s := l.text.Rest(); s != "" {
			out = append(out, event.TextDelta{Text: s})
		}
	}
	for i := range len(l.args) {
		if a := l.args[i]; a != nil {
			if s := a.Rest(); s != "" {
				out = append(out, event.CallDelta{Index: i, Name: l.names[i], Text: s})
			}
		}
	}
	l.text, l.thought, l.args, l.names = nil, nil, nil, nil
	return out
}

func (l *streamMasker) endOutput(call string) []event.Body {
	s := l.output[call]
	if s == nil {
		return nil
	}
	delete(l.output, call)
	if rest := s.Rest(); rest != "" {
		return []event.Body{event.OutputDelta{Call: call, Text: rest}}
	}
	return nil
}
