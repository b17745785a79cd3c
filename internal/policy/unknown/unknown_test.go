package unknown

import (
	"slices"
	"strings"
	"testing"
)

// SPEC 16.17: a key that resembles a guard, or whose name forbids something, is told from
// one that cannot weaken anything.
func TestOf(t *testing.T) {
	k := Keys{Guards: []string{"tools", "allowed-tools", "read-only", "hooks"}, Others: []string{"name", "description"}}
	for name, guard := range map[string]bool{
		"tool": true, "allowed_tools": true, "allowedTools": true, "allowed-tool": true, "readonly": true, "READ_ONLY": true, "hook": true,
		"tools_allowed": true, "disallowedTools": true, "deniedPaths": true, "permission-mode": true, "sandboxed": true, "excludeTools": true,
		"version": false, "licence": false, "tags": false, "color": false, "author": false, "title": false,
	} {
		guards, others := k.Of(slices.Values([]string{"Name", name, "description"}))
		if slices.Contains(guards, name) != guard || slices.Contains(others, name) == guard || len(guards)+len(others) != 1 {
			t.Errorf("%s: %q, %q", name, guards, others)
		}
	}
}

func TestError(t *testing.T) {
	k := Keys{Guards: []string{"matcher"}, Others: []string{"hooks"}}
	if err := k.Every("a matcher", slices.Values([]string{"matcher", "HOOKS"})); err != nil {
		t.Error(err)
	}
	err := k.Every("a matcher of PreToolUse", slices.Values([]string{"zzz", "matchr", "hooks"}))
	if err == nil || !strings.Contains(err.Error(), "matchr (did you mean matcher?), zzz of a matcher of PreToolUse") {
		t.Error(err)
	}
}
