package headless

import (
	"bytes"
	"strings"
	"testing"

	"github.com/pawl-agent/pawl/internal/core/llm"
	"github.com/pawl-agent/pawl/internal/core/llm/llmtest"
	"github.com/pawl-agent/pawl/internal/core/must"
	"github.com/pawl-agent/pawl/internal/team/structured"
)

// The parts of an answer that was cut at the output limit are one answer, wherever it is told.
func TestCutAnswer(t *testing.T) {
	cut := func(text string) llmtest.Turn { return llmtest.Turn{Text: text, Stop: llm.StopLength} }
	for _, f := range []Format{Text, JSON} {
		s, _ := open(t, llmtest.New(cut("PART ONE, "), cut("PART T"), llmtest.Say("WO")))
		var out, errs bytes.Buffer
		r := must.Get(Run(t.Context(), s, "hi", opts(f, &out, &errs)))(t)
		if r.Answer != "PART ONE, PART TWO" || !strings.Contains(out.String(), "PART ONE, PART TWO") || r.ExitCode != 0 {
			t.Errorf("%v: %+v, %q, %q", f, r, out.String(), errs.String())
		}
	}
	// Before calls it is no answer, and nothing of it is lost.
	s, _ := open(t, llmtest.New(cut("I look "), llmtest.Turn{Text: "here", Calls: llmtest.Use("todo", `{"items":[]}`).Calls}, llmtest.Say("found")))
	var out, errs bytes.Buffer
	must.Get(Run(t.Context(), s, "hi", opts(Text, &out, &errs)))(t)
	if out.String() != "found\n" || !strings.Contains(errs.String(), "I look here\n") {
		t.Errorf("%q, %q", out.String(), errs.String())
	}
	// An answer with a form is whole too.
	s, _ = open(t, llmtest.New(cut(`{"a":`), llmtest.Say(`1}`)))
	o := opts(JSON, &out, &errs)
	o.Answer = must.Get(structured.New([]byte(`{"type":"object"}`)))(t)
	if r := must.Get(Run(t.Context(), s, "hi", o))(t); string(r.Structured) != `{"a":1}` || r.ExitCode != 0 {
		t.Errorf("%+v", r)
	}
}
