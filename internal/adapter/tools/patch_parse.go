package tools

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/bluekeyes/go-gitdiff/gitdiff"
)

// parseBlocks reads the *** Begin Patch form.
func parseBlocks(text string) ([]patchFile, error) {
	if _, rest, ok := strings.Cut(text, "*** Begin Patch"); ok {
		_, text, _ = strings.Cut(rest, "\n") // some close the line with stars
		text = "\n" + text
	}
	var files []patchFile
	var f *patchFile
	var h *hunk
	lines := strings.Split(strings.TrimRight(text, "\n"), "\n")
	for i, l := range lines {
		if strings.HasPrefix(l, "*** ") {
			done, err := block(l, &files, &f, &h)
			if err != nil {
				return nil, failf("line %d of the patch: %s", i+1, err)
			}
			if done {
				break
			}
			continue
		}
		switch {
		case f == nil:
			if strings.TrimSpace(l) != "" {
				return nil, failf("line %d of the patch: expected *** Add File:, *** Update File: or *** Delete File:, found %q", i+1, l)
			}
		case f.add:
			added, ok := strings.CutPrefix(l, "+")
			if !ok && l != "" {
				return nil, failf("line %d of the patch: lines of an added file begin with +, found %q", i+1, l)
			}
			f.content += added + "\n"
		case f.remove:
			if strings.TrimSpace(l) != "" {
				return nil, failf("line %d of the patch: nothing belongs under *** Delete File:", i+1)
			}
		default:
			if err := f.line(l, &h); err != nil {
				return nil, failf("line %d of the patch: %s", i+1, err)
			}
		}
	}
	for _, f := range files {
		if !f.add && !f.remove && f.moveTo == "" && len(f.hunks) == 0 {
			return nil, failf("*** Update File: %s has no changes under it", f.path)
		}
	}
	return files, nil
}

// block reads a line that begins with ***.
func block(l string, files *[]patchFile, f **patchFile, h **hunk) (done bool, err error) {
	word, arg, _ := strings.Cut(strings.TrimPrefix(l, "*** "), ":")
	arg = strings.TrimSpace(strings.TrimSuffix(arg, " ***"))
	begin := func(p patchFile) error {
		if arg == "" {
			return fmt.Errorf("%s needs a path", word)
		}
		p.path = arg
		*files = append(*files, p)
		*f, *h = &(*files)[len(*files)-1], nil
		return nil
	}
	switch strings.Trim(word, " *") {
	case "Add File":
		return false, begin(patchFile{add: true})
	case "Update File":
		return false, begin(patchFile{})
	case "Delete File":
		return false, begin(patchFile{remove: true})
	case "Move to":
		if *f == nil || (*f).add || (*f).remove || arg == "" {
			return false, fmt.Errorf("*** Move to: belongs under *** Update File: and needs a path")
		}
		(*f).moveTo = arg
		return false, nil
	case "End of File":
		if *h != nil {
			(*h).end = true
		}
		return false, nil
	case "End Patch":
		return true, nil
	}
	return false, fmt.Errorf("%q is not known", l)
}

// line reads a line below *** Update File:.
func (f *patchFile) line(l string, h **hunk) error {
	if rest, ok := strings.CutPrefix(l, "@@"); ok {
		if *h == nil || len((*h).lines) > 0 {
			f.hunks = append(f.hunks, hunk{})
			*h = &f.hunks[len(f.hunks)-1]
		}
		// "@@ -1,2 +1,2 @@" is habit: those numbers are rarely right.
		rest = strings.TrimSpace(rest)
		if strings.HasPrefix(rest, "-") && strings.Contains(rest, "@@") {
			_, rest, _ = strings.Cut(rest, "@@")
			rest = strings.TrimSpace(rest)
		}
		if rest = strings.TrimSpace(strings.TrimSuffix(rest, "@@")); rest != "" {
			(*h).seek = append((*h).seek, rest)
		}
		return nil
	}
	if *h == nil || (*h).end {
		f.hunks = append(f.hunks, hunk{})
		*h = &f.hunks[len(f.hunks)-1]
	}
	switch {
	case l == "": // a blank context line whose space was lost
		(*h).lines = append((*h).lines, hunkLine{' ', ""})
	case l[0] == ' ' || l[0] == '+' || l[0] == '-':
		(*h).lines = append((*h).lines, hunkLine{l[0], l[1:]})
	default:
		return fmt.Errorf("a line begins with a space, + or -; found %q", l)
	}
	return nil
}

// parseUnified reads a unified diff, with git's extensions. Counts in its
// headers are set right first: models miscount.
func parseUnified(text string) ([]patchFile, error) {
	if !strings.HasSuffix(text, "\n") {
		text += "\n"
	}
	prefixed := !strings.Contains(text, "diff --git ")
	parsed, _, err := gitdiff.Parse(strings.NewReader(recount(text)))
	if err != nil {
		return nil, failf("the patch is not a unified diff: %s; use ---, +++ and @@ lines, or *** Begin Patch", strings.TrimPrefix(err.Error(), "gitdiff: "))
	}
	var out []patchFile
	for _, p := range parsed {
		f, err := fromGit(p, prefixed)
		if err != nil {
			return nil, err
		}
		out = append(out, f)
	}
	return out, nil
}

func fromGit(p *gitdiff.File, prefixed bool) (patchFile, error) {
	f := patchFile{path: p.OldName, add: p.IsNew, remove: p.IsDelete, prefixed: prefixed}
	if p.IsNew {
		f.path = p.NewName
	}
	switch {
	case p.IsBinary:
		return f, failf("the patch changes the binary file %s: only text can be patched", f.path)
	case p.IsCopy:
		return f, failf("the patch copies %s: add the copy as a new file instead", p.OldName)
	case !p.IsNew && !p.IsDelete && stripPrefix(p.NewName) != stripPrefix(p.OldName):
		f.moveTo = p.NewName
	}
	switch {
	case p.NewMode&0o170000 == 0o120000 || p.OldMode&0o170000 == 0o120000:
		return f, failf("the patch changes the symlink %s: do that in a shell", f.path)
	case p.NewMode != 0 && p.NewMode != p.OldMode && (p.OldMode != 0 || p.NewMode&0o111 != 0):
		f.mode = 0o644 | uint32(p.NewMode)&0o111
	}
	for _, t := range p.TextFragments {
		h := hunk{at: int(t.OldPosition), unified: true}
		if h.at == 0 && t.OldLines > 0 && t.Comment != "" {
			h.seek = []string{t.Comment}
		}
		for _, l := range t.Lines {
			text := strings.TrimSuffix(l.Line, "\n")
			if text == l.Line && l.Op != gitdiff.OpDelete {
				h.bare = true
			}
			h.lines = append(h.lines, hunkLine{l.Op.String()[0], text})
		}
		if t.OldLines == 0 {
			h.at++ // "-5,0" is behind line 5
		}
		f.hunks = append(f.hunks, h)
	}
	if f.add {
		for _, h := range f.hunks {
			f.content += strings.Join(h.new(), "\n") + "\n"
			if h.bare {
				f.content = strings.TrimSuffix(f.content, "\n")
			}
		}
	}
	return f, nil
}

func stripPrefix(p string) string {
	if len(p) > 2 && (p[:2] == "a/" || p[:2] == "b/") {
		return p[2:]
	}
	return p
}

// recount rewrites the @@ headers of a diff so that their counts are those of
// the lines below, and gives blank lines in hunks their space back.
func recount(text string) string {
	lines := strings.Split(strings.TrimSuffix(text, "\n"), "\n")
	var out []string
	for i := 0; i < len(lines); {
		head, ok := parseHeader(lines[i])
		if !ok {
			out = append(out, lines[i])
			i++
			continue
		}
		body, next := hunkBody(lines, i+1, &head)
		if len(body) > 0 {
			out = append(out, head.String())
			out = append(out, body...)
		}
		i = next
	}
	return strings.Join(out, "\n") + "\n"
}

// header is a line "@@ -a,b +c,d @@ rest".
type header struct {
	oldAt, oldN, newAt, newN int
	rest                     string
}

func (h header) String() string {
	return fmt.Sprintf("@@ -%d,%d +%d,%d @@%s", h.oldAt, h.oldN, h.newAt, h.newN, h.rest)
}

func parseHeader(l string) (h header, ok bool) {
	rest, ok := strings.CutPrefix(l, "@@ -")
	if !ok {
		// Without numbers a hunk is found by its text.
		h.rest = strings.TrimSuffix(strings.TrimPrefix(l, "@@"), "@@")
		return h, l == "@@" || strings.HasPrefix(l, "@@ ")
	}
	ranges, tail, ok := strings.Cut(rest, " @@")
	if !ok {
		return h, false
	}
	from, to, ok := strings.Cut(ranges, " +")
	if !ok {
		return h, false
	}
	h.rest = tail
	h.oldAt, h.oldN = parseRange(from)
	h.newAt, h.newN = parseRange(to)
	return h, true
}

func parseRange(s string) (at, n int) {
	a, b, ok := strings.Cut(s, ",")
	at, _ = strconv.Atoi(a)
	n = 1
	if ok {
		n, _ = strconv.Atoi(b)
	}
	return max(at, 0), n
}

// hunkBody takes the lines of a hunk and sets the header's counts. The hunk
// goes on while lines look like it, beyond a count that is wrong.
func hunkBody(lines []string, i int, h *header) ([]string, int) {
	var body []string
	olds, news := 0, 0
	for ; i < len(lines); i++ {
		l := lines[i]
		full := olds >= h.oldN && news >= h.newN
		fileNext := strings.HasPrefix(l, "--- ") && i+1 < len(lines) && strings.HasPrefix(lines[i+1], "+++ ")
		switch {
		case strings.HasPrefix(l, "@@"), strings.HasPrefix(l, "diff --git "), fileNext && (full || i+2 < len(lines) && strings.HasPrefix(lines[i+2], "@@")):
		case strings.HasPrefix(l, "\\"):
			body = append(body, l)
			continue
		case l == "":
			if full {
				break // the blank line behind the last hunk
			}
			body = append(body, " ")
			olds, news = olds+1, news+1
			continue
		case l[0] == ' ':
			body = append(body, l)
			olds, news = olds+1, news+1
			continue
		case l[0] == '-':
			body = append(body, l)
			olds++
			continue
		case l[0] == '+':
			body = append(body, l)
			news++
			continue
		}
		break
	}
	h.oldN, h.newN = olds, news
	return body, i
}
