package tools

import (
	"context"
	"encoding/json"
	"errors"
	"strings"
	"testing"

	"github.com/pawl-agent/pawl/internal/core/tool"
)

type fixedPerson struct {
	answer  string
	err     error
	asked   string
	options []string
}

func (p *fixedPerson) Question(_ context.Context, text string, options []string) (string, error) {
	p.asked, p.options = text, options
	return p.answer, p.err
}

func TestAskUser(t *testing.T) {
	t.Parallel()
	p := &fixedPerson{answer: "b"}
	r := procCall(t, AskUser(), tool.Env{Ask: p}, `{"question":" a or b? ","options":["a"," ","b"]}`)
	if r.Text != "b" || r.Error || p.asked != "a or b?" || len(p.options) != 2 {
		t.Errorf("%+v %+v", r, p)
	}
	f, err := AskUser().Footprint(tool.Env{}, json.RawMessage(`{"question":"x"}`))
	if err != nil || !f.AsksPerson || f.Unknown {
		t.Errorf("%+v %v", f, err)
	}
	// Nobody there: the model is told what to do instead of waiting.
	for _, env := range []tool.Env{{}, {Ask: &fixedPerson{err: tool.ErrNobody}}} {
		if r := procCall(t, AskUser(), env, `{"question":"x"}`); !r.Error || !strings.Contains(r.Text, "decide yourself") {
			t.Errorf("%+v", r)
		}
	}
	p.answer = " "
	if r := procCall(t, AskUser(), tool.Env{Ask: p}, `{"question":"x"}`); r.Error || !strings.Contains(r.Text, "no answer") {
		t.Errorf("%+v", r)
	}
	p.asked = ""
	for _, bad := range []string{`{"question":" "}`, `{"question":"` + strings.Repeat("x", 4001) + `"}`, `{"question":"x","options":["1","2","3","4","5","6","7","8","9"]}`} {
		if r := procCall(t, AskUser(), tool.Env{Ask: p}, bad); !r.Error || p.asked != "" {
			t.Errorf("%.40s: %+v", bad, r)
		}
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	p.err = context.Canceled
	if _, err := AskUser().Run(ctx, tool.Env{Ask: p}, json.RawMessage(`{"question":"x"}`)); !errors.Is(err, context.Canceled) {
		t.Error(err)
	}
}
