package tools

import (
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/pawl-agent/pawl/internal/core/shellsyntax"
	"github.com/pawl-agent/pawl/internal/core/tool"
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
			return tool.Result{Text: text, Gap: ran.Gap, Note: plural(n, "change")}, nil
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

// gitPath returns a path in the form for git.
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

// gitSettings override what a repository's own configuration could make git run: hooks,
// fsmonitor, external diff, signature programs (SPEC 16.6). They are passed in the
// environment, where names need no quoting.
func gitSettings() [][2]string {
	return [][2]string{
		{"core.hooksPath", "/dev/null"},
		{"core.fsmonitor", "false"},
		{"core.quotePath", "false"},
		{"diff.external", ""},
		{"diff.noprefix", "false"},
		{"diff.mnemonicPrefix", "false"},
		{"status.submoduleSummary", "false"},
		{"log.showSignature", "false"},
		{"color.ui", "false"},
		{"gc.auto", "0"},
	}
}

// gitFilters is the maximum number of filters that a repository may define.
const gitFilters = 100

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
		names, bad, err := localFilters(ctx, env)
		if bad != nil {
			return ran, bad, err
		}
		for _, n := range names {
			set = append(set, [2]string{n + ".clean", ""}, [2]string{n + ".smudge", ""}, [2]string{n + ".process", ""}, [2]string{n + ".required", "false"})
		}
	}
	return gitRun(ctx, env, set, "", args...)
}

// gitRun runs git with settings; tail is shell text after the arguments.
func gitRun(ctx context.Context, env tool.Env, set [][2]string, tail string, args ...string) (tool.Ran, *tool.Result, error) {
	vars := []string{
		"LC_ALL=C", "GIT_OPTIONAL_LOCKS=0", "GIT_NO_LAZY_FETCH=1", "GIT_LITERAL_PATHSPECS=1", "GIT_PAGER=cat",
		fmt.Sprintf("GIT_CONFIG_COUNT=%d", len(set)),
	}
	for i, kv := range set {
		vars = append(vars, fmt.Sprintf("GIT_CONFIG_KEY_%d=%s", i, kv[0]), fmt.Sprintf("GIT_CONFIG_VALUE_%d=%s", i, kv[1]))
	}
	line := "git --no-pager"
	for _, a := range args {
		line += " " + shellsyntax.Quote(a)
	}
	ran, err := env.Shell.Run(ctx, tool.Run{Command: line + tail, Timeout: time.Minute, Env: vars})
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
		r = tool.Errorf("git was stopped after %s", seconds(ran.Duration))
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

// localFilters returns the filters that the repository's own configuration defines, as
// "filter.NAME". The person's and the system's filters remain in force.
func localFilters(ctx context.Context, env tool.Env) ([]string, *tool.Result, error) {
	ran, bad, err := gitRun(ctx, env, gitSettings(), " 2>/dev/null", "config", "--show-scope", "--null", "--name-only", "--get-regexp", `^filter\.`)
	if bad != nil {
		if bad.Exit != nil && *bad.Exit == 1 { // there are none
			return nil, nil, nil
		}
		if bad.Exit != nil && *bad.Exit == 129 {
			r := tool.Errorf("git is too old here: 2.31 or newer is needed")
			return nil, &r, nil
		}
		return nil, bad, err
	}
	var names []string
	seen := map[string]bool{}
	f := strings.Split(ran.Output, "\x00")
	for i := 0; i+1 < len(f); i += 2 {
		if f[i] != "local" && f[i] != "worktree" {
			continue
		}
		if dot := strings.LastIndexByte(f[i+1], '.'); dot > len("filter") && !seen[f[i+1][:dot]] {
			seen[f[i+1][:dot]] = true
			names = append(names, f[i+1][:dot])
		}
	}
	// An incomplete or unexpected output may hide names.
	if len(names) > gitFilters || ran.Bytes != int64(len(ran.Output)) {
		r := tool.Errorf("the repository's configuration defines filters that cannot be switched off (over %d, or with names that are not text): git was not run", gitFilters)
		return nil, &r, nil
	}
	return names, nil, nil
}
