//go:build linux && (amd64 || arm64)

package sandbox

import (
	"testing"
)

func TestProbe(t *testing.T) {
	for _, p := range Probe() {
		if p.Err != nil {
			t.Errorf("%s: %v", p.Promise, p.Err)
		}
	}
}
