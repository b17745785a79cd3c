package workspace

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
)

// Git runs git in a folder and returns its output. Nothing that the repository
// configures is executed: no hooks, no fsmonitor, no external diff, no
// textconv, no pager, no fetching of missing objects (SPEC 16.6).
func Git(ctx context.Context, dir string, args ...string) ([]byte, error) {
	return GitWith(ctx, dir, nil, nil, args...)
}

// GitWith is Git with further environment entries and an input, nil for none.
func GitWith(ctx context.Context, dir string, env []string, in io.Reader, args ...string) ([]byte, error) {
	safe := []string{
		"--no-pager", "--no-optional-locks",
		"-c", "core.fsmonitor=false", "-c", "core.hooksPath=" + os.DevNull, "-c", "core.pager=cat",
		"-c", "diff.external=", "-c", "core.editor=false", "-c", "core.askPass=", "-c", "credential.helper=",
		"-c", "core.sshCommand=false", "-c", "protocol.allow=never", "-c", "safe.bareRepository=explicit",
		"-c", "core.quotePath=false", "-c", "gc.auto=0", "-c", "maintenance.auto=false",
	}
	cmd := exec.CommandContext(ctx, "git", append(safe, args...)...)
	cmd.Dir = dir
	cmd.Stdin = in
	cmd.Env = append(gitEnv(), env...)
	var out, fail bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &fail
	if err := cmd.Run(); err != nil {
		if ctx.Err() != nil {
			return nil, ctx.Err()
		}
		why, _, _ := strings.Cut(strings.TrimSpace(fail.String()), "\n")
		if exit := (*exec.ExitError)(nil); !errors.As(err, &exit) || why == "" {
			return out.Bytes(), fmt.Errorf("git %s: %w", args[0], err)
		}
		return out.Bytes(), fmt.Errorf("git %s: %s (%w)", args[0], why, err)
	}
	return out.Bytes(), nil
}

// gitEnv is what git needs to find its user's configuration and no more: a
// GIT_DIR of pawl's own caller must not point it elsewhere.
func gitEnv() []string {
	env := []string{
		"LC_ALL=C", "GIT_TERMINAL_PROMPT=0", "GIT_OPTIONAL_LOCKS=0", "GIT_NO_LAZY_FETCH=1",
		"GIT_PAGER=cat", "PAGER=cat", "GIT_EDITOR=:",
	}
	for _, k := range []string{"PATH", "HOME", "XDG_CONFIG_HOME", "USERPROFILE", "SYSTEMROOT", "TMPDIR"} {
		if v, ok := os.LookupEnv(k); ok {
			env = append(env, k+"="+v)
		}
	}
	return env
}

// repository finds the folder above dir (or dir) that has a .git, "" for none.
func repository(dir string) string {
	for {
		if _, err := os.Lstat(filepath.Join(dir, ".git")); err == nil {
			return dir
		}
		up := filepath.Dir(dir)
		if up == dir {
			return ""
		}
		dir = up
	}
}

// gitFiles lists tracked and untracked files below dir that are not ignored,
// relative to dir. Nested repositories come as folders, with a slash at the
// end.
func gitFiles(ctx context.Context, dir, repo string) ([]string, error) {
	out, err := Git(ctx, dir, "ls-files", "-z", "-c", "-o", "--exclude-standard")
	if err != nil {
		return nil, err
	}
	names := strings.Split(strings.TrimSuffix(string(out), "\x00"), "\x00")
	if names[0] == "" {
		return nil, nil
	}
	if _, err := os.Lstat(filepath.Join(repo, ".gitmodules")); err != nil {
		return names, nil
	}
	staged, err := Git(ctx, dir, "ls-files", "-z", "-s")
	if err != nil {
		return nil, err
	}
	modules := map[string]bool{}
	for entry := range strings.SplitSeq(string(staged), "\x00") {
		if name, ok := strings.CutPrefix(entry, "160000 "); ok {
			_, name, _ = strings.Cut(name, "\t")
			modules[name] = true
		}
	}
	for i, n := range names {
		if modules[n] {
			names[i] = n + "/"
		}
	}
	return names, nil
}

// gitIgnored returns which of the names in dir git ignores.
func gitIgnored(ctx context.Context, dir string, names []string) (map[string]bool, error) {
	if len(names) == 0 {
		return nil, nil
	}
	in := strings.NewReader(strings.Join(names, "\x00") + "\x00")
	out, err := GitWith(ctx, dir, nil, in, "check-ignore", "-z", "--stdin")
	exit := (*exec.ExitError)(nil)
	if err != nil && (!errors.As(err, &exit) || exit.ExitCode() != 1) { // 1: none
		return nil, err
	}
	ignored := map[string]bool{}
	for n := range strings.SplitSeq(string(out), "\x00") {
		ignored[n] = true
	}
	return ignored, nil
}
