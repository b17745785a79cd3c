package slash

import (
	_ "embed"
	"strings"
)

//go:embed init.md
var initPrompt string

func initCommand() Command {
	return Command{Name: "init", Args: "[INSTRUCTIONS]", Doc: "ask the model to write AGENTS.md for this project, with the permissions of any prompt", Prompt: func(args string) string {
		text := strings.TrimSpace(initPrompt)
		if args != "" {
			text += "\n\nIn addition: " + args
		}
		return text
	}}
}
