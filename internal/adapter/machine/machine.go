// Package machine tells whether the machine has room left for more work:
// memory, in the container where pawl runs in one, and disk (SPEC 15.1).
//
// It promises to be cheap, some ten microseconds, and to say nothing where it
// knows nothing: on systems whose memory it cannot read, memory is never short.
package machine

import (
	"fmt"
	"sync"
	"time"
)

// Limits are how much must be free, in bytes; 0 does not look.
type Limits struct{ Memory, Disk uint64 }

// Machine is what is watched. It is safe for concurrent use.
type Machine struct {
	limits  Limits
	folders []string
	now     func() time.Time
	memory  func() (free uint64, known bool)
	disk    func(folder string) (free uint64, known bool)

	mu   sync.Mutex
	seen time.Time
	what string
	why  string
}

// fresh is how long a look is believed.
const fresh = time.Second

// New watches the memory and the disks that have the folders.
func New(l Limits, now func() time.Time, folders ...string) *Machine {
	return &Machine{limits: l, folders: folders, now: now, memory: memory, disk: disk}
}

// Pressure returns what there is too little of (memory, disk) and why, in a
// sentence's start; both are empty where there is enough.
func (m *Machine) Pressure() (what, why string) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if now := m.now(); m.seen.IsZero() || now.Sub(m.seen) >= fresh || now.Before(m.seen) {
		m.seen = now
		m.what, m.why = m.look()
	}
	return m.what, m.why
}

func (m *Machine) look() (what, why string) {
	if free, known := m.memory(); known && free < m.limits.Memory {
		return "memory", fmt.Sprintf("only %s of memory is left, and %s must be (resources.memory_mb)", size(free), size(m.limits.Memory))
	}
	for _, f := range m.folders {
		if free, known := m.disk(f); known && free < m.limits.Disk {
			return "disk", fmt.Sprintf("only %s is left on the disk of %s, and %s must be (resources.disk_mb)", size(free), f, size(m.limits.Disk))
		}
	}
	return "", ""
}

func size(n uint64) string {
	if n < 10<<20 {
		return fmt.Sprintf("%d KB", n>>10)
	}
	return fmt.Sprintf("%d MB", n>>20)
}
