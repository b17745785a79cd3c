package slash

import (
	_ "embed"
	"strings"
)

//go:embed init.md
var initPrompt string

func initCommand() Command {
	return Command{Name: "init", Args: "[WHAT TO MIND]", Doc: "have the model write AGENTS.md for this project, with permissions as for any prompt", Prompt: func(args string) string {
		text := strings.TrimSpace(initPrompt)
		if args != "" {
			text += "\n\nIn addition: " + args
		}
		return text
	}}
}
