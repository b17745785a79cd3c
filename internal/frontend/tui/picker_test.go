package tui

import (
	"fmt"
	"strings"
	"testing"

	"github.com/pawl-agent/pawl/internal/core/llm/llmtest"
	"github.com/pawl-agent/pawl/internal/frontend/slash"
	"github.com/pawl-agent/pawl/internal/frontend/tui/keys"
)

// The picker finds an item by words of whatever is shown of it, moves within its list and
// no further, and fits into any window.
//
// SPEC 18.3, 18.5
func TestPicker(t *testing.T) {
	var items []slash.Item
	for i := range 40 {
		items = append(items, slash.Item{ID: fmt.Sprint(i), Group: fmt.Sprintf("group %d", i/20), Text: fmt.Sprintf("item %d 漢字", i), About: "about it", More: strings.Repeat("more of it ", 40)})
	}
	items[3].More = "unlike the parser"
	items[7] = slash.Item{ID: "seven", Group: "group 0", Text: "The Parser", About: "2h", More: "/work/it"}
	items[8] = slash.Item{Group: "group 0", Text: "cannot be picked"}
	for name, c := range map[string]struct {
		keys string
		want string
		done bool
	}{
		"the first":               {"enter", "0", true},
		"down and up":             {"down down up enter", "1", true},
		"not above the first":     {"up up enter", "0", true},
		"not below the last":      {"end down down enter", "39", true},
		"a page":                  {"pgdown enter", "16", true},
		"a name before a mention": {"t h e space p a r s e r enter", "seven", true},
		"words in any order":      {"p a r s space t h e space 2 h enter", "seven", true},
		"the folder":              {"/ w o r k enter", "seven", true},
		"nothing fits":            {"z z z enter", "", false},
		"taken back":              {"z backspace enter", "0", true},
		"cleared":                 {"z z z ctrl+u end enter", "39", true},
		"none":                    {"down esc", "", true},
		"what is only shown":      {"c a n n o t enter", "", false},
		"a search starts on top":  {"end i t e m enter", "0", true},
		"keys of the screen stay": {"ctrl+o shift+tab ctrl+t enter", "0", true},
	} {
		p := newPicker("q", "things", items)
		p.lines(80, 24)
		id, done := "", false
		for k := range strings.FieldsSeq(c.keys) {
			press := keys.Press{Name: k}
			if k == "space" {
				press.Text = " "
			} else if len(k) == 1 {
				press.Text = k
			}
			id, done = p.handleKey(press)
		}
		if id != c.want || done != c.done {
			t.Errorf("%s: %q (%v), want %q (%v)", name, id, done, c.want, c.done)
		}
	}
	for _, size := range [][2]int{{120, 40}, {80, 24}, {40, 20}, {20, 6}, {1, 1}} {
		p := newPicker("q", "things", items)
		for range items {
			lines, caret := p.lines(size[0], size[1])
			it, _ := p.selected()
			seen := ""
			for _, l := range lines {
				seen += l.String() + "\n"
				if l.Width() > size[0] {
					t.Fatalf("%v: a row of %d columns: %s", size, l.Width(), l.String())
				}
			}
			if len(lines) > size[1] || caret.Row >= len(lines) || caret.Column >= size[0] {
				t.Fatalf("%v: %d rows, the caret at %+v", size, len(lines), caret)
			}
			if size[0] >= 40 && !strings.Contains(seen, "Enter picks · Esc ") {
				t.Fatalf("%v: the keys are cut:\n%s", size, seen)
			}
			if size[0] > 20 && !strings.Contains(seen, "❯ "+it.Text) {
				t.Fatalf("%v: the selected item %q is not seen:\n%s", size, it.Text, seen)
			}
			p.handleKey(keys.Press{Name: "down"})
		}
	}
}

// In a narrow window the selected item, whose row is cut, is described whole below the list.
//
// SPEC 18.5
func TestPickNarrow(t *testing.T) {
	p := newPicker("q", "things", []slash.Item{{ID: "1", Text: "mend the parser of dates", About: "2h, main, done, $0.12", More: "> mend it"}})
	lines, _ := p.lines(40, 20)
	seen := ""
	for _, l := range lines {
		seen += l.String() + "\n"
	}
	if want := "  mend the parser of dates\n  2h, main, done, $0.12\n  > mend it\n"; !strings.Contains(seen, want) {
		t.Errorf("not whole:\n%s", seen)
	}
}

// A session is found by its title; Esc and Ctrl+C close the list and nothing else.
//
// SPEC 10.3, 18.3
func TestPickSession(t *testing.T) {
	r := newTestScreen(t, llmtest.New())
	r.start("")
	r.see("mode ask; /help")
	for _, leave := range []string{"esc", "ctrl+c"} {
		r.enter("/resume ")
		r.see("sessions of this folder: type to search")
		r.press(leave)
		r.until("closed", func(seen string) bool { return !strings.Contains(seen, "type to search") })
	}
	r.enter("/resume ")
	r.see("sessions of this folder: type to search")
	r.say("pars")
	r.see("❯ mend the parser")
	r.see(", main, done, $0.12")
	r.see("> mend it\n  It is mended.\n  /work/it")
	if seen := r.text(); strings.Contains(seen, "this session") {
		t.Errorf("it is not filtered:\n%s", seen)
	}
	r.press("enter")
	r.until("it is opened", func(seen string) bool { return !strings.Contains(seen, "type to search") })
	r.say("a draft")
	r.see("› a draft")
}

// A command that is picked stands in the prompt, and each group says how many it has. Ctrl+C
// leaves the list, and not the turn that runs.
//
// SPEC 10.3, 18.3
func TestPickCommand(t *testing.T) {
	goes := make(chan struct{})
	r := newTestScreen(t, llmtest.New(llmtest.Turn{Text: "all done", Wait: goes}))
	r.begin()
	r.see("esc interrupts")
	r.enter("/help")
	r.see("commands: type to search")
	r.press("ctrl+c")
	r.until("closed", func(seen string) bool { return !strings.Contains(seen, "type to search") })
	close(goes)
	r.rest(1)
	if seen := r.text(); !strings.Contains(seen, "all done") || strings.Contains(seen, "interrupted") {
		t.Error(seen)
	}
	r.enter("/help")
	r.see("commands: type to search")
	r.see("model, rights and servers (10)")
	r.enter("undo")
	r.see("› /undo")
}

// On a narrow screen names that begin alike are told apart.
//
// SPEC 18.3
func TestPickerOnANarrowScreen(t *testing.T) {
	p := newPicker("q", "models", []slash.Item{{ID: "a", Text: "anthropic/claude-opus-9", About: "list price $5 in / $25 out"}, {ID: "b", Text: "anthropic/claude-sonnet-9", About: "list price $2 in"}})
	rows, _ := p.rows(40)
	for i, name := range []string{"claude-opus-9", "claude-sonnet-9"} {
		if !strings.Contains(rows[i].String(), name) {
			t.Errorf("%q", rows[i].String())
		}
	}
}
