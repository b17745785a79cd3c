package offline

import (
	"slices"
	"strings"

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
	intentGraph // a task graph is asked for, for a repair
)

// intent is an understood prompt.
type intent struct {
	kind    intentKind
	command string // run: "" is the project's tests
}

// understand reads a prompt.
func understand(prompt string) intent {
	if t, ok := swarm.ReadPrompt(prompt); ok {
		return understand(t.Goal)
	}
	if work, ok := swarm.ReadPlanPrompt(prompt); ok {
		if understand(work).kind != intentFix {
			return intent{}
		}
		return intent{kind: intentGraph}
	}
	text := strings.TrimSpace(prompt)
	low := strings.ToLower(text)
	words := fields(low)
	if len(words) == 0 || asFix(low, words) {
		return intent{kind: intentFix}
	}
	return asRun(text)
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

func has(words []string, list string) bool {
	return slices.ContainsFunc(strings.Fields(list), func(w string) bool { return slices.Contains(words, w) })
}

// newWork are words of requests for more than a repair or a run.
const newWork = "add implement create write refactor explain document rewrite design"

// asFix: fix, repair, make it compile.
func asFix(low string, words []string) bool {
	if has(words, newWork) {
		return false
	}
	subject := has(words, "bug bugs build builds test tests testing compile compiles compilation compiler error errors it this failure failures failing panic code project broken check checks green vet everything them that what whatever import imports regression fails fail ci")
	not := unbuilt().MatchString(low)
	broken := not || has(words, "failing broken fails fail failed red breaks broke")
	asking := has(words, "why which what how do run show are is does did")
	return has(words, "fix repair debug solve correct heal mend resolve") && (subject || len(words) == 1) ||
		has(words, "make") && has(words, "compile build pass green work succeed") ||
		has(words, "get") && has(words, "passing green compiling building working") ||
		strings.Contains(low, "checks failed") || strings.Contains(low, "the checks fail") || // auto-fix's words
		broken && subject && (!asking || not) && len(words) < 12
}

var (
	unbuilt = lazyregexp.New(`does(?: not|n't) (?:compile|build)`)
	// request matches what asks for a run; its group has what is to be run.
	request = lazyregexp.New(`(?is)^(?:(?:please|pls|can|could|would|you|now|just|then|ok|and)\W+)*(?:run|execute|start|try|launch|invoke|rerun|re-run)\b(.*)$`)
	quoted  = lazyregexp.New("`([^`]+)`")
	// further matches what is asked besides a command, and the end of a sentence.
	further = lazyregexp.New(`(?is) and (?:tell me|explain|report|show|say|summarize).*| for me.*| again.*|,? please.*|, then.*| to (?:see|check).*|[?! ]+$|\n.*|([^.])\.$`)
	// project matches words for the project's own tests.
	project = lazyregexp.New(`(?i)^(?:(?:the|all|my|our|unit|a|tests)\b|(?:test|build|checks)$)`)
	goLine  = lazyregexp.New(`(?i)^go (?:test|build|vet|version|run|list|doc|mod|env|fmt|generate)\b.*$`)
)

// asRun: run `CMD`, run the tests, go test ./...
func asRun(text string) intent {
	if m := quoted().FindStringSubmatch(text); m != nil && (m[0] == text || request().MatchString(text)) {
		return intent{kind: intentRun, command: m[1]}
	}
	if m := request().FindStringSubmatch(text); m != nil {
		rest := strings.TrimSpace(further().ReplaceAllString(strings.TrimSpace(m[1]), "$1"))
		switch {
		case rest != "" && !project().MatchString(rest):
			return intent{kind: intentRun, command: rest}
		case has(fields(strings.ToLower(rest)), "test tests checks suite"):
			return intent{kind: intentRun}
		}
	} else if goLine().MatchString(text) {
		return intent{kind: intentRun, command: text}
	}
	return intent{}
}
