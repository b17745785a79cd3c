package main

import "testing"

// SPEC 19.3: a small heap is collected at the floor, a large one when it grew by half.
func TestPercentFor(t *testing.T) {
	for _, c := range []struct {
		live uint64
		want int
	}{
		{0, 118}, {1 << 20, 118}, {2 << 20, 118}, {5 << 19, 90}, {3 << 20, 58},
		{4 << 20, 50}, {5 << 20, 50}, {10 << 20, 50}, {10 << 30, 50},
	} {
		if got := percentFor(c.live); got != c.want {
			t.Errorf("%d MB: %d, want %d", c.live>>20, got, c.want)
		}
	}
}
