package offline

import (
	"errors"
	"fmt"
	"go/token"
	"path"
	"slices"
	"strings"
)

// planRename lets the language server rename a symbol wherever it is used, or renames a
// word in one named file that no server knows.
func planRename(h *hands, in intent) {
	if in.old == in.new {
		h.Say("Both names are the same; nothing was changed.")
		return
	}
	ext := path.Ext(in.file)
	textual := ext != "" && ext != ".go"
	if !h.serves("lsp_rename") {
		if textual {
			planReplace(h, in)
			return
		}
		h.Decline("I cannot rename `" + in.old + "`: which places mean the same thing only a language server knows, and this session has none (" + noServer + "). Nothing was changed; a text in one file I can change: replace X with Y in FILE.")
		return
	}
	if token.IsKeyword(in.new) && (ext == ".go" || ext == "") {
		h.Decline("`" + in.new + "` is a keyword of Go; nothing was changed.")
		return
	}
	said, err := rename(h, in)
	no := declined("")
	switch {
	case err == nil:
		h.Say(said)
	case errors.As(err, &no):
		h.Decline(string(no))
	case errors.Is(err, errNotAll):
		h.Decline("I cannot rename `" + in.old + "`: it may be in a project whose language server was not asked, so nothing was changed. Say which file it is in, as in `rename " + last(in.old) + " to " + in.new + " in FILE`; `pawl lsp doctor` says which servers work.")
	case errors.Is(err, errUnknown) && textual:
		planReplace(h, in)
	case errors.Is(err, errUnknown):
		h.Decline("No language server knows `" + in.old + "` here, so nothing was changed.")
	case len(h.order) == 0:
		h.Stop(err)
	default:
		h.Say(stopWords(err) + " " + putBackWords(h.putBack()))
	}
}

// declined is why a rename changes nothing.
type declined string

func (d declined) Error() string { return string(d) }

// rename renames one symbol, and takes it back if that breaks the project.
func rename(h *hands, in intent) (string, error) {
	n := named{symbol: in.old}
	if path.Ext(in.file) != "" {
		n.path = in.file
	}
	uses, more, err := h.places("lsp_references", n)
	if s := (*several)(nil); errors.As(err, &s) {
		some := fitting(s.spots, in.file, in.what)
		if len(some) != 1 || s.more {
			return "", declined(tellSeveral(in, some, s.more))
		}
		n = named{path: some[0].path, line: some[0].line, symbol: last(in.old)}
		uses, more, err = h.places("lsp_references", n)
	}
	if err != nil {
		return "", err
	}
	files, err := filesOf(h, uses, more, in.old)
	if err != nil {
		return "", err
	}
	before, err := h.ReadAll(files)
	if err != nil {
		return "", err
	}
	v := &verifier{h: h}
	if slices.ContainsFunc(files, func(f string) bool { return path.Ext(f) == ".go" }) {
		if err := v.before(); err != nil {
			return "", err
		}
	}
	text, err := h.server("lsp_rename", n.args(map[string]any{"new_name": in.new}))
	if err != nil {
		if r := (*refused)(nil); errors.As(err, &r) && !strings.HasPrefix(r.text, notAllowed) {
			return "", declined("The language server does not rename `" + in.old + "`: " + strings.Join(strings.Fields(strings.TrimPrefix(text, "error: ")), " ") + "; nothing was changed.")
		}
		return "", err
	}
	now, err := h.ReadAll(files)
	if err != nil {
		return "", err
	}
	changed := 0
	for _, f := range files {
		if now[f] == before[f] {
			continue
		}
		changed++
		h.seen[f] = before[f]
		h.changed(f, now[f])
	}
	if changed == 0 {
		return "", declined("The language server changed nothing for `" + in.old + "`: " + firstLine(text))
	}
	places := ""
	if !more {
		places = count(len(uses), "place") + " in "
	}
	return v.after(fmt.Sprintf("Renamed `%s` to `%s` by the language server: %s%s. Other text that mentions it (strings, documents) is as it was.", in.old, in.new, places, count(changed, "file"))), nil
}

// filesOf returns the files that a rename may change.
func filesOf(h *hands, uses []spot, more bool, name string) ([]string, error) {
	var out []string
	for _, u := range uses {
		if !slices.Contains(out, u.path) && !path.IsAbs(u.path) {
			out = append(out, u.path)
		}
	}
	if len(out) == 0 {
		return nil, errors.Join(errUnknown, fmt.Errorf("`%s` is used nowhere here", name))
	}
	if !more {
		return out, nil
	}
	return h.FilesWith(wordPattern(last(name)), "*"+path.Ext(out[0]))
}

func tellSeveral(in intent, some []spot, more bool) string {
	if len(some) == 0 && more {
		return "Not every place of `" + in.old + "` is known here, and none of the known ones is of that kind there, so nothing was changed."
	}
	if len(some) == 0 {
		return "No language server knows a `" + in.old + "` of that kind there, so nothing was changed."
	}
	name, n := last(in.old), count(len(some), "thing")
	if more {
		n = "at least " + n
	}
	var b strings.Builder
	fmt.Fprintf(&b, "`%s` names %s here, so nothing was changed. Say which, as in `rename %s to %s in FILE` or `rename TYPE.%s to %s`:", in.old, n, name, in.new, name, in.new)
	for _, s := range some {
		fmt.Fprintf(&b, "\n  %s (%s)", s.where(), s.kind)
	}
	if more {
		b.WriteString("\n  and more")
	}
	return b.String()
}
