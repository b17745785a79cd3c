package checks

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/pawl-agent/pawl/internal/core/event"
	"github.com/pawl-agent/pawl/internal/core/lazyregexp"
	"github.com/pawl-agent/pawl/internal/policy/evidence"
)

// limit is the most bytes of output that are shown.
const limit = 4000

// Reading is the relevant part of a failed check's output.
type Reading struct {
	// Text is at most 4,000 bytes: the failures with their output; long ones are
	// shortened at line ends, and keep the line of their cause.
	Text string
	// Failures is the number of failures in the output, 0 if not known.
	Failures int
	// Broken explains why the check could not check anything (a missing program, a
	// missing script); "" if it could.
	Broken string
	// Failed is what did not pass: at least one, except where Broken is set or the
	// check was stopped.
	Failed []event.Failure
}

// Stopped is the exit code for Read of a check that was ended before its end.
const Stopped = -1

// Read returns the relevant part of a failed check's output. kind selects the readers. If
// none of them recognises the output, Read searches for lines that look like errors.
func Read(kind, output string, exit int) Reading {
	lines := evidence.Lines(output)
	r := Reading{Broken: broken(lines, exit)}
	order := map[string][]reader{
		kindGo:     {readGo},
		kindNode:   {readNode, readTSC, readESLint},
		kindPython: {readPython},
		kindCargo:  {readCargo},
	}[kind]
	if order == nil { // make, just and what is configured run any of them
		order = []reader{readGo, readPython, readCargo, readNode, readTSC, readESLint}
	}
	var found failures
	for _, read := range order {
		f := read(lines)
		found.blocks = append(found.blocks, f.blocks...)
		found.summary = append(found.summary, f.summary...)
		found.count += f.count
	}
	if exit == Stopped {
		found.blocks = append(found.blocks, stillRunning(lines)...)
	} else if len(found.blocks)+len(found.summary) == 0 {
		found.blocks = []block{plainErrors(lines)}
	}
	found.blocks = slices.DeleteFunc(found.blocks, func(b block) bool { return len(b.lines) == 0 })
	if exit != Stopped && r.Broken == "" && len(found.blocks) == 0 {
		r.Failed = []event.Failure{{Cause: "it printed nothing", Digest: "nothing"}}
	}
	for _, b := range found.blocks {
		if r.Broken != "" {
			break // it checked nothing
		}
		r.Failed = append(r.Failed, b.failure())
	}
	if r.Failures = found.count; len(found.blocks) == 0 {
		found.blocks = []block{plainErrors(lines)}
	}
	r.Text = fit(found.blocks, found.summary, limit)
	return r
}

// failures is the result of a reader: its failures, and the summary of the output.
type failures struct {
	blocks  []block
	summary []string
	count   int
	about   func(*block) // finds out what a block is about
}

// block is the output of a failure.
type block struct {
	name, unit string
	lines      []string
	at         int  // the line of the cause
	hangs      bool // it was still running
}

func (f *failures) add(lines []string) {
	b := block{lines: trimmed(lines)}
	if len(b.lines) == 0 {
		return
	}
	if f.about != nil {
		f.about(&b)
	}
	f.blocks = append(f.blocks, b)
}

// untold adds the failures that the output counts and does not show.
func (f *failures) untold() {
	if n := f.count - len(f.blocks); n > 0 {
		f.blocks = append(f.blocks, block{lines: []string{fmt.Sprintf("%d more failed, and the output does not show why", n)}})
	}
}

type reader func(lines []string) failures

// broken returns why a check could not check anything, "" if it could.
func broken(lines []string, exit int) string {
	last := lines[max(0, len(lines)-40):]
	has := func(words ...string) string {
		for _, l := range last {
			for _, w := range words {
				if strings.Contains(l, w) {
					return strings.TrimSpace(l)
				}
			}
		}
		return ""
	}
	why := has("No module named pytest", "Missing script:", "No rule to make target", "Justfile does not contain recipe")
	switch {
	case why != "":
	case exit == 126 || exit == 127 || slices.ContainsFunc(last, notRun):
		if why = has("not found", "No such file", "ermission denied"); why == "" {
			why = "its program was not found"
		}
	case exit == 5:
		why = has("no tests ran", "no tests collected", "NO TESTS RAN", "Ran 0 tests")
	default:
		why = has("running go 1.", "requires go >= ")
	}
	if why == "" {
		return ""
	}
	if exit == 5 {
		return "it ran no tests: " + cutLine(why, 200)
	}
	if m := noProgram().FindStringSubmatch(why); m != nil {
		why = m[1] + " is not installed"
	} else if m := noModule().FindStringSubmatch(why); m != nil {
		why = m[2] + " is not installed for " + m[1]
	}
	return "it could not run: " + cutLine(why, 200)
}

// noProgram and noModule match what shells and python say of what is not there.
var (
	noProgram = lazyregexp.New(`^(?:[^:]+: )+([\w.@+-]+): (?:command not found|not found|No such file or directory)$`)
	noModule  = lazyregexp.New(`^(\S+): No module named (\w+)$`)
)

// notRun reports whether a line of make or just reports a program that could not be run.
func notRun(l string) bool {
	for _, form := range [][2]string{{"make", "] Error 12"}, {"error: Recipe ", " with exit code 12"}} {
		head, code, ok := strings.Cut(l, form[1])
		if ok && strings.HasPrefix(head, form[0]) && (code == "6" || code == "7") {
			return true
		}
	}
	return false
}

// plainErrors returns the lines that look like errors, with two lines before and after
// each, and the last 20 lines. The cause is the first line that looks like an error.
func plainErrors(lines []string) block {
	const tail, around = 20, 2
	keep := make([]bool, len(lines))
	for i := max(0, len(lines)-tail); i < len(lines); i++ {
		keep[i] = true
	}
	first := ""
	for i, l := range lines {
		low := strings.ToLower(l)
		for _, w := range []string{"error", "fail", "panic", "exception", "fatal", "assert", "undefined", "cannot "} {
			if strings.Contains(low, w) {
				first = cmp.Or(first, l)
				for j := max(0, i-around); j <= min(i+around, len(lines)-1); j++ {
					keep[j] = true
				}
				break
			}
		}
	}
	var out []string
	gap := false
	for i, l := range lines {
		if !keep[i] {
			gap = true
			continue
		}
		if gap && len(out) > 0 {
			out = append(out, "[…]")
		}
		gap = false
		out = append(out, l)
	}
	b := block{lines: trimmed(out)}
	b.at = max(0, slices.Index(b.lines, first))
	return b
}

// fit joins blocks into a text of at most limit bytes. Each block gets its share; the
// text states how many failures are left out.
func fit(blocks []block, summary []string, limit int) string {
	const most = 12
	if more := len(blocks) - most; more > 0 {
		summary = append([]string{fmt.Sprintf("[%d more failures are not shown]", more)}, summary...)
		blocks = blocks[:most]
	}
	last := ""
	if summary = trimmed(summary); len(summary) > 0 {
		last = "\n\n" + shorten(summary, 0, limit/4)
	}
	room := limit - len(last)
	var out []string
	for i, b := range blocks {
		text := shorten(b.lines, b.at, room/(len(blocks)-i)-2)
		room -= len(text) + 2
		out = append(out, text)
	}
	return strings.TrimLeft(strings.Join(out, "\n\n")+last, "\n")
}

// shorten returns lines in at most limit bytes: the one of the cause first of all, the
// first one, what follows the cause, and then the rest from the start. What is left out
// is marked.
func shorten(lines []string, cause, limit int) string {
	if text := strings.Join(lines, "\n"); len(text) <= limit {
		return text
	}
	const mark = len("\n[… 10000 lines left out]")
	room := limit - 2*mark
	shown := map[int]string{}
	take := func(i, most int) bool {
		if _, ok := shown[i]; ok {
			return true
		}
		l := lines[i]
		if len(l)+1 > most {
			if i != cause && i != 0 {
				return false
			}
			l = cutLine(l, max(0, most-4))
		}
		shown[i] = l
		room -= len(l) + 1
		return true
	}
	take(cause, room)
	take(0, room/2)
	for i := cause + 1; i < len(lines) && take(i, room); i++ {
	}
	for i := 1; i < cause && take(i, room); i++ {
	}
	var out []string
	for i, gap := 0, 0; i <= len(lines); i++ {
		l, ok := shown[i]
		if !ok && i < len(lines) {
			gap++
			continue
		}
		if gap > 0 {
			out = append(out, fmt.Sprintf("[… %d lines left out]", gap))
		}
		if gap = 0; ok {
			out = append(out, l)
		}
	}
	return strings.Join(trimmed(out), "\n")
}

// cutLine cuts a text after at most n bytes, never inside a rune, and marks the cut.
func cutLine(s string, n int) string {
	if len(s) <= n {
		return s
	}
	for n > 0 && !utf8.RuneStart(s[n]) {
		n--
	}
	return s[:n] + "…"
}

// trimmed returns the lines without empty ones at both ends.
func trimmed(lines []string) []string {
	for len(lines) > 0 && strings.TrimSpace(lines[0]) == "" {
		lines = lines[1:]
	}
	for len(lines) > 0 && strings.TrimSpace(lines[len(lines)-1]) == "" {
		lines = lines[:len(lines)-1]
	}
	return lines
}

// number returns the number at the start of s, 0 if there are no digits.
func number(s string) int {
	n := 0
	for _, c := range []byte(s) {
		if c < '0' || c > '9' || n > 1e6 {
			break
		}
		n = n*10 + int(c-'0')
	}
	return n
}

// before returns the number before a word in a line, as in "2 failed"; 0 if there is
// none.
func before(line, word string) int {
	fields := strings.FieldsFunc(line, func(r rune) bool { return strings.ContainsRune(" ,=()", r) })
	for i := 1; i < len(fields); i++ {
		if fields[i] == word {
			return number(fields[i-1])
		}
	}
	return 0
}
