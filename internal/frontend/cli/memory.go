package cli

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"io"
	"path/filepath"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"github.com/pawl-agent/pawl/internal/adapter/memory"
	"github.com/pawl-agent/pawl/internal/adapter/settings"
	"github.com/pawl-agent/pawl/internal/engine/answers"
	"github.com/pawl-agent/pawl/internal/engine/session"
	"github.com/pawl-agent/pawl/internal/frontend/brief"
	"github.com/pawl-agent/pawl/internal/frontend/plain"
)

// kept is what outlives the sessions of a project.
type kept struct {
	book    memory.Book
	nodes   *memory.Nodes
	answers memory.Answers
	told    string // rules and preferences at the session's beginning
	mask    func(string) string
}

func (a *App) kept(p settings.Paths, dir string, mask func(string) string) *kept {
	sum := sha256.Sum256([]byte(dir))
	name := hex.EncodeToString(sum[:8])
	return &kept{
		book:    memory.Book{Path: p.Notes(), Dir: dir, Now: a.Now},
		nodes:   &memory.Nodes{Path: filepath.Join(p.State, "turns", name+".jsonl")},
		answers: memory.Answers{Dir: filepath.Join(p.State, "answers"), Now: a.Now},
		mask:    mask,
	}
}

// standing returns the entries of the book. An unreadable book is reported and
// has no other effect on the session.
func (k *kept) standing() ([]memory.Entry, error) {
	es, err := k.book.List()
	for i := range es {
		es[i].Text = k.mask(es[i].Text)
	}
	return es, err
}

// start returns the part of the system prompt for memory.
func (k *kept) start() (string, []string) {
	es, err := k.standing()
	if err != nil {
		return "", []string{err.Error()}
	}
	return memory.Prompt(es), nil
}

// notes returns what changed since the conversation was told.
func (k *kept) notes(g session.Guidance) []string {
	es, err := k.standing()
	if err != nil {
		return nil // reported at the start
	}
	if n := memory.Changed(es, g.System, g.Notes); n != "" {
		return []string{n}
	}
	return nil
}

func (k *kept) question(text, model string) string {
	return memory.Question{Project: k.book.Dir, Model: model, Text: text, Told: k.told, Pawl: Version}.Key()
}

// prefer is session.Config.Prefer.
func (k *kept) prefer(text string) error { return k.book.Keep(memory.Preference, k.mask(text), false) }

// Remember implements tool.Notes.
func (k *kept) Remember(ctx context.Context, note string) error {
	return k.book.Remember(ctx, k.mask(note))
}

// Find implements answers.Store.
func (k *kept) Find(question, model string) (string, answers.Answered, bool) {
	key := k.question(question, model)
	a, ok := k.answers.Get(key)
	out := answers.Answered{Text: a.Text, Given: a.Time}
	for _, l := range a.Calls {
		out.Calls = append(out.Calls, answers.CachedCall(l))
	}
	return key, out, ok
}

// Keep implements answers.Store.
func (k *kept) Keep(question, model string, a answers.Answered) error {
	ans := memory.Answer{Time: a.Given, Text: a.Text}
	for _, l := range a.Calls {
		ans.Calls = append(ans.Calls, memory.Call(l))
	}
	return k.answers.Put(k.question(question, model), ans)
}

// Drop implements answers.Store.
func (k *kept) Drop(key string) error { return k.answers.Drop(key) }

// memoryCommand shows and changes what is kept across sessions.
func (a *App) memoryCommand() *cobra.Command {
	f := &flags{}
	everywhere := false
	c := &cobra.Command{
		Use: "memory", Short: "Show what is kept across sessions", Args: exactly(0),
		Long: `Show the preferences and notes that every session of this folder is told, by
number. They are text for the model; they cannot grant permissions.`,
		RunE: func(*cobra.Command, []string) error { return a.remember(f, a.Out, "", everywhere) },
	}
	c.PersistentFlags().StringVarP(&f.dir, "dir", "C", "", "of this folder instead of the current one")
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
	dir, err := a.realDir(f)
	if err != nil {
		return err
	}
	k := a.kept(paths, dir, strings.Clone)
	say := func(format string, args ...any) { fmt.Fprintln(out, plain.Line(fmt.Sprintf(format, args...))) }
	verb, rest, _ := strings.Cut(strings.TrimSpace(words), " ")
	switch verb {
	case "":
		return k.show(say)
	case "add":
		if err := k.book.Keep(memory.Preference, rest, everywhere); err != nil {
			return usageError("%w", err)
		}
		say("kept: %s", strings.Join(strings.Fields(rest), " "))
	case "forget":
		return k.forget(strings.TrimSpace(rest), say)
	case "turns":
		ns, err := k.nodes.List()
		for _, n := range ns[max(0, len(ns)-50):] {
			say("%s  %-8s %-11s %3d calls, %d files, %s  %s", n.Time.Format("2006-01-02 15:04"), n.Route, n.End, n.Calls, n.Files, brief.Took(n.Took), n.Error)
		}
		return err
	case "history":
		es, err := k.book.History()
		for _, e := range es {
			say("%s  %s %s", e.Time.Format("2006-01-02 15:04"), map[bool]string{true: "forgot", false: "kept  "}[e.Gone], e.Text)
		}
		return err
	case "clear-answers":
		n, err := k.answers.Clear()
		say("%s forgotten", brief.Plural(n, "answer", "answers"))
		return err
	default:
		return usageError("memory: no %q; there are add TEXT, forget N, turns, history and clear-answers", verb)
	}
	return nil
}

func (k *kept) show(say func(string, ...any)) error {
	es, err := k.book.List()
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
	if n, err := k.answers.Len(); err == nil && n > 0 {
		say("cached: %s", brief.Plural(n, "answer", "answers"))
	}
	return nil
}

func (k *kept) forget(what string, say func(string, ...any)) error {
	es, err := k.book.List()
	if err != nil {
		return err
	}
	if n, err := strconv.Atoi(what); err == nil {
		if n < 1 || n > len(es) {
			return usageError("there is no entry %d; see: pawl memory", n)
		}
		what = es[n-1].Text
	}
	e, found, err := k.book.Forget(what)
	switch {
	case err != nil:
		return err
	case !found:
		return usageError("nothing like %q is kept; see: pawl memory", what)
	}
	say("forgotten: %s", e.Text)
	return nil
}

// ruled joins what rules and memory add to a conversation.
func ruled(b *rulebook, k *kept) func(context.Context, session.Guidance) []string {
	return func(ctx context.Context, g session.Guidance) []string {
		return append(b.notes(ctx, g), k.notes(g)...)
	}
}

var _ answers.Store = (*kept)(nil)

// remembered adds what the model knows of the project and the person, and where
// its notes are stored.
func (s *assembly) remembered(conf *session.Config) {
	conf.Rules, conf.Notes, conf.Prefer, conf.Answers = s.t.rules, s.t.notes, s.t.prefer, s.t.answers
}
