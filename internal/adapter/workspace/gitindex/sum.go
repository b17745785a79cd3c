package gitindex

import (
	"encoding/binary"
	"math/bits"
	"math/rand/v2"
)

// sums makes hashes of parts of an index, by which a part is known again. An
// index of 500,000 files is 50 MB, all of which is hashed after each `git add`:
// hash/maphash takes three times as long as reading it. This is the step of
// wyhash in four lanes, which takes as long. Its numbers are of this process
// alone, so nobody can make two parts that have the same hash.
type sums [9]uint64

func newSums() (s sums) {
	for i := range s {
		s[i] = rand.Uint64() | 1 // none is zero
	}
	return s
}

const sumBlock = 64

// of returns the hash of some bytes.
func (s *sums) of(b []byte) uint64 {
	n := uint64(len(b))
	lanes := s.blocks([4]uint64{s[4], s[5], s[6], s[7]}, b)
	if tail := b[len(b)/sumBlock*sumBlock:]; len(tail) > 0 {
		var rest [sumBlock]byte // padded; the length distinguishes the padding
		copy(rest[:], tail)
		lanes = s.blocks(lanes, rest[:])
	}
	return fold(fold(lanes[0]^s[8], lanes[1]^n), fold(lanes[2]^s[8], lanes[3]^n)^s[4])
}

// blocks goes on with whole blocks.
func (s *sums) blocks(lanes [4]uint64, b []byte) [4]uint64 {
	a, c, e, g := lanes[0], lanes[1], lanes[2], lanes[3]
	s0, s1, s2, s3 := s[0], s[1], s[2], s[3]
	for ; len(b) >= sumBlock; b = b[sumBlock:] {
		p := (*[sumBlock]byte)(b)
		a, c = fold(word(p, 0)^s0, word(p, 8)^a), fold(word(p, 16)^s1, word(p, 24)^c)
		e, g = fold(word(p, 32)^s2, word(p, 40)^e), fold(word(p, 48)^s3, word(p, 56)^g)
	}
	return [4]uint64{a, c, e, g}
}

func word(p *[sumBlock]byte, at int) uint64 { return binary.LittleEndian.Uint64(p[at:]) }

func fold(a, b uint64) uint64 {
	high, low := bits.Mul64(a, b)
	return high ^ low
}
