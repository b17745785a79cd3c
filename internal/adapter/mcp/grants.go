package mcp

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"time"

	"golang.org/x/oauth2"

	"github.com/pawl-agent/pawl/internal/core/filelock"
	"github.com/pawl-agent/pawl/internal/core/vault"
)

// Grant is the right to call a server, as its authorization server issued it.
type Grant struct {
	URL        string           `json:"url"` // of the server
	Resource   string           `json:"resource,omitempty"`
	SignedInAt string           `json:"signed_in_at,omitempty"`
	TokenURL   string           `json:"token_url"`
	Client     string           `json:"client"`
	Secret     string           `json:"secret,omitempty"`
	Style      oauth2.AuthStyle `json:"style,omitempty"`
	Scopes     []string         `json:"scopes,omitempty"`
	Wanted     []string         `json:"wanted,omitempty"` // scopes that the server has asked for since
	Access     string           `json:"access"`
	Refresh    string           `json:"refresh,omitempty"`
	Expires    time.Time        `json:"expires,omitzero"`
}

// over reports whether the token has expired, or expires within 30 seconds.
func (g *Grant) over(now time.Time) bool {
	return !g.Expires.IsZero() && now.Add(30*time.Second).After(g.Expires)
}

// Grants stores what servers granted: in the system's keyring, or without one in a file
// that only the person can read. The zero value stores nothing.
type Grants struct {
	Dir  string        // of the files
	Ring vault.Keyring // nil: there is none
}

func (s Grants) vault() vault.Vault { return vault.Vault{Dir: s.Dir, Ring: s.Ring} }

// Get returns the grant of a key, or nil if there is none.
func (s Grants) Get(key string) (*Grant, error) {
	raw, err := s.vault().Get(key)
	if raw == nil || err != nil {
		return nil, err
	}
	g := new(Grant)
	if err := json.Unmarshal(raw, g); err != nil {
		return nil, fmt.Errorf("the token cannot be read, sign in again: %w", err)
	}
	return g, nil
}

// Update changes a grant; if change returns nil, the grant is removed. No other pawl
// changes it at the same time, since a token for renewal is often valid only once.
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
		was = nil // a sign-in replaces an unreadable grant
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
		_, err := s.vault().Delete(key)
		return err
	}
	raw, err := json.Marshal(g)
	if err != nil {
		return err
	}
	if old, err := json.Marshal(had); err == nil && string(old) == string(raw) {
		return nil
	}
	return s.vault().Set(key, raw)
}

// lock waits for the lock of a key.
func (s Grants) lock(ctx context.Context, key string) (unlock func(), err error) {
	return lockFile(ctx, filepath.Join(s.Dir, key+".lock"))
}

// lockFile waits for the lock of a file.
func lockFile(ctx context.Context, name string) (unlock func(), err error) {
	f, err := os.OpenFile(name, os.O_CREATE|os.O_RDWR, 0o600)
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
