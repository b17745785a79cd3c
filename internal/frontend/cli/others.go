package cli

import (
	"os"
	"slices"
	"strings"

	"github.com/pawl-agent/pawl/internal/core/lazyregexp"
)

// This file lists the flags and commands of other agents: those that pawl accepts, and
// what replaces the others (SPEC 17.6). doc/coming-from.md documents them.

// sameFlags maps other agents' flag names to pawl's.
var sameFlags = map[string]string{
	"allowedTools": "allow", "allowed-tools": "allow", "allow-tool": "allow", // Claude Code, Gemini CLI, Copilot
	"disallowedTools": "deny", "disallowed-tools": "deny", "deny-tool": "deny",
	"dangerously-skip-permissions": "yolo", "dangerously-bypass-approvals-and-sandbox": "yolo", "allow-all-tools": "yolo",
	"approval-mode": "permission-mode", "include-directories": "add-dir",
	"cd": "dir", "cwd": "dir", "reasoning-effort": "effort", "thinking": "effort", // pi
	"session":                "resume", // opencode, Crush, pi
	"no-session-persistence": "no-session", "ephemeral": "no-session",
	"prompt": "print", "message": "print", "msg": "print",
}

// needlessFlags ask for what pawl does anyway.
var needlessFlags = map[string]string{
	"allow-dangerously-skip-permissions": "a program may change to the mode yolo at any time",
	"await-initialize":                   "nothing begins before the first prompt",
	"initialize-fields":                  "nothing begins before the first prompt",
	"managed-settings-in-initialize":     "initialize is read before the first prompt",
	"thinking-display":                   "thinking is shown as the provider sends it",
	"debug":                              "pawl why explains the last problem; --output-format stream-json prints every event",
	"skip-git-repo-check":                "pawl works in any folder",
	"stream":                             "replies are printed as they arrive",
}

// sameWords maps other agents' names of values to pawl's, by flag.
var sameWords = map[string]map[string]string{
	"sandbox":         {"workspace-write": "workspace", "danger-full-access": "off", "readonly": "read-only"},
	"permission-mode": {"suggest": "ask", "full-auto": "auto", "on-request": "ask", "untrusted": "ask"},
	"output-format":   {"plain": "text", "jsonl": "stream-json", "streaming-json": "stream-json"},
	"effort":          {"off": "minimal", "none": "minimal", "disabled": "minimal", "adaptive": ""}, // "": as the model has it
}

const (
	putKey   = "pawl login PROVIDER, or set the provider's key in the environment, such as ANTHROPIC_API_KEY; pawl models lists them"
	putRules = "write it into AGENTS.md; pawl rules shows what is read"
	putFile  = "name the file in the prompt: @FILE"
	ownCheck = "pawl runs the project's checks after changes; --until 'COMMAND' works until the command passes"
	commits  = "pawl commits nothing by itself; pawl undo undoes changes"
	rebuild  = "go install github.com/pawl-agent/pawl/cmd/pawl@latest, or your package manager"
)

// otherFlags maps flags of other agents to pawl's replacement.
var otherFlags = map[string]string{
	// Claude Code
	"--tmux":   "start pawl in tmux yourself",
	"--agents": "write them into .claude/agents or .pawl/agents", "--ide": "start pawl in the editor's terminal",
	"--from-pr":                   "pipe the pull request into pawl: gh pr diff | pawl run \"…\"",
	"--append-system-prompt-file": "--append-system-prompt \"$(cat FILE)\"", "--system-prompt-file": "--system-prompt \"$(cat FILE)\"",
	"--disable-slash-commands": "only a person can use slash commands, in a conversation", "--teleport": "sessions are on this machine: pawl sessions list", "--remote": "sessions are on this machine: pawl sessions list",
	// Codex
	"--ask-for-approval": "--permission-mode ask, accept-edits or auto; pawl run asks nobody", "--profile": "PAWL_HOME chooses another folder for settings",
	"--config": "pawl config set KEY VALUE", "--image": putFile, "--oss": "-m ollama/MODEL", "--local-provider": "-m ollama/MODEL or -m lmstudio/MODEL",
	"--output-last-message": "pawl run prints only the answer on standard output: > FILE", "--output-schema": "--json-schema FILE",
	"--last": "--continue", "--search": "the model can use web_search if its provider offers it, or if search.api is configured", "--color": "NO_COLOR=1 turns colours off", "--enable": "pawl config set KEY VALUE", "--disable": "pawl config set KEY VALUE",
	"--quiet": "pawl run prints only the answer on standard output",
	// Gemini CLI
	"--prompt-interactive": "pawl \"PROMPT\" starts a conversation with this prompt", "--all-files": "pawl reads what it needs; name files with @FILE", "--checkpointing": "it is always on: pawl undo, /rewind",
	"--extensions": "pawl has no extensions", "--list-extensions": "pawl has no extensions", "--list-sessions": "pawl sessions list", "--delete-session": "pawl sessions delete ID",
	"--show-memory-usage": "pawl stats", "--telemetry": "--metrics-addr 127.0.0.1:9464; nothing is sent anywhere", "--experimental-acp": "pawl acp", "--acp": "pawl acp", "--allowed-mcp-server-names": "--deny 'mcp__SERVER' removes a server's tools",
	// opencode, Crush, pi
	"--format": "--output-format json or stream-json", "--share": "pawl sessions export --html writes a page that you can share", "--title": "pawl sessions lists sessions by the start of their first prompt",
	"--data-dir": "PAWL_HOME chooses another folder for settings and sessions", "--attach": "pawl attach watches a session on this machine; pawl sessions list", "--port": "pawl acp is for editors, pawl run --output-format stream-json for programs", "--hostname": "pawl acp is for editors, pawl run --output-format stream-json for programs",
	"--mode": "--output-format stream-json for programs; --permission-mode for permissions", "--provider": "-m PROVIDER/MODEL", "--models": "/model in a conversation; --fallback-model if the first does not answer", "--list-models": "pawl models",
	"--no-tools": "--permission-mode plan only reads", "--export": "pawl sessions export --html", "--extension": "pawl has no extensions; MCP servers, hooks and skills are files", "--skill": "pawl reads .agents/skills, .claude/skills and .pawl/skills",
	"--session-dir": "PAWL_HOME chooses another folder for settings and sessions", "--variant": "--effort LEVEL", "--command": "/COMMAND in the prompt",
	// aider
	"--message-file": "pawl run < FILE", "--yes": "--permission-mode auto, or --yolo", "--yes-always": "--permission-mode auto, or --yolo",
	"--file": putFile, "--read": putFile, "--test-cmd": ownCheck, "--auto-test": ownCheck, "--lint-cmd": ownCheck, "--auto-lint": ownCheck, "--test": ownCheck, "--lint": ownCheck,
	"--auto-commits": commits, "--no-auto-commits": commits, "--dirty-commits": commits, "--commit": commits, "--no-git": "pawl needs no git",
	"--architect": "--permission-mode plan", "--edit-format": "pawl offers each model the edit tool that it knows", "--weak-model": "-m chooses the model; pawl uses only one", "--editor-model": "-m chooses the model; pawl uses only one",
	"--api-key": putKey, "--openai-api-key": putKey, "--anthropic-api-key": putKey, "--watch-files": "write to pawl in the conversation", "--map-tokens": "pawl reads what it needs, and sends no map of the repository",
	"--restore-chat-history": "--continue", "--dark-mode": "the terminal's own colours are used", "--light-mode": "the terminal's own colours are used", "--chat-language": putRules, "--conventions": putRules,
}

// otherShort maps one-letter flags of other agents to pawl's replacement.
var otherShort = map[string]string{
	"a": "--permission-mode ask, accept-edits or auto", "s": "--sandbox workspace, read-only or off", "i": "pawl \"PROMPT\" starts a conversation with this prompt; @FILE in it attaches a file",
	"f": "pawl run < FILE, or name the file in the prompt: @FILE", "d": "--output-format stream-json shows every event",
	"q": "pawl run prints only the answer on standard output", "o": "--output-format text, json or stream-json", "e": "pawl run \"PROMPT\"", "n": "pawl sessions lists sessions by the start of their first prompt",
}

// otherCommands are commands of other agents. The next word decides whether such a word
// is meant as a command; subcommands lists the words that decide so.
var otherCommands = map[string]string{
	"update": rebuild, "upgrade": rebuild, "install": rebuild, "self-update": rebuild,
	"auth": putKey, "setup-token": putKey,
	"resume": "pawl --continue, or pawl --resume ID", "continue": "pawl --continue", "fork": "pawl --continue --fork-session", "chat": "pawl without arguments starts a conversation",
	"init": "write AGENTS.md; pawl rules shows what is read", "apply": "changes are made at once; pawl diff shows them and pawl undo undoes them", "review": "pawl \"review my changes\"",
	"agents": "agents are defined in .claude/agents or .pawl/agents", "agent": "agents are defined in .claude/agents or .pawl/agents", "plugins": "pawl plugin", "extensions": "pawl plugin", "skills": "skills are files in .agents/skills, .claude/skills or .pawl/skills",
	"export": "pawl sessions export, --html for a page", "import": "pawl sessions import FILE", "share": "pawl sessions export --html writes a page that you can share", "web": "pawl is in the terminal; pawl acp is for editors", "logs": "pawl why, pawl sessions show", "update-providers": "the list of models is part of pawl; add your own with pawl config", "uninstall": "remove the binary; pawl config path and pawl doctor print its folders",
	"commit": commits, "session": "pawl sessions", "cost": "pawl stats", "model": "pawl models", "settings": "pawl config", "completions": "pawl completion bash, zsh or fish",
}

var subcommands = strings.Fields("add add-json remove rm list ls get set show serve login logout status install uninstall enable disable update new delete start stop run help import reset")

// isSubcommand reports whether a word is a subcommand, and not part of a sentence.
func isSubcommand(s string) bool {
	return slices.Contains(subcommands, s) || strings.HasPrefix(s, "-")
}

// severalValues are the flags for which Claude Code accepts several arguments, with a
// test for such an argument.
var severalValues = map[string]func(string) bool{
	"--allowedTools": isRule, "--allowed-tools": isRule, "--disallowedTools": isRule, "--disallowed-tools": isRule, "--add-dir": isFolder,
}

// withName joins --worktree with the name after it, which may be missing. A prompt has
// several words.
func withName(args []string) []string {
	var out []string
	for i := 0; i < len(args); i++ {
		switch {
		case args[i] == "--":
			return append(out, args[i:]...)
		case (args[i] == "--worktree" || args[i] == "-w") && i+1 < len(args) && !strings.HasPrefix(args[i+1], "-") && !strings.ContainsAny(args[i+1], " \t\n"):
			out = append(out, "--worktree="+args[i+1])
			i++
		default:
			out = append(out, args[i])
		}
	}
	return out
}

var aRule = lazyregexp.New(`^(mcp__\w+|(Bash|BashOutput|KillShell|Edit|MultiEdit|Read|Write|Glob|Grep|LS|Task|TodoWrite|WebFetch|WebSearch|NotebookEdit|NotebookRead|Skill)(\(.*\))?)$`)

func isRule(s string) bool { return aRule().MatchString(s) }

func isFolder(s string) bool {
	st, err := os.Stat(s)
	return err == nil && st.IsDir() && strings.ContainsAny(s, `/\`)
}

// oneByOne repeats a flag before each of its several arguments, which would otherwise
// be part of the prompt.
func oneByOne(args []string) []string {
	var out []string
	for i := 0; i < len(args); i++ {
		if args[i] == "--" {
			return append(out, args[i:]...)
		}
		out = append(out, args[i])
		name, _, whole := strings.Cut(args[i], "=")
		fits := severalValues[name]
		if fits == nil || i+1 >= len(args) {
			continue
		}
		if !whole {
			i++
			out = append(out, args[i])
		}
		for i+1 < len(args) && fits(args[i+1]) {
			i++
			out = append(out, name, args[i])
		}
	}
	return out
}

// anOverride matches a setting in Codex's form, -c KEY=VALUE.
var anOverride = lazyregexp.New(`^[a-z_]+(\.[\w-]+)*=\S`)

// notAnOverride refuses a setting after -c, which in pawl means to continue the
// session.
func (f *flags) notAnOverride(args []string) error {
	if f.Continue && len(args) > 0 && anOverride().MatchString(args[0]) {
		key, value, _ := strings.Cut(args[0], "=")
		return usageError("-c continues the newest session here, and %s is not a prompt; to change a setting: pawl config set %s %s", args[0], key, value)
	}
	return nil
}
