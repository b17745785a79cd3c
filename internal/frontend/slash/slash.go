// Package slash contains the slash commands, one file each, for every frontend that a
// person types into. A command acts through Host and writes plain text; it draws
// nothing.
package slash

import (
	"context"
	"fmt"
	"io"
	"slices"
	"strings"
	"time"

	"github.com/pawl-agent/pawl/internal/adapter/settings"
	"github.com/pawl-agent/pawl/internal/core/editdistance"
	"github.com/pawl-agent/pawl/internal/core/event"
	"github.com/pawl-agent/pawl/internal/core/llm"
	"github.com/pawl-agent/pawl/internal/engine/session"
	"github.com/pawl-agent/pawl/internal/frontend/choice"
	"github.com/pawl-agent/pawl/internal/frontend/plain"
	"github.com/pawl-agent/pawl/internal/team/until"
)

// Want selects the session to open: the zero value is a new one.
type Want struct {
	Resume string // an id or a unique prefix of one
	Fork   bool   // continue in a copy
	At     int64  // the sequence number of the copy's last event; 0: all events
}

// Host is what a command may use of its conversation (implemented by
// chat.Conversation).
type Host interface {
	// Session returns the open session.
	Session() *session.Session
	// Switch closes the session and opens another one in its place.
	Switch(ctx context.Context, w Want) error
	// Sessions returns the sessions of this folder, newest first.
	Sessions(ctx context.Context) ([]event.Row, error)
	// About returns a session's branch, state, cost, model and mode, and its last prompt with
	// the reply.
	About(ctx context.Context, r event.Row) (about, last string)
	Now() time.Time
	// Models returns the models to pick from, by provider, the usable ones first. The ID of one
	// that cannot be used is empty.
	Models(ctx context.Context) []Item
	// Settings returns the settings of the person, and those of the folder.
	Settings() ([]settings.Setting, error)
	// Newest returns the n-th newest item of a kind (what) in the conversation: a
	// reply, a code block of a reply, a command, or the output of a command. It returns
	// "" if there are fewer.
	Newest(ctx context.Context, what string, n int) (string, error)
	// Pawl runs a subcommand of pawl in this folder, without input, and shows its
	// output with secrets masked.
	Pawl(ctx context.Context, args ...string) error
	// Custom returns the commands from files.
	Custom() []Custom
	// Rules returns the permission rules in effect.
	Rules() []string
	// Memory does what `pawl memory` does with these words.
	Memory(ctx context.Context, words string) error
	// Serve does what `pawl serve` does with these words, until the conversation ends.
	Serve(ctx context.Context, words string) error
	// Goal prepares a command that a turn must make succeed.
	Goal(command string) (*until.Goal, error)
	// Ask asks the person and waits for the answer, which may be empty: the key of an option,
	// or words if there are no options or one of them is typed.
	Ask(ctx context.Context, question string, options ...choice.Option) (string, error)
	// Pick lets the person pick one of these, and returns its ID; "" if they pick none. ok is
	// false where nobody can pick: then the command lists them.
	Pick(ctx context.Context, title string, items []Item) (id string, ok bool, err error)
	// Edit inserts a text into the person's input.
	Edit(text string)
	// Editor opens a text in the person's editor, and returns the saved text.
	Editor(ctx context.Context, text string) (string, error)
	// Do performs an act that only the frontend can perform.
	Do(a Act, text string)
	// Watch shows a text that grows, until the person leaves it.
	Watch(title string, live func() string)
	// Diff shows a diff, in colours if the frontend has them.
	Diff(text string)
	// Out returns the writer to the person; lines that are too long are broken.
	Out() io.Writer
	// Quit ends the conversation when the command has ended.
	Quit()
}

// Item is one of the things that a person may pick.
type Item struct {
	ID    string
	Group string // items of a group follow each other
	Text  string
	About string // after the text
	More  string // shown while it is selected
	Here  bool   // it is selected at first
	// Live, if set, returns what More is by now.
	Live func() string
}

// Act is an action that only a frontend can perform.
type Act string

// The acts, and the meaning of the text of each.
const (
	SetTheme   Act = "theme"  // the theme's name
	Copy       Act = "copy"   // the text for the clipboard
	ShowKeys   Act = "keys"   // nothing
	ShowStates Act = "states" // nothing: a view of the activity that stays up to date
	ShowLive   Act = "watch"  // the title of what grows
)

// Custom is a command that a person or a project defines in a file: a prompt.
type Custom struct {
	Name   string // without the slash
	Args   string
	Doc    string
	Skill  bool // it is a skill
	Prompt func(args string) string
	// Lines, if set, returns the command lines that run with the prompt.
	Lines func(args string) []string
	// Narrowed, if set, limits the tools of the turn; Model and Effort, if set, are those of
	// the turn. Bad is why the command must not be used.
	Narrowed      *event.Narrowed
	Model, Effort string
	Bad           error
	// Fetch, if set, is used instead of Prompt: an MCP server has the text.
	Fetch func(ctx context.Context, args string) (string, []llm.Media, error)
}

// FindCustom returns the custom command with exactly this name, unless pawl has a
// command with this name.
func FindCustom(all []Custom, name string) (Custom, bool) {
	if Builtin(name) {
		return Custom{}, false
	}
	for _, c := range all {
		if c.Name == name {
			return c, true
		}
	}
	return Custom{}, false
}

// Builtin reports whether pawl has a command with exactly this name.
func Builtin(name string) bool {
	return slices.ContainsFunc(All(), func(c Command) bool { return c.Name == name }) || name == "exit"
}

// Command is one slash command.
type Command struct {
	Name string // without the slash
	Args string // for the help, such as "[MODE]"
	Doc  string // one line
	Run  func(ctx context.Context, h Host, args string) error
	// Anytime: the command only shows something, or changes what applies from the next
	// call on, so it also runs while a question waits for its answer.
	Anytime bool
	// Prompt, if set, returns the text that the command sends; Run is then not set.
	Prompt func(args string) string
	// Meanwhile, if set, returns the operation to submit if the command is typed while
	// a turn runs; nil if the command must wait for the end of the turn.
	Meanwhile func(args string) session.Op
}

// group is the commands that concern one thing.
type group struct {
	name     string
	commands []Command
}

func groups() []group {
	return []group{
		{"model, rights and servers", []Command{help(), model(), mode(), permissions(), rules(), trustCommand(), sandboxCommand(), lspCommand(), mcpCommand(), hooksCommand()}},
		{"the work", []Command{status(), statesCommand(), plan(), todo(), phaseCommand(), untilCommand(), pause(), bashes(), agents(), swarmCommand(), btw(), why(), statistics(), cost(), budgetCommand()}},
		{"what the model knows", []Command{contextCommand(), compact(), memory(), skillsCommand(), initCommand(), review()}},
		{"changes", []Command{diff(), undoCommand(), redo(), rewind()}},
		{"sessions", []Command{resume(), fork(), clearCommand(), serveCommand(), export(), copyCommand()}},
		{"pawl", []Command{theme(), keys(), configCommand(), doctor(), quit()}},
	}
}

// All returns the commands, in the order of the help.
func All() (out []Command) {
	for _, g := range groups() {
		out = append(out, g.commands...)
	}
	return out
}

// Find returns the command with this name, or with this unique prefix.
func Find(name string) (Command, error) {
	switch name { // common guesses
	case "", "?", "h":
		name = "help"
	case "exit":
		name = "quit"
	case "todos":
		name = "todo"
	case "tasks", "jobs", "ps":
		name = "bashes"
	case "usage":
		name = "stats"
	case "settings":
		name = "config"
	}
	var fits []Command
	for _, c := range All() {
		if c.Name == name {
			return c, nil
		}
		if strings.HasPrefix(c.Name, name) {
			fits = append(fits, c)
		}
	}
	switch len(fits) {
	case 1:
		return fits[0], nil
	case 0:
		var names []string
		for _, c := range All() {
			names = append(names, c.Name)
		}
		if near := editdistance.Nearest(name, names); near != "" {
			return Command{}, fmt.Errorf("unknown command /%s, did you mean /%s? /help lists all", name, near)
		}
		return Command{}, fmt.Errorf("unknown command /%s; /help lists all", name)
	}
	var names []string
	for _, c := range fits {
		names = append(names, "/"+c.Name)
	}
	return Command{}, fmt.Errorf("/%s is ambiguous: it could be %s", name, strings.Join(names, " or "))
}

// pickOrList lets a person pick one of the items and returns its ID. Where nobody can pick, it
// lists them.
func pickOrList(ctx context.Context, h Host, title string, items []Item) (id string, err error) {
	id, ok, err := h.Pick(ctx, title, items)
	if ok {
		return id, err
	}
	group := ""
	for _, it := range items {
		if it.Group != group {
			group = it.Group
			fmt.Fprintln(h.Out(), plain.Line(group))
		}
		fmt.Fprintln(h.Out(), "  "+plain.Line(strings.TrimSpace(it.Text+"  "+it.About)))
		for l := range strings.Lines(it.More) {
			fmt.Fprintln(h.Out(), "    "+plain.Line(l))
		}
	}
	return "", nil
}

// noArguments returns an error if a command that accepts no arguments got some.
func noArguments(args string) error {
	if args != "" {
		return fmt.Errorf("it takes no arguments, but got %q", args)
	}
	return nil
}

// Parse splits a line into a command's name and its arguments. ok is false for a text
// that is not a command: a path such as /etc/hosts, or more than one line.
func Parse(line string) (name, args string, ok bool) {
	rest, ok := strings.CutPrefix(strings.TrimSpace(line), "/")
	if !ok || strings.Contains(rest, "\n") {
		return "", "", false
	}
	name = rest
	if i := strings.IndexAny(rest, " \t"); i >= 0 {
		name, args = rest[:i], strings.TrimSpace(rest[i:])
	}
	return name, args, !strings.Contains(name, "/")
}
