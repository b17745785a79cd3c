package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"github.com/pawl-agent/pawl/internal/adapter/settings"
	"github.com/pawl-agent/pawl/internal/core/event"
	"github.com/pawl-agent/pawl/internal/core/fault"
	"github.com/pawl-agent/pawl/internal/frontend/chat"
	"github.com/pawl-agent/pawl/internal/frontend/choice"
	"github.com/pawl-agent/pawl/internal/frontend/line"
	"github.com/pawl-agent/pawl/internal/frontend/plain"
	"github.com/pawl-agent/pawl/internal/frontend/setup"
	"github.com/pawl-agent/pawl/internal/frontend/slash"
	"github.com/pawl-agent/pawl/internal/policy/secrets"
	"github.com/pawl-agent/pawl/internal/team/until"
)

// converse runs a conversation in the terminal.
func (a *App) converse(ctx context.Context, f *flags, first string) error {
	if f.Resume == aPickedSession {
		f.Resume, f.pickSession = "", true
	}
	conf, paths, err := a.Settings()
	if err != nil {
		return err
	}
	leave, err := a.inWorktree(ctx, f)
	if err != nil {
		return err
	}
	defer leave()
	if t := a.screenOn(f, conf.User.Screen); t != nil {
		return a.onScreen(ctx, f, setup.Frontend{Name: "screen"}, first, t, conf, paths)
	}
	history := filepath.Join(paths.State, "history")
	if f.NoSession {
		history = ""
	}
	signals := a.Signals() // before the terminal is changed
	term, err := line.NewTerminal(os.Stdin, a.Out, history)
	if err != nil {
		return fault.NewConfiguration("without a terminal, use pawl run", "the terminal cannot be used: %v", err)
	}
	defer term.Close()
	cfg := a.chat(f, setup.Frontend{Name: "line"}, true, conf, paths)
	cfg.Recent = recentEvents
	defer f.inside.end()
	exit, err := line.Run(ctx, line.Config{
		Config: cfg,
		In:     term, Out: a.Out, Signals: signals, First: first,
		Theme: plain.ThemeOf(a.Terminal, a.Env), Columns: func() int { return columns(a.Out) },
	}, slash.Want{})
	if err != nil {
		return err
	}
	return exitBy(exit.By)
}

// confirmed asks a person a yes-or-no question.
func confirmed(ctx context.Context, person chat.Person, question string) (bool, error) {
	in, err := person.Ask(ctx, question, choice.YesNo()...)
	if err == nil && in == "" {
		err = setup.ErrLater
	}
	return in == "y", err
}

// chat returns the configuration of conversations for an interactive frontend. early
// reports whether questions can be asked before a session is open.
func (a *App) chat(f *flags, fr setup.Frontend, early bool, conf settings.Loaded, paths settings.Paths) chat.Config {
	f.inside = &inside{}
	var cur *setup.Opened
	open := func(ctx context.Context, w slash.Want, person chat.Person) (*chat.Opened, error) {
		if f.attached != nil {
			o, err := a.follow(ctx, f, person)
			if err != nil {
				return nil, err
			}
			cur = o
			return &chat.Opened{Session: o.Session, Close: o.Close, Notes: o.Warnings, Attached: &f.attached.Attached, ResumeCommand: "pawl attach " + o.ID()}, nil
		}
		if f.pickSession {
			f.pickSession = false
			id, err := a.pickSession(ctx, f, person)
			if err != nil {
				return nil, err
			}
			f.Resume, f.Fork = id, f.Fork && id != ""
		}
		g := *f
		if w.Resume != "" || cur != nil {
			g.Resume, g.Fork, g.ForkAt, g.Continue, g.Plan = w.Resume, w.Fork, w.At, false, ""
		}
		if cur != nil {
			g.Model = cur.View().Info().Ref() // /clear and /fork retain both
			g.Mode = ""
			if w.Resume == "" || w.Resume == cur.ID() {
				g.Mode = string(cur.View().Mode())
			}
		}
		fr := fr
		fr.Person = true
		if early {
			fr.ShowTrust = func(t *setup.Trust, whole bool) { showTrust(person.Out(), t, whole) }
			fr.Choose = func(ctx context.Context, refused error) (string, error) { return chooseLocal(ctx, a, person, refused) }
			fr.Confirm = func(question string) (bool, error) { return confirmed(ctx, person, question) }
		}
		first := isFirst(paths) && !fr.OwnFolder && early
		o, err := a.Open(ctx, &g.Options, fr)
		if err != nil {
			return nil, err
		}
		cur = o
		f.inside.here.Store(o.Session)
		var greeting []string
		if first {
			greeting = a.welcome(o.Trust.Dir, o.View().Mode())
		}
		again := "pawl --resume " + o.ID()
		if f.NoSession {
			again = ""
		}
		return &chat.Opened{Session: o.Session, Close: o.Close, Notes: o.Warnings, Welcome: greeting, Custom: o.Custom, ResumeCommand: again, StatusLine: o.StatusLine}, nil
	}
	return chat.Config{
		Open: open, Now: a.Now, IDs: f.terminalID(), Verbose: f.verbose,
		Sessions: func(ctx context.Context) ([]event.Row, error) {
			dir, err := a.RealDir(f.Dir)
			if err != nil {
				return nil, err
			}
			return allOwn(ctx, cur.Store, dir)
		},
		Models: func(ctx context.Context) []slash.Item { return modelItems(ctx, a) },
		Settings: func() ([]settings.Setting, error) {
			own, err := configFile(a)
			if err != nil {
				return nil, err
			}
			all, err := settings.Listed(own, settings.Config{Path: settings.Project(cur.Trust.Dir), Project: true}, a.Env)
			mask := secrets.New(a.Secrets()...).String
			for i := range all {
				all[i].Value, all[i].Instead = mask(all[i].Value), mask(all[i].Instead)
			}
			return all, err
		},
		About:  func(ctx context.Context, r event.Row) (string, string) { return inPicker(ctx, cur.Store, r) },
		Pawl:   func(ctx context.Context, out io.Writer, args ...string) error { return runInside(ctx, a, f, out, args) },
		Rules:  func() []string { return cur.View().Rules() },
		Memory: func(_ context.Context, out io.Writer, words string) error { return a.remember(f, out, words, false) },
		Serve:  func(_ context.Context, out io.Writer, words string) error { return f.inside.command(a, f, out, words) },
		Goal: func(command string) (*until.Goal, error) {
			return a.goal(f, goal{command: command, rounds: until.Rounds})
		},
	}
}

// pickSession lets a person pick a session of the folder; "" for a new one.
func (a *App) pickSession(ctx context.Context, f *flags, person chat.Person) (string, error) {
	dir, err := a.RealDir(f.Dir)
	if err != nil {
		return "", err
	}
	st, _, err := a.store(ctx)
	if errors.Is(err, errNoSessions) {
		return "", nil
	} else if err != nil {
		return "", err
	}
	defer st.Close()
	rows, err := allOwn(ctx, st, dir)
	if err != nil || len(rows) == 0 {
		return "", err
	}
	items := slash.SessionItems(rows, "", a.Now(), func(r event.Row) (string, string) { return inPicker(ctx, st, r) })
	id, ok, err := person.Pick(ctx, "sessions of this folder, Esc for a new one", items)
	if ok {
		return id, err
	}
	for i, it := range items[:min(len(items), 20)] {
		age, _, _ := strings.Cut(it.About, ", ")
		fmt.Fprintln(person.Out(), plain.Line(fmt.Sprintf("  %2d  %9s  %s", i+1, age, it.Text)))
	}
	answer, err := person.Ask(ctx, "which session? (a number, or Enter for a new one): ")
	if n, nerr := strconv.Atoi(strings.TrimSpace(answer)); nerr == nil && n >= 1 && n <= len(items) {
		return items[n-1].ID, err
	}
	return strings.TrimSpace(answer), err // perhaps an id
}

// runInside runs a subcommand within a conversation: without input, in the
// conversation's folder, with secrets masked in its output.
func runInside(ctx context.Context, a *App, f *flags, out io.Writer, args []string) error {
	dir, err := a.RealDir(f.Dir)
	if err != nil {
		return err
	}
	masked := &maskedLines{out: out, mask: secrets.New(a.Secrets()...).String}
	in := *a
	in.Dir, in.In, in.Out, in.Err, in.Terminal = dir, strings.NewReader(""), masked, masked, false
	root := in.root()
	root.SetIn(in.In)
	root.SetOut(masked)
	root.SetErr(masked)
	root.SetArgs(args)
	err = root.ExecuteContext(ctx)
	if merr := masked.end(); err == nil {
		err = merr
	}
	if e := (*exitError)(nil); errors.As(err, &e) && e.err == nil {
		return nil // its findings were printed
	}
	return err
}

// maskedLines masks whole lines: a secret may arrive in several writes.
type maskedLines struct {
	out  io.Writer
	mask func(string) string
	rest string
}

func (m *maskedLines) Write(p []byte) (int, error) {
	text := m.rest + string(p)
	at := strings.LastIndexByte(text, '\n') + 1
	m.rest = text[at:]
	if at == 0 {
		return len(p), nil
	}
	if _, err := io.WriteString(m.out, m.mask(text[:at])); err != nil {
		return 0, err
	}
	return len(p), nil
}

func (m *maskedLines) end() error {
	_, err := io.WriteString(m.out, m.mask(m.rest))
	m.rest = ""
	return err
}

// chooseLocal asks which model to use if none is configured: a recognised local server,
// or the built-in model. refused is why the last answer could not be used.
func chooseLocal(ctx context.Context, a *App, person chat.Person, refused error) (string, error) {
	out := person.Out()
	if refused != nil {
		fmt.Fprintf(out, "This model cannot be used here: %v\nFirst choose a model; then enter your prompt. Choose one of these, or press Enter to leave:\n", refused)
	} else {
		fmt.Fprintln(out, "No model is configured. Set ANTHROPIC_API_KEY, OPENAI_API_KEY, GEMINI_API_KEY or another key (see pawl models), or choose a model that needs no key:")
	}
	var refs []string
	for _, l := range a.Probe(ctx) {
		for _, m := range l.Models {
			refs = append(refs, l.Provider+"/"+m)
			fmt.Fprintf(out, "  %d. %s at %s, on this machine\n", len(refs), plain.Line(refs[len(refs)-1]), l.URL)
		}
	}
	refs = append(refs, "offline")
	fmt.Fprintf(out, "  %d. offline, the built-in planner (not a language model)\n", len(refs))
	answer, err := person.Ask(ctx, "model: ")
	if err != nil {
		return "", noModel()
	}
	if n, err := strconv.Atoi(strings.TrimSpace(answer)); err == nil && n >= 1 && n <= len(refs) {
		return refs[n-1], nil
	}
	if answer = strings.TrimSpace(answer); answer != "" {
		return answer, nil
	}
	return "", noModel()
}

func noModel() error {
	return fault.NewConfiguration("set ANTHROPIC_API_KEY, OPENAI_API_KEY, GEMINI_API_KEY or another key, or use -m offline", "no model is configured")
}
