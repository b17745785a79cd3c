// Package tokenizer counts tokens with a byte-pair vocabulary: o200k, that of
// OpenAI's models since GPT-4o, and the best guess for every other model, whose
// own the calibration makes up for (SPEC 9.1).
//
// It promises that nothing is unpacked before Load is called, that any text
// has a count (bytes that are not UTF-8 too), and that counts are those of the
// reference implementation, but for runs of one kind that are longer than
// 4,096 bytes: those are counted in pieces. It refuses to encode or decode:
// nobody here needs to know which tokens they are.
package tokenizer

import (
	_ "embed"
	"fmt"
	"sync"

	"github.com/klauspost/compress/zstd"
)

// vocabulary is each token's length in a byte and the token, by rank.
// `go test ./internal/adapter/tokenizer -run Vocabulary -update` makes it.
//
//go:embed o200k.zst
var vocabulary []byte

// Counter is part of policy/window. It may be used by several at once.
type Counter struct {
	text  []byte   // all tokens, one after the other
	start []uint32 // of each in text, and the end of the last
	table []uint32 // open addressing by hash: rank+1, 0 empty
}

var load = sync.OnceValues(unpack)

// Load unpacks the vocabulary, once: about 12 ms, and 6 MB from then on.
func Load() (*Counter, error) { return load() }

func unpack() (*Counter, error) {
	z, err := zstd.NewReader(nil, zstd.WithDecoderConcurrency(1))
	if err != nil {
		return nil, fmt.Errorf("tokenizer: %w", err)
	}
	defer z.Close()
	raw, err := z.DecodeAll(vocabulary, nil)
	if err != nil {
		return nil, fmt.Errorf("tokenizer: unpack the vocabulary: %w", err)
	}
	c := &Counter{text: make([]byte, 0, len(raw)), start: make([]uint32, 0, 200_001)}
	for len(raw) > 0 {
		n := int(raw[0])
		if n == 0 || n >= len(raw)+1 {
			return nil, fmt.Errorf("tokenizer: the vocabulary is damaged at token %d", len(c.start))
		}
		c.start = append(c.start, uint32(len(c.text)))
		c.text = append(c.text, raw[1:1+n]...)
		raw = raw[1+n:]
	}
	c.start = append(c.start, uint32(len(c.text)))
	size := 1
	for size < 2*len(c.start) {
		size *= 2
	}
	c.table = make([]uint32, size)
	for rank := range len(c.start) - 1 {
		t := c.text[c.start[rank]:c.start[rank+1]]
		i := hash(t) & (size - 1)
		for c.table[i] != 0 {
			i = (i + 1) & (size - 1)
		}
		c.table[i] = uint32(rank + 1)
	}
	return c, nil
}

// hash is FNV-1a with its bits mixed: the table takes the low ones.
func hash[T string | []byte](s T) int {
	h := uint64(14695981039346656037)
	for i := range len(s) {
		h = (h ^ uint64(s[i])) * 1099511628211
	}
	return int((h ^ h>>29) & (1<<62 - 1))
}

// none is not a rank.
const none = ^uint32(0)

// rank returns the rank of a token, or none.
func (c *Counter) rank(s string) uint32 {
	mask := len(c.table) - 1
	for i := hash(s) & mask; ; i = (i + 1) & mask {
		r := c.table[i]
		if r == 0 {
			return none
		}
		if t := c.text[c.start[r-1]:c.start[r]]; len(t) == len(s) && string(t) == s {
			return r - 1
		}
	}
}

// longest is how long a piece may be that is merged as one.
const longest = 4096

// Count returns how many tokens a text has.
func (c *Counter) Count(text string) int {
	n := 0
	var m merger
	for len(text) > 0 {
		end := piece(text)
		for end > longest {
			n += c.merged(text[:longest], &m)
			text, end = text[longest:], end-longest
		}
		n += c.merged(text[:end], &m)
		text = text[end:]
	}
	return n
}

// merged counts the tokens that a piece is merged to.
func (c *Counter) merged(s string, m *merger) int {
	if len(s) < 2 || c.rank(s) != none {
		return min(len(s), 1)
	}
	return m.run(c, s)
}
