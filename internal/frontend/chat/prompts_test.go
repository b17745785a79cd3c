package chat

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/pawl-agent/pawl/internal/adapter/mcp"
	"github.com/pawl-agent/pawl/internal/core/llm"
	"github.com/pawl-agent/pawl/internal/core/llm/llmtest"
	"github.com/pawl-agent/pawl/internal/core/tool"
)

// library is a server with a prompt, which is known once it has been asked.
type library struct{ known bool }

func (*library) Offer(context.Context, llm.Info, bool) (tool.Set, []string)      { return nil, nil }
func (*library) Late(context.Context, string) (t tool.Tool, why string, ok bool) { return t, "", false }
func (l *library) Begin()                                                        {}

func (l *library) Settle(context.Context, time.Duration) []string {
	l.known = true
	return nil
}

func (l *library) Prompts() []mcp.Prompt {
	if !l.known {
		return nil
	}
	return []mcp.Prompt{{Server: "lib", Name: "review", Args: []mcp.PromptArg{{Name: "file", Required: true}}}}
}

func (*library) Say(_ context.Context, p mcp.Prompt, args string) (string, []llm.Media, error) {
	if args == "" {
		return "", nil, errors.New("review needs a file")
	}
	return "Review " + args + " with care.", nil, nil
}

// SPEC 17.1: a prompt of a server is a command, also of one that nothing is known
// of yet.
func TestServersPrompt(t *testing.T) {
	m := llmtest.New(llmtest.Say("reviewed"))
	d := newDeskWith(t, m, &library{})
	d.Enter("/mcp__lib__review a.go")
	d.until(func() bool { return len(finished[TurnEnd](d)) == 1 })
	if got := finished[Prompt](d); len(got) != 1 || got[0].Text != "Review a.go with care." {
		t.Errorf("%+v", got)
	}
	for entered, want := range map[string]string{"/mcp__lib__review": "review needs a file", "/mcp__lib__other": "unknown prompt /mcp__lib__other of an MCP server"} {
		d.Enter(entered)
		d.until(func() bool { return strings.Contains(d.bodies(), want) })
	}
}
