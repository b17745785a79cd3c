package tool

import (
	"encoding/json"
	"strconv"
	"strings"
)

// This file has what other agents' tools call things: Claude Code and its text editor,
// Codex, Gemini CLI, qwen-code, opencode.

// argAliases maps their names for arguments to pawl's; the first that the tool has is it.
var argAliases = map[string][]string{
	"file_path": {"path"}, "filepath": {"path"}, "filePath": {"path"}, "file": {"path"}, "filename": {"path"}, "absolute_path": {"path"}, "notebook_path": {"path"},
	"target_file": {"path"}, "dir_path": {"path"}, "directory": {"path"}, "folder": {"path"}, "paths": {"files"}, "file_paths": {"files"},
	"old_string": {"old"}, "old_str": {"old"}, "oldString": {"old"}, "old_text": {"old"}, "oldText": {"old"}, "search": {"old", "pattern"},
	"new_string": {"new"}, "new_str": {"new"}, "newString": {"new"}, "new_text": {"new"}, "newText": {"new"}, "insert_text": {"new"},
	"replaceAll": {"replace_all"}, "allow_multiple": {"replace_all"},
	"text": {"content"}, "contents": {"content"}, "file_text": {"content"}, "content": {"text"}, "step": {"text"}, "description": {"text"}, "title": {"text"},
	"cmd": {"command"}, "script": {"command"}, "query": {"pattern"}, "regex": {"pattern"}, "include": {"glob"}, "include_pattern": {"glob"},
	"-i": {"ignore_case"}, "case_insensitive": {"ignore_case"}, "fixed_strings": {"literal"}, "names_only": {"files_only"}, "-C": {"context"},
	"run_in_background": {"background"}, "is_background": {"background"}, "todos": {"items"}, "plan": {"items"},
	"input": {"patch"}, "diff": {"patch"}, "patchText": {"patch"}, "patch_text": {"patch"},
	"bash_id": {"id"}, "shell_id": {"id"}, "task_id": {"id"}, "session_id": {"id"}, "fact": {"note"}, "subagent_type": {"agent"},
	"start_line": {"from"}, "startLine": {"from"}, "end_line": {"to"}, "endLine": {"to"}, "col": {"column"}, "character": {"column"}, "operation": {"look"}, "newName": {"new_name"}, "symbol_name": {"symbol"},
}

// valueAliases maps their values to pawl's.
var valueAliases = map[string]string{
	"completed": "done", "complete": "done", "finished": "done", "cancelled": "done", "canceled": "done",
	"gotodefinition": "definition", "findreferences": "references", "documentsymbol": "symbols", "workspacesymbol": "symbols",
	"todo": "pending", "not_started": "pending", "open": "pending", "in-progress": "in_progress", "doing": "in_progress",
}

// unimportant are arguments that explain a call, or format its result or its question.
var unimportant = map[string]bool{
	"description": true, "explanation": true, "instruction": true, "reason": true, "justification": true, "activeForm": true, "priority": true,
	"yield_time_ms": true, "max_output_tokens": true, "login": true, "tty": true, "shell": true, "head_limit": true, "-n": true, "output_mode": true,
	"modified_by_user": true, "ai_proposed_content": true, "expected_replacements": true,
	// These ask for more rights, which nothing in a call can give itself.
	"sandbox_permissions": true, "with_escalated_permissions": true, "dangerouslyDisableSandbox": true, "prefix_rule": true,
}

// conversions are arguments that say the same in another way. Each adds what pawl calls
// it, and returns the name of that; "" where the tool has nothing of the kind.
var conversions = map[string]func(given fields, s *shape) string{
	// Lines by where they begin and how many they are.
	"offset": func(given fields, s *shape) string { return lineRange(given, s, "offset") },
	"limit":  func(given fields, s *shape) string { return lineRange(given, s, "limit") },
	// The first and the last line; -1 is the end of the file.
	"view_range": func(given fields, s *shape) string {
		var r []int
		if !s.has("from") || json.Unmarshal(given["view_range"], &r) != nil || len(r) != 2 {
			return ""
		}
		given["from"] = number(max(r[0], 1))
		if r[1] > 0 {
			given["to"] = number(r[1])
		}
		return "from, to"
	},
	// The line behind which text is inserted.
	"insert_line": func(given fields, s *shape) string {
		at, ok := integer(given["insert_line"])
		if !ok || !s.has("from") || !s.has("new") {
			return ""
		}
		given["from"], given["to"] = number(at+1), number(at)
		return "from, to"
	},
	// What a tool of several commands is told to do: the tool was chosen by it.
	"command": func(given fields, s *shape) string {
		if textCommands[textOf(given["command"])] == "" {
			return ""
		}
		if textOf(given["command"]) == "str_replace" && given["new"] == nil {
			given["new"] = json.RawMessage(`""`)
		}
		return "command"
	},
	"-A":     around,
	"-B":     around,
	"before": around,
	"after":  around,
	"case_sensitive": func(given fields, s *shape) string {
		if s.has("ignore_case") && given["ignore_case"] == nil {
			given["ignore_case"] = json.RawMessage(strconv.FormatBool(string(given["case_sensitive"]) == "false"))
		}
		return "ignore_case"
	},
	"output_mode": func(given fields, s *shape) string {
		if !s.has("files_only") || textOf(given["output_mode"]) != "files_with_matches" {
			return ""
		}
		given["files_only"] = json.RawMessage("true")
		return "files_only"
	},
	"type": func(given fields, s *shape) string {
		glob := fileTypes[textOf(given["type"])]
		if !s.has("glob") || given["glob"] != nil || glob == "" {
			return ""
		}
		given["glob"] = quote(glob)
		return "glob"
	},
	"timeout_ms": func(given fields, s *shape) string {
		ms, ok := integer(given["timeout_ms"])
		if !ok || !s.has("timeout") {
			return ""
		}
		given["timeout"] = number((ms + 999) / 1000)
		return "timeout"
	},
	// More than one replacement was expected: all are meant.
	"expected_replacements": func(given fields, s *shape) string {
		if n, ok := integer(given["expected_replacements"]); !ok || n < 2 || !s.has("replace_all") {
			return ""
		}
		given["replace_all"] = json.RawMessage("true")
		return "replace_all"
	},
	"workdir":   inFolder("workdir"),
	"cwd":       inFolder("cwd"),
	"directory": inFolder("directory"),
	"dir_path":  inFolder("dir_path"),
}

// maxSeconds is more seconds than a call may take: a longer time is in milliseconds.
const maxSeconds = 3600

// commandLine reads a command as a list of words, and its time in milliseconds.
func (a *accepting) commandLine(given fields, s *shape) {
	if s.Properties["command"] == nil {
		return
	}
	var words []string
	if json.Unmarshal(given["command"], &words) == nil && len(words) > 0 {
		line := shellLine(words)
		given["command"] = quote(line)
		a.changed = true
	}
	if n, ok := integer(given["timeout"]); ok && n > maxSeconds {
		given["timeout"] = number(n / 1000)
		a.read("timeout in milliseconds", "seconds")
	}
}

// shellLine returns words as a command line; of bash -lc LINE it is the line.
func shellLine(words []string) string {
	if len(words) == 3 && (words[1] == "-c" || words[1] == "-lc") {
		return words[2]
	}
	if len(words) == 1 {
		return words[0]
	}
	quoted := make([]string, len(words))
	for i, w := range words {
		quoted[i] = shellWord(w)
	}
	return strings.Join(quoted, " ")
}

func shellWord(w string) string {
	plain := func(r rune) bool {
		return r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' || strings.ContainsRune("_-./=:,+@%", r)
	}
	if w != "" && strings.TrimFunc(w, plain) == "" {
		return w
	}
	return "'" + strings.ReplaceAll(w, "'", `'\''`) + "'"
}

// around reads lines before or after a match as lines around it.
func around(given fields, s *shape) string {
	if !s.has("context") {
		return ""
	}
	most := 0
	for _, k := range []string{"context", "-A", "-B", "before", "after"} {
		if n, ok := integer(given[k]); ok {
			most = max(most, n)
		}
	}
	given["context"] = number(most)
	return "context"
}

func lineRange(given fields, s *shape, which string) string {
	if !s.has("from") || !s.has("to") {
		return ""
	}
	from, hasFrom := integer(given["offset"])
	if was, ok := integer(given["from"]); ok {
		from, hasFrom = was, true
	}
	if hasFrom && from > 0 {
		given["from"] = number(from)
	}
	if n, ok := integer(given["limit"]); ok && n > 0 && given["to"] == nil {
		given["to"] = number(max(from, 1) + n - 1)
	}
	if which == "offset" {
		return "from"
	}
	return "to"
}

// inFolder reads the folder in which a command runs.
func inFolder(name string) func(fields, *shape) string {
	return func(given fields, s *shape) string {
		var dir, command string
		if s.Properties["command"] == nil || json.Unmarshal(given[name], &dir) != nil || json.Unmarshal(given["command"], &command) != nil {
			return ""
		}
		if dir = strings.TrimSpace(dir); dir == "" || dir == "." || dir == "./" {
			return "command"
		}
		if strings.ContainsAny(command, "\n;|&#") {
			command = "{\n" + command + "\n}"
		}
		given["command"] = quote("cd " + shellWord(dir) + " && " + command)
		return "command"
	}
}

// textCommands are the tools of what the text editor tools of Anthropic are told to do.
var textCommands = map[string]string{"view": "read", "create": "write", "str_replace": "edit", "insert": "edit"}

// ofSeveral returns the name of the tool that a call is for, where that depends on the
// arguments.
func (s Set) ofSeveral(name string, args json.RawMessage) string {
	switch PlainName(name) {
	case "strreplacebasededittool", "strreplaceeditor", "edit":
	default:
		return name
	}
	var given fields
	if json.Unmarshal(args, &given) != nil {
		return name
	}
	if to := textCommands[textOf(given["command"])]; to != "" {
		return to
	}
	if _, known := s.Find("multi_edit"); known && given["edits"] != nil {
		return "multi_edit"
	}
	return name
}

// fileTypes are the globs of ripgrep's types.
var fileTypes = map[string]string{
	"go": "*.go", "py": "*.{py,pyi}", "python": "*.{py,pyi}", "js": "*.{js,jsx,mjs,cjs,vue}", "ts": "*.{ts,tsx,mts,cts}", "tsx": "*.tsx", "rust": "*.rs", "rs": "*.rs",
	"java": "*.java", "kotlin": "*.{kt,kts}", "swift": "*.swift", "c": "*.{c,h}", "cpp": "*.{cpp,cc,cxx,hpp,hh,hxx,h}", "cs": "*.cs", "csharp": "*.cs", "ruby": "*.rb", "rb": "*.rb", "php": "*.php",
	"sh": "*.{sh,bash,zsh}", "md": "*.{md,markdown}", "markdown": "*.{md,markdown}", "json": "*.json", "yaml": "*.{yaml,yml}", "toml": "*.toml", "html": "*.{html,htm}", "css": "*.{css,scss}", "sql": "*.sql", "proto": "*.proto",
}

func textOf(raw json.RawMessage) string {
	var s string
	_ = json.Unmarshal(raw, &s) // anything else is no text
	return s
}

func integer(raw json.RawMessage) (int, bool) {
	var n int
	if json.Unmarshal(raw, &n) == nil {
		return n, len(raw) > 0
	}
	n, err := strconv.Atoi(textOf(raw))
	return n, err == nil
}

func number(n int) json.RawMessage { return json.RawMessage(strconv.Itoa(n)) }
