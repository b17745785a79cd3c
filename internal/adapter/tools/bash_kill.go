package tools

import (
	"context"

	"github.com/pawl-agent/pawl/internal/core/tool"
)

type bashKillArgs struct {
	ID string `json:"id" doc:"as bash gave it"`
}

// BashKill returns the tool that ends a background command.
func BashKill() tool.Tool {
	t := tool.New("bash_kill",
		"End a background command with all its processes, and show its last output.",
		func(tool.Env, bashKillArgs) (tool.Footprint, error) { return tool.Footprint{}, nil },
		func(ctx context.Context, env tool.Env, in bashKillArgs) (tool.Result, error) {
			if env.Shell == nil {
				return tool.Errorf("this session cannot run commands"), nil
			}
			ran, err := env.Shell.Kill(ctx, in.ID)
			if err != nil {
				return shellFailed(ctx, err)
			}
			r := ranResult(ran, "", "it does not end")
			r.Error = ran.Signal == "" && ran.Exit == nil // killing it is the purpose of the call
			return r, nil
		})
	t.Facts = tool.Facts{Kind: tool.Exec, Aliases: []string{"killbash", "killshell"}, Hooks: []string{"KillShell", "KillBash"}}
	t.ReadOnly = true // it only ends commands that the session itself started
	t.Example = `{"id":"bg1"}`
	return t
}
