package tools

import (
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/pawl-agent/pawl/internal/core/shellsyntax"
	"github.com/pawl-agent/pawl/internal/core/tool"
	"github.com/pawl-agent/pawl/internal/policy/command"
)

// closedEnv returns an environment in which a line with read-only commands of git, go and
// the like runs no program that the repository's own configuration names (SPEC 16.6). If
// the line does more, it returns nil. bad is the result if it is not known which
// repository or which programs would be used.
func closedEnv(ctx context.Context, env tool.Env, cmds []shellsyntax.Command) (vars []string, bad *tool.Result, err error) {
	if !command.Closed(cmds) {
		return nil, nil, nil
	}
	set := command.GitSettings()
	dirs, ok := command.GitFolders(cmds)
	if !ok {
		r := tool.Errorf("git was not run: in which repository it would run cannot be known before; name the folder")
		return nil, &r, nil
	}
	for _, dir := range dirs {
		more, bad, err := localPrograms(ctx, env, dir)
		if bad != nil || err != nil {
			return nil, bad, err
		}
		set = append(set, more...)
	}
	return append(command.ClosedEnv(cmds), gitConfigEnv(set)...), nil, nil
}

func gitConfigEnv(set [][2]string) []string {
	vars := []string{fmt.Sprintf("GIT_CONFIG_COUNT=%d", len(set))}
	for i, kv := range set {
		vars = append(vars, fmt.Sprintf("GIT_CONFIG_KEY_%d=%s", i, kv[0]), fmt.Sprintf("GIT_CONFIG_VALUE_%d=%s", i, kv[1]))
	}
	return vars
}

// localPrograms returns settings that switch off what the configuration of the repository
// at dir defines: filters, programs that show differences, and reading submodules. The
// person's and the system's settings remain in force.
func localPrograms(ctx context.Context, env tool.Env, dir string) ([][2]string, *tool.Result, error) {
	q := shellsyntax.Quote(dir)
	line := "git -C " + q + ` config --show-scope --null --name-only --get-regexp '^(filter|diff)\.' 2>/dev/null; ` +
		"t=$(git -C " + q + ` rev-parse --show-toplevel 2>/dev/null) && [ -f "$t/.gitmodules" ] && git config --show-scope --null --name-only --file "$t/.gitmodules" --get-regexp '^submodule\..*\.ignore$' 2>/dev/null; true`
	vars := append([]string{"LC_ALL=C", "GIT_OPTIONAL_LOCKS=0", "GIT_NO_LAZY_FETCH=1"}, gitConfigEnv(command.GitSettings())...)
	ran, err := env.Shell.Run(ctx, tool.Run{Command: line, Timeout: time.Minute, Env: vars})
	if err != nil {
		return nil, nil, err
	}
	var set [][2]string
	seen := map[string]bool{}
	f := strings.Split(ran.Output, "\x00")
	for i := 0; i+1 < len(f); i += 2 {
		dot := strings.LastIndexByte(f[i+1], '.')
		if f[i] == "global" || f[i] == "system" || dot < 0 {
			continue
		}
		kind, _, _ := strings.Cut(f[i+1], ".")
		n := f[i+1][:dot]
		if seen[n] || dot <= len(kind) {
			continue
		}
		seen[n] = true
		switch kind {
		case "filter":
			set = append(set, [2]string{n + ".clean", ""}, [2]string{n + ".smudge", ""}, [2]string{n + ".process", ""}, [2]string{n + ".required", "false"})
		case "diff":
			// An empty program would be an error; these produce the same output as git
			// itself.
			set = append(set, [2]string{n + ".textconv", "cat"}, [2]string{n + ".command", `f() { diff -u "$2" "$5"; true; }; f`})
		case "submodule":
			set = append(set, [2]string{n + ".ignore", "dirty"})
		}
	}
	// An incomplete or unexpected output may hide names.
	if len(seen) > gitFilters || ran.Bytes != int64(len(ran.Output)) {
		r := tool.Errorf("the configuration of the repository at %s defines programs that cannot be switched off (over %d, or with names that are not text): git was not run", dir, gitFilters)
		return nil, &r, nil
	}
	return set, nil, nil
}
