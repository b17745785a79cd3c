package gitconfig

import "strings"

// This file is the environment in which a git that only reads runs nothing of the repository
// (SPEC 16.6).

// Settings returns settings that override what a repository's own configuration
// could make git run: hooks, fsmonitor, signature programs, other repositories (SPEC
// 16.6). What has no value for "off" is not here, since git would take an empty value
// for the name of a program: programs that show differences are in Guards.
func Settings() [][2]string {
	return [][2]string{
		{"core.hooksPath", "/dev/null"},
		{"core.fsmonitor", "false"},
		{"diff.ignoreSubmodules", "dirty"},
		{"diff.submodule", "short"},
		{"status.submoduleSummary", "false"},
		{"submodule.recurse", "false"},
		{"log.showSignature", "false"},
		{"gpg.program", "false"},
		{"gpg.openpgp.program", "false"},
		{"gpg.ssh.program", "false"},
		{"gpg.x509.program", "false"},
		{"safe.bareRepository", "explicit"},
		{"gc.auto", "0"},
		{"maintenance.auto", "false"},
	}
}

// Guards returns settings that replace what the keys filter.*, diff.*, merge.* and
// submodule.* of a repository's configuration name, and whether one of the keys is a
// program that shows differences. own reports whether a key is the repository's: the
// person's filters and the like remain in force.
func Guards(keys []string, own func(i int) bool) (set [][2]string, shows bool) {
	seen := map[string]bool{}
	for i, key := range keys {
		dot := strings.LastIndexByte(key, '.')
		if dot < 0 {
			continue
		}
		kind, _, _ := strings.Cut(key, ".")
		name, last := key[:dot], key[dot+1:]
		shows = shows || kind == "diff" && (last == "external" || last == "command" || last == "textconv")
		if key == "diff.external" {
			name = key
		}
		if !own(i) || seen[name] || name == kind {
			continue
		}
		seen[name] = true
		switch kind {
		case "filter": // an empty filter is none
			set = append(set, [2]string{name + ".clean", ""}, [2]string{name + ".smudge", ""}, [2]string{name + ".process", ""}, [2]string{name + ".required", "false"})
		case "diff":
			// An empty program would be an error; these show the same differences.
			if name == key {
				set = append(set, [2]string{name, showsDiff})
				break
			}
			set = append(set, [2]string{name + ".textconv", "cat"}, [2]string{name + ".command", showsDiff})
		case "merge": // run by --diff-merges=remerge; a driver that fails leaves a conflict
			set = append(set, [2]string{name + ".driver", "false"})
		case "submodule":
			set = append(set, [2]string{name + ".ignore", "dirty"})
		}
	}
	return set, shows
}

// showsDiff is an external diff that runs no program of the repository.
const showsDiff = `f() { diff -u "$2" "$5"; true; }; f`

// Function is an environment variable by which bash runs git without external diffs
// and text conversion, which no setting switches off. git makes temporary files for them
// even if the programs are harmless, and a read-only command can make none. Where the
// function is not used (xargs git diff; a shell that is not bash), the settings of
// Guards still hold.
const Function = `BASH_FUNC_git%%=() {
	local i=1
	while [[ ${!i-} == -* ]]; do
		[[ ${!i} == -C ]] && ((i++))
		((i++))
	done
	[[ ${!i-} == stash ]] && ((i++))
	case ${!i-} in
	diff | show | log | list | whatchanged | diff-tree | diff-index | diff-files | blame | annotate)
		set -- "${@:1:i}" --no-ext-diff --no-textconv "${@:i+1}"
		;;
	esac
	command git "$@"
}`

// Env returns the environment variables that complete Settings: under them, a git
// that is judged to only read runs nothing and fetches nothing that the folder names.
func Env() []string {
	return []string{"GIT_OPTIONAL_LOCKS=0", "GIT_NO_LAZY_FETCH=1", "GIT_TERMINAL_PROMPT=0", "GIT_PAGER=cat", "PAGER=cat"}
}
