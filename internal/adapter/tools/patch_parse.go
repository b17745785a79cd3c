package tools

import (
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/bluekeyes/go-gitdiff/gitdiff"
)

// parseBlocks parses the *** Begin Patch form. A patch without its end is refused: it was
// cut off, and the rest is unknown.
func parseBlocks(text string) ([]patchFile, error) {
	r := blockReader{lines: strings.Split(strings.TrimRight(begun(text), " \t\n"), "\n")}
	for i, l := range r.lines {
		l = r.marker(i, l)
		done, err := false, error(nil)
		switch {
		case strings.HasPrefix(l, "*** "):
			r.blanks = 0 // blank lines before a marker are ignored
			done, err = r.block(l)
		case strings.TrimSpace(l) == "" && (r.h == nil || l == "" || i+1 == len(r.lines)):
			r.blanks++
		default:
			err = r.line(l)
		}
		if err != nil {
			return nil, failf("line %d of the patch: %s", i+1, err)
		}
		if !done {
			continue
		}
		for _, l := range r.lines[i+1:] {
			if strings.HasPrefix(strings.TrimSpace(l), "*** Begin Patch") {
				return nil, failf("there is a second *** Begin Patch at the end: put all files in one patch. Nothing was written")
			}
		}
		return r.files, r.whole()
	}
	return nil, failf("the patch does not end with *** End Patch: it was cut off, and nothing was written; send it whole, or in several smaller ones")
}

// begun returns a patch from its first line on. If all lines are indented like that line,
// the indentation is removed.
func begun(text string) string {
	head, _, ok := strings.Cut(text, "*** Begin Patch")
	if !ok {
		return text
	}
	text = text[len(head):]
	in := head[strings.LastIndexByte(head, '\n')+1:]
	if in == "" || strings.TrimSpace(in) != "" {
		_, text, _ = strings.Cut(text, "\n") // some models end the line with stars
		return "\n" + text
	}
	_, text, _ = strings.Cut(text, "\n")
	var b strings.Builder
	for l := range strings.Lines(text) {
		rest, ok := strings.CutPrefix(l, in)
		if !ok && strings.TrimSpace(l) != "" {
			return "\n" + text
		}
		if !ok {
			rest = "\n"
		}
		b.WriteString(rest)
	}
	return "\n" + b.String()
}

// blockReader parses a patch line by line.
type blockReader struct {
	lines  []string
	files  []patchFile
	f      *patchFile
	h      *hunk
	blanks int // blank lines, which may belong to the next part
}

// marker returns a line without the spaces around a marker. A line of a hunk may look like
// a marker: it counts as one only if no space is before it, or nothing follows.
func (r *blockReader) marker(i int, l string) string {
	t := strings.TrimSpace(l)
	if !strings.HasPrefix(t, "*** ") && !strings.HasPrefix(t, "@@") {
		return l
	}
	if last := !slices.ContainsFunc(r.lines[i+1:], func(l string) bool { return !blank(l) }); r.h == nil || last || l[0] == t[0] {
		return t
	}
	return l
}

// whole returns an error for files and hunks that change nothing: something is missing.
func (r *blockReader) whole() error {
	for _, f := range r.files {
		if !f.add && !f.remove && f.moveTo == "" && len(f.hunks) == 0 {
			return failf("*** Update File: %s has no changes under it", f.path)
		}
		for i := range f.hunks {
			if !f.hunks[i].changes() {
				return failf("hunk %d of %s has no line with + or - under its @@: the patch seems cut off; send it whole. Nothing was written", i+1, f.path)
			}
		}
	}
	return nil
}

func (h *hunk) changes() bool {
	return slices.ContainsFunc(h.lines, func(l hunkLine) bool { return l.op != ' ' })
}

// line parses a line that is not a marker.
func (r *blockReader) line(l string) error {
	f := r.f
	switch {
	case f == nil:
		return fmt.Errorf("expected *** Add File:, *** Update File: or *** Delete File:, found %q", l)
	case f.add:
		added, ok := strings.CutPrefix(l, "+")
		if !ok {
			return fmt.Errorf("lines of an added file begin with +, found %q", l)
		}
		f.content += strings.Repeat("\n", r.blanks) + added + "\n"
		r.blanks = 0
		return nil
	case f.remove:
		return errors.New("nothing belongs under *** Delete File")
	}
	if rest, ok := strings.CutPrefix(l, "@@"); ok {
		r.blanks = 0
		if r.h == nil || len(r.h.lines) > 0 || r.h.end {
			r.open()
		}
		if want := seekOf(rest); want != "" {
			r.h.seek = append(r.h.seek, want)
		}
		return nil
	}
	if r.h == nil || r.h.end {
		r.open()
	}
	for ; r.blanks > 0; r.blanks-- { // blank context lines that lost their leading space
		r.h.lines = append(r.h.lines, hunkLine{' ', ""})
	}
	switch l[0] {
	case ' ', '+', '-':
		r.h.lines = append(r.h.lines, hunkLine{l[0], l[1:]})
	default:
		return fmt.Errorf("a line begins with a space, + or -; found %q", l)
	}
	return nil
}

func (r *blockReader) open() {
	r.f.hunks = append(r.f.hunks, hunk{})
	r.h = &r.f.hunks[len(r.f.hunks)-1]
}

// seekOf returns the line to find first, which follows @@. Line numbers there are usually
// wrong and ignored; dots are ignored too.
func seekOf(rest string) string {
	rest = strings.TrimSpace(rest)
	if strings.HasPrefix(rest, "-") && strings.Contains(rest, "@@") {
		_, rest, _ = strings.Cut(rest, "@@")
	}
	rest = strings.TrimSpace(strings.TrimSuffix(strings.TrimSpace(rest), "@@"))
	if strings.Trim(rest, ".… ") == "" {
		return ""
	}
	return rest
}

// block parses a line that begins with ***. done means that the line ends the patch.
func (r *blockReader) block(l string) (done bool, err error) {
	word, arg, _ := strings.Cut(strings.TrimPrefix(l, "*** "), ":")
	arg = strings.TrimSpace(strings.TrimSuffix(arg, " ***"))
	begin := func(p patchFile) error {
		if arg == "" {
			return fmt.Errorf("%s needs a path", word)
		}
		p.path = arg
		r.files = append(r.files, p)
		r.f, r.h = &r.files[len(r.files)-1], nil
		return nil
	}
	switch strings.Trim(word, " *") {
	case "Begin Patch":
		if r.f == nil {
			return false, nil
		}
	case "Add File":
		return false, begin(patchFile{add: true})
	case "Update File":
		return false, begin(patchFile{})
	case "Delete File":
		return false, begin(patchFile{remove: true})
	case "Move to":
		if r.f == nil || r.f.add || r.f.remove || arg == "" {
			return false, fmt.Errorf("*** Move to: belongs under *** Update File: and needs a path")
		}
		r.f.moveTo = arg
		return false, nil
	case "End of File":
		if r.h != nil {
			r.h.end = true
		}
		return false, nil
	case "End Patch":
		return true, nil
	}
	return false, fmt.Errorf("%q is not known", l)
}

// parseUnified parses a unified diff, with git's extensions. The counts in its headers
// are corrected first, since models miscount.
func parseUnified(text string) ([]patchFile, error) {
	if !strings.HasSuffix(text, "\n") {
		text += "\n"
	}
	prefixed := !strings.Contains(text, "diff --git ")
	text, cut := recount(text)
	if cut != "" {
		return nil, failf("the patch seems cut off: %s. Nothing was written; send it whole", cut)
	}
	parsed, _, err := gitdiff.Parse(strings.NewReader(text))
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
		if want := seekOf(t.Comment); h.at == 0 && t.OldLines > 0 && want != "" {
			h.seek = []string{want}
		}
		for _, l := range t.Lines {
			text := strings.TrimSuffix(l.Line, "\n")
			if text == l.Line && l.Op != gitdiff.OpDelete {
				h.bare = true
			}
			h.lines = append(h.lines, hunkLine{l.Op.String()[0], text})
		}
		if t.OldLines == 0 {
			h.at++ // "-5,0" is after line 5
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

// recount rewrites the @@ headers of a diff so that their counts match the lines below.
// It restores the leading space of blank lines in hunks. cut describes where the
// diff seems to end too soon, or is "".
func recount(text string) (out, cut string) {
	lines := strings.Split(strings.TrimSuffix(text, "\n"), "\n")
	var all []string
	for i := 0; i < len(lines); {
		head, ok := parseHeader(lines[i])
		if !ok {
			all = append(all, lines[i])
			i++
			continue
		}
		said := head
		body, next := hunkBody(lines, i+1, &head)
		switch last := len(body) - 1; {
		case last < 0:
			return "", fmt.Sprintf("line %d, %q, has no lines under it", i+1, lines[i])
		case next == len(lines) && body[last][0] != ' ' && body[last][0] != '\\' && head.oldN < said.oldN && head.newN < said.newN:
			return "", fmt.Sprintf("its last hunk has %d old and %d new lines, and %q says more", head.oldN, head.newN, lines[i])
		}
		all = append(all, head.String())
		all = append(all, body...)
		i = next
	}
	return strings.Join(all, "\n") + "\n", ""
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

// hunkBody collects the lines of a hunk and sets the header's counts. The hunk continues
// while the lines look like it, even beyond a wrong count.
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
				break // the blank line after the last hunk
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
