package cli

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/nats-io/nats-server/v2/server"
	"github.com/rogpeppe/go-internal/testscript"

	"github.com/pawl-agent/pawl/internal/adapter/nats/natstest"
	"github.com/pawl-agent/pawl/internal/core/llm"
	"github.com/pawl-agent/pawl/internal/core/llm/llmtest"
)

// scripted is one answer in a script's replies.json.
type scripted struct {
	Text  string
	Calls []struct {
		Name string
		Args json.RawMessage
	}
	Again  int    // how often it is given
	Repeat int    // how often the text is said
	Hang   bool   // never ends
	Status int    // an HTTP error instead
	Raw    string // this body instead
	Type   string // with Raw: its content type
	Later  string // with Status: its Retry-After
}

// TestScript runs the command line as a person would: each file in
// testdata/script is a session with the real program, a scripted model server
// and an empty home, in which the files below home/ are put. Home, pawl's state
// and the temporary folder lie beside the workspace, as they do for a person, so
// commands run confined (SPEC 16.12). With PAWL_TEST_SANDBOX=off the kernel has
// no Landlock for them, and every script must pass as well but those that begin
// with [!sandbox] stop.
func TestScript(t *testing.T) {
	t.Parallel()
	testscript.Run(t, testscript.Params{
		Dir: "testdata/script",
		Setup: func(e *testscript.Env) error {
			srv := httptest.NewServer(replies(filepath.Join(e.WorkDir, "replies.json")))
			e.Defer(srv.Close)
			beside, err := os.MkdirTemp("", "pawl-script-")
			if err != nil {
				return err
			}
			e.Defer(func() { _ = os.RemoveAll(beside) })
			home, temp := filepath.Join(beside, "home"), filepath.Join(beside, "tmp")
			if err := os.Rename(filepath.Join(e.WorkDir, "home"), home); err != nil && !errors.Is(err, fs.ErrNotExist) {
				return err
			}
			for _, dir := range []string{home, temp} {
				if err := os.MkdirAll(dir, 0o700); err != nil {
					return err
				}
			}
			for _, kv := range append(raceEnv(), withoutLandlock+"="+os.Getenv(withoutLandlock), "HOME="+home, "TMPDIR="+temp, "SERVER="+srv.URL,
				"ANTHROPIC_API_KEY=sk-ant-test-0000000000000000", "ANTHROPIC_BASE_URL="+srv.URL, "PAWL_MODEL=anthropic/claude-script",
				"GOFLAGS=-mod=mod", "GOTOOLCHAIN=local") {
				name, value, _ := strings.Cut(kv, "=")
				e.Setenv(name, value)
			}
			folders, err := goFolders()
			for name, folder := range folders {
				e.Setenv(name, folder)
			}
			return err
		},
		Condition: func(name string) (bool, error) {
			if name != "sandbox" {
				return false, fmt.Errorf("no condition is named %s", name)
			}
			return runtime.GOOS == "linux" && os.Getenv(withoutLandlock) != "off", nil
		},
		Cmds: map[string]func(*testscript.TestScript, bool, []string){
			"exit": exitIs, "jsonfield": jsonField, "natsserver": natsServer,
		},
	})
}

// goFolders are what a go command finds by itself in the tests' own home.
var goFolders = sync.OnceValues(func() (map[string]string, error) {
	out, err := exec.Command("go", "env", "-json", "GOCACHE", "GOMODCACHE", "GOPATH").Output()
	if err != nil {
		return nil, fmt.Errorf("go env: %w", err)
	}
	var folders map[string]string
	return folders, json.Unmarshal(out, &folders)
})

// replies serves the answers in a file, in order; after the last it says
// "done".
func replies(path string) http.Handler {
	var load sync.Once
	var script []scripted
	turn := func(n int) llmtest.Turn {
		if n >= len(script) {
			return llmtest.Say("done")
		}
		t := llmtest.Turn{Text: script[n].Text}
		if k := script[n].Repeat; k > 0 {
			t.Text, t.Piece = strings.Repeat(t.Text, k), 100
		}
		for _, c := range script[n].Calls {
			t.Calls = append(t.Calls, llm.Call{Name: c.Name, Args: c.Args})
		}
		if script[n].Hang {
			t.Wait = make(chan struct{})
		}
		return t
	}
	n := 0
	var mu sync.Mutex
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		load.Do(func() {
			raw, err := os.ReadFile(path)
			if err == nil {
				err = json.Unmarshal(raw, &script)
			}
			if err != nil && !os.IsNotExist(err) {
				panic(err)
			}
			for i := len(script) - 1; i >= 0; i-- {
				for range script[i].Again - 1 {
					script = slices.Insert(script, i, script[i])
				}
			}
		})
		mu.Lock()
		i := n
		n++
		mu.Unlock()
		if i < len(script) && (script[i].Raw != "" || script[i].Status != 0) {
			w.Header().Set("Content-Type", script[i].Type)
			if script[i].Later != "" {
				w.Header().Set("Retry-After", script[i].Later)
			}
			if script[i].Status != 0 {
				w.WriteHeader(script[i].Status)
			}
			fmt.Fprint(w, script[i].Raw)
			return
		}
		(&llmtest.Server{Reply: func(int, []byte) llmtest.Turn { return turn(i) }}).ServeHTTP(w, r)
	})
}

// natsServer starts a NATS server and puts its address into $NATS. With a word it
// asks for that as a token.
func natsServer(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) > 1 {
		ts.Fatalf("usage: natsserver [TOKEN]")
	}
	s, err := natstest.New(ts.MkAbs(".nats"), func(o *server.Options) { o.Authorization = strings.Join(args, "") })
	ts.Check(err)
	ts.Defer(func() { s.Shutdown(); s.WaitForShutdown() })
	if !s.ReadyForConnections(patient) {
		ts.Fatalf("the NATS server is not ready")
	}
	ts.Setenv("NATS", s.ClientURL())
}

// exitIs runs a command and checks its exit code: exit 3 pawl run hello.
func exitIs(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) < 2 {
		ts.Fatalf("usage: exit CODE COMMAND…")
	}
	err := ts.Exec(args[1], args[2:]...)
	code := 0
	if e, ok := err.(*exec.ExitError); ok {
		code = e.ExitCode()
	} else if err != nil {
		ts.Fatalf("%v", err)
	}
	if fmt.Sprint(code) != args[0] {
		ts.Fatalf("exit code %d, want %s", code, args[0])
	}
}

// jsonField checks a field of the last line of stdout:
// jsonfield outcome '"done"', jsonfield verified.ok true.
func jsonField(ts *testscript.TestScript, neg bool, args []string) {
	if len(args) != 2 {
		ts.Fatalf("usage: jsonfield PATH JSON")
	}
	lines := strings.Split(strings.TrimSpace(ts.ReadFile("stdout")), "\n")
	var v any
	if err := json.Unmarshal([]byte(lines[len(lines)-1]), &v); err != nil {
		ts.Fatalf("stdout does not end in JSON: %v", err)
	}
	for _, k := range strings.Split(args[0], ".") {
		m, ok := v.(map[string]any)
		if !ok {
			ts.Fatalf("no %s: %v is not an object", args[0], v)
		}
		v = m[k]
	}
	got, err := json.Marshal(v)
	ts.Check(err)
	if (string(got) == args[1]) == neg {
		ts.Fatalf("%s is %s, want %s", args[0], got, args[1])
	}
}
