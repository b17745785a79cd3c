package cli

import (
	"bytes"
	"compress/gzip"
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/pawl-agent/pawl/internal/core/event"
	"github.com/pawl-agent/pawl/internal/core/llm"
	"github.com/pawl-agent/pawl/internal/core/must"
	"github.com/pawl-agent/pawl/internal/frontend/headless"
	"github.com/pawl-agent/pawl/internal/frontend/setup"
)

func progressOutput(t *testing.T, in string, args ...string) (out, errs string, code int) {
	t.Helper()
	var o, e bytes.Buffer
	code = Main(context.Background(), &App{
		Environment: setup.Environment{Err: &e, Env: func(string) string { return "" }, Now: time.Now, Dir: t.TempDir()},
		In:          strings.NewReader(in),
		Out:         &o,
		Args:        append([]string{"progress"}, args...),
	})
	return o.String(), e.String(), code
}

// looping is a trajectory of n identical failures.
func looping(id string, n int) string {
	step := `{"tool":"edit","kind":"edit","target":"a","args_hash":"x","ok":false,"error":"no","obs_hash":"o","obs_norm":"o","obs_len":3,"edit_hash":"x","state":"","msg_hash":""}`
	return fmt.Sprintf(`{"id":%q,"outcome":"failed","n":%d,"steps":[%s]}`, id, n, strings.TrimSuffix(strings.Repeat(step+",", n), ",")) + "\n"
}

// SPEC 6.8: verdicts as score.py reads them, from plain and gzipped
// trajectories and from standard input.
func TestProgressTrajectories(t *testing.T) {
	t.Parallel()
	lines := looping("stuck", 6) + looping("fine", 2)
	dir := t.TempDir()
	plainFile, zipped := filepath.Join(dir, "a.jsonl"), filepath.Join(dir, "b.jsonl.gz")
	var z bytes.Buffer
	w := gzip.NewWriter(&z)
	fmt.Fprint(w, lines)
	w.Close()
	for name, data := range map[string][]byte{plainFile: []byte(lines), zipped: z.Bytes()} {
		must.Do(t, os.WriteFile(name, data, 0o600))
	}
	for _, from := range []string{plainFile, zipped, "-"} {
		out, errs, code := progressOutput(t, lines, "--json", from)
		if code != 0 {
			t.Fatalf("%s: %d %s", from, code, errs)
		}
		var got []map[string]any
		for line := range strings.Lines(out) {
			var v map[string]any
			must.Do(t, json.Unmarshal([]byte(line), &v))
			got = append(got, v)
		}
		if len(got) != 2 || got[0]["id"] != "stuck" || got[0]["warn"] != 2.0 || got[0]["halt"] != 4.0 || got[0]["rule"] != "identical" || got[0]["evidence"] == nil {
			t.Errorf("%s: %s", from, out)
		}
		if v, ok := got[1]["halt"]; got[1]["id"] != "fine" || !ok || v != nil {
			t.Errorf("%s: %s", from, out)
		}
	}
	out, _, _ := progressOutput(t, lines, plainFile)
	if !strings.Contains(out, "stuck: halt after step 5 of 6 (first warning after step 3): identical") || !strings.Contains(out, "fine: no loop in 2 steps") {
		t.Error(out)
	}
}

// SPEC 6.8: own sessions, as pawl sessions export writes them.
func TestProgressSessions(t *testing.T) {
	t.Parallel()
	var b bytes.Buffer
	seq := int64(0)
	add := func(session string, body event.Body) {
		seq++
		must.Do(t, headless.WriteEvent(&b, event.Event{Session: session, Seq: seq, Time: time.Unix(seq, 0), Body: body}))
	}
	for i := range 6 {
		for _, s := range []string{"one", "two"} {
			id := fmt.Sprint(s, i)
			args := json.RawMessage(`{"command":"make"}`)
			text := "error: no rule"
			if s == "two" {
				args = json.RawMessage(fmt.Sprintf(`{"command":"make %d"}`, i))
				text = fmt.Sprint("built ", i)
			}
			add(s, event.Replied{Reply: llm.Reply{Message: llm.Message{Role: llm.Assistant, Parts: []llm.Part{
				{Kind: llm.CallPart, Call: &llm.Call{ID: id, Name: "bash", Args: args}},
			}}}})
			add(s, event.CallAsked{ID: id, Tool: "bash", Args: args})
			add(s, event.CallDone{ID: id, Tool: "bash", Outcome: event.OK, Result: llm.Result{Text: text, Error: s == "one"}})
		}
	}
	b.WriteString(`{"type":"from_the_future","session":"one","seq":999,"body":{}}` + "\n")
	out, errs, code := progressOutput(t, b.String(), "--json", "-")
	if code != 0 {
		t.Fatal(code, errs)
	}
	lines := strings.Split(strings.TrimSpace(out), "\n")
	if len(lines) != 2 || !strings.Contains(lines[0], `{"id":"one","warn":2,"halt":4,"rule":"identical"`) || lines[1] != `{"id":"two","warn":null,"halt":null}` {
		t.Error(out)
	}
}

// What cannot be read is named with its place, and is a usage error.
func TestProgressRefuses(t *testing.T) {
	t.Parallel()
	for in, want := range map[string]string{
		looping("a", 1) + "nonsense\n": "line 2",
		`{"id":"a"}` + "\n":            "neither a trajectory nor a session's event",
		"\x1f\x8bnot gzip":             "-: ",
	} {
		if _, errs, code := progressOutput(t, in, "-"); code != 2 || !strings.Contains(errs, want) {
			t.Errorf("%q: %d %s", in, code, errs)
		}
	}
	if _, errs, code := progressOutput(t, "", "/nowhere/x.jsonl"); code != 2 || !strings.Contains(errs, "/nowhere/x.jsonl") {
		t.Errorf("%d %s", code, errs)
	}
	if _, _, code := progressOutput(t, ""); code != 2 {
		t.Errorf("without files: %d", code)
	}
}
