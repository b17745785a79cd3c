package slash

import (
	"context"
	"fmt"
	"os"
	"slices"
	"strings"
	"unicode"

	"github.com/pawl-agent/pawl/internal/core/editdistance"
	"github.com/pawl-agent/pawl/internal/core/fault"
	"github.com/pawl-agent/pawl/internal/core/lazyregexp"
	"github.com/pawl-agent/pawl/internal/engine/session"
)

// This file handles commands in the prompts of scripts and programs, which have no
// conversation.

// NoCommand is the error for a prompt that names a command but cannot be sent.
type NoCommand struct{ why string }

func (e *NoCommand) Error() string { return e.why }

// A slash followed by anything else is not a command: a path, a comment, a sentence.
var commandName = lazyregexp.New(`^[A-Za-z0-9][A-Za-z0-9_.:-]*$`)

// Cut returns the name and the arguments of a text that looks like a command. The
// arguments may have several lines.
func Cut(text string) (name, args string, ok bool) {
	rest, ok := strings.CutPrefix(strings.TrimSpace(text), "/")
	if !ok {
		return "", "", false
	}
	name = rest
	if i := strings.IndexFunc(rest, unicode.IsSpace); i >= 0 {
		name, args = rest[:i], strings.TrimSpace(rest[i:])
	}
	return name, args, commandName().MatchString(name)
}

// Sends returns the prompt that the command stands for.
func (c Custom) Sends(args string) session.Prompt {
	p := session.Prompt{Text: c.Prompt(args), Narrowed: c.Narrowed, Model: c.Model, Effort: c.Effort}
	if c.Lines != nil {
		p.Lines = c.Lines(args)
	}
	return p
}

// Called returns the custom command that a text calls, and its arguments.
func Called(all []Custom, text string) (c Custom, args string, ok bool) {
	name, args, ok := Cut(text)
	if ok {
		c, ok = FindCustom(all, name)
	}
	return c, args, ok
}

// Callable returns the commands that a script or a program may call: the custom ones,
// and pawl's own commands that are prompts.
func Callable(custom []Custom) (out []Custom) {
	for _, c := range All() {
		if c.Prompt != nil {
			out = append(out, Custom{Name: c.Name, Args: c.Args, Doc: c.Doc, Prompt: c.Prompt})
		}
	}
	for _, c := range custom {
		if !Builtin(c.Name) {
			out = append(out, c)
		}
	}
	return out
}

// Sent returns the error that Expand would return for a prompt, as far as this is known
// before the session is open.
func Sent(custom []Custom, text string) error {
	name, args, ok := Cut(text)
	if !ok || OfServer(name) {
		return nil
	}
	if c, ok := FindCustom(custom, name); ok && c.Bad == nil {
		return nil
	}
	_, err := Expand(context.Background(), nil, custom, session.Prompt{Text: "/" + name + " " + args})
	return err
}

// Expand expands the prompt of a script or a program as a conversation does, if it
// calls a command from a file, a skill, a prompt of an MCP server or one of pawl's
// commands that are prompts. Other prompts are returned unchanged. An error is a
// *NoCommand, or why the command cannot be used.
func Expand(ctx context.Context, s *session.Session, custom []Custom, p session.Prompt) (session.Prompt, error) {
	name, args, ok := Cut(p.Text)
	if !ok {
		return p, nil
	}
	c, ok := FindCustom(custom, name)
	if !ok {
		c, ok = served(ctx, s, name)
	}
	switch {
	case !ok:
		return builtin(p, custom, name, args)
	case c.Bad != nil:
		return p, fault.NewConfiguration("", "%v", c.Bad)
	case c.Fetch == nil:
		sent := c.Sends(args)
		p.Text, p.Lines, p.Narrowed, p.Model, p.Effort = sent.Text, sent.Lines, sent.Narrowed, sent.Model, sent.Effort
		return p, nil
	}
	text, images, err := c.Fetch(ctx, args)
	p.Text, p.Images = text, slices.Concat(p.Images, images)
	return p, err
}

// served returns an MCP server's prompt with this name. It starts the server if its
// prompts are not known yet.
func served(ctx context.Context, s *session.Session, name string) (Custom, bool) {
	if !OfServer(name) {
		return Custom{}, false
	}
	if c, ok := FindCustom(Prompts(s), name); ok {
		return c, true
	}
	Learn(ctx, s)
	return FindCustom(Prompts(s), name)
}

func builtin(p session.Prompt, custom []Custom, name, args string) (session.Prompt, error) {
	var names []string
	for _, c := range All() {
		switch {
		case c.Name != name:
			if c.Prompt != nil {
				names = append(names, c.Name)
			}
		case c.Prompt != nil:
			p.Text = c.Prompt(args)
			return p, nil
		default:
			return p, &NoCommand{fmt.Sprintf("/%s works only in a conversation: open the session with pawl --continue, and enter it there", name)}
		}
	}
	if OfServer(name) {
		return p, &NoCommand{fmt.Sprintf("unknown prompt /%s of an MCP server; pawl mcp test lists all", name)}
	}
	if _, err := os.Lstat("/" + name); err == nil { // a sentence about a path, such as /tmp
		return p, nil
	}
	for _, c := range custom {
		names = append(names, c.Name)
	}
	why := fmt.Sprintf("unknown command /%s", name)
	if near := editdistance.Nearest(name, names); near != "" {
		why += ", did you mean /" + near + "?"
	} else {
		why += ": it is not a file in .pawl/commands, .agents/commands or .claude/commands, and not a skill."
	}
	return p, &NoCommand{why + " To send it as a prompt, begin it with another word"}
}
