// Package hints detects how a model uses its tools and suggests better ways (SPEC
// 4.13): a fold over a session's events and a table of hints.
//
// It promises at most one hint of a kind in a turn, given after a step and never
// inside a result, and that folding the same events yields the same hints. It does
// not judge whether a run makes progress: policy/progress does.
package hints

import (
	"encoding/json"
	"fmt"
	"path"
	"slices"
	"strings"

	"github.com/pawl-agent/pawl/internal/core/event"
	"github.com/pawl-agent/pawl/internal/core/llm"
	"github.com/pawl-agent/pawl/internal/core/tool"
)

// Why is the beginning of a hint's Noted.Why; its kind follows.
const Why = "hint."

// The numbers of SPEC 4.13.
const (
	exploring = 4 // replies in a row with exploratory calls only: calls side by side are one step
	searching = 3 // searches in a row that found nothing
	slicing   = 3 // slices of one file
)

// table lists all hints, one a line. To add one, add a line here and what it needs
// to Fold.
func table() []hint {
	return []hint{
		{"explore", (*Fold).explore},
		{"search", (*Fold).search},
		{"slices", (*Fold).slices},
	}
}

// hint returns its text if it applies.
type hint struct {
	kind string
	text func(*Fold, int) string
}

// Fold is the state of a turn that the hints need. The zero value is ready.
type Fold struct {
	agent         bool // there is an agent tool
	turn          bool
	given         map[string]bool // kinds of hints that were given in this turn
	calls         []llm.Call      // without a result yet, in order
	exploreStreak int             // replies in a row that only explored
	explored      bool            // the latest reply counts in it already
	emptySearches int             // searches in a row that found nothing
	slicesRead    map[string][]lines
	reads         int    // the calls that read
	latest        string // the file that was read last in a slice
}

// lines is a range that was read, the bytes that it took, and by which of the reads; to 0
// is up to the end.
type lines struct{ from, to, bytes, read int }

func (f *Fold) Apply(e event.Event) {
	switch b := e.Body.(type) {
	case event.Rebased:
		f.agent = slices.ContainsFunc(b.Head.Tools, func(t llm.ToolSpec) bool { return t.Name == "agent" })
	case event.Prompted:
		if !f.turn {
			*f = Fold{agent: f.agent, turn: true}
		}
	case event.Ended:
		f.turn = false
	case event.Noted:
		if kind, ok := strings.CutPrefix(string(b.Why), Why); ok {
			if f.given == nil {
				f.given = map[string]bool{}
			}
			f.given[kind] = true
		}
	case event.FileChanged:
		delete(f.slicesRead, path.Clean(b.Path))
	case event.Compacted:
		f.slicesRead = nil // what they showed may be gone from the window
	case event.Replied:
		f.explored = false
		f.calls = append(f.calls, b.Reply.Message.Calls()...)
	case event.CallDone:
		if len(f.calls) > 0 {
			f.done(f.calls[0], b)
			f.calls = f.calls[1:]
		}
	}
}

// Due lists the hints that are due now, where a result holds room bytes; the caller
// records them.
func (f *Fold) Due(room int) []event.Noted {
	var out []event.Noted
	for _, h := range table() {
		if f.given[h.kind] {
			continue
		}
		if text := h.text(f, room); text != "" {
			out = append(out, event.Noted{Why: event.NotedWhy(Why + h.kind), Text: "[Hint: " + text + "]"})
		}
	}
	return out
}

func (f *Fold) done(c llm.Call, d event.CallDone) {
	switch d.Does {
	case tool.Read, tool.Search:
		if !f.explored {
			f.exploreStreak, f.explored = f.exploreStreak+1, true
		}
	case tool.Note:
	default:
		f.exploreStreak = 0
	}
	switch found, is := searched(d); {
	case is && found:
		f.emptySearches = 0
	case is:
		f.emptySearches++
	}
	if d.Does == tool.Read && d.Outcome == event.OK {
		f.read(c, len(d.Result.Text))
	}
}

// textSearches are programs that end with exit code 1 if they find no text.
const textSearches = " ag egrep fgrep grep rg "

// searched reports whether a call was a search that ran, and whether it found
// anything.
func searched(d event.CallDone) (found, is bool) {
	switch d.Does {
	case tool.Search:
		return d.Note != "no matches" && d.Note != "no files", d.Outcome == event.OK
	case tool.Exec:
		words := strings.Fields(d.Command)
		if d.Exit == nil || *d.Exit > 1 || strings.ContainsAny(d.Command, "|;&\n") {
			return false, false
		}
		return *d.Exit == 0, len(words) > 0 && strings.Contains(textSearches, " "+words[0]+" ") || len(words) > 1 && words[0] == "git" && words[1] == "grep"
	}
	return false, false
}

func (f *Fold) read(c llm.Call, bytes int) {
	var in struct {
		Files []struct {
			Path     string
			From, To int
		}
	}
	if json.Unmarshal(c.Args, &in) != nil {
		return
	}
	f.reads++
	for _, x := range in.Files {
		p := path.Clean(x.Path)
		if x.From <= 1 && x.To <= 0 {
			delete(f.slicesRead, p) // all of it
			continue
		}
		l := lines{max(x.From, 1), x.To, bytes / len(in.Files), f.reads}
		if slices.ContainsFunc(f.slicesRead[p], func(o lines) bool { return o.from == l.from && o.to == l.to }) {
			continue // policy/progress handles repetition
		}
		if f.slicesRead == nil {
			f.slicesRead = map[string][]lines{}
		}
		f.slicesRead[p], f.latest = append(f.slicesRead[p], l), p
	}
}

func (f *Fold) explore(int) string {
	if !f.agent || f.exploreStreak < exploring {
		return ""
	}
	return fmt.Sprintf("%d steps in a row only explored. The agent tool explores in a context of its own and gives back only what it found.", f.exploreStreak)
}

func (f *Fold) search(int) string {
	if f.emptySearches < searching {
		return ""
	}
	return fmt.Sprintf("%d searches in a row found nothing. Search for less, ignore case, take a wider path, or see with ls what is there.", f.emptySearches)
}

func (f *Fold) slices(room int) string {
	ps := f.slicesRead[f.latest]
	if len(ps) < slicing {
		return ""
	}
	reads := map[int]bool{} // several slices in one call were chosen at once
	from, to, read, bytes := ps[0].from, 0, 0, 0
	for _, l := range ps {
		reads[l.read] = true
		if l.to <= 0 {
			return "" // its length is not known
		}
		from, to, read = min(from, l.from), max(to, l.to), read+l.to-l.from+1
		bytes += l.bytes
	}
	if len(reads) < slicing || read*4 <= (to-from)*3 || bytes*(to-from)/read > room { // most of it was not wanted, or a result holds less
		return ""
	}
	name := strings.Map(func(r rune) rune {
		if r < ' ' {
			return '?'
		}
		return r
	}, f.latest)
	return fmt.Sprintf("%s was read in slices by %d calls. One read of its lines %d to %d shows all of it.", name[:min(len(name), 300)], len(reads), from, to)
}
