// Package secrets masks keys in text before it is stored or shown, and knows
// which file names and variables suggest secrets.
//
// It recognizes the formats of common keys, the contexts of secrets (after a
// name, in a URL, in a header), and the exact values that pawl itself holds.
// Colours do not hide a key: a text is examined with and without its escape
// codes. It promises time linear in the text, the same mask for the same text,
// and that a mask is never masked again. It does not guess: a long random word
// without a known format or name is kept, so that hashes, ids and encoded
// images survive.
package secrets

import (
	"cmp"
	"slices"
	"strings"
	"sync"
	"sync/atomic"

	"github.com/pawl-agent/pawl/internal/core/sorting"
)

// Masker masks text. New makes one; it is safe for concurrent use. A nil Masker
// masks nothing.
type Masker struct {
	byFirst [256][]*shape
	known   atomic.Pointer[known]
	mu      sync.Mutex // of those who add
}

// known is what a text is searched for. It is replaced when values are added.
type known struct {
	held []Value // longest first
	by   map[uint16][]Value
	// pairs is the set of the first two bytes of formats and held values:
	// little of an ordinary text passes it, and the rest is not examined.
	pairs [1 << 10]uint64
}

// Value is a secret of a file: Text without its first Lead and its last Tail bytes,
// which must stand around it. Without them a short value would mask ordinary words
// everywhere.
type Value struct {
	Text       string
	Lead, Tail int
}

// New makes a Masker that also masks the exact values that pawl holds, if they
// are not ordinary words: see Distinct.
func New(held ...string) *Masker {
	m := &Masker{}
	k := &known{}
	for i := range shapes {
		sh := &shapes[i]
		k.add(sh.prefix)
		m.byFirst[sh.prefix[0]] = append(m.byFirst[sh.prefix[0]], sh)
	}
	for _, p := range contexts {
		k.add(p)
	}
	m.known.Store(k)
	m.HoldTexts(held...)
	return m
}

// HoldTexts makes exact values masked from now on, if they are not ordinary words.
func (m *Masker) HoldTexts(held ...string) {
	var all []Value
	for _, h := range held {
		if h = strings.TrimSpace(h); Distinct(h) {
			all = append(all, Value{Text: h})
		}
	}
	m.hold(all)
}

// Hold makes the values of files masked from now on, whatever shows them: as they
// are and, if they are distinct, backwards.
func (m *Masker) Hold(files ...File) {
	if m == nil {
		return
	}
	var all []Value
	for _, f := range files {
		for _, v := range Values(f) {
			all = append(all, v, Value{Text: backwards(v.Text), Tail: v.Lead})
		}
	}
	m.hold(all)
}

func (m *Masker) hold(values []Value) {
	m.mu.Lock()
	defer m.mu.Unlock()
	old := m.known.Load()
	k := &known{held: slices.Clone(old.held), by: map[uint16][]Value{}, pairs: old.pairs}
	for _, v := range values {
		if !slices.Contains(k.held, v) {
			k.held = append(k.held, v)
			k.add(v.Text)
		}
	}
	if len(k.held) == len(old.held) {
		return
	}
	sorting.By(k.held, func(a, b Value) int { return cmp.Compare(len(b.Text), len(a.Text)) })
	for _, v := range k.held {
		k.by[pair(v.Text)] = append(k.by[pair(v.Text)], v)
	}
	m.known.Store(k)
}

func pair(s string) uint16 { return uint16(s[0]) | uint16(s[1])<<8 }

func (k *known) add(s string) { k.pairs[pair(s)>>6] |= 1 << (pair(s) & 63) }

func backwards(s string) string {
	r := []rune(s)
	slices.Reverse(r)
	return string(r)
}

// Distinct reports whether a value is unlikely to occur in ordinary text.
// Masking a short value, or a word such as "development" that some people use
// as the key of a local server, would remove words from the text.
func Distinct(v string) bool {
	if len(v) < 8 {
		return false
	}
	word := strings.TrimRight(v, "0123456789")
	digits := len(v) - len(word)
	if word == "" {
		return digits >= 16
	}
	if digits > 0 && len(v) >= 12 {
		return true
	}
	longest, run := 0, 0
	for i := 0; i < len(word); i++ {
		switch c := word[i]; {
		case c >= 'a' && c <= 'z', c >= 'A' && c <= 'Z' && (i == 0 || !isLetter(word[i-1]) || word == strings.ToUpper(word)):
			run++
			longest = max(longest, run)
		case c == '-' || c == '_' || c == '.' || c == ' ' || c == '/':
			run = 0
		default:
			return true // a capital inside a word, a digit before its end, punctuation
		}
	}
	return longest >= 16
}

// span is the position and the kind of a secret.
type span struct {
	from, to int
	kind     string
}

// Mask replaces secrets by [masked:KIND] and returns their number. A text
// without secrets is returned without a copy.
func (m *Masker) Mask(s string) (string, int) {
	if m == nil {
		return s, 0
	}
	found := m.spans(s)
	if len(found) == 0 {
		return s, 0
	}
	var b strings.Builder
	from := 0
	for _, f := range found {
		b.WriteString(s[from:f.from])
		b.WriteString("[masked:" + f.kind + "]")
		from = f.to
	}
	b.WriteString(s[from:])
	return b.String(), len(found)
}

// spans lists the secrets of a text in order, without overlaps.
func (m *Masker) spans(s string) []span {
	found := m.scan(s, nil)
	if bare, at := withoutEscapes(s); at != nil {
		for _, f := range m.scan(bare, at) {
			found = append(found, span{at[f.from], at[f.to-1] + 1, f.kind})
		}
	}
	found = append(append(found, keyLines(s)...), m.cutKeys(s)...)
	if len(found) < 2 {
		return found
	}
	sorting.By(found, func(a, b span) int { return cmp.Or(cmp.Compare(a.from, b.from), cmp.Compare(b.to, a.to)) })
	out := found[:1]
	for _, f := range found[1:] {
		last := &out[len(out)-1]
		if f.from >= last.to {
			out = append(out, f)
		} else {
			last.to = max(last.to, f.to)
		}
	}
	return out
}

// scan lists the secrets of a text. at, if set, is the position of each byte
// before escape codes were removed: a word may begin where a code was.
func (m *Masker) scan(s string, at []int) (found []span) {
	for i := 0; i < len(s); {
		f := m.find(s, i, at)
		if f.to == 0 {
			break
		}
		found = append(found, f)
		i = f.to
	}
	return found
}

// String is Mask without the count.
func (m *Masker) String(s string) string {
	s, _ = m.Mask(s)
	return s
}

// MaskBytes is Mask for bytes; bytes without secrets are returned unchanged.
func (m *Masker) MaskBytes(p []byte) []byte {
	s, n := m.Mask(string(p))
	if n == 0 {
		return p
	}
	return []byte(s)
}

// Named masks a value that is separate from its name, as in JSON, if the name
// marks it as a secret.
func (m *Masker) Named(name, value string) string {
	if m == nil || len(name) > maxName || len(value) > maxValue || !isSecretName(name) {
		return value
	}
	if f, ok := named(name+"="+value, 0); ok && f.from == len(name)+1 {
		at := f.from
		return value[:f.from-at] + "[masked:" + f.kind + "]" + value[f.to-at:]
	}
	return value
}
