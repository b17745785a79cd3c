package offline

import (
	"bytes"
	"cmp"
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
	restart bool // the history did not fit: begin again
}

// ask is where a plan stopped: the text of its reply and the calls it waits
// for. No calls means that it is done.
type ask struct {
	text     string
	calls    []llm.Call
	declined bool // what was asked for is beyond the model, and nothing was done
}

// run is a plan under way, stopped at pending. It is not safe for concurrent
// use; the model hands it to one stream at a time.
type run struct {
	pull    func() (ask, bool)
	stop    func()
	pending ask
	results []llm.Result // of the calls that pending waited for
	chain   string       // a hash of all that the plan has been fed
}

// start runs a plan to its first stop.
func start(j job, seed string) *run {
	r := &run{chain: seed}
	r.pull, r.stop = iter.Pull(func(yield func(ask) bool) {
		h := newHands(j.tools, func(a ask) []llm.Result {
			if !yield(a) {
				panic(errStopped) // unwinds the plan: nobody waits for it any more
			}
			return r.results
		})
		contained(h, func() { perform(h, j) })
		yield(ask{text: strings.TrimSpace(h.text.String()), declined: h.declined})
	})
	r.advance()
	return r
}

func (r *run) advance() { r.pending, _ = r.pull() }

// calls returns what the plan waits for, with ids that follow from all it knows:
// a result for one of them belongs to this very state and to no other.
func (r *run) calls() []llm.Call {
	out := make([]llm.Call, len(r.pending.calls))
	for i, c := range r.pending.calls {
		c.ID = idPrefix + hash(r.chain, itoa(i))
		out[i] = c
	}
	return out
}

// fits reports whether recorded calls are the ones that the plan waits for. Ids
// are not compared: an engine may have renamed them.
func (r *run) fits(recorded []llm.Call) bool {
	if len(recorded) != len(r.pending.calls) || len(recorded) == 0 {
		return false
	}
	for i, c := range r.pending.calls {
		if c.Name != recorded[i].Name || !sameArgs(c.Args, recorded[i].Args) {
			return false
		}
	}
	return true
}

// feed passes the plan its results and runs it to the next stop.
func (r *run) feed(results []llm.Result) {
	parts := []string{r.chain}
	for _, x := range results {
		parts = append(parts, x.Text, strconv.FormatBool(x.Error))
	}
	r.chain = hash(parts...)
	r.results = results
	r.advance()
	r.results = nil
}

// call makes a tool call. Args is a struct or map that encodes as an object.
func call(name string, args any) llm.Call {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false) // people read the arguments
	if err := e.Encode(args); err != nil {
		panic(fmt.Sprintf("arguments of %s: %v", name, err)) // strings, numbers and lists of them always encode
	}
	return llm.Call{Name: name, Args: bytes.TrimSpace(b.Bytes())}
}

// contained runs a plan. A panic in it must neither end the session nor leave a trial
// change in the files.
func contained(h *hands, plan func()) {
	defer func() {
		if v := recover(); v != nil && v != errStopped {
			h.Say(fmt.Sprintf("The built-in model stopped at a mistake of its own (%v).", v) + h.takeBack())
		}
	}()
	plan()
}

// perform carries out a job.
func perform(h *hands, j job) {
	if j.restart {
		h.Say("The conversation no longer shows how I got here, so I start over from the workspace as it is now.")
	}
	in := understand(j.prompt)
	task, worker := swarm.ReadPrompt(j.prompt)
	switch in.kind {
	case intentRun:
		planRun(h, in)
	case intentGraph:
		planGraph(h, j.prompt)
	case intentFix:
		planFix(h, partsOf(j.prompt, task))
	default:
		h.Decline(beyond(""))
	}
	if worker && !h.declined {
		acceptance(h, task.Accept)
	}
}

// beyond returns the sentence for a request that the model cannot do.
func beyond(why string) string {
	why = cmp.Or(why, "This is beyond the built-in model, which has no weights")
	return why + "; for a model that can, set ANTHROPIC_API_KEY, OPENAI_API_KEY or GEMINI_API_KEY, or start a local server such as Ollama."
}
