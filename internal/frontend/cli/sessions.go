package cli

import (
	"bufio"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/pawl-agent/pawl/internal/adapter/settings"
	"github.com/pawl-agent/pawl/internal/adapter/store/sqlite"
	"github.com/pawl-agent/pawl/internal/core/cut"
	"github.com/pawl-agent/pawl/internal/core/event"
	"github.com/pawl-agent/pawl/internal/core/plural"
	"github.com/pawl-agent/pawl/internal/engine/eventlog"
	"github.com/pawl-agent/pawl/internal/frontend/brief"
	"github.com/pawl-agent/pawl/internal/frontend/plain"
	"github.com/pawl-agent/pawl/internal/frontend/setup"
	"github.com/pawl-agent/pawl/internal/frontend/transcript"
	"github.com/pawl-agent/pawl/internal/policy/stats"
)

func sessionsCommand(a *App) *cobra.Command {
	c := &cobra.Command{
		Use: "sessions", Short: "List, search, show, export, import, prune and delete sessions",
		Args: noSubcommand,
		RunE: func(c *cobra.Command, _ []string) error {
			return listSessions(c.Context(), a, "", shownSessions, false)
		},
	}
	var all, asJSON bool
	var limit int
	list := &cobra.Command{
		Use: "list", Short: "List the sessions of this folder, newest first", Args: exactly(0),
		RunE: func(c *cobra.Command, _ []string) error {
			dir, err := a.RealDir("")
			if err != nil {
				return err
			}
			if all {
				dir = ""
			}
			return listSessions(c.Context(), a, dir, limit, asJSON)
		},
	}
	list.Flags().BoolVarP(&all, "all", "a", false, "use the sessions of all folders")
	list.Flags().IntVarP(&limit, "limit", "n", shownSessions, "list at most this many; 0 lists all")
	list.Flags().BoolVar(&asJSON, "json", false, "print as JSON")
	show := &cobra.Command{
		Use: "show [ID]", Short: "Print a session as text (default: the newest of this folder)", Args: atMostOne,
		RunE: func(c *cobra.Command, args []string) error {
			return eachEvent(c.Context(), a, args, transcript.Text(a.Out))
		},
	}
	sure := false
	del := &cobra.Command{
		Use: "delete ID", Short: "Delete a whole session", Args: exactly(1),
		Long: `Delete a whole session, with the data that undo needs. It asks for confirmation
first, except with --yes. It does not delete a session that is open in another pawl.`,
		RunE: func(c *cobra.Command, args []string) error { return deleteSession(c.Context(), a, args[0], sure) },
	}
	del.Flags().BoolVarP(&sure, "yes", "y", false, "do not ask for confirmation")
	c.AddCommand(list, searchCommand(a), show, exportCommand(a), importCommand(a), pruneCommand(a), del)
	return c
}

// errNoSessions is returned if no store exists yet.
var errNoSessions = errors.New("there are no sessions yet")

// store opens the log of sessions for reading. It does not create one; the error is
// then errNoSessions.
func (a *App) store(ctx context.Context) (event.Store, settings.Paths, error) {
	paths, err := settings.PathsFrom(a.Env)
	if err != nil {
		return nil, paths, err
	}
	if _, err := os.Stat(paths.Database()); errors.Is(err, fs.ErrNotExist) {
		return nil, paths, usageError("%w (%s does not exist)", errNoSessions, paths.Database())
	}
	st, err := sqlite.Open(ctx, paths.Database(), sqlite.Options{Now: a.Now})
	return st, paths, err
}

// shownSessions is how many sessions are listed by default: their costs are read from
// their events.
const shownSessions = 30

func listSessions(ctx context.Context, a *App, dir string, limit int, asJSON bool) error {
	st, _, err := a.store(ctx)
	if err != nil {
		return err
	}
	defer st.Close()
	listed, shown, more := []event.Row{}, 0, 0
	for r, err := range st.Newest(ctx, dir) {
		if err != nil {
			return err
		}
		if limit > 0 && shown == limit {
			all, err := st.Count(ctx, dir)
			if err != nil {
				return err
			}
			more = all - limit
			break
		}
		shown++
		if err := withAgents(ctx, st, r, dir, 0, func(r event.Row, depth int) {
			if asJSON {
				listed = append(listed, r)
			} else {
				listSession(ctx, a, st, r, depth, dir == "")
			}
		}); err != nil {
			return err
		}
	}
	switch {
	case asJSON:
		return printJSON(a.Out, listed)
	case shown == 0:
		fmt.Fprintln(a.Out, "no sessions in this folder; to list all: pawl sessions list --all")
	case more > 0:
		fmt.Fprintf(a.Out, "and %s; pawl sessions list --limit 0 lists all\n", plural.Of(more, "older session"))
	}
	return nil
}

// withAgents shows a session and then the sessions of its agents in the folder dir; ""
// means any folder.
func withAgents(ctx context.Context, st event.Store, r event.Row, dir string, depth int, show func(event.Row, int)) error {
	show(r, depth)
	agents, err := st.Agents(ctx, r.ID)
	for _, c := range agents {
		if dir == "" || c.Dir == dir {
			err = errors.Join(err, withAgents(ctx, st, c, dir, depth+1, show))
		}
	}
	return err
}

func listSession(ctx context.Context, a *App, st event.Store, r event.Row, depth int, withDir bool) {
	in, title := strings.Repeat("    ", depth), r.Title
	if r.Parent != nil {
		title = "agent " + r.Parent.Agent + ": " + title
	}
	line := fmt.Sprintf("%s  %9s  %s", r.ID, brief.Age(a.Now().Sub(r.Updated)), title)
	if withDir && depth == 0 {
		line += "  (" + r.Dir + ")"
	}
	fmt.Fprintln(a.Out, in+plain.Line(line))
	about, with, _ := aboutSession(ctx, st, r)
	fmt.Fprintln(a.Out, in+"    "+plain.Line(about+", "+with))
}

// allOwn returns all that OwnSessions yields.
func allOwn(ctx context.Context, st event.Store, dir string) (rows []event.Row, err error) {
	for r, err := range setup.OwnSessions(ctx, st, dir) {
		if err != nil {
			return nil, err
		}
		rows = append(rows, r)
	}
	return rows, nil
}

// aboutSession describes a session in its row: its branch, how it ended, its cost. With
// room for more, also its model and mode and its length, and its last prompt and what was
// answered.
func aboutSession(ctx context.Context, st event.Store, r event.Row) (about, with, last string) {
	fresh := func() *gist {
		if r.Origin != nil {
			return &gist{shared: r.Origin.At}
		}
		return &gist{}
	}
	f := fresh()
	broken := eventlog.Fold(ctx, st, r.ID, eventlog.Snapshots{
		Name: "gist", Program: setup.BuildID(Version), Every: 80, Kinds: gistKinds(), Fresh: func() []event.Fold { return []event.Fold{fresh()} },
	}, f)
	cost := ""
	switch w := f.count.Report().All; {
	case broken != nil:
		cost = "damaged: " + broken.Error()
	case w.Unknown > 0 && w.Unknown == w.Replies:
		cost = "cost unknown"
	case w.Unknown > 0:
		cost = "at least " + brief.Cost(&w.USD)
	default:
		cost = brief.Cost(&w.USD)
	}
	front := ""
	if f.front == "headless" || f.front == "import" {
		front = f.front
	}
	joined := func(parts ...string) string {
		return strings.Join(slices.DeleteFunc(parts, func(s string) bool { return s == "" }), ", ")
	}
	with = joined(r.Model, "mode "+f.mode, plural.Of(int(r.Events), "event"))
	return joined(f.branch, f.state, cost, front), with, strings.TrimSpace("> " + f.prompt + "\n" + f.reply)
}

// inPicker describes a session in a row that is short, and what a picker shows below the rows.
func inPicker(ctx context.Context, st event.Store, r event.Row) (about, more string) {
	about, with, last := aboutSession(ctx, st, r)
	return about, last + "\n" + with
}

// gist is what a list shows of a session, folded from its events.
type gist struct {
	mode, front, branch string
	state               string // how its last turn ended
	prompt, reply       string // the last ones, cut
	shared              int64  // the last event that a fork shares
	count               stats.Fold
}

// previewRunes is how much of a prompt and of a reply a list shows.
const previewRunes = 300

// gistKinds are the kinds of the events that change what a list shows.
func gistKinds() []string {
	return append(stats.SpendingKinds(), event.Opened{}.Kind(), event.Resumed{}.Kind(), event.ModeSet{}.Kind(), event.Prompted{}.Kind(), event.Ended{}.Kind())
}

func (g *gist) Apply(e event.Event) {
	switch b := e.Body.(type) {
	case event.Opened:
		g.mode, g.front, g.branch = b.Mode, b.Front, b.Branch
	case event.Resumed:
		g.mode, g.branch = b.Mode, b.Branch
	case event.Prompted:
		if g.state = "not finished"; b.Source == event.Person {
			g.prompt, g.reply = cut.Runes(plain.Line(cmp.Or(b.Typed, b.Text)), previewRunes), ""
		}
	case event.Replied:
		if text := b.Reply.Message.Text(); text != "" {
			g.reply = cut.Runes(plain.Line(text), previewRunes)
		}
	case event.Ended:
		g.state = string(b.End)
	case event.ModeSet:
		g.mode = b.Mode
	}
	if e.Seq > g.shared { // shared events of a fork were paid for once
		g.count.Apply(e)
	}
}

// eachEvent calls show for each event of a session. Of a damaged log, the readable
// events are shown before the error is returned.
func eachEvent(ctx context.Context, a *App, args []string, show func(event.Event) error) error {
	st, _, row, err := a.stored(ctx, "", args...)
	if err != nil {
		return err
	}
	defer st.Close()
	return passEvents(ctx, st, row.ID, show)
}

func passEvents(ctx context.Context, st event.Store, id string, show func(event.Event) error) error {
	for e, err := range st.Read(ctx, id, 0) {
		if err != nil {
			return err
		}
		if err := show(e); err != nil {
			return err
		}
	}
	return nil
}

func deleteSession(ctx context.Context, a *App, id string, sure bool) error {
	st, paths, row, err := a.stored(ctx, "", id)
	if err != nil {
		return err
	}
	defer st.Close()
	if !sure {
		fmt.Fprintln(a.Out, plain.Line(fmt.Sprintf("%s  %s  %s", row.ID, row.Updated.Local().Format("2006-01-02 15:04"), row.Title)))
	}
	if ok, err := a.mayDelete(1, sure); !ok {
		return err
	}
	if err := removeSession(ctx, st, paths, row); err != nil {
		return err
	}
	fmt.Fprintln(a.Out, plain.Line(fmt.Sprintf("deleted session %s (%s)", row.ID, row.Title)))
	return nil
}

// mayDelete asks whether to delete n sessions, unless sure is set.
func (a *App) mayDelete(n int, sure bool) (bool, error) {
	if sure {
		return true, nil
	}
	if !a.Terminal {
		return false, usageError("nothing was deleted: without a terminal, pawl cannot ask for confirmation; to delete without it: --yes")
	}
	fmt.Fprintf(a.Out, "permanently delete %s? [y]es, [n]o: ", plural.Of(n, "session"))
	answer, _ := bufio.NewReader(a.In).ReadString('\n') // the end of input means no
	if answeredYes(answer) {
		return true, nil
	}
	fmt.Fprintln(a.Out, "nothing was deleted")
	return false, nil
}
