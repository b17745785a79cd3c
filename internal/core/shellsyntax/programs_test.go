package shellsyntax

import "slices"

// few knows some programs in their plainest use. What they do with their options is
// tested where they are known: in policy/command.
type few struct{}

func (few) Wrapping(words []Word) (w Wrapping, ok bool) {
	plain := []string{"timeout", "nohup"}
	if len(words) < 2 || !slices.Contains(append(plain, "builtin", "command", "env", "exec", "sudo", "xargs"), words[0].Text) {
		return w, false
	}
	w = Wrapping{Words: words, Stays: slices.Contains(plain, words[0].Text), More: words[0].Text == "xargs"}
	if w.Code = !words[1].Known; !w.Code {
		w.At = 1
	}
	return w, true
}

func (few) Inner(words []Word) [][2]int {
	at := slices.IndexFunc(words, func(w Word) bool { return w.Text == "-exec" })
	if at < 0 || at+2 >= len(words) {
		return nil
	}
	return [][2]int{{at + 1, len(words) - 1}}
}
