package progress

import (
	"encoding/json"
	"maps"
	"path"
	"slices"
	"strings"

	"github.com/pawl-agent/pawl/internal/policy/command"
)

// A question is what a call asks: with what, and about what. Two calls ask
// different questions if their subjects differ; how they ask (options that only
// say how, a count of attempts, a pipe to head, comments) makes no difference.
// So a loop over a list is told from a call that is only written differently.

// Question returns the question of a call: verb is its programs, or its tool;
// subject is what it is about, "" if that is not known. Raw are the arguments:
// JSON, or text.
func Question(tool string, kind Kind, target, raw, line string) (verb, subject string) {
	switch {
	case kind == Edit && target != "":
		return tool, target // another text for one file asks the same of it
	case kind == Think || kind == None || kind == Submit:
		return "", ""
	case line != "":
		return commandQuestion(line)
	}
	q := question{}
	if m, ok := object(raw); ok {
		q.value(m)
	} else {
		q.value(raw)
	}
	if len(q.words) == 0 && target != "" {
		q.word(target)
	}
	return tool, q.subject()
}

// question collects the words of a subject.
type question struct{ words []string }

func (q *question) subject() string { return strings.Join(q.words, " ") }

func (q *question) word(w string) {
	w = strings.TrimPrefix(strings.Trim(w, `"'`), "./")
	switch {
	case w == "":
	case len(w) > longWord || strings.Contains(w, "\n"):
		q.words = append(q.words, strings.Fields(w)...)
	default:
		q.words = append(q.words, withoutNonce(w))
	}
}

// longWord is the length beyond which a word is text or code.
const longWord = 120

func (q *question) value(v any) {
	switch v := v.(type) {
	case string:
		for _, w := range strings.Fields(v) {
			q.word(w)
		}
	case json.Number:
		q.word(v.String())
	case []any:
		for _, x := range v {
			q.value(x)
		}
	case map[string]any:
		for _, k := range slices.Sorted(maps.Keys(v)) {
			switch l, ok := v[k].([]any); {
			case saysHow(k, plainValue(v[k])):
			case ok && k == "view_range":
				q.value(l[:min(1, len(l))]) // a range is told by where it begins
			default:
				q.value(v[k])
			}
		}
	}
}

// how lists names of options and arguments that say how something is asked, not
// what; howMany those that do so if their value is a number, howLetters one-letter
// options of programs that show or fetch something.
const (
	how = " description explanation reason justification thought security_risk is_input toolsummary toolaction" +
		" try tries attempt attempts retry retries max-retries timeout timeout_ms timeout-ms max-time connect-timeout delay interval sleep" +
		" verbose verbosity color nonce request_id request-id trace_id timestamp ts "
	howMany = " limit max max_results head_limit max-count maxdepth depth context lines bytes width jobs threads workers parallel" +
		" repeat wait to end end_line to_line view_range _ "
	howLetters = "ncjmwABCLvt"
	shows      = " head tail grep egrep rg git make curl wget ping less nl pytest tree ls find "
)

// saysHow reports whether an argument says how; a value that is not given is no number.
func saysHow(name, value string) bool {
	name = " " + strings.ToLower(strings.TrimLeft(name, "-")) + " "
	return strings.Contains(how, name) || numeric(value) && strings.Contains(howMany, name)
}

func plainValue(v any) string {
	switch v := v.(type) {
	case string:
		return v
	case json.Number:
		return v.String()
	}
	return ""
}

func commandQuestion(line string) (verb, subject string) {
	q := question{}
	var verbs []string
	cmds, err := command.Parse(line, "/")
	if err != nil || len(cmds) == 0 {
		words := strings.Fields(line)
		if len(words) == 0 {
			return "", ""
		}
		q.operands(path.Base(words[0]), words[1:])
		return path.Base(words[0]), q.subject()
	}
	for i := range cmds {
		c := &cmds[i]
		name, _ := c.Program()
		for _, r := range c.Redirects {
			if r.Target.Text != "/dev/null" && !strings.HasSuffix(r.Op, "&") {
				q.word(r.Target.Text)
			}
		}
		for _, a := range c.Assigns {
			if n, v, _ := strings.Cut(a, "="); !saysHow(n, v) {
				q.word(v)
			}
		}
		feeds := i+1 < len(cmds) && cmds[i+1].Piped
		if len(c.Words) == 0 || command.Listed(waiters, name) || name == "true" || (name == "echo" || name == "printf") && !feeds {
			continue
		}
		words := make([]string, 0, len(c.Words))
		for _, w := range c.Words[1:] {
			words = append(words, w.Text)
		}
		before := len(q.words)
		q.operands(name, words)
		if name != "cd" && (!c.Piped || len(q.words) > before) {
			verbs = append(verbs, name)
		}
	}
	if strings.Contains(line, "<<") {
		q.words = append(q.words, strings.Fields(line)...) // a text that it is given
	}
	verb = strings.Join(verbs, " ")
	if len(q.words) == 0 && verb != "" {
		return verb, "-"
	}
	return verb, q.subject()
}

// operands adds the arguments of a program that say what it is about.
func (q *question) operands(name string, args []string) {
	for i := 0; i < len(args); i++ {
		w := args[i]
		switch {
		case len(w) > 1 && w[0] == '-':
			i += q.option(name, w, args[i+1:])
		case name == "sed" && strings.HasSuffix(w, "p") && numeric(strings.TrimSuffix(w, "p")):
			from, _, _ := strings.Cut(strings.TrimSuffix(w, "p"), ",")
			q.word(from) // pages are told apart by where they begin
		case saysHow(assigned(w), ""):
		default:
			q.word(w)
		}
	}
}

// option adds an option if it says what, and returns how many of the words after it
// belong to it.
func (q *question) option(name, w string, rest []string) int {
	next := ""
	if len(rest) > 0 {
		next = rest[0]
	}
	flag, value, given := strings.Cut(w, "=")
	letter := len(w) == 2 && strings.Contains(howLetters, w[1:]) && strings.Contains(shows, " "+name+" ")
	switch {
	case given:
		if !saysHow(flag, value) {
			q.word(w)
		}
	case numeric(next) && (letter || saysHow(flag, next)):
		return 1
	case w == "-H" && identifies(next):
		return 1 // a header that only makes the request unique
	case saysHow(flag, ""), strings.Trim(w, "-0123456789") == "":
	case !strings.HasPrefix(w, "--") && len(w) > 2 && strings.Contains(howLetters, w[1:2]) && numeric(w[2:]) && strings.Contains(shows, " "+name+" "):
	case len(w) > 3 || strings.ContainsAny(w, "0123456789"):
		q.word(w)
	}
	return 0
}

// identifies reports whether a header, "Name: value", names a request.
func identifies(header string) bool {
	name, _, ok := strings.Cut(strings.ToLower(header), ":")
	return ok && (strings.HasSuffix(name, "request-id") || strings.HasSuffix(name, "trace-id") || strings.HasSuffix(name, "traceparent") || strings.HasSuffix(name, "nonce"))
}

// assigned returns the name in NAME=value, in small letters.
func assigned(w string) string {
	name, _, ok := strings.Cut(w, "=")
	if !ok {
		return ""
	}
	return strings.ToLower(name)
}

// numeric reports whether a word is a number, a duration or a range.
func numeric(w string) bool {
	return w != "" && strings.Trim(w, "0123456789.,:smh") == "" && strings.ContainsAny(w, "0123456789")
}

// withoutNonce removes from an address the parameters that only make it unique.
func withoutNonce(w string) string {
	base, query, ok := strings.Cut(w, "?")
	if !ok {
		return w
	}
	var kept []string
	for p := range strings.SplitSeq(query, "&") {
		if name, value, _ := strings.Cut(p, "="); !saysHow(name, value) && name != "t" && name != "_" {
			kept = append(kept, p)
		}
	}
	return base + "?" + strings.Join(kept, "&")
}
