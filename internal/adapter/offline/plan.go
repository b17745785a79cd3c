package offline

import (
	"bytes"
	"cmp"
	"crypto/rand"
	"encoding/json"
	"fmt"
	"iter"
	"strconv"
	"strings"

	"github.com/pawl-agent/pawl/internal/core/llm"
	"github.com/pawl-agent/pawl/internal/policy/swarm"
)

func itoa(n int) string { return strconv.Itoa(n) }

// job is what a plan starts from. Nothing else may influence it.
type job struct {
	prompt  string
	tools   []llm.ToolSpec
	restart bool // the results are those of no plan: begin again
}

// ask is where a plan stopped: the text of its reply and the call it waits for. No call
// means that it is done.
type ask struct {
	text     string
	call     *llm.Call
	declined bool // what was asked for is beyond the model, and nothing was done
}

// run is a plan under way, stopped at pending. It is not safe for concurrent
// use; the model hands it to one stream at a time.
type run struct {
	pull    func() (ask, bool)
	stop    func()
	pending ask
	result  llm.Result // of the call that pending waited for
}

// start runs a plan to its first stop.
func start(j job) *run {
	r := &run{}
	r.pull, r.stop = iter.Pull(func(yield func(ask) bool) {
		h := newHands(j.tools, func(a ask) llm.Result {
			if !yield(a) {
				panic(errStopped) // unwinds the plan: nobody waits for it any more
			}
			return r.result
		})
		contained(h, func() { perform(h, j) })
		yield(ask{text: strings.TrimSpace(h.text.String()), declined: h.declined})
	})
	r.pending, _ = r.pull()
	return r
}

// feed passes the plan its result and runs it to the next stop.
func (r *run) feed(result llm.Result) {
	r.result = result
	r.pending, _ = r.pull()
}

// call makes a tool call. Args is a struct or map that encodes as an object.
func call(name string, args any) *llm.Call {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false) // people read the arguments
	if err := e.Encode(args); err != nil {
		panic(fmt.Sprintf("arguments of %s: %v", name, err)) // strings, numbers and lists of them always encode
	}
	return &llm.Call{ID: idPrefix + rand.Text(), Name: name, Args: bytes.TrimSpace(b.Bytes())}
}

// contained runs a plan. A panic in it must not end the session.
func contained(h *actions, plan func()) {
	defer func() {
		if v := recover(); v != nil && v != errStopped {
			h.Say(fmt.Sprintf("The built-in model stopped at a mistake of its own (%v).", v))
		}
	}()
	plan()
}

// perform carries out a job.
func perform(h *actions, j job) {
	if j.restart {
		h.Say("I no longer know how I got here, so I start over from the workspace as it is now.")
	}
	in := understand(j.prompt)
	switch in.kind {
	case intentRun:
		planRun(h, in)
	case intentFix:
		task, _ := swarm.ReadPrompt(j.prompt)
		planFix(h, partsOf(j.prompt, task))
	case intentGraph:
		planGraph(h)
	default:
		h.Decline(beyond(""))
	}
}

// beyond returns the sentence for a request that the model cannot do.
func beyond(why string) string {
	why = cmp.Or(why, "This is beyond the built-in model, which has no weights")
	return why + "; for a model that can, set ANTHROPIC_API_KEY, OPENAI_API_KEY or GEMINI_API_KEY, or start a local server such as Ollama."
}
