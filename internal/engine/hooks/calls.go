package hooks

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"strings"

	"github.com/pawl-agent/pawl/internal/core/cut"
	"github.com/pawl-agent/pawl/internal/core/event"
	"github.com/pawl-agent/pawl/internal/core/tool"
	consent "github.com/pawl-agent/pawl/internal/engine/permission"
	"github.com/pawl-agent/pawl/internal/engine/turn"
	"github.com/pawl-agent/pawl/internal/policy/hook"
	"github.com/pawl-agent/pawl/internal/policy/permission"
)

// This file runs hooks for calls.

// Gate is the turn.Gate that runs hooks before permission judges the calls:
// changed arguments are judged as if the model had chosen them.
type Gate struct {
	*Hooks
	Env func(*turn.Pending) tool.Env
}

// Check implements turn.Gate. It handles the calls of a step one after another,
// since their hooks may be slow and many.
func (g Gate) Check(ctx context.Context, step []*turn.Pending) error {
	if !g.has(hook.PreToolUse) {
		return nil
	}
	for _, p := range step {
		if p.Refused != nil || ofCheck(p) {
			continue
		}
		if err := g.call(ctx, p); err != nil {
			if ctx.Err() != nil {
				return nil // the loop notices and cancels the step
			}
			return err
		}
	}
	return nil
}

// ofCheck reports whether a call is a check of pawl's: no hook hears of these.
func ofCheck(p *turn.Pending) bool {
	_, check := p.Records.(consent.Checker)
	return check
}

func (h *Hooks) has(e hook.Event) bool { return len(h.of(e)) > 0 }

func (g Gate) call(ctx context.Context, p *turn.Pending) error {
	told := hook.Args(g.c.Dir, p.Tool, p.Footprint, p.Args)
	var all []answer
	updated := json.RawMessage(nil)
	for _, args := range told {
		as, err := g.runForCall(ctx, hook.PreToolUse, p, args, nil, "")
		if err != nil {
			return err
		}
		for i, a := range as {
			if a.Input == nil {
				continue
			}
			taken, err := hook.UpdatedArgs(args, a.Input)
			if err == nil && len(told) > 1 {
				err = fmt.Errorf("the call is about %d files", len(told))
			}
			if err != nil { // the hook does not want the original call to run
				as[i].Verdict, as[i].Reason = permission.Deny, "the arguments of a hook cannot be used: "+err.Error()
			}
			updated = taken
		}
		all = append(all, as...)
	}
	if c := contexts(all); c != "" {
		p.Note("[hook: " + c + "]")
	}
	if why := denied(all); why != "" {
		p.Refused = refused(p, "PreToolUse", why)
		return nil
	}
	for _, a := range all {
		if a.Verdict == permission.Ask {
			p.Asks = cmp.Or(a.Reason, "a hook wants you to be asked")
		}
	}
	if updated == nil {
		return nil
	}
	return g.change(p, updated)
}

// change replaces the arguments of a call.
func (g Gate) change(p *turn.Pending, args json.RawMessage) error {
	args, _ = p.Tool.Accept(args)
	before := p.Args
	p.Args = args
	err := p.Tool.Check(args)
	if err == nil {
		err = p.Measure(g.Env(p))
	}
	if err != nil {
		p.Args = before
		p.Refused = refused(p, "PreToolUse", "the arguments of a hook are not valid: "+err.Error())
		return nil
	}
	p.Corrected("a hook changed the arguments to " + cut.Runes(string(args), 300))
	return nil
}

// runForCall runs the hooks for a call. response is nil before it, and after one that
// failed with a text.
func (h *Hooks) runForCall(ctx context.Context, e hook.Event, p *turn.Pending, args json.RawMessage, response map[string]any, failed string) ([]answer, error) {
	names := hook.Names(p.Tool)
	in := hook.Input{Event: e, Tool: names[0], Args: args, Call: p.Call.ID, Error: failed}
	if response != nil {
		in.Response, in.Error = response, ""
	}
	return h.fire(ctx, in, names...)
}

// PermissionRequest runs hooks for a call before a person is asked about it. A call that
// they deny is not asked about.
func (h *Hooks) PermissionRequest(ctx context.Context, p *turn.Pending) (*turn.Refusal, error) {
	if h == nil || ofCheck(p) || !h.has(hook.PermissionRequest) {
		return nil, nil
	}
	for _, args := range hook.Args(h.c.Dir, p.Tool, p.Footprint, p.Args) {
		as, err := h.runForCall(ctx, hook.PermissionRequest, p, args, nil, "")
		if err != nil {
			return nil, err
		}
		if why := denied(as); why != "" {
			return refused(p, "PermissionRequest", why), nil
		}
	}
	return nil, nil
}

// After implements turn.After: the texts of hooks after a successful call are
// added to its result, and their changes are recorded as changes of the call.
func (h *Hooks) After(ctx context.Context, r *turn.Ran) error {
	at := hook.PostToolUse
	if r.Outcome != event.OK {
		at = hook.PostToolUseFailure
	}
	if !r.Started || ofCheck(r.Pending) || ctx.Err() != nil || len(h.of(at, hook.Names(r.Tool)...)) == 0 {
		return nil
	}
	text := cut.Bytes(r.Result.Text, maxResponse)
	var all []answer
	var failed error
	changed, err := h.c.Around(ctx, r.Call.ID, func() {
		for _, args := range hook.Args(h.c.Dir, r.Tool, r.Footprint, r.Args) {
			var file struct {
				Path string `json:"file_path"`
			}
			_ = json.Unmarshal(args, &file) // a call without a file has none
			response := map[string]any{"success": true, "output": text, "stdout": text, "stderr": "", "interrupted": false}
			if file.Path != "" {
				response["filePath"] = file.Path
			}
			if at == hook.PostToolUseFailure {
				response = nil
			}
			as, err := h.runForCall(ctx, at, r.Pending, args, response, text)
			if all = append(all, as...); err != nil {
				failed = err
				return
			}
		}
	})
	if len(changed) > 0 {
		r.Changed(changed...)
		var names []string
		for _, c := range changed {
			names = append(names, c.Path)
		}
		r.Note("[changed by a hook after it: " + strings.Join(names, ", ") + "]")
	}
	if s := texts([]answer{{Answer: hook.Answer{Context: denied(all)}}, {Answer: hook.Answer{Context: contexts(all)}}}, func(a answer) string { return a.Context }); s != "" {
		r.Note("[" + string(at) + " hook: " + s + "]")
	}
	if ctx.Err() != nil {
		return nil
	}
	if failed != nil {
		return failed
	}
	return err
}

// maxResponse is how much of a result a hook gets, in bytes.
const maxResponse = 256 << 10

func refused(p *turn.Pending, at, why string) *turn.Refusal {
	return &turn.Refusal{
		Outcome: event.Denied, Text: "Not allowed, it did not run: a " + at + " hook says: " + why,
		Blocked: &event.Blocked{Call: p.Call.ID, Tool: p.Tool.Spec.Name, What: p.Tool.About(p.Args).Title, Reason: why, By: event.ByHook},
	}
}
