package edits

import (
	"bytes"
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"strconv"
	"strings"

	"github.com/rogpeppe/go-internal/diff"

	"github.com/pawl-agent/pawl/internal/core/tool"
)

// diffContext is the number of unchanged lines around a change.
const diffContext = 3

// Diff returns the unified diff of two contents with three lines of context,
// and the numbers of added and removed lines. It is empty if they are equal.
// from and to name them in its first two lines. Common beginnings and ends cost
// almost nothing, so a small change of a large file is fast.
func Diff(from, to string, before, after []byte) (text string, added, removed int) {
	if bytes.Equal(before, after) {
		return "", 0, 0
	}
	head, tail := shared(before, after)
	skipped := bytes.Count(before[:head], []byte("\n"))
	out := diff.Diff(from, before[head:len(before)-tail], to, after[head:len(after)-tail])
	var b strings.Builder
	n := 0
	for line := range bytes.Lines(out) {
		switch n++; {
		case n == 1: // "diff a b" repeats the next two lines
			continue
		case n <= 3:
		case line[0] == '@':
			b.WriteString(moved(string(line), skipped))
			continue
		case line[0] == '+':
			added++
		case line[0] == '-':
			removed++
		}
		b.Write(line)
	}
	return b.String(), added, removed
}

// Touched returns the first and the last line that a unified diff changes, by the numbers
// before: see event.FileChanged.
func Touched(diff string) (from, to int) {
	at := 0
	for line := range strings.Lines(diff) {
		switch {
		case strings.HasPrefix(line, "@@ -"):
			start, _, _ := strings.Cut(line[len("@@ -"):], ",")
			at, _ = strconv.Atoi(start)
		case at == 0: // the names
		case line[0] == '+', line[0] == '-':
			from = cmp.Or(from, at)
			if line[0] == '-' {
				at++
			}
			to = at - 1
		case line[0] == ' ':
			at++
		}
	}
	return from, to
}

// shared returns the size of the common beginning and end in bytes, in whole
// lines and without the context of the change.
func shared(a, b []byte) (head, tail int) {
	n := min(len(a), len(b))
	for head < n && a[head] == b[head] {
		head++
	}
	for tail < n-head && a[len(a)-1-tail] == b[len(b)-1-tail] {
		tail++
	}
	head = bytes.LastIndexByte(a[:head], '\n') + 1
	for range diffContext {
		head = bytes.LastIndexByte(a[:max(head-1, 0)], '\n') + 1
	}
	// The end of the changed part is the end of a line.
	for range diffContext + 1 {
		i := bytes.IndexByte(a[len(a)-tail:], '\n')
		if i < 0 {
			return head, 0
		}
		tail -= i + 1
	}
	return head, tail
}

// moved adds to the line numbers of a hunk's header "@@ -a,b +c,d @@".
func moved(header string, by int) string {
	if by == 0 {
		return header
	}
	f := strings.Fields(header)
	for i := 1; i <= 2; i++ {
		at, n, _ := strings.Cut(f[i][1:], ",")
		if k, err := strconv.Atoi(at); err == nil {
			f[i] = fmt.Sprintf("%c%d,%s", f[i][0], k+by, n)
		}
	}
	return strings.Join(f, " ") + "\n"
}

// Text reports whether a content is text: it has no NUL byte near its start.
func Text(data []byte) bool { return bytes.IndexByte(data[:min(len(data), 8000)], 0) < 0 }

// HashOf returns the hash of a content, as the workspace computes it.
func HashOf(data []byte) tool.Hash {
	sum := sha256.Sum256(data)
	return tool.Hash(hex.EncodeToString(sum[:]))
}
