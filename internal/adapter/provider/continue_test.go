package provider_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"strings"
	"sync"
	"testing"

	"github.com/pawl-agent/pawl/internal/adapter/provider"
	"github.com/pawl-agent/pawl/internal/adapter/provider/responses"
	"github.com/pawl-agent/pawl/internal/core/llm"
	"github.com/pawl-agent/pawl/internal/core/must"
)

// keeper is a server that keeps replies, and puts each request together from what it
// kept, so that the test sees what the model would.
type keeper struct {
	t  *testing.T
	mu sync.Mutex

	kept   map[string][]json.RawMessage // by reply: the input that led to it, and its output
	n      int
	bodies []string
	seen   []string // the whole input of each request
	fail   func(n int, previous string) (status int, body string)
	cut    bool // replies end at their limit
}

func (k *keeper) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	k.mu.Lock()
	defer k.mu.Unlock()
	raw, _ := io.ReadAll(r.Body)
	k.bodies = append(k.bodies, string(raw))
	var q struct {
		Input    []json.RawMessage `json:"input"`
		Previous string            `json:"previous_response_id"`
		Store    bool              `json:"store"`
	}
	if err := json.Unmarshal(raw, &q); err != nil {
		k.t.Errorf("%v: %s", err, raw)
	}
	if k.fail != nil {
		if status, body := k.fail(len(k.bodies), q.Previous); status != 0 {
			w.WriteHeader(status)
			_, _ = io.WriteString(w, body)
			return
		}
	}
	before, ok := k.kept[q.Previous]
	if q.Previous != "" && !ok {
		w.WriteHeader(http.StatusBadRequest)
		_, _ = io.WriteString(w, `{"error":{"code":"previous_response_not_found","message":"Previous response with id '`+q.Previous+`' not found."}}`)
		return
	}
	all := append(append([]json.RawMessage(nil), before...), q.Input...)
	joined, _ := json.Marshal(all)
	k.seen = append(k.seen, string(joined))
	k.n++
	id := fmt.Sprint("resp_", k.n)
	if q.Store {
		said := json.RawMessage(fmt.Sprintf(`{"role":"assistant","content":"answer %d"}`, k.n))
		k.kept[id] = append(all, said)
	}
	if k.cut {
		fmt.Fprintf(w, "event: response.incomplete\ndata: {\"type\":\"response.incomplete\",\"response\":{\"id\":%q,\"model\":\"m\",\"status\":\"incomplete\",\"incomplete_details\":{\"reason\":\"max_output_tokens\"},\"output\":[{\"id\":\"msg_%d\",\"type\":\"message\",\"role\":\"assistant\",\"content\":[{\"type\":\"output_text\",\"text\":\"answer %d\"}]}],\"usage\":{\"input_tokens\":5,\"output_tokens\":1}}}\n\n", id, k.n, k.n)
		return
	}
	fmt.Fprintf(w, "event: response.completed\ndata: {\"type\":\"response.completed\",\"response\":{\"id\":%q,\"model\":\"m\",\"status\":\"completed\",\"output\":[{\"id\":\"msg_%d\",\"type\":\"message\",\"role\":\"assistant\",\"content\":[{\"type\":\"output_text\",\"text\":\"answer %d\"}]}],\"usage\":{\"input_tokens\":5,\"output_tokens\":1}}}\n\n", id, k.n, k.n)
}

// conversation is a person's, through a client.
type conversation struct {
	t  *testing.T
	m  *provider.Client
	ms []llm.Message
}

func (c *conversation) say(text string) error {
	c.t.Helper()
	c.ms = append(c.ms, llm.Message{Role: llm.User, Parts: []llm.Part{llm.TextPart(text)}})
	for d, err := range c.m.Stream(c.t.Context(), &llm.Request{Head: llm.Head{Model: "gpt-5", System: "be brief"}, Messages: c.ms}) {
		if err != nil {
			c.ms = c.ms[:len(c.ms)-1]
			return err
		}
		if d.Reply != nil {
			c.ms = append(c.ms, d.Reply.Message)
		}
	}
	return nil
}

func keeping(t *testing.T, store bool) (*keeper, *conversation) {
	k := &keeper{t: t, kept: map[string][]json.RawMessage{}}
	s := serve(t, k.ServeHTTP)
	d := responses.DialectFor("openai")
	d.Store = store
	m := client(t, s.URL, func(c *provider.Config) { c.API = responses.New(d, nil) })
	return k, &conversation{t: t, m: m}
}

// SPEC 17.7: with the person's leave a request names the reply that it follows and sends
// only what is new; the model sees the same conversation.
func TestFollows(t *testing.T) {
	k, c := keeping(t, true)
	plain, d := keeping(t, false)
	for i := range 4 {
		text := fmt.Sprintf("question %d %s", i, strings.Repeat("x", 1000))
		must.Do(t, c.say(text))
		must.Do(t, d.say(text))
		if k.seen[i] != plain.seen[i] {
			t.Errorf("the model sees\n%s\nfor\n%s", k.seen[i], plain.seen[i])
		}
		if follows := strings.Contains(k.bodies[i], `"previous_response_id":"resp_`); follows != (i > 0) {
			t.Errorf("%d: %s", i, k.bodies[i])
		}
		if strings.Contains(plain.bodies[i], "previous_response_id") || !strings.Contains(plain.bodies[i], `"store":false`) {
			t.Errorf("without leave: %s", plain.bodies[i])
		}
	}
	if len(k.bodies[3]) > len(plain.bodies[3])/3 {
		t.Errorf("%d bytes for %d", len(k.bodies[3]), len(plain.bodies[3]))
	}
	// Something else asked in between does not matter, and a changed beginning is sent whole.
	other := &conversation{t: t, m: c.m}
	must.Do(t, other.say("beside"))
	must.Do(t, c.say("more"))
	if last := k.bodies[len(k.bodies)-1]; !strings.Contains(last, `"previous_response_id":"resp_4"`) {
		t.Errorf("%s", last)
	}
	c.ms[0].Parts[0].Text = "changed"
	must.Do(t, c.say("again"))
	if last := k.bodies[len(k.bodies)-1]; strings.Contains(last, "previous_response_id") || !strings.Contains(last, "changed") {
		t.Errorf("%s", last)
	}
}

// SPEC 5.1: a reply that was cut is not continued from the server's copy, which may be
// another than the one that is sent on.
func TestCutRepliesAreNotFollowed(t *testing.T) {
	k, c := keeping(t, true)
	k.cut = true
	for range 2 {
		must.Do(t, c.say("go on"))
	}
	if len(k.bodies) != 2 || strings.Contains(k.bodies[1], "previous_response_id") {
		t.Errorf("%q", k.bodies)
	}
}

// SPEC 17.7: what the server lost is sent whole at once, and it is not relied on again;
// a stream that breaks is tried again whole.
func TestFollowsWhatIsLost(t *testing.T) {
	k, c := keeping(t, true)
	must.Do(t, c.say("one"))
	clear(k.kept)
	for _, text := range []string{"two", "three"} {
		must.Do(t, c.say(text))
	}
	var how []bool
	for _, b := range k.bodies {
		how = append(how, strings.Contains(b, "previous_response_id"))
	}
	if fmt.Sprint(how) != "[false true false false]" || !strings.Contains(k.seen[2], "one") || strings.Count(k.seen[2], "two") != 1 {
		t.Errorf("%v %s", how, k.seen)
	}

	k, c = keeping(t, true)
	must.Do(t, c.say("one"))
	k.fail = func(n int, previous string) (int, string) {
		if previous != "" {
			return 200, "data: {\"type\":\"error\",\"code\":\"previous_response_not_found\",\"message\":\"gone\"}\n\n"
		}
		return 0, ""
	}
	if err := c.say("two"); err == nil {
		t.Fatal("no error")
	}
	must.Do(t, c.say("two"))
	k.fail = func(int, string) (int, string) { return 401, `{"error":{"message":"no"}}` }
	if err := c.say("three"); err == nil || len(k.bodies) != 4 {
		t.Errorf("%v after %d requests: a wrong key stays wrong", err, len(k.bodies))
	}
	if !bytes.Contains([]byte(k.bodies[2]), []byte("one")) {
		t.Errorf("%s", k.bodies[2])
	}
}
