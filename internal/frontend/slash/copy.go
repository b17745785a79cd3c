package slash

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"strings"

	"github.com/pawl-agent/pawl/internal/core/event"
	"github.com/pawl-agent/pawl/internal/frontend/brief"
	"github.com/pawl-agent/pawl/internal/policy/undo"
)

func copyCommand() Command {
	return Command{
		Name: "copy", Anytime: true, Args: "[reply|code|command|output|diff] [N]", Doc: "copy the last reply, or its code, the last command, its output, the turn's changes; N counts from the newest",
		Run: func(ctx context.Context, h Host, args string) error {
			what, n, err := parseCopy(args)
			if err != nil {
				return err
			}
			text := ""
			if what == "diff" {
				text, err = h.Session().View().Changes().Diff(ctx, undo.What{Kind: undo.ByTurn})
			} else {
				var found newest
				if err = eachEvent(ctx, h, found.apply); err == nil {
					text = found.text(what, n)
				}
			}
			if err != nil {
				return err
			}
			if text == "" {
				return fmt.Errorf("there is no such %s to copy", what)
			}
			h.Do(Copy, text)
			fmt.Fprintf(h.Out(), "copied: %s, %s; a terminal that knows OSC 52 has it on the clipboard\n", what, brief.Plural(strings.Count(strings.TrimRight(text, "\n"), "\n")+1, "line", "lines"))
			return nil
		},
	}
}

// parseCopy reads the arguments of /copy.
func parseCopy(args string) (what string, n int, err error) {
	what, n = "reply", 1
	for i, word := range strings.Fields(args) {
		switch number, nerr := strconv.Atoi(word); {
		case nerr == nil && number >= 1:
			n = number
		case i == 0 && (word == "reply" || word == "code" || word == "command" || word == "output" || word == "diff"):
			what = word
		default:
			return "", 0, errors.New("/copy takes reply, code, command, output or diff, and which from the newest, such as /copy code 2")
		}
	}
	if what == "diff" && n > 1 {
		return "", 0, errors.New("/copy diff copies the last turn's changes; /diff all shows all")
	}
	return what, n, nil
}

// newest keeps what may be copied, oldest first.
type newest struct{ replies, code, commands, outputs []string }

func (w *newest) apply(e event.Event) {
	switch b := e.Body.(type) {
	case event.Replied:
		w.reply(b.Reply.Message.Text())
	case event.Recalled:
		w.reply(b.Text)
	case event.AsideAnswered:
		w.reply(b.Text)
	case event.CallDone:
		if b.Command != "" {
			w.commands, w.outputs = append(w.commands, b.Command), append(w.outputs, b.Result.Text)
		}
	case event.PersonRan:
		w.commands, w.outputs = append(w.commands, b.Command), append(w.outputs, b.Output)
	}
}

func (w *newest) reply(text string) {
	if strings.TrimSpace(text) != "" {
		w.replies = append(w.replies, strings.TrimSpace(text)+"\n")
		w.code = append(w.code, fenced(text)...)
	}
}

func (w *newest) text(what string, n int) string {
	of := map[string][]string{"reply": w.replies, "code": w.code, "command": w.commands, "output": w.outputs}[what]
	if n > len(of) {
		return ""
	}
	return of[len(of)-n]
}

// fenced returns the code blocks of a text, without their fences.
func fenced(text string) (out []string) {
	var b strings.Builder
	fence := ""
	for l := range strings.Lines(text) {
		t := strings.TrimLeft(l, " ")
		mark := t[:len(t)-len(strings.TrimLeft(t, "`"))]
		if tilde := t[:len(t)-len(strings.TrimLeft(t, "~"))]; len(tilde) > len(mark) {
			mark = tilde
		}
		switch {
		case fence == "" && len(mark) >= 3:
			fence = mark
			b.Reset()
		case fence != "" && strings.HasPrefix(mark, fence) && strings.TrimSpace(t[len(mark):]) == "":
			out, fence = append(out, b.String()), ""
		case fence != "":
			b.WriteString(l)
		}
	}
	if fence != "" && b.Len() > 0 { // a reply that ends within it
		out = append(out, b.String())
	}
	return out
}
