package sandbox

import (
	"slices"
	"sync"

	"github.com/pawl-agent/pawl/internal/core/process"
)

// maxRefusals is how many refusals of a command are kept, the first ones.
const maxRefusals = 100

// refusals collects what a command was refused, each once, in order. What Landlock or the
// filter refuses by itself is not among it: reading a file, a kind of socket, everything at
// the level read-only. A refusal need not be why a command failed: programs try more than
// they need.
type refusals struct {
	mu   sync.Mutex
	list []process.Refusal
}

func (r *refusals) add(act, target string) {
	r.addRuled(process.Refusal{Act: act, What: target})
}

func (r *refusals) addRuled(x process.Refusal) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if n := (process.Refusal{Act: x.Act, What: x.What, Rule: x.Rule}); len(r.list) < maxRefusals && !slices.Contains(r.list, n) {
		r.list = append(r.list, n)
	}
}

// hostAct returns the act of a host that the proxy was asked for, or of an address that is
// not of the public internet and that its name leads to.
func hostAct(addr bool) string {
	if addr {
		return process.ActConnect
	}
	return process.ActHost
}

func (r *refusals) all() []process.Refusal {
	r.mu.Lock()
	defer r.mu.Unlock()
	return slices.Clone(r.list)
}
