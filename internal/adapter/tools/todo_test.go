package tools

import (
	"context"
	"errors"
	"strings"
	"testing"

	"github.com/pawl-agent/pawl/internal/core/tool"
)

type keptPlan struct {
	items []tool.Item
	err   error
}

func (k *keptPlan) Set(_ context.Context, items []tool.Item) error {
	k.items = items
	return k.err
}

func TestTodo(t *testing.T) {
	t.Parallel()
	k := &keptPlan{}
	env := tool.Env{Todo: k}
	r := procCall(t, Todo(), env, `{"items":[{"text":"a\n  b","status":"done"},{"text":"c","status":"in_progress"},{"text":"d","status":"pending"}]}`)
	if r.Text != "[x] a b\n[>] c\n[ ] d" || r.Note != "1 of 3 done" || len(k.items) != 3 || k.items[0].Text != "a b" {
		t.Errorf("%+v %+v", r, k.items)
	}
	for _, bad := range []string{
		`{"items":[{"text":" ","status":"done"}]}`,
		`{"items":[{"text":"a","status":"in_progress"},{"text":"b","status":"in_progress"}]}`,
		`{"items":[{"text":"` + strings.Repeat("x", 501) + `","status":"done"}]}`,
		`{"items":[` + strings.TrimSuffix(strings.Repeat(`{"text":"x","status":"done"},`, 101), ",") + `]}`,
	} {
		if r := procCall(t, Todo(), env, bad); !r.Error || len(k.items) != 3 {
			t.Errorf("%.60s: %+v", bad, r)
		}
	}
	if err := Todo().Check([]byte(`{"items":[{"text":"a","status":"started"}]}`)); err == nil {
		t.Error("an unknown status passes")
	}
	if r := procCall(t, Todo(), env, `{"items":[]}`); r.Error || len(k.items) != 0 {
		t.Errorf("%+v", r)
	}
	k.err = errors.New("no storage")
	if r := procCall(t, Todo(), env, `{"items":[]}`); !r.Error || r.Text != "no storage" {
		t.Errorf("%+v", r)
	}
}
