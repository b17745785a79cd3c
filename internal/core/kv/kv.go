// Package kv defines small key-value stores (SPEC 14.5), for a swarm's data outside of
// its log. kv/kvtest tests the contract for every store.
//
// Promised: a value survives the death of the process after Save or Swap returned
// without an error. A value is read whole or not at all. A version is never used twice
// for one key, even after the key was deleted, so a Swap that succeeds saw the newest
// value. Keys are bytes: a store distinguishes keys that differ only in case, and
// accepts names that a file system or a server reserves. A store is safe for concurrent
// use, and several processes may open the same one.
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

// Version identifies one write of a key. The zero value means that the key does not
// exist.
type Version string

// Entry is the value of a key with its version.
type Entry struct {
	Value   []byte
	Version Version
}

// Store is a key-value store.
type Store interface {
	// Load returns the entry of a key, or ErrNone.
	Load(ctx context.Context, key string) (Entry, error)
	// Save stores a value and replaces an earlier one.
	Save(ctx context.Context, key string, value []byte) (Version, error)
	// Swap stores a value if the key still has the version, otherwise it returns
	// ErrChanged. With the zero Version the key must not exist.
	Swap(ctx context.Context, key string, was Version, value []byte) (Version, error)
	// Delete removes a key. A missing key is not an error.
	Delete(ctx context.Context, key string) error
	Exists(ctx context.Context, key string) (bool, error)
	// List returns the keys with a prefix, sorted. A key that exists the whole time is
	// listed once, whatever others write.
	List(ctx context.Context, prefix string) ([]string, error)
}

// Check returns an error for a key or value that no store accepts.
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

// Escape returns a key in characters that every store accepts: lower case letters,
// digits, - and _, and for any other byte = with two hexadecimal digits. A prefix of
// the key is a prefix of the escaped key.
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

// Unescape is the inverse of Escape. ok is false for a text that Escape never returns.
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
