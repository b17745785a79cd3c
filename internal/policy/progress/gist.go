package progress

import (
	"encoding/json"
	"maps"
	"slices"
	"strings"

	"github.com/pawl-agent/pawl/internal/policy/normalize"
)

// Gist returns an edit, given by its arguments, without what changes nothing in
// effect: white space, and numbers, times and ids in comments and in output for
// debugging. Cosmetic: the new text differs from the old in nothing else.
func Gist(raw string) (gist string, cosmetic bool) {
	m, ok := object(raw)
	if !ok {
		return normalize.Digest(normalize.Meaning(raw)), false
	}
	var b strings.Builder
	meaning(&b, m)
	old, hasOld := textOf(m, "old", "old_string", "old_str", "search")
	text, hasNew := textOf(m, "new", "new_string", "new_str", "replace")
	return normalize.Digest(b.String()), hasOld && hasNew && normalize.Meaning(old) == normalize.Meaning(text)
}

// object reads arguments that begin with a JSON object.
func object(raw string) (m map[string]any, ok bool) {
	d := json.NewDecoder(strings.NewReader(raw))
	d.UseNumber()
	return m, d.Decode(&m) == nil && m != nil
}

func textOf(m map[string]any, names ...string) (string, bool) {
	for _, n := range names {
		if s, ok := m[n].(string); ok {
			return s, true
		}
	}
	return "", false
}

func meaning(b *strings.Builder, v any) {
	switch v := v.(type) {
	case string:
		b.WriteString(normalize.Meaning(v))
	case json.Number:
		b.WriteString(v.String())
	case []any:
		for _, x := range v {
			meaning(b, x)
		}
	case map[string]any:
		for _, k := range slices.Sorted(maps.Keys(v)) {
			b.WriteString(k)
			meaning(b, v[k])
		}
	}
	b.WriteByte(0)
}
