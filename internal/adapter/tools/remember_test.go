package tools

import (
	"context"
	"errors"
	"strings"
	"testing"

	"github.com/pawl-agent/pawl/internal/core/tool"
)

type keptNotes struct {
	note string
	err  error
}

func (k *keptNotes) Remember(_ context.Context, note string) error {
	k.note = note
	return k.err
}

func TestRemember(t *testing.T) {
	t.Parallel()
	k := &keptNotes{}
	env := tool.Env{Notes: k}
	if r := procCall(t, Remember(), env, `{"note":" tests run\nwith make "}`); r.Error || k.note != "tests run with make" || r.Text != "remembered: tests run with make" {
		t.Errorf("%+v", r)
	}
	k.note = ""
	for _, bad := range []string{`{"note":" "}`, `{"note":"` + strings.Repeat("x", 501) + `"}`} {
		if r := procCall(t, Remember(), env, bad); !r.Error || k.note != "" {
			t.Errorf("%.40s: %+v", bad, r)
		}
	}
	k.err = errors.New("no storage")
	if r := procCall(t, Remember(), env, `{"note":"x"}`); !r.Error || r.Text != "no storage" {
		t.Errorf("%+v", r)
	}
}
