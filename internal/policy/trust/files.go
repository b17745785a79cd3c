package trust

import (
	"cmp"
	"encoding/json"
	"maps"
	"path"
	"slices"
	"strings"

	"github.com/pawl-agent/pawl/internal/core/jsonc"
	"github.com/pawl-agent/pawl/internal/policy/guidance"
)

// This file knows the files by which a folder names programs for pawl and other tools:
// which files to look for, and which parts a file contains. An unreadable file is one
// part, so it is reported.

// defines describes what a file of a folder configures.
type defines struct {
	name  string
	parts func(Source) []Part
}

// ServersFile is the file in which a folder names MCP servers for every agent,
// including pawl.
const ServersFile = guidance.Servers

var files = []defines{
	{".claude/settings.json", settings(Hook)},
	{".claude/settings.local.json", settings(Hook)},
	{guidance.Settings, pawlConfig},
	{".gemini/settings.json", settings(Other)}, // its hooks are for other events
	{ServersFile, servers("mcpServers")},
	{".cursor/mcp.json", theirs(servers("mcpServers"))},
	{".vscode/mcp.json", theirs(servers("servers"))},
	{"opencode.json", opencode},
	{"opencode.jsonc", opencode},
	{".codex/config.toml", theirs(codexServers)},
	{".envrc", whole(Env)},
	{".env", whole(Env)},
	{".env.local", whole(Env)},
	{"mise.toml", whole(Env)},
	{".mise.toml", whole(Env)},
	{".vscode/tasks.json", whole(Editor)},
	{".vscode/settings.json", whole(Editor)},
	{".vscode/launch.json", whole(Editor)},
	{".devcontainer/devcontainer.json", whole(Editor)},
	{".devcontainer.json", whole(Editor)},
	{".git/config", gitConfig},
	{".git/config.worktree", gitConfig},
	{".pre-commit-config.yaml", whole(Git)},
	{"lefthook.yml", whole(Git)},
}

// Files returns the files, relative to a folder, that may name programs, except those
// that define checks.
func Files() []string {
	out := make([]string, len(files))
	for i, f := range files {
		out[i] = f.name
	}
	return out
}

// GitHooks are the folders whose executable files git runs.
var GitHooks = []string{".git/hooks", ".husky"}

// Parts returns what a file of Files, or a file in one of GitHooks, configures.
func Parts(s Source) []Part {
	for _, f := range files {
		if f.name != s.Name {
			continue
		}
		if s.Unread {
			return whole(Other)(s)
		}
		return f.parts(s)
	}
	if slices.Contains(GitHooks, path.Dir(s.Name)) {
		return whole(Git)(s)
	}
	return nil
}

func whole(k Kind) func(Source) []Part {
	return func(s Source) []Part { return []Part{Define(k, s.Name, nil, []Source{s})} }
}

// object parses a file's JSON, which may have comments and extra commas, as the tools
// accept them. ok is false for any other file.
func object(s Source) (out map[string]json.RawMessage, ok bool) {
	err := json.Unmarshal(jsonc.Plain([]byte(s.Text)), &out)
	return out, err == nil && out != nil
}

// server is an MCP server in any of the forms that agents use.
type server struct {
	Type        string            `json:"type"`
	Command     json.RawMessage   `json:"command"` // a text, or opencode's list
	Args        []string          `json:"args"`
	Env         map[string]string `json:"env"`
	Environment map[string]string `json:"environment"`
	URL         string            `json:"url"`
	HTTPURL     string            `json:"httpUrl"`
	Cwd         string            `json:"cwd"`
}

// argv returns the program and its arguments.
func (s server) argv() []string {
	var argv []string
	var one string
	if json.Unmarshal(s.Command, &one) == nil && one != "" {
		argv = append(argv, one)
	} else {
		_ = json.Unmarshal(s.Command, &argv) // any other form has no command
	}
	return append(argv, s.Args...)
}

// line returns the command line that starts a server, for a shell's parser.
func (s server) line() string {
	argv := s.argv()
	if len(argv) == 0 {
		return ""
	}
	var words []string
	for _, env := range []map[string]string{s.Env, s.Environment} {
		for _, k := range slices.Sorted(maps.Keys(env)) {
			words = append(words, k+"="+quoted(env[k]))
		}
	}
	for _, a := range argv {
		words = append(words, quoted(a))
	}
	return strings.Join(words, " ")
}

// quoted returns a text as one word for a shell, in which only ${…} is expanded.
func quoted(s string) string {
	s = strings.NewReplacer(`\`, `\\`, `"`, `\"`, "`", "\\`", "$", `\$`).Replace(s)
	return `"` + strings.ReplaceAll(s, `\${`, "${") + `"`
}

// run returns the command line that starts a server, for people.
func (s server) run() string {
	return cmp.Or(strings.Join(s.argv(), " "), s.URL, s.HTTPURL, "no command")
}

// ServerEntry is an MCP server as a file names it.
type ServerEntry struct {
	// Line is the command line that starts it, as a shell would parse it, with ${…} not
	// expanded yet; "" if nothing of the folder is started.
	Line string
	Dir  string // where it runs; "" for the folder
	file string
	name string
	runs string
	raw  json.RawMessage
}

// Part returns the part for a server. reached are the files that it runs.
func (e ServerEntry) Part(reached []Source) Part {
	return Define(MCP, e.name+" ("+e.file+")", []string{e.runs}, append([]Source{{Name: e.file, Text: string(e.raw)}}, reached...))
}

// ServerEntries returns the servers under a key of a file; ok is false for a
// file of another form.
func ServerEntries(s Source, key string) (out []ServerEntry, ok bool) {
	all, ok := object(s)
	var byName map[string]json.RawMessage
	if !ok || all[key] != nil && json.Unmarshal(all[key], &byName) != nil {
		return nil, false
	}
	for _, name := range slices.Sorted(maps.Keys(byName)) {
		e := ServerEntry{file: s.Name, name: name, raw: byName[name], runs: "of an unknown form"}
		var sv server
		if json.Unmarshal(e.raw, &sv) == nil {
			e.runs, e.Line, e.Dir = sv.run(), sv.line(), sv.Cwd
		}
		out = append(out, e)
	}
	return out, true
}

// servers returns a parser of the MCP servers under a key. A server's part contains its
// whole configuration.
func servers(key string) func(Source) []Part {
	return func(s Source) []Part {
		entries, ok := ServerEntries(s, key)
		if !ok {
			return whole(MCP)(s)
		}
		var out []Part
		for _, e := range entries {
			out = append(out, e.Part(nil))
		}
		return out
	}
}

// theirs marks parts as those of another agent: its servers, which pawl does not start.
func theirs(parts func(Source) []Part) func(Source) []Part {
	return func(s Source) []Part {
		out := parts(s)
		for i := range out {
			if out[i].Kind == MCP {
				out[i].Kind, out[i].Name = Other, "MCP server "+out[i].Name
			}
		}
		return out
	}
}

// opencode parses servers, language servers and formatters of opencode. The last two
// are opencode's own: pawl starts neither.
func opencode(s Source) []Part {
	all, ok := object(s)
	if !ok {
		return whole(Other)(s)
	}
	out := theirs(servers("mcp"))(s)
	for _, key := range []string{"lsp", "formatter"} {
		if all[key] != nil {
			out = append(out, Define(Other, key+" ("+s.Name+")", nil, []Source{{Name: s.Name, Text: string(all[key])}}))
		}
	}
	return out
}

// codexServers finds the servers in codex's configuration: the tables, unchanged.
func codexServers(s Source) []Part {
	var out []Part
	name, text := "", ""
	flush := func() {
		if name != "" {
			out = append(out, Define(MCP, name+" ("+s.Name+")", nil, []Source{{Name: s.Name, Text: text}}))
		}
	}
	for l := range strings.Lines(s.Text) {
		if strings.HasPrefix(strings.TrimSpace(l), "[") {
			flush()
			text = ""
			name, _ = strings.CutPrefix(strings.Trim(strings.TrimSpace(l), "[] "), "mcp_servers.")
			if !strings.Contains(l, "mcp_servers") && !strings.Contains(l, "hook") && !strings.Contains(l, "notify") {
				name = ""
			}
		}
		text += l
	}
	flush()
	if out == nil && (strings.Contains(s.Text, "mcp_servers") || strings.Contains(s.Text, "notify")) {
		return whole(MCP)(s)
	}
	return out
}

// settings returns a parser of the settings files of Claude Code, whose form Gemini's have, too:
// the hooks, of a kind of part, the MCP servers, and the other keys that name programs or
// environment.
func settings(hooks Kind) func(Source) []Part {
	return func(s Source) []Part {
		all, ok := object(s)
		if !ok {
			return whole(Other)(s)
		}
		out := hookParts(s, all["hooks"], hooks)
		for _, k := range []string{"statusLine", "apiKeyHelper", "awsAuthRefresh", "awsCredentialExport", "otelHeadersHelper", "fileSuggestion", "tools", "toolDiscoveryCommand", "toolCallCommand"} {
			if all[k] != nil {
				out = append(out, Define(Other, k+" ("+s.Name+")", []string{string(all[k])}, []Source{{Name: s.Name, Text: string(all[k])}}))
			}
		}
		if all["env"] != nil {
			out = append(out, Define(Env, "env ("+s.Name+")", nil, []Source{{Name: s.Name, Text: string(all["env"])}}))
		}
		return append(out, theirs(servers("mcpServers"))(s)...)
	}
}

// pawlConfig returns the hooks of a project's own configuration: nothing else in it runs.
func pawlConfig(s Source) []Part {
	all, _ := object(s) // an unreadable file is reported where it is read
	return hookParts(s, all["hooks"], Hook)
}

// plainGit are the sections of a git configuration in which no key runs a
// program, reads another file, or sends data elsewhere.
var plainGit = map[string]bool{"user": true, "branch": true, "init": true, "push": true, "pull": true, "fetch": true, "merge": true, "color": true, "advice": true, "extensions": true, "rerere": true, "log": true, "status": true, "tag": true, "gc": true, "pack": true, "index": true, "feature": true, "column": true, "commit": true}

// plainCore are the keys of [core], and plainRemote those of [remote], that
// every repository has.
var (
	plainCore   = map[string]bool{"repositoryformatversion": true, "filemode": true, "bare": true, "logallrefupdates": true, "ignorecase": true, "precomposeunicode": true, "symlinks": true, "autocrlf": true, "eol": true, "safecrlf": true, "quotepath": true}
	plainRemote = map[string]bool{"url": true, "fetch": true, "pushurl": true, "push": true, "tagopt": true, "prune": true, "mirror": true}
)

// gitConfig returns the settings of a repository, except those that run
// nothing, as one part.
func gitConfig(s Source) []Part {
	var kept []string
	section := ""
	for l := range strings.Lines(s.Text) {
		l = strings.TrimSpace(l)
		if strings.HasPrefix(l, "[") {
			head, rest, _ := strings.Cut(l[1:], "]")
			name, _, _ := strings.Cut(head, " ")
			section = strings.ToLower(strings.TrimSpace(name))
			l = strings.TrimSpace(rest)
		}
		if l == "" || strings.HasPrefix(l, "#") || strings.HasPrefix(l, ";") {
			continue
		}
		key, value, _ := strings.Cut(l, "=")
		key = strings.ToLower(strings.TrimSpace(key))
		switch {
		case plainGit[section], section == "core" && plainCore[key], section == "remote" && plainRemote[key] && !strings.Contains(value, "ext::"):
		default:
			kept = append(kept, section+"."+l)
		}
	}
	if len(kept) == 0 {
		return nil
	}
	return []Part{Define(Git, s.Name, kept[:min(len(kept), 5)], []Source{{Name: s.Name, Text: strings.Join(kept, "\n")}})}
}
