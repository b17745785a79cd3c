package cli

import (
	"cmp"
	"context"
	"errors"
	"io"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"strings"
	"time"

	"github.com/pawl-agent/pawl/internal/adapter/settings"
	"github.com/pawl-agent/pawl/internal/adapter/workspace"
	"github.com/pawl-agent/pawl/internal/frontend/chat"
	"github.com/pawl-agent/pawl/internal/frontend/history"
	"github.com/pawl-agent/pawl/internal/frontend/plain"
	"github.com/pawl-agent/pawl/internal/frontend/setup"
	"github.com/pawl-agent/pawl/internal/frontend/slash"
	"github.com/pawl-agent/pawl/internal/frontend/styled"
	"github.com/pawl-agent/pawl/internal/frontend/tui"
	"github.com/pawl-agent/pawl/internal/frontend/tui/keys"
	"github.com/pawl-agent/pawl/internal/frontend/tui/tty"
)

// screenTerminal is a terminal for a screen, with the signals since before it was
// opened: none of them ends pawl directly, which would leave the terminal in the
// screen's state.
type screenTerminal struct {
	*tty.Terminal
	signals <-chan string
}

// screenOn opens the terminal for a screen. It returns nil if the conversation is line
// by line: a person chose that, or the terminal is too simple.
func (a *App) screenOn(f *flags, s settings.Screen) *screenTerminal {
	in, isIn := a.In.(*os.File)
	out, isOut := a.Out.(*os.File)
	if f.plain || s.Plain || !a.Terminal || !isIn || !isOut || !capable(a.Env("TERM")) {
		return nil
	}
	signals := a.Signals()
	t, err := tty.Open(in, out)
	if err != nil {
		return nil
	}
	if _, _, err := t.Size(); err != nil {
		return nil
	}
	if err := t.Start(); err != nil {
		t.Close()
		return nil
	}
	return &screenTerminal{t, signals}
}

// capable reports whether a terminal with this TERM can move its cursor.
func capable(term string) bool { return term != "" && term != "dumb" && term != "emacs" }

// recentEvents is how many events are shown of a session that is opened again: some
// 4,000 lines, as many as a terminal stores, shown in a tenth of a second.
const recentEvents = 4000

// onScreen runs a conversation on the screen.
func (a *App) onScreen(ctx context.Context, f *flags, fr setup.Frontend, first string, t *screenTerminal, conf settings.Loaded, paths settings.Paths) error {
	by, err := a.screenOf(ctx, f, a.chat(f, fr, true, conf, paths), first, t, conf, paths, func(*chat.Conversation) {})
	if err != nil {
		return err
	}
	return exitBy(by)
}

// screenOf shows a conversation until it ends, and returns the name of the signal that
// ended it. begun is called when the conversation has begun.
func (a *App) screenOf(ctx context.Context, f *flags, of chat.Config, first string, t *screenTerminal, conf settings.Loaded, paths settings.Paths, begun func(*chat.Conversation)) (by string, err error) {
	defer t.Close()
	dir, err := a.RealDir(f.Dir)
	if err != nil {
		return "", err
	}
	stored := filepath.Join(paths.State, "history")
	if f.NoSession {
		stored = ""
	}
	bindings, err := tui.Bind(conf.User.Screen.Keys)
	if err != nil {
		return "", usageError("%w", err)
	}
	past, entries, err := history.Open(stored)
	if err != nil {
		return "", err
	}
	ctx, stop := context.WithCancel(ctx)
	defer stop()
	events := make(chan any)
	in := &input{t: t.Terminal, events: events}
	in.read(ctx)
	resized := t.Resized(ctx) // before the size is read, so no change is missed
	go windowAndSignals(ctx, t, resized, events)
	width, height, err := t.Size()
	if err != nil {
		return "", err
	}
	of.Recent, of.CanPick = recentEvents, true
	talk := chat.Begin(ctx, of, slash.Want{})
	defer f.inside.end()
	begun(talk)
	exit, err := tui.Run(ctx, tui.Config{
		Conversation: talk, Out: sized{a.Out, t.Terminal}, Events: events, Width: width, Height: height, Probe: true,
		Theme: a.theme(conf.User.Screen), ThemeChosen: chosenTheme(a.Env, conf.User.Screen) != "", Rxvt: a.Env("VTE_VERSION") != "" || strings.HasPrefix(a.Env("TERM"), "rxvt") || strings.HasPrefix(a.Env("TERM"), "foot"),
		NoReflow: cuts(a.Env), Calm: conf.User.Screen.Calm || a.Env("PAWL_CALM") != "", Vi: conf.User.Screen.Vim, Keys: bindings,
		History: past, Past: entries, FirstPrompt: first,
		Folder: filepath.Base(dir), Dir: dir, Version: Version, Branch: func() string { return workspace.Branch(dir) }, Files: func(begin string) []string { return filesFrom(dir, begin) },
		Release: func(do func() error) error { return in.leave(ctx, do) }, Edit: a.editElsewhere,
		Dropped: func(pasted string) (*tui.Picture, error) { return a.dropped(dir, pasted) }, Clipboard: a.clipboard,
		Suspend: t.Suspend,
		Now:     a.Now, After: time.After,
	})
	closing(talk, exit.By)
	return exit.By, err
}

// sized is the terminal that the screen writes to.
type sized struct {
	io.Writer
	t *tty.Terminal
}

// WriteFor implements paint.Sized. A resize between the query and the write is not
// noticed: no terminal reports it.
func (w sized) WriteFor(width int, p []byte) (now int, err error) {
	now, _, err = w.t.Size()
	if err != nil || now <= 0 || now == width { // a terminal without a size accepts anything
		_, err = w.Write(p)
		return width, err
	}
	return now, nil
}

// closing closes the conversation. If a signal ended it, the wait is limited: stored
// events are safe.
func closing(talk *chat.Conversation, by string) {
	closed := make(chan struct{})
	go func() {
		defer close(closed)
		talk.Close()
	}()
	grace := time.Minute
	if by == "SIGINT" {
		grace = time.Second
	} else if by != "" {
		grace = 5 * time.Second
	}
	select {
	case <-closed:
	case <-time.After(grace):
	}
}

// input reads the terminal, and pauses while another program uses it.
type input struct {
	t      *tty.Terminal
	events chan any
	stop   context.CancelFunc
	done   chan struct{}
}

func (in *input) read(ctx context.Context) {
	ctx, in.stop = context.WithCancel(ctx)
	done := make(chan struct{})
	in.done = done
	go func() {
		defer close(done)
		err := keys.Read(ctx, in.t, in.events)
		if err == nil || errors.Is(err, tty.ErrCancelled) {
			return
		}
		select {
		case in.events <- tui.Signal{Name: "SIGHUP"}: // the terminal is closed
		case <-ctx.Done():
		}
	}()
}

// leave pauses the reading while do runs, so that do can use the terminal. The reader
// of the events calls it.
func (in *input) leave(ctx context.Context, do func() error) error {
	in.stop()
	in.t.Cancel()
	<-in.done
	err := in.t.Cooked()
	if err == nil {
		err = do()
	}
	if again := in.t.Start(); err == nil {
		err = again
	}
	in.read(ctx)
	if w, h, serr := in.t.Size(); serr == nil {
		go func() {
			select {
			case in.events <- tui.Resize{Width: w, Height: h}:
			case <-ctx.Done():
			}
		}()
	}
	return err
}

func windowAndSignals(ctx context.Context, t *screenTerminal, resized <-chan os.Signal, events chan<- any) {
	for {
		var e any
		select {
		case name := <-t.signals:
			e = tui.Signal{Name: name}
		case <-resized:
			w, h, err := t.Size()
			if err != nil {
				continue
			}
			e = tui.Resize{Width: w, Height: h}
		case <-ctx.Done():
			return
		}
		select {
		case events <- e:
		case <-ctx.Done():
			return
		}
	}
}

// theme returns the theme to use before the terminal reports its background.
func (a *App) theme(s settings.Screen) styled.Theme {
	t := styled.Dark
	switch plain.ThemeOf(a.Terminal, a.Env) {
	case plain.None:
		t = styled.Plain
	case plain.Light:
		t = styled.Light
	}
	for _, named := range styled.Themes() {
		if named.Name == chosenTheme(a.Env, s) {
			t = named
		}
	}
	t.Links = linked(a.Env)
	return t
}

// chosenTheme returns the name of the theme that the person chose, "" for none.
// NO_COLOR precedes the setting, since it applies to this terminal.
func chosenTheme(env func(string) string, s settings.Screen) string {
	if env("NO_COLOR") != "" {
		return env("PAWL_THEME")
	}
	return cmp.Or(env("PAWL_THEME"), s.Theme)
}

// linked reports whether the terminal is assumed to support links. Terminals that do
// not support them show only the text, except for some old ones, which are excluded
// here.
func linked(env func(string) string) bool {
	return env("TERM_PROGRAM") != "Apple_Terminal" && env("TERM") != "linux" && !strings.HasPrefix(env("TERM"), "screen")
}

// cuts reports whether the terminal cuts off rows that no longer fit.
func cuts(env func(string) string) bool {
	return env("XTERM_VERSION") != "" && env("TMUX") == "" || env("TERM") == "linux" || env("STY") != ""
}

// editElsewhere opens a text in the person's editor, and returns the edited text.
func (a *App) editElsewhere(text string) (string, error) {
	dir, err := os.MkdirTemp("", "pawl-")
	if err != nil {
		return "", err
	}
	defer os.RemoveAll(dir)
	file := filepath.Join(dir, "prompt.md")
	if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
		return "", err
	}
	sh, env, err := a.FindProgram("sh")
	if err != nil {
		return "", err
	}
	cmd := exec.Command(sh, "-c", cmp.Or(a.Env("VISUAL"), a.Env("EDITOR"), "vi")+` "$1"`, "sh", file)
	cmd.Stdin, cmd.Stdout, cmd.Stderr = a.In, a.Out, a.Err
	cmd.Dir, cmd.Env = dir, env // some editors obey files of the folder in which they start
	if err := cmd.Run(); err != nil {
		return "", err
	}
	out, err := os.ReadFile(file)
	return string(out), err
}

// completions is how many files are offered at most.
const completions = 100

// filesFrom returns the files and folders whose path begins with begin.
func filesFrom(dir, begin string) (out []string) {
	folder, name := path.Split(begin)
	at := filepath.Join(dir, folder)
	if filepath.IsAbs(folder) {
		at = folder
	}
	entries, err := os.ReadDir(at)
	if err != nil {
		return nil
	}
	for _, e := range entries {
		if n := e.Name(); strings.HasPrefix(n, name) && (name != "" || !strings.HasPrefix(n, ".")) && n != ".git" {
			if e.IsDir() {
				n += "/"
			}
			if out = append(out, folder+n); len(out) == completions {
				break
			}
		}
	}
	return out
}
