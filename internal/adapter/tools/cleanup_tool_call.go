package tools

import (
	"context"
	"fmt"
	"strings"

	"github.com/pawl-agent/pawl/internal/core/plural"
	"github.com/pawl-agent/pawl/internal/core/tool"
)

type cleanupArgs struct {
	IDs     []string `json:"tool_call_ids" doc:"handles at the end of long results, such as r12"`
	Summary string   `json:"summary" doc:"1-2 sentences on what they showed"`
	Reason  string   `json:"reason,omitempty"`
}

// handles returns the handles of a list, of which some models give several in one text.
func handles(ids []string) []string {
	return strings.FieldsFunc(strings.Join(ids, " "), func(r rune) bool { return r == ',' || r == ' ' || r == '\n' })
}

// CleanupToolCall returns the tool that releases results that did not help.
func CleanupToolCall() tool.Tool {
	t := tool.New("cleanup_tool_call",
		"Free context space: name results that you do not need any more by the handle at their end, such as [r12]. When the conversation is next made shorter, your summary takes their place.",
		func(tool.Env, cleanupArgs) (tool.Footprint, error) { return tool.Footprint{}, nil },
		func(ctx context.Context, env tool.Env, in cleanupArgs) (tool.Result, error) {
			switch {
			case env.Cleaner == nil:
				return tool.Errorf("this session keeps all results"), nil
			case len(handles(in.IDs)) == 0:
				return tool.Errorf("tool_call_ids is empty: give handles as shown at the end of long results, such as r12"), nil
			}
			c, err := env.Cleaner.Clean(ctx, handles(in.IDs), in.Summary, in.Reason)
			if err != nil {
				return shellFailed(ctx, err)
			}
			return cleanedUp(c), nil
		})
	t.Facts = tool.Facts{Kind: tool.Note}
	t.ReadOnly = true
	t.Example = `{"tool_call_ids":["r12"],"summary":"The listing has no configuration files.","reason":"not relevant to task"}`
	return t
}

func cleanedUp(c tool.Cleaned) tool.Result {
	if len(c.Unknown) > 0 {
		known := "no result has a handle"
		if len(c.Known) > 0 {
			known = "the newest handles are " + strings.Join(c.Known, ", ")
		}
		return tool.Errorf("no result has the handle %s: nothing was marked; %s", oneLine(strings.Join(c.Unknown, ", ")), known)
	}
	var b strings.Builder
	if len(c.Marked) > 0 {
		fmt.Fprintf(&b, "marked %s: about %d tokens are freed when the conversation is next made shorter", strings.Join(c.Marked, ", "), c.Tokens)
	}
	if len(c.Gone) > 0 {
		if b.Len() > 0 {
			b.WriteString("; ")
		}
		fmt.Fprintf(&b, "%s: cleaned up before, or left out already", oneLine(strings.Join(c.Gone, ", ")))
	}
	return tool.Result{Text: b.String(), Note: fmt.Sprintf("%s, %d tokens", plural.Of(len(c.Marked), "result"), c.Tokens)}
}
