package progress

import (
	"cmp"

	"github.com/pawl-agent/pawl/internal/core/tool"
)

// Kind is what a step does, whatever its tool is called.
type Kind string

// The kinds of steps. Test is a test or a build: its outcome shows whether the
// project works. None is a reply without a call, or one that was refused before
// it became a call.
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

// File is a content that a step left. Hash is the content's hash; a deleted
// file has any fixed value, such as "deleted".
type File struct {
	Path, Hash string
}

// Step is one call and its result. Its strings are only compared: hashes are as
// good as texts. Empty means not known, or none.
type Step struct {
	Tool   string
	Kind   Kind
	Target string // the file or the thing that it works on
	Args   string // the arguments, canonical
	OK     bool
	Error  string // the error of a failed one, as Error returns it
	Tested bool   // it passed, and its output shows that a test ran
	// Verb and Subject are its question, see Question; empty: not known.
	Verb, Subject string
	Exact         string // the original result
	Norm          string // the result as Result returns it; if empty, Exact
	// Form is the result without numbers and ids, Numbers those of its numbers that
	// may measure something: an answer of a known form with other numbers is news
	// only if a number goes where it never was. Empty: every other text is news.
	Form    string
	Numbers []float64
	Pending bool   // it says that something is not finished
	Len     int    // of the result, in bytes
	Edit    string // the arguments of an edit
	// Gist is the edit without what changes nothing: white space, and numbers in
	// comments. Cosmetic: that is all that it changes.
	Gist     string
	Cosmetic bool
	Shell    bool   // the edit is a command, for example one that appends to a log
	State    string // the content of Target after the step
	Files    []File // other contents that it left
	Before   []File // contents before the step: restoring one is not progress
	// Message is the model's text, on the first call of a reply; empty if there is none.
	Message string
	// Blocked: the escalation kept it from running. It counts like its last run.
	Blocked bool
	// Shown: it showed lines of files, also where it was refused for want of them.
	Shown bool
	// Patient: it waits for something that is known to be running, such as a
	// job, or a limit that expires. It can warn but never halts.
	Patient bool
	// Blind: its result is not known. A success counts as new: it can warn but
	// never halts.
	Blind bool
}

// hash is FNV-1a over strings, separated by a zero byte. It must be fast and
// the same in every process.
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

// memo is a map of limited size with two generations: when the younger one is
// full, the older one is dropped. Entries that are used stay.
type memo[V any] struct {
	limit    int
	now, old map[uint64]V
}

// memoLimit is the size of a generation. Two generations cover everything that
// a rule looks back on.
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
	m.limit = cmp.Or(m.limit, memoLimit)
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
