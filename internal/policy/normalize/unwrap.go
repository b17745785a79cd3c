package normalize

import (
	"encoding/json"
	"slices"
	"strings"
)

// Unwrap removes the text that agents add to the result of a command: how it
// ended, how long it took, the shell's folder. It removes only whole lines at
// the start and at the end, and a JSON object that contains nothing else. A
// sentence about missing output is not output.
func Unwrap(text string) string {
	text = unwrapObject(text)
	for {
		t := strings.TrimRight(strings.TrimLeft(text, "\r\n"), " \t\r\n")
		// Search only this far for the ends of lines: added lines are short.
		head := strings.IndexByte(t[:min(len(t), wrapLine+1)], '\n')
		if head < 0 && len(t) <= wrapLine {
			head = len(t)
		}
		if head > 0 && wrapHead(strings.TrimSpace(t[:head])) {
			text = strings.TrimPrefix(t[head:], "\n")
			if inner, ok := strings.CutSuffix(text, "</output>"); ok {
				text = inner
			}
			continue
		}
		from := max(0, len(t)-wrapLine-1)
		foot := strings.LastIndexByte(t[from:], '\n')
		if last := strings.TrimSpace(t[from+foot+1:]); last != "" && (foot >= 0 || from == 0) && wrapFoot(last) {
			text = t[:max(from+foot, 0)]
			continue
		}
		if saysNothing(t) {
			return ""
		}
		return t
	}
}

// wrapLine limits the length of added lines.
const wrapLine = 300

func wrapHead(l string) bool {
	if len(l) > wrapLine {
		return false
	}
	switch l {
	case "<output>", "Output:", "OBSERVATION:", "Observation:", "STDOUT:", "<stdout>", "<result>":
		return true
	}
	return anyPrefix(l, "Exit code: ", "Wall time: ", "Chunk ID: ", "<returncode>", "<exit_code>", "<exitcode>",
		"Process exited with code ", "Total output lines: ", "Original token count: ")
}

func wrapFoot(l string) bool {
	if len(l) > wrapLine {
		return false
	}
	switch l {
	case "</output>", "</stdout>", "</result>", "bash-$":
		return true
	}
	return closing(l) || anyPrefix(l, "Exit code: 0", "<returncode>", "<exit_code>", "<exitcode>",
		"[The command completed with exit code ", "[Command finished with exit code ", "[exit code: ", "[Exit code: ",
		"[Current working directory: ", "[Python interpreter: ", "[Jupyter current working directory: ",
		"[Jupyter Python interpreter: ", "(Open file: ", "(Current directory: ")
}

func anyPrefix(l string, ps ...string) bool {
	return slices.ContainsFunc(ps, func(p string) bool { return strings.HasPrefix(l, p) })
}

// saysNothing recognizes the sentences by which agents report that there was no output.
func saysNothing(t string) bool {
	if len(t) > 120 {
		return false
	}
	l := strings.Trim(strings.ToLower(t), "[]()<>. ")
	switch l {
	case "no output", "no output produced", "empty output", "ok (no output)", "system>tool ran without output</system",
		"tool ran without output", "your command ran successfully and did not produce any output",
		"command ran successfully and did not produce any output", "command executed successfully with no output",
		"command completed with no output", "the command produced no output", "success: no output", "(no content)", "no content":
		return true
	}
	return false
}

// unwrapObject extracts the texts of a JSON object that only wraps them.
func unwrapObject(text string) string {
	t := strings.TrimSpace(text)
	if len(t) < 2 || t[0] != '{' || t[len(t)-1] != '}' || len(t) > 1<<20 {
		return text
	}
	var m map[string]json.RawMessage
	if json.Unmarshal([]byte(t), &m) != nil {
		return text
	}
	var out []string
	for _, k := range [...]string{"output", "stdout", "stderr", "result", "content", "text", "observation", "error", "message"} {
		raw, ok := m[k]
		if !ok {
			continue
		}
		var s string
		if json.Unmarshal(raw, &s) != nil {
			if string(raw) != "null" {
				return text
			}
		} else if s != "" {
			out = append(out, s)
		}
		delete(m, k)
	}
	for k := range m {
		switch k {
		case "metadata", "exit_code", "exitCode", "returncode", "return_code", "code", "status", "success", "ok", "is_error",
			"duration", "duration_ms", "duration_seconds", "elapsed", "wall_time", "interrupted", "truncated", "type", "cwd", "id", "timestamp":
		default:
			return text
		}
	}
	if len(m) == 0 && len(out) == 0 {
		return text
	}
	return strings.Join(out, "\n")
}
