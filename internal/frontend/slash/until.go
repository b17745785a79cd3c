package slash

import (
	"context"
	"errors"
	"strings"

	"github.com/pawl-agent/pawl/internal/engine/session"
	"github.com/pawl-agent/pawl/internal/team/until"
)

func untilCommand() Command {
	return Command{Name: "until", Args: "COMMAND | 'COMMAND' PROMPT", Doc: "work until COMMAND passes, such as /until 'go test ./...' fix the parser", Run: func(ctx context.Context, h Host, args string) error {
		command, prompt, err := parseUntil(args)
		if err != nil {
			return err
		}
		goal, err := h.Goal(command)
		if err != nil {
			return err
		}
		if prompt == "" {
			prompt = until.Prompt(goal.Command)
		}
		_, err = h.Session().Submit(ctx, session.Prompt{Text: prompt, Until: goal})
		return err
	}}
}

// parseUntil separates the command from the prompt after it: a quoted command ends with
// its closing quote; without quotes, all of the text is the command.
func parseUntil(args string) (command, prompt string, err error) {
	args = strings.TrimSpace(args)
	if args == "" {
		return "", "", errors.New("a command is missing: write one, such as /until go test")
	}
	if quote := args[:1]; quote == "'" || quote == `"` {
		in, behind, closed := strings.Cut(args[1:], quote)
		switch {
		case !closed:
			return "", "", errors.New("the closing quotation mark is missing")
		case behind == "" || behind[0] == ' ':
			return strings.TrimSpace(in), strings.TrimSpace(behind), nil
		}
	}
	return args, "", nil
}
