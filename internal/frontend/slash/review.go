package slash

import (
	_ "embed"
	"fmt"
	"strings"
)

//go:embed review.md
var reviewPrompt string

func review() Command {
	return Command{Name: "review", Args: "[BRANCH | COMMIT | FILE …]", Doc: "ask the model to review changes without changing files: the uncommitted ones, or the named ones", Prompt: func(args string) string {
		what := "what is not committed yet (git status, git diff, git diff --staged, and new files)"
		if args != "" {
			what = args + " (a branch: against where it left the main branch; a commit: against its parent; a file: its uncommitted changes)"
		}
		return fmt.Sprintf(strings.TrimSpace(reviewPrompt), what)
	}}
}
