package progress

import (
	"encoding/json"
	"strings"

	"github.com/pawl-agent/pawl/internal/core/shellsyntax"
	"github.com/pawl-agent/pawl/internal/policy/command"
	"github.com/pawl-agent/pawl/internal/policy/evidence"
	"github.com/pawl-agent/pawl/internal/policy/normalize"
)

// call is what a call's arguments say of it.
type call struct {
	kind    Kind
	target  string
	args    string // canonical, without what has no effect
	brief   string // for a person: one line
	command string
}

// describe reads the arguments of one of pawl's tools; those of any other tool
// are taken as a command of unknown effect.
func describe(tool string, raw json.RawMessage) call {
	var in struct {
		Path    string `json:"path"`
		Pattern string `json:"pattern"`
		Command string `json:"command"`
		URL     string `json:"url"`
		Files   []struct {
			Path string `json:"path"`
			From int    `json:"from"`
			To   int    `json:"to"`
		} `json:"files"`
		Edits []struct {
			Path string `json:"path"`
		} `json:"edits"`
	}
	_ = json.Unmarshal(raw, &in) // what does not fit says nothing
	c := call{kind: Exec, target: in.Path, args: normalize.CanonicalArgs(raw), brief: tool}
	switch tool {
	case "read":
		c.kind = Read
		if len(in.Files) > 0 {
			c.target = in.Files[0].Path
		}
	case "write", "edit":
		c.kind = Edit
	case "multi_edit":
		c.kind = Edit
		if len(in.Edits) > 0 {
			c.target = in.Edits[0].Path
		}
	case "apply_patch":
		c.kind = Edit
	case "ls", "git_status", "git_log", "git_diff":
		c.kind = Read
	case "glob", "grep":
		c.kind, c.target = Search, in.Pattern
	case "web_fetch":
		c.kind, c.target = Read, in.URL
	case "bash_output":
		c.kind = Wait
	case "todo", "remember", "ask_user", "cleanup_tool_call":
		c.kind = Think
	case "bash":
		c.command = in.Command
		c.kind = CommandKind(in.Command)
		c.args = bashArgs(raw)
	}
	if strings.HasPrefix(tool, "lsp_") && tool != "lsp_rename" {
		c.kind = Read
	}
	switch {
	case c.command != "":
		c.brief += " " + normalize.OneLine(c.command, 120)
	case c.target != "":
		c.brief += " " + normalize.OneLine(c.target, 120)
	}
	return c
}

// bashArgs leaves out what does not change what a command does.
func bashArgs(raw json.RawMessage) string {
	var m map[string]json.RawMessage
	if json.Unmarshal(raw, &m) != nil {
		return normalize.CanonicalArgs(raw)
	}
	delete(m, "description")
	delete(m, "timeout")
	var line string
	if json.Unmarshal(m["command"], &line) == nil {
		if raw, err := json.Marshal(normalize.CanonicalCommand(line)); err == nil {
			m["command"] = raw
		}
	}
	out, err := json.Marshal(m)
	if err != nil {
		return normalize.CanonicalArgs(raw)
	}
	return normalize.CanonicalArgs(out)
}

// CommandKind returns what a command line does.
func CommandKind(line string) Kind {
	if evidence.IsCheck(line) {
		return Test
	}
	cmds, err := shellsyntax.Parse(line, "")
	if err != nil || len(cmds) == 0 {
		return Exec
	}
	waits, searches := false, false
	var rest []shellsyntax.Command
	for _, c := range cmds {
		name, _ := c.Program()
		switch name {
		case "sleep", "wait":
			waits = true
			continue
		case "curl", "nc", "ps", "pgrep", "jobs", "docker", "kubectl", "gh", "systemctl":
			// After a wait these ask how things stand.
			if waits {
				continue
			}
		case "grep", "rg", "find", "fd", "ag", "ls", "tree", "locate":
			searches = true
		}
		rest = append(rest, c)
	}
	looks := command.ReadOnly(rest)
	switch {
	case waits && (looks || len(rest) == 0):
		return Wait // to sleep and then do something is to do it
	case !looks:
		return Exec
	case searches:
		return Search
	}
	return Read
}

// Echoes reports whether a command only printed words of its own line: a model
// that thinks aloud.
func Echoes(line, result string) bool {
	result, line = strings.TrimSpace(result), strings.TrimSpace(line)
	for _, p := range [...]string{"echo ", "printf ", "cat <<"} {
		if strings.HasPrefix(line, p) {
			return result != "" && strings.Contains(line, result)
		}
	}
	return false
}
