package tools

import (
	"fmt"
	"strconv"
	"strings"
	"sync"
	"unicode/utf8"
)

// foldLimit is how large a text may be for inexact matching, bytes.
const foldLimit = 8 << 20

// How a replacement finds its place in a file. All of it is on texts; the byte
// order mark was taken off before.

// region is lines from..to of a text; to < from is the gap before from.
type region struct{ from, to int }

// replaced is a replacement that found its place.
type replaced struct {
	body    string
	regions []region // what changed, in lines of body
	count   int
	already bool   // the text was as it should be
	at      int    // already: the line
	note    string // how it was found, where not by an exact match
}

// miss says why a replacement found no place, and which lines to show.
type miss struct {
	text string
	show []region
	many bool // there are several places
}

// endings counts the line endings of a text.
func endings(s string) (crlf, lf int) {
	crlf = strings.Count(s, "\r\n")
	return crlf, strings.Count(s, "\n") - crlf
}

// ending is the line ending that a text mostly has.
func ending(s string) string {
	if crlf, lf := endings(s); crlf > lf {
		return "\r\n"
	}
	return "\n"
}

// withEnding gives a text another line ending.
func withEnding(s, eol string) string {
	s = strings.ReplaceAll(s, "\r\n", "\n")
	if eol != "\n" {
		s = strings.ReplaceAll(s, "\n", eol)
	}
	return s
}

// replace puts text in the place of old: by exact match, else by the same
// without line endings, whitespace or typographic marks looked at, as long as
// the place is the only one.
func replace(body, old, text string, all bool) (replaced, *miss) {
	switch {
	case old == "":
		return replaced{}, &miss{text: "old is empty: give the exact text to replace (with a line beside it, to insert)"}
	case old == text:
		return replaced{}, &miss{text: "old and new are the same: nothing would change"}
	}
	if spots := occurrences(body, old); len(spots) > 0 {
		in := shapeOf(body)
		fit := func(at int) string { return in.fit(body, at, len(old), old, text) }
		if len(spots) == 1 && applied(body, old, fit(spots[0]), spots[0]) {
			return replaced{body: body, already: true, at: lineAt(body, spots[0])}, nil
		}
		if len(spots) > 1 && !all {
			return replaced{}, ambiguous(body, spots)
		}
		var cuts []cut
		for _, at := range disjoint(spots, len(old)) {
			cuts = append(cuts, cut{at, at + len(old), fit(at)})
		}
		return splice(body, cuts, ""), nil
	}
	for _, way := range []func(string, string, string) ([]cut, string){byEnding, byMarks, bySpace, bySpaceAndMarks} {
		cuts, note := way(body, old, text)
		switch {
		case len(cuts) == 0:
			continue
		case len(cuts) > 1 && !(all && note == noteEnding):
			var spots []int
			for _, c := range cuts {
				spots = append(spots, c.from)
			}
			return replaced{}, ambiguous(body, spots)
		}
		r := splice(body, cuts, note)
		if r.body == body {
			return replaced{body: body, already: true, at: lineAt(body, cuts[0].from)}, nil
		}
		return r, nil
	}
	if o, ok := withoutNumbers(old); ok {
		if t, ok := withoutNumbers(text); ok || text == "" {
			text = t
		}
		if r, m := replace(body, o, text, all); m == nil {
			r.note = strings.TrimPrefix(r.note+"; "+noteNumbers, "; ")
			return r, nil
		}
	}
	if o := unescaped(old); o != old {
		if r, m := replace(body, o, unescaped(text), all); m == nil && !r.already {
			r.note = strings.TrimPrefix(r.note+"; "+noteEscaped, "; ")
			return r, nil
		}
	}
	if at := done(body, old, text); at >= 0 {
		return replaced{body: body, already: true, at: lineAt(body, at)}, nil
	}
	return replaced{}, near(body, old)
}

const noteEscaped = "old and new were escaped as HTML (&lt; and the like), and the file is not"

// unescaped takes the escapes of HTML back: some models send text through them.
func unescaped(s string) string {
	if !strings.Contains(s, "&") {
		return s
	}
	return strings.NewReplacer("&lt;", "<", "&gt;", ">", "&quot;", `"`, "&#39;", "'", "&apos;", "'", "&amp;", "&").Replace(s)
}

const noteNumbers = "old began its lines with line numbers, which are not part of the file"

// withoutNumbers takes line numbers off a text that was copied with them, as
// read shows them: every line has one, and they count up.
func withoutNumbers(s string) (string, bool) {
	var b strings.Builder
	last := 0
	for line := range strings.Lines(s) {
		t := strings.TrimLeft(line, " ")
		i := 0
		for i < len(t) && i < 9 && t[i] >= '0' && t[i] <= '9' {
			i++
		}
		n, err := strconv.Atoi(t[:i])
		rest, tab := strings.CutPrefix(t[i:], "\t")
		rest, arrow := strings.CutPrefix(rest, "→")
		if err != nil || tab == arrow || last != 0 && n != last+1 {
			return "", false
		}
		last = n
		b.WriteString(rest)
	}
	return b.String(), last != 0
}

// done finds the place where an edit was made before: where the new text is,
// once, and either long enough to be no coincidence or in most of what it says
// the same as old.
func done(body, old, text string) int {
	at := present(body, text)
	if at < 0 || max(strings.Count(body, text), strings.Count(body, withEnding(text, "\r\n"))) > 1 {
		return -1
	}
	pre, post := common(old, text)
	if len(strings.Join(strings.Fields(text), "")) < 24 && 2*(pre+post) < len(text) {
		return -1
	}
	return at
}

// occurrences lists where old begins in body, overlapping ones too: two
// readings of one place are not unique.
func occurrences(body, old string) []int {
	var out []int
	for from := 0; ; {
		i := strings.Index(body[from:], old)
		if i < 0 {
			return out
		}
		out = append(out, from+i)
		from += i + 1
	}
}

func disjoint(spots []int, n int) []int {
	var out []int
	end := 0
	for _, s := range spots {
		if s >= end {
			out = append(out, s)
			end = s + n
		}
	}
	return out
}

// applied says whether a place of old already is inside the new text: an
// insertion that was made before.
func applied(body, old, text string, at int) bool {
	k := strings.Index(text, old)
	return k >= 0 && at >= k && strings.HasPrefix(body[at-k:], text)
}

// present finds a text that is long enough to be no coincidence.
func present(body, text string) int {
	if len(strings.Join(strings.Fields(text), "")) < 6 {
		return -1
	}
	if i := strings.Index(body, text); i >= 0 {
		return i
	}
	return strings.Index(body, withEnding(text, "\r\n"))
}

func lineAt(body string, at int) int { return strings.Count(body[:at], "\n") + 1 }

// shape is the line endings of a text.
type shape struct {
	crlf, lf int
	// from..to is a part of one line, which ends in eol: matches often share a
	// line, and looking for its end each time would be quadratic.
	from, to int
	eol      string
}

func shapeOf(body string) *shape {
	crlf, lf := endings(body)
	return &shape{crlf: crlf, lf: lf}
}

// fit gives the new text the line endings of where it goes. What says its line
// endings itself is taken at its word.
func (sh *shape) fit(body string, at, n int, old, text string) string {
	if strings.Contains(old, "\r") || !strings.Contains(text, "\n") {
		return text
	}
	switch {
	case sh.crlf == 0:
		return text
	case sh.lf == 0:
		return withEnding(text, "\r\n")
	}
	if strings.Contains(body[at:at+n], "\n") {
		return withEnding(text, localEnding(body, at, n))
	}
	if at < sh.from || at >= sh.to {
		sh.from, sh.to, sh.eol = at, len(body), localEnding(body, at, n)
		if i := strings.IndexByte(body[at:], '\n'); i >= 0 {
			sh.to = at + i
		}
	}
	return withEnding(text, sh.eol)
}

// localEnding is the line ending in a place of a text that mixes them.
func localEnding(body string, at, n int) string {
	if part := body[at : at+n]; strings.Contains(part, "\n") {
		return ending(part)
	}
	if i := strings.IndexByte(body[at:], '\n'); i > 0 && body[at+i-1] == '\r' {
		return "\r\n"
	} else if i >= 0 {
		return "\n"
	}
	return ending(body)
}

// cut is a part of a text and what takes its place.
type cut struct {
	from, to int
	text     string
}

// splice makes the cuts, which are sorted and apart.
func splice(body string, cuts []cut, note string) replaced {
	r := replaced{count: len(cuts), note: note}
	var b strings.Builder
	size := len(body)
	for _, c := range cuts {
		size += len(c.text) - (c.to - c.from)
	}
	b.Grow(size)
	end, line := 0, 1
	for _, c := range cuts {
		b.WriteString(body[end:c.from])
		line += strings.Count(body[end:c.from], "\n")
		b.WriteString(c.text)
		last := line + strings.Count(c.text, "\n")
		reg := region{line, last}
		if strings.HasSuffix(c.text, "\n") {
			reg.to--
		}
		r.regions = append(r.regions, reg)
		line, end = last, c.to
	}
	b.WriteString(body[end:])
	r.body = b.String()
	return r
}

// shownSpots is how many of several matches are listed.
const shownSpots = 100

func ambiguous(body string, spots []int) *miss {
	m := &miss{many: true}
	var lines []string
	line, pos := 1, 0
	for i, s := range spots {
		if i == shownSpots {
			lines = append(lines, "…")
			break
		}
		line += strings.Count(body[pos:s], "\n")
		pos = s
		if k := len(m.show); k > 0 && m.show[k-1].to == line {
			continue
		}
		m.show = append(m.show, region{line, line})
		lines = append(lines, fmt.Sprint(line))
	}
	m.text = fmt.Sprintf("old matches %d places, at line %s: add lines around it until it is the only one, or set replace_all to change every one",
		len(spots), strings.Join(lines, ", "))
	return m
}

// mapped is a text made from another, with where each byte came from.
type mapped struct {
	text []byte
	from []int // per byte of text, and one for the end
}

func (m *mapped) add(s string, at int) {
	for i := range len(s) {
		m.text = append(m.text, s[i])
		m.from = append(m.from, at)
	}
}

const noteEnding = "line endings differed from the given text; the file's were kept"

// byEnding matches without looking at line endings.
func byEnding(body, old, text string) ([]cut, string) {
	if !strings.Contains(body, "\r\n") && !strings.Contains(old, "\r\n") {
		return nil, ""
	}
	plain := withEnding(old, "\n")
	var cuts []cut
	at := unfolder{body: body}
	for _, spot := range disjoint(occurrences(withEnding(body, "\n"), plain), len(plain)) {
		from := at.place(spot)
		to := at.place(spot + len(plain))
		cuts = append(cuts, cut{from, to, keepEndings(body[from:to], plain, withEnding(text, "\n"), localEnding(body, from, to-from))})
	}
	return cuts, noteEnding
}

// unfolder tells where places of a text whose CRLF became LF are in the text
// itself. It is asked in rising order.
type unfolder struct {
	body         string
	here, folded int // the same place in both
	next         int // of the next CRLF in body, if it is behind here
}

func (u *unfolder) place(folded int) int {
	for {
		if u.next <= u.here {
			i := strings.Index(u.body[u.here:], "\r\n")
			if i < 0 {
				i = len(u.body)
			}
			u.next = u.here + i
		}
		if u.folded+u.next-u.here >= folded {
			return u.here + folded - u.folded
		}
		u.folded += u.next - u.here
		u.here = u.next + 1
	}
}

// keepEndings is text with the line endings of the lines it replaces: lines
// that old and text share at their ends are the file's own, the others end as
// the one they stand for did, or in eol.
func keepEndings(part, old, text, eol string) string {
	have, olds, texts := splitLines(part), splitLines(old), splitLines(text)
	pre, post := commonLines(olds, texts)
	var b strings.Builder
	for i, t := range texts {
		switch {
		case i < pre:
			t = have[i]
		case i >= len(texts)-post:
			t = have[len(have)-(len(texts)-i)]
		default:
			t = endAs(t, i, have[:len(have)-post], eol)
		}
		b.WriteString(t)
	}
	return b.String()
}

// endAs gives a line that ends the ending of the i-th one, else eol.
func endAs(line string, i int, have []string, eol string) string {
	if !strings.HasSuffix(line, "\n") {
		return line
	}
	if i < len(have) && strings.HasSuffix(have[i], "\n") {
		eol = have[i][len(bare(have[i])):]
	}
	return bare(line) + eol
}

// commonLines is how many lines two texts share at the beginning and the end.
func commonLines(a, b []string) (pre, post int) {
	n := min(len(a), len(b))
	for pre < n && bare(a[pre]) == bare(b[pre]) {
		pre++
	}
	for post < n-pre && bare(a[len(a)-1-post]) == bare(b[len(b)-1-post]) {
		post++
	}
	return pre, post
}

// marks are what typesetting puts in the place of ASCII.
var marks = sync.OnceValue(func() *strings.Replacer {
	return strings.NewReplacer(
		"\u2018", "'", "\u2019", "'", "\u201a", "'", "\u201b", "'", "\u201c", `"`, "\u201d", `"`, "\u201e", `"`, "\u201f", `"`,
		"\u2010", "-", "\u2011", "-", "\u2012", "-", "\u2013", "-", "\u2014", "-", "\u2212", "-", "\u00a0", " ", "\u202f", " ", "\u2007", " ", "\u2009", " ", "\u3000", " ", "\u2026", "...",
	)
})

const noteMarks = "quotes, dashes or spaces of old were typographically different from the file's (“” ’ – and the like)"

// byMarks matches without telling typographic quotes and dashes from plain
// ones. What old and new have in common keeps the file's characters.
func byMarks(body, old, text string) ([]cut, string) {
	if len(body) > foldLimit {
		return nil, ""
	}
	fold := marks()
	var m mapped
	for i, n := 0, 0; i < len(body); i += n {
		_, n = utf8.DecodeRuneInString(body[i:])
		m.add(fold.Replace(body[i:i+n]), i)
	}
	m.from = append(m.from, len(body))
	plain := fold.Replace(old)
	if string(m.text) == body && plain == old {
		return nil, ""
	}
	// The ends that old and new share are kept as the file has them.
	pre, post := common(old, text)
	mid := text[pre : len(text)-post]
	in := shapeOf(body)
	skip, spare := len(fold.Replace(old[:pre])), len(fold.Replace(old[len(old)-post:]))
	var cuts []cut
	for _, at := range occurrences(string(m.text), plain) {
		from, to := m.from[at+skip], m.from[at+len(plain)-spare]
		cuts = append(cuts, cut{from, to, in.fit(body, from, to-from, "", mid)})
	}
	return cuts, noteMarks
}

// common is how many bytes two texts share at the beginning and at the end,
// without splitting a rune or counting anything twice.
func common(a, b string) (pre, post int) {
	n := min(len(a), len(b))
	for pre < n && a[pre] == b[pre] {
		pre++
	}
	for pre > 0 && (pre < len(a) && a[pre]&0xC0 == 0x80 || pre < len(b) && b[pre]&0xC0 == 0x80) {
		pre--
	}
	for post < n-pre && a[len(a)-1-post] == b[len(b)-1-post] {
		post++
	}
	for post > 0 && a[len(a)-post]&0xC0 == 0x80 {
		post--
	}
	return pre, post
}
