//go:build linux && (amd64 || arm64)

package sandbox

import (
	"slices"
	"testing"

	"golang.org/x/sys/unix"

	"github.com/pawl-agent/pawl/internal/policy/confine"
)

// walk is where a program goes with a call's number, up to what looks at its
// arguments or answers.
func walk(t *testing.T, p []unix.SockFilter, nr uint32) []unix.SockFilter {
	t.Helper()
	at := 4 // after the architecture and the load of the number
	for {
		switch i := p[at]; {
		case i.Code == unix.BPF_JMP|unix.BPF_JGE|unix.BPF_K && nr >= i.K:
			at += 1 + int(i.Jt)
		case i.Code == unix.BPF_JMP|unix.BPF_JGE|unix.BPF_K:
			at += 1 + int(i.Jf)
		case i.Code == unix.BPF_JMP|unix.BPF_JA:
			at += 1 + int(i.K)
		default:
			return p[at:]
		}
	}
}

// SPEC 16.12: each call gets the answer that was written for it, and what nobody
// wrote one for is known, or missing.
func TestFilterAnswersEachCall(t *testing.T) {
	for _, p := range []confine.Policy{{Level: confine.ReadOnly}, {Level: confine.Workspace}, {Level: confine.Workspace, Loopback: true}} {
		f := rules(p, false)
		got := f.compile()
		if len(got) > unix.BPF_MAXINSNS {
			t.Fatalf("%d instructions", len(got))
		}
		numbers := []uint32{1 << 30, 1<<30 + 41, 1 << 31, 1<<32 - 2, 1<<32 - 1}
		for nr := range uint32(700) {
			numbers = append(numbers, nr)
		}
		for _, nr := range numbers {
			want, named := f[nr]
			switch {
			case named:
			case nr < firstUnknown:
				want.ret(allow)
			default:
				want.ret(enosys)
			}
			if body := walk(t, got, nr); len(body) < len(want) || !slices.Equal(body[:len(want)], want) {
				t.Errorf("%s: call %d gets another answer", p.Level, nr)
			}
		}
		for _, nr := range extended {
			if body := walk(t, got, nr); body[0].K != errnoAction(unix.EOPNOTSUPP) {
				t.Errorf("%s: call %d is not missing", p.Level, nr)
			}
		}
		for _, calls := range [][]uint32{refused, missing} {
			for _, nr := range calls {
				if body := walk(t, got, nr); body[0].K != eperm && body[0].K != enosys {
					t.Errorf("%s: call %d is not refused", p.Level, nr)
				}
			}
		}
	}
}
