// Package tui is the screen: a conversation on a terminal that is drawn while it happens,
// with a prompt in which a person can type at any time.
//
// It is inline and append-only. Finished blocks go to the terminal's own scrollback, where
// they can be searched and copied, and are never touched again. Below them is a live area
// of a few rows: open blocks, the question, the prompt, and a status line. Modal views use
// the alternate screen. See ADR 011 and doc/screen.md.
//
// It draws only blocks of package chat, so a session that is opened again looks as it
// did, and it acts only through chat.Conversation. At rest it writes nothing and no timer
// runs. Package chat has sanitised the text of models, tools and files.
//
// Where to look: tui.go has the event loop, frame.go puts a frame together, renderer.go
// and cards.go draw blocks, input.go and question.go handle keys, status.go draws the
// bottom line. Package paint writes frames, keys decodes the terminal's input, editor
// edits the prompt, tty sets the terminal's modes.
package tui

import (
	"cmp"
	"context"
	"errors"
	"io"
	"time"

	"github.com/pawl-agent/pawl/internal/core/llm"
	"github.com/pawl-agent/pawl/internal/frontend/chat"
	"github.com/pawl-agent/pawl/internal/frontend/history"
	"github.com/pawl-agent/pawl/internal/frontend/plain"
	"github.com/pawl-agent/pawl/internal/frontend/styled"
	"github.com/pawl-agent/pawl/internal/frontend/tui/editor"
	"github.com/pawl-agent/pawl/internal/frontend/tui/keys"
	"github.com/pawl-agent/pawl/internal/frontend/tui/paint"
)

// lowScreen is the height below which a question's card may leave the screen.
const lowScreen = 12

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
	// ThemeChosen: a person named the theme, so the terminal's background decides nothing.
	ThemeChosen bool
	// Probe: the terminal is asked what it can do.
	Probe bool
	// NoReflow: when the window gets narrower, the terminal cuts what does not fit, and
	// does not wrap it.
	NoReflow bool
	// Calm: reduced motion; only what is new is drawn.
	Calm bool
	// Vi: the prompt has the key bindings of vi.
	Vi bool
	// Keys are the bindings; nil: the default ones.
	Keys *Bindings

	History     *history.File
	Past        []string // earlier entries, oldest first
	FirstPrompt string   // sent at the start; "" for none

	// Rxvt: notifications are sent in rxvt's form, not in iTerm2's.
	Rxvt bool

	Folder string        // its name, for the window's title
	Branch func() string // "" for none
	// Dir and Version are for the person's status line.
	Dir, Version string
	Files        func(string) []string // the files whose path has this prefix, for completion
	// Release restores the terminal while do runs, so that another program can use it.
	// Nil where that is not possible.
	Release func(do func() error) error
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

// Exit is how a screen ended: By is the signal's name, "" if the person left.
type Exit struct{ By string }

// screen is what is shown, and the state of the key bindings. One goroutine owns it.
type screen struct {
	Config
	painter    *paint.Painter
	renderer   renderer
	editor     *editor.Editor
	modal      *editor.Modal // vi's modes; nil without Config.Vi
	stashed    string        // the prompt that Ctrl+S put aside; "" for none
	question   *openQuestion
	answeredID string // of the last answered question

	changes   chan []chat.Change
	followErr chan error
	posted    chan func() // to be called by the loop
	ended     *Exit
	err       error

	drawnAt      time.Time // when the last frame was drawn
	nextFrame    <-chan time.Time
	tick         <-chan time.Time
	probed       bool // the terminal has answered the probe, or had its time
	probeTimer   <-chan time.Time
	letterTimer  <-chan time.Time // then the typed letter answers the question
	hint         string           // shown until the next key
	escapedAt    time.Time
	cleared      bool      // Ctrl+C put what was typed into the history, and no other key came since
	ctrlX        bool      // Ctrl+X was pressed
	typedAt      time.Time // when the last key was pressed
	unfocused    bool      // the terminal's window does not have the focus
	busySince    time.Time // when the current work began
	busy         bool
	title        string
	menu         *menu
	symbolSearch *symbolSearch // the last one
	pager        *pager
	picker       *picker // see picking
	unfolded     *unfolded
	kitty        bool // its keyboard protocol is on
	branch       string
	own          own
	turnEnded    bool            // since the last step
	anyEntered   bool            // something was entered
	queuedIDs    map[string]bool // of entered texts that the session has queued
}

const (
	frameTime = 33 * time.Millisecond // between two frames that no key asked for
	tickTime  = time.Second
	// probeTimeout is how long finished lines wait for the terminal's answers, since they
	// cannot be drawn again in other colours. The live area does not wait.
	probeTimeout = 40 * time.Millisecond
)

// Run shows a conversation until it ends.
func Run(ctx context.Context, cfg Config) (Exit, error) {
	s := &screen{
		Config: cfg, painter: paint.New(cfg.Out, cfg.Width), editor: editor.New(),
		changes: make(chan []chat.Change), followErr: make(chan error, 1), posted: make(chan func()), queuedIDs: map[string]bool{}, probed: !cfg.Probe,
	}
	if s.Keys == nil {
		s.Keys, _ = Bind(nil) // the default ones are right
	}
	s.painter.Reflows = !cfg.NoReflow
	s.renderer.resize(cfg.Width)
	s.renderer.links = cfg.Theme.Links
	s.editor.SetHistory(cfg.Past)
	if cfg.Vi {
		s.modal = editor.NewModal(s.editor)
	}
	if cfg.Branch != nil {
		s.branch = cfg.Branch()
	}
	ctx, stop := context.WithCancel(ctx)
	defer stop()
	go s.follow(ctx)
	s.openTerminal()
	closed := false
	defer func() {
		if !closed { // after a panic
			s.painter.CloseModal()
			s.write("\r\n")
			s.disableModes()
		}
	}()
	if cfg.FirstPrompt != "" {
		s.anyEntered = true
		s.Conversation.Prompt(cfg.FirstPrompt)
	}
	for s.ended == nil && s.err == nil {
		s.step(ctx)
	}
	s.closeTerminal()
	closed = true
	return *cmp.Or(s.ended, &Exit{}), s.err
}

// follow passes on the conversation's changes.
func (s *screen) follow(ctx context.Context) {
	for {
		changes, err := s.Conversation.Next(ctx)
		if err != nil {
			s.followErr <- err
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
	pressed := false // the result is shown at once
	select {
	case e, ok := <-s.Events:
		if !ok {
			s.ended = &Exit{By: "SIGHUP"} // the terminal is gone
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
	case <-s.nextFrame:
		s.nextFrame, pressed = nil, true
	case <-s.tick:
		s.tick = nil
	case <-s.letterTimer: // update answers with the letter
		s.letterTimer, pressed = nil, true
	case <-s.probeTimer:
		s.probed, s.probeTimer = true, nil
	case err := <-s.followErr:
		if !errors.Is(err, chat.ErrLeft) {
			s.err = err
		}
		s.ended = &Exit{}
	case <-ctx.Done():
		s.ended = &Exit{}
	}
	s.update()
	s.updateOwn(ctx, s.turnEnded)
	s.turnEnded = false
	switch {
	case s.ended != nil:
	case pressed || s.Now().Sub(s.drawnAt) >= frameTime:
		s.frame()
	case s.nextFrame == nil:
		s.nextFrame = s.After(frameTime - s.Now().Sub(s.drawnAt))
	}
	if err := s.painter.Err(); err != nil && s.ended == nil {
		s.ended = &Exit{By: "SIGHUP"}
	}
}

// update updates what is shown to the conversation's current state.
func (s *screen) update() {
	s.updateQuestion()
	busy := s.Conversation.Busy()
	if busy != s.busy {
		if s.busy = busy; busy {
			s.busySince = s.Now()
		} else {
			s.workEnded()
		}
	}
	soon := s.question != nil && !s.keysAnswer() && !s.question.skipped && s.editor.Empty()
	if s.tick == nil && (soon || busy && !s.Calm || s.watches()) {
		s.tick = s.After(s.untilTick(soon))
	}
}

// watches reports whether a view shows what grows by itself.
func (s *screen) watches() bool {
	if s.pager != nil {
		return s.pager.live != nil
	}
	p := s.picking()
	if p == nil {
		return false
	}
	it, _ := p.selected()
	return it.Live != nil
}

// untilTick returns the time to the next whole second of the running work, or soon: to when
// a question takes keys.
func (s *screen) untilTick(soon bool) time.Duration {
	if soon {
		return quietTime
	}
	return tickTime - s.Now().Sub(s.busySince)%tickTime
}

// change handles a change of the conversation.
func (s *screen) change(ch chat.Change) {
	if back, ok := ch.Block.Body.(chat.TakenBack); ok {
		s.takeBack(back.Texts)
		return
	}
	switch b := ch.Block.Body.(type) {
	case chat.Queued:
		s.queuedIDs[b.ID] = true
	case chat.Act:
		s.act(b)
		return
	case chat.Editing:
		if ch.What == chat.Added {
			s.editText(b)
		}
		return
	}
	s.renderer.apply(ch)
	if ch.Past || ch.What != chat.Finished {
		return
	}
	if _, ok := ch.Block.Body.(chat.TurnEnd); ok {
		s.turnEnded = true
		if s.Branch != nil {
			s.branch = s.Branch()
		}
	}
}

// event handles a key or an answer of the terminal, and reports whether the result must
// be shown at once.
func (s *screen) event(ctx context.Context, e any) bool {
	switch e := e.(type) {
	case keys.Press:
		s.hint = ""
		s.key(ctx, e)
		s.typedAt = s.Now()
		return true
	case keys.Paste:
		s.hint, s.cleared = "", false
		if s.pager != nil {
			return false
		}
		if p := s.picking(); p != nil {
			p.search(p.filter + plain.Line(shortened(e.Text, maxFilter)))
			return true
		}
		s.paste(e.Text)
		s.typedAt = s.Now()
		return true
	case Resize:
		was := s.Height
		s.Width, s.Height = e.Width, e.Height
		s.painter.Resize(e.Width)
		s.renderer.resize(e.Width)
		if s.question != nil && was < lowScreen && e.Height >= lowScreen { // what is asked left the screen while it was low
			s.renderer.question(chat.Change{What: chat.Added}, s.question.form.Question())
		}
		return true
	case keys.Focus:
		s.unfocused = !e.In
	case keys.Mode:
		if e.Number == 2026 && e.Known {
			s.painter.Sync = true
		}
	case keys.Background:
		if !e.Dark && !s.ThemeChosen && s.Theme.Name == styled.Dark.Name {
			links := s.Theme.Links
			s.Theme = styled.Light
			s.Theme.Links = links
		}
	case keys.KittyKeyboard:
		if !s.kitty {
			s.kitty = true
			s.write("\x1b[>1u")
		}
	case keys.DeviceAttributes:
		s.probed, s.probeTimer = true, nil
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
	s.Conversation.Interrupt(name)
	s.ended = &Exit{By: name}
}

func (s *screen) write(text string) { _, _ = io.WriteString(s.Out, text) } // where the terminal is gone, the next frame fails

// openTerminal prepares the terminal and queries its capabilities.
func (s *screen) openTerminal() {
	s.enableModes()
	if s.Probe {
		s.write("\x1b[?2026$p\x1b]11;?\x1b\\\x1b[?u\x1b[c")
		s.probeTimer = s.After(probeTimeout)
	}
}

// closeTerminal prints the remaining finished lines and restores the terminal.
func (s *screen) closeTerminal() {
	s.painter.CloseModal()
	if s.renderer.stream != nil { // a text that is not finished
		s.renderer.put(s.renderer.pending()...)
	}
	var last []string
	for _, l := range s.renderer.takeFinished() {
		last = append(last, s.Theme.Render(l))
	}
	text := s.editor.Text()
	if text != "" && s.ended != nil {
		s.keep(text)
	}
	if text != "" && s.ended != nil || s.cleared {
		last = append(last, s.Theme.Render(styled.Of(styled.Dim, "what you were typing is in the history: Up brings it back")))
	}
	if again := s.Conversation.ResumeCommand(); again != "" {
		last = append(last, s.Theme.Render(styled.Of(styled.Dim, "to continue this session: "+again)))
	}
	s.painter.Frame(last, []string{""}, paint.Caret{})
	s.disableModes()
}

// enableModes turns on bracketed paste, focus events and kitty's keyboard protocol;
// disableModes turns them off.
func (s *screen) enableModes() {
	s.write("\x1b[?2004h\x1b[?1004h")
	if s.kitty {
		s.write("\x1b[>1u")
	}
}

func (s *screen) disableModes() {
	if s.kitty {
		s.write("\x1b[<u")
	}
	s.write("\x1b[?2004l\x1b[?1004l")
	if s.title != "" {
		s.write("\x1b]2;\x1b\\")
		s.title = ""
	}
}
