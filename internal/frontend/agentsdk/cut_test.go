package agentsdk

import (
	"testing"

	"github.com/pawl-agent/pawl/internal/core/llm"
	"github.com/pawl-agent/pawl/internal/core/llm/llmtest"
)

// SPEC 17.6: the result is the whole answer, also where a reply was cut at the output limit.
func TestCutAnswer(t *testing.T) {
	p := converse(t, llmtest.New(llmtest.Turn{Text: "PART ONE, ", Stop: llm.StopLength}, llmtest.Say("PART TWO"), llmtest.Say("next")), nil)
	for _, want := range []string{"PART ONE, PART TWO", "next"} {
		p.say("hi")
		if r := p.next("result/success"); r["result"] != want {
			t.Errorf("%v, want %q", r, want)
		}
	}
	if code := p.end(); code != 0 {
		t.Error(code)
	}
}
