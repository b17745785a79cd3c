package settings

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"

	"github.com/pawl-agent/pawl/internal/core/atomicfile"
	"github.com/pawl-agent/pawl/internal/core/editdistance"
	"github.com/pawl-agent/pawl/internal/core/fault"
	"github.com/pawl-agent/pawl/internal/core/jsonc"
	"github.com/pawl-agent/pawl/internal/policy/guidance"
	"github.com/pawl-agent/pawl/internal/policy/progress"
)

// This file reads and changes single keys of a person's configuration (SPEC 17.5).

// User returns the path of the user's configuration file.
func (p Paths) User() string { return filepath.Join(p.Config, "config.json") }

// Project returns the path of a project's configuration file.
func Project(dir string) string { return filepath.Join(dir, filepath.FromSlash(guidance.Settings)) }

// Config is a configuration file with its path: a person's, or a project's, which can only
// restrict.
type Config struct {
	Path    string
	Project bool
}

// projectKeys are what a project's file may set.
var projectKeys = []string{"permissions.ask", "permissions.deny", "hooks"}

// Get returns the value of a key, such as budget.usd, as JSON. ok is false if the file
// does not set it. An unknown key is an error (ErrKey).
func (c Config) Get(key string) (value []byte, ok bool, err error) {
	keys, _, err := keysOf(key)
	if err != nil {
		return nil, false, err
	}
	raw, err := c.read()
	if err != nil || len(raw) == 0 {
		return nil, false, err
	}
	value, ok, err = jsonc.Get(raw, keys...)
	if err != nil {
		err = c.bad(err)
	}
	return value, ok, err
}

// All returns all keys that the file sets, sorted by name, and their values as JSON.
func (c Config) All() (keys []string, values map[string]json.RawMessage, err error) {
	values = map[string]json.RawMessage{}
	raw, err := c.read()
	if err != nil || len(raw) == 0 {
		return nil, values, err
	}
	if err := decode(c.Path, jsonc.Plain(raw), new(Settings)); err != nil {
		return nil, nil, err
	}
	var flatten func(at string, raw json.RawMessage, t reflect.Type)
	flatten = func(at string, raw json.RawMessage, t reflect.Type) {
		fields, elem := inside(t)
		members := map[string]json.RawMessage{}
		if fields == nil && (elem == nil || under(t).Kind() != reflect.Map) || json.Unmarshal(raw, &members) != nil {
			values[at] = raw
			return
		}
		for name, value := range members {
			below := elem
			if fields != nil {
				below, _ = fields.get(name)
			} else if strings.Contains(name, ".") {
				name = `"` + name + `"`
			}
			if at != "" {
				name = at + "." + name
			}
			flatten(name, value, below)
		}
	}
	flatten("", jsonc.Plain(raw), reflect.TypeFor[Settings]())
	for k := range values {
		keys = append(keys, k)
	}
	slices.Sort(keys)
	return keys, values, nil
}

// Set sets the value of a key: JSON, or a text without quotes. Comments stay. An invalid
// configuration is refused and the file stays unchanged.
func (c Config) Set(key, value string) error {
	return c.change(key, func(raw []byte, keys []string, t reflect.Type) ([]byte, error) {
		return jsonc.Set(raw, valueOf(value, t), keys...)
	})
}

// Unset removes a key, so that its default holds.
func (c Config) Unset(key string) error {
	return c.change(key, func(raw []byte, keys []string, _ reflect.Type) ([]byte, error) {
		if len(raw) == 0 {
			return []byte("{}"), nil
		}
		return jsonc.Remove(raw, keys...)
	})
}

func (c Config) change(key string, edit func(raw []byte, keys []string, t reflect.Type) ([]byte, error)) error {
	keys, t, err := keysOf(key)
	if err != nil {
		return err
	}
	if c.Project && !slices.Contains(projectKeys, key) {
		return fault.NewConfiguration("set it in your own", "a project's configuration can only restrict: it may set %s, not %s", strings.Join(projectKeys, ", "), key)
	}
	raw, err := c.read()
	if err != nil {
		return err
	}
	out, err := edit(raw, keys, t)
	if err != nil {
		return c.bad(err)
	}
	if len(raw) > 0 {
		if err := decode(c.Path, jsonc.Plain(raw), new(Settings)); err != nil {
			return err // the file was invalid before the change
		}
	}
	s := Settings{Progress: progress.Default()}
	if err := decode(key, jsonc.Plain(out), &s); err != nil {
		why := err.Error()
		if f := (*fault.Error)(nil); errors.As(err, &f) {
			_, why, _ = strings.Cut(f.Message, ": ")
		}
		return fault.NewConfiguration("nothing was changed", "%s", why)
	}
	if err := s.check(key); err != nil {
		return err
	}
	return c.write(out)
}

func (c Config) write(out []byte) error {
	path, mode, folder := c.Path, os.FileMode(0o600), os.FileMode(0o700)
	if c.Project { // a clone's link must not lead elsewhere
		mode, folder = 0o644, 0o755
		for _, p := range []string{path, filepath.Dir(path)} {
			if st, err := os.Lstat(p); err == nil && st.Mode()&os.ModeSymlink != 0 {
				return fault.NewConfiguration("change the file that it leads to yourself", "%s is a link", p)
			}
		}
	} else if real, err := filepath.EvalSymlinks(path); err == nil { // for example into a repository of settings
		path = real
	}
	if st, err := os.Stat(path); err == nil {
		mode = st.Mode().Perm()
	}
	if err := os.MkdirAll(filepath.Dir(path), folder); err != nil {
		return fmt.Errorf("keep the configuration: %w", err)
	}
	if err := atomicfile.Write(path, out, mode); err != nil {
		return fmt.Errorf("keep the configuration: %w", err)
	}
	return nil
}

func (c Config) read() ([]byte, error) {
	raw, err := readSmall(c.Path)
	if missing(err) {
		return nil, nil
	}
	if err != nil {
		return nil, &fault.Error{Category: fault.Configuration, Message: "cannot read the configuration", Err: err, Hint: "correct or remove the file"}
	}
	return raw, nil
}

// bad returns an error that explains why a file cannot be changed in place.
func (c Config) bad(err error) error {
	if raw, rerr := c.read(); rerr == nil {
		if derr := decode(c.Path, jsonc.Plain(raw), new(Settings)); derr != nil {
			return derr // it names the line
		}
	}
	return &fault.Error{Category: fault.Configuration, Message: c.Path, Err: err, Hint: "correct the file by hand"}
}

// ErrKey means that the key does not exist.
var ErrKey = errors.New("no such key")

// keysOf returns the parts of a key such as models."openai/gpt-5.1".window, and the type
// of its value.
func keysOf(key string) ([]string, reflect.Type, error) {
	keys, err := splitKey(key)
	if err != nil {
		return nil, nil, err
	}
	t := reflect.TypeFor[Settings]()
	for i, k := range keys {
		fields, elem := inside(t)
		switch {
		case fields == nil && elem != nil && under(t).Kind() == reflect.Map:
			t = elem
		case fields == nil:
			return nil, nil, fmt.Errorf("%w: %q has no keys", ErrKey, strings.Join(keys[:i], "."))
		default:
			below, ok := fields.get(k)
			if !ok {
				at := strings.Join(append(slices.Clone(keys[:i]), k), ".")
				if near := editdistance.Nearest(k, fields.names); near != "" {
					return nil, nil, fmt.Errorf("%w: %q, did you mean %q?", ErrKey, at, strings.Join(append(slices.Clone(keys[:i]), near), "."))
				}
				return nil, nil, fmt.Errorf("%w: %q; there are %s", ErrKey, at, strings.Join(fields.names, ", "))
			}
			t = below
		}
	}
	return keys, t, nil
}

func under(t reflect.Type) reflect.Type {
	for t.Kind() == reflect.Pointer {
		t = t.Elem()
	}
	return t
}

// splitKey splits a key at its dots, except those inside quotes.
func splitKey(key string) ([]string, error) {
	var out []string
	for rest := key; ; {
		var one string
		if quoted, ok := strings.CutPrefix(rest, `"`); ok {
			if one, rest, ok = strings.Cut(quoted, `"`); !ok || rest != "" && rest[0] != '.' {
				return nil, fmt.Errorf("%w: the quotation in %s is not closed", ErrKey, key)
			}
		} else if i := strings.IndexByte(rest, '.'); i >= 0 {
			one, rest = rest[:i], rest[i:]
		} else {
			one, rest = rest, ""
		}
		if one == "" {
			return nil, fmt.Errorf("%w: %q", ErrKey, key)
		}
		out = append(out, one)
		if rest == "" {
			return out, nil
		}
		rest = rest[1:]
	}
}

// valueOf returns a value as JSON. A text needs no quotes where a text is expected, and a
// list with one element needs no brackets.
func valueOf(value string, t reflect.Type) []byte {
	quote := func() []byte {
		b, _ := json.Marshal(value)
		return b
	}
	switch t = under(t); {
	case t.Kind() == reflect.String && !(strings.HasPrefix(value, `"`) && json.Valid([]byte(value))):
		return quote()
	case t.Kind() == reflect.Slice && t.Elem().Kind() == reflect.String && !strings.HasPrefix(value, "["):
		return append(append([]byte("["), quote()...), ']')
	case !json.Valid([]byte(value)):
		return quote() // the error names the valid values
	}
	return []byte(value)
}
