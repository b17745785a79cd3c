package tools

import (
	"context"
	"slices"
	"time"

	"github.com/pawl-agent/pawl/internal/core/process"
	"github.com/pawl-agent/pawl/internal/core/tool"
)

type bashOutputArgs struct {
	ID   string `json:"id" doc:"as bash gave it"`
	Wait int    `json:"wait,omitempty" doc:"return as soon as there is something new, at most after so many seconds; up to 600"`
}

// BashOutput returns the tool that shows what a background command printed since the last
// call.
func BashOutput() tool.Tool {
	t := tool.New("bash_output",
		"Show what a background command has printed since the last look, and how it ended.",
		func(tool.Env, bashOutputArgs) (tool.Footprint, error) { return tool.Footprint{}, nil },
		func(ctx context.Context, env tool.Env, in bashOutputArgs) (tool.Result, error) {
			if env.Shell == nil {
				return tool.Errorf("this session cannot run commands"), nil
			}
			wait := min(max(time.Duration(in.Wait)*time.Second, 0), bashTimeout)
			ran, err := env.Shell.Output(ctx, in.ID, wait)
			if err != nil {
				return shellFailed(ctx, err)
			}
			running := "still running"
			if ran.Output == "" {
				running = "still running, nothing new"
			}
			r := ranResult(ran, "", running)
			if r.Last == running { // what its output does not complain of is told at its end
				ran.Nameless, ran.ReadOnly = false, false
				ran.Refused = slices.DeleteFunc(slices.Clone(ran.Refused), func(x process.Refusal) bool { return !complains(ran.Output, x) })
			}
			return withRefused(env, r, ran, nil), nil
		})
	t.Facts = tool.Facts{Kind: tool.Wait, Aliases: []string{"taskoutput"}, Hooks: []string{"BashOutput"}}
	t.ReadOnly = true
	t.Timeout = shellLimit
	t.Example = `{"id":"bg1","wait":30}`
	return t
}
