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

// menu is what the word before the caret may become: a slash command or a file.
type menu struct {
	items  []choice
	at     int    // -1: none is chosen yet
	typed  int    // bytes that a choice replaces
	closed string // the word for which it was closed
}

// choice is an entry. If insert is set, it is shown for text in the prompt.
type choice struct{ text, about, insert string }

const menuRows = 6

// complete opens the menu if something can be completed.
func (s *screen) complete(ctx context.Context) {
	closed := ""
	if s.menu != nil {
		closed = s.menu.closed
	}
	s.menu = nil
	if s.ask != nil && s.ask.focus || s.modal != nil && s.modal.Normal() {
		return
	}
	if _, _, on := s.edit.Searching(); on {
		return
	}
	if line, end := s.edit.Line(); end && strings.HasPrefix(line, "/") && !strings.Contains(line, " ") {
		s.offer(line, closed, commands(line[1:], s.talk.Custom()))
		return
	}
	if word, ok := s.edit.Before('@'); ok && s.Files != nil {
		var items []choice
		for _, f := range append(s.Files(word), s.resources(word)...) {
			items = append(items, choice{text: quoted(f)})
		}
		s.offer("@"+word, closed, append(items, s.symbols(ctx, word)...))
	}
}

// named is what the workspace's code declares whose name begins with a word.
type named struct {
	word  string
	items []choice
	stop  context.CancelFunc
}

// mostSymbols is how many declarations are offered. A word of one letter is the
// beginning of too many.
const (
	mostSymbols   = 20
	symbolLetters = 2
)

// symbols returns the declarations that a mention may become, as far as they are known.
// They are looked for in the background, and the screen is drawn again when they are
// found. In the prompt a declaration becomes its lines, which every frontend attaches.
func (s *screen) symbols(ctx context.Context, word string) []choice {
	if s.named != nil && s.named.word == word {
		return s.named.items
	}
	if s.named != nil {
		s.named.stop()
		s.named = nil
	}
	open := s.talk.Session()
	if open == nil || open.View().Symbols() == nil || utf8.RuneCountInString(word) < symbolLetters || strings.ContainsAny(word, `/\:"`) {
		return nil
	}
	finding, stop := context.WithCancel(ctx)
	n := &named{word: word, stop: stop}
	s.named = n
	go func() {
		found := open.View().Symbols().Find(finding, word, mostSymbols)
		if finding.Err() != nil {
			return
		}
		s.later(finding, func() {
			for _, sp := range found {
				name := sp.Name
				if sp.In != "" {
					name = sp.In + "." + name
				} else if strings.Contains(word, ".") && sp.Detail != "" {
					name = sp.Detail + "." + name
				}
				at := fmt.Sprintf("%s:%d-%d", sp.Path, sp.Line, sp.EndLine)
				n.items = append(n.items, choice{text: "@" + name, about: sp.Kind + "  " + at, insert: quoted(at)})
			}
			if s.menu == nil || s.menu.at < 0 {
				s.complete(ctx)
			}
		})
	}()
	return nil
}

// quoted is what mentions a path.
func quoted(path string) string {
	if strings.ContainsAny(path, " \t") {
		return `@"` + path + `"`
	}
	return "@" + path
}

// resources are those of MCP servers that a mention may become.
func (s *screen) resources(word string) []string {
	open := s.talk.Session()
	if open == nil {
		return nil
	}
	known, ok := open.View().Outside().(interface{ Complete(string) []string })
	if !ok {
		return nil
	}
	return known.Complete(word)
}

func (s *screen) offer(word, closed string, items []choice) {
	if word == closed {
		s.menu = &menu{closed: closed}
		return
	}
	if len(items) == 0 || len(items) == 1 && items[0].text == word && items[0].insert == "" {
		return
	}
	s.menu = &menu{items: items, at: -1, typed: len(word)}
}

// commands are those whose name begins so; where there is none, the nearest.
func commands(name string, custom []slash.Custom) (out []choice) {
	var names []string
	for _, c := range slash.All() {
		names = append(names, c.Name)
		if strings.HasPrefix(c.Name, name) {
			out = append(out, choice{text: "/" + c.Name, about: strings.TrimSpace(c.Args + "  " + c.Doc)})
		}
	}
	for _, c := range custom {
		if strings.HasPrefix(c.Name, name) && !slash.Builtin(c.Name) {
			out = append(out, choice{text: "/" + plain.Line(c.Name), about: plain.Line(strings.TrimSpace(c.Args + "  " + c.Doc))})
		}
	}
	if near := editdistance.Nearest(name, names); len(out) == 0 && near != "" {
		out = append(out, choice{text: "/" + near, about: "did you mean this?"})
	}
	return out
}

// takes handles the keys of a menu.
func (m *menu) takes(s *screen, k keys.Press) bool {
	if m == nil || len(m.items) == 0 {
		return false
	}
	switch k.Name {
	case "tab":
		if m.at < 0 {
			if all := common(m.items); len(m.items) > 1 && len(all) > m.typed {
				s.edit.Complete(m.typed, all)
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
	text := cmp.Or(m.items[m.at].insert, m.items[m.at].text)
	if !strings.HasSuffix(text, "/") {
		text += " "
	}
	s.edit.Complete(m.typed, text)
	m.items = nil
}

// word returns the word before the caret.
func (s *screen) word(bytes int) string {
	line, _ := s.edit.Line()
	return line[max(0, len(line)-bytes):]
}

func common(items []choice) string {
	all := items[0].text
	for _, i := range items[1:] {
		for !strings.HasPrefix(i.text, all) {
			all = all[:len(all)-1]
		}
	}
	return strings.ToValidUTF8(all, "")
}

// footer shows the menu.
func (s *screen) footer(room int) (out []styled.Line) {
	m := s.menu
	if m == nil || len(m.items) == 0 {
		return nil
	}
	rows := min(len(m.items), menuRows, room)
	first := min(max(0, m.at-rows+1), len(m.items)-rows)
	for i := first; i < first+rows; i++ {
		it := m.items[i]
		role := styled.Text
		if i == m.at {
			role = styled.Accent
		}
		l := styled.Of(role, "  "+plain.Line(it.text))
		if it.about != "" {
			l = l.Pad(16).Add(styled.Dim, " "+it.about)
		}
		if i == first+rows-1 && first+rows < len(m.items) {
			l = l.Add(styled.Dim, "  …")
		}
		out = append(out, l)
	}
	return out
}
