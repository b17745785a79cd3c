package slash

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"strings"

	"github.com/pawl-agent/pawl/internal/core/plural"
	"github.com/pawl-agent/pawl/internal/policy/undo"
)

func copyCommand() Command {
	return Command{
		Name: "copy", Anytime: true, Args: "[reply|code|command|output|diff] [N]", Doc: "copy the last reply or its code, the last command or its output, or the last turn's changes; N counts from the newest",
		Run: func(ctx context.Context, h Host, args string) error {
			what, n, err := parseCopy(args)
			if err != nil {
				return err
			}
			text := ""
			if what == "diff" {
				text, err = h.Session().View().Changes().Diff(ctx, undo.Selector{Kind: undo.ByTurn})
			} else {
				text, err = h.Newest(ctx, what, n)
			}
			if err != nil {
				return err
			}
			if text == "" {
				return fmt.Errorf("there is no %s to copy", what)
			}
			h.Do(Copy, text)
			fmt.Fprintf(h.Out(), "copied: %s, %s (in terminals that support OSC 52)\n", what, plural.Of(strings.Count(strings.TrimRight(text, "\n"), "\n")+1, "line"))
			return nil
		},
	}
}

// parseCopy parses the arguments of /copy.
func parseCopy(args string) (what string, n int, err error) {
	what, n = "reply", 1
	for i, word := range strings.Fields(args) {
		switch number, nerr := strconv.Atoi(word); {
		case nerr == nil && number >= 1:
			n = number
		case i == 0 && (word == "reply" || word == "code" || word == "command" || word == "output" || word == "diff"):
			what = word
		default:
			return "", 0, errors.New("/copy takes reply, code, command, output or diff, and a number from the newest, such as /copy code 2")
		}
	}
	if what == "diff" && n > 1 {
		return "", 0, errors.New("/copy diff copies the last turn's changes; /diff all shows all")
	}
	return what, n, nil
}
