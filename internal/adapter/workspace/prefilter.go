package workspace

import (
	"bytes"
	"fmt"
	"regexp"
	"regexp/syntax"
	"slices"
	"strings"

	"github.com/pawl-agent/pawl/internal/core/tool"
)

// maxNeedles is the largest number of literals of a prefilter.
const maxNeedles = 8

// lineMatcher finds the lines of a content that match a pattern. For most
// patterns there is a text that every match must contain: that text is searched
// first, and the regular expression is only applied to the lines around it.
type lineMatcher struct {
	re    *regexp.Regexp // for one line; ^ and $ are its ends
	whole *regexp.Regexp // for a whole content, nil if single lines are needed
	ends  bool           // the pattern has $, which does not match before \r\n
	// needles: a matching line has one of them. With fold they are in lower
	// case and ASCII.
	needles [][]byte
	fold    bool
	exact   bool // the one needle is the whole pattern; with fold, but for kelvin
	// kelvin: a needle has a k or s, which folds to characters beyond ASCII.
	kelvin bool
}

func newLineMatcher(q tool.Query) (*lineMatcher, error) {
	if q.Pattern == "" {
		return nil, &sentence{"the pattern is empty: give a text or regular expression to search for", nil}
	}
	pattern := q.Pattern
	if q.Literal {
		pattern = regexp.QuoteMeta(pattern)
	}
	if q.IgnoreCase {
		pattern = "(?i)" + pattern
	}
	re, err := regexp.Compile(pattern)
	if err != nil {
		why := strings.TrimPrefix(err.Error(), "error parsing regexp: ")
		return nil, &sentence{fmt.Sprintf("the pattern is not a regular expression (RE2): %s; "+
			"escape it, or set literal to search for it as it is", why), err}
	}
	m := &lineMatcher{re: re}
	tree, err := syntax.Parse("(?m)"+pattern, syntax.Perl)
	if err != nil {
		return m, nil
	}
	tree = tree.Simplify()
	if !hasOp(tree, syntax.OpBeginText, syntax.OpEndText) {
		m.whole = regexp.MustCompile("(?m)" + pattern)
	}
	m.ends = hasOp(tree, syntax.OpEndLine, syntax.OpEndText)
	need, ok := required(tree)
	if !ok {
		return m, nil
	}
	for _, n := range need.texts {
		m.needles = append(m.needles, []byte(n))
		m.kelvin = m.kelvin || need.fold && strings.ContainsAny(n, "ks")
	}
	m.fold = need.fold
	m.exact = tree.Op == syntax.OpLiteral
	return m, nil
}

func hasOp(re *syntax.Regexp, ops ...syntax.Op) bool {
	for _, op := range ops {
		if re.Op == op {
			return true
		}
	}
	return slices.ContainsFunc(re.Sub, func(sub *syntax.Regexp) bool { return hasOp(sub, ops...) })
}

// need is a set of texts: every match contains at least one of them.
type need struct {
	texts []string
	fold  bool
}

func (n need) shortest() int {
	short := len(n.texts[0])
	for _, t := range n.texts {
		short = min(short, len(t))
	}
	return short
}

func required(re *syntax.Regexp) (need, bool) {
	switch re.Op {
	case syntax.OpLiteral:
		text := string(re.Rune)
		if re.Flags&syntax.FoldCase == 0 {
			return need{texts: []string{text}}, !strings.ContainsRune(text, '\n')
		}
		return need{texts: []string{strings.ToLower(text)}, fold: true}, isASCII(text) && !strings.Contains(text, "\n")
	case syntax.OpCapture, syntax.OpPlus:
		return required(re.Sub[0])
	case syntax.OpRepeat:
		if re.Min > 0 {
			return required(re.Sub[0])
		}
	case syntax.OpConcat:
		var best need
		for _, sub := range re.Sub {
			n, ok := required(sub)
			if ok && (best.texts == nil || n.shortest() > best.shortest()) {
				best = n
			}
		}
		return best, best.texts != nil
	case syntax.OpAlternate:
		var all need
		for i, sub := range re.Sub {
			n, ok := required(sub)
			if !ok || i > 0 && n.fold != all.fold {
				return need{}, false
			}
			all.texts, all.fold = append(all.texts, n.texts...), n.fold
		}
		return all, len(all.texts) <= maxNeedles
	}
	return need{}, false
}

// found is a matching line: its start and end in the content, without the line
// ending, and the position of the match in it.
type found struct{ start, end, from, to int }

// scanner scans one content.
type scanner struct {
	m      *lineMatcher
	buf    []byte
	low    []byte // buf in lower case, for fold
	next   []int  // per needle: its next position, len(buf) for none
	filter bool
	byLine bool
}

// scan begins a content. low is a buffer for a lower-case copy, which is
// returned for the next content.
func (m *lineMatcher) scan(buf, low []byte) (*scanner, []byte) {
	s := &scanner{m: m, buf: buf, filter: len(m.needles) > 0}
	s.byLine = m.whole == nil || m.ends && bytes.IndexByte(buf, '\r') >= 0
	if s.filter && m.fold {
		low = lower(low[:0], buf)
		s.low = low
		if m.kelvin && (bytes.Contains(buf, []byte("\u212a")) || bytes.Contains(buf, []byte("\u017f"))) {
			s.filter = false
		}
	}
	s.next = make([]int, len(m.needles))
	for i := range s.next {
		s.next[i] = -1
	}
	return s, low
}

func lower(dst, src []byte) []byte {
	if cap(dst) < len(src) {
		dst = make([]byte, 0, len(src)+len(src)/4)
	}
	dst = dst[:len(src)]
	for i, c := range src {
		if c-'A' < 26 {
			c += 'a' - 'A'
		}
		dst[i] = c
	}
	return dst
}

// line finds the first matching line at or after pos, which is the beginning of a line.
func (s *scanner) line(pos int) (found, bool) {
	for pos < len(s.buf) {
		at := pos
		switch {
		case s.filter:
			if at = s.needle(pos); at == len(s.buf) {
				return found{}, false
			}
		case !s.byLine:
			loc := s.m.whole.FindIndex(s.buf[pos:])
			if loc == nil || pos+loc[0] == len(s.buf) {
				return found{}, false
			}
			at = pos + loc[0]
		}
		start := bytes.LastIndexByte(s.buf[pos:at], '\n') + 1 + pos
		next := len(s.buf)
		end := next
		if i := bytes.IndexByte(s.buf[at:], '\n'); i >= 0 {
			end = at + i
			next = end + 1
		}
		if end > start && s.buf[end-1] == '\r' {
			end--
		}
		if s.filter && s.m.exact {
			return found{start, end, at - start, at - start + len(s.m.needles[0])}, true
		}
		if loc := s.m.re.FindIndex(s.buf[start:end]); loc != nil {
			return found{start, end, loc[0], loc[1]}, true
		}
		pos = next
	}
	return found{}, false
}

// needle returns where the first of the needles is, from pos on.
func (s *scanner) needle(pos int) int {
	hay := s.buf
	if s.m.fold {
		hay = s.low
	}
	first := len(hay)
	for i, n := range s.m.needles {
		if s.next[i] < pos {
			s.next[i] = len(hay)
			if at := bytes.Index(hay[pos:], n); at >= 0 {
				s.next[i] = pos + at
			}
		}
		first = min(first, s.next[i])
	}
	return first
}
