// Package gitconfig reads git's configuration: which of its settings make git run
// or read a file (SPEC 16.3). It has no I/O.
//
// It promises that a setting counts as one that runs what it names unless it is
// known that git only shows, compares or stores its value.
package gitconfig

import (
	"strconv"
	"strings"

	"github.com/pawl-agent/pawl/internal/core/lazyregexp"
	"github.com/pawl-agent/pawl/internal/core/sorting"
)

// Setting is one line of git's configuration: Key is section.name or
// section.part.name, in lower case but for the part.
type Setting struct{ Key, Value string }

// Use is what git does with what a setting names.
type Use int

const (
	None    Use = iota
	Hooks       // a folder whose files it runs
	Include     // a file of configuration
	Read        // a file that names drivers
	Run         // programs, and files that these are given
)

// plain are the settings that git only shows, compares or stores, or that name a file
// that it takes for plain data.
var plain = lazyregexp.New(`^((user|author|committer|branch|push|pull|fetch|clone|color|column|advice|extensions|rerere|log|status|stash|pack|index|feature|commit|tag|tar|versionsort|safe|transfer|protocol|i18n|format|mailmap|fsck|blame|rebase|revert|checkout|worktree|grep|repack|bundle|fastimport)\.[^.]*` +
	`|branch\..+|color\..+|url\..+|remote\..+\.(url|pushurl|fetch|push|tagopt|prune|mirror|skip.*|promisor|partialclonefilter)|submodule\..+\.(url|path|branch|active|ignore|fetchrecursesubmodules|shallow)` +
	`|core\.(repositoryformatversion|filemode|bare|logallrefupdates|ignorecase|precomposeunicode|symlinks|autocrlf|eol|safecrlf|quotepath|excludesfile|worktree|comment.*|abbrev|whitespace|compression|sparse.*|untrackedcache|preload.*)` +
	`|diff\.(orderfile|algorithm|renames|renamelimit|context|colormoved.*|mnemonicprefix|noprefix|submodule|tool|guitool|indentheuristic|stat.*|wserrorhighlight)|merge\.(tool|guitool|conflictstyle|ff|log|stat|autostash|renames|renamelimit|verbosity|.*gpg.*)` +
	`|init\.defaultbranch|gpg\.format|gpg\.(.+\.)?(mintrustlevel|allowedsignersfile|revocationfile)|gc\.(auto.*|prune.*|reflog.*|worktree.*|write.*|pack.*|big.*|cruft.*))$`)

// runs are the settings that name a program or a line for a shell.
var runs = lazyregexp.New(`^(core\.(fsmonitor|sshcommand|editor|pager|askpass|gitproxy|alternaterefscommand)|sequence\.editor|diff\.external|interactive\.difffilter|alias\..+|pager\..+|submodule\..+\.update|gpg\..*program|.+\.(textconv|clean|smudge|process|driver|helper|uploadpack|receivepack|.*hook|.*program|.*command|.*cmd))$`)

// Use returns what git does with what the setting names.
func (s Setting) Use() Use {
	switch {
	case s.Value == "":
		return None
	case s.Key == "core.hookspath":
		return Hooks
	case s.Key == "init.templatedir": // a new repository gets the hooks in it
		return Hooks
	case s.Key == "include.path", strings.HasPrefix(s.Key, "includeif.") && strings.HasSuffix(s.Key, ".path"):
		return Include
	case s.Key == "core.attributesfile":
		return Read
	case strings.HasPrefix(s.Key, "alias.") && !strings.HasPrefix(s.Value, "!"):
		return None // git's own words
	case plain().MatchString(s.Key) && !strings.HasPrefix(s.Value, "ext::"):
		return None
	}
	return Run
}

// Names returns the words of a setting that runs something which may be files. sure:
// they may be files that are not there yet.
func (s Setting) Names() (words []string, sure bool) {
	words = strings.FieldsFunc(s.Value, func(r rune) bool { return strings.ContainsRune(" \t\n'\"!;|&()<>=`$:,{}", r) })
	if len(words) > 1 {
		words = append(words, s.Value)
	}
	return words, runs().MatchString(s.Key) || strings.HasPrefix(s.Value, "ext::")
}

// HookNames are the files that git runs in a folder of hooks.
var HookNames = []string{
	"applypatch-msg", "pre-applypatch", "post-applypatch", "pre-commit", "pre-merge-commit", "prepare-commit-msg", "commit-msg", "post-commit", "pre-rebase",
	"post-checkout", "post-merge", "pre-push", "pre-receive", "update", "proc-receive", "post-receive", "post-update", "reference-transaction", "push-to-checkout",
	"pre-auto-gc", "post-rewrite", "sendemail-validate", "fsmonitor-watchman", "post-index-change", "p4-changelist", "p4-prepare-changelist", "p4-post-changelist", "p4-pre-submit",
}

// variables are those of the environment that git takes instead of a setting.
var variables = map[string]string{
	"GIT_EDITOR": "core.editor", "VISUAL": "core.editor", "EDITOR": "core.editor", "GIT_SEQUENCE_EDITOR": "sequence.editor",
	"GIT_PAGER": "core.pager", "PAGER": "core.pager", "GIT_ASKPASS": "core.askpass", "SSH_ASKPASS": "core.askpass", "GIT_SSH": "core.sshcommand",
	"GIT_SSH_COMMAND": "core.sshcommand", "GIT_EXTERNAL_DIFF": "diff.external", "GIT_PROXY_COMMAND": "core.gitproxy", "GIT_TEMPLATE_DIR": "init.templatedir",
}

// maxPairs is how many settings of GIT_CONFIG_COUNT are read.
const maxPairs = 1000

// Environment returns the settings that variables of the environment make.
func Environment(env func(string) string) []Setting {
	var out []Setting
	for name, key := range variables {
		if v := env(name); v != "" {
			out = append(out, Setting{key, v})
		}
	}
	n, _ := strconv.Atoi(env("GIT_CONFIG_COUNT")) // none: git refuses it, too
	for i := range min(n, maxPairs) {
		at := strconv.Itoa(i)
		out = append(out, Setting{lower(env("GIT_CONFIG_KEY_" + at)), env("GIT_CONFIG_VALUE_" + at)})
	}
	// git -c passes settings to its children as 'key'='value' or 'key=value', in a shell's quotes.
	for _, pair := range strings.Split(strings.ReplaceAll(env("GIT_CONFIG_PARAMETERS"), "'='", "="), "' '") {
		if key, value, ok := strings.Cut(strings.Trim(pair, "' "), "="); ok {
			out = append(out, Setting{lower(key), strings.ReplaceAll(value, `'\''`, "'")})
		}
	}
	sorting.By(out, func(a, b Setting) int { return strings.Compare(a.Key+"="+a.Value, b.Key+"="+b.Value) })
	return out
}

// lower returns a key with its section and its name in lower case.
func lower(key string) string {
	first, last := strings.IndexByte(key, '.'), strings.LastIndexByte(key, '.')
	if first < 0 {
		return strings.ToLower(key)
	}
	return strings.ToLower(key[:first]) + key[first:last] + strings.ToLower(key[last:])
}

// Parse reads a file of git's configuration.
func Parse(text string) []Setting {
	var out []Setting
	section := ""
	for line := range strings.SplitSeq(strings.ReplaceAll(strings.ReplaceAll(text, "\r\n", "\n"), "\\\n", ""), "\n") {
		line = strings.TrimSpace(strings.TrimPrefix(line, "\ufeff"))
		if strings.HasPrefix(line, "[") {
			end := closing(line)
			if end < 0 {
				continue
			}
			name, part, _ := strings.Cut(line[1:end], " ")
			section = strings.ToLower(name)
			if part = strings.Trim(strings.TrimSpace(part), `"`); part != "" {
				section += "." + part
			}
			line = strings.TrimSpace(line[end+1:]) // a setting may follow
		}
		if line == "" || line[0] == '#' || line[0] == ';' {
			continue
		}
		name, v, _ := strings.Cut(line, "=")
		out = append(out, Setting{section + "." + strings.ToLower(strings.TrimSpace(name)), value(v)})
	}
	return out
}

// closing returns where the bracket is that ends a heading: the first that is not in
// quotes; -1 for none.
func closing(line string) int {
	quoted := false
	for i := 0; i < len(line); i++ {
		switch {
		case line[i] == '\\' && quoted:
			i++
		case line[i] == '"':
			quoted = !quoted
		case line[i] == ']' && !quoted:
			return i
		}
	}
	return -1
}

// value returns a value without its quotes and its comment.
func value(s string) string {
	var b strings.Builder
	quoted := false
	s = strings.TrimSpace(s)
	for i := 0; i < len(s); i++ {
		switch c := s[i]; {
		case c == '\\' && i+1 < len(s):
			i++
			b.WriteByte(s[i])
		case c == '"':
			quoted = !quoted
		case (c == '#' || c == ';') && !quoted:
			return strings.TrimSpace(b.String())
		default:
			b.WriteByte(c)
		}
	}
	return strings.TrimSpace(b.String())
}
