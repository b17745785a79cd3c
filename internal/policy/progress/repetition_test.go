package progress

import (
	"fmt"
	"io/fs"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/pawl-agent/pawl/internal/core/must"
)

// streamed writes a text as it would come and returns what came before the cut.
func streamed(text string, piece int) (got int, passage string) {
	r := Repetition{Evidence: Certain}
	for len(text) > 0 {
		n := min(piece, len(text))
		if p := r.Write(text[:n]); p != "" {
			return got + n, p
		}
		got += n
		text = text[n:]
	}
	return got, ""
}

// proseOf makes a passage that does not repeat itself.
func proseOf(n int, seed uint64) string {
	r := rand.New(rand.NewPCG(seed, 1))
	var b strings.Builder
	for b.Len() < n {
		b.WriteString([]string{"the", "file", "parses", "wrongly", "so", "I", "look", "again", "at", "line", "and", "change"}[r.IntN(12)])
		b.WriteByte(" \n"[r.IntN(2)])
	}
	return b.String()[:n]
}

// SPEC 6.3: repeated text inside one stream.
func TestRepetitionIsSuspected(t *testing.T) {
	t.Parallel()
	feed := func(text string, k int) bool {
		var r Repetition
		for len(text) > 0 {
			n := min(k, len(text))
			r.Write(text[:n])
			text = text[n:]
		}
		return r.passage != ""
	}
	loop := "Now I will think about it again. "
	long := strings.Repeat("I should check the configuration file before I change the other module, and then see.\n", 12)
	for _, k := range []int{1, 7, 1000, 100000} {
		if !feed("So. "+strings.Repeat(loop, 60), k) || !feed(long, k) {
			t.Errorf("in pieces of %d, the loop is not seen", k)
		}
		if feed(strings.Repeat("-", 5000), k) || feed(strings.Repeat("| 0 | 1 |\n", 300), k) {
			t.Errorf("in pieces of %d, a table is taken for a loop", k)
		}
		var b strings.Builder
		for i := range 400 {
			b.WriteString("line " + strings.Repeat("x", i%17) + " of the plan, which is a long one\n")
		}
		if feed(b.String(), k) {
			t.Errorf("in pieces of %d, ordinary text is taken for a loop", k)
		}
	}
}

// SPEC 6.3: repeated text inside one stream is cut off, after some thousand
// tokens at most, whatever the length of the passage and of the pieces, and
// whatever came before it.
func TestRepetitionIsCut(t *testing.T) {
	t.Parallel()
	for _, length := range []int{20, 47, 150, 600, 1199, 1300, 2500, 4000, 8000} {
		for _, piece := range []int{1, 7, 100, 5000} {
			before := proseOf(10_000, 7)
			text := before + strings.Repeat(proseOf(length, uint64(length)), 400_000/length)
			got, passage := streamed(text, piece)
			most := max(3*length, 6000) + thresholds[Certain].every + piece
			if len(passage) != length || got-len(before) > most {
				t.Errorf("a passage of %d in pieces of %d: cut after %d of it, passage %d", length, piece, got-len(before), len(passage))
			}
		}
	}
}

// SPEC 6.3: a passage of a word or two is one too, however the pieces fall.
func TestRepetitionOfShortWords(t *testing.T) {
	t.Parallel()
	for _, passage := range []string{"Thinking... Done. ", "ok\n", "the ", "I am done. ", "Done.\n\n", "ha ha ", "Wait! ", "готово ", "No. "} {
		for _, piece := range []int{1, 7, 100, 5000} {
			got, found := streamed(strings.Repeat(passage, 20_000), piece)
			if found == "" || got > thresholds[Certain].length+thresholds[Certain].every+piece {
				t.Errorf("%q in pieces of %d: cut after %d, %q", passage, piece, got, found)
			}
		}
	}
}

// SPEC 6.1: what only looks like it is not cut: tables, dumps, lists, filler,
// numbered lines, a passage said a few times.
func TestRepetitionLeavesAlone(t *testing.T) {
	t.Parallel()
	count := func(line string, n int) string {
		var b strings.Builder
		for i := range n {
			b.WriteString(strings.ReplaceAll(line, "#", fmt.Sprint(i)))
		}
		return b.String()
	}
	for name, text := range map[string]string{
		"rule":           strings.Repeat("-=", 50_000),
		"base64 of zero": strings.Repeat("AAAA", 50_000),
		"table of zero":  strings.Repeat("| 0.00 | 0.00 | n/a |\n", 3000),
		"truths":         strings.Repeat("true, ", 10_000),
		"nothings":       strings.Repeat("nil,\n", 10_000),
		"a row of ones":  strings.Repeat("one|", 10_000),
		"quoted":         strings.Repeat("\"ok\" ", 10_000),
		"calls":          strings.Repeat("f(ab) ", 10_000),
		"one letter":     strings.Repeat("xx ", 10_000),
		"hex":            strings.Repeat("0x00, 0xff, 0xab,\n", 3000),
		"numbered":       count("#. the same line with a number\n", 3000),
		"assignments":    count("\tx[#] = readTheNextValue(input)\n", 3000),
		"said 20 times":  strings.Repeat("I must not talk in class.\n", 20) + proseOf(30_000, 3),
		"twice":          strings.Repeat(proseOf(12_000, 5), 2),
		"long, then on":  strings.Repeat("func TestIt(t *testing.T) { run(t) }\n", 100) + proseOf(60_000, 9),
	} {
		if at, passage := streamed(text, 64); passage != "" {
			t.Errorf("%s: cut after %d: %q", name, at, passage[:min(80, len(passage))])
		}
	}
}

// No text that people and models really wrote is cut: the recorded replies of
// the wire fixtures and this repository's own files, as if a model wrote them.
// PAWL_WIRE names more recordings.
func TestRepetitionOnRealText(t *testing.T) {
	t.Parallel()
	files := 0
	for _, dir := range []string{"../../adapter/provider/wiretest/testdata", "../../..", os.Getenv("PAWL_WIRE")} {
		if dir == "" {
			continue
		}
		err := filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
			switch {
			case err != nil:
				return err
			case d.IsDir() && (d.Name() == ".git" || d.Name() == "node_modules"):
				return filepath.SkipDir
			case !d.Type().IsRegular():
				return nil
			}
			raw, err := os.ReadFile(path)
			if err != nil {
				return err
			}
			if len(raw) > 2<<20 || strings.ContainsRune(string(raw[:min(len(raw), 8000)]), 0) {
				return nil
			}
			files++
			if at, passage := streamed(string(raw), 500); passage != "" {
				t.Errorf("%s: cut after %d: %q", path, at, passage[:min(200, len(passage))])
			}
			return nil
		})
		must.Do(t, err)
	}
	if files < 500 {
		t.Errorf("only %d files were read", files)
	}
}

func BenchmarkRepetition(b *testing.B) {
	text := proseOf(100_000, 1)
	b.SetBytes(int64(len(text)))
	for b.Loop() {
		streamed(text, 16)
	}
}
