package replay

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/pawl-agent/pawl/internal/core/fault"
	"github.com/pawl-agent/pawl/internal/core/llm"
	"github.com/pawl-agent/pawl/internal/core/llm/llmtest"
	"github.com/pawl-agent/pawl/internal/core/must"
	"github.com/pawl-agent/pawl/internal/policy/secrets"
)

func request(prompts ...string) *llm.Request {
	r := &llm.Request{}
	for _, p := range prompts {
		r.Messages = append(r.Messages, llm.Message{Role: llm.User, Parts: []llm.Part{llm.TextPart(p)}})
	}
	return r
}

// ask returns the reply to a request, and the text that was streamed.
func ask(t *testing.T, m llm.Model, r *llm.Request) (reply *llm.Reply, streamed string, err error) {
	t.Helper()
	for d, e := range m.Stream(t.Context(), r) {
		if err = e; e == nil && d.Kind == llm.Done {
			reply = d.Reply
		}
		if d.Kind == llm.DeltaText {
			streamed += d.Text
		}
	}
	return reply, streamed, err
}

func record(t *testing.T, m llm.Model, requests ...*llm.Request) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "r.jsonl")
	r := NewRecorder(path, secrets.New("sk-ant-held-00000000000000").MaskBytes)
	w := r.Wrap(m)
	for _, q := range requests {
		_, _, _ = ask(t, w, q)
	}
	must.Do(t, r.Close())
	return path
}

// Issue 15, point 9: what is played is what was recorded: replies, calls, usage and errors.
func TestRoundTrip(t *testing.T) {
	limited := &fault.Error{Category: fault.Provider, Message: "too many requests", Hint: "wait", Status: 429, Retryable: true}
	long := &fault.Error{Category: fault.Provider, Kind: fault.ErrContextLength, Message: "too long"}
	m := llmtest.New(llmtest.Use("read", `{"path":"<a> & b"}`), llmtest.Turn{Err: limited}, llmtest.Turn{Text: "héllo", Reasoning: "hm"}, llmtest.Turn{Err: long})
	q := request("go")
	path := record(t, m, q, q, q, q)
	p := must.Get(Open(path))(t)
	first, _, err := ask(t, p, q)
	if err != nil || len(first.Message.Calls()) != 1 || string(first.Message.Calls()[0].Args) != `{"path":"<a> & b"}` || first.Usage.Input != 100 || first.Stop != llm.StopCalls {
		t.Errorf("%+v, %v", first, err)
	}
	var f *fault.Error
	if _, _, err := ask(t, p, q); !errors.As(err, &f) || f.Status != 429 || !f.Retryable || f.Hint != "wait" || f.Category != fault.Provider {
		t.Errorf("%+v", err)
	}
	if third, streamed, err := ask(t, p, q); err != nil || third.Message.Text() != "héllo" || streamed != "héllo" {
		t.Errorf("%+v, %q, %v", third, streamed, err)
	}
	if _, _, err := ask(t, p, q); !errors.Is(err, fault.ErrContextLength) {
		t.Errorf("%v", err)
	}
	if _, _, err := ask(t, p, q); err == nil || !strings.Contains(err.Error(), "all 4 were played") {
		t.Errorf("%v", err)
	}
	if i := p.Info(); i.Ref() != "replay/r.jsonl" || i.Price == nil || *i.Price != (llm.Price{}) || i.Window != 200_000 {
		t.Errorf("%+v", i)
	}
}

// The replies of several conversations are played to those that asked.
func TestConversations(t *testing.T) {
	m := &llmtest.Model{Next: func(_ int, r *llm.Request) llmtest.Turn {
		return llmtest.Say(r.Messages[0].Text() + " " + fmt.Sprint(len(r.Messages)))
	}}
	path := record(t, m, request("a"), request("b"), request("a", "more"), request("b", "more"))
	p := must.Get(Open(path))(t)
	for _, q := range []*llm.Request{request("b"), request("b", "more"), request(" a\n"), request("a", "more")} {
		want := strings.TrimSpace(q.Messages[0].Text()) + " " + fmt.Sprint(len(q.Messages))
		if got, _, err := ask(t, p, q); err != nil || got.Message.Text() != want {
			t.Errorf("%v, %v, want %s", got, err, want)
		}
	}
	p, _ = Open(path)
	if got, _, err := ask(t, p, request("another prompt")); err != nil || got.Message.Text() != "a 1" {
		t.Errorf("%v, %v", got, err)
	}
}

func TestManyAtOnce(t *testing.T) {
	path := filepath.Join(t.TempDir(), "r.jsonl")
	r := NewRecorder(path, secrets.New().MaskBytes)
	w := r.Wrap(&llmtest.Model{})
	var all sync.WaitGroup
	for i := range 50 {
		all.Go(func() { _, _, _ = ask(t, w, request(fmt.Sprint(i))) })
	}
	all.Wait()
	must.Do(t, r.Close())
	if p, err := Open(path); err != nil || p.all != 50 {
		t.Errorf("%v", err)
	}
}

// No secret is in a recording, and what is left is still a recording.
func TestMasked(t *testing.T) {
	m := llmtest.New(
		llmtest.Say("the key is sk-ant-held-00000000000000"),
		llmtest.Use("bash", `{"command":"curl -H 'Authorization: Bearer ghp_0123456789abcdefghijABCDEFGHIJ012345'"}`),
		llmtest.Turn{Err: &fault.Error{Category: fault.Provider, Message: "bad key sk-ant-held-00000000000000"}},
	)
	q := request("my password is in AKIAIOSFODNN7EXAMPLX and sk-ant-held-00000000000000")
	path := record(t, m, q, q, q)
	b := must.Get(os.ReadFile(path))(t)
	for _, secret := range []string{"sk-ant-held-0000", "ghp_0123456789"} {
		if strings.Contains(string(b), secret) {
			t.Errorf("%s is in %s", secret, b)
		}
	}
	if p, err := Open(path); err != nil || p.all != 3 {
		t.Errorf("%v", err)
	}
}

func TestBadRecordings(t *testing.T) {
	dir := t.TempDir()
	for name, text := range map[string]string{
		"empty": "", "words": "hello\n", "other JSON": "{}\n", "a list": "[1]\n", "newer": `{"pawl_recording":2}` + "\n",
		"no reply": `{"pawl_recording":1,"model":{}}` + "\n{}\n", "cut": `{"pawl_recording":1,"model":{}}` + "\n" + `{"reply":{"mess`,
	} {
		path := filepath.Join(dir, name)
		must.Write(t, path, text)
		var f *fault.Error
		if _, err := Open(path); !errors.As(err, &f) || f.Category != fault.Configuration {
			t.Errorf("%s: %v", name, err)
		}
	}
	if _, err := Open(filepath.Join(dir, "none")); err == nil {
		t.Error("a file that is not there is read")
	}
}

// A recording is never mixed with another one.
func TestExisting(t *testing.T) {
	path := record(t, llmtest.New(), request("a"))
	was, _ := os.ReadFile(path)
	r := NewRecorder(path, secrets.New().MaskBytes)
	if _, _, err := ask(t, r.Wrap(llmtest.New()), request("b")); err == nil || !strings.Contains(err.Error(), "exists") {
		t.Errorf("%v", err)
	}
	if now, _ := os.ReadFile(path); string(now) != string(was) || !json.Valid([]byte(strings.SplitN(string(now), "\n", 2)[0])) {
		t.Error("the recording changed")
	}
}
