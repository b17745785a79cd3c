package workspace

import (
	"crypto/rand"
	"encoding/hex"
	"fmt"
	"io/fs"
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
// A name says when it was made and which content it may hold: new content on
// its way (no hash), or what was displaced (the hash that it had when it was
// looked at). What holds another content is someone's, and is never removed.
const (
	tempPrefix, tempSuffix = ".pawl-", ".tmp"
	tempDigits             = 16 // of the time and of chance
	hashDigits             = 16 // of the displaced content's hash
	tempAge                = 10 * time.Minute
)

// tempName is a name that nobody else uses, for new content.
func (s *shared) tempName() string {
	var b [4]byte
	_, _ = rand.Read(b[:]) // never fails
	return fmt.Sprintf("%s%08x%s%s", tempPrefix, uint32(s.now().Unix()), hex.EncodeToString(b[:]), tempSuffix)
}

// oldName is a name for displaced content.
func (s *shared) oldName(h tool.Hash) string {
	return strings.TrimSuffix(s.tempName(), tempSuffix) + string(h[:hashDigits]) + tempSuffix
}

func isTemp(name string) bool {
	_, _, ok := parseTemp(name)
	return ok
}

// parseTemp takes a name apart; of is "" for one of new content.
func parseTemp(name string) (made time.Time, of string, ok bool) {
	name, pre := strings.CutPrefix(name, tempPrefix)
	name, post := strings.CutSuffix(name, tempSuffix)
	if !pre || !post || len(name) != tempDigits && len(name) != tempDigits+hashDigits || strings.Trim(name, "0123456789abcdef") != "" {
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
		made, of, ok := parseTemp(name)
		if age := w.now().Sub(made); !ok || age < tempAge {
			continue
		}
		if of != "" {
			f, err := readItself(dir, name, 0)
			if err != nil || !strings.HasPrefix(string(f.Hash), of) {
				continue
			}
		}
		if info, err := dir.Lstat(name); err == nil && (info.Mode().IsRegular() || info.Mode()&fs.ModeSymlink != 0) {
			_ = dir.Remove(name)
		}
	}
}

// expose gives a content that must not be lost a name that a person sees; where
// that fails too, it keeps the one it has.
func expose(dir *os.Root, name, base string) string {
	seen := base + ".saved" + name[len(tempPrefix):len(tempPrefix)+tempDigits]
	if renameNew(dir, name, seen) == nil {
		return seen
	}
	if dir.Link(name, seen) == nil {
		_ = dir.Remove(name)
		return seen
	}
	return name
}
