package subagent_test

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"go.uber.org/goleak"

	"github.com/pawl-agent/pawl/internal/adapter/agents"
	"github.com/pawl-agent/pawl/internal/adapter/tools"
	"github.com/pawl-agent/pawl/internal/adapter/workspace/journal"
	"github.com/pawl-agent/pawl/internal/core/event"
	"github.com/pawl-agent/pawl/internal/core/llm"
	"github.com/pawl-agent/pawl/internal/core/llm/llmtest"
	"github.com/pawl-agent/pawl/internal/core/must"
	"github.com/pawl-agent/pawl/internal/core/tool"
	"github.com/pawl-agent/pawl/internal/engine/changes"
	"github.com/pawl-agent/pawl/internal/engine/session"
	"github.com/pawl-agent/pawl/internal/engine/session/sessiontest"
	"github.com/pawl-agent/pawl/internal/policy/permission"
	"github.com/pawl-agent/pawl/internal/policy/secrets"
	"github.com/pawl-agent/pawl/internal/team/subagent"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// plays is what the scripted model does, by the first words of a conversation:
// "user" for the session itself, and an agent's prompt for that agent. What it
// has no turn for, it answers with "done".
type plays map[string][]llmtest.Turn

// rig is a session with a model that plays several parts.
type rig struct {
	*sessiontest.Rig
	ids atomic.Int64
}

func newRig(t *testing.T, ps plays, change ...func(*session.Config)) *rig {
	t.Helper()
	r := &rig{Rig: sessiontest.New(t, llmtest.New())}
	r.Model.Next = func(_ int, q *llm.Request) llmtest.Turn {
		part, step := "", 0
		for _, m := range q.Messages {
			if m.Role == llm.Assistant {
				step++
			} else if part == "" {
				part, _, _ = strings.Cut(m.Text(), "\n")
			}
		}
		if script := ps[part]; step < len(script) {
			out := script[step]
			if most := int64(q.Tail.MaxTokens); most > 0 && out.Usage.Output > most {
				out.Usage.Output = most
			}
			return out
		}
		return llmtest.Say("done")
	}
	j := journal.New(r.Dir, journal.Options{Dir: t.TempDir()})
	t.Cleanup(func() { _ = j.Close() })
	kinds := append([]agents.Kind{{Name: "narrow", Description: "d", Prompt: "Be narrow.", Tools: []string{"Read", "Bash(git:*)", "Teleport"}, Model: "nobody/knows", USD: 0.5}}, agents.Builtin()...)
	r.Cfg.System, r.Cfg.Agents, r.Cfg.Journal, r.Cfg.Mask = "be good", 1, changes.Share(j), secrets.New("hunter2hunter2")
	r.Cfg.OpenModel = func(ref, _ string) (llm.Model, error) { return nil, fmt.Errorf("there is no model %s", ref) }
	r.Cfg.Tools = tool.Set{tools.Read(), tools.Edit(), tools.Write(), tools.Bash(), tools.Todo(), tools.AskUser(), subagent.Tool(kinds, strings.Clone)}
	r.Cfg.NewID = func() string { return fmt.Sprint("q", r.ids.Add(1)) }
	for _, c := range change {
		c(&r.Cfg)
	}
	r.Open()
	return r
}

// run runs the session's own part. on, if set, sees each event.
func (r *rig) run(on func(event.Event)) ([]event.Event, session.Outcome) {
	r.T.Helper()
	ctx, cancel := context.WithTimeout(r.T.Context(), time.Minute) // a deadlock ends here
	defer cancel()
	var es []event.Event
	out, err := r.RunPrompt(ctx, session.Prompt{Text: "user"}, session.Observer{After: r.View().Last(), See: func(e event.Event) error {
		es = append(es, e)
		if on != nil {
			on(e)
		}
		return nil
	}})
	must.Do(r.T, err)
	return es, out
}

// log is the stored events of a session.
func (r *rig) log(id string) []event.Event { return sessiontest.Stored(r.T, r.Cfg.Store, id) }

// children are the sessions of agents of a session, the first of them first.
func (r *rig) children(of string) []event.Row {
	r.T.Helper()
	rows, err := r.Cfg.Store.Sessions(r.T.Context(), "")
	must.Do(r.T, err)
	rows = slices.DeleteFunc(rows, func(w event.Row) bool { return w.Parent == nil || w.Parent.Session != of })
	slices.SortFunc(rows, func(a, b event.Row) int { return a.Created.Compare(b.Created) })
	return rows
}

func (r *rig) missing(name string) bool { return strings.HasPrefix(r.File(name), "error: ") }

func (r *rig) requests(part string) []*llm.Request {
	var out []*llm.Request
	for _, q := range r.Model.Requests() {
		for _, m := range q.Messages {
			if m.Role != llm.Assistant {
				if p, _, _ := strings.Cut(m.Text(), "\n"); p == part {
					out = append(out, q)
				}
				break
			}
		}
	}
	return out
}

func find[B event.Body](es []event.Event) []B { return sessiontest.Find[B](es) }

type j map[string]any

func args(v any) string {
	b, err := json.Marshal(v)
	if err != nil {
		panic(err)
	}
	return string(b)
}

// agent is a call of the tool.
func agent(prompt, kind string, more ...string) []string {
	a := j{"description": "do " + prompt, "prompt": prompt, "agent": kind}
	if slices.Contains(more, "background") {
		a["background"] = true
	}
	return []string{subagent.Name, args(a)}
}

func write(path, text string) []string {
	return []string{"write", args(j{"path": path, "content": text})}
}

func bash(line string) []string { return []string{"bash", args(j{"command": line})} }

func use(calls ...[]string) llmtest.Turn { return llmtest.Use(slices.Concat(calls...)...) }

func yolo(dir string) *permission.Policy {
	return permission.New(permission.Config{Mode: permission.Yolo, Root: dir, Home: "/home/nobody"})
}
