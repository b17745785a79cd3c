package claudecode

import (
	"encoding/json"
	"errors"
	"strings"

	"github.com/pawl-agent/pawl/internal/core/tool"
	"github.com/pawl-agent/pawl/internal/policy/hook"
	"github.com/pawl-agent/pawl/internal/policy/permission"
)

// This file is about a person's own settings, which may also permit once the person said
// so (File.Agreed).

// Taken is what such a file gives.
type Taken struct {
	Allow []string // rules of pawl
	Dirs  []string // that may be read, too
	Mode  permission.Mode
	Model string
	Env   map[string]string // of commands
	// StatusLine is the command whose output stands above the screen's status line.
	StatusLine string
	Hooks      []hook.Rule
}

// agree is what a person does so that pawl uses their settings.
const agree = "to use it: pawl config set claude_settings true"

// allows takes the rules that mean the same in pawl. The others are named: a rule of pawl
// that covers more would permit what nobody did.
func allows(s *Settings, f *Finding, raw json.RawMessage) error {
	all, err := texts(raw)
	if err != nil {
		return err
	}
	var left []string
	for _, text := range all {
		rules, err := permits1(text, s.File)
		if err != nil {
			left = append(left, text)
		}
		s.Taken.Allow = append(s.Taken.Allow, rules...)
	}
	if len(left) > 0 {
		f.Use, f.Note = Differently, "without "+strings.Join(left, ", ")+", which pawl cannot permit in the same way"
	}
	return nil
}

// permits1 returns the rules of pawl that permit the same as a rule.
func permits1(text string, f File) ([]string, error) {
	name, spec, _ := strings.Cut(strings.TrimSpace(text), "(")
	c := tools()[tool.PlainName(name)]
	switch {
	case c.form == whole && len(c.as) > 1, strings.HasPrefix(strings.ToLower(name), "notebook"), c.form == absent && !strings.HasPrefix(name, "mcp__"):
		return nil, errors.New("pawl's tool does more")
	case strings.ContainsAny(spec, `[]{}"'\!`), c.form == subjects && strings.ContainsAny(strings.TrimSuffix(spec, ")"), " :"):
		return nil, errors.New("pawl's rule would cover more")
	case c.form == files && strings.HasPrefix(spec, "/") && !strings.HasPrefix(spec, "//"):
		spec = "/" + below(f.Beside, spec) // not below the workspace
		text = name + "(" + spec
	}
	rules, err := Translate(permission.Allows, text, f)
	var out []string
	for _, r := range rules {
		out = append(out, r.Text)
	}
	return out, err
}

func dirs(s *Settings, _ *Finding, raw json.RawMessage) (err error) {
	s.Taken.Dirs, err = texts(raw)
	return err
}

// ownMode takes any mode but the one without questions, which a person chooses each time.
func ownMode(s *Settings, f *Finding, raw json.RawMessage) error {
	var text string
	if err := json.Unmarshal(raw, &text); err != nil {
		return errors.New("it must be the name of a mode")
	}
	mode, err := permission.ParseMode(text)
	switch {
	case err != nil:
		return defaultMode(s, f, raw)
	case mode == permission.Yolo:
		f.Use, f.Note = Unused, "choose it each time: --permission-mode"
	default:
		s.Taken.Mode = mode
	}
	return nil
}

func ownModel(s *Settings, f *Finding, raw json.RawMessage) error {
	if err := json.Unmarshal(raw, &s.Taken.Model); err != nil {
		return errors.New("it must be the name of a model")
	}
	if s.Taken.Model == "default" || s.Taken.Model == "opusplan" {
		f.Use, f.Note, s.Taken.Model = Unused, inConfig, ""
	}
	return nil
}

func statusLine(s *Settings, f *Finding, raw json.RawMessage) error {
	var line struct{ Type, Command string }
	if err := json.Unmarshal(raw, &line); err != nil || line.Type != "" && line.Type != "command" || strings.TrimSpace(line.Command) == "" {
		return errors.New("it must be an object with the type command and a command")
	}
	s.Taken.StatusLine = line.Command
	f.Use, f.Note = Differently, "it runs in the sandbox, when the conversation begins and when a turn ends; its colours are left out"
	return nil
}

// ownEnv takes the variables of commands. Those of Claude Code itself and of models mean
// nothing to commands, and keys are left out where the environment is made.
func ownEnv(s *Settings, f *Finding, raw json.RawMessage) error {
	var all map[string]string
	if err := json.Unmarshal(raw, &all); err != nil {
		return errors.New("it must be an object with texts")
	}
	s.Taken.Env = map[string]string{}
	for name, value := range all {
		plain := strings.ToUpper(name)
		if strings.HasPrefix(plain, "CLAUDE") || strings.HasPrefix(plain, "ANTHROPIC") || strings.HasPrefix(plain, "PAWL") || strings.HasPrefix(plain, "OTEL_") || strings.ContainsAny(name, "= \n\x00") {
			f.Use = Differently
			continue
		}
		s.Taken.Env[name] = value
	}
	if f.Note = "for commands, without keys"; f.Use == Differently {
		f.Note += ", and without the variables of Claude Code itself"
	}
	return nil
}

func ownHooks(s *Settings, f *Finding, raw json.RawMessage) error {
	rules, err := hook.Rules(s.File.Name, raw)
	if err != nil {
		return err
	}
	for i := range rules {
		rules[i].Free = false // Claude Code has no such key
	}
	s.Taken.Hooks = rules
	f.Note = "they run in the sandbox, like commands"
	f.notRun(rules, "")
	return nil
}
