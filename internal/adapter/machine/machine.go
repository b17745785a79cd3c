// Package machine reports whether the machine has resources for more work:
// memory, of the container if pawl runs in one, and disk (SPEC 15.1).
//
// It promises to be fast, about ten microseconds, and to report nothing that it
// does not know: on systems whose memory it cannot read, memory is never short.
package machine

import (
	"fmt"
	"sync"
	"time"
)

// Limits are how much must be free, in bytes; 0 switches the check off.
type Limits struct{ Memory, Disk uint64 }

// Machine watches resources. It is safe for concurrent use.
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

// fresh is how long a measurement is used.
const fresh = 200 * time.Millisecond

// New watches the memory and the disks that have the folders; now may be nil.
func New(l Limits, now func() time.Time, folders ...string) *Machine {
	if now == nil {
		now = time.Now
	}
	return &Machine{limits: l, folders: folders, now: now, memory: memory, disk: disk}
}

// Pressure returns which resource is short (memory, disk) and why, as the
// beginning of a sentence; both are empty if there is enough.
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
