package cli

import (
	"fmt"
	"io"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"github.com/pawl-agent/pawl/internal/adapter/memory"
	"github.com/pawl-agent/pawl/internal/adapter/settings"
	"github.com/pawl-agent/pawl/internal/frontend/brief"
	"github.com/pawl-agent/pawl/internal/frontend/plain"
	"github.com/pawl-agent/pawl/internal/frontend/setup"
)

// memoryCommand shows and changes what is kept across sessions.
func memoryCommand(a *App) *cobra.Command {
	f := &flags{}
	everywhere := false
	c := &cobra.Command{
		Use: "memory", Short: "Show what is kept across sessions", Args: exactly(0),
		Long: `Show the preferences and notes that every session of this folder is told, by
number. They are text for the model; they cannot grant permissions.`,
		RunE: func(*cobra.Command, []string) error { return a.remember(f, a.Out, "", everywhere) },
	}
	c.PersistentFlags().StringVarP(&f.Dir, "dir", "C", "", "of this folder instead of the current one")
	add := &cobra.Command{
		Use: "add TEXT", Short: "Keep a preference", Args: atLeastOne,
		RunE: func(_ *cobra.Command, args []string) error {
			return a.remember(f, a.Out, "add "+strings.Join(args, " "), everywhere)
		},
	}
	add.Flags().BoolVar(&everywhere, "everywhere", false, "in every project, not in this one alone")
	c.AddCommand(add)
	for _, sub := range []struct{ use, short string }{
		{"forget N", "Forget an entry, by its number or its text"},
		{"turns", "List what the newest turns of this folder came to"},
		{"history", "List what was kept and forgotten"},
		{"clear-answers", "Forget all cached answers"},
	} {
		word, rest, _ := strings.Cut(sub.use, " ")
		n := cobra.PositionalArgs(atLeastOne)
		if rest == "" {
			n = exactly(0)
		}
		c.AddCommand(&cobra.Command{Use: sub.use, Short: sub.short, Args: n, RunE: func(_ *cobra.Command, args []string) error {
			return a.remember(f, a.Out, strings.TrimSpace(word+" "+strings.Join(args, " ")), false)
		}})
	}
	return c
}

// remember executes the words: the same for `pawl memory` and /memory.
func (a *App) remember(f *flags, out io.Writer, words string, everywhere bool) error {
	paths, err := settings.PathsFrom(a.Env)
	if err != nil {
		return err
	}
	dir, err := a.RealDir(f.Dir)
	if err != nil {
		return err
	}
	k := a.Memory(paths, dir, strings.Clone)
	say := func(format string, args ...any) { fmt.Fprintln(out, plain.Line(fmt.Sprintf(format, args...))) }
	verb, rest, _ := strings.Cut(strings.TrimSpace(words), " ")
	switch verb {
	case "":
		return showMemory(k, say)
	case "add":
		if err := k.Book.Keep(memory.Preference, rest, everywhere); err != nil {
			return usageError("%w", err)
		}
		say("kept: %s", strings.Join(strings.Fields(rest), " "))
	case "forget":
		return forgetMemory(k, strings.TrimSpace(rest), say)
	case "turns":
		ns, err := k.Turns.List()
		for _, n := range ns[max(0, len(ns)-50):] {
			say("%s  %-8s %-11s %3d calls, %d files, %s  %s", n.Time.Format("2006-01-02 15:04"), n.Route, n.End, n.Calls, n.Files, brief.Took(n.Took), n.Error)
		}
		return err
	case "history":
		es, err := k.Book.History()
		for _, e := range es {
			say("%s  %s %s", e.Time.Format("2006-01-02 15:04"), map[bool]string{true: "forgot", false: "kept  "}[e.Gone], e.Text)
		}
		return err
	case "clear-answers":
		n, err := k.Answers.Clear()
		say("%s forgotten", brief.Plural(n, "answer", "answers"))
		return err
	default:
		return usageError("memory: no %q; there are add TEXT, forget N, turns, history and clear-answers", verb)
	}
	return nil
}

// showMemory lists what is kept.
func showMemory(k *setup.Memory, say func(string, ...any)) error {
	es, err := k.Book.List()
	if err != nil {
		return err
	}
	for i, e := range es {
		where := ""
		if e.Dir == "" {
			where = " (everywhere)"
		}
		sort := e.Sort
		if sort == memory.Note {
			sort = "note"
		}
		say("%3d  %-10s %s%s", i+1, sort, e.Text, where)
	}
	if len(es) == 0 {
		say("nothing is kept; say \"always …\", or: pawl memory add TEXT")
	}
	if n, err := k.Answers.Len(); err == nil && n > 0 {
		say("cached: %s", brief.Plural(n, "answer", "answers"))
	}
	return nil
}

// forgetMemory forgets an entry, by its number or its text.
func forgetMemory(k *setup.Memory, what string, say func(string, ...any)) error {
	es, err := k.Book.List()
	if err != nil {
		return err
	}
	if n, err := strconv.Atoi(what); err == nil {
		if n < 1 || n > len(es) {
			return usageError("there is no entry %d; see: pawl memory", n)
		}
		what = es[n-1].Text
	}
	e, found, err := k.Book.Forget(what)
	switch {
	case err != nil:
		return err
	case !found:
		return usageError("nothing like %q is kept; see: pawl memory", what)
	}
	say("forgotten: %s", e.Text)
	return nil
}
