package gitconfig

import (
	"slices"
	"testing"
)

// SPEC 16.3: what is not known to run nothing counts as what runs what it names.
func TestUse(t *testing.T) {
	for key, want := range map[string]Use{
		"core.hookspath": Hooks, "init.templatedir": Hooks, "include.path": Include, "includeif.gitdir:~/a/.path": Include, "core.attributesfile": Read,
		"core.fsmonitor": Run, "filter.x.clean": Run, "merge.x.driver": Run, "diff.x.textconv": Run, "diff.external": Run, "gpg.ssh.program": Run,
		"gc.recentobjectshook": Run, "hook.x.command": Run, "trailer.x.cmd": Run, "mergetool.x.path": Run, "remote.o.vcs": Run, "submodule.x.update": Run,
		"not.known": Run, "merge.driver": Run, "core.new": Run,
		"user.name": None, "remote.o.url": None, "branch.a.merge": None, "merge.tool": None, "diff.orderfile": None, "core.bare": None, "gc.auto": None,
	} {
		if got := (Setting{key, "x"}).Use(); got != want {
			t.Errorf("%s: %d, want %d", key, got, want)
		}
	}
	for s, want := range map[Setting]Use{
		{"alias.s", "status"}: None, {"alias.s", "!x"}: Run, {"remote.o.url", "ext::x"}: Run, {"core.hookspath", ""}: None, {"core.pager", "less"}: Run,
	} {
		if got := s.Use(); got != want {
			t.Errorf("%v: %d, want %d", s, got, want)
		}
	}
}

// SPEC 16.3: settings of the environment are those of git.
func TestEnvironment(t *testing.T) {
	env := map[string]string{
		"GIT_CONFIG_COUNT": "1", "GIT_CONFIG_KEY_0": "Core.HooksPath", "GIT_CONFIG_VALUE_0": "a b",
		"GIT_CONFIG_PARAMETERS": `'Filter.My Part.Clean'='it'\''s' 'core.pager=less'`, "GIT_EDITOR": "ed",
	}
	want := []Setting{{"core.editor", "ed"}, {"core.hookspath", "a b"}, {"core.pager", "less"}, {"filter.My Part.clean", "it's"}}
	if got := Environment(func(name string) string { return env[name] }); !slices.Equal(got, want) {
		t.Errorf("%q", got)
	}
}
