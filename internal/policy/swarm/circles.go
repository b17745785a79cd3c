package swarm

import "slices"

// GlobalLoop is how often all workers together make the same call with the same result
// before it counts as a common loop (SPEC 14.3).
const GlobalLoop = 10

// Call is a call of a worker with its result.
type Call struct {
	Worker string
	Key    string // tool, arguments and result in one
	What   string // the call, for people and models
	Failed bool
	New    bool // it changed a file or brought content that the worker had not seen
	Heard  int  // how many messages its worker got so far
}

// LoopDetector finds workers that all repeat the same call, such as to a service that is
// down for all of them. The zero value is ready.
//
// When each worker builds or tests once, all make the same call with the same result,
// and nothing is wrong. So a call that did not fail counts only if its worker repeats
// it. New content resets a worker's counts.
type LoopDetector struct {
	calls map[string]map[string]repeats // by key and worker
	keys  map[string][]string           // of a worker since it saw something new
	told  map[string]bool
}

type repeats struct{ n, failed int }

// Loop is a call that workers repeat together.
type Loop struct {
	What    string
	Times   int
	Workers []string
	Again   bool // it was reported before: its workers must be stopped
}

// Apply counts a call and returns the loop that it is part of, if any. A loop is
// returned when it is found and again for each call that continues it.
func (c *LoopDetector) Apply(call Call) (Loop, bool) {
	if c.calls == nil {
		c.calls, c.keys, c.told = map[string]map[string]repeats{}, map[string][]string{}, map[string]bool{}
	}
	if call.New {
		c.begin(call.Worker)
		return Loop{}, false
	}
	by := c.calls[call.Key]
	if by == nil {
		by = map[string]repeats{}
		c.calls[call.Key] = by
	}
	r, known := by[call.Worker]
	if !known {
		c.keys[call.Worker] = append(c.keys[call.Worker], call.Key)
	}
	r.n++
	if call.Failed {
		r.failed++
	}
	by[call.Worker] = r

	l := Loop{What: call.What}
	for w, r := range by {
		if r.n > 1 || r.failed > 0 {
			l.Times += r.n
			l.Workers = append(l.Workers, w)
		}
	}
	if l.Times <= GlobalLoop || len(l.Workers) < 2 || !slices.Contains(l.Workers, call.Worker) {
		return Loop{}, false
	}
	slices.Sort(l.Workers)
	l.Again = c.told[call.Key]
	c.told[call.Key] = true
	return l, true
}

// Leave forgets a worker whose task has ended.
func (c *LoopDetector) Leave(worker string) { c.begin(worker) }

func (c *LoopDetector) begin(worker string) {
	for _, k := range c.keys[worker] {
		if delete(c.calls[k], worker); len(c.calls[k]) == 0 {
			delete(c.calls, k)
			delete(c.told, k)
		}
	}
	delete(c.keys, worker)
}
