package tools

import (
	"context"
	"fmt"
	"strings"

	"github.com/pawl-agent/pawl/internal/core/tool"
)

type todoArgs struct {
	Items []tool.Item `json:"items" doc:"the whole plan, in order"`
}

const (
	todoItems = 100
	todoText  = 500 // bytes of one item
)

// Todo returns the tool that stores the plan.
func Todo() tool.Tool {
	t := tool.New("todo",
		"Write down the plan of a task with several parts, and keep it current: the whole list each time, one item in_progress. Not for a task of one or two steps.",
		func(tool.Env, todoArgs) (tool.Footprint, error) { return tool.Footprint{}, nil },
		func(ctx context.Context, env tool.Env, in todoArgs) (tool.Result, error) {
			if env.Todo == nil {
				return tool.Errorf("this session keeps no plan"), nil
			}
			items, err := planOf(in.Items)
			if err != nil {
				return failed(err)
			}
			if err := env.Todo.Set(ctx, items); err != nil {
				return failed(err)
			}
			return planResult(items), nil
		})
	t.Facts = tool.Facts{Kind: tool.Note, Aliases: []string{"todoread", "todowrite", "updateplan", "writetodos"}, Hooks: []string{"TodoWrite"}}
	t.ReadOnly = true
	t.Example = `{"items":[{"text":"find the cause","status":"in_progress"},{"text":"fix it and run the tests","status":"pending"}]}`
	return t
}

// planOf checks a plan and returns it with each item on one line.
func planOf(in []tool.Item) ([]tool.Item, error) {
	if len(in) > todoItems {
		return nil, failf("a plan can have at most %d items, not %d: join some", len(in), todoItems)
	}
	out := make([]tool.Item, 0, len(in))
	active := 0
	for i, it := range in {
		it.Text = strings.Join(strings.Fields(it.Text), " ")
		switch it.Status {
		case "pending", "done":
		case "in_progress":
			active++
		default:
			return nil, failf("item %d has the status %q: it must be pending, in_progress or done", i+1, it.Status)
		}
		switch {
		case it.Text == "":
			return nil, failf("item %d has no text", i+1)
		case len(it.Text) > todoText:
			return nil, failf("item %d is %d bytes long, at most %d: shorten it", i+1, len(it.Text), todoText)
		}
		out = append(out, it)
	}
	if active > 1 {
		return nil, failf("%d items are in_progress: work on one at a time", active)
	}
	return out, nil
}

func planResult(items []tool.Item) tool.Result {
	if len(items) == 0 {
		return tool.Result{Text: "the plan is empty", Note: "plan emptied"}
	}
	var b strings.Builder
	done := 0
	for _, it := range items {
		mark := "[ ]"
		switch it.Status {
		case "done":
			mark = "[x]"
			done++
		case "in_progress":
			mark = "[>]"
		}
		fmt.Fprintf(&b, "%s %s\n", mark, it.Text)
	}
	return tool.Result{Text: strings.TrimRight(b.String(), "\n"), Note: fmt.Sprintf("%d of %d done", done, len(items))}
}
