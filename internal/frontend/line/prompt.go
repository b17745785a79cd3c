package line

import (
	"context"
	"io"
	"sync"

	"github.com/pawl-agent/pawl/internal/frontend/history"
	"github.com/pawl-agent/pawl/internal/frontend/tui/editor"
	"github.com/pawl-agent/pawl/internal/frontend/tui/keys"
	"github.com/pawl-agent/pawl/internal/frontend/tui/tty"
)

// prompt is the Input of a terminal that understands escape codes: the screen's editor and
// keys, in as many rows as the text needs. It reads the terminal all the time: what is typed
// while nobody reads a line is edited unseen, and shown by the next Line.
type prompt struct {
	tty     *tty.Terminal
	out     io.Writer
	history *history.File
	keys    map[string]func(*editor.Editor)

	mu      sync.Mutex
	changed *sync.Cond
	entry   input // what Line reads
	in      *input
	shown   *drawing // nil: nobody reads
	yields  bool
	take    func(line string) bool // see Input.Ahead; nil: nobody wants to know
	err     error
}

// input is what was typed: entries that wait to be read, and the one that is edited.
type input struct {
	*editor.Editor
	entered []entered
}

// entered is an entry, with the key that ended it as err; nil for Enter.
type entered struct {
	shown editor.Editor
	text  string
	err   error
}

// Codes that switch bracketed paste on and off.
const (
	pasteOn  = "\x1b[?2004h"
	pasteOff = "\x1b[?2004l"
)

func newPrompt(in io.Reader, out io.Writer, t *tty.Terminal, h *history.File, past []string) *prompt {
	p := &prompt{tty: t, out: out, history: h, keys: map[string]func(*editor.Editor){}, entry: input{Editor: editor.New()}}
	p.changed, p.in = sync.NewCond(&p.mu), &p.entry
	p.entry.SetHistory(past)
	for _, a := range editor.Actions() {
		for _, k := range a.Keys {
			p.keys[k] = a.Do
		}
	}
	_ = t.Quiet() // where it fails, typed input is echoed
	go p.pump(in)
	return p
}

// pump ends with the terminal, or with the process.
func (p *prompt) pump(in io.Reader) {
	events, failed := make(chan any), make(chan error, 1)
	go func() {
		failed <- keys.Read(context.Background(), in, events)
		close(events)
	}()
	for e := range events {
		p.handle(e)
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	p.err = <-failed
	p.changed.Broadcast()
}

func (p *prompt) handle(event any) {
	p.mu.Lock()
	defer p.mu.Unlock()
	in := p.in
	switch e := event.(type) {
	case keys.Paste:
		in.EndSearch(true)
		in.Paste(e.Text)
	case keys.Press:
		p.press(in, e)
	}
	if p.shown != nil && len(in.entered) == 0 {
		p.shown.draw(in.Editor)
	}
	p.changed.Broadcast()
}

func (p *prompt) press(in *input, k keys.Press) {
	columns, _ := size(p.out)
	switch {
	case k.Name == "ctrl+c":
		in.EndSearch(false)
		p.enter(in, ErrInterrupt)
	case in.SearchKey(k.Name, k.Text):
	case k.Name == "enter" || k.Name == "ctrl+j": // programs that type send a newline
		p.enter(in, nil)
	case k.Name == "ctrl+d" && in.Empty():
		p.enter(in, io.EOF)
	case k.Name == "ctrl+d":
		in.Delete()
	case k.Name == "ctrl+r":
		in.Search()
	case k.Name == "ctrl+z" && p.shown != nil:
		_ = p.tty.Cooked() // the shell sets its own
		p.tty.Suspend()
		_ = p.tty.Raw()
		p.shown = &drawing{out: p.out, sign: p.shown.sign}
	case k.Name == "up" || k.Name == "ctrl+p":
		if !in.Up(columns - 1) {
			in.Older()
		}
	case k.Name == "down" || k.Name == "ctrl+n":
		if !in.Down(columns - 1) {
			in.Newer()
		}
	case p.keys[k.Name] != nil:
		p.keys[k.Name](in.Editor)
	default:
		in.Type(k.Text)
	}
}

// enter ends the entry that is edited. What is typed next belongs to the next Line.
func (p *prompt) enter(in *input, err error) {
	shown := *in.Editor
	text := in.Take()
	if in == &p.entry && text != "" {
		in.AddHistory(text)
		p.history.Add(text)
	}
	p.in = &p.entry
	if err == nil && in == &p.entry && p.shown == nil && p.take != nil && p.take(text) {
		return
	}
	in.entered = append(in.entered, entered{shown, text, err})
}

func (p *prompt) Line(sign string) (string, error) { return p.read(&p.entry, sign) }

func (p *prompt) Answer(sign string) (string, error) {
	return p.read(&input{Editor: editor.New()}, sign)
}

func (p *prompt) read(in *input, sign string) (string, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	_ = p.tty.Raw()                       // a terminal that is gone
	_, _ = io.WriteString(p.out, pasteOn) // ends the read
	p.in, p.shown = in, &drawing{out: p.out, sign: sign}
	if len(in.entered) == 0 {
		p.shown.draw(in.Editor)
	}
	for len(in.entered) == 0 && !p.yields && p.err == nil {
		p.changed.Wait()
	}
	end := entered{shown: *in.Editor, err: p.err}
	if len(in.entered) > 0 {
		end, in.entered = in.entered[0], in.entered[1:]
	} else if p.yields {
		end.err = ErrYield
	}
	p.shown.leave(&end.shown)
	p.in, p.shown, p.yields = &p.entry, nil, false
	_, _ = io.WriteString(p.out, pasteOff)
	_ = p.tty.Quiet()
	return end.text, end.err
}

func (p *prompt) Yield() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.yields = true
	p.changed.Broadcast()
}

func (p *prompt) Drop() {
	p.tty.Flush()
	p.mu.Lock()
	defer p.mu.Unlock()
	p.entry.Take()
	p.entry.entered = nil
}

func (p *prompt) Prefill(text string) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.entry.Prepend(text)
	return true
}

func (p *prompt) Ahead(take func(string) bool) (stop func()) {
	hear := func(take func(string) bool) {
		p.mu.Lock()
		defer p.mu.Unlock()
		p.take = take
	}
	hear(take)
	return func() { hear(nil) }
}
