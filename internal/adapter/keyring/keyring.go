// Package keyring keeps secrets in the system's keyring: Keychain, Credential
// Manager, or the Secret Service of a Linux desktop.
//
// It promises to start nothing where there is none: on Linux the keyring is
// asked only where a session bus is announced. It refuses nothing: what a
// keyring does not take is the caller's to keep elsewhere.
package keyring

import (
	"errors"
	"runtime"

	system "github.com/zalando/go-keyring"
)

// service is the name of pawl's entries.
const service = "pawl"

// Ring is the system's keyring.
type Ring struct{}

// Open returns the keyring; ok is false where there is none. It asks nothing.
func Open(env func(string) string) (r Ring, ok bool) {
	switch runtime.GOOS {
	case "darwin", "windows":
		return r, true
	case "linux", "freebsd", "openbsd", "netbsd", "dragonfly":
		return r, env("DBUS_SESSION_BUS_ADDRESS") != ""
	}
	return r, false
}

func (Ring) Get(name string) (string, error) { return system.Get(service, name) }

func (Ring) Set(name, secret string) error { return system.Set(service, name, secret) }

// Delete removes a secret. It returns nil if there is none.
func (Ring) Delete(name string) error {
	if err := system.Delete(service, name); err != nil && !errors.Is(err, system.ErrNotFound) {
		return err
	}
	return nil
}
