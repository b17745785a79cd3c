package mcp

import "sync"

// tasks are goroutines of one owner. Once it waits for them, none begins any more: an Add
// beside a Wait would be a race.
type tasks struct {
	mu   sync.Mutex
	over bool
	all  sync.WaitGroup
}

// begin runs f beside the caller, or returns false.
func (t *tasks) begin(f func()) bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	if !t.over {
		t.all.Go(f)
	}
	return !t.over
}

func (t *tasks) wait() {
	t.mu.Lock()
	t.over = true
	t.mu.Unlock()
	t.all.Wait()
}
