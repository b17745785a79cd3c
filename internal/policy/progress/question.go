package progress

import (
	"encoding/json"
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
	var v any
	d := json.NewDecoder(strings.NewReader(raw))
	d.UseNumber()
	if !strings.HasPrefix(strings.TrimLeft(raw, " \t\r\n"), "{") || d.Decode(&v) != nil {
		v = raw
	}
	q := question{}
	q.value(v)
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
		keys := make([]string, 0, len(v))
		for k := range v {
			if _, list := v[k].([]any); !saysHow(k) || list {
				keys = append(keys, k)
			}
		}
		slices.Sort(keys)
		for _, k := range keys {
			if l, ok := v[k].([]any); ok && saysHow(k) {
				q.value(l[:min(1, len(l))]) // a range is told by where it begins
				continue
			}
			q.value(v[k])
		}
	}
}

// how lists names of options and arguments that say how something is asked, not
// what. Of an option with a separate value only a number is left out.
const how = " description timeout timeout_ms timeout-ms explanation reason justification thought note comment security_risk is_input" +
	" try tries attempt attempts retry retries max-retries max-time connect-timeout wait delay interval sleep jobs threads workers parallel" +
	" limit max max_results head_limit max-count maxdepth depth context lines bytes width color verbose verbosity level count repeat round" +
	" to end end_line to_line view_range nonce request_id request-id timestamp ts n c j m w A B C L v t _ "

func saysHow(name string) bool {
	return strings.Contains(how, " "+strings.TrimLeft(name, "-")+" ")
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
			if r.Writes() && r.Target.Text != "/dev/null" && !strings.HasPrefix(r.Op, ">&") {
				q.word(r.Target.Text)
			}
		}
		if len(c.Words) == 0 || name == "cd" || name == "echo" || name == "printf" || name == "true" || name == "set" || name == "export" || command.Waits(name) {
			continue
		}
		words := make([]string, 0, len(c.Words))
		for _, w := range c.Words[1:] {
			words = append(words, w.Text)
		}
		before := len(q.words)
		q.operands(name, words)
		if !c.Piped || len(q.words) > before {
			verbs = append(verbs, name)
		}
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
			flag, value, given := strings.Cut(w, "=")
			if given && !saysHow(flag) {
				q.word(value)
			}
			if !given && saysHow(flag) && i+1 < len(args) && numeric(args[i+1]) {
				i++
			}
		case name == "sed" && strings.HasSuffix(w, "p") && numeric(strings.TrimSuffix(w, "p")):
			from, _, _ := strings.Cut(strings.TrimSuffix(w, "p"), ",")
			q.word(from) // pages are told apart by where they begin
		case saysHow(assigned(w)):
		default:
			q.word(w)
		}
	}
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
		if !saysHow(assigned(p)) {
			kept = append(kept, p)
		}
	}
	return base + "?" + strings.Join(kept, "&")
}
