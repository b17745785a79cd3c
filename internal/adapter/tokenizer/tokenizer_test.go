package tokenizer

import (
	"bytes"
	"encoding/base64"
	"flag"
	"math/rand"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
	"testing"

	"github.com/klauspost/compress/zstd"
	"github.com/tiktoken-go/tokenizer/codec"
	"pgregory.net/rapid"

	"github.com/pawl-agent/pawl/internal/core/must"
	"github.com/pawl-agent/pawl/internal/policy/window"
)

var update = flag.Bool("update", false, "make o200k.zst anew")

// reference is another implementation, of another author: tests only.
var reference = sync.OnceValue(codec.NewO200kBase)

var ends = regexp.MustCompile(`[\r\n][\s\v\p{Z}\x{85}]*[\r\n]`)

func loaded(t testing.TB) *Counter {
	t.Helper()
	c := must.Get(Load())(t)
	return c
}

// same compares counts, but where the reference departs from the vocabulary and
// its expression: it leaves DEL out, reads bytes that are not UTF-8 as U+FFFD
// (no log of pawl's has them), and ends `\s*[\r\n]+` at the first line end.
func same(t interface{ Fatalf(string, ...any) }, c *Counter, text string) {
	text = strings.ReplaceAll(strings.ToValidUTF8(text, "\uFFFD"), "\x7f", "")
	text = ends.ReplaceAllStringFunc(text, func(s string) string {
		return strings.Map(func(r rune) rune {
			if r == '\r' || r == '\n' {
				return r
			}
			return -1
		}, s)
	})
	want, err := reference().Count(text)
	if err != nil {
		t.Fatalf("the reference: %v", err)
	}
	if got := c.Count(text); got != want {
		t.Fatalf("%d tokens, want %d, of %.200q", got, want, text)
	}
}

// The vocabulary that is embedded is the reference's.
func TestVocabulary(t *testing.T) {
	var raw bytes.Buffer
	n := 0
	for ; ; n++ {
		s, err := reference().Decode([]uint{uint(n)})
		if err != nil {
			break
		}
		raw.WriteByte(byte(len(s)))
		raw.WriteString(s)
	}
	if *update {
		z := must.Get(zstd.NewWriter(nil, zstd.WithEncoderLevel(zstd.SpeedBestCompression)))(t)
		must.Do(t, os.WriteFile("o200k.zst", z.EncodeAll(raw.Bytes(), nil), 0o644))
	}
	z := must.Get(zstd.NewReader(nil))(t)
	defer z.Close()
	packed := must.Get(os.ReadFile("o200k.zst"))(t)
	got, err := z.DecodeAll(packed, nil)
	if err != nil || n < 199_000 || !bytes.Equal(got, raw.Bytes()) {
		t.Fatalf("%d tokens, %v: the embedded vocabulary is another; make it anew with -update", n, err)
	}
}

// SPEC 9.1: counts are those of the reference, on the project's own files.
func TestRealText(t *testing.T) {
	c := loaded(t)
	files, err := filepath.Glob("../../../doc/*.md")
	if err != nil || len(files) == 0 {
		t.Fatalf("%v: no files", err)
	}
	more, _ := filepath.Glob("../../policy/*/*.go")
	for _, f := range append(files, more...) {
		b := must.Get(os.ReadFile(f))(t)
		same(t, c, string(b))
	}
}

// The same on texts that are made to be hard to split.
func TestAnyText(t *testing.T) {
	c := loaded(t)
	units := []string{
		"a", "B", "the", " ", "  ", "\t", "\n", "\r\n", "\v", "'s", "'S", "'re", "'LL", "'ſ", "'x", "1", "23", "4567", "Ⅷ", "½",
		"漢字", "ない", "ñ", "É", "ǅ", "e\u0301", "\u0301", "한국어", "مرحبا", "ʰ", "🙂", "👩‍👩‍👧", "\u00a0", "\u2028", "/", "//", "...", "=====", "{", "\xff", "\xe6\xbc", "_", "x_y", "camelCase", "HTTPServer", "<|endoftext|>",
	}
	rapid.Check(t, func(t *rapid.T) {
		parts := rapid.SliceOfN(rapid.OneOf(rapid.SampledFrom(units), rapid.SampledFrom(units), rapid.String()), 0, 30).Draw(t, "parts")
		same(t, c, strings.Join(parts, ""))
	})
}

// SPEC 9.1: texts of any size and bytes have a count, and soon: a run of one
// kind is counted in pieces, which costs a few tokens of exactness at most.
func TestOddTexts(t *testing.T) {
	c := loaded(t)
	noise := make([]byte, 30_000)
	rand.New(rand.NewSource(1)).Read(noise)
	for _, s := range []string{"", "\x00", "\xff", strings.Repeat("\n", 5000), strings.Repeat(" ", 3000), strings.ToValidUTF8(string(noise), "é"), base64.StdEncoding.EncodeToString(noise)} {
		same(t, c, s)
	}
	if n := c.Count(string(noise)); n < 20_000 || n > 30_000 || c.Count("\x7f") != 1 || c.Count("\n\t\n") != 1 {
		t.Errorf("%d tokens of noise", n)
	}
	for _, unit := range []string{"x", "漢", "=", " ", "0", "aB"} {
		s := strings.Repeat(unit, 1<<18/len(unit))
		got := c.Count(s)
		want := must.Get(reference().Count(s[:32<<10]))(t)
		if want *= 8; got < want*98/100-10 || got > want*102/100+40 {
			t.Errorf("%q: %d tokens, want about %d", unit, got, want)
		}
	}
}

// It may stand in the window's place for a counter, for several at once.
func TestCounter(t *testing.T) {
	var c window.Counter = loaded(t)
	var wg sync.WaitGroup
	for range 4 {
		wg.Go(func() {
			if n := c.Count(strings.Repeat("hello world ", 100)); n != 201 {
				t.Errorf("%d", n)
			}
		})
	}
	wg.Wait()
}

func BenchmarkLoad(b *testing.B) {
	for b.Loop() {
		must.Done(b)(unpack())
	}
}

func BenchmarkCount(b *testing.B) {
	c := loaded(b)
	text := must.Get(os.ReadFile("split.go"))(b)
	b.SetBytes(int64(len(text)))
	for b.Loop() {
		c.Count(string(text))
	}
}
