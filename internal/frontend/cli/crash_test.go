package cli

import (
	"bufio"
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"math/rand/v2"
	"net/http/httptest"
	"os"
	"path/filepath"
	"regexp"
	"runtime"
	"strconv"
	"sync/atomic"
	"testing"
	"time"

	"github.com/pawl-agent/pawl/internal/adapter/store/sqlite"
	"github.com/pawl-agent/pawl/internal/core/event"
	"github.com/pawl-agent/pawl/internal/core/llm/llmtest"
	"github.com/pawl-agent/pawl/internal/core/must"
)

var cacheMarkers = regexp.MustCompile(`,"cache_control":\{"type":"ephemeral"[^}]*\}`)

// messagesOf is a request up to the end of its messages, markers taken out.
func messagesOf(t *testing.T, body []byte) []byte {
	t.Helper()
	plain := cacheMarkers.ReplaceAll(body, nil)
	i := bytes.LastIndex(plain, []byte(`],"`)) // what follows the messages are limits and flags
	if i < 0 || !bytes.Contains(plain[:i], []byte(`"messages":[`)) {
		t.Fatalf("no messages in %.200s", plain)
	}
	return plain[:i]
}

// SPEC 4.8, 10.4: pawl is killed at random instants of a running session, over
// and over, and taken up again. No event that was shown is missing, every call
// has exactly one result once the session is taken up, and the next request
// begins with all that the one before the death said. PAWL_KILLS is how often.
func TestKilledAtAnyInstant(t *testing.T) {
	t.Parallel()
	kills, perSession := 48, 8
	if raceEnabled {
		kills = 24
	}
	if s := os.Getenv("PAWL_KILLS"); s != "" {
		kills = must.Get(strconv.Atoi(s))(t)
	}
	seed := uint64(time.Now().UnixNano())
	t.Logf("seed %d", seed)
	rnd := rand.New(rand.NewPCG(seed, 1))

	var srv *llmtest.Server
	var asked atomic.Int64 // a killed pawl's request may still be answered
	srv = &llmtest.Server{Reply: func(int, []byte) llmtest.Turn {
		calls := asked.Add(1)
		switch calls % 4 {
		case 0:
			return llmtest.Use("write", fmt.Sprintf(`{"path":"f%d.txt","content":"x"}`, calls))
		case 1:
			return llmtest.Use("bash", `{"command":"echo hi"}`, "ls", `{}`)
		case 2:
			return llmtest.Use("bash", `{"command":"seq 1 2000"}`)
		}
		return llmtest.Turn{Text: "some words first", Calls: llmtest.Use("glob", `{"pattern":"*.txt"}`).Calls}
	}}
	web := httptest.NewServer(srv)
	defer web.Close()

	home := t.TempDir()
	env := []string{"ANTHROPIC_API_KEY=test-key-000000", "ANTHROPIC_BASE_URL=" + web.URL}
	dir, id := "", ""
	var last []byte             // the messages of the session's last request
	shown := map[int64]string{} // stored events that were on the screen, of this session
	for k := range kills {
		args := []string{"run", "--permission-mode", "yolo", "--output-format", "stream-json", "-m", "anthropic/claude-script"}
		if k%perSession == 0 {
			dir, id, last, shown = t.TempDir(), "", nil, map[int64]string{}
		} else {
			args = append(args, "--resume", id)
		}
		before := len(srv.Bodies())
		cmd := pawl(t, dir, home, env, append(args, "go on")...)
		var stderr bytes.Buffer
		cmd.Stderr = &stderr
		out := must.Get(cmd.StdoutPipe())(t)
		must.Do(t, cmd.Start())
		lines, spin := 3+rnd.IntN(40), rnd.IntN(200_000)
		read := bufio.NewScanner(io.TeeReader(out, io.Discard))
		read.Buffer(nil, 8<<20)
		take := func() {
			var e struct {
				Type, Session string
				Seq           int64
			}
			if err := json.Unmarshal(read.Bytes(), &e); err != nil {
				return // the last line may be half of one
			}
			id = e.Session
			if e.Seq > 0 {
				shown[e.Seq] = e.Type
			}
		}
		n := 0
		for n < lines && read.Scan() {
			take()
			n++
		}
		if n < lines {
			t.Fatalf("kill %d: pawl ended by itself after %d lines: %s", k, n, stderr.String())
		}
		busy(spin)
		must.Do(t, cmd.Process.Kill())
		for read.Scan() {
			take()
		}
		_ = cmd.Wait() // killed

		if bodies := srv.Bodies(); len(bodies) > before {
			if next := messagesOf(t, bodies[before]); !bytes.HasPrefix(next, last) {
				t.Fatalf("kill %d: the request after the death does not begin with the one before it:\n…%s\n…%s", k, tail(last), tail(next))
			}
			last = messagesOf(t, bodies[len(bodies)-1])
		}
		checkLog(t, k, home, id, shown)
	}
	t.Logf("%d kills, %d requests", kills, len(srv.Bodies()))
}

// busy passes a little time without sleeping: it moves the instant of a death
// to somewhere between two lines.
func busy(n int) {
	for range n / 500 {
		runtime.Gosched()
	}
}

func tail(b []byte) []byte { return b[max(0, len(b)-2000):] }

// checkLog checks what is in the log after a death.
func checkLog(t *testing.T, k int, home, id string, shown map[int64]string) {
	t.Helper()
	path := filepath.Join(home, ".local", "state", "pawl", "pawl.db")
	must.Done(t)(os.Stat(path))
	st, err := sqlite.Open(t.Context(), path, sqlite.Options{})
	if err != nil {
		t.Fatalf("kill %d: %v", k, err)
	}
	defer st.Close()
	stored, open := map[int64]string{}, map[string]bool{}
	for e, err := range st.Read(t.Context(), id, 0) {
		if err != nil {
			t.Fatalf("kill %d: %v", k, err)
		}
		stored[e.Seq] = e.Body.Kind()
		switch b := e.Body.(type) {
		case event.CallAsked:
			if open[b.ID] {
				t.Errorf("kill %d: call %s asked twice", k, b.ID)
			}
			open[b.ID] = true
		case event.CallDone:
			if !open[b.ID] {
				t.Errorf("kill %d: call %s has two results", k, b.ID)
			}
			delete(open, b.ID)
		case event.Prompted:
			if len(open) > 0 {
				t.Errorf("kill %d: calls %v are open when the session goes on", k, open)
			}
		}
	}
	for seq, kind := range shown {
		if stored[seq] != kind {
			t.Errorf("kill %d: event %d (%s) was shown and is not stored (there is %q)", k, seq, kind, stored[seq])
		}
	}
}
