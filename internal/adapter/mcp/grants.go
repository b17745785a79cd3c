package mcp

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"time"

	"golang.org/x/oauth2"

	"github.com/pawl-agent/pawl/internal/core/atomicfile"
	"github.com/pawl-agent/pawl/internal/core/filelock"
)

// Grant is the right to call a server, as its authorization server gave it.
type Grant struct {
	URL        string           `json:"url"` // of the server
	Resource   string           `json:"resource,omitempty"`
	SignedInAt string           `json:"signed_in_at,omitempty"`
	TokenURL   string           `json:"token_url"`
	Client     string           `json:"client"`
	Secret     string           `json:"secret,omitempty"`
	Style      oauth2.AuthStyle `json:"style,omitempty"`
	Scopes     []string         `json:"scopes,omitempty"`
	Wanted     []string         `json:"wanted,omitempty"` // that the server asked for since
	Access     string           `json:"access"`
	Refresh    string           `json:"refresh,omitempty"`
	Expires    time.Time        `json:"expires,omitzero"`
}

// over reports whether the token has ended, or is about to.
func (g *Grant) over(now time.Time) bool {
	return !g.Expires.IsZero() && now.Add(30*time.Second).After(g.Expires)
}

// Ring is the system's keyring.
type Ring interface {
	Get(name string) (string, error)
	Set(name, secret string) error
	Delete(name string) error
}

// Grants keeps what servers granted: in the system's keyring, or where there is
// none in a file that only the person can read. The zero value keeps nothing.
type Grants struct {
	// Dir is the folder of the files. A file is there for each grant, so that
	// the keyring is asked only for what it has.
	Dir  string
	Ring Ring // nil: there is none
}

// inRing marks a grant that the keyring has.
const inRing = `{"keyring":true}`

// ringTime is how long a keyring may take: one may ask the person something.
const ringTime = 20 * time.Second

// maxGrant is the size limit of a grant, in bytes.
const maxGrant = 256 << 10

func (s Grants) file(key string) string { return filepath.Join(s.Dir, key+".json") }

// Get returns the grant of a key, nil for none.
func (s Grants) Get(key string) (*Grant, error) {
	if s.Dir == "" {
		return nil, nil
	}
	name := s.file(key)
	raw, err := readOwn(name, maxGrant)
	if raw == nil || err != nil {
		return nil, err
	}
	if strings.TrimSpace(string(raw)) == inRing {
		if s.Ring == nil {
			return nil, errors.New("its token is in the system's keyring, which can not be reached here")
		}
		text, err := timed(func() (string, error) { return s.Ring.Get(key) })
		if err != nil {
			return nil, fmt.Errorf("the system's keyring: %w", err)
		}
		raw = []byte(text)
	}
	g := new(Grant)
	if err := json.Unmarshal(raw, g); err != nil {
		return nil, fmt.Errorf("%s can not be read, sign in again: %w", name, err)
	}
	return g, nil
}

// Update changes a grant; nil removes it. No other pawl changes it meanwhile:
// a token that is used to renew is often good for once.
func (s Grants) Update(ctx context.Context, key string, change func(*Grant) (*Grant, error)) error {
	if s.Dir == "" {
		g, err := change(nil)
		if g != nil && err == nil {
			err = errors.New("no tokens are kept here")
		}
		return err
	}
	if err := os.MkdirAll(s.Dir, 0o700); err != nil {
		return err
	}
	unlock, err := s.lock(ctx, key)
	if err != nil {
		return err
	}
	defer unlock()
	was, err := s.Get(key)
	if err != nil {
		was = nil // a sign-in replaces what can not be read
	}
	var had Grant
	if was != nil {
		had = *was
	}
	g, err := change(was)
	if err != nil {
		return err
	}
	if g == nil {
		return s.remove(key)
	}
	raw, err := json.Marshal(g)
	if err != nil {
		return err
	}
	if old, err := json.Marshal(had); err == nil && string(old) == string(raw) {
		return nil
	}
	if s.Ring != nil {
		if _, err := timed(func() (string, error) { return "", s.Ring.Set(key, string(raw)) }); err == nil {
			return atomicfile.Write(s.file(key), []byte(inRing), 0o600)
		}
	}
	return atomicfile.Write(s.file(key), raw, 0o600)
}

func (s Grants) remove(key string) error {
	raw, err := os.ReadFile(s.file(key))
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err == nil && strings.TrimSpace(string(raw)) == inRing && s.Ring != nil {
		if _, err := timed(func() (string, error) { return "", s.Ring.Delete(key) }); err != nil {
			return fmt.Errorf("the system's keyring: %w", err)
		}
	}
	return os.Remove(s.file(key))
}

// lock waits for the lock of a key.
func (s Grants) lock(ctx context.Context, key string) (unlock func(), err error) {
	f, err := os.OpenFile(filepath.Join(s.Dir, key+".lock"), os.O_CREATE|os.O_RDWR, 0o600)
	if err != nil {
		return nil, err
	}
	for {
		if err = filelock.Try(f); err == nil {
			return func() { _ = f.Close() }, nil
		}
		if errors.Is(err, filelock.ErrLocked) {
			err = sleep(ctx, 20*time.Millisecond)
		}
		if err != nil {
			_ = f.Close()
			return nil, err
		}
	}
}

// timed bounds what a keyring takes, which knows no context.
func timed(do func() (string, error)) (string, error) {
	type answer struct {
		text string
		err  error
	}
	got := make(chan answer, 1)
	go func() {
		text, err := do()
		got <- answer{text, err}
	}()
	t := time.NewTimer(ringTime)
	defer t.Stop()
	select {
	case a := <-got:
		return a.text, a.err
	case <-t.C:
		return "", fmt.Errorf("no answer within %s", ringTime)
	}
}
