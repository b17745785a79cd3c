package cli

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"github.com/pawl-agent/pawl/internal/core/event"
	"github.com/pawl-agent/pawl/internal/core/fault"
	"github.com/pawl-agent/pawl/internal/frontend/line"
	"github.com/pawl-agent/pawl/internal/frontend/plain"
	"github.com/pawl-agent/pawl/internal/frontend/slash"
)

// converse holds a conversation in the terminal.
func (a *App) converse(ctx context.Context, f *flags, first string) error {
	conf, paths, err := a.settings()
	if err != nil {
		return err
	}
	history := filepath.Join(paths.State, "history")
	if f.noSession {
		history = ""
	}
	term, err := line.NewTerminal(os.Stdin, a.Out, history)
	if err != nil {
		return fault.NewConfiguration("use pawl run without a terminal", "the terminal cannot be used: %v", err)
	}
	defer term.Close()
	var cur *opened
	open := func(ctx context.Context, w slash.Want) (*line.Opened, error) {
		g := *f
		if w.Resume != "" || cur != nil {
			g.resume, g.fork, g.forkAt, g.continueLast, g.plan = w.Resume, w.Fork, w.At, false, ""
		}
		if cur != nil {
			g.model = cur.Info().Ref() // /clear and /fork change neither
			g.mode = ""
			if w.Resume == "" || w.Resume == cur.ID() {
				g.mode = string(cur.Mode())
			}
		}
		o, err := a.open(ctx, &g, front{
			name: "line", person: true,
			choose: func(ctx context.Context) (string, error) { return a.chooseLocal(ctx, term) },
			confirm: func(question string) (bool, error) {
				answer, err := term.Answer(question)
				return answeredYes(answer), err
			},
		})
		if err != nil {
			return nil, err
		}
		cur = o
		again := "pawl --resume " + o.ID()
		if f.noSession {
			again = ""
		}
		return &line.Opened{Session: o.Session, Close: o.close, Notes: o.warnings, Again: again}, nil
	}
	exit, err := line.Run(ctx, line.Config{
		In: term, Out: a.Out, Open: open, Signals: a.Signals(), Now: a.Now,
		Theme: plain.ThemeOf(a.Terminal, a.Env), First: first, Columns: func() int { return columns(a.Out) },
		Sessions: func(ctx context.Context) ([]event.Row, error) {
			dir, err := a.realDir(f)
			if err != nil {
				return nil, err
			}
			return cur.store.Sessions(ctx, dir)
		},
		About:  func(ctx context.Context, r event.Row) string { return a.about(ctx, cur.store, r) },
		Models: func(ctx context.Context) error { return a.models(ctx, conf) },
		Rules:  func() []string { return cur.Rules() },
		Memory: func(_ context.Context, words string) error { return a.remember(f, a.Out, words, false) },
		RuleFiles: func(ctx context.Context) error {
			dir, err := a.realDir(f)
			if err != nil {
				return err
			}
			return a.rulebook(dir, paths, strings.Clone).list(ctx, a.Out, a.Out, false, nil)
		},
	}, slash.Want{})
	if err != nil {
		return err
	}
	codes := map[string]int{"SIGINT": 130, "SIGTERM": 143, "SIGHUP": 129}
	if code := codes[exit.By]; code != 0 {
		return &exitError{code: code}
	}
	return nil
}

// chooseLocal asks which model to use where nothing says so: the local servers
// that are recognised by their answer, and the built-in one.
func (a *App) chooseLocal(ctx context.Context, in line.Input) (string, error) {
	out := wrapped(a.Out, true)
	fmt.Fprintln(out, "No model is configured. Set ANTHROPIC_API_KEY, OPENAI_API_KEY, GEMINI_API_KEY or another (see pawl models), or choose one that needs no key:")
	var refs []string
	for _, l := range a.probe(ctx) {
		for _, m := range l.Models {
			refs = append(refs, l.Provider+"/"+m)
			fmt.Fprintf(out, "  %d. %s at %s, on this machine\n", len(refs), plain.Line(refs[len(refs)-1]), l.URL)
		}
	}
	refs = append(refs, "offline")
	fmt.Fprintf(out, "  %d. offline, the built-in planner without weights\n", len(refs))
	answer, err := in.Answer("which? ")
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
	return fault.NewConfiguration("set ANTHROPIC_API_KEY, OPENAI_API_KEY, GEMINI_API_KEY or another, or give -m offline", "no model is configured")
}
