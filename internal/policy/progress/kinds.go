package progress

import (
	"bytes"
	"encoding/json"
	"strings"

	"github.com/pawl-agent/pawl/internal/core/event"
	"github.com/pawl-agent/pawl/internal/core/tool"
	"github.com/pawl-agent/pawl/internal/policy/command"
	"github.com/pawl-agent/pawl/internal/policy/normalize"
)

// call is what a call's arguments show.
type call struct {
	kind    Kind
	target  string
	args    string // canonical, without arguments that have no effect
	brief   string // for a person: one line
	command string

	verb, subject string // see Question
}

// describe returns a call as the rules see it. A command is described by its
// command line, whatever tool runs it.
func describe(b event.CallAsked) call {
	c := call{kind: kinds[b.Does], target: b.Target, brief: normalize.OneLine(b.Title, 140)}
	c.args, c.command = sameArgs(b.Args)
	switch {
	case c.kind == "":
		c.kind = Exec
	case c.kind == Exec && c.command != "":
		c.kind = CommandKind(c.command)
	}
	c.verb, c.subject = Question(b.Tool, c.kind, c.target, c.args, c.command)
	return c
}

// kinds maps what tools do to the kinds of the rules.
var kinds = map[tool.Kind]Kind{
	tool.Read: Read, tool.Search: Search, tool.Edit: Edit, tool.Exec: Exec, tool.Wait: Wait, tool.Note: Think,
}

// sameArgs returns arguments in a form that is equal for calls with the same
// effect, and the command line in them, if there is one. Parts that do not
// change the effect of a command are removed.
func sameArgs(raw json.RawMessage) (args, command string) {
	d := json.NewDecoder(bytes.NewReader(raw))
	d.UseNumber()
	var m map[string]any
	if d.Decode(&m) != nil || len(bytes.TrimSpace(raw[d.InputOffset():])) > 0 {
		return normalize.CanonicalArgs(raw), ""
	}
	if command, _ = m["command"].(string); command != "" {
		delete(m, "description")
		delete(m, "timeout")
		m["command"] = normalize.CanonicalCommand(command)
	}
	out, err := json.Marshal(m)
	if err != nil {
		return normalize.CanonicalArgs(raw), command
	}
	return string(out), command
}

// CommandKind returns what a command line does.
func CommandKind(line string) Kind {
	if command.IsCheck(line) {
		return Test
	}
	cmds, err := command.Parse(line, "/") // as IsCheck, so that it is parsed once
	if err != nil || len(cmds) == 0 {
		return Exec
	}
	waits, searches := false, false
	rest := cmds[:0] // Parse gave them to this call
	for i := range cmds {
		name, _ := cmds[i].Program()
		switch {
		case command.Listed(waiters, name):
			waits = true
			continue
		case waits && command.Listed(asksState, name):
			continue // after a wait these check the state of something
		case command.Listed(searchers, name):
			searches = true
		}
		rest = append(rest, cmds[i])
	}
	looks := command.ReadOnly(rest...)
	switch {
	case waits && (looks || len(rest) == 0):
		return Wait // sleeping before a command does not change its kind
	case !looks:
		return Exec
	case searches:
		return Search
	}
	return Read
}

// Programs by what they are for, where no fact tells it: the rules judge a call before
// its answer is known.
const (
	waiters   = " sleep wait "
	asksState = " curl docker gh jobs kubectl nc pgrep ps systemctl "
	searchers = " egrep fgrep find grep ls rg "
)

// Echoes reports whether a command only printed words of its own line: the
// model is thinking aloud.
func Echoes(line, result string) bool {
	result, line = strings.TrimSpace(result), strings.TrimSpace(line)
	for _, p := range [...]string{"echo ", "printf ", "cat <<"} {
		if strings.HasPrefix(line, p) {
			return result != "" && strings.Contains(line, result)
		}
	}
	return false
}
