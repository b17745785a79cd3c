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

// This file makes the temporary names of writes, in their targets' folders. Searches
// and listings skip them. A crash may leave one; the first write in its folder
// by a later process then removes it.
//
// A name contains its creation time and the contents that it may have: new
// content (no hashes), or one of two, the checked one and its replacement. A
// file with any other content is someone's and is never removed.
const (
	tempPrefix, tempSuffix = ".pawl-", ".tmp"
	tempDigits             = 16 // of the time and of random bits
	hashDigits             = 16 // of each hash
	tempAge                = 10 * time.Minute
)

// tempName returns an unused name for new content.
func (s *shared) tempName() string {
	var b [4]byte
	_, _ = rand.Read(b[:]) // never fails
	return fmt.Sprintf("%s%08x%s%s", tempPrefix, uint32(s.now().Unix()), hex.EncodeToString(b[:]), tempSuffix)
}

// oldName returns a name for displaced content: it has one of two contents.
func (s *shared) oldName(a, b tool.Hash) string {
	return strings.TrimSuffix(s.tempName(), tempSuffix) + string(a[:hashDigits]) + string(b[:hashDigits]) + tempSuffix
}

func isTemp(name string) bool {
	_, _, ok := parseTemp(name)
	return ok
}

// parseTemp parses a name; hashes is "" for new content.
func parseTemp(name string) (made time.Time, hashes string, ok bool) {
	name, pre := strings.CutPrefix(name, tempPrefix)
	name, post := strings.CutSuffix(name, tempSuffix)
	if !pre || !post || len(name) != tempDigits && len(name) != tempDigits+2*hashDigits || strings.Trim(name, "0123456789abcdef") != "" {
		return made, "", false
	}
	sec, err := strconv.ParseInt(name[:8], 16, 64)
	return time.Unix(sec, 0), name[tempDigits:], err == nil
}

// sweep removes what writes of dead processes left in a folder. Errors are
// ignored: the next process tries again.
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
		f, err := readNoFollow(dir, name, 0)
		switch {
		case err != nil && !errors.As(err, new(*SpecialError)):
		case hashes == "" && err == nil, err == nil && matchesHash(f.Hash, hashes):
			_ = dir.Remove(name)
		default: // someone saved it just before the process died
			expose(dir, name, "found")
		}
	}
}

func matchesHash(h tool.Hash, hashes string) bool {
	return strings.HasPrefix(string(h), hashes[:hashDigits]) || strings.HasPrefix(string(h), hashes[hashDigits:])
}

// expose renames a content that must not be lost to a visible name; if that
// fails too, it keeps its name.
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
