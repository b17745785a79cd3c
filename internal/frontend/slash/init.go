package slash

import (
	"context"
	_ "embed"
	"strings"

	"github.com/pawl-agent/pawl/internal/engine/session"
)

//go:embed init.md
var initPrompt string

func initCommand() Command {
	return Command{Name: "init", Args: "[WHAT TO MIND]", Doc: "have the model write AGENTS.md for this project, with permissions as for any prompt", Run: func(ctx context.Context, h Host, args string) error {
		return prompt(ctx, h, initPrompt, args)
	}}
}

// prompt submits a prompt of pawl's with what the person added to it.
func prompt(ctx context.Context, h Host, text, more string) error {
	text = strings.TrimSpace(text)
	if more != "" {
		text += "\n\nIn addition: " + more
	}
	_, err := h.Session().Submit(ctx, session.Prompt{Text: text})
	return err
}
