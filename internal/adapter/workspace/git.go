package workspace

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"

	"github.com/pawl-agent/pawl/internal/core/gitrepo"
	"github.com/pawl-agent/pawl/internal/core/process"
)

// Git runs git for pawl itself, to read repositories that nobody may trust:
// nothing that one configures is executed, neither hooks nor fsmonitor, external
// diff, textconv or pager, and missing objects are not fetched (SPEC 16.6).
// Where the kernel can confine it, it changes nothing either.
type Git struct {
	Starter process.Starter
	// Confine is how git is confined: the zero value, read-only, or Free without
	// a sandbox.
	Confine process.Confine
}

// Reading returns a Git that may read a folder outside the workspace as well.
func (g *Git) Reading(dir string) *Git {
	with := *g
	with.Confine.Reads = append(slices.Clip(g.Confine.Reads), dir)
	return &with
}

// Writing returns a Git that may change folders of pawl's own. One that may change some
// already may change no others.
func (g *Git) Writing(dirs ...string) *Git {
	with := *g
	if g.Confine.Level == process.ReadOnly {
		with.Confine.Level, with.Confine.Own = process.Workspace, append(slices.Clip(g.Confine.Own), dirs...)
	}
	return &with
}

// Run runs git in a folder, with further environment entries and an input, nil
// for none, and returns its output.
func (g *Git) Run(ctx context.Context, dir string, env []string, in io.Reader, args ...string) ([]byte, error) {
	return g.run(ctx, dir, env, in, nil, args...)
}

// RunTo is Run for an output that need not fit into memory.
func (g *Git) RunTo(ctx context.Context, out io.Writer, dir string, env []string, in io.Reader, args ...string) error {
	_, err := g.run(ctx, dir, env, in, out, args...)
	return err
}

func (g *Git) run(ctx context.Context, dir string, env []string, in io.Reader, to io.Writer, args ...string) ([]byte, error) {
	safe := []string{
		"--no-pager", "--no-optional-locks",
		"-c", "core.fsmonitor=false", "-c", "core.hooksPath=" + os.DevNull, "-c", "core.pager=cat",
		"-c", "diff.external=false", "-c", "core.editor=false", "-c", "core.askPass=", "-c", "credential.helper=",
		"-c", "core.sshCommand=false", "-c", "protocol.allow=never", "-c", "safe.bareRepository=explicit",
		"-c", "core.quotePath=false", "-c", "gc.auto=0", "-c", "maintenance.auto=false",
	}
	if err := waits(filepath.Join(gitrepo.Above(dir), ".git")); err != nil {
		return nil, fmt.Errorf("git %s: %w", args[0], err)
	}
	out, err := process.Output(ctx, g.Starter, process.Program{
		Path: "git", Args: append(safe, args...), Dir: dir, Env: append(gitEnv(), env...), Exact: true, Stdin: in, Stdout: to, Confine: g.Confine,
	})
	if err == nil || ctx.Err() != nil {
		return out, ctx.Err()
	}
	for len(args) > 2 && args[0] == "-c" {
		args = args[2:]
	}
	return out, fmt.Errorf("git %s: %w", args[0], err)
}

// waits returns an error if git would wait for ever to open a file of its folder.
func waits(dir string) error {
	for _, dir := range []string{dir, filepath.Join(dir, "info")} {
		entries, _ := os.ReadDir(dir) // none: git says what is missing
		for _, e := range entries {
			if e.Type()&(fs.ModeNamedPipe|fs.ModeDevice) != 0 {
				return fmt.Errorf("%s is not a regular file", filepath.Join(dir, e.Name()))
			}
		}
	}
	return nil
}

// gitEnv returns what git needs to find its user's configuration and no more: a
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

// files lists tracked and untracked files of a repository below dir that are not
// ignored, relative to dir. Nested repositories come as folders, with a slash at the
// end.
func (g *Git) files(ctx context.Context, dir, repo string) ([]string, error) {
	if rel, err := filepath.Rel(repo, dir); err == nil && rel != "." && gitrepo.Above(dir) != repo {
		// In dir git would list another repository, which lies between.
		below := filepath.ToSlash(rel) + "/"
		out, err := g.Run(ctx, repo, nil, nil, "ls-files", "-z", "-c", "-o", "--exclude-standard", "--", ":(literal)"+filepath.ToSlash(rel)) // with a slash it would find nothing untracked
		if err != nil {
			return nil, err
		}
		var names []string
		for name := range strings.SplitSeq(string(out), "\x00") {
			if name+"/" == below || name == below { // it is a repository of its own
				return g.files(ctx, dir, dir)
			}
			if name, ok := strings.CutPrefix(name, below); ok {
				names = append(names, name)
			}
		}
		return names, nil
	}
	out, err := g.Run(ctx, dir, nil, nil, "ls-files", "-z", "-c", "-o", "--exclude-standard")
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
	staged, err := g.Run(ctx, dir, nil, nil, "ls-files", "-z", "-s")
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

func (g *Git) ignored(ctx context.Context, dir string, names []string) (map[string]bool, error) {
	if len(names) == 0 {
		return nil, nil
	}
	in := strings.NewReader(strings.Join(names, "\x00") + "\x00")
	out, err := g.Run(ctx, dir, nil, in, "check-ignore", "-z", "--stdin")
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
