package tools

import (
	"context"
	"strings"
	"unicode"

	"github.com/pawl-agent/pawl/internal/core/plural"
	"github.com/pawl-agent/pawl/internal/core/tool"
)

type gitDiffArgs struct {
	Path   string `json:"path,omitempty" doc:"only this file or folder"`
	Rev    string `json:"rev,omitempty" doc:"a commit, or two as A..B; default the index"`
	Staged bool   `json:"staged,omitempty" doc:"what is staged"`
}

// GitDiff returns the tool that shows changes as a diff.
func GitDiff() tool.Tool {
	t := tool.New("git_diff",
		"Show changes as a unified diff: of the working tree, of what is staged, against a commit or between two. Untracked files are not in it.",
		func(env tool.Env, in gitDiffArgs) (tool.Footprint, error) { return gitFootprint(env, in.Path) },
		func(ctx context.Context, env tool.Env, in gitDiffArgs) (tool.Result, error) {
			args := []string{
				"diff", "--no-ext-diff", "--no-textconv", "--no-color", "--src-prefix=a/", "--dst-prefix=b/",
				"--ignore-submodules=dirty", "--submodule=short",
			}
			if in.Staged {
				args = append(args, "--cached")
			}
			if in.Rev != "" {
				if !plainRev(in.Rev) {
					return tool.Errorf("%q is not a revision: give a commit, branch or tag, or A..B", in.Rev), nil
				}
				args = append(args, in.Rev)
			}
			args = append(args, "--")
			if in.Path != "" {
				p, err := gitPath(env, in.Path)
				if err != nil {
					return failed(err)
				}
				args = append(args, p)
			}
			ran, bad, err := git(ctx, env, true, args...)
			if bad != nil {
				return *bad, err
			}
			text := strings.TrimRight(ran.Output, "\n")
			if text == "" {
				return tool.Result{Text: "no differences (untracked files are not compared; git_status lists them)", Note: "no differences"}, nil
			}
			return tool.Result{
				Text: text, Gap: ran.Gap,
				Note: plural.Of(strings.Count("\n"+text, "\ndiff --git "), "file"),
			}, nil
		})
	t.Facts = tool.Facts{Kind: tool.Read, Repeatable: true}
	t.ReadOnly = true
	t.Example = `{"path":"main.go","rev":"HEAD~1"}`
	return t
}

// plainRev returns false for texts that git could read as an option, or that are not
// valid in a revision.
func plainRev(rev string) bool {
	return len(rev) <= 300 && !strings.HasPrefix(rev, "-") && strings.IndexFunc(rev, func(r rune) bool {
		return unicode.IsControl(r) || unicode.IsSpace(r)
	}) < 0
}
