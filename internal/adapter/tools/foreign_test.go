package tools

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/pawl-agent/pawl/internal/core/tool"
)

// allTools are the tools that a model may have, in the order in which it sees them.
func allTools() tool.Set {
	return tool.Set{
		Read(), Grep(), Glob(), Ls(), Edit(), MultiEdit(), Write(), ApplyPatch(), Bash(), BashOutput(), BashKill(),
		WebFetch(), WebSearch(), Todo(), AskUser(), Remember(),
	}
}

// SPEC 20.1, 4.4, 4.5: calls in the forms of other agents are read, at any depth: what
// they call tools, arguments and values. What only formats is left out.
func TestCallsOfOtherAgents(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ name, args, tool, want, says string }{
		// Claude Code
		{"Read", `{"file_path":"a","offset":5,"limit":10}`, "read", `{"files":[{"from":5,"path":"a","to":14}]}`, "file_path → path"},
		{"Read", `{"file_path":"a","limit":"10"}`, "read", `{"files":[{"path":"a","to":10}]}`, ""},
		{"Grep", `{"pattern":"x","output_mode":"content","-n":true,"-A":2,"-B":"3","-C":1,"head_limit":50,"glob":"*.go"}`, "grep", `{"context":3,"glob":"*.go","pattern":"x"}`, "-A → context"},
		{"Grep", `{"pattern":"x","output_mode":"files_with_matches","type":"py","-i":true}`, "grep", `{"files_only":true,"glob":"*.{py,pyi}","ignore_case":true,"pattern":"x"}`, "type → glob"},
		{"Grep", `{"pattern":"x","type":"cobol","multiline":true}`, "grep", `{"pattern":"x"}`, "left out, not known here: multiline, type"},
		{"Edit", `{"file_path":"a","old_string":"x","new_string":"y","replace_all":"true"}`, "edit", `{"new":"y","old":"x","path":"a","replace_all":true}`, ""},
		{"MultiEdit", `{"file_path":"a","edits":[{"old_string":"x","new_string":"y","replace_all":true},{"old_string":"z","new_string":""}]}`, "multi_edit", `{"edits":[{"new":"y","old":"x","path":"a","replace_all":true},{"new":"","old":"z","path":"a"}]}`, ""},
		{"MultiEdit", `{"file_path":"a","edits":"[{\"old_string\":\"x\",\"new_string\":\"y\"}]"}`, "multi_edit", `{"edits":[{"new":"y","old":"x","path":"a"}]}`, ""},
		{"multi_edit", `{"path":"a","edits":[{"file_path":"b","old":"x","new":"y"}]}`, "multi_edit", `{"edits":[{"new":"y","old":"x","path":"b"}]}`, ""},
		{"Bash", `{"command":"ls","timeout":120000,"run_in_background":true,"dangerouslyDisableSandbox":true}`, "bash", `{"background":true,"command":"ls","timeout":120}`, ""},
		{"TodoWrite", `{"todos":[{"content":"x","status":"completed","activeForm":"Doing x","id":"1","priority":"high"},{"content":"y","status":"in_progress"}]}`, "todo", `{"items":[{"status":"done","text":"x"},{"status":"in_progress","text":"y"}]}`, "completed → done"},
		{"AskUserQuestion", `{"questions":[{"question":"Which?","header":"DB","multiSelect":false,"options":[{"label":"A","description":"a"},{"label":"B"}]}]}`, "ask_user", `{"options":["A","B"],"question":"Which?"}`, ""},
		{"WebFetch", `{"url":"https://a.b","prompt":"what"}`, "web_fetch", `{"url":"https://a.b"}`, "left out, not known here: prompt"},
		// Anthropic's text editor
		{"str_replace_based_edit_tool", `{"command":"view","path":"a","view_range":[3,-1]}`, "read", `{"files":[{"from":3,"path":"a"}]}`, ""},
		{"str_replace_editor", `{"command":"create","path":"a","file_text":"x"}`, "write", `{"content":"x","path":"a"}`, ""},
		{"str_replace_editor", `{"command":"str_replace","path":"a","old_str":"x"}`, "edit", `{"new":"","old":"x","path":"a"}`, ""},
		{"str_replace_based_edit_tool", `{"command":"insert","path":"a","insert_line":0,"insert_text":"x"}`, "edit", `{"from":1,"new":"x","path":"a","to":0}`, ""},
		// Gemini CLI and qwen-code
		{"replace", `{"file_path":"a","instruction":"why","old_string":"x","new_string":"y","allow_multiple":true}`, "edit", `{"new":"y","old":"x","path":"a","replace_all":true}`, ""},
		{"replace", `{"file_path":"a","old_string":"x","new_string":"y","expected_replacements":3}`, "edit", `{"new":"y","old":"x","path":"a","replace_all":true}`, ""},
		{"write_file", `{"file_path":"a","content":"x"}`, "write", `{"content":"x","path":"a"}`, ""},
		{"read_file", `{"absolute_path":"/w/a","start_line":1,"end_line":9}`, "read", `{"files":[{"from":1,"path":"/w/a","to":9}]}`, ""},
		{"read_many_files", `{"paths":["a","b"],"recursive":true}`, "read", `{"files":[{"path":"a"},{"path":"b"}]}`, ""},
		{"run_shell_command", `{"command":"go test","directory":"sub","description":"d","is_background":false}`, "bash", `{"background":false,"command":"cd sub \u0026\u0026 go test","description":"d"}`, ""},
		{"grep_search", `{"pattern":"x","dir_path":"src","include_pattern":"*.ts","case_sensitive":false,"before":1,"after":4}`, "grep", `{"context":4,"glob":"*.ts","ignore_case":true,"path":"src","pattern":"x"}`, ""},
		{"todo_write", `{"todos":[{"description":"x","status":"cancelled"}]}`, "todo", `{"items":[{"status":"done","text":"x"}]}`, ""},
		{"list_directory", `{"dir_path":"src","ignore":["x"]}`, "ls", `{"path":"src"}`, ""},
		// Codex
		{"exec_command", `{"cmd":"go test ./... | tail","workdir":"it's","yield_time_ms":1000,"max_output_tokens":5}`, "bash", `{"command":"cd 'it'\\''s' \u0026\u0026 {\ngo test ./... | tail\n}"}`, ""},
		{"shell", `{"command":["bash","-lc","ls -la"],"workdir":".","timeout_ms":1500}`, "bash", `{"command":"ls -la","timeout":2}`, ""},
		{"shell", `{"command":["git","commit","-m","a b"]}`, "bash", `{"command":"git commit -m 'a b'"}`, ""},
		{"update_plan", `{"explanation":"e","plan":[{"step":"x","status":"completed"}]}`, "todo", `{"items":[{"status":"done","text":"x"}]}`, ""},
		{"apply_patch", `{"input":"p"}`, "apply_patch", `{"patch":"p"}`, ""},
		// opencode and pi
		{"edit", `{"filePath":"a","oldString":"x","newString":"y","replaceAll":true}`, "edit", `{"new":"y","old":"x","path":"a","replace_all":true}`, ""},
		{"edit", `{"path":"a","edits":[{"oldText":"x","newText":"y"}]}`, "multi_edit", `{"edits":[{"new":"y","old":"x","path":"a"}]}`, ""},
		{"apply_patch", `{"patchText":"p"}`, "apply_patch", `{"patch":"p"}`, ""},
		// pawl's own form is not touched
		{"read", `{"files":[{"path":"a","from":1}]}`, "read", `{"files":[{"path":"a","from":1}]}`, ""},
		{"write", `{"path":"a","content":"command: view"}`, "write", `{"path":"a","content":"command: view"}`, ""},
		{"bash", `{"command":"view","description":"d"}`, "bash", `{"command":"view","description":"d"}`, ""},
	} {
		tl, args, ok := allTools().Meant(c.name, json.RawMessage(c.args))
		if !ok || tl.Spec.Name != c.tool {
			t.Errorf("%s %s: is %q", c.name, c.args, tl.Spec.Name)
			continue
		}
		args, notes := tl.Accept(args)
		want := strings.ReplaceAll(strings.ReplaceAll(c.want, "\n", `\n`), `\u0026`, "&")
		if got := strings.ReplaceAll(string(args), `\u0026`, "&"); got != want {
			t.Errorf("%s %s:\n%s, want\n%s", c.name, c.args, got, want)
		}
		if err := tl.Check(args); err != nil {
			t.Errorf("%s %s: %v", c.name, c.args, err)
		}
		if said := strings.Join(notes, "; "); !strings.Contains(said, c.says) || len(notes) > 2 {
			t.Errorf("%s %s: says %q, want %q", c.name, c.args, said, c.says)
		}
		if again, _ := tl.Accept(args); string(again) != string(args) {
			t.Errorf("%s %s: read again %s", c.name, args, again)
		}
	}
}

// SPEC 4.5, 20.2: what cannot be read stays as it is: nothing that changes files or runs
// commands loses an argument that may matter, and the tool says what it takes.
func TestArgumentsThatAreNotRead(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ name, args string }{
		{"bash", `{"command":"ls","environment":{"A":"b"}}`},
		{"edit", `{"path":"a","old":"x","new":"y","fuzzy":true}`},
		{"write", `{"path":"a","content":"x","mode":"append"}`},
		{"multi_edit", `{"edits":[{"path":"a","old":"x","new":"y","line":3}]}`},
		{"str_replace_editor", `{"command":"undo_edit","path":"a"}`},
		{"bash", `[]`},
	} {
		tl, args, ok := allTools().Meant(c.name, json.RawMessage(c.args))
		if !ok {
			t.Fatalf("%s: no tool", c.name)
		}
		if args, _ = tl.Accept(args); tl.Check(args) == nil {
			t.Errorf("%s %s is taken as %s", c.name, c.args, args)
		}
	}
	if got, want := MultiEdit().Takes(), "edits (required); each of edits: new (required), old (required), path (required), replace_all"; got != want {
		t.Errorf("%q, want %q", got, want)
	}
	// A tool from outside keeps what it was given.
	outside := tool.Raw(Read().Spec, nil, nil)
	outside.Spec.Name, outside.ReadOnly = "mcp__a__read", true
	if args, _ := outside.Accept(json.RawMessage(`{"files":["a"],"more":1}`)); string(args) != `{"files":["a"],"more":1}` {
		t.Errorf("%s", args)
	}
}
