package sorting

import (
	"cmp"
	"slices"
	"testing"

	"pgregory.net/rapid"
)

func TestBySortsLikeTheStandardLibrary(t *testing.T) {
	type pair struct{ key, at int }
	rapid.Check(t, func(t *rapid.T) {
		got := []pair{}
		for i, key := range rapid.SliceOf(rapid.IntRange(0, 9)).Draw(t, "keys") {
			got = append(got, pair{key, i})
		}
		byKey := func(a, b pair) int { return cmp.Compare(a.key, b.key) }
		want := slices.Clone(got)
		slices.SortStableFunc(want, byKey)
		By(got, byKey)
		if !slices.Equal(got, want) {
			t.Fatalf("got %v, want %v", got, want)
		}
	})
}
