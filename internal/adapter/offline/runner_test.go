package offline

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/pawl-agent/pawl/internal/core/llm"
	"github.com/pawl-agent/pawl/internal/core/must"
)

// This file is a small executor: it runs the calls of the built-in model on
// real files with the real go command, in the words of adapter/tools, so that
// the model is tested as a model is.

// runner is a workspace and its tools.
type runner struct {
	t   testing.TB
	dir string
	// deny, where set, refuses a call with a text.
	deny func(c llm.Call) string
	// readLimit cuts read results as a window does: bytes, 0 no limit.
	readLimit int
	calls     int
	env       []string // added for commands
}

func (r *runner) run(c llm.Call) llm.Result {
	r.calls++
	if r.deny != nil {
		if why := r.deny(c); why != "" {
			return llm.Result{ID: c.ID, Name: c.Name, Text: why, Error: true}
		}
	}
	var a struct {
		Path, Old, New, Content, Pattern, Command, Glob, Patch string
		Literal                                                bool
		FilesOnly                                              bool `json:"files_only"`
		ReplaceAll                                             bool `json:"replace_all"`
		Files                                                  []struct {
			Path     string
			From, To int
		}
		Edits []struct{ Path, Old, New string }
		With  []struct{ Path, Content string }
	}
	if err := json.Unmarshal(c.Args, &a); err != nil {
		r.t.Fatalf("arguments of %s: %v", c.Name, err)
	}
	var text string
	var err error
	switch c.Name {
	case "read":
		for _, f := range a.Files {
			var s string
			if s, err = r.read(f.Path, f.From, f.To); err != nil {
				break
			}
			text += s
		}
		if r.readLimit > 0 && len(text) > r.readLimit {
			h := r.readLimit / 2
			text = text[:h] + "\n[… " + fmt.Sprint(len(text)-2*h) + " bytes left out; the whole is elsewhere …]\n" + text[len(text)-h:]
		}
	case "edit":
		err = r.edit(a.Path, a.Old, a.New, a.ReplaceAll)
	case "multi_edit":
		for _, e := range a.Edits {
			if err = r.edit(e.Path, e.Old, e.New, false); err != nil {
				break
			}
		}
	case "write":
		p := filepath.Join(r.dir, a.Path)
		_ = os.MkdirAll(filepath.Dir(p), 0o755)
		err = os.WriteFile(p, []byte(a.Content), 0o644)
	case "apply_patch":
		for _, p := range regexp.MustCompile(`(?m)^\*\*\* Delete File: (.*)$`).FindAllStringSubmatch(a.Patch, -1) {
			if err = os.Remove(filepath.Join(r.dir, p[1])); err != nil {
				break
			}
		}
	case "glob":
		text = r.glob(a.Pattern)
	case "grep":
		text = r.grep(a.Pattern, a.Glob, a.Literal, a.FilesOnly)
	case "ls":
		es, _ := os.ReadDir(r.dir)
		for _, e := range es {
			text += e.Name() + "\n"
		}
	case "bash":
		text = r.bash(a.Command)
	case "go_overlay":
		text = r.overlay(a.Command, a.With)
	default:
		r.t.Fatalf("unknown tool %s", c.Name)
	}
	if err != nil {
		return llm.Result{ID: c.ID, Name: c.Name, Text: err.Error(), Error: true}
	}
	return llm.Result{ID: c.ID, Name: c.Name, Text: text, Error: (c.Name == "bash" || c.Name == "go_overlay") && !strings.HasSuffix(text, "exit code 0")}
}

func (r *runner) read(path string, from, to int) (string, error) {
	data, err := os.ReadFile(filepath.Join(r.dir, path))
	if err != nil {
		return "", fmt.Errorf("%s does not exist", path)
	}
	if len(data) == 0 {
		return "== " + path + " (empty) ==\n", nil
	}
	ls := strings.Split(strings.TrimSuffix(string(data), "\n"), "\n")
	n := len(ls)
	from = max(from, 1)
	if to == 0 || to > n {
		to = n
	}
	var b strings.Builder
	fmt.Fprintf(&b, "== %s (lines %d-%d of %d) ==\n", path, from, to, n)
	for i := from; i <= to; i++ {
		fmt.Fprintf(&b, "%d\t%s\n", i, ls[i-1])
	}
	return b.String(), nil
}

func (r *runner) edit(path, old, new string, all bool) error {
	p := filepath.Join(r.dir, path)
	data, err := os.ReadFile(p)
	if err != nil {
		return err
	}
	n := strings.Count(string(data), old)
	if n == 0 || n > 1 && !all {
		return fmt.Errorf("%s: old is there %d times", path, n)
	}
	return os.WriteFile(p, []byte(strings.ReplaceAll(string(data), old, new)), 0o644)
}

func (r *runner) files() []string {
	var out []string
	_ = filepath.WalkDir(r.dir, func(p string, d os.DirEntry, err error) error {
		if err == nil && !d.IsDir() {
			rel, _ := filepath.Rel(r.dir, p)
			out = append(out, filepath.ToSlash(rel))
		}
		return nil
	})
	slices.Sort(out)
	return out
}

func (r *runner) glob(pattern string) string {
	q := regexp.QuoteMeta(pattern)
	q = strings.ReplaceAll(q, `\*\*/`, `(.*/)?`)
	q = strings.ReplaceAll(q, `\*\*`, `.*`)
	q = strings.ReplaceAll(q, `\*`, `[^/]*`)
	re := regexp.MustCompile("^" + q + "$")
	var b strings.Builder
	for _, f := range r.files() {
		if re.MatchString(f) {
			b.WriteString(f + "\n")
		}
	}
	if b.Len() == 0 {
		return "no files match " + pattern
	}
	return b.String()
}

func (r *runner) grep(pattern, glob string, literal, filesOnly bool) string {
	if literal {
		pattern = regexp.QuoteMeta(pattern)
	}
	re := regexp.MustCompile(pattern)
	var b strings.Builder
	for _, f := range r.files() {
		if ok, _ := filepath.Match(glob, filepath.Base(f)); glob != "" && !ok {
			continue
		}
		data, _ := os.ReadFile(filepath.Join(r.dir, f))
		first := true
		for i, l := range strings.Split(string(data), "\n") {
			if re.MatchString(l) {
				if filesOnly {
					b.WriteString(f + "\n")
					break
				}
				if first {
					b.WriteString(f + "\n")
				}
				first = false
				fmt.Fprintf(&b, "%d:%s\n", i+1, l)
			}
		}
	}
	if b.Len() == 0 {
		return "no matches in 3 files"
	}
	return b.String()
}

func (r *runner) bash(command string) string {
	cmd := exec.Command("sh", "-c", command)
	cmd.Dir = r.dir
	cmd.Env = append(os.Environ(), "GOFLAGS=-mod=mod", "GOPROXY=off", "GOWORK=off", "GOTOOLCHAIN=local")
	cmd.Env = append(cmd.Env, r.env...)
	out, _ := cmd.CombinedOutput()
	s := string(out)
	if s != "" && !strings.HasSuffix(s, "\n") {
		s += "\n"
	}
	return s + fmt.Sprintf("exit code %d", cmd.ProcessState.ExitCode())
}

// goHead is what stands before the further flags of a go command.
var goHead = regexp.MustCompile(`^(cd ('[^']*'|\S+) && )?go (test|vet|build)`)

// overlay runs a go command with files laid over the workspace.
func (r *runner) overlay(command string, with []struct{ Path, Content string }) string {
	dir, replace := filepath.Join(r.t.TempDir(), "pawl-overlay-1"), map[string]string{}
	must.Do(r.t, os.Mkdir(dir, 0o755))
	for i, f := range with {
		to := filepath.Join(dir, fmt.Sprint(i)+".go")
		must.Write(r.t, to, f.Content)
		replace[filepath.Join(r.dir, f.Path)] = to
	}
	list, err := json.Marshal(map[string]any{"Replace": replace})
	if err == nil {
		err = os.WriteFile(filepath.Join(dir, "overlay.json"), list, 0o644)
	}
	must.Do(r.t, err)
	head := goHead.FindString(command)
	return r.bash(head + " -overlay=" + filepath.Join(dir, "overlay.json") + command[len(head):])
}

// put writes files into the workspace: pairs of name and content.
func (r *runner) put(pairs ...string) *runner {
	for i := 0; i < len(pairs); i += 2 {
		p := filepath.Join(r.dir, pairs[i])
		must.Do(r.t, os.MkdirAll(filepath.Dir(p), 0o755))
		must.Write(r.t, p, pairs[i+1])
	}
	return r
}

func (r *runner) get(name string) string {
	data, err := os.ReadFile(filepath.Join(r.dir, name))
	must.Do(r.t, err)
	return string(data)
}

// tree is every file with its content.
func (r *runner) tree() map[string]string {
	out := map[string]string{}
	for _, f := range r.files() {
		out[f] = r.get(f)
	}
	return out
}

func workspace(t testing.TB, pairs ...string) *runner {
	return (&runner{t: t, dir: t.TempDir()}).put(pairs...)
}

// ask sends messages to a model and returns its reply.
func ask1(t testing.TB, m *Model, ms []llm.Message) llm.Reply {
	t.Helper()
	var reply *llm.Reply
	text := ""
	for d, err := range m.Stream(context.Background(), &llm.Request{Messages: ms}) {
		must.Do(t, err)
		if d.Kind == llm.DeltaText {
			text += d.Text
		}
		reply = d.Reply
	}
	if reply == nil {
		t.Fatal("no reply")
	}
	if text != reply.Message.Text() {
		t.Fatalf("streamed %q, replied %q", text, reply.Message.Text())
	}
	return *reply
}

func user(text string) llm.Message {
	return llm.Message{Role: llm.User, Parts: []llm.Part{llm.TextPart(text)}}
}

// turn runs a prompt to its end; it returns all messages and what was said last.
func (r *runner) turn(m *Model, ms []llm.Message, prompt string) ([]llm.Message, string) {
	r.t.Helper()
	ms = append(slices.Clone(ms), user(prompt))
	for range 2000 {
		reply := ask1(r.t, m, ms)
		ms = append(ms, reply.Message)
		calls := reply.Message.Calls()
		if len(calls) == 0 {
			return ms, reply.Message.Text()
		}
		tm := llm.Message{Role: llm.Tool}
		for _, c := range calls {
			res := r.run(c)
			tm.Parts = append(tm.Parts, llm.Part{Kind: llm.Output, Result: &res})
		}
		ms = append(ms, tm)
	}
	r.t.Fatal("the turn does not end")
	return nil, ""
}

// said is all text of a conversation's replies.
func said(ms []llm.Message) string {
	var out []string
	for _, m := range ms {
		if m.Role == llm.Assistant && m.Text() != "" {
			out = append(out, m.Text())
		}
	}
	return strings.Join(out, "\n")
}

func (r *runner) do(prompt string) (all string, last string) {
	r.t.Helper()
	m := New()
	defer m.Close()
	ms, last := r.turn(m, nil, prompt)
	return said(ms), last
}
