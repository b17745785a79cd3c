package progress

import "github.com/pawl-agent/pawl/internal/core/tool"

// Kind is what a step does, whatever its tool is called.
type Kind string

// The kinds of steps. Test is a test or a build: its outcome tells whether the
// project is sound. None is a reply without a call, or one that was refused
// before it became a call.
const (
	Read        = Kind(tool.Read)
	Search      = Kind(tool.Search)
	Edit        = Kind(tool.Edit)
	Exec        = Kind(tool.Exec)
	Test   Kind = "test"
	Wait        = Kind(tool.Wait)
	Think  Kind = "think"
	Submit Kind = "submit"
	None   Kind = "none"
)

// File is a content that a step left. Hash is that of the content; a
// file that was deleted has a hash of its own choosing, such as "deleted".
type File struct {
	Path, Hash string
}

// Step is one call and what came of it. Its strings are compared and never
// read: hashes do as well as texts. Empty means not known, or none.
type Step struct {
	Tool   string
	Kind   Kind
	Target string // the file or the thing it is about
	Args   string // the arguments, canonical
	OK     bool
	Error  string // of a failed one: what Error returns
	Exact  string // the result as it came
	Norm   string // the result as Result returns it; Exact where empty
	Len    int    // of the result, in bytes
	Edit   string // the arguments of an edit
	Shell  bool   // the edit is a command, which may be a log that grows
	State  string // the content of Target after it
	Files  []File // further contents it left
	Before []File // contents that were there before it: to return to one is not progress
	// Message is what the model said, on the first call of a reply; empty where
	// it said nothing.
	Message string
	// Blocked: the ladder kept it from running. It counts as what it was when
	// it last ran.
	Blocked bool
	// Patient: it waits for what is known to be under way, such as a job that
	// runs, or a limit that passes. It can warn and never halts.
	Patient bool
	// Blind: nothing is known of its result. Of a success the best is assumed:
	// it can warn and never halts.
	Blind bool
}

// hash is FNV-1a over strings, kept apart by a zero byte. It needs to be the
// same in every process, and quick.
func hash(ss ...string) uint64 {
	h := uint64(14695981039346656037)
	for _, s := range ss {
		for i := range len(s) {
			h = (h ^ uint64(s[i])) * 1099511628211
		}
		h *= 1099511628211
	}
	return h
}

// memo is a bounded map: two generations, of which the older one is dropped
// when the younger is full. What is asked for stays.
type memo[V any] struct {
	limit    int
	now, old map[uint64]V
}

// memoLimit is the size of a generation. Two of them outlast every stretch
// that a rule looks back on.
const memoLimit = 1 << 13

func (m *memo[V]) get(k uint64) (V, bool) {
	if v, ok := m.now[k]; ok {
		return v, true
	}
	v, ok := m.old[k]
	if ok {
		m.put(k, v)
	}
	return v, ok
}

func (m *memo[V]) put(k uint64, v V) {
	if m.limit == 0 {
		m.limit = memoLimit
	}
	if m.now == nil {
		m.now = make(map[uint64]V)
	}
	if _, ok := m.now[k]; !ok && len(m.now) >= m.limit {
		m.old, m.now = m.now, make(map[uint64]V)
	}
	m.now[k] = v
}

func (m *memo[V]) has(k uint64) bool {
	_, ok := m.get(k)
	return ok
}

func (m *memo[V]) clear() {
	if len(m.now) > 0 || len(m.old) > 0 {
		m.now, m.old = nil, nil
	}
}
