package session

import (
	"context"
	"encoding/json"
	"fmt"

	"github.com/pawl-agent/pawl/internal/core/event"
	"github.com/pawl-agent/pawl/internal/core/fault"
	"github.com/pawl-agent/pawl/internal/core/llm"
	"github.com/pawl-agent/pawl/internal/engine/turn"
)

// This file runs the command lines of a prompt (!`git status` in a file of commands). Each
// is a call of the turn that pawl makes by itself: it passes the same gates as the model's,
// so the turn's allowed-tools, the rules, the hooks and the sandbox hold for it. The prompt
// is recorded before, and what they print behind it: the model reads both.

// line is such a call, recorded as a command that the person had run.
type line struct{ command string }

func (l line) Started() []event.Draft { return nil }

func (l line) Done(r turn.Ran) []event.Draft {
	ran := event.PersonRan{Command: l.command, Output: r.Result.Text, Exit: r.Result.Exit, Checks: r.Result.Checks}
	if !r.Started {
		ran.Output = "[it did not run: " + r.Result.Text + "]"
	}
	return []event.Draft{{Body: ran}}
}

// maxLines is how many lines of one prompt run.
const maxLines = 20

// runLines runs the lines of a prompt. An error ends the turn.
func (s *Session) runLines(ctx context.Context, loop *turn.Loop, lines []string) error {
	if len(lines) == 0 {
		return nil
	}
	run, ok := s.cfg.Tools.Commands()
	if !ok || s.cfg.Shell == nil {
		return fault.NewConfiguration("", "this session cannot run the command lines of the prompt")
	}
	if len(lines) > maxLines {
		return fault.NewConfiguration("write a script that runs them", "the prompt has %d command lines, and at most %d run", len(lines), maxLines)
	}
	var calls []*turn.Pending
	for i, l := range lines {
		args, err := json.Marshal(map[string]any{"command": l, "description": "a line of the command that was entered"})
		if err != nil {
			return err
		}
		id := fmt.Sprintf("%s-line-%d", event.CheckCall, i+1) // no id of a model
		calls = append(calls, &turn.Pending{Call: llm.Call{ID: id, Name: run.Spec.Name, Args: args}, Args: args, Tool: run, Records: line{l}})
	}
	end, err := loop.Step(ctx, calls)
	if err == nil && end != "" {
		err = &fault.Error{Category: fault.Permission, Message: "a command line of the prompt was not allowed", Hint: "the prompt was not sent"}
	}
	return err
}
