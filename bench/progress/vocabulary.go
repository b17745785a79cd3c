package main

import (
	"encoding/json"
	"fmt"
	"strings"

	"github.com/pawl-agent/pawl/internal/policy/progress"
	"github.com/pawl-agent/pawl/internal/policy/trajectory"
)

// vocabulary is how one kind of agent writes its calls and what surrounds their
// results. The words are those of the agents; the code is ours.
type vocabulary struct {
	name string
	// read shows a range of lines, edit replaces a text, write makes a file, run
	// runs a command line, think thinks, finish hands in.
	read   func(path string, from, to int) (tool, args string)
	edit   func(path, old, text string) (tool, args string)
	write  func(path, text string) (tool, args string)
	run    func(line string) (tool, args string)
	think  func(text string) (tool, args string)
	finish func(text string) (tool, args string)
	// wrap returns how the agent shows a result, the i-th of the run.
	wrap func(text string, exit, i int) string
}

func object(kv ...any) string {
	m := map[string]any{}
	for i := 0; i < len(kv); i += 2 {
		m[kv[i].(string)] = kv[i+1]
	}
	b, err := json.Marshal(m)
	if err != nil {
		panic(err) // texts and numbers can be encoded
	}
	return string(b)
}

func heredoc(path, text string) string {
	return "cat > " + path + " <<'EOF'\n" + text + "\nEOF"
}

func numbered(text string, _, _ int) string {
	var b strings.Builder
	for i, l := range strings.Split(text, "\n") {
		fmt.Fprintf(&b, "%6d\t%s\n", i+1, l)
	}
	return b.String()
}

// vocabularies are the vocabularies of loops and innocent runs.
func vocabularies() []vocabulary {
	bare := func(text string, exit, _ int) string {
		if exit != 0 {
			return text + fmt.Sprintf("\nexit code %d", exit)
		}
		return text
	}
	return []vocabulary{
		{
			name: "pawl",
			read: func(p string, a, b int) (string, string) {
				return "read", object("files", []any{map[string]any{"path": p, "from": a, "to": b}})
			},
			edit: func(p, o, n string) (string, string) {
				return "edit", object("path", p, "old", o, "new", n)
			},
			write:  func(p, t string) (string, string) { return "write", object("path", p, "content", t) },
			run:    func(l string) (string, string) { return "bash", object("command", l, "description", "run it") },
			think:  func(t string) (string, string) { return "todo", object("items", t) },
			finish: func(t string) (string, string) { return "finish", object("summary", t) },
			wrap:   bare,
		},
		{
			name: "openhands",
			read: func(p string, a, b int) (string, string) {
				return "str_replace_editor", object("command", "view", "path", p, "view_range", []any{a, b})
			},
			edit: func(p, o, n string) (string, string) {
				return "str_replace_editor", object("command", "str_replace", "path", p, "old_str", o, "new_str", n)
			},
			write: func(p, t string) (string, string) {
				return "str_replace_editor", object("command", "create", "path", p, "file_text", t)
			},
			run: func(l string) (string, string) {
				return "execute_bash", object("command", l, "is_input", "false", "security_risk", "LOW")
			},
			think:  func(t string) (string, string) { return "think", object("thought", t) },
			finish: func(t string) (string, string) { return "finish", object("message", t) },
			wrap: func(text string, exit, _ int) string {
				return text + "\n[The command completed with exit code " + fmt.Sprint(exit) +
					".]\n[Current working directory: /workspace/p]\n[Python interpreter: /usr/bin/python]\n[Command finished with exit code " + fmt.Sprint(exit) + "]"
			},
		},
		{
			name: "swe-agent",
			read: func(p string, a, _ int) (string, string) { return "open", fmt.Sprintf("open %q %d", p, a) },
			edit: func(p, o, n string) (string, string) {
				return "str_replace_editor", object("command", "str_replace", "path", p, "old_str", o, "new_str", n)
			},
			write:  func(p, t string) (string, string) { return "create", object("filename", p, "text", t) },
			run:    func(l string) (string, string) { return "bash", object("command", l) },
			think:  func(t string) (string, string) { return "think", object("thought", t) },
			finish: func(string) (string, string) { return "submit", "" },
			wrap: func(text string, _, _ int) string {
				if text == "" {
					text = "Your command ran successfully and did not produce any output."
				}
				return text + "\n(Open file: /repo/a.py)\n(Current directory: /repo)\nbash-$"
			},
		},
		{
			name: "codex",
			read: func(p string, a, b int) (string, string) {
				return "shell", object("command", []any{"bash", "-lc", fmt.Sprintf("sed -n '%d,%dp' %s", a, b, p)}, "timeout_ms", 10000)
			},
			edit: func(p, o, n string) (string, string) {
				return "apply_patch", object("path", p, "input", "*** Update File: "+p+"\n-"+o+"\n+"+n)
			},
			write: func(p, t string) (string, string) {
				return "apply_patch", object("path", p, "input", "*** Add File: "+p+"\n+"+t)
			},
			run:    func(l string) (string, string) { return "shell", object("command", []any{"bash", "-lc", l}) },
			think:  func(t string) (string, string) { return "update_plan", object("plan", t) },
			finish: func(t string) (string, string) { return "task_complete", object("text", t) },
			wrap: func(text string, exit, i int) string {
				return object("output", text, "metadata", map[string]any{"exit_code": exit, "duration_seconds": float64(i%7) / 10})
			},
		},
		{
			name: "bash only",
			read: func(p string, a, b int) (string, string) {
				return "bash", object("command", fmt.Sprintf("nl -ba %s | sed -n '%d,%dp'", p, a, b))
			},
			edit: func(p, o, n string) (string, string) {
				return "bash", object("command", fmt.Sprintf("sed -i 's/%s/%s/' %s", o, n, p), "path", p)
			},
			write:  func(p, t string) (string, string) { return "bash", object("command", heredoc(p, t), "path", p) },
			run:    func(l string) (string, string) { return "bash", object("command", l) },
			think:  func(t string) (string, string) { return "bash", object("command", "echo "+fmt.Sprintf("%q", t)) },
			finish: func(string) (string, string) { return "submit", "" },
			wrap: func(text string, exit, _ int) string {
				return fmt.Sprintf("<returncode>%d</returncode>\n<output>\n%s</output>", exit, text)
			},
		},
		{
			name: "editor plugin",
			read: func(p string, a, b int) (string, string) {
				return "read_file", object("target_file", p, "start_line", a, "end_line", b, "explanation", "look")
			},
			edit: func(p, o, n string) (string, string) {
				return "search_replace", object("file_path", p, "old_string", o, "new_string", n)
			},
			write: func(p, t string) (string, string) { return "write_to_file", object("path", p, "content", t) },
			run: func(l string) (string, string) {
				return "run_terminal_cmd", object("command", l, "explanation", "run it")
			},
			think:  func(t string) (string, string) { return "todo_write", object("todos", t) },
			finish: func(t string) (string, string) { return "attempt_completion", object("result", t) },
			wrap: func(text string, exit, i int) string {
				return fmt.Sprintf("Exit code: %d\nWall time: %d.%d seconds\nOutput:\n%s", exit, i%3, i%9, text)
			},
		},
	}
}

// teller makes calls of one vocabulary and counts them.
type teller struct {
	v vocabulary
	n int
}

func (t *teller) call(tool, args, result string, exit int) trajectory.Call {
	t.n++
	c := trajectory.Call{Tool: tool, Args: args, OK: exit == 0, Result: t.v.wrap(result, exit, t.n)}
	return c
}

func (t *teller) read(path string, from, to int, text string) trajectory.Call {
	tool, args := t.v.read(path, from, to)
	return t.call(tool, args, numbered(text, from, to), 0)
}

func (t *teller) edit(path, old, text, state string) trajectory.Call {
	tool, args := t.v.edit(path, old, text)
	c := t.call(tool, args, "The file "+path+" has been edited.", 0)
	c.Target, c.State = path, state
	return c
}

func (t *teller) badEdit(path, old, text, why string) trajectory.Call {
	tool, args := t.v.edit(path, old, text)
	c := t.call(tool, args, "ERROR: "+why, 1)
	c.Kind, c.Target = progress.Edit, path
	return c
}

func (t *teller) write(path, text, state string) trajectory.Call {
	tool, args := t.v.write(path, text)
	c := t.call(tool, args, "File created successfully at: "+path, 0)
	c.Target, c.State = path, state
	return c
}

func (t *teller) run(line, out string, exit int) trajectory.Call {
	tool, args := t.v.run(line)
	return t.call(tool, args, out, exit)
}

func (t *teller) think(text string) trajectory.Call {
	tool, args := t.v.think(text)
	if tool == "bash" {
		return t.call(tool, args, text, 0)
	}
	return t.call(tool, args, "Your thought has been logged.", 0)
}

func (t *teller) finish(text, answer string, exit int) trajectory.Call {
	tool, args := t.v.finish(text)
	return t.call(tool, args, answer, exit)
}
