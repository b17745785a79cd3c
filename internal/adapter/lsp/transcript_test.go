package lsp

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/pawl-agent/pawl/internal/core/must"
	"github.com/pawl-agent/pawl/internal/core/process"
	"github.com/pawl-agent/pawl/internal/core/tool"
)

// This file replays what real servers said in a short session. The transcripts
// are written by internal/realservers (TestRecord): a message a line, ">" to the
// server, "<" from it.

// transcript is a recorded session.
type transcript struct {
	lines []recorded
	files map[string]string // what documents were opened with
}

type recorded struct {
	from bool // the server
	raw  string
	message
}

func readTranscript(t *testing.T, server string) transcript {
	t.Helper()
	b := must.Get(os.ReadFile(filepath.Join("testdata", "transcripts", server+".transcript")))(t)
	out := transcript{files: map[string]string{}}
	for l := range strings.Lines(string(b)) {
		r := recorded{from: l[0] == '<', raw: strings.TrimSpace(l[2:])}
		if err := json.Unmarshal([]byte(r.raw), &r.message); err != nil {
			t.Fatalf("%s: %v", l, err)
		}
		var open didOpen
		if r.Method == "textDocument/didOpen" && json.Unmarshal(r.Params, &open) == nil {
			out.files[strings.TrimPrefix(open.TextDocument.URI, "file://$ROOT/")] = open.TextDocument.Text
		}
		out.lines = append(out.lines, r)
	}
	return out
}

// replayed is a server that sends what was recorded: after each message of the
// client, the messages that followed it then.
type replayed struct {
	*fake
	of    transcript
	root  string
	at    int
	ids   map[string]json.RawMessage // of requests: as recorded → as asked now
	chunk int                        // bytes that are written at once; 0: a message
	// before and after are said around each message of the server.
	before, after func(r recorded, id json.RawMessage) []string
	answered      map[string]bool // requests of the server that were answered
	asked         []string
	mu            sync.Mutex
}

// run is what fake.run is.
func (p *replayed) run() {
	defer p.Kill(0)
	in := bufio.NewReader(p.inR)
	for {
		length := 0
		for {
			line, err := in.ReadString('\n')
			if err != nil {
				return
			}
			if line = strings.TrimSpace(line); line == "" {
				break
			}
			length, _ = strconv.Atoi(strings.TrimPrefix(line, "Content-Length: "))
		}
		body := make([]byte, length)
		if _, err := io.ReadFull(in, body); err != nil {
			return
		}
		var m message
		if err := json.Unmarshal(body, &m); err != nil {
			p.t.Errorf("pawl sent what cannot be read: %s", body)
			return
		}
		if m.Method == "exit" {
			return
		}
		p.hear(m)
	}
}

func (p *replayed) hear(m message) {
	if m.Method == "" {
		p.mu.Lock()
		p.answered[string(m.ID)] = true
		p.mu.Unlock()
		return
	}
	i := slices.IndexFunc(p.of.lines[p.at:], func(r recorded) bool { return !r.from && r.Method == m.Method })
	if i < 0 {
		return
	}
	i += p.at
	p.ids[string(p.of.lines[i].ID)] = m.ID
	for p.at <= i || p.at < len(p.of.lines) && (p.of.lines[p.at].from || p.of.lines[p.at].Method == "") {
		if r := p.of.lines[p.at]; r.from {
			p.say(r)
		}
		p.at++
	}
}

func (p *replayed) say(r recorded) {
	raw, id := strings.ReplaceAll(r.raw, "$ROOT", p.root), r.ID
	if r.Method == "" {
		id = p.ids[string(r.ID)]
		raw = fmt.Sprintf(`{"jsonrpc":"2.0","id":%s,"result":%s}`, id, strings.ReplaceAll(string(r.Result), "$ROOT", p.root))
	} else if r.ID != nil {
		p.asked = append(p.asked, string(r.ID))
	}
	var all []string
	if p.before != nil {
		all = p.before(r, id)
	}
	all = append(all, raw)
	if p.after != nil {
		all = append(all, p.after(r, id)...)
	}
	for _, body := range all {
		bytes := fmt.Sprintf("Content-Length: %d\r\n\r\n%s", len(body), body)
		for p.chunk > 0 && len(bytes) > p.chunk {
			p.raw(bytes[:p.chunk])
			bytes = bytes[p.chunk:]
		}
		p.raw(bytes)
	}
}

// sessions are what is asked in the recorded sessions, and a part of each answer.
var sessions = map[string]struct {
	symbols, diagnostics, hover string // paths
	line, column                int    // of the hover
	symbol, wrong, says         string
}{
	"gopls":      {"main.go", "main.go", "main.go", 10, 21, "main.go:9 main", "11 declared and not used: unused", "func area.Square(side int) int"},
	"typescript": {"src/area.ts", "src/main.ts", "src/main.ts", 3, 25, "src/area.ts:2 square", "4 Type 'string' is not assignable", "square(side: number): number"},
	"tsc":        {"src/area.ts", "src/main.ts", "src/main.ts", 3, 25, "src/area.ts:2 square", "4 Type 'string' is not assignable", "square(side: number): number"},
	"pyright":    {"main.py", "main.py", "main.py", 4, 16, "a", "5 Type \"Literal", "square(side: int) -> int"},
	"json":       {"a.json", "a.json", "", 0, 0, "a.json:2 b", "3 ", ""},
	"bash":       {"lib.sh", "", "main.sh", 3, 15, "", "", "Squares"},
	"yaml":       {"a.yaml", "a.yaml", "", 0, 0, "a.yaml:2 c", " Flow", ""},
	"clangd":     {"area.c", "main.c", "main.c", 3, 47, "area.c:2 square", "5 Expected ';'", "int square(int side)"},
}

// replay asks a recorded session's questions.
func replay(t *testing.T, server string, of transcript, how func(*replayed)) {
	t.Helper()
	q := sessions[server]
	files := map[string]string{"go.mod": "module m\n"}
	for name, text := range of.files {
		files[name] = text
	}
	synctest.Test(t, func(t *testing.T) {
		var p *replayed
		b := newBench(t, files, func(o *Options) {
			o.Table = slices.DeleteFunc(Known(), func(s Server) bool { return s.Name != server })
		})
		defer b.Close()
		b.Servers.opt.Start = starterFunc(func(process.Program) process.Process {
			p = &replayed{fake: newFake(t), of: of, root: b.dir, ids: map[string]json.RawMessage{}, answered: map[string]bool{}}
			if how != nil {
				how(p)
			}
			go p.run()
			return p
		})
		began := time.Now()
		var got []string
		ss, err := b.Symbols(t.Context(), q.symbols, "")
		for _, s := range ss {
			got = append(got, fmt.Sprintf("%s:%d %s", s.Path, s.Line, s.Name))
		}
		if err != nil || !strings.Contains(strings.Join(got, ", "), q.symbol) {
			t.Errorf("symbols: %q, %v", got, err)
		}
		if q.diagnostics != "" {
			ds, err := b.Diagnostics(t.Context(), []string{q.diagnostics})
			got = nil
			for _, d := range ds {
				got = append(got, fmt.Sprintf("%d %s", d.Line, d.Message))
			}
			if err != nil || !strings.Contains(strings.Join(got, ", "), q.wrong) {
				t.Errorf("diagnostics: %q, %v", got, err)
			}
		}
		if q.hover != "" {
			text, err := b.Hover(t.Context(), tool.CodeAt{Path: q.hover, Line: q.line, Column: q.column})
			if err != nil || !strings.Contains(text, q.says) {
				t.Errorf("hover: %q, %v", text, err)
			}
		}
		if took := time.Since(began); took > 25*time.Second {
			t.Errorf("it took %s", took)
		}
		synctest.Wait()
		p.mu.Lock()
		defer p.mu.Unlock()
		for _, id := range p.asked {
			if !p.answered[id] {
				t.Errorf("request %s of the server was not answered", id)
			}
		}
		if b.list()[0].starts != 1 {
			t.Errorf("%d starts", b.list()[0].starts)
		}
	})
}

type starterFunc func(process.Program) process.Process

func (f starterFunc) Start(_ context.Context, p process.Program) (process.Process, error) {
	return f(p), nil
}

// SPEC 12.3: what real servers said is understood however it comes: in pieces of
// any size, with other messages between, with messages that are none, with
// answers to what was not asked, with answers that come twice or with others in
// between that are huge.
func TestTranscripts(t *testing.T) {
	ways := map[string]func(*replayed){
		"as it was": nil,
		"noise": func(p *replayed) {
			p.before = func(recorded, json.RawMessage) []string {
				return []string{
					`{"jsonrpc":"2.0","method":"$/progress","params":{"token":7,"value":{"kind":"report","percentage":50}}}`,
					`{"jsonrpc":"2.0","method":"window/logMessage","params":{"type":4,"message":"漢字 🐾 \u0000 Content-Length: 5\r\n\r\n"}}`,
					`{"jsonrpc":"2.0","method":"telemetry/event","params":[1,2,3]}`,
					`{"jsonrpc":"2.0","method":"textDocument/publishDiagnostics","params":{"uri":"file:///elsewhere/x","diagnostics":[{"range":{"start":{"line":0,"character":0},"end":{"line":0,"character":1}},"message":"not here"}]}}`,
					`{"jsonrpc":"2.0","method":"textDocument/publishDiagnostics","params":{"uri":5}}`,
				}
			}
		},
		"no JSON": func(p *replayed) {
			p.before = func(recorded, json.RawMessage) []string {
				return []string{`{"jsonrpc":"2.0","id":`, ``, `]`, "\xff\xfe"}
			}
		},
		"wrong ids": func(p *replayed) {
			p.before = func(_ recorded, id json.RawMessage) []string {
				var out []string
				for _, wrong := range []string{"0", "-1", "null", `"1"`, "99999", "1.5", "{}", string(id) + "000"} {
					out = append(out, `{"jsonrpc":"2.0","id":`+wrong+`,"result":{"contents":"wrong"}}`)
				}
				return out
			}
		},
		"late answers": func(p *replayed) {
			p.after = func(r recorded, id json.RawMessage) []string {
				if r.Method != "" {
					return nil
				}
				return []string{fmt.Sprintf(`{"jsonrpc":"2.0","id":%s,"result":{"contents":"late"}}`, id), fmt.Sprintf(`{"jsonrpc":"2.0","id":%s,"error":{"code":1,"message":"late"}}`, id)}
			}
		},
		"huge": func(p *replayed) {
			said := false
			p.before = func(r recorded, _ json.RawMessage) []string {
				if r.Method != "" || said || string(r.ID) == "1" { // once, before the first answer after the handshake
					return nil
				}
				said = true
				return []string{`{"jsonrpc":"2.0","method":"window/logMessage","params":{"message":"` + strings.Repeat("x", 1<<20) + `"}}`}
			}
		},
	}
	for _, n := range []int{1, 3, 64, 1000} {
		ways[fmt.Sprintf("pieces of %d", n)] = func(p *replayed) { p.chunk = n }
	}
	for server := range sessions {
		of := readTranscript(t, server)
		for way, how := range ways {
			t.Run(server+"/"+way, func(t *testing.T) { t.Parallel(); replay(t, server, of, how) })
		}
	}
}
