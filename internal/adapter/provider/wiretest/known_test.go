package wiretest

import "slices"

// waived lists differences between the index and pawl that apply to a whole kind of
// recording, by the quirk in the index: the check that is skipped, and why.
var waived = map[string]struct{ check, why string }{
	"several-choices": {
		"text", "the index joins the texts of all choices; pawl never asks for several and reads the first",
	},
	"deltas-differ-from-final-text": {
		"deltas", "the source removed deltas; the reply is what the terminal event says",
	},
	"reasoning_details:reasoning.text": {
		"reasoning", "the index reads reasoning and reasoning_content only; some hosts send reasoning_details alone",
	},
}

// waives reports whether a check is skipped for a reply.
func waives(e Expected, check string) bool {
	return slices.ContainsFunc(e.Quirks, func(q string) bool { return waived[q].check == check })
}

// known lists the recordings whose reply differs from the index, and why that is right.
// The test fails if a listed recording agrees or an unlisted one differs.
var known = map[string]string{}

// knownCut lists the recordings that may still give a reply when they are cut short, and
// why that is right.
var knownCut = map[string]string{
	"openai-compat/openrouter-midstream-error.json": "the error comes after a finish_reason; cut before it, the reply is whole",
}

// knownEcho lists the recordings whose reply another client sent back differently from
// pawl, and why.
var knownEcho = map[string]string{
	"openai-compat/kimi-variant-c.2.json": "the client numbered the calls itself",
	"gemini/unexpected-tool-call.3.json":  "the source's plugin rewrote the arguments between the steps",
}
