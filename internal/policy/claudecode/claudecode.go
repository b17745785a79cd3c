// Package claudecode decides what the settings files of Claude Code mean in pawl, and names
// the keys of other agents' settings (foreign.go).
//
// It promises that no guard in them is dropped in silence (SPEC 16.17). Everything that
// forbids something or demands a question is kept as a rule of pawl or as another
// narrowing, is named so that a person hears of it before anything runs, or is a problem
// that stops the start. Everything that permits something is left out: a project only
// narrows (SPEC 16.2), and a person permits in pawl's own configuration. One table has
// every key (keys.go).
//
// A guard needs no trust: a repository gains nothing by forbidding something, so the
// guards of a folder hold before it is trusted, and in every mode.
package claudecode

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"path"
	"slices"
	"strings"

	"github.com/pawl-agent/pawl/internal/core/jsonc"
	"github.com/pawl-agent/pawl/internal/core/tool"
	"github.com/pawl-agent/pawl/internal/policy/guidance"
	"github.com/pawl-agent/pawl/internal/policy/permission"
	"github.com/pawl-agent/pawl/internal/policy/unknown"
)

// Project are the files of a folder, and Own is the person's, below the home.
var (
	Project = guidance.Hooks[:2]
	Own     = guidance.Hooks[0]
)

// maxRules is how many rules of a file are kept: more would slow down every call.
const maxRules = 2000

// File is a settings file.
type File struct {
	Name   string // for people: .claude/settings.json, ~/.claude/settings.json
	Text   []byte
	Unread error // why it could not be read
	// Own: it is the person's, and not a project's. Given: it was handed over for this
	// run, and nothing in it is part of what a folder is trusted with.
	Own, Given bool
	// Agreed: the person said that their own file is used, also where it permits something.
	Agreed bool
	// Root is the folder of the session; Beside is where the person's own file is.
	Root, Beside string
}

// Use is what pawl does with a key.
type Use string

// The uses.
const (
	Used        Use = "used"
	Differently Use = "used, in pawl's own way"
	Unused      Use = "not used"
	Unknown     Use = "not known"
)

// Finding is a key that a file sets, and its use.
type Finding struct {
	Key  string
	Use  Use
	Note string
	If   string // the condition of the use, "" for none
	// Guard: the key forbids something, and pawl only names it.
	Guard bool
	// Allows: the key permits something, and pawl leaves that out.
	Allows bool
}

// Is says how the key is used.
func (f Finding) Is() string {
	if f.Guard && f.Use != Unused && f.Use != Unknown {
		return "used in part"
	}
	return string(f.Use)
}

func (f Finding) String() string {
	out := f.Key + " is " + f.Is()
	if f.Note != "" {
		out += ": " + f.Note
	}
	return out
}

// Settings is what a file means.
type Settings struct {
	File File
	// Rules deny or ask.
	Rules []permission.Rule
	// Mode is the narrow mode in which a session begins, "" for none.
	Mode permission.Mode
	// Refused are the modes that cannot be chosen.
	Refused []permission.Mode
	// Servers are MCP servers, by name, that are not started.
	Servers []string
	// Plugins are names of plugins that are not used.
	Plugins []string
	// Style is the name of the output style, "" for none.
	Style string
	// Sandbox: commands run in a sandbox. Must: without one nothing starts.
	Sandbox, Must bool
	// Taken is what a file gives that the person agreed to.
	Taken    Taken
	Findings []Finding
	// Foreign: the file is of another agent than Claude Code.
	Foreign bool
	// Problems are the guards that cannot be kept. Each names the file and what to do.
	Problems []string
}

func Read(f File) Settings {
	s := Settings{File: f}
	if f.Unread != nil {
		s.problem("", f.Unread)
		return s
	}
	var all map[string]json.RawMessage
	if err := json.Unmarshal(jsonc.Plain(f.Text), &all); err != nil {
		s.problem("", fmt.Errorf("it is not JSON with an object: %w", err))
		return s
	}
	s.object("", all)
	if len(s.Rules) > maxRules {
		s.problem("", fmt.Errorf("it has %d rules, and pawl keeps at most %d", len(s.Rules), maxRules))
		s.Rules = s.Rules[:maxRules]
	}
	return s
}

// Named returns the keys of which a person hears before anything runs: guards that are
// not kept.
func (s Settings) Named() []Finding {
	return slices.DeleteFunc(slices.Clone(s.Findings), func(f Finding) bool { return !f.Guard })
}

// Err returns why a file that was handed over cannot be kept, nil if it can.
func (s Settings) Err() error {
	if len(s.Problems) == 0 {
		return nil
	}
	return errors.New(strings.Join(s.Problems, "\n"))
}

// Idle returns the keys that are not used, each with the reason.
func (s Settings) Idle() []string {
	var out []string
	for _, f := range s.Findings {
		if f.Use == Unused || f.Use == Unknown || f.Guard {
			out = append(out, f.String())
		}
	}
	return out
}

// Summary returns in one line which keys of the file are used, and which are not: not
// those that are named in lines of their own.
func (s Settings) Summary() string {
	var not, parts []string
	used := map[string][]string{} // by condition
	word := ""
	for _, f := range s.Findings {
		switch {
		case f.Key == "$schema", f.Guard:
		case f.Use == Used || f.Use == Differently:
			used[f.If] = append(used[f.If], f.Key)
		default:
			not = append(not, f.Key)
		}
		if s.File.Own && strings.Contains(f.Note, agree) {
			word = "; " + agree
		}
	}
	for _, when := range slices.Sorted(maps.Keys(used)) {
		parts = append(parts, strings.TrimSpace("used "+when)+": "+strings.Join(used[when], ", "))
	}
	if len(not) > 0 {
		parts = append(parts, "not used: "+strings.Join(not, ", ")+" (pawl doctor says why)")
	}
	if len(parts) == 0 {
		return ""
	}
	return s.File.Name + ": " + strings.Join(parts, "; ") + word
}

// problem records a guard that cannot be kept; key is "" for the whole file.
func (s *Settings) problem(key string, err error) {
	at := s.File.Name
	if key != "" {
		at += ": " + key
	}
	s.Problems = append(s.Problems, at+": "+err.Error())
}

// known are the keys that a misspelt one may have meant.
var known = unknown.Keys{Guards: []string{"permissions", "sandbox", "hooks", "disableAutoMode", "disabledMcpjsonServers", "deniedMcpServers"}}

// object reads the keys of an object whose own name is in prefix, with a final dot.
func (s *Settings) object(prefix string, all map[string]json.RawMessage) {
	for _, name := range slices.Sorted(maps.Keys(all)) {
		raw, full := all[name], prefix+name
		if string(raw) == "null" {
			continue
		}
		k, ok := keys()[full]
		switch {
		case !ok:
			s.unknown(prefix, name, raw)
		case k.inside:
			var below map[string]json.RawMessage
			if err := json.Unmarshal(raw, &below); err != nil {
				s.problem(full, errors.New("it is not an object"))
				continue
			}
			s.object(full+".", below)
		default:
			s.key(full, k, raw)
		}
	}
}

// unknown decides about a key that is not in the table. It stops the start where it is one of
// an object of guards, resembles a guard, or is about tools, as guards are. Another may
// be a new switch of Claude Code: it forbids nothing here, and is named where its name
// could mean that.
func (s *Settings) unknown(prefix, name string, raw json.RawMessage) {
	full := prefix + name
	if prefix != "" || known.Resembles(name) || aboutTools(raw) {
		s.problem(full, errors.New("pawl does not know this key, which may forbid something; remove it, or write it in a form that pawl knows (doc/safety.md)"))
		return
	}
	s.Findings = append(s.Findings, Finding{Key: full, Use: Unknown, Note: "pawl has no such setting", Guard: known.MayGuard(name)})
}

// aboutTools reports whether a text in a value is a rule about a tool, or its name.
func aboutTools(raw json.RawMessage) bool {
	var list []json.RawMessage
	var object map[string]json.RawMessage
	var text string
	switch {
	case json.Unmarshal(raw, &text) == nil:
		name, _, _ := strings.Cut(text, "(")
		_, tool := tools()[tool.PlainName(strings.TrimSpace(name))]
		return tool || strings.HasPrefix(name, "mcp__")
	case json.Unmarshal(raw, &list) == nil:
		return slices.ContainsFunc(list, aboutTools)
	case json.Unmarshal(raw, &object) == nil:
		for name, value := range object {
			if quoted, err := json.Marshal(name); err == nil && aboutTools(quoted) || aboutTools(value) {
				return true
			}
		}
	}
	return false
}

func (s *Settings) key(name string, k key, raw json.RawMessage) {
	f := Finding{Key: name, Use: k.use, Note: k.note}
	read := k.read
	switch {
	case s.File.Own && k.agreed != nil && s.File.Agreed:
		f.Use, f.Note, read = Used, "", k.agreed
	case s.File.Own && k.agreed != nil && !k.guards:
		f.Use, f.Note, f.Allows, read = Unused, agree, true, nil
	}
	if read != nil {
		was := len(s.Problems)
		if err := read(s, &f, raw); err != nil {
			s.problem(name, err)
		}
		if len(s.Problems) > was {
			return
		}
	}
	s.Findings = append(s.Findings, f)
}

// Join returns what several files mean together.
func Join(files []Settings) (out Settings) {
	for _, s := range files {
		out.Rules = append(out.Rules, s.Rules...)
		out.Refused = append(out.Refused, s.Refused...)
		out.Servers = append(out.Servers, s.Servers...)
		out.Plugins = append(out.Plugins, s.Plugins...)
		out.Style = cmp.Or(s.Style, out.Style) // the person's own comes first
		out.Sandbox, out.Must = out.Sandbox || s.Sandbox, out.Must || s.Must
		if s.Mode != "" && (out.Mode == "" || out.Mode.Wider(s.Mode)) {
			out.Mode = s.Mode
		}
	}
	return out
}

// RefusedBy returns the refused modes, each with the file that refuses it.
func RefusedBy(files []Settings) map[permission.Mode]string {
	out := map[permission.Mode]string{}
	for _, s := range files {
		for _, m := range s.Refused {
			out[m] = s.File.Name
		}
	}
	return out
}

// below returns an absolute path below a folder, as a rule of pawl has it.
func below(dir, p string) string { return path.Join("/", dir, p) }
