package swarmrun

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
	"os"
	"slices"
	"strings"

	"github.com/pawl-agent/pawl/internal/frontend/setup"
	"github.com/pawl-agent/pawl/internal/policy/secrets"
)

// keptHere are secrets of this machine, which must not leave it.
type keptHere []string

// secretsHere returns the secrets in this machine's environment that pawl can
// recognise: the keys of models, and the values of variables whose names look like
// those of secrets.
func secretsHere(e *setup.Environment) keptHere {
	var h keptHere
	add := func(value string) {
		if secrets.Distinct(value) && !slices.Contains(h, value) {
			h = append(h, value)
		}
	}
	for _, v := range append(e.Secrets(), e.Env(natsToken)) {
		add(v)
	}
	for _, v := range os.Environ() {
		name, value, _ := strings.Cut(v, "=")
		for _, word := range []string{"KEY", "TOKEN", "SECRET", "PASSW", "CREDENTIAL"} {
			if strings.Contains(strings.ToUpper(name), word) {
				add(value)
			}
		}
	}
	return h
}

// mask replaces the secrets in a JSON message, where they may be escaped.
func (h keptHere) mask(b []byte) []byte {
	for _, s := range h {
		b = bytes.ReplaceAll(b, []byte(s), []byte("[secret]"))
		if escaped, err := json.Marshal(s); err == nil {
			b = bytes.ReplaceAll(b, escaped[1:len(escaped)-1], []byte("[secret]"))
		}
	}
	return b
}

// in reports whether a text contains one of the secrets, plain or in base64.
func (h keptHere) in(b []byte) bool {
	return slices.ContainsFunc(h, func(s string) bool {
		return bytes.Contains(b, []byte(s)) || bytes.Contains(b, []byte(strings.TrimRight(base64.StdEncoding.EncodeToString([]byte(s)), "=")))
	})
}
