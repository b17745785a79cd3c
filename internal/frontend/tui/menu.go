package tui

import (
	"cmp"
	"context"
	"fmt"
	"strings"
	"unicode/utf8"

	"github.com/pawl-agent/pawl/internal/core/editdistance"
	"github.com/pawl-agent/pawl/internal/frontend/plain"
	"github.com/pawl-agent/pawl/internal/frontend/slash"
	"github.com/pawl-agent/pawl/internal/frontend/styled"
	"github.com/pawl-agent/pawl/internal/frontend/tui/keys"
)

// menu offers completions of the word before the caret: slash commands, files, resources
// and declarations.
type menu struct {
	items  []slash.Item // if an ID is set, it goes into the prompt instead of the text
	at     int          // the selected item; -1: none
	typed  int          // the word's length in bytes
	closed string       // the word for which the person closed the menu
}

const menuRows = 6

// complete opens the menu if something can be completed.
func (s *screen) complete(ctx context.Context) {
	closed := ""
	if s.menu != nil {
		closed = s.menu.closed
	}
	s.menu = nil
	if s.question != nil && s.question.focused || s.modal != nil && s.modal.Normal() {
		return
	}
	if _, _, on := s.editor.Searching(); on {
		return
	}
	if line, end := s.editor.LineAtEnd(); end && strings.HasPrefix(line, "/") && !strings.Contains(line, " ") {
		s.offer(line, closed, commands(line[1:], s.Conversation.Custom()))
		return
	}
	if word, ok := s.editor.Mention('@'); ok && s.Files != nil {
		var items []slash.Item
		for _, f := range append(s.Files(word), s.resources(word)...) {
			items = append(items, slash.Item{Text: quoted(f)})
		}
		s.offer("@"+word, closed, append(items, s.symbols(ctx, word)...))
	}
}

// symbolSearch looks for declarations of the workspace whose name begins with word.
type symbolSearch struct {
	word  string
	items []slash.Item
	stop  context.CancelFunc
}

// maxSymbols is how many declarations are offered; minSymbolLetters is the shortest word for
// which they are looked for.
const (
	maxSymbols       = 20
	minSymbolLetters = 2
)

// symbols returns the declarations that complete a mention, as far as they were found. It
// looks for them in the background, and the menu is updated when they are found. What
// goes into the prompt is the declaration's file and lines, which every frontend attaches.
func (s *screen) symbols(ctx context.Context, word string) []slash.Item {
	if s.symbolSearch != nil && s.symbolSearch.word == word {
		return s.symbolSearch.items
	}
	if s.symbolSearch != nil {
		s.symbolSearch.stop()
		s.symbolSearch = nil
	}
	open := s.Conversation.Session()
	if open == nil || open.View().Symbols() == nil || utf8.RuneCountInString(word) < minSymbolLetters || strings.ContainsAny(word, `/\:"`) {
		return nil
	}
	finding, stop := context.WithCancel(ctx)
	n := &symbolSearch{word: word, stop: stop}
	s.symbolSearch = n
	go func() {
		found := open.View().Symbols().Find(finding, word, maxSymbols)
		if finding.Err() != nil {
			return
		}
		s.post(finding, func() {
			for _, sp := range found {
				name := sp.Name
				if sp.In != "" {
					name = sp.In + "." + name
				} else if strings.Contains(word, ".") && sp.Detail != "" {
					name = sp.Detail + "." + name
				}
				at := fmt.Sprintf("%s:%d-%d", sp.Path, sp.Line, sp.EndLine)
				n.items = append(n.items, slash.Item{Text: "@" + name, About: sp.Kind + "  " + at, ID: quoted(at)})
			}
			if s.menu == nil || s.menu.at < 0 {
				s.complete(ctx)
			}
		})
	}()
	return nil
}

// quoted returns the mention of a path.
func quoted(path string) string {
	if strings.ContainsAny(path, " \t") {
		return `@"` + path + `"`
	}
	return "@" + path
}

// resources returns the resources of MCP servers that complete a mention.
func (s *screen) resources(word string) []string {
	open := s.Conversation.Session()
	if open == nil {
		return nil
	}
	known, ok := open.View().Outside().(interface{ Complete(string) []string })
	if !ok {
		return nil
	}
	return known.Complete(word)
}

func (s *screen) offer(word, closed string, items []slash.Item) {
	if word == closed {
		s.menu = &menu{closed: closed}
		return
	}
	if len(items) == 0 || len(items) == 1 && items[0].Text == word && items[0].ID == "" {
		return
	}
	s.menu = &menu{items: items, at: -1, typed: len(word)}
}

// commands returns the slash commands whose name begins with name, or all of them by their
// groups; if there is none, the one with the most similar name.
func commands(name string, custom []slash.Custom) (out []slash.Item) {
	var names []string
	for _, it := range slash.Items(custom) {
		names = append(names, it.ID)
		if strings.HasPrefix(it.ID, name) {
			it.ID = "" // the text goes into the prompt, with its slash
			if name != "" {
				it.Group = ""
			}
			out = append(out, it)
		}
	}
	if near := editdistance.Nearest(name, names); len(out) == 0 && near != "" {
		out = append(out, slash.Item{Text: "/" + near, About: "did you mean this?"})
	}
	return out
}

// handleKey handles a key, and reports whether the menu uses it.
func (m *menu) handleKey(s *screen, k keys.Press) bool {
	if m == nil || len(m.items) == 0 {
		return false
	}
	switch k.Name {
	case "tab":
		if m.at < 0 {
			if all := commonPrefix(m.items); len(m.items) > 1 && len(all) > m.typed {
				s.editor.Complete(m.typed, all)
				return true
			}
			m.at = 0
		}
		m.choose(s)
	case "down":
		m.at = (m.at + 1) % len(m.items)
	case "up":
		if m.at < 0 {
			return false
		}
		m.at--
	case "enter":
		if m.at < 0 {
			return false
		}
		m.choose(s)
	case "esc":
		*m = menu{closed: s.word(m.typed)}
	default:
		return false
	}
	return true
}

func (m *menu) choose(s *screen) {
	text := cmp.Or(m.items[m.at].ID, m.items[m.at].Text)
	if !strings.HasSuffix(text, "/") {
		text += " "
	}
	s.editor.Complete(m.typed, text)
	m.items = nil
}

// word returns the last bytes before the caret.
func (s *screen) word(bytes int) string {
	line, _ := s.editor.LineAtEnd()
	return line[max(0, len(line)-bytes):]
}

// commonPrefix returns the longest common beginning of all texts.
func commonPrefix(items []slash.Item) string {
	all := items[0].Text
	for _, i := range items[1:] {
		for !strings.HasPrefix(i.Text, all) {
			all = all[:len(all)-1]
		}
	}
	return strings.ToValidUTF8(all, "")
}

// menuLines shows the menu: the rows around the selected one, and how many items are below.
func (s *screen) menuLines(room int) []styled.Line {
	m := s.menu
	if m == nil || len(m.items) == 0 {
		return nil
	}
	var rows []styled.Line
	var last []int // the last item in each row or above
	at, group := 0, ""
	for i, it := range m.items {
		if it.Group != group {
			group = it.Group
			rows, last = append(rows, heading(group)), append(last, i-1)
		}
		l := styled.Of(styled.Text, "  "+plain.Line(it.Text))
		if i == m.at {
			at = len(rows)
			l = styled.Of(styled.Accent, "  "+plain.Line(cmp.Or(it.More, it.Text)))
		}
		if it.About != "" {
			l = l.Pad(16).Add(styled.Dim, " "+it.About)
		}
		rows, last = append(rows, l), append(last, i)
	}
	n := min(len(rows), menuRows, room)
	if n == 0 {
		return nil
	}
	first := min(max(0, at-n+1), len(rows)-n)
	rows = rows[first : first+n]
	if left := len(m.items) - 1 - last[first+n-1]; left > 0 {
		more := fmt.Sprintf("  … %d more", left)
		rows[n-1] = rows[n-1].Cut(max(0, s.Width-styled.Width(more))).Add(styled.Dim, more)
	}
	return rows
}
