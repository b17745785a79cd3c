package mcpserve

import (
	"context"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"
	"go.uber.org/goleak"

	"github.com/pawl-agent/pawl/internal/core/llm/llmtest"
	"github.com/pawl-agent/pawl/internal/core/must"
	"github.com/pawl-agent/pawl/internal/engine/session"
	"github.com/pawl-agent/pawl/internal/engine/session/sessiontest"
	"github.com/pawl-agent/pawl/internal/policy/permission"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// program is a program that uses pawl's tools. ask answers for its person; nil:
// it says that it asks nobody.
type program struct {
	*sdk.ClientSession
	dir    string
	opened int

	mu       sync.Mutex
	progress []string
	updates  chan string // URIs of resources that were updated
}

func newProgram(t *testing.T, ask func(context.Context, *sdk.ElicitRequest) (*sdk.ElicitResult, error), turns ...llmtest.Turn) *program {
	t.Helper()
	dir := must.Get(filepath.EvalSymlinks(t.TempDir()))(t)
	p := &program{dir: dir, updates: make(chan string, 100)}
	s := New(t.Context(), Options{Version: "test", Dir: dir, Open: func(ctx context.Context, person bool) (*session.Session, error) {
		p.opened++
		cfg := sessiontest.Config(t, dir, llmtest.New(turns...), nil)
		cfg.Person = person
		cfg.Permission = permission.New(permission.Config{Mode: permission.AskMode, Root: dir, Home: "/home/nobody"})
		return session.Open(ctx, cfg)
	}})
	a, b := sdk.NewInMemoryTransports()
	ss := must.Get(s.sdk.Connect(t.Context(), a, nil))(t)
	client := sdk.NewClient(&sdk.Implementation{Name: "program", Version: "1"}, &sdk.ClientOptions{
		ElicitationHandler:     ask,
		ResourceUpdatedHandler: func(_ context.Context, r *sdk.ResourceUpdatedNotificationRequest) { p.updates <- r.Params.URI },
		ProgressNotificationHandler: func(_ context.Context, r *sdk.ProgressNotificationClientRequest) {
			p.mu.Lock()
			defer p.mu.Unlock()
			p.progress = append(p.progress, r.Params.Message)
		},
	})
	p.ClientSession = must.Get(client.Connect(t.Context(), b, &sdk.ClientSessionOptions{ProtocolVersion: versions[0]}))(t)
	t.Cleanup(func() {
		_ = p.Close()
		_ = ss.Wait()
		_ = s.Close()
	})
	return p
}

func (p *program) call(t *testing.T, ctx context.Context, name, args string) (*sdk.CallToolResult, error) {
	t.Helper()
	params := &sdk.CallToolParams{Name: name, Arguments: json.RawMessage(args)}
	params.SetProgressToken("p")
	return p.CallTool(ctx, params)
}

// text calls a tool and returns its text.
func (p *program) text(t *testing.T, name, args string) string {
	t.Helper()
	r, err := p.call(t, t.Context(), name, args)
	if err != nil {
		t.Fatal(name, err)
	}
	var out []string
	for _, c := range r.Content {
		out = append(out, c.(*sdk.TextContent).Text)
	}
	return strings.Join(out, "\n")
}

func write() llmtest.Turn { return llmtest.Use("write", `{"path":"a.txt","content":"one\n"}`) }

func accept(answer string) func(context.Context, *sdk.ElicitRequest) (*sdk.ElicitResult, error) {
	return func(context.Context, *sdk.ElicitRequest) (*sdk.ElicitResult, error) {
		return &sdk.ElicitResult{Action: "accept", Content: map[string]any{"answer": answer}}, nil
	}
}

// SPEC 17.1: a program has pawl do something, looks at it and puts it back; its
// person is asked.
func TestServe(t *testing.T) {
	heard := ""
	p := newProgram(t, func(ctx context.Context, r *sdk.ElicitRequest) (*sdk.ElicitResult, error) {
		heard = r.Params.Message
		return accept(allowOnce)(ctx, r)
	}, write(), llmtest.Say("It is written."), llmtest.Say("Yes."))
	if tools, err := p.ListTools(t.Context(), nil); err != nil || len(tools.Tools) != 4 || p.opened != 0 {
		t.Fatal(tools, err, p.opened)
	}
	if got := p.text(t, "prompt", `{"prompt":"write a.txt"}`); got != "It is written." {
		t.Error(got)
	}
	if !strings.HasPrefix(heard, "pawl asks: ") || !strings.Contains(heard, "a.txt") || !strings.Contains(heard, "+one") {
		t.Errorf("%q", heard)
	}
	file := filepath.Join(p.dir, "a.txt")
	if raw, err := os.ReadFile(file); err != nil || string(raw) != "one\n" {
		t.Fatal(string(raw), err)
	}
	var st Status
	if err := json.Unmarshal([]byte(p.text(t, "status", `{}`)), &st); err != nil || st.Session != "s1" || st.Folder != p.dir || !st.Asks || st.Busy || strings.Join(st.Files, " ") != "a.txt" || st.Verified || st.Why == "" {
		t.Errorf("%+v %v", st, err)
	}
	if got := p.text(t, "diff", `{"session":true}`); !strings.Contains(got, "+one") {
		t.Error(got)
	}
	if got := p.text(t, "undo", `{}`); !strings.Contains(got, "a.txt") {
		t.Error(got)
	}
	if _, err := os.Stat(file); !os.IsNotExist(err) {
		t.Error("it is still there", err)
	}
	if got := p.text(t, "undo", `{}`); !strings.Contains(got, "nothing to undo") {
		t.Error(got)
	}
	if got := p.text(t, "prompt", `{"prompt":"are you there?"}`); got != "Yes." || p.opened != 1 {
		t.Error(got, p.opened)
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	if all := strings.Join(p.progress, "|"); strings.Count(all, "a.txt") != 1 || strings.Count(all, "It is written.") != 1 {
		t.Error(all)
	}
}

// SPEC 17.1, 16: what needs a permission is denied where nobody is asked, and
// where its person does not allow it.
func TestServeDenied(t *testing.T) {
	for name, ask := range map[string]func(context.Context, *sdk.ElicitRequest) (*sdk.ElicitResult, error){
		"nobody": nil, "deny": accept(deny), "garbage": accept("yes please"),
		"decline": func(context.Context, *sdk.ElicitRequest) (*sdk.ElicitResult, error) {
			return &sdk.ElicitResult{Action: "decline"}, nil
		},
	} {
		t.Run(name, func(t *testing.T) {
			p := newProgram(t, ask, write(), llmtest.Say("It was not allowed."))
			_ = p.text(t, "prompt", `{"prompt":"write a.txt"}`)
			if _, err := os.Stat(filepath.Join(p.dir, "a.txt")); !os.IsNotExist(err) {
				t.Error("it was written", err)
			}
		})
	}
}

// SPEC 17.1: a call that is cancelled ends its turn; a second prompt is refused
// meanwhile, and later ones work.
func TestServeCancelled(t *testing.T) {
	asked := make(chan struct{})
	p := newProgram(t, func(ctx context.Context, _ *sdk.ElicitRequest) (*sdk.ElicitResult, error) {
		close(asked)
		<-ctx.Done()
		return nil, ctx.Err()
	}, write(), llmtest.Say("again"), llmtest.Say("again"))
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	ended := make(chan error, 1)
	go func() {
		_, err := p.call(t, ctx, "prompt", `{"prompt":"write a.txt"}`)
		ended <- err
	}()
	<-asked
	if r, err := p.call(t, t.Context(), "prompt", `{"prompt":"more"}`); err != nil || !r.IsError {
		t.Error(r, err)
	}
	cancel()
	if err := <-ended; err == nil {
		t.Error("it was not cancelled")
	}
	for {
		var st Status
		must.Do(t, json.Unmarshal([]byte(p.text(t, "status", `{}`)), &st))
		if !st.Busy {
			break
		}
	}
	if _, err := os.Stat(filepath.Join(p.dir, "a.txt")); !os.IsNotExist(err) {
		t.Error("it was written", err)
	}
	if got := p.text(t, "prompt", `{"prompt":"and now?"}`); got != "again" {
		t.Error(got)
	}
}
