package swarm

import (
	"cmp"
	"fmt"
	"strings"

	"github.com/pawl-agent/pawl/internal/policy/budget"
)

// WorkerLimits are the limits of one worker on one task; 0 is the default (SPEC 14.3).
func WorkerLimits(tokens int64, steps int) budget.Limits {
	return budget.Limits{Tokens: cmp.Or(tokens, 300_000), Steps: cmp.Or(steps, 50)}
}

// Same is how many identical calls in a row end a worker's task. Kept is how many of
// its calls are compared.
const (
	Same = 3
	Kept = 20
)

// Repeats counts identical calls of one worker in a row. The zero value is ready.
type Repeats struct{ keys []string }

// Apply adds a call, and reports whether it is at least the Same-th identical one in a
// row.
func (r *Repeats) Apply(key string) bool {
	if len(r.keys) == Kept {
		r.keys = append(r.keys[:0], r.keys[1:]...)
	}
	r.keys = append(r.keys, key)
	n := 0
	for i := len(r.keys) - 1; i >= 0 && r.keys[i] == key; i-- {
		n++
	}
	return n >= Same
}

// preamble is the beginning of every worker's first prompt. It is the same for all
// tasks of all swarms, so that a provider's cache serves all workers. What differs
// comes after it (SPEC 14.4).
const preamble = `You are one of several workers. Each works on one task of a larger goal, in a copy of the project of its own.
- Do your task and nothing else: what others do is merged with yours, and each line changed without need is a conflict.
- The acceptance checks at the end of this message decide whether your result is taken. Run them before you finish.
- What you cannot do, say in your last message: what is missing, and what you found out.

`

// Texts in a prompt that ReadPrompt searches for.
const (
	taskHead   = "# Your task: "
	acceptHead = "\n\nAcceptance checks:\n"
)

// Prompt returns a worker's prompt: the same beginning for all workers, then lessons
// and references, and the goal last.
func Prompt(s *Schedule, l *Lessons, t TaskProgress) string {
	var b strings.Builder
	b.WriteString(preamble)
	if s.Goal != "" {
		fmt.Fprintf(&b, "# The goal of all\n%s\n\n", strings.TrimSpace(s.Goal))
	}
	if g := l.Guidance(); g != "" {
		fmt.Fprintf(&b, "# What failed for the workers so far\n%s\n", g)
	}
	if refs := l.Search(t.Goal, maxTold); len(refs) > 0 {
		b.WriteString("# What other workers found\n")
		for _, r := range refs {
			fmt.Fprintf(&b, "- %s: %s\n", r.Value, r.Note)
		}
		b.WriteByte('\n')
	}
	if n := len(t.Failed); n > 0 {
		last := t.Failed[n-1]
		fmt.Fprintf(&b, "# An earlier try of your task\nIt ended as %s", last.Outcome)
		if last.Error != "" {
			fmt.Fprintf(&b, ": \"%s\"", Line(last.Error))
		}
		b.WriteString("\n")
		for _, c := range last.Checks {
			if !c.Passed() {
				fmt.Fprintf(&b, "`%s` did not succeed:\n%s\n", Line(c.Command), block(c.Output))
			}
		}
		b.WriteByte('\n')
	}
	if len(t.Messages) > 0 {
		b.WriteString("# What the person who runs the swarm told workers of your task\n")
		for _, m := range t.Messages {
			b.WriteString(block(m) + "\n\n")
		}
	}
	fmt.Fprintf(&b, taskHead+"%s\n%s"+acceptHead, cmp.Or(t.Title, t.ID), strings.TrimSpace(t.Goal))
	for _, line := range t.Accept {
		fmt.Fprintf(&b, "- `%s`\n", line)
	}
	return b.String()
}

// TaskPrompt is the task that ReadPrompt finds in a worker's prompt.
type TaskPrompt struct {
	Goal   string
	Accept []string
}

// ReadPrompt extracts the task from a prompt of Prompt, for a model that is a program.
// Lessons and references are not part of it: the task comes last, and text before it
// cannot be mistaken for it.
func ReadPrompt(text string) (t TaskPrompt, ok bool) {
	if !strings.HasPrefix(text, preamble) {
		return t, false
	}
	_, task, ok := cutLast(text, "\n"+taskHead)
	if !ok {
		return t, false
	}
	_, task, _ = strings.Cut(task, "\n")
	goal, lines, ok := cutLast(task, acceptHead)
	if !ok {
		return t, false
	}
	lines = strings.TrimSuffix(strings.TrimPrefix(strings.TrimRight(lines, "\n"), "- `"), "`")
	return TaskPrompt{Goal: goal, Accept: strings.Split(lines, "`\n- `")}, true
}

func cutLast(s, sep string) (before, after string, found bool) {
	i := strings.LastIndex(s, sep)
	if i < 0 {
		return s, "", false
	}
	return s[:i], s[i+len(sep):], true
}

// maxDiff is how much of a change the task that merges it is shown, in bytes.
const maxDiff = 48 << 10

// conflictGoal is the goal of a task that merges a result by hand. It holds the change
// itself: a worker on another machine has no other way to it.
func conflictGoal(of TaskProgress, files []string, diff string) string {
	var b strings.Builder
	fmt.Fprintf(&b, "The result of task %s conflicts with what was merged since it began.\n", of.ID)
	b.WriteString("Your tree is the merged one. Bring the change below into it, so that both intentions hold.\n")
	if len(files) > 0 {
		fmt.Fprintf(&b, "Files in conflict: %s\n", Line(strings.Join(files, ", ")))
	}
	fmt.Fprintf(&b, "\nWhat that task was to do:\n%s\n", strings.TrimSpace(of.Goal))
	cut := ""
	if len(diff) > maxDiff {
		diff = strings.ToValidUTF8(diff[:maxDiff], "")
		diff = diff[:strings.LastIndexByte(diff, '\n')+1]
		cut = "The rest of the change is too long for this message: do it anew from what the task was to do.\n"
	}
	fmt.Fprintf(&b, "\nIts change:\n%s%s", diff, cut)
	return b.String()
}
