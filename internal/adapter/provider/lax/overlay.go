package lax

import "encoding/json"

// Overlay returns a newer report of totals merged over an older one: values that are null
// or missing in the newer one come from the older. If nothing is taken from the older
// one, the result is the newer one, byte for byte.
func Overlay(older, newer json.RawMessage) json.RawMessage {
	if !Present(newer) {
		return older
	}
	var was, is map[string]json.RawMessage
	if json.Unmarshal(older, &was) != nil || json.Unmarshal(newer, &is) != nil || is == nil {
		return newer
	}
	kept := false
	for k, v := range was {
		if !Present(v) {
			continue
		}
		if now := Overlay(v, is[k]); string(now) != string(is[k]) {
			is[k], kept = now, true
		}
	}
	if !kept {
		return newer
	}
	out, err := json.Marshal(is)
	if err != nil {
		return newer
	}
	return out
}
