package slash

import (
	"context"
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/pawl-agent/pawl/internal/engine/session"
	"github.com/pawl-agent/pawl/internal/frontend/brief"
)

func phaseCommand() Command {
	return Command{
		Name: "phase", Args: "[[N] TEXT [--expect 20m] | next | done | failed]", Doc: "list the phases of the task, start one, or end the open one",
		Run: func(ctx context.Context, h Host, args string) error {
			op, list, err := parsePhase(args)
			if err != nil {
				return err
			}
			if !list {
				if _, err := h.Session().Submit(ctx, op); err != nil {
					return err
				}
			}
			lines := brief.PhaseList(h.Session().View().Phases())
			if len(lines) == 0 {
				lines = []string{"no phases yet; to start one: /phase TEXT (the model's plan and --plan FILE also have phases)"}
			}
			_, err = fmt.Fprintln(h.Out(), strings.Join(lines, "\n"))
			return err
		},
		Meanwhile: func(args string) session.Op {
			op, list, err := parsePhase(args)
			if list || err != nil {
				return nil
			}
			return op
		},
	}
}

// parsePhase parses the arguments of /phase. list is true if the phases are only to be
// listed.
func parsePhase(args string) (op session.Phase, list bool, err error) {
	fields := strings.Fields(args)
	switch {
	case len(fields) == 0:
		return op, true, nil
	case len(fields) == 1 && (fields[0] == "done" || fields[0] == "failed"):
		return session.Phase{Close: true, Failed: fields[0] == "failed"}, false, nil
	}
	var text []string
	for i := 0; i < len(fields); i++ {
		value, ok := strings.CutPrefix(fields[i], "--expect")
		switch {
		case ok && value == "" && i+1 < len(fields):
			i++
			value = fields[i]
		case ok && strings.HasPrefix(value, "="):
			value = value[1:]
		case ok:
			return op, false, fmt.Errorf("a duration is missing: write one, such as --expect 20m")
		default:
			text = append(text, fields[i])
			continue
		}
		if op.Expected, err = time.ParseDuration(value); err != nil || op.Expected <= 0 {
			return op, false, fmt.Errorf("--expect %s is not a duration: use one such as 20m or 1h30m", value)
		}
	}
	if len(text) > 0 {
		if n, err := strconv.Atoi(strings.TrimSuffix(text[0], ":")); err == nil {
			if n < 1 {
				return op, false, fmt.Errorf("there is no phase %d: phases count from 1", n)
			}
			op.Number, text = n, text[1:]
		}
	}
	if len(text) == 1 && text[0] == "next" && op.Number == 0 {
		text = nil
	}
	op.Text = strings.Join(text, " ")
	return op, false, nil
}
