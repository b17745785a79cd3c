package window

import (
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/pawl-agent/pawl/internal/core/event"
	"github.com/pawl-agent/pawl/internal/core/llm"
)

// CleanTool is the tool that releases results (SPEC 9.5). If the head offers
// it, long results end in a handle such as [r12]. Some models repeat the ids of
// calls; the number of a result in its session is unique.
const CleanTool = "cleanup_tool_call"

const (
	handleFrom = 500 // tokens by Estimate: replay must not depend on the counter
	longList   = 150 // lines of a listing that is too long
	maxSummary = 400 // bytes
)

// cleanups folds what is to be dropped at the next compaction. A change of the
// model alone drops nothing: files count as seen until a compaction (SPEC 4.6).
type cleanups struct {
	offered bool           // the head has the tool
	waiting map[int]string // the replacement text of a result, by its number
}

// withHandle returns a result's text as sent to the model: with its handle, and
// with a hint if it looks unhelpful.
func (c *Conversation) withHandle(n int, d event.CallDone) string {
	text := d.Result.Text
	if !c.clean.offered || Fits(text, handleFrom) {
		return text
	}
	h := Handle(n)
	tag := "[" + h + "]"
	if why := unhelpful(d, c.compact.repeated); why != "" {
		tag = fmt.Sprintf("[%s; if this does not help, free its room: %s(tool_call_ids=[%q], summary=\"what it showed, in a sentence\", reason=%q)]", h, CleanTool, h, why)
	}
	if strings.HasSuffix(text, "\n") {
		return text + tag
	}
	return text + "\n" + tag
}

// Handle returns the handle of the nth result of a session.
func Handle(n int) string { return "r" + strconv.Itoa(n) }

// unhelpful returns why a result does not seem to help: one of the usual
// messages for "not found", only in its first or last line, since files contain
// them too; a listing that is too long; the same result again.
func unhelpful(d event.CallDone, repeated bool) string {
	if repeated {
		return "the same as an earlier result"
	}
	text := strings.TrimSpace(d.Result.Text)
	first, _, _ := strings.Cut(text, "\n")
	for _, line := range []string{first, lastLine(text)} {
		line = strings.ToLower(clip(line, 300))
		for _, said := range []string{"no matches found", "no files found", "no items found", "found 0 ", "not found", "does not exist", "no such file", "no matches in", "no files match"} {
			if strings.Contains(line, said) {
				return "nothing was found"
			}
		}
	}
	if n := entries(text); d.Listing && n >= longList { // of a match with its context only the match
		return fmt.Sprintf("%d entries, too many; a narrower pattern, glob or path gives fewer", n)
	}
	return ""
}

// entries counts the lines of a listing, without those around the matches of a search.
func entries(text string) (n int) {
	for l := range strings.Lines(text) {
		if rest := strings.TrimLeft(l, "0123456789"); rest == l || !strings.HasPrefix(rest, "-") {
			n++
		}
	}
	return n
}

// Cleaned is the result of FindResults.
type Cleaned struct {
	Unknown []string // handles without a result
	Gone    []string // dropped already, or marked
	Found   []string
	Freed   int // tokens that the found results will free
}

// FindResults returns which results the handles name, and what replacing them
// by summary and reason would free.
func (c *Conversation) FindResults(handles []string, summary, reason string) (out Cleaned) {
	u := c.unpacked()
	for _, h := range handles {
		n, ok := number(h)
		if id := u.byCall(strings.TrimSpace(h)); id > 0 {
			n, ok = id, true
		}
		switch {
		case !ok || n > c.results[0]:
			out.Unknown = append(out.Unknown, h)
		case c.clean.waiting[n] != "" || slices.Contains(out.Found, Handle(n)):
			out.Gone = append(out.Gone, h)
		default:
			i, k := u.find(n)
			if i < 0 {
				out.Gone = append(out.Gone, h)
				continue
			}
			out.Found = append(out.Found, Handle(n))
			out.Freed += max(0, c.calib.of(u.freedBy(u.part(i, k), placeholder(summary, reason))))
		}
	}
	return out
}

// byCall returns the number of the result of a call by the call's id, which some
// models name instead of a handle; 0 if there is none.
func (c unpacked) byCall(id string) int {
	if id == "" {
		return 0
	}
	for i := len(c.about); i >= 0; i-- {
		for k, n := range c.resultsOf(i) {
			if r := c.part(i, k).Result; r != nil && r.ID == id {
				return n
			}
		}
	}
	return 0
}

// Handles lists the newest results that have a handle, at most so many: for a
// model that named a handle that does not exist.
func (c *Conversation) Handles(most int) []string {
	var out []string
	u := c.unpacked()
	for i := len(u.about); i >= 0 && len(out) < most; i-- {
		for k, n := range slices.Backward(u.resultsOf(i)) {
			if len(out) < most && n > 0 && c.clean.waiting[n] == "" && strings.Contains(lastLine(u.part(i, k).Result.Text), "["+Handle(n)) {
				out = append(out, Handle(n))
			}
		}
	}
	slices.Reverse(out)
	return out
}

func lastLine(s string) string { return s[strings.LastIndexByte(s, '\n')+1:] }

// number reads a handle, in the forms that models write: r12, [r12], R12.
func number(h string) (int, bool) {
	h = strings.ToLower(strings.Trim(strings.TrimSpace(h), "[]"))
	digits, ok := strings.CutPrefix(h, "r")
	n, err := strconv.Atoi(digits)
	return n, ok && err == nil && n > 0
}

// placeholder is the text that replaces a released result, as the specification words it.
func placeholder(summary, reason string) string {
	if reason = clip(reason, 100); reason == "" {
		reason = "not relevant to task"
	}
	s := "[Cleaned up - " + reason + "]"
	if summary = clip(summary, maxSummary); summary != "" {
		s += ": " + summary
	}
	return s
}

func (c *Conversation) cleaned(b event.Cleaned) {
	u := c.unpacked()
	for _, h := range b.Results {
		n, ok := number(h)
		if !ok {
			continue
		}
		if i, _ := u.find(n); i < 0 {
			continue
		}
		if c.clean.waiting == nil {
			c.clean.waiting = map[int]string{}
		}
		c.clean.waiting[n] = placeholder(b.Summary, b.Reason)
		c.compact.dedupAt = 0 // looking again is worth it
	}
}

// find returns the index of the nth result, -1 if it was dropped. Messages are
// numbered as in Messages.
func (c unpacked) find(n int) (message, part int) {
	for i := len(c.about); i >= 0; i-- { // it usually is a recent one
		if k := slices.Index(c.resultsOf(i), n); k >= 0 {
			return i, k
		}
	}
	return -1, 0
}

func (c unpacked) part(message, part int) llm.Part {
	m := c.tail
	if message < len(c.messages) {
		m = c.messages[message]
	}
	return m.Parts[part]
}

// freedBy returns what a text in place of a result frees, in counted tokens.
func (c *Conversation) freedBy(p llm.Part, text string) int {
	now := llm.Part{Kind: llm.Output, Result: &llm.Result{ID: p.Result.ID, Name: p.Result.Name, Text: text}}
	return countPart(c.count(), p) - countPart(c.count(), now)
}

// pointers returns the released results from a message on as pointers, and what
// they free. The oldest comes first, so that replay is the same.
func (c unpacked) pointers(from int) (ps []event.Pointer, freed int) {
	for _, n := range slices.Sorted(maps.Keys(c.clean.waiting)) {
		i, k := c.find(n)
		if i < from {
			continue // also if it was dropped already
		}
		if won := c.freedBy(c.part(i, k), c.clean.waiting[n]); won > 0 {
			freed += won
			ps = append(ps, event.Pointer{Message: i, Part: k, Text: c.clean.waiting[n]})
		}
	}
	return ps, freed
}

// summaryMessage returns a message as the request for a summary shows it: with released
// results replaced.
func (c unpacked) summaryMessage(i int) llm.Message {
	m, copied := c.messages[i], false
	for k, n := range c.about[i].shown().numbers {
		text := c.clean.waiting[n]
		if text == "" {
			continue
		}
		if !copied {
			m.Parts, copied = slices.Clone(m.Parts), true
		}
		r := *m.Parts[k].Result
		r.Text, r.Images = text, nil
		m.Parts[k].Result = &r
	}
	return m
}
