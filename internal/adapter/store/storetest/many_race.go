//go:build race

package storetest

// manyCount is smaller under the race detector, which makes SQLite twenty
// times slower.
const manyCount = 20_000
