// Package secrets masks keys in text before it is kept or shown, and knows
// which file names say that a file holds secrets.
//
// It knows the shapes of common keys and the exact values that pawl itself
// holds. It promises one pass over the text, the same mask for the same text,
// and that a mask is never masked again. It refuses to guess: a long random
// word without a known shape stays, so that hashes, ids and encoded images
// survive.
package secrets

import (
	"cmp"
	"slices"
	"strings"
)

// Masker masks text. Made by New; safe for concurrent use.
type Masker struct {
	held []string // longest first
	// pairs is the set of the two bytes that a shape or a held value begins
	// with: in ordinary text few pass it, and the rest is not looked at.
	pairs [1 << 10]uint64
}

// shortest is the length below which a held value is not masked: it would take
// ordinary words out of the text.
const shortest = 8

// New makes a masker that also masks the exact values that pawl holds.
func New(held ...string) *Masker {
	m := &Masker{}
	for p := range strings.FieldsSeq(starts) {
		m.add(p)
	}
	for _, h := range held {
		if h = strings.TrimSpace(h); len(h) >= shortest && !slices.Contains(m.held, h) {
			m.held = append(m.held, h)
			m.add(h)
		}
	}
	slices.SortStableFunc(m.held, func(a, b string) int { return cmp.Compare(len(b), len(a)) })
	return m
}

func (m *Masker) add(s string) {
	k := uint(s[0]) | uint(s[1])<<8
	m.pairs[k>>6] |= 1 << (k & 63)
}

// Mask replaces what is secret by [masked:KIND] and says how often it did. A
// text without secrets comes back as it is, without a copy.
func (m *Masker) Mask(s string) (string, int) {
	var b strings.Builder
	n, from := 0, 0
	for i := 0; i < len(s); {
		next, end, kind := m.find(s, i)
		if end == 0 {
			break
		}
		b.WriteString(s[from:next])
		b.WriteString("[masked:" + kind + "]")
		n++
		i, from = end, end
	}
	if n == 0 {
		return s, 0
	}
	b.WriteString(s[from:])
	return b.String(), n
}

// String is Mask without the count.
func (m *Masker) String(s string) string {
	s, _ = m.Mask(s)
	return s
}

// MaskBytes is Mask for bytes; what holds no secret comes back as it is.
func (m *Masker) MaskBytes(p []byte) []byte {
	s, n := m.Mask(string(p))
	if n == 0 {
		return p
	}
	return []byte(s)
}

// Masked says whether a text holds a mask: writing it to a file would replace
// the secret by its mask (SPEC 16.7).
func Masked(s string) bool {
	for {
		i := strings.Index(s, "[masked:")
		if i < 0 {
			return false
		}
		s = s[i+len("[masked:"):]
		if j := strings.IndexByte(s, ']'); j > 0 && j < 24 && strings.Trim(s[:j], "abcdefghijklmnopqrstuvwxyz-") == "" {
			return true
		}
	}
}
