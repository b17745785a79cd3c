package tools

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/pawl-agent/pawl/internal/core/shellsyntax"
	"github.com/pawl-agent/pawl/internal/core/tool"
	"github.com/pawl-agent/pawl/internal/policy/command"
	"github.com/pawl-agent/pawl/internal/policy/gitconfig"
)

// closedEnv returns an environment in which a line with read-only commands of git, go and
// the like runs no program that the repository's own configuration names (SPEC 16.6). If
// the line does more, it returns nil. bad is the result if it is not known which
// repository or which programs would be used.
func closedEnv(ctx context.Context, env tool.Env, cmds []shellsyntax.Command) (vars []string, bad *tool.Result, err error) {
	if !command.Closed(cmds) {
		return nil, nil, nil
	}
	set := gitconfig.Settings()
	dirs, ok := command.GitFolders(cmds)
	if !ok {
		r := tool.Errorf("git was not run, because its repository is unclear: name the folder")
		return nil, &r, nil
	}
	vars = gitconfig.Env()
	for _, dir := range dirs {
		more, shows, bad, err := localPrograms(ctx, env, dir)
		if bad != nil || err != nil {
			return nil, bad, err
		}
		set = append(set, more...)
		if shows {
			vars = append(vars, gitconfig.Function)
		}
	}
	return append(vars, gitConfigEnv(set)...), nil, nil
}

func gitConfigEnv(set [][2]string) []string {
	vars := []string{fmt.Sprintf("GIT_CONFIG_COUNT=%d", len(set))}
	for i, kv := range set {
		vars = append(vars, fmt.Sprintf("GIT_CONFIG_KEY_%d=%s", i, kv[0]), fmt.Sprintf("GIT_CONFIG_VALUE_%d=%s", i, kv[1]))
	}
	return vars
}

// maxGuards is how many keys of a repository's configuration may name programs.
const maxGuards = 500

// localPrograms returns settings that switch off the programs that the configuration of
// the repository at dir defines (gitconfig.Guards), and whether any configuration,
// the person's too, names programs that show differences.
func localPrograms(ctx context.Context, env tool.Env, dir string) (set [][2]string, shows bool, bad *tool.Result, err error) {
	q := shellsyntax.Quote(dir)
	line := "git -C " + q + ` config --show-scope --null --name-only --get-regexp '^(filter|diff|merge)\.' 2>/dev/null; got=$?; ` +
		"t=$(git -C " + q + ` rev-parse --show-toplevel 2>/dev/null) && [ -f "$t/.gitmodules" ] && git config --show-scope --null --name-only --file "$t/.gitmodules" --get-regexp '^submodule\..*\.ignore$' 2>/dev/null; exit $got`
	vars := append([]string{"LC_ALL=C", "GIT_OPTIONAL_LOCKS=0", "GIT_NO_LAZY_FETCH=1"}, gitConfigEnv(gitconfig.Settings())...)
	ran, err := env.Shell.Run(ctx, tool.Run{Command: line, Timeout: time.Minute, Env: vars, Apart: true})
	if err != nil {
		return nil, false, nil, err
	}
	switch {
	case ran.Exit == nil:
		r := gitTrouble(ran)
		return nil, false, &r, nil
	case *ran.Exit >= 126 && *ran.Exit != 129:
		return nil, false, nil, nil // git cannot run here, and will say why
	}
	var keys, scopes []string
	f := strings.Split(ran.Output, "\x00")
	for i := 0; i+1 < len(f); i += 2 {
		scopes, keys = append(scopes, f[i]), append(keys, f[i+1])
	}
	if !slices.Contains(scopes, "command") { // it would ignore all settings
		r := tool.Errorf("git is too old here: 2.31 or newer is needed")
		return nil, false, &r, nil
	}
	set, shows = gitconfig.Guards(keys, func(i int) bool { return !slices.Contains([]string{"global", "system", "command"}, scopes[i]) })
	// An incomplete or unexpected output may hide names.
	if len(set) > maxGuards || ran.Bytes != int64(len(ran.Output)) {
		r := tool.Errorf("the configuration of the repository at %s defines programs that cannot be switched off (over %d, or with names that are not text): git was not run", dir, maxGuards)
		return nil, false, &r, nil
	}
	return set, shows, nil, nil
}
