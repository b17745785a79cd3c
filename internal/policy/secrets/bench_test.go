package secrets

import (
	"strings"
	"testing"
)

const prose = `The quick brown fox jumps over the lazy dog; see http://example.com/a/b?x=1 for details.
func (m *Masker) Mask(s string) (string, int) { var b strings.Builder; n, from := 0, 0; return s, n }
`

func BenchmarkMask(b *testing.B) {
	text := strings.Repeat(prose, 5000)
	for _, bc := range []struct {
		name string
		m    *Masker
	}{{"shapes", New()}, {"held", New("sk-ant-REDACTED-0123456789", "another-held-value-9876")}} {
		b.Run(bc.name, func(b *testing.B) {
			b.SetBytes(int64(len(text)))
			for b.Loop() {
				bc.m.Mask(text)
			}
		})
	}
}
