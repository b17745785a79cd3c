package memory

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/pawl-agent/pawl/internal/core/atomicfile"
)

// Answers is the cache of answers: one file for each question. Its modification time is
// the last use.
type Answers struct {
	Dir string
	Now func() time.Time
}

// Question holds what an answer depends on besides the files (SPEC 11.6).
type Question struct {
	Project string // its real path
	Model   string
	Text    string
	Told    string // the text of rules and preferences
	Pawl    string // pawl's version: another version asks differently
}

// Key returns the hash of the question. The amount of white space does not matter.
func (q Question) Key() string {
	h := sha256.New()
	for _, s := range []string{q.Project, q.Model, tidy(q.Text), q.Told, q.Pawl} {
		fmt.Fprintf(h, "%d:%s", len(s), s)
	}
	return hex.EncodeToString(h.Sum(nil))
}

// Answer is a stored answer, with the calls that the model made for it.
type Answer struct {
	Time  time.Time `json:"time"`
	Text  string    `json:"text"`
	Calls []Call    `json:"looks"`
}

// Call is a call that only reads, with its result. The answer is valid while the same
// call has the same result.
type Call struct {
	Tool  string          `json:"tool"`
	Args  json.RawMessage `json:"args"`
	Limit int             `json:"limit"` // bytes of the result that were shown
	Sum   string          `json:"sum"`   // the checksum of the result's text
}

// maxAnswers is how many answers are stored; the least recently used is removed first.
const maxAnswers = 500

// Get returns the answer to a question; false if none is stored or it cannot be read.
func (a Answers) Get(key string) (Answer, bool) {
	path := a.path(key)
	raw, err := os.ReadFile(path)
	var out Answer
	if err != nil || json.Unmarshal(raw, &out) != nil || out.Text == "" {
		return Answer{}, false
	}
	now := a.Now()
	_ = os.Chtimes(path, now, now) // the order of use need not be exact
	return out, true
}

func (a Answers) Put(key string, ans Answer) error {
	raw, err := json.Marshal(ans)
	if err != nil {
		return err
	}
	if err := os.MkdirAll(a.Dir, 0o700); err != nil {
		return fmt.Errorf("keep an answer: %w", err)
	}
	if err := atomicfile.Write(a.path(key), raw, 0o600); err != nil {
		return fmt.Errorf("keep an answer: %w", err)
	}
	return a.evict()
}

// Drop removes an answer that is no longer valid.
func (a Answers) Drop(key string) error {
	if err := os.Remove(a.path(key)); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	return nil
}

// Clear removes all answers and returns how many there were.
func (a Answers) Clear() (int, error) {
	es, err := a.entries()
	for _, e := range es {
		err = errors.Join(err, os.Remove(filepath.Join(a.Dir, e.Name())))
	}
	return len(es), err
}

// Len returns the number of stored answers.
func (a Answers) Len() (int, error) {
	es, err := a.entries()
	return len(es), err
}

func (a Answers) path(key string) string { return filepath.Join(a.Dir, key+".json") }

func (a Answers) entries() ([]fs.DirEntry, error) {
	es, err := os.ReadDir(a.Dir)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	return slices.DeleteFunc(es, func(e fs.DirEntry) bool { return !strings.HasSuffix(e.Name(), ".json") }), err
}

func (a Answers) evict() error {
	es, err := a.entries()
	if err != nil || len(es) <= maxAnswers {
		return err
	}
	used := map[string]time.Time{}
	for _, e := range es {
		if info, err := e.Info(); err == nil {
			used[e.Name()] = info.ModTime()
		}
	}
	slices.SortFunc(es, func(x, y fs.DirEntry) int { return used[x.Name()].Compare(used[y.Name()]) })
	for _, e := range es[:len(es)-maxAnswers] {
		if err := os.Remove(filepath.Join(a.Dir, e.Name())); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return err
		}
	}
	return nil
}
