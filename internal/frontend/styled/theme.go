package styled

import (
	"strconv"
	"strings"

	"github.com/pawl-agent/pawl/internal/frontend/plain"
)

// Theme defines how roles look. It uses the sixteen colours that a person chose for the
// terminal, so that text stays readable there.
type Theme struct {
	Name  string
	codes [roles]string
	Links bool // the terminal supports OSC 8
}

// The themes. Plain has no colours, but still bold, underline and reverse.
var (
	Plain = Theme{Name: "plain"}
	Dark  = Theme{Name: "dark", codes: [roles]string{
		Dim: "90", Accent: "96", Heading: "96", Code: "93", Link: "94", Quote: "90", Person: "1", Good: "92", Bad: "91", Warn: "93",
		Added: "92", Removed: "91", Hunk: "36", Keyword: "95", String: "92", Number: "93", Comment: "90", Type: "96", Function: "94",
	}}
	Light = Theme{Name: "light", codes: [roles]string{
		Dim: "2", Accent: "34", Heading: "34", Code: "35", Link: "34", Quote: "2", Person: "1", Good: "32", Bad: "31", Warn: "35",
		Added: "32", Removed: "31", Hunk: "36", Keyword: "35", String: "32", Number: "31", Comment: "2", Type: "36", Function: "34",
	}}
	// Contrast dims nothing and uses no colour that is similar to the background.
	Contrast = Theme{Name: "contrast", codes: [roles]string{
		Accent: "1", Heading: "1", Code: "1", Link: "4", Person: "1;7", Good: "1", Bad: "1;7", Warn: "1;4",
		Added: "1", Removed: "7", Hunk: "4", Keyword: "1",
	}}
)

// Themes returns the themes that a person may choose by name.
func Themes() []Theme { return []Theme{Dark, Light, Contrast, Plain} }

// Render returns the bytes that draw a line.
func (t Theme) Render(l Line) string {
	var b strings.Builder
	now, link := "", ""
	for _, s := range l {
		if t.Links && s.Link != link {
			b.WriteString("\x1b]8;;" + s.Link + "\x1b\\")
			link = s.Link
		}
		if code := t.code(s.Style); code != now {
			switch {
			case code == "":
				b.WriteString("\x1b[m")
			case now == "":
				b.WriteString("\x1b[" + code + "m")
			default:
				b.WriteString("\x1b[0;" + code + "m")
			}
			now = code
		}
		b.WriteString(harmless(s.Text))
	}
	if now != "" {
		b.WriteString("\x1b[m")
	}
	if link != "" {
		b.WriteString("\x1b]8;;\x1b\\")
	}
	return b.String()
}

// harmless returns a text that a terminal does not interpret. Its input should be
// sanitised already; this is the second safeguard.
func harmless(text string) string {
	for i := 0; i < len(text); i++ {
		if c := text[i]; c < ' ' || c == 0x7f || c == 0xc2 && i+1 < len(text) && text[i+1] < 0xa0 {
			return plain.Line(text)
		}
	}
	return text
}

var attrs = [...]struct {
	attr Attr
	code int
}{{Bold, 1}, {Italic, 3}, {Underline, 4}, {Reverse, 7}, {Strike, 9}}

func (t Theme) code(s Style) string {
	code := t.codes[s.Role]
	for _, a := range attrs {
		if s.Attr&a.attr != 0 {
			if code != "" {
				code += ";"
			}
			code += strconv.Itoa(a.code)
		}
	}
	return code
}
