package tui

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/charmbracelet/x/ansi"

	"github.com/pawl-agent/pawl/internal/core/llm/llmtest"
	"github.com/pawl-agent/pawl/internal/core/must"
	"github.com/pawl-agent/pawl/internal/frontend/styled"
	"github.com/pawl-agent/pawl/internal/frontend/tui/keys"
)

// Text that is written from right to left reaches the terminal in logical order,
// whole, in as many columns as it takes, in the prompt, in replies, in tables, in
// questions and in diffs. The cursor is in logical order as well.
//
// SPEC 18.5
func TestRightToLeft(t *testing.T) {
	const (
		hebrew  = "שלום עולם"
		pointed = "בְּרֵאשִׁית"
		arabic  = "مرحبا بالعالم"
		persian = "می\u200cخواهم"
	)
	text := fmt.Sprintf("# %s heading\n\nIn the middle %s (%s) and %s, %s 123.\n\n| name | שם |\n|---|---|\n| %s | a |\n| b | %s |\n\n- item %s\n\n```go\nx := \"%s\" // %s\n```\n",
		hebrew, hebrew, pointed, arabic, persian, arabic, hebrew, pointed, hebrew, arabic)
	for _, width := range []int{40, 80} {
		t.Run(fmt.Sprint(width), func(t *testing.T) {
			t.Parallel()
			old, new := "old "+hebrew+" end\n", "new "+arabic+" "+hebrew+" end\n"
			m := llmtest.New(llmtest.Turn{Text: text, Piece: 3}, llmtest.Use("read", `{"path":"f.txt"}`), llmtest.Use("edit", fmt.Sprintf(`{"path":"f.txt","old":%q,"new":%q}`, old, new)), llmtest.Say("all done"))
			r := newTestScreen(t, m)
			r.width = width
			must.Do(t, os.WriteFile(filepath.Join(r.dir, "f.txt"), []byte(old), 0o644))
			r.start("")
			typed := "ask " + hebrew + " x " + arabic
			for _, c := range typed {
				r.press(string(c))
			}
			r.see("› " + typed)
			r.mu.Lock()
			_, col, _ := r.term.Cursor()
			r.mu.Unlock()
			if want := 2 + styled.Width(typed); col != want {
				t.Errorf("the cursor is in column %d, want %d", col, want)
			}
			r.press("home", "right", "right", "right", "right", "right", "ctrl+k") // behind the first letter
			r.until("the beginning", func(s string) bool { return strings.Contains(s, "› ask ש\n") })
			r.press("ctrl+y", "enter")
			r.rest(1)
			r.send(keys.Paste{Text: "change it " + persian})
			r.press("enter")
			r.see("press a key")
			r.press("y")
			r.rest(2)
			seen := strings.Join(strings.Fields(r.text()), " ")
			for _, part := range []string{
				"› " + typed, hebrew + " heading", "In the middle " + hebrew + " (" + pointed + ") and " + arabic + ", " + persian + " 123.",
				"• item " + pointed, `x := "` + hebrew + `" // ` + arabic, "change it " + persian, "-old " + hebrew + " end", "+new " + arabic + " " + hebrew + " end",
			} {
				if !strings.Contains(seen, part) {
					t.Errorf("%q is not seen in\n%s", part, r.text())
				}
			}
			at := 0
			for l := range strings.Lines(r.text()) { // the columns of the table
				if i := strings.Index(l, "│"); i >= 0 {
					if w := styled.Width(l[:i]); at > 0 && w != at {
						t.Errorf("the table's column is at %d and at %d", at, w)
					} else {
						at = w
					}
				}
			}
		})
	}
}

// The caret of text from right to left moves in the order of the text, a character
// that a person sees at a time, and no key loses another one.
//
// SPEC 18.5
func TestCaretFromRightToLeft(t *testing.T) {
	r := newTestScreen(t, llmtest.New())
	r.start("")
	r.see("enter a task")
	for _, text := range []string{"שלום עולם abc", "مرحبا 12 بالعالم", "בְּרֵאשִׁית x", "می\u200cخواهم", "a (שלום) b", "漢字 שלום 👍🏽"} {
		r.send(keys.Paste{Text: text})
		r.see("› " + text)
		for head := text; head != ""; {
			last := ""
			for rest := head; rest != ""; rest = rest[len(last):] {
				last, _ = ansi.FirstGraphemeCluster(rest, ansi.GraphemeWidth)
			}
			head = strings.TrimSuffix(head, last)
			r.press("left")
			want := 2 + styled.Width(head)
			r.until(fmt.Sprintf("%q with the caret in column %d", text, want), func(string) bool {
				r.mu.Lock()
				defer r.mu.Unlock()
				_, col, _ := r.term.Cursor()
				return col == want
			})
			r.press("_")
			r.until("a sign", func(s string) bool { return strings.Contains(s, "› "+head+"_"+text[len(head):]+"\n") })
			r.press("backspace")
			r.until("none", func(s string) bool { return strings.Contains(s, "› "+text+"\n") })
		}
		r.press("ctrl+k")
		r.until("an empty prompt", func(s string) bool { return !strings.Contains(s, text) })
	}
}
