package workspace

import (
	"crypto/rand"
	"encoding/hex"
	"errors"
	"fmt"
	"os"
	"strconv"
	"strings"
	"time"

	"github.com/pawl-agent/pawl/internal/core/tool"
)

// The names that a write uses beside its target. Searches and listings leave
// them out: one can be left by a crash, and then goes with the first write in
// its folder by a later process.
//
// A name holds when it was made and which content it may hold: new content on
// its way (no hashes), or one of two, that which was looked at and that which
// takes its place. What holds another content is someone's, and never removed.
const (
	tempPrefix, tempSuffix = ".pawl-", ".tmp"
	tempDigits             = 16 // of the time and of chance
	hashDigits             = 16 // of each hash
	tempAge                = 10 * time.Minute
)

// tempName is a name that nobody else uses, for new content.
func (s *shared) tempName() string {
	var b [4]byte
	_, _ = rand.Read(b[:]) // never fails
	return fmt.Sprintf("%s%08x%s%s", tempPrefix, uint32(s.now().Unix()), hex.EncodeToString(b[:]), tempSuffix)
}

// oldName is a name for displaced content: it holds one of two contents.
func (s *shared) oldName(a, b tool.Hash) string {
	return strings.TrimSuffix(s.tempName(), tempSuffix) + string(a[:hashDigits]) + string(b[:hashDigits]) + tempSuffix
}

func isTemp(name string) bool {
	_, _, ok := parseTemp(name)
	return ok
}

// parseTemp takes a name apart; hashes is "" for one of new content.
func parseTemp(name string) (made time.Time, hashes string, ok bool) {
	name, pre := strings.CutPrefix(name, tempPrefix)
	name, post := strings.CutSuffix(name, tempSuffix)
	if !pre || !post || len(name) != tempDigits && len(name) != tempDigits+2*hashDigits || strings.Trim(name, "0123456789abcdef") != "" {
		return made, "", false
	}
	sec, err := strconv.ParseInt(name[:8], 16, 64)
	return time.Unix(sec, 0), name[tempDigits:], err == nil
}

// sweep removes what writes of dead processes left in a folder. It is best
// effort: what stays is tried again by the next process.
func (w *Workspace) sweep(dir *os.Root, abs string) {
	w.mu.Lock()
	done := w.swept[abs]
	w.swept[abs] = true
	w.mu.Unlock()
	if done {
		return
	}
	d, err := dir.Open(".")
	if err != nil {
		return
	}
	defer d.Close()
	names, _ := d.Readdirnames(-1)
	for _, name := range names {
		made, hashes, ok := parseTemp(name)
		if age := w.now().Sub(made); !ok || age < tempAge {
			continue
		}
		f, err := readItself(dir, name, 0)
		switch {
		case err != nil && !errors.As(err, new(*SpecialError)):
		case hashes == "" && err == nil, err == nil && holdsOne(f.Hash, hashes):
			_ = dir.Remove(name)
		default: // someone saved it just before the process died
			expose(dir, name, "found")
		}
	}
}

func holdsOne(h tool.Hash, hashes string) bool {
	return strings.HasPrefix(string(h), hashes[:hashDigits]) || strings.HasPrefix(string(h), hashes[hashDigits:])
}

// expose puts a content that must not be lost at a name that a person sees; where
// that fails too, it keeps the one it has.
func expose(dir *os.Root, name, base string) string {
	seen := base + ".saved-" + name[len(tempPrefix):len(tempPrefix)+tempDigits]
	if renameNew(dir, name, seen) == nil {
		return seen
	}
	if dir.Link(name, seen) == nil {
		_ = dir.Remove(name)
		return seen
	}
	return name
}
