package tools

import (
	"context"
	"fmt"
	"strings"

	"github.com/pawl-agent/pawl/internal/core/plural"
	"github.com/pawl-agent/pawl/internal/core/tool"
)

type gitLogArgs struct {
	Path  string `json:"path,omitempty" doc:"only of this file or folder"`
	Count int    `json:"count,omitempty" doc:"how many; default 20, at most 200"`
}

func GitLog() tool.Tool {
	t := tool.New("git_log",
		"List the latest git commits, newest first: hash, date, author, subject.",
		func(env tool.Env, in gitLogArgs) (tool.Footprint, error) { return gitFootprint(env, in.Path) },
		func(ctx context.Context, env tool.Env, in gitLogArgs) (tool.Result, error) {
			n := in.Count
			if n <= 0 {
				n = 20
			}
			args := []string{"log", fmt.Sprintf("--max-count=%d", min(n, 200)), "--no-color", "--no-show-signature", "--decorate=short", "--date=iso-strict", "--format=%h %ad %an%d %s"}
			if in.Path != "" {
				p, err := gitPath(env, in.Path)
				if err != nil {
					return failed(err)
				}
				args = append(args, "--", p)
			}
			ran, bad, err := git(ctx, env, false, args...)
			if bad != nil {
				if strings.Contains(ran.Output, "does not have any commits yet") {
					return tool.Result{Text: "no commits yet", Note: "no commits"}, nil
				}
				return *bad, err
			}
			text := strings.TrimRight(ran.Output, "\n")
			if text == "" {
				return tool.Result{Text: "no commits touch " + in.Path, Note: "no commits"}, nil
			}
			return tool.Result{Text: text, Gap: ran.Gap, Note: plural.Of(strings.Count(text, "\n")+1, "commit")}, nil
		})
	t.Facts = tool.Facts{Kind: tool.Read, Repeatable: true}
	t.ReadOnly = true
	t.Example = `{"path":"internal/server","count":10}`
	return t
}
