package offline

import (
	"slices"
	"strings"
	"unicode"

	"github.com/pawl-agent/pawl/internal/core/lazyregexp"
	"github.com/pawl-agent/pawl/internal/policy/swarm"
)

// This file finds the intent of a prompt, by patterns alone. A prompt that matches none
// is intentNone: the model abstains rather than guesses.

type intentKind int

const (
	intentNone intentKind = iota
	intentRun
	intentFix
	intentGraph // a task graph is asked for, for work that it can do
)

// intent is an understood prompt.
type intent struct {
	kind    intentKind
	command string // run: "" is the project's tests, "build" its build
	build   bool   // run: the build, not the tests
}

// understand reads a prompt.
func understand(prompt string) intent {
	if t, ok := swarm.ReadPrompt(prompt); ok {
		return understand(t.Goal)
	}
	if work, ok := swarm.ReadPlanPrompt(prompt); ok {
		if in := understand(work); in.kind != intentFix {
			return intent{}
		}
		return intent{kind: intentGraph}
	}
	text := strings.TrimSpace(prompt)
	low := strings.ToLower(text)
	words := fields(low)
	if len(words) == 0 {
		return intent{kind: intentFix}
	}
	for _, try := range []func(string, string, []string) (intent, bool){
		asFix, asRun,
	} {
		if in, ok := try(text, low, words); ok {
			return in
		}
	}
	return intent{}
}

// goOn reports whether a prompt only asks to continue.
func goOn(prompt string) bool {
	switch strings.Join(fields(strings.ToLower(prompt)), " ") {
	case "continue", "go on", "go ahead", "proceed", "resume", "try again", "again", "retry", "carry on", "please continue", "keep going":
		return true
	}
	return false
}

// fields splits into words without the punctuation around them.
func fields(s string) []string {
	var out []string
	for _, w := range strings.Fields(s) {
		if w = strings.Trim(w, ".,;:!?\"'“”‘’()`"); w != "" {
			out = append(out, w)
		}
	}
	return out
}

// word is a word or a quoted phrase of a prompt.
type word struct {
	text   string
	quoted bool
}

// tokens splits a prompt into words. Text in backticks or quotes is one token,
// unchanged.
func tokens(s string) []word {
	var out []word
	closing := map[rune]rune{'`': '`', '"': '"', '\'': '\'', '“': '”', '‘': '’', '«': '»'}
	rs := []rune(s)
	for i := 0; i < len(rs); {
		if unicode.IsSpace(rs[i]) {
			i++
			continue
		}
		if end, ok := closing[rs[i]]; ok {
			if j := slices.Index(rs[i+1:], end); j > 0 {
				out = append(out, word{string(rs[i+1 : i+1+j]), true})
				i += j + 2
				continue
			}
		}
		j := i
		for j < len(rs) && !unicode.IsSpace(rs[j]) {
			j++
		}
		if w := strings.TrimRight(string(rs[i:j]), ",;:!?"); w != "" {
			w = strings.TrimSuffix(w, ".")
			if w != "" {
				out = append(out, word{text: w})
			}
		}
		i = j
	}
	return out
}

// polite drops polite words before a request.
func polite(ts []word) []word {
	for len(ts) > 0 && is(ts[0], "please", "pls", "can", "could", "would", "you", "now", "just", "then", "ok", "and") {
		ts = ts[1:]
	}
	return ts
}

func is(t word, words ...string) bool {
	return !t.quoted && slices.Contains(words, strings.ToLower(t.text))
}

func identifier(s string) bool {
	for i, r := range s {
		if r != '_' && !unicode.IsLetter(r) && (i == 0 || !unicode.IsDigit(r) && !unicode.IsMark(r)) {
			return false
		}
	}
	return s != ""
}

// asFix: fix, repair, make it compile.
func asFix(_, low string, words []string) (intent, bool) {
	if hasAny(words, "add", "implement", "create", "write", "refactor", "explain", "document", "rewrite", "design") {
		return intent{}, false
	}
	subject := hasAny(words, "bug", "bugs", "build", "builds", "test", "tests", "testing", "compile", "compiles", "compilation", "compiler", "error", "errors", "it", "this", "failure", "failures", "failing", "panic", "code", "project", "broken", "check", "checks", "green", "vet", "everything", "them", "that", "what", "whatever", "import", "imports", "regression", "fails", "fail", "ci")
	verb := hasAny(words, "fix", "repair", "debug", "solve", "correct", "heal", "mend", "resolve")
	if verb && (subject || len(words) == 1) {
		return intent{kind: intentFix}, true
	}
	if hasAny(words, "make") && hasAny(words, "compile", "build", "pass", "green", "work", "succeed") {
		return intent{kind: intentFix}, true
	}
	if hasAny(words, "get") && hasAny(words, "passing", "green", "compiling", "building", "working") {
		return intent{kind: intentFix}, true
	}
	if strings.Contains(low, "checks failed") || strings.Contains(low, "the checks fail") {
		return intent{kind: intentFix}, true // auto-fix's words
	}
	broken := hasAny(words, "failing", "broken", "fails", "fail", "failed", "red", "breaks", "broke") || strings.Contains(low, "does not compile") || strings.Contains(low, "doesn't compile") || strings.Contains(low, "does not build") || strings.Contains(low, "doesn't build")
	asking := hasAny(words, "why", "which", "what", "how", "do", "run", "show", "are", "is", "does", "did")
	if broken && subject && (!asking || strings.Contains(low, "does not ")) && len(words) < 12 {
		return intent{kind: intentFix}, true
	}
	return intent{}, false
}

// furtherWords begin what is asked besides a command.
var furtherWords = lazyregexp.New(`(?i) and (?:tell me|explain|report|show|say|summarize)|,? please| for me| again|, then| to (?:see|check)`)

// asRun: run `CMD`, run the tests, go test ./..., does it build?
func asRun(text, low string, words []string) (intent, bool) {
	ts := polite(tokens(text))
	if len(ts) == 0 {
		return intent{}, false
	}
	if is(ts[0], "run", "execute", "start", "try", "launch", "invoke", "rerun", "re-run") {
		for _, t := range ts[1:] {
			if t.quoted && strings.ContainsRune(text, '`') {
				return intent{kind: intentRun, command: t.text}, true
			}
		}
		rest := strings.TrimSpace(text[strings.Index(strings.ToLower(text), strings.ToLower(ts[0].text))+len(ts[0].text):])
		rest = firstLine(strings.TrimRight(rest, "?! "))
		if !strings.HasSuffix(rest, "...") {
			rest = strings.TrimSuffix(rest, ".")
		}
		if at := furtherWords().FindStringIndex(rest); at != nil {
			rest = strings.TrimSpace(rest[:at[0]])
		}
		switch w := fields(strings.ToLower(rest)); {
		case len(w) == 0:
			return intent{}, false
		case w[0] == "the" || w[0] == "all" || w[0] == "tests" || w[0] == "my" || w[0] == "our" || w[0] == "unit" || w[0] == "a" || len(w) == 1 && (w[0] == "test" || w[0] == "build" || w[0] == "checks"):
			if hasAny(w, "test", "tests", "checks", "suite") {
				return intent{kind: intentRun}, true
			}
			if hasAny(w, "build", "compiler") {
				return intent{kind: intentRun, build: true}, true
			}
			return intent{}, false
		}
		return intent{kind: intentRun, command: rest}, true
	}
	if strings.HasPrefix(low, "go ") && len(words) > 1 && hasAny(words[1:2], "test", "build", "vet", "version", "run", "list", "doc", "mod", "env", "fmt", "generate") && !strings.Contains(text, "\n") {
		return intent{kind: intentRun, command: text}, true
	}
	if len(ts) == 1 && ts[0].quoted && strings.HasPrefix(strings.TrimSpace(text), "`") {
		return intent{kind: intentRun, command: ts[0].text}, true
	}
	question := strings.HasSuffix(low, "?") || hasAny(words[:1], "do", "does", "why", "which", "is", "are", "check", "test", "build", "compile", "verify", "what", "how")
	if !question || hasAny(words, "add", "implement", "create", "write", "refactor", "should") || len(words) > 14 {
		return intent{}, false
	}
	switch {
	case hasAny(words, "tests", "test") && hasAny(words, "pass", "passing", "fail", "failing", "fails", "green", "red", "run", "check", "it", "everything", "status") || len(words) == 1 && words[0] == "test":
		return intent{kind: intentRun}, true
	case hasAny(words, "build", "compile", "builds", "compiles") && len(words) < 8:
		return intent{kind: intentRun, build: true}, true
	}
	return intent{}, false
}

func hasAny(words []string, ws ...string) bool {
	return slices.ContainsFunc(ws, func(w string) bool { return slices.Contains(words, w) })
}
