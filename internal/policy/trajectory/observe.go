package trajectory

import (
	"cmp"
	"encoding/json"
	"strings"

	"github.com/pawl-agent/pawl/internal/policy/normalize"
	"github.com/pawl-agent/pawl/internal/policy/progress"
)

// Call is a tool call of any agent, in that agent's own terms. Only Tool and OK
// are required; the more is known, the more can be detected.
type Call struct {
	Tool string
	Kind progress.Kind // empty: it is guessed
	Args string        // JSON, or text in which equal arguments are equal
	// Target and Command, if empty, are read from Args when it is a JSON object
	// with one of the usual names.
	Target, Command string
	OK              bool
	Error           string // the error of a failed call; if empty, Result
	Result          string
	State           string // the hash of Target's content after the call
	Files           []progress.File
	Before          []progress.File
	Message         string // the model's text with the call
	Blind           bool
}

// Step returns the call as the rules see it: without volatile parts and without
// the text that an agent adds to results; the kind is guessed.
func (c Call) Step() progress.Step {
	in := parseArgs(c.Args)
	c.Target = cmp.Or(c.Target, in.target)
	c.Command = cmp.Or(c.Command, in.command)
	if c.Kind == "" {
		c.Kind = in.kind(c.Tool, c.Command)
	}
	text := normalize.Unwrap(c.Result)
	if c.OK && len(c.Files) == 0 && progress.Echoes(c.Command, text) {
		c.Kind = progress.Think
	}
	verb, subject := progress.Question(c.Tool, c.Kind, c.Target, c.Args, c.Command)
	s := progress.Step{
		Verb: verb, Subject: subject, Pending: c.OK && normalize.Pending(text),
		Tool: c.Tool, Kind: c.Kind, Target: c.Target, Args: c.Args, OK: c.OK,
		Exact: normalize.Digest(c.Result), Len: len(text), State: c.State, Files: c.Files, Before: c.Before, Blind: c.Blind,
	}
	switch {
	case in.canonical != "":
		s.Args = in.canonical
	case c.Args == "":
		s.Args = normalize.CanonicalCommand(c.Command)
	}
	if strings.TrimSpace(c.Message) != "" {
		s.Message = normalize.Digest(strings.Join(strings.Fields(c.Message), " "))
	}
	if c.OK {
		s.Norm = normalize.Digest(normalize.Stable(text))
		s.Form = normalize.Digest(normalize.Form(text))
		s.Numbers = normalize.Numbers(text)
	} else {
		s.Error = normalize.Error(text)
		if c.Error != "" {
			text = normalize.Unwrap(c.Error)
			s.Error = normalize.Error(text)
		}
		s.Form, s.Numbers = s.Error, normalize.Numbers(text)
		if normalize.RateLimited(c.Error) || c.Error == "" && normalize.RateLimited(text) {
			s.Kind, s.Patient = progress.Wait, true
		}
	}
	if s.Kind == progress.Edit && !c.Blind {
		s.Edit, s.Shell = s.Args, c.Command != ""
		s.Gist, s.Cosmetic = progress.Gist(c.Args)
	}
	return s
}

// arguments is the content of the usual names in a call's arguments.
type arguments struct {
	canonical, target, command string
	verb                       string // the verb of an editor that is several tools in one
	input                      bool   // input for a command that is already running
}

// parseArgs reads arguments by the names that agents use.
func parseArgs(raw string) arguments {
	var a arguments
	if !strings.HasPrefix(strings.TrimLeft(raw, " \t\r\n"), "{") {
		return a
	}
	var m map[string]any
	d := json.NewDecoder(strings.NewReader(raw))
	d.UseNumber()
	if d.Decode(&m) != nil {
		return a
	}
	for _, n := range [...]string{
		"path", "file_path", "filepath", "filename", "file", "target_file", "AbsolutePath", "TargetFile", "notebook_path", "uri", "url", "relative_path",
	} {
		if v, ok := m[n].(string); ok && v != "" {
			a.target = v
			break
		}
	}
	for _, n := range [...]string{"command", "cmd", "CommandLine", "code", "script", "keystrokes"} {
		v, ok := commandOf(m[n])
		if !ok {
			continue
		}
		if verbs.of(v) != "" && a.target != "" {
			a.verb = v
			break
		}
		a.command = v
		m[n] = normalize.CanonicalCommand(v)
		break
	}
	switch v := m["is_input"].(type) {
	case bool:
		a.input = v
	case string:
		a.input = strings.EqualFold(v, "true")
	}
	// Descriptions of a call for people do not change what it does.
	for _, n := range [...]string{"description", "timeout", "timeout_ms", "explanation", "justification", "security_risk", "reason", "toolSummary", "toolAction"} {
		if a.command != "" || a.target != "" {
			delete(m, n)
		}
	}
	if out, err := json.Marshal(m); err == nil {
		a.canonical = string(out)
	}
	return a
}

// commandOf reads a command line: a text, or words such as bash -lc TEXT.
func commandOf(v any) (string, bool) {
	switch v := v.(type) {
	case string:
		return v, true
	case []any:
		words := make([]string, 0, len(v))
		for _, w := range v {
			s, ok := w.(string)
			if !ok {
				return "", false
			}
			words = append(words, s)
		}
		if len(words) == 3 && strings.HasPrefix(words[1], "-") && strings.HasSuffix(words[1], "c") {
			return words[2], true
		}
		return strings.Join(words, " "), len(words) > 0
	}
	return "", false
}

func (a *arguments) kind(tool, command string) progress.Kind {
	if k := verbs.of(a.verb); k != "" {
		return k
	}
	if strings.TrimSpace(command) == "" && (a.input || a.canonical != "" && strings.Contains(a.canonical, `"command":""`)) {
		return progress.Wait // polls a running command for more output
	}
	return KindOf(tool, command)
}
