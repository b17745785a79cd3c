package tools

import (
	"cmp"
	"fmt"
	"maps"
	"path"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/pawl-agent/pawl/internal/core/plural"
	"github.com/pawl-agent/pawl/internal/core/sorting"
	"github.com/pawl-agent/pawl/internal/core/tool"
)

// This file writes what a search found. A path is written once, above its lines; equal
// lines of a file are written once, with all their numbers. What is too much to read is
// answered by counts, and by the lines that most likely matter.

const (
	wideBytes    = 12_000 // of a result; more is too much to read
	contextBytes = 24_000 // of one with the lines around each match
	wideLines    = 50     // lines shown of what is too much
	wideFolders  = 20     // folders counted
)

// showMatches writes the lines of a search, and returns those that it shows.
func showMatches(b *strings.Builder, in grepArgs, m tool.Matches, room int) []tool.Match {
	var all strings.Builder
	writeMatches(&all, in, m.Lines)
	if all.Len() <= min(wideBytes, room) && !m.More {
		b.WriteString(all.String())
		return m.Lines
	}
	hits := slices.DeleteFunc(slices.Clone(m.Lines), func(l tool.Match) bool { return !l.Hit && !in.FilesOnly })
	// What follows a match says more than what is before it.
	for before, after := in.Context, in.Context; in.Context > 0 && !m.More; before = after / 4 {
		var fit strings.Builder
		near, how := nearby(m.Lines, before, after), in
		how.Context = after
		if writeMatches(&fit, how, near); fit.Len() <= min(contextBytes, room) {
			b.WriteString(fit.String())
			if before < in.Context {
				fmt.Fprintf(b, "[of each match %s before it, %d behind: more would not fit]\n", plural.Of(before, "line"), after)
			}
			return near
		}
		if after == 0 {
			break
		}
		if before < after {
			after /= 2
		}
	}
	few := likeliest(in, hits)
	for {
		var shown strings.Builder
		writeMatches(&shown, grepArgs{FilesOnly: in.FilesOnly}, few)
		if shown.Len() <= min(wideBytes, room/2) || len(few) == 1 {
			what, more := fmt.Sprintf("%d matches in %s", m.Hits, plural.Of(m.Files, "file")), ""
			if in.FilesOnly {
				what = plural.Of(m.Files, "file") + " with a match"
			}
			if m.More {
				more = "more than "
			}
			fmt.Fprintf(b, "%s%s, too many to show. By folder:\n%s", more, what, folders(hits))
			fmt.Fprintf(b, "%d of them:\n%s", len(few), clip(shown.String(), room/2))
			b.WriteString("[to see others, name one of these folders as path, or give a glob or a longer pattern]\n")
			return few
		}
		few = few[:(len(few)+1)/2]
	}
}

// nearby returns the matches, and so many lines before and behind each.
func nearby(all []tool.Match, before, after int) (out []tool.Match) {
	keep := make([]bool, len(all))
	for _, back := range []bool{false, true} { // from the match before a line, and from the one behind it
		var hit *tool.Match
		lines := after
		if back {
			lines = before
		}
		for i := range all {
			if back {
				i = len(all) - 1 - i
			}
			if l := &all[i]; l.Hit {
				hit = l
			}
			keep[i] = keep[i] || hit != nil && hit.Path == all[i].Path && max(hit.Line-all[i].Line, all[i].Line-hit.Line) <= lines
		}
	}
	for i, l := range all {
		if keep[i] {
			out = append(out, l)
		}
	}
	return out
}

// clip returns at most n bytes of a text.
func clip(s string, n int) string {
	if len(s) <= n {
		return s
	}
	return wholeRunes(s[:max(n, 0)]) + "…\n"
}

// writeMatches writes lines below their paths.
func writeMatches(b *strings.Builder, in grepArgs, ms []tool.Match) {
	for i := 0; i < len(ms); {
		j := i
		for j < len(ms) && ms[j].Path == ms[i].Path {
			j++
		}
		b.WriteString(oneLine(ms[i].Path) + "\n")
		switch file := ms[i:j]; {
		case in.FilesOnly:
		case in.Context > 0:
			writeInContext(b, file)
		default:
			writeFolded(b, file)
		}
		i = j
	}
}

// writeInContext writes hits as "12:text" and the lines around them as "13-text".
func writeInContext(b *strings.Builder, ms []tool.Match) {
	for i, l := range ms {
		if i > 0 && ms[i-1].Line != l.Line-1 {
			b.WriteString("--\n")
		}
		mark := '-'
		if l.Hit {
			mark = ':'
		}
		fmt.Fprintf(b, "%d%c%s\n", l.Line, mark, l.Text)
	}
}

// writeFolded writes hits as "12:text", and equal ones as "12, 40:text".
func writeFolded(b *strings.Builder, ms []tool.Match) {
	numbers := map[string][]string{}
	for _, l := range ms {
		numbers[l.Text] = append(numbers[l.Text], strconv.Itoa(l.Line))
	}
	for _, l := range ms {
		if n := numbers[l.Text]; n != nil {
			fmt.Fprintf(b, "%s:%s\n", strings.Join(n, ", "), l.Text)
			delete(numbers, l.Text)
		}
	}
}

// folders counts hits by folder: as deep as the counts stay few.
func folders(hits []tool.Match) string {
	counts := map[string]int{}
	for depth := 1; ; depth++ {
		next := map[string]int{}
		for _, l := range hits {
			parts := strings.Split(path.Dir(l.Path), "/")
			next[strings.Join(parts[:min(depth, len(parts))], "/")]++
		}
		if len(next) > wideFolders && depth > 1 || maps.Equal(next, counts) {
			break
		}
		counts = next
	}
	names := slices.SortedFunc(maps.Keys(counts), func(a, b string) int {
		return cmp.Or(cmp.Compare(counts[b], counts[a]), strings.Compare(a, b))
	})
	var b strings.Builder
	for _, n := range names[:min(len(names), wideFolders)] {
		fmt.Fprintf(&b, "%6d %s/\n", counts[n], oneLine(n))
	}
	if more := len(names) - wideFolders; more > 0 {
		fmt.Fprintf(&b, "       and %s more\n", plural.Of(more, "folder"))
	}
	return b.String()
}

// likeliest returns the hits that most likely matter, in the order of the search: those
// that are not part of a longer word, and of each file the first ones.
func likeliest(in grepArgs, hits []tool.Match) []tool.Match {
	if len(hits) <= wideLines {
		return hits
	}
	pattern := in.Pattern
	if in.Literal {
		pattern = regexp.QuoteMeta(pattern)
	}
	if in.IgnoreCase {
		pattern = "(?i)" + pattern
	}
	re, err := regexp.Compile(pattern)
	type ranked struct {
		at, rank int
	}
	rs := make([]ranked, len(hits))
	nth := map[string]int{}
	for i, l := range hits {
		rs[i] = ranked{at: i, rank: nth[l.Path]}
		nth[l.Path]++
		if err == nil && !wholeWord(re, l.Text) {
			rs[i].rank += len(hits)
		}
	}
	sorting.By(rs, func(a, b ranked) int { return cmp.Compare(a.rank, b.rank) })
	rs = rs[:wideLines]
	sorting.By(rs, func(a, b ranked) int { return cmp.Compare(a.at, b.at) })
	out := make([]tool.Match, len(rs))
	for i, r := range rs {
		out[i] = hits[r.at]
	}
	return out
}

// wholeWord reports whether a match of the pattern does not begin or end within a word.
func wholeWord(re *regexp.Regexp, line string) bool {
	return slices.ContainsFunc(re.FindAllStringIndex(line, -1), func(m []int) bool { return !cutsWord(line, m[0], m[1]-m[0]) })
}
