// Package kv is the contract of small stores of values under keys (SPEC 14.5):
// what is kept of a swarm beside its log. kv/kvtest holds every store to it.
//
// Promised: what a Save or Swap returned without an error for is there after the
// death of the process. A value is read whole or not at all. Versions are never
// used twice for one key, also not after it was deleted, so a Swap that succeeds
// saw the newest value. Keys are bytes: no two keys are the same to a store, be
// they equal but for case, or what a file system or a server reserves. The
// methods may be called from anywhere; several open stores, also of several
// processes, may share what is kept.
//
// Refused: keys that are empty or longer than MaxKey, values longer than
// MaxValue.
package kv

import (
	"context"
	"errors"
	"fmt"
	"strings"
)

// Limits of every store. A message of NATS is at most 1 MiB, and a file name of
// any system at most 255 bytes.
const (
	MaxKey   = 64
	MaxValue = 512 << 10
)

// Errors of stores.
var (
	ErrNone    = errors.New("there is no such key")
	ErrChanged = errors.New("the value was changed meanwhile")
	ErrLimit   = errors.New("the store does not take it")
	ErrDamaged = errors.New("the stored value is damaged")
)

// Version tells one write of a key from all others. The zero value stands for a
// key that is not there.
type Version string

// Entry is what is kept under a key.
type Entry struct {
	Value   []byte
	Version Version
}

// Store keeps values under keys.
type Store interface {
	// Load returns what is kept under a key, or ErrNone.
	Load(ctx context.Context, key string) (Entry, error)
	// Save keeps a value, whatever was there before.
	Save(ctx context.Context, key string, value []byte) (Version, error)
	// Swap keeps a value where the key is still at a version, and returns
	// ErrChanged where it is not. The zero Version: where there is no such key.
	Swap(ctx context.Context, key string, was Version, value []byte) (Version, error)
	// Delete removes a key. One that is not there is not an error.
	Delete(ctx context.Context, key string) error
	Exists(ctx context.Context, key string) (bool, error)
	// List returns the keys that begin with a prefix, sorted. A key that is there
	// the whole time is in it once, whatever others write.
	List(ctx context.Context, prefix string) ([]string, error)
}

// Check refuses what no store takes.
func Check(key string, value []byte) error {
	switch {
	case key == "":
		return fmt.Errorf("%w: the key is empty", ErrLimit)
	case len(key) > MaxKey:
		return fmt.Errorf("%w: the key %.20q… has %d bytes, at most %d are possible", ErrLimit, key, len(key), MaxKey)
	case len(value) > MaxValue:
		return fmt.Errorf("%w: the value of %q has %d bytes, at most %d are possible", ErrLimit, key, len(value), MaxValue)
	}
	return nil
}

const hexDigits = "0123456789abcdef"

// Escape returns a key in letters that every store can keep: lower case, digits,
// - and _, and = with two hexadecimal digits for any other byte. A prefix of the
// key is a prefix of the escaped one.
func Escape(key string) string {
	var b strings.Builder
	for i := range len(key) {
		c := key[i]
		if c >= 'a' && c <= 'z' || c >= '0' && c <= '9' || c == '-' || c == '_' {
			b.WriteByte(c)
			continue
		}
		b.Write([]byte{'=', hexDigits[c>>4], hexDigits[c&15]})
	}
	return b.String()
}

// Unescape returns the key that Escape made escaped of. ok is false for what
// Escape never returns.
func Unescape(escaped string) (key string, ok bool) {
	var b strings.Builder
	for i := 0; i < len(escaped); i++ {
		c := escaped[i]
		if c == '=' {
			if i+2 >= len(escaped) {
				return "", false
			}
			hi, lo := strings.IndexByte(hexDigits, escaped[i+1]), strings.IndexByte(hexDigits, escaped[i+2])
			if hi < 0 || lo < 0 {
				return "", false
			}
			c = byte(hi<<4 | lo)
			i += 2
		}
		b.WriteByte(c)
	}
	key = b.String()
	return key, Escape(key) == escaped
}
