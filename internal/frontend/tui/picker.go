package tui

import (
	"fmt"
	"slices"
	"strings"

	"github.com/pawl-agent/pawl/internal/frontend/plain"
	"github.com/pawl-agent/pawl/internal/frontend/slash"
	"github.com/pawl-agent/pawl/internal/frontend/styled"
	"github.com/pawl-agent/pawl/internal/frontend/tui/keys"
	"github.com/pawl-agent/pawl/internal/frontend/tui/paint"
)

// picker lets a person pick one of many items on the alternate screen: what is typed
// filters them, the arrows select one, and the selected one is described below.
type picker struct {
	title    string
	items    []slash.Item
	filter   string
	fits     []int // the items with every word of the filter
	at       int   // the selected one of fits
	top      int   // the first row that is shown
	page     int   // rows of the list in the last frame
	question string
}

// pickerAbout is how many rows describe the selected item; a window without pickerRoom
// rows has none.
const (
	pickerAbout = 6
	pickerRoom  = 14
	maxFilter   = 200 // bytes of a paste into the filter
)

func newPicker(question, title string, items []slash.Item) *picker {
	p := &picker{question: question, title: title, items: items, page: 1}
	p.search("")
	p.at = max(0, slices.IndexFunc(items, func(it slash.Item) bool { return it.Here }))
	return p
}

// search sets the filter.
func (p *picker) search(words string) {
	p.filter, p.at, p.top, p.fits = words, 0, 0, nil
	for i, it := range p.items {
		all := strings.ToLower(it.Group + " " + it.Text + " " + it.About + " " + it.More)
		fits := true
		for w := range strings.FieldsSeq(strings.ToLower(words)) {
			fits = fits && strings.Contains(all, w)
		}
		if fits {
			p.fits = append(p.fits, i)
		}
	}
	if name := strings.ToLower(strings.TrimSpace(words)); name != "" { // a name is meant before a description
		p.at = max(0, slices.IndexFunc(p.fits, func(i int) bool { return strings.Contains(strings.ToLower(p.items[i].Text), name) }))
	}
}

func (p *picker) selected() (it slash.Item, ok bool) {
	if p.at >= len(p.fits) {
		return it, false
	}
	return p.items[p.fits[p.at]], true
}

// handleKey handles a key. done: the person has picked the item with that ID, or none.
func (p *picker) handleKey(k keys.Press) (id string, done bool) {
	move := func(by int) { p.at = max(0, min(p.at+by, len(p.fits)-1)) }
	switch k.Name {
	case "esc", "ctrl+d":
		return "", true
	case "enter":
		it, ok := p.selected()
		return it.ID, ok && it.ID != "" // one that is only shown cannot be picked
	case "up", "ctrl+p":
		move(-1)
	case "down", "ctrl+n", "tab":
		move(1)
	case "pgup":
		move(-p.page)
	case "pgdown":
		move(p.page)
	case "home":
		move(-len(p.fits))
	case "end":
		move(len(p.fits))
	case "ctrl+u":
		p.search("")
	case "backspace", "ctrl+h":
		if r := []rune(p.filter); len(r) > 0 {
			p.search(string(r[:len(r)-1]))
		}
	default:
		if k.Text != "" {
			p.search(p.filter + k.Text)
		}
	}
	return "", false
}

// lines draws the picker: the filter, the list with the headings of its groups, the
// selected item's description, and what keys do.
func (p *picker) lines(width, height int) (out []styled.Line, caret paint.Caret) {
	head := styled.Of(styled.Accent, promptSign).Add(styled.Text, plain.Line(p.filter))
	caret = paint.Caret{Column: min(head.Width(), max(0, width-1))}
	if p.filter == "" {
		head = head.Add(styled.Dim, p.title+": type to search")
	}
	about := 0
	if height >= pickerRoom {
		about = pickerAbout
	}
	p.page = max(1, height-2-about)
	rows, at := p.rows(width)
	p.top = max(0, min(p.top, at, len(rows)-p.page))
	if at >= p.top+p.page {
		p.top = at - p.page + 1
	}
	if at == 1 && p.top == 1 {
		p.top = 0 // the first heading
	}
	out = append(out, head)
	for i := p.top; i < p.top+p.page; i++ {
		if i < len(rows) {
			out = append(out, rows[i])
		} else {
			out = append(out, nil)
		}
	}
	if about > 0 {
		out = append(out, p.about(width, about)...)
	}
	count := fmt.Sprintf("%d of %d", min(p.at+1, len(p.fits)), len(p.fits))
	if len(p.fits) < len(p.items) {
		count += fmt.Sprintf(", of %d", len(p.items))
	}
	foot := styled.Of(styled.Dim, count+" · Up, Down select · Enter picks · Esc goes back")
	if foot.Width() > width {
		foot = styled.Of(styled.Dim, count+" · Enter picks · Esc leaves")
	}
	out = append(out, foot)
	for i := range out {
		out[i] = out[i].Cut(width)
	}
	return out[:min(len(out), height)], caret
}

// rows returns the list's rows, and which of them is selected. On a wide
// screen a long text leaves half of its row to what is said about it.
func (p *picker) rows(width int) (out []styled.Line, at int) {
	group := ""
	for n, i := range p.fits {
		it := p.items[i]
		if it.Group != group {
			group = it.Group
			out = append(out, heading(group))
		}
		role, sign := styled.Text, "  "
		if n == p.at {
			role, sign, at = styled.Accent, "❯ ", len(out)
		}
		l := styled.Of(role, sign+it.Text)
		if it.About != "" {
			most := max(width/2, width-2-styled.Width(it.About))
			if width < 60 { // names that are cut there are all the same; what is said about one stands below
				most = width
			}
			l = l.Cut(most).Add(styled.Dim, "  "+it.About)
		}
		out = append(out, l)
	}
	if len(out) == 0 {
		out = append(out, styled.Of(styled.Warn, "  no matches; Ctrl+U clears the search"))
	}
	return out, at
}

// about describes the selected item in that many rows.
func (p *picker) about(width, rows int) []styled.Line {
	out := make([]styled.Line, 1, rows)
	it, _ := p.selected()
	more := it.More
	if it.Live != nil {
		more = lastLines(it.Live(), rows-1)
	} else if styled.Width("  "+it.Text+"  "+it.About) > width { // its row is cut
		more = strings.TrimRight(it.Text+"\n"+it.About, "\n") + "\n" + more
	}
	for l := range strings.Lines(more) {
		wrapped := styled.Of(styled.Dim, "  "+strings.TrimRight(l, "\n")).Wrap(width, inset)
		if it.Live != nil {
			wrapped = wrapped[:1]
		}
		for _, row := range wrapped {
			if len(out) < rows {
				out = append(out, row)
			}
		}
	}
	for len(out) < rows {
		out = append(out, nil)
	}
	return out
}

// lastLines returns the last n lines of a text.
func lastLines(text string, n int) string {
	all := slices.Collect(strings.Lines(strings.TrimRight(text, "\n")))
	return strings.Join(all[max(0, len(all)-n):], "")
}

// picking returns the picker of the open question, nil if its answer is not picked, or the
// person is at the prompt.
func (s *screen) picking() *picker {
	q := s.question
	if q == nil || !q.focused || len(q.form.Question().Items) == 0 {
		s.picker = nil
		return nil
	}
	if asked := q.form.Question(); s.picker == nil || s.picker.question != asked.ID {
		s.picker = newPicker(asked.ID, asked.Text, asked.Items)
	}
	return s.picker
}

// pick handles a key for the picker.
func (s *screen) pick(p *picker, k keys.Press) {
	if id, done := p.handleKey(k); done {
		s.picked(p, id)
	}
}

func (s *screen) picked(p *picker, id string) {
	s.Conversation.Pick(p.question, id)
	s.answeredID, s.question, s.picker = p.question, nil, nil
}

func (s *screen) drawPicker(p *picker) {
	lines, caret := p.lines(s.Width, max(1, s.Height))
	rows := make([]string, len(lines))
	for i, l := range lines {
		rows[i] = s.Theme.Render(l)
	}
	s.painter.ShowModal(rows, caret)
}
