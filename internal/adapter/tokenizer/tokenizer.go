// Package tokenizer counts tokens with a byte-pair vocabulary: o200k, which OpenAI's
// models use since GPT-4o. For other models it is the best guess; calibration corrects
// the difference (SPEC 9.1).
//
// It promises that nothing is unpacked before Load is called, that any text has a count
// (also bytes that are not UTF-8), and that counts equal those of the reference
// implementation, except for runs of one class that are longer than 4,096 bytes: those
// are counted in pieces. It neither encodes nor decodes: pawl does not need the tokens.
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

// Counter implements window.Counter. It is safe for concurrent use.
type Counter struct {
	// text is the unpacked vocabulary. A token's position in it is its rank:
	// only the order of two tokens is needed.
	text []byte
	// table finds tokens by hash, with open addressing. A slot holds the token's position
	// plus 1 and, above placeBits, some bits of its hash, so that few slots are compared
	// in vain. 0 is an empty slot.
	table []uint32
}

// placeBits is the number of bits of a position in the vocabulary.
const placeBits = 21

var load = sync.OnceValues(unpack)

// Load returns the counter. The first call unpacks the vocabulary: about 10 ms, and 3 MB
// that stay in use.
func Load() (*Counter, error) { return load() }

func unpack() (*Counter, error) {
	z, err := zstd.NewReader(nil, zstd.WithDecoderConcurrency(1), zstd.WithDecoderLowmem(true))
	if err != nil {
		return nil, fmt.Errorf("tokenizer: %w", err)
	}
	defer z.Close()
	c := &Counter{}
	if c.text, err = z.DecodeAll(vocabulary, nil); err != nil {
		return nil, fmt.Errorf("tokenizer: unpack the vocabulary: %w", err)
	}
	tokens := 0
	for at := 0; at < len(c.text); tokens++ {
		n := int(c.text[at])
		if at += 1 + n; n == 0 || at > len(c.text) || at >= 1<<placeBits {
			return nil, fmt.Errorf("tokenizer: the vocabulary is damaged at token %d", tokens)
		}
	}
	c.table = make([]uint32, tokens+tokens/2)
	for at := 0; at < len(c.text); {
		next := at + 1 + int(c.text[at])
		i, sign := c.slot(hash(c.text[at+1 : next]))
		for c.table[i] != 0 {
			if i++; i == len(c.table) {
				i = 0
			}
		}
		c.table[i] = sign | uint32(at+1)
		at = next
	}
	return c, nil
}

// hash returns the FNV-1a hash with its bits mixed.
func hash[T string | []byte](s T) uint64 {
	h := uint64(14695981039346656037)
	for i := range len(s) {
		h = (h ^ uint64(s[i])) * 1099511628211
	}
	return (h ^ h>>29) * 0x9E3779B97F4A7C15
}

// slot returns the first slot for a hash, and the bits of the hash that the slot stores.
func (c *Counter) slot(h uint64) (i int, sign uint32) {
	return int(h >> 32 * uint64(len(c.table)) >> 32), uint32(h) &^ (1<<placeBits - 1)
}

// none means that there is no rank.
const none = ^uint32(0)

// rank returns the rank of a token, or none.
func (c *Counter) rank(s string) uint32 {
	for i, sign := c.slot(hash(s)); ; {
		r := c.table[i]
		if r == 0 {
			return none
		}
		if r&^(1<<placeBits-1) == sign {
			at := r&(1<<placeBits-1) - 1
			if end := int(at) + 1 + len(s); int(c.text[at]) == len(s) && string(c.text[at+1:end]) == s {
				return at
			}
		}
		if i++; i == len(c.table) {
			i = 0
		}
	}
}

// longest is the most bytes of a piece that are merged together.
const longest = 4096

// Count returns the number of tokens in a text.
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

// merged returns the number of tokens of a piece.
func (c *Counter) merged(s string, m *merger) int {
	if len(s) < 2 || c.rank(s) != none {
		return min(len(s), 1)
	}
	return m.run(c, s)
}
