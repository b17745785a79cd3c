package setup

import (
	"fmt"
	"slices"
	"strings"
	"sync"

	"github.com/pawl-agent/pawl/internal/adapter/keyring"
	"github.com/pawl-agent/pawl/internal/adapter/settings"
	"github.com/pawl-agent/pawl/internal/core/vault"
)

// Keys are the keys that `pawl login` stored, by the names of the variables that would
// hold them. Each key is read once, when it is first needed.
type Keys struct {
	vault vault.Vault

	mu   sync.Mutex
	read map[string]string
}

// Keys returns the stored keys. It reads none of them.
func (e *Environment) Keys() *Keys { return &e.process().keys }

func (k *Keys) openVault(env func(string) string) {
	k.read = map[string]string{}
	paths, err := settings.PathsFrom(env)
	if err != nil {
		return
	}
	k.vault = vault.Vault{Dir: paths.Keys()}
	if ring, ok := keyring.Open(env); ok {
		k.vault.Ring = ring
	}
}

// Keep stores a key, and returns the place where it is stored.
func (k *Keys) Keep(name, key string) (where string, err error) {
	if err := k.vault.Set(name, []byte(key)); err != nil {
		return "", fmt.Errorf("store the key: %w", err)
	}
	k.mu.Lock()
	defer k.mu.Unlock()
	k.read[name] = key
	if in, err := k.vault.InRing(name); err == nil && in {
		return "in the system's keyring", nil
	}
	return "in a file in " + k.vault.Dir, nil
}

// Forget deletes a key, and reports whether it was stored.
func (k *Keys) Forget(name string) (had bool, err error) { return k.vault.Delete(name) }

// Get returns a stored key, or "" if it cannot be read.
func (k *Keys) Get(name string) string {
	k.mu.Lock()
	defer k.mu.Unlock()
	if v, ok := k.read[name]; ok {
		return v
	}
	raw, err := k.vault.Get(name)
	if err != nil {
		raw = nil // the error names it as missing, as without a key
	}
	k.read[name] = strings.TrimSpace(string(raw))
	return k.read[name]
}

// values returns the keys that were read so far.
func (k *Keys) values() []string {
	k.mu.Lock()
	defer k.mu.Unlock()
	var out []string
	for _, v := range k.read {
		if v != "" {
			out = append(out, v)
		}
	}
	slices.Sort(out)
	return out
}
