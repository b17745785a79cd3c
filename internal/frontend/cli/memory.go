package cli

import (
	"fmt"
	"io"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"github.com/pawl-agent/pawl/internal/adapter/memory"
	"github.com/pawl-agent/pawl/internal/adapter/settings"
	"github.com/pawl-agent/pawl/internal/core/plural"
	"github.com/pawl-agent/pawl/internal/core/took"
	"github.com/pawl-agent/pawl/internal/frontend/plain"
	"github.com/pawl-agent/pawl/internal/frontend/setup"
)

// memoryCommand shows and changes what is stored across sessions.
func memoryCommand(a *App) *cobra.Command {
	f := &flags{}
	everywhere := false
	c := &cobra.Command{
		Use: "memory", Short: "List and change the preferences and notes for all sessions", Args: exactly(0),
		Long: `List the preferences and notes that the model gets in every session of this folder,
with their numbers. They are only text; they cannot grant permissions.`,
		RunE: func(*cobra.Command, []string) error { return a.remember(f, a.Out, "", everywhere) },
	}
	c.PersistentFlags().StringVarP(&f.Dir, "dir", "C", "", "use this folder instead of the current one")
	add := &cobra.Command{
		Use: "add TEXT", Short: "Add a preference", Args: atLeastOne,
		RunE: func(_ *cobra.Command, args []string) error {
			return a.remember(f, a.Out, "add "+strings.Join(args, " "), everywhere)
		},
	}
	add.Flags().BoolVar(&everywhere, "everywhere", false, "for all projects, not only this one")
	c.AddCommand(add)
	for _, sub := range []struct{ use, short string }{
		{"forget N", "Delete an entry, by its number or its text"},
		{"turns", "List the newest turns of this folder, and how they ended"},
		{"history", "List the entries that were added and deleted"},
		{"clear-answers", "Delete all cached answers"},
	} {
		word, rest, _ := strings.Cut(sub.use, " ")
		n := atLeastOne
		if rest == "" {
			n = exactly(0)
		}
		c.AddCommand(&cobra.Command{Use: sub.use, Short: sub.short, Args: n, RunE: func(_ *cobra.Command, args []string) error {
			return a.remember(f, a.Out, strings.TrimSpace(word+" "+strings.Join(args, " ")), false)
		}})
	}
	return c
}

// remember executes the words of `pawl memory` or of /memory.
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
		say("added: %s", strings.Join(strings.Fields(rest), " "))
	case "forget":
		return forgetMemory(k, strings.TrimSpace(rest), say)
	case "turns":
		ns, err := k.Turns.List()
		for _, n := range ns[max(0, len(ns)-50):] {
			say("%s  %-8s %-11s %s, %s, %s  %s", n.Time.Format("2006-01-02 15:04"), n.Route, n.End, plural.Of(n.Calls, "call"), plural.Of(n.Files, "file"), took.Text(n.Took), n.Error)
		}
		return err
	case "history":
		es, err := k.Book.History()
		for _, e := range es {
			say("%s  %s %s", e.Time.Format("2006-01-02 15:04"), map[bool]string{true: "deleted", false: "added  "}[e.Gone], e.Text)
		}
		return err
	case "clear-answers":
		n, err := k.Answers.Clear()
		say("%s deleted", plural.Of(n, "answer"))
		return err
	default:
		return usageError("unknown command memory %q: use add TEXT, forget N, turns, history or clear-answers", verb)
	}
	return nil
}

// showMemory lists what is stored.
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
		sort := e.Kind
		if sort == memory.Note {
			sort = "note"
		}
		say("%3d  %-10s %s%s", i+1, sort, e.Text, where)
	}
	if len(es) == 0 {
		say("no entries; to add one: pawl memory add TEXT, or begin a prompt with \"always …\"")
	}
	if n, err := k.Answers.Len(); err == nil && n > 0 {
		say("cached: %s", plural.Of(n, "answer"))
	}
	return nil
}

// forgetMemory deletes an entry, by its number or its text.
func forgetMemory(k *setup.Memory, what string, say func(string, ...any)) error {
	es, err := k.Book.List()
	if err != nil {
		return err
	}
	if n, err := strconv.Atoi(what); err == nil {
		if n < 1 || n > len(es) {
			return usageError("there is no entry %d; to list the entries: pawl memory", n)
		}
		what = es[n-1].Text
	}
	e, found, err := k.Book.Forget(what)
	switch {
	case err != nil:
		return err
	case !found:
		return usageError("no entry matches %q; to list the entries: pawl memory", what)
	}
	say("deleted: %s", e.Text)
	return nil
}
