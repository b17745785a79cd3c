package offline

import (
	"fmt"
	"strings"
)

// renameWord is the textual form, for a file that is not Go.
func renameWord(h *hands, in intent) {
	text, err := h.Read(in.file)
	if err != nil {
		h.Stop(err)
		return
	}
	now, n := replaceWord(text, in.old, in.new)
	if n == 0 {
		h.Decline(fmt.Sprintf("%s does not contain `%s`; nothing was changed.", in.file, in.old))
		return
	}
	old, new := narrow(text, now)
	if err := h.Edit(in.file, old, new); err != nil {
		h.Stop(err)
		return
	}
	h.settle()
	h.Say(fmt.Sprintf("Renamed the word `%s` to `%s` in %s, %s. This was a textual change, not verified.", in.old, in.new, in.file, count(n, "place")))
}

// replaceWord replaces a word where it stands alone.
func replaceWord(text, old, new string) (string, int) {
	part := func(c byte) bool {
		return c == '_' || c >= '0' && c <= '9' || c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= 0x80
	}
	var b strings.Builder
	n := 0
	for {
		i := strings.Index(text, old)
		if i < 0 || old == "" {
			b.WriteString(text)
			return b.String(), n
		}
		end := i + len(old)
		if i > 0 && part(text[i-1]) || end < len(text) && part(text[end]) {
			b.WriteString(text[:end])
		} else {
			b.WriteString(text[:i] + new)
			n++
		}
		text = text[end:]
	}
}
