package tools

import (
	"encoding/json"
	"strings"
	"testing"
)

// SPEC 4.4, 9.5: handles come as a list, or as one text.
func TestHandlesOfCleanup(t *testing.T) {
	c := CleanupToolCall()
	for in, want := range map[string]string{
		`["r1","r2"]`: "r1 r2", `"r1"`: "r1", `"r1, r2"`: "r1 r2", `"toolu_01 r3"`: "toolu_01 r3", `["r1, r2", "r3"]`: "r1 r2 r3", `[]`: "",
	} {
		args, _ := c.Accept(json.RawMessage(`{"summary":"s","tool_call_ids":` + in + `}`))
		var got cleanupArgs
		if err := json.Unmarshal(args, &got); err != nil || strings.Join(handles(got.IDs), " ") != want {
			t.Errorf("%s: %s, %v", in, args, err)
		}
		if err := c.Check(args); err != nil {
			t.Errorf("%s: %v", in, err)
		}
	}
	if args, _ := c.Accept(json.RawMessage(`{"summary":"s","tool_call_ids":{"a":1}}`)); c.Check(args) == nil {
		t.Error("an object is no list")
	}
}
