// Package tui is the screen: a conversation on a terminal that is drawn while it happens,
// with a prompt in which a person can type at any time.
//
// It is inline and append-only. Finished blocks go to the terminal's own scrollback, where
// they can be searched and copied, and are never touched again. Below them is a live area
// of a few rows: open blocks, the question, the prompt, and a status line. Modal views use
// the alternate screen. See ADR 011 and doc/screen.md.
//
// The rules are: it draws blocks of package chat and nothing else, so a session
// that is opened again looks as it did; everything that a person does is a call
// of chat.Conversation. It writes only where something changed: at rest it
// writes nothing and no timer runs. Package chat has sanitised the text of models, tools
// and files; the colours are tui's own.
//
// Where to look: tui.go is the loop, frame.go what a frame is made of, renderer.go
// and cards.go what is final, input.go and question.go the keys, status.go the
// line at the bottom. paint writes frames, keys reads the terminal, editor is the
// prompt, tty the terminal's state.
package tui

import (
	"context"
	"errors"
	"io"
	"time"

	"github.com/pawl-agent/pawl/internal/core/llm"
	"github.com/pawl-agent/pawl/internal/frontend/chat"
	"github.com/pawl-agent/pawl/internal/frontend/history"
	"github.com/pawl-agent/pawl/internal/frontend/styled"
	"github.com/pawl-agent/pawl/internal/frontend/tui/editor"
	"github.com/pawl-agent/pawl/internal/frontend/tui/keys"
	"github.com/pawl-agent/pawl/internal/frontend/tui/paint"
)

// Resize is an event: the window has another size.
type Resize struct{ Width, Height int }

// Signal is an event: SIGTERM, SIGHUP, SIGINT.
type Signal struct{ Name string }

// Config is the configuration of a screen.
type Config struct {
	Conversation *chat.Conversation
	Out          io.Writer
	// Events are the events of package keys, Resize and Signal.
	Events        <-chan any
	Width, Height int

	Theme styled.Theme
	// Chosen: a person named the theme, so the terminal's background decides nothing.
	Chosen bool
	// Ask asks the terminal what it can do; where nothing would answer, it is not
	// asked.
	Ask bool
	// Cuts: when the window gets narrower, the terminal cuts what does not fit, and
	// does not wrap it.
	Cuts bool
	// Calm: nothing moves by itself but what is new.
	Calm bool
	// Vi: the prompt takes the keys of vi.
	Vi bool

	History *history.File
	Past    []string // entries of before, oldest first
	First   string   // a prompt to begin with, "" for none

	// Rxvt: the terminal takes notices as rxvt does, and not as iTerm2 does.
	Rxvt bool

	Folder string                // its name, for the window's title
	Branch func() string         // "" for none
	Files  func(string) []string // those whose path begins so, for completion
	// Leave restores the terminal while do runs, so that another program can use it;
	// nil where that is not possible.
	Leave func(do func() error) error
	// Edit opens a text in the person's editor.
	Edit func(text string) (string, error)
	// Dropped returns the image whose path was pasted, nil for any other text. Clipboard
	// returns the image in the clipboard. Nil: there are none.
	Dropped   func(pasted string) (*Picture, error)
	Clipboard func(context.Context) (*Picture, error)
	// Suspend stops the process as Ctrl+Z does.
	Suspend func()

	Now   func() time.Time
	After func(time.Duration) <-chan time.Time
}

// Picture is an image for a prompt.
type Picture struct {
	Name  string
	Media llm.Media
}

// Exit is how a screen ended: By is the signal's name, "" where the person left.
type Exit struct{ By string }

// screen is what is shown and the state of the keys. One goroutine owns it.
type screen struct {
	Config
	talk     *chat.Conversation
	paint    *paint.Painter
	renderer renderer
	edit     *editor.Editor
	modal    *editor.Modal // nil: the keys are those of shells
	aside    string        // a prompt that was put aside; "" for none
	ask      *asking
	done     string // the id of the question that was answered last

	changes chan []chat.Change
	failed  chan error
	posted  chan func() // for the loop to do
	over    *Exit
	err     error

	drawn   time.Time // the last frame
	due     <-chan time.Time
	tick    <-chan time.Time
	ready   bool // the terminal has answered, or will not
	hold    <-chan time.Time
	letter  <-chan time.Time // a letter answers the question
	hint    string           // shown until the next key
	escaped time.Time
	chord   bool      // Ctrl+X was pressed
	typed   time.Time // the last key
	sat     bool      // nobody looks at the terminal
	begun   time.Time // of what runs
	busy    bool
	title   string
	menu    *menu
	named   *named // the declarations that were looked for last
	pager   *pager
	kitty   bool // its keys were asked for
	branch  string
	spoken  bool            // something was entered
	waits   map[string]bool // what was entered and has come to where it waits
}

const (
	frameTime = 33 * time.Millisecond // between two frames that no key asked for
	tickTime  = time.Second
	// answerTime is how long what is finished waits for the terminal's answers: it
	// is not drawn again in other colours. The live area does not wait.
	answerTime = 40 * time.Millisecond
)

// Run shows a conversation until it ends.
func Run(ctx context.Context, cfg Config) (Exit, error) {
	s := &screen{
		Config: cfg, talk: cfg.Conversation, paint: paint.New(cfg.Out, cfg.Width), edit: editor.New(),
		changes: make(chan []chat.Change), failed: make(chan error, 1), posted: make(chan func()), waits: map[string]bool{}, ready: !cfg.Ask,
	}
	s.paint.Reflows = !cfg.Cuts
	s.renderer.resize(cfg.Width)
	s.renderer.links = cfg.Theme.Links
	s.edit.Remember(cfg.Past)
	if cfg.Vi {
		s.modal = editor.NewModal(s.edit)
	}
	if cfg.Branch != nil {
		s.branch = cfg.Branch()
	}
	ctx, stop := context.WithCancel(ctx)
	defer stop()
	go s.follow(ctx)
	s.opens()
	closed := false
	defer func() {
		if !closed { // it panics: the terminal is given back all the same
			s.paint.Back()
			s.write("\r\n")
			s.restores()
		}
	}()
	if cfg.First != "" {
		s.spoken = true
		s.talk.Prompt(cfg.First)
	}
	for s.over == nil && s.err == nil {
		s.step(ctx)
	}
	s.closes()
	closed = true
	return *s.exit(), s.err
}

func (s *screen) exit() *Exit {
	if s.over == nil {
		return &Exit{}
	}
	return s.over
}

// follow passes on the conversation's changes.
func (s *screen) follow(ctx context.Context) {
	for {
		changes, err := s.talk.Next(ctx)
		if err != nil {
			s.failed <- err
			return
		}
		select {
		case s.changes <- changes:
		case <-ctx.Done():
			return
		}
	}
}

// step waits for an event and handles it.
func (s *screen) step(ctx context.Context) {
	pressed := false // it is shown at once
	select {
	case e, ok := <-s.Events:
		if !ok {
			s.over = &Exit{By: "SIGHUP"} // the terminal is gone
			return
		}
		pressed = s.event(ctx, e)
	case changes := <-s.changes:
		for _, ch := range changes {
			s.change(ch)
		}
	case do := <-s.posted:
		do()
		pressed = true
	case <-s.due:
		s.due, pressed = nil, true
	case <-s.tick:
		s.tick = nil
	case <-s.letter: // asks answers with it
		s.letter, pressed = nil, true
	case <-s.hold:
		s.ready, s.hold = true, nil
	case err := <-s.failed:
		if !errors.Is(err, chat.ErrLeft) {
			s.err = err
		}
		s.over = &Exit{}
	case <-ctx.Done():
		s.over = &Exit{}
	}
	s.settle()
	switch {
	case s.over != nil:
	case pressed || s.Now().Sub(s.drawn) >= frameTime:
		s.frame()
	case s.due == nil:
		s.due = s.After(frameTime - s.Now().Sub(s.drawn))
	}
	if err := s.paint.Err(); err != nil && s.over == nil {
		s.over = &Exit{By: "SIGHUP"}
	}
}

// settle updates what is shown to the conversation's current state.
func (s *screen) settle() {
	s.asks()
	busy := s.talk.Busy()
	if busy != s.busy {
		if s.busy = busy; busy {
			s.begun = s.Now()
		} else {
			s.rests()
		}
	}
	soon := s.ask != nil && !s.armed() && !s.ask.left && s.edit.Empty()
	if s.tick == nil && (soon || busy && !s.Calm) {
		s.tick = s.After(s.untilTick(soon))
	}
}

// untilTick is the time to the next whole second of what is counted, or to when
// a question takes keys.
func (s *screen) untilTick(soon bool) time.Duration {
	if soon {
		return quiet
	}
	return tickTime - s.Now().Sub(s.begun)%tickTime
}

// change handles a change of the conversation.
func (s *screen) change(ch chat.Change) {
	if back, ok := ch.Block.Body.(chat.TakenBack); ok {
		s.takeBack(back.Texts)
		return
	}
	switch b := ch.Block.Body.(type) {
	case chat.Queued:
		s.waits[b.ID] = true
	case chat.Act:
		s.act(b)
		return
	case chat.Editing:
		if ch.What == chat.Added {
			s.editing(b)
		}
		return
	}
	s.renderer.take(ch)
	if ch.Past || ch.What != chat.Finished {
		return
	}
	if _, ok := ch.Block.Body.(chat.TurnEnd); ok && s.Branch != nil {
		s.branch = s.Branch()
	}
}

// event handles a key or a message of the terminal, and reports whether the result must
// be shown at once.
func (s *screen) event(ctx context.Context, e any) bool {
	switch e := e.(type) {
	case keys.Press:
		s.hint = ""
		s.press(ctx, e)
		s.typed = s.Now()
		return true
	case keys.Paste:
		s.hint = ""
		if s.pager != nil {
			return false
		}
		s.paste(e.Text)
		s.typed = s.Now()
		return true
	case Resize:
		s.Width, s.Height = e.Width, e.Height
		s.paint.Resize(e.Width)
		s.renderer.resize(e.Width)
		return true
	case keys.Focus:
		s.sat = !e.In
	case keys.Mode:
		if e.Number == 2026 && e.Known {
			s.paint.Sync = true
		}
	case keys.Background:
		if !e.Dark && !s.Chosen && s.Theme.Name == styled.Dark.Name {
			links := s.Theme.Links
			s.Theme = styled.Light
			s.Theme.Links = links
		}
	case keys.Enhanced:
		if !s.kitty {
			s.kitty = true
			s.write("\x1b[>1u")
		}
	case keys.Answered:
		s.ready, s.hold = true, nil
	case Signal:
		s.signal(e.Name)
	}
	return false
}

func (s *screen) signal(name string) {
	if name == "SIGINT" {
		s.interrupt()
		return
	}
	s.talk.Interrupt(name)
	s.over = &Exit{By: name}
}

func (s *screen) write(text string) { _, _ = io.WriteString(s.Out, text) } // a terminal that is gone ends the next frame

// opens prepares the terminal and queries its capabilities.
func (s *screen) opens() {
	s.takes()
	if s.Ask {
		s.write("\x1b[?2026$p\x1b]11;?\x1b\\\x1b[?u\x1b[c")
		s.hold = s.After(answerTime)
	}
}

// closes prints the finished lines, so that they stay, and restores the terminal.
func (s *screen) closes() {
	s.paint.Back()
	if s.renderer.flow != nil { // a text that is not finished
		s.renderer.put(s.renderer.pending()...)
	}
	var last []string
	for _, l := range s.renderer.done() {
		last = append(last, s.Theme.Render(l))
	}
	if text := s.edit.Text(); text != "" && s.over != nil {
		s.keep(text)
		last = append(last, s.Theme.Render(styled.Of(styled.Dim, "what you were typing is in the history: Up brings it back")))
	}
	if again := s.talk.Again(); again != "" {
		last = append(last, s.Theme.Render(styled.Of(styled.Dim, "to go on with this session: "+again)))
	}
	s.paint.Frame(last, []string{""}, paint.Caret{})
	s.restores()
}

// takes sets the terminal's modes; restores resets them.
func (s *screen) takes() {
	s.write("\x1b[?2004h\x1b[?1004h")
	if s.kitty {
		s.write("\x1b[>1u")
	}
}

func (s *screen) restores() {
	if s.kitty {
		s.write("\x1b[<u")
	}
	s.write("\x1b[?2004l\x1b[?1004l")
	if s.title != "" {
		s.write("\x1b]2;\x1b\\")
		s.title = ""
	}
}
