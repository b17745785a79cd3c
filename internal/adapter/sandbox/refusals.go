package sandbox

import (
	"slices"
	"sync"

	"github.com/pawl-agent/pawl/internal/core/process"
)

// Refusal is something that the sandbox refused a command. Act and Target read
// as one line:
//
//	write /home/u/.npmrc        a file's content, name or attributes
//	remove /home/u/x            a name
//	connect 10.0.0.5:5432       an address, or the path of a unix socket
//	listen 10.0.0.5:80          likewise
//	host registry.npmjs.org     a host that a proxy was asked for, with its
//	                            port where that is not 80 or 443
//
// What Landlock or the filter refuses by itself is not listed: reading a file, a
// kind of socket, everything at the level read-only. A listed refusal need not
// be why a command failed: programs try more than they need.
type Refusal struct {
	Act, Target string
	Rule        string // the person's, "" for none
}

func (r Refusal) String() string { return r.Act + " " + r.Target }

// maxRefusals is how many refusals of a command are kept, the first ones.
const maxRefusals = 100

// refusals collects what a command was refused, each once, in order.
type refusals struct {
	mu   sync.Mutex
	list []Refusal
}

func (r *refusals) add(act, target string) {
	r.addRuled(process.Refusal{Act: act, What: target})
}

func (r *refusals) addRuled(x process.Refusal) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if n := (Refusal{x.Act, x.What, x.Rule}); len(r.list) < maxRefusals && !slices.Contains(r.list, n) {
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

func (r *refusals) all() []Refusal {
	r.mu.Lock()
	defer r.mu.Unlock()
	return slices.Clone(r.list)
}
