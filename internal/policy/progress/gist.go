package progress

import (
	"encoding/json"
	"slices"
	"strings"

	"github.com/pawl-agent/pawl/internal/policy/normalize"
)

// Gist returns an edit, given by its arguments, without what changes nothing in
// effect: white space, and numbers, times and ids in comments and in output for
// debugging. Cosmetic: the new text differs from the old in nothing else.
func Gist(raw string) (gist string, cosmetic bool) {
	var v any
	d := json.NewDecoder(strings.NewReader(raw))
	d.UseNumber()
	if !strings.HasPrefix(strings.TrimLeft(raw, " \t\r\n"), "{") || d.Decode(&v) != nil {
		return normalize.Digest(normalize.Meaning(raw)), false
	}
	var b strings.Builder
	meaning(&b, v)
	if m, ok := v.(map[string]any); ok {
		old, hasOld := textOf(m, "old", "old_string", "old_str", "search")
		text, hasNew := textOf(m, "new", "new_string", "new_str", "replace")
		cosmetic = hasOld && hasNew && normalize.Meaning(old) == normalize.Meaning(text)
	}
	return normalize.Digest(b.String()), cosmetic
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
		keys := make([]string, 0, len(v))
		for k := range v {
			keys = append(keys, k)
		}
		slices.Sort(keys)
		for _, k := range keys {
			b.WriteString(k)
			meaning(b, v[k])
		}
	}
	b.WriteByte(0)
}
