//go:build !race

package storetest

// manyCount is a session of 100,000 events.
const manyCount = 100_000
