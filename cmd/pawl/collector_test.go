package main

import "testing"

// SPEC 19.3: a small heap is collected at the floor, a large one when it grew by half.
func TestPercentFor(t *testing.T) {
	for _, c := range []struct {
		live uint64
		want int
	}{
		{0, 125}, {1 << 20, 125}, {2 << 20, 125}, {5 << 19, 100}, {3 << 20, 66},
		{4 << 20, 50}, {5 << 20, 50}, {10 << 20, 50}, {10 << 30, 50},
	} {
		if got := percentFor(c.live); got != c.want {
			t.Errorf("%d MB: %d, want %d", c.live>>20, got, c.want)
		}
	}
}
