// Package vault keeps secrets in the system's keyring, or without one in files that
// only the person can read. It promises that a secret which the keyring accepted is in
// no file, and that the keyring is asked only for secrets that it has: a file marks
// them.
package vault

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/pawl-agent/pawl/internal/core/atomicfile"
)

// Keyring is the keyring of the operating system.
type Keyring interface {
	Get(name string) (string, error)
	Set(name, secret string) error
	Delete(name string) error
}

// Vault keeps secrets by their names, which are parts of file names. The zero value
// keeps nothing.
type Vault struct {
	Dir  string  // of the files
	Ring Keyring // nil: there is none
}

// inRing marks a secret that the keyring has.
const inRing = `{"keyring":true}`

// ringTime is how long a keyring may take: one may ask the person something.
const ringTime = 20 * time.Second

// most is the size limit of a secret, in bytes.
const most = 256 << 10

func (v Vault) file(name string) string { return filepath.Join(v.Dir, name+".json") }

// Get returns a secret, nil for none.
func (v Vault) Get(name string) ([]byte, error) {
	if v.Dir == "" {
		return nil, nil
	}
	raw, err := atomicfile.Read(v.file(name), most)
	if raw == nil || err != nil || strings.TrimSpace(string(raw)) != inRing {
		return raw, err
	}
	if v.Ring == nil {
		return nil, errors.New("it is in the system's keyring, which cannot be reached here")
	}
	text, err := withTimeout(func() (string, error) { return v.Ring.Get(name) })
	if err != nil {
		return nil, fmt.Errorf("the system's keyring: %w", err)
	}
	return []byte(text), nil
}

func (v Vault) Set(name string, secret []byte) error {
	if v.Dir == "" {
		return errors.New("no secrets are kept here")
	}
	if err := os.MkdirAll(v.Dir, 0o700); err != nil {
		return err
	}
	if v.Ring != nil {
		if _, err := withTimeout(func() (string, error) { return "", v.Ring.Set(name, string(secret)) }); err == nil {
			return atomicfile.Write(v.file(name), []byte(inRing), 0o600)
		}
	}
	return atomicfile.Write(v.file(name), secret, 0o600)
}

// Delete removes a secret, and reports whether there was one.
func (v Vault) Delete(name string) (was bool, err error) {
	raw, err := os.ReadFile(v.file(name))
	if v.Dir == "" || errors.Is(err, fs.ErrNotExist) {
		return false, nil
	}
	if err == nil && strings.TrimSpace(string(raw)) == inRing && v.Ring != nil {
		if _, err := withTimeout(func() (string, error) { return "", v.Ring.Delete(name) }); err != nil {
			return true, fmt.Errorf("the system's keyring: %w", err)
		}
	}
	return true, os.Remove(v.file(name))
}

// InRing reports whether the keyring has a secret.
func (v Vault) InRing(name string) (bool, error) {
	raw, err := atomicfile.Read(v.file(name), most)
	return strings.TrimSpace(string(raw)) == inRing, err
}

// withTimeout bounds what a keyring takes, which knows no context.
func withTimeout(do func() (string, error)) (string, error) {
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
