// Command tokens measures the accuracy of the window's token counts: it compares
// Estimate and the byte-pair counter with real vocabularies on real text.
//
//	go run ./bench/tokens FILE|FOLDER…
//
// The first table is per kind of file: by how much Estimate is off, over all
// and by pieces of 4 KB. The second is a session: results of some 6 KB of all
// files, shuffled, join a conversation; before each request its size is
// predicted as the window does, counts times the factor learned from the
// requests before, and compared with what a provider with that vocabulary
// would report. cl100k stands for a provider whose vocabulary pawl does not
// have.
package main

import (
	"cmp"
	"fmt"
	"io/fs"
	"maps"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/tiktoken-go/tokenizer/codec"

	"github.com/pawl-agent/pawl/internal/adapter/tokenizer"
	"github.com/pawl-agent/pawl/internal/policy/window"
)

func main() {
	start := time.Now()
	bpe, err := tokenizer.Load()
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	fmt.Printf("vocabulary unpacked in %s\n\n", time.Since(start).Round(100*time.Microsecond))
	kinds := map[string][]string{}
	for _, root := range os.Args[1:] {
		err := filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
			if err != nil || d.IsDir() {
				return err
			}
			b, err := os.ReadFile(path)
			if err != nil || len(b) == 0 || len(b) > 1<<20 || !utf8.Valid(b) {
				return err
			}
			kind := strings.ToLower(cmp.Or(filepath.Ext(path), "(none)"))
			if slices.Contains([]string{".go", ".md", ".json", ".jsonl", ".txt", ".py", ".sse", ".js", ".log", ".diff", ".b64"}, kind) {
				kinds[kind] = append(kinds[kind], string(b))
			}
			return nil
		})
		if err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
	}
	fmt.Printf("%-8s %7s %10s %12s %11s %11s %11s\n", "kind", "files", "bytes", "bytes/token", "all", "4 KB: mean", "95 of 100")
	var all []string
	for _, kind := range slices.Sorted(maps.Keys(kinds)) {
		row(kind, kinds[kind], bpe)
		all = append(all, pieces(kinds[kind], 6000)...)
	}
	session(all, bpe)
}

func row(kind string, texts []string, bpe window.Counter) {
	bytes, est, real := 0, 0, 0
	var off []float64
	for _, t := range pieces(texts, 4096) {
		e, r := window.Estimate{}.Count(t), bpe.Count(t)
		bytes, est, real = bytes+len(t), est+e, real+r
		if r > 0 {
			off = append(off, math.Abs(float64(e-r))/float64(r))
		}
	}
	fmt.Printf("%-8s %7d %10d %12.2f %+10.1f%% %10.1f%% %10.1f%%\n", kind, len(texts), bytes, float64(bytes)/float64(real),
		100*float64(est-real)/float64(real), 100*mean(off), 100*at(off, 0.95))
}

// pieces cuts texts at line ends, or where a rune begins.
func pieces(texts []string, size int) (out []string) {
	for _, t := range texts {
		for len(t) > 0 {
			n := min(size, len(t))
			if i := strings.LastIndexByte(t[:n], '\n'); n < len(t) && i > 0 {
				n = i + 1
			}
			for n < len(t) && !utf8.RuneStart(t[n]) {
				n++
			}
			out, t = append(out, t[:n]), t[n:]
		}
	}
	return out
}

func session(parts []string, bpe window.Counter) {
	r := rand.New(rand.NewPCG(1, 2))
	r.Shuffle(len(parts), func(i, j int) { parts[i], parts[j] = parts[j], parts[i] })
	cl100k := codec.NewCl100kBase()
	fmt.Printf("\nsize of the next request, as predicted: mean error, 95 of 100, and of the first\n%-12s %-10s\n", "provider", "counter")
	for _, truth := range []struct {
		name  string
		count func(string) int
	}{
		{"o200k", bpe.Count},
		{"cl100k", func(s string) int { n, _ := cl100k.Count(s); return n }},
	} {
		for _, by := range []struct {
			name string
			window.Counter
		}{{"estimate", window.Estimate{}}, {"bpe", bpe}} {
			var off, first []float64
			for from := 0; from < len(parts); from += 100 { // a session has 100 parts
				counted, real, factor := 0, 0, 0.0
				for i, t := range parts[from:min(from+100, len(parts))] {
					counted, real = counted+by.Count(t), real+truth.count(t)
					guess := float64(counted) * cmp.Or(factor, 1)
					e := math.Abs(guess-float64(real)) / float64(max(real, 1))
					if i == 0 {
						first = append(first, e)
					} else {
						off = append(off, e)
					}
					if ratio := float64(real) / float64(max(counted, 1)); factor == 0 {
						factor = ratio
					} else {
						factor += 0.3 * (ratio - factor)
					}
				}
			}
			fmt.Printf("%-12s %-10s %6.2f%% %6.2f%% %6.1f%%\n", truth.name, by.name, 100*mean(off), 100*at(off, 0.95), 100*mean(first))
		}
	}
}

func mean(xs []float64) float64 {
	sum := 0.0
	for _, x := range xs {
		sum += x
	}
	return sum / float64(max(len(xs), 1))
}

func at(xs []float64, part float64) float64 {
	if len(xs) == 0 {
		return 0
	}
	slices.Sort(xs)
	return xs[int(float64(len(xs)-1)*part)]
}
