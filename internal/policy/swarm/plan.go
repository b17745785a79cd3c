package swarm

import (
	"errors"
	"fmt"
	"strings"
)

// planHead begins the prompt that asks for a graph.
const planHead = `Cut a piece of work into tasks for several workers. Each works on its own task at the same time as the others, in a copy of the project of its own, and knows nothing but its task; what they do is merged.

Look at the project first. Then end with the graph as YAML in one block between ` + "```yaml and ```" + `, with these fields:
- goal: what the tasks achieve together.
- tasks: a list. Each task has
  - id: letters, digits, - and _, unique;
  - goal: the whole task, with the files that it is about and what must hold in the end;
  - accept: command lines that succeed when it is done and fail before, such as ["go test ./store"]; at least one;
  - after: ids of the tasks whose results it builds on, where there are any;
  - size: how much work it is beside the others, 1 to 1000, where they differ.
- verify: command lines that the merged whole must pass.
Tasks that may run at once must not change the same lines. Where one has to come first, as the declaration that others build on, let those wait for it. Do not cut further than the work itself does: a single task is a good graph for work that is one.

# The work
`

// PlanPrompt returns the prompt that asks a model for the graph of a piece of work.
func PlanPrompt(work string) string { return planHead + strings.TrimSpace(work) + "\n" }

// ReadPlanPrompt extracts the work from a prompt of PlanPrompt, for a model that is a
// program.
func ReadPlanPrompt(text string) (work string, ok bool) {
	work, ok = strings.CutPrefix(text, planHead)
	return strings.TrimSpace(work), ok
}

// RetryPrompt returns the prompt that tells a model why its graph cannot be run.
func RetryPrompt(why error) string {
	return fmt.Sprintf("The graph cannot be run:\n%v\n\nGive the whole graph again, in one block between ```yaml and ```.", why)
}

// GraphIn returns the graph's text in a reply: its last fenced block.
func GraphIn(reply string) (string, error) {
	var last []string
	var open []string
	fence := ""
	for line := range strings.Lines(reply) {
		mark := strings.TrimSpace(line)
		switch {
		case fence == "" && strings.HasPrefix(mark, "```"):
			fence, open = mark[:len(mark)-len(strings.TrimLeft(mark, "`"))], []string{}
		case fence != "" && mark == fence:
			fence, last = "", open
		case fence != "":
			open = append(open, line)
		}
	}
	if last == nil {
		return "", errors.New("the reply has no block between ```yaml and ```")
	}
	return strings.Join(last, ""), nil
}
