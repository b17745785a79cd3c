package tools

import (
	"context"
	"strings"
	"time"

	"github.com/pawl-agent/pawl/internal/core/plural"
	"github.com/pawl-agent/pawl/internal/core/shellsyntax"
	"github.com/pawl-agent/pawl/internal/core/took"
	"github.com/pawl-agent/pawl/internal/core/tool"
	"github.com/pawl-agent/pawl/internal/policy/gitconfig"
)

type gitStatusArgs struct{}

// GitStatus returns the tool that shows the branch and the changed files.
func GitStatus() tool.Tool {
	t := tool.New("git_status",
		"Show the git branch and the changed, staged and untracked files, in git's short form.",
		func(env tool.Env, _ gitStatusArgs) (tool.Footprint, error) { return gitFootprint(env, "") },
		func(ctx context.Context, env tool.Env, _ gitStatusArgs) (tool.Result, error) {
			ran, bad, err := git(ctx, env, true, "status", "--short", "--branch", "--untracked-files=normal", "--ignore-submodules=dirty")
			if bad != nil {
				return *bad, err
			}
			text := strings.TrimRight(ran.Output, "\n")
			n := strings.Count(text, "\n")
			if n == 0 {
				return tool.Result{Text: text + "\nnothing to commit, working tree clean", Note: "clean"}, nil
			}
			return tool.Result{Text: text, Gap: ran.Gap, Note: plural.Of(n, "change")}, nil
		})
	t.Facts = tool.Facts{Kind: tool.Read, Repeatable: true}
	t.ReadOnly = true
	t.Example = `{}`
	return t
}

// gitFootprint returns the footprint of git commands: the repository, and the files
// below path.
func gitFootprint(env tool.Env, path string) (tool.Footprint, error) {
	if env.Files == nil {
		return tool.Footprint{Reads: []tool.Span{{Path: ".", Dir: true}}}, nil
	}
	if path != "" {
		clean, err := gitPath(env, path)
		if err != nil {
			return tool.Footprint{}, err
		}
		path = clean
	}
	return folderSpan(env, path)
}

func gitPath(env tool.Env, path string) (string, error) {
	if env.Files == nil {
		return path, nil
	}
	clean, inside, err := env.Files.Resolve(path)
	if err != nil {
		return "", err
	}
	if !inside {
		return "", failf("%s is outside the workspace; use bash with git -C for another repository", path)
	}
	return clean, nil
}

// gitSettings are gitconfig.Settings, and settings for an output that is the same for
// everybody. They are passed in the environment, where names need no quoting.
func gitSettings() [][2]string {
	return append(gitconfig.Settings(), [][2]string{
		{"core.quotePath", "false"},
		{"diff.noprefix", "false"},
		{"diff.mnemonicPrefix", "false"},
		{"color.ui", "false"},
	}...)
}

// git runs a git command that only reads. Args are quoted here, since they may come from
// a model; the caller separates options from names. worktree means that the command reads
// file contents, which filters would change. If there is no usable output, bad is the
// result.
func git(ctx context.Context, env tool.Env, worktree bool, args ...string) (ran tool.Ran, bad *tool.Result, err error) {
	if env.Shell == nil {
		r := tool.Errorf("this session cannot run git")
		return ran, &r, nil
	}
	set := gitSettings()
	if worktree {
		more, _, bad, err := localPrograms(ctx, env, ".")
		switch {
		case err != nil:
			r, err := shellFailed(ctx, err)
			return ran, &r, err
		case bad != nil:
			return ran, bad, nil
		}
		set = append(set, more...)
	}
	vars := append([]string{"LC_ALL=C", "GIT_OPTIONAL_LOCKS=0", "GIT_NO_LAZY_FETCH=1", "GIT_LITERAL_PATHSPECS=1", "GIT_PAGER=cat"}, gitConfigEnv(set)...)
	line := "git --no-pager"
	for _, a := range args {
		line += " " + shellsyntax.Quote(a)
	}
	ran, err = env.Shell.Run(ctx, tool.Run{Command: line, Timeout: time.Minute, Env: vars, Apart: true})
	if err != nil {
		r, err := shellFailed(ctx, err)
		return ran, &r, err
	}
	if ran.Exit != nil && *ran.Exit == 0 {
		return ran, nil, nil
	}
	r := gitTrouble(ran)
	return ran, &r, nil
}

// gitTrouble returns a result that explains in one sentence why git failed.
func gitTrouble(ran tool.Ran) tool.Result {
	var r tool.Result
	switch {
	case ran.TimedOut:
		r = tool.Errorf("git was stopped after %s", took.Text(ran.Duration))
		r.Timeout = true
	case ran.Exit != nil && *ran.Exit == 127:
		r = tool.Errorf("git is not installed, or not on PATH")
	case strings.Contains(strings.ToLower(ran.Output), "not a git repository"):
		r = tool.Errorf("the workspace is not in a git repository")
	case strings.Contains(ran.Output, "dubious ownership"):
		r = tool.Errorf("git does not trust this repository, since it belongs to another user; the person can allow it with git config --global --add safe.directory")
	default:
		r = tool.Errorf("git failed: %s", strings.TrimSpace(ran.Output))
	}
	r.Exit = ran.Exit
	return r
}
