//go:build realsdk

package cli

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/pawl-agent/pawl/internal/core/must"
)

// notTold are messages of the real program that pawl does not send.
var notTold = []string{"system/thinking_tokens", "system/notification", "system/commands_changed", "command_lifecycle", "rate_limit_event"}

// withoutFields are fields of the real program that pawl's messages do not have: they are of
// its own service, or optional in the SDK's types.
var withoutFields = strings.Fields(`analytics_disabled product_feedback_disabled memory_paths fast_mode_state fast_mode_disabled_reason terminal_slash_commands capabilities
	served_by_anthropic original_cwd additional_directories messaging_socket_path per_turn_effort_active ultrathink_available ultrathink_typed_raises view_mode betas
	api_error_status ttft_ms ttft_stream_ms time_to_request_ms terminal_reason origin subagent_stats safety_stops first_content_frame_ms queued_turn_count result_index
	model_usage_since_last_result timestamp request_id error isSynthetic isReplay tool_result_meta tool_use_meta message.context_management message.container
	message.stop_details message.diagnostics spawn_depth`)

// SPEC 17.6: what programs of the real Agent SDK get from pawl has the shape of what they get
// from the real program, message by message: the kinds, the blocks, how turns end, what is
// denied, and what the program itself sees. shapes.json was recorded with the real program
// (RECORD=1 in cases.mjs): release 2.1.197, and for what came later 2.1.332.
func TestRealAgentSDKCases(t *testing.T) {
	var real struct {
		Fields map[string][]string
		Cases  map[string][]string
	}
	raw, err := os.ReadFile("testdata/sdk/shapes.json")
	if err == nil {
		err = json.Unmarshal(raw, &real)
	}
	must.Do(t, err)
	c := pawl(t, t.TempDir(), t.TempDir(), nil)
	node := exec.CommandContext(t.Context(), "node", "testdata/sdk/cases.mjs")
	node.Env = slices.Concat(c.Env, []string{"SDK=" + filepath.Join(os.Getenv("PAWL_SDK"), "sdk.mjs"), "ZOD=" + filepath.Join(os.Getenv("PAWL_SDK"), "../../zod/index.js"), "PAWL=" + c.Path, "PATH=" + os.Getenv("PATH")})
	var stderr bytes.Buffer
	node.Stderr = &stderr
	out, err := node.Output()
	if err != nil {
		t.Fatalf("%v\n%s%s", err, out, stderr.Bytes())
	}
	n, alike := 0, 0
	for line := range bytes.Lines(out) {
		var one struct {
			Name, Loose string
			Out         []struct {
				Kind, Event    string
				Blocks, Denied []string
				Inside, Error  bool
				Fields         []string
				Fact           json.RawMessage
			}
		}
		if err := json.Unmarshal(line, &one); err != nil {
			t.Fatalf("%v: %s", err, line)
		}
		n++
		var got []string
		for _, m := range one.Out {
			if m.Fact != nil {
				got = append(got, "fact "+string(m.Fact))
				continue
			}
			text := m.Kind
			if m.Blocks != nil {
				text += " " + strings.Join(m.Blocks, ", ")
			}
			if m.Inside {
				text += " inside"
			}
			if m.Event != "" {
				text += " " + m.Event
			}
			if strings.HasPrefix(m.Kind, "result") {
				text += fmt.Sprintf(" error=%t denied=%s", m.Error, strings.Join(m.Denied, ","))
			}
			got = append(got, text)
			for _, f := range real.Fields[m.Kind] {
				if !slices.Contains(m.Fields, f) && !slices.Contains(withoutFields, f) && one.Loose == "" {
					t.Errorf("%s: %s has no field %s: %v", one.Name, m.Kind, f, m.Fields)
				}
			}
		}
		want := slices.DeleteFunc(slices.Clone(real.Cases[one.Name]), func(l string) bool {
			return slices.ContainsFunc(notTold, func(k string) bool { return l == k || strings.HasPrefix(l, k+" ") })
		})
		switch ended := slices.ContainsFunc(got, func(l string) bool { return strings.HasPrefix(l, "result") }); {
		case !ended || slices.ContainsFunc(got, func(l string) bool {
			return strings.HasPrefix(l, `fact {"hangs`) || strings.HasPrefix(l, `fact {"threw`)
		}):
			t.Errorf("%s does not end well: %s", one.Name, strings.Join(got, "\n"))
		case one.Loose != "" || want == nil:
		case !slices.Equal(same(want), same(got)):
			t.Errorf("%s:\ngot\n  %s\nwant\n  %s", one.Name, strings.Join(same(got), "\n  "), strings.Join(same(want), "\n  "))
		default:
			alike++
		}
	}
	if n < 105 || alike < 80 {
		t.Errorf("%d cases, of which %d are compared whole\n%s", n, alike, stderr.Bytes())
	}
}

// same orders the keys of facts.
func same(lines []string) []string {
	out := slices.Clone(lines)
	for i, l := range out {
		if fact, ok := strings.CutPrefix(l, "fact "); ok {
			var v any
			if json.Unmarshal([]byte(fact), &v) == nil {
				b, _ := json.Marshal(v)
				out[i] = "fact " + string(b)
			}
		}
	}
	return out
}
