package main

import (
	"runtime"
	"runtime/debug"
	"runtime/metrics"
)

// heapFloor is a heap that is not worth collecting. A session of a few hundred calls keeps
// 1 to 2 MB: collected at twice that, as the runtime does, it would be collected every few
// turns, at a millisecond each. At 1,000 calls 4.75 MB
// take 1.2 MB less than 5 and 1 % more instructions; 4.5 take no less, and 3 % more.
const heapFloor = 19 << 18

// A heap over the floor grows by half between collections, and not by its whole size.
const (
	leastPercent = 50
	mostPercent  = 100 * heapFloor / (4 << 20) // the runtime collects no heap below 4 MB times its percentage
	// startPercent is that of the start, which needs up to 8 MB once: two collections of it
	// take a quarter of its time.
	startPercent = 200
)

// tuneCollector lets the heap grow to the floor, or by half, after the start.
func tuneCollector() {
	percent := startPercent
	debug.SetGCPercent(percent)
	var collected func(struct{})
	// A cleanup of an object that nothing refers to runs after the next collection.
	next := func() { runtime.AddCleanup(new([64]byte), collected, struct{}{}) }
	live := []metrics.Sample{{Name: "/gc/heap/live:bytes"}}
	collected = func(struct{}) {
		metrics.Read(live)
		if live[0].Value.Kind() == metrics.KindUint64 {
			if p := percentFor(live[0].Value.Uint64()); p < percent-5 || p > percent+5 {
				percent = p
				debug.SetGCPercent(p) // stops the world for some microseconds
			}
		}
		next()
	}
	next()
}

// percentFor returns by how much a heap may grow that keeps live bytes.
func percentFor(live uint64) int {
	toFloor := heapFloor*100/max(int64(live), 1) - 100
	return int(min(max(toFloor, leastPercent), mostPercent))
}
