package tools

import (
	"encoding/json"
	"fmt"
	"testing"
)

// SPEC 9.5: handles come as a list, or as one text.
func TestHandlesOfCleanup(t *testing.T) {
	for in, want := range map[string]string{
		`["r1","r2"]`: "[r1 r2]", `"r1"`: "[r1]", `"r1, r2"`: "[r1 r2]", `"toolu_01 r3"`: "[toolu_01 r3]", `[]`: "[]", `""`: "[]",
	} {
		var h handles
		if err := json.Unmarshal([]byte(in), &h); err != nil || fmt.Sprint(h) != want {
			t.Errorf("%s: %v, %v", in, h, err)
		}
	}
	var h handles
	if json.Unmarshal([]byte(`{"a":1}`), &h) == nil {
		t.Error("an object is no list")
	}
}
