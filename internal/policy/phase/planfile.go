package phase

import (
	"errors"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/pawl-agent/pawl/internal/core/cut"
	"github.com/pawl-agent/pawl/internal/core/event"
)

// ErrNoPhases means that a text has no phases.
var ErrNoPhases = errors.New("it has no phases: write them as headings (## Parse the file) or as a numbered list (1. Parse the file)")

// maxPlan is the largest number of phases of a plan file; titleLimit is the
// longest title in runes.
const (
	maxPlan    = 200
	titleLimit = 200
)

// ParsePlan reads the phases of a plan file, a Markdown text: its headings
// "Phase N", else its headings of level 2, else the numbered list that is not
// indented, else the check list that is not. Checked items are left out. A
// duration in parentheses at the end of a title, such as (20m), is the phase's
// expected duration. Fenced code is ignored.
func ParsePlan(text string) ([]event.PhaseStep, error) {
	var said, headings, numbered, checks []event.PhaseStep
	fence := ""
	for line := range strings.Lines(strings.ToValidUTF8(text, "\uFFFD")) {
		line = strings.TrimRight(line, " \t\r\n")
		trimmed := strings.TrimLeft(line, " \t")
		if mark := strings.TrimLeft(trimmed, "`~"); len(trimmed)-len(mark) >= 3 {
			switch mark = trimmed[:3]; {
			case fence == "":
				fence = mark
			case fence == mark:
				fence = ""
			}
			continue
		}
		if fence != "" || line == "" || line != trimmed {
			continue
		}
		switch level := len(line) - len(strings.TrimLeft(line, "#")); {
		case level > 0 && level <= 6 && strings.HasPrefix(line[level:], " "):
			title := strings.TrimSpace(line[level:])
			if phaseNumber(title) > 0 {
				said = step(said, title)
			}
			if level == 2 {
				headings = step(headings, title)
			}
		case listNumber(line) > 0:
			numbered = step(numbered, line)
		case len(line) > 5 && strings.ContainsRune("-*+", rune(line[0])) && line[1:3] == " [" && line[4] == ']':
			checks = step(checks, line[2:])
		}
	}
	for _, steps := range [][]event.PhaseStep{said, headings, numbered, checks} {
		if len(steps) > maxPlan {
			return nil, errors.New("it has more than 200 phases, the limit")
		}
		if len(steps) > 0 {
			return steps, nil
		}
	}
	return nil, ErrNoPhases
}

// step adds a title, unless it is checked or empty.
func step(steps []event.PhaseStep, title string) []event.PhaseStep {
	title = unnumbered(title)
	switch {
	case strings.HasPrefix(title, "[x]"), strings.HasPrefix(title, "[X]"):
		return steps
	case strings.HasPrefix(title, "[ ]"):
		title = unnumbered(strings.TrimSpace(title[3:]))
	}
	title = strings.TrimSpace(strings.TrimRight(strings.NewReplacer("**", "", "__", "", "`", "").Replace(title), "# "))
	s := event.PhaseStep{Text: title}
	if i := strings.LastIndexByte(title, '('); i > 0 && strings.HasSuffix(title, ")") {
		if d, err := time.ParseDuration(strings.TrimSpace(title[i+1 : len(title)-1])); err == nil && d > 0 {
			s.Text, s.Expected = strings.TrimSpace(title[:i]), d
		}
	}
	if s.Text == "" {
		return steps
	}
	s.Text = cut.Runes(s.Text, titleLimit)
	return append(steps, s)
}

// unnumbered returns a title without the number before it: "Phase 3: x", "3. x".
func unnumbered(s string) string {
	s = strings.TrimSpace(s)
	n := max(phaseNumber(s), listNumber(s))
	if n == 0 {
		return s
	}
	rest := strings.TrimSpace(strings.TrimLeft(s[n:], ".:) -–—"))
	if rest == "" {
		return s // the name is only a number
	}
	return rest
}

// phaseNumber returns the length of "Phase 12" at the beginning of s, 0 for none.
func phaseNumber(s string) int {
	if len(s) < 7 || !strings.EqualFold(s[:6], "phase ") {
		return 0
	}
	n := 6 + digits(s[6:])
	if n == 6 || n < len(s) && !strings.ContainsRune(".:) -–—", rune(s[n])) && s[n] < utf8.RuneSelf {
		return 0
	}
	return n
}

// listNumber returns the length of "12." or "12)" of a list at the beginning of
// s, 0 for none.
func listNumber(s string) int {
	n := digits(s)
	if n == 0 || n > 4 || n+1 >= len(s) || s[n] != '.' && s[n] != ')' || s[n+1] != ' ' {
		return 0
	}
	return n + 1
}

func digits(s string) int {
	n := 0
	for n < len(s) && s[n] >= '0' && s[n] <= '9' {
		n++
	}
	return n
}
