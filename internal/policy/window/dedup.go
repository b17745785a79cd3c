package window

import (
	"bytes"
	"encoding/json"
	"fmt"

	"github.com/pawl-agent/pawl/internal/core/event"
	"github.com/pawl-agent/pawl/internal/core/llm"
)

// again is by how much of the limit the conversation must grow before it is
// examined again.
const again = 0.03

// readArgs is the arguments of the read tool that matter here.
type readArgs struct {
	Files []struct {
		Path string `json:"path"`
		From int    `json:"from"`
		To   int    `json:"to"`
	} `json:"files"`
}

// lines is a range that was read; 0,0 is the whole file.
type lines struct{ from, to int }

func (l lines) covers(m lines) bool {
	if l.from <= 1 && l.to <= 0 {
		return true
	}
	return m.to > 0 && max(l.from, 1) <= max(m.from, 1) && (l.to <= 0 || m.to <= l.to)
}

// Dedup drops older reads of files that were read again (SPEC 9.5): over 80 %,
// if that and the released results free at least a quarter of the conversation.
// ok is false if it is not worth it.
func (c *Conversation) Dedup() (e event.Compacted, ok bool) {
	limit := c.Limit()
	if c.Percent() <= c.conf.Defaults().DedupAt || len(c.open) > 0 || float64(c.calib.of(c.bodyN-c.compact.dedupAt)) < again*float64(limit) {
		return event.Compacted{}, false
	}
	c.compact.dedupAt = c.bodyN
	e = event.Compacted{Why: event.CompactedDedup, By: event.ByPointers, Before: int64(c.Tokens())}
	newer := map[string][]lines{}
	u := c.unpacked()
	cleaned, freed := u.pointers(0)
	if len(cleaned) > 0 {
		e.Why, e.Pointers = event.CompactedCleanup, cleaned
	}
	ms := u.messages
	if len(c.tail.Parts) > 0 {
		ms = append(ms, c.tail)
	}
	for i := len(ms) - 1; i > 0; i-- {
		if ms[i].Role != llm.Tool {
			continue
		}
		calls := ms[i-1].Calls()
		for k := min(len(calls), len(ms[i].Parts)) - 1; k >= 0; k-- {
			p := ms[i].Parts[k]
			if k < len(u.resultsOf(i)) && c.clean.waiting[u.resultsOf(i)[k]] != "" {
				continue // it is dropped already
			}
			if reads := u.aboutOf(i).shown().reads; k >= len(reads) || !reads[k] || p.Kind != llm.Output || p.Result == nil || p.Result.Error || len(p.Result.Images) > 0 {
				continue
			}
			in, ok := readOf(calls[k].Args)
			if !ok || !reread(newer, calls[k].Name, in) {
				continue
			}
			text := fmt.Sprintf("[Read again further down: the %d bytes that were here are left out.]", len(p.Result.Text))
			if won := c.freedBy(p, text); won > 0 {
				freed += won
				e.Pointers = append(e.Pointers, event.Pointer{Message: i, Part: k, Text: text})
			}
		}
	}
	if float64(freed) < c.minFreed() {
		return event.Compacted{}, false
	}
	e.After = int64(c.calib.of(c.headN + c.bodyN - freed))
	return e, true
}

// aboutOf returns what is known of a message, as Messages counts them.
func (c unpacked) aboutOf(i int) *about {
	if i < len(c.about) {
		return &c.about[i]
	}
	return &c.tailAbout
}

// resultsOf returns the numbers of a message's results.
func (c unpacked) resultsOf(i int) []int { return c.aboutOf(i).shown().numbers }

// readOf returns the files and lines that a read call asked for; ok is false for any
// other arguments.
func readOf(args json.RawMessage) (in readArgs, ok bool) {
	d := json.NewDecoder(bytes.NewReader(args))
	d.DisallowUnknownFields()
	return in, d.Decode(&in) == nil && len(in.Files) > 0
}

// reread reports whether all that a read asked for was read again later by the
// same tool, and notes what it read.
func reread(newer map[string][]lines, by string, in readArgs) bool {
	all := true
	for _, f := range in.Files {
		l, covered := lines{f.From, f.To}, false
		for _, n := range newer[by+"\x00"+f.Path] {
			covered = covered || n.covers(l)
		}
		all = all && covered
	}
	for _, f := range in.Files {
		newer[by+"\x00"+f.Path] = append(newer[by+"\x00"+f.Path], lines{f.From, f.To})
	}
	return all
}

// minFreed returns how many counted tokens must be freed to be worth a new prefix.
func (c *Conversation) minFreed() float64 { return c.conf.Defaults().Free / 100 * float64(c.bodyN) }
