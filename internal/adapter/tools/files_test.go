package tools

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"io/fs"
	"maps"
	"path"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/bmatcuk/doublestar/v4"

	"github.com/pawl-agent/pawl/internal/core/must"
	"github.com/pawl-agent/pawl/internal/core/tool"
)

// memFiles is a workspace in memory at /ws. Adapters do not import each other,
// so the real one is tested beside itself and the two meet above.
type memFiles struct {
	files map[string]string
	fail  error // of the next write
	large int   // files above are too large for Read, 0: none
}

func memHash(s string) tool.Hash {
	sum := sha256.Sum256([]byte(s))
	return tool.Hash(hex.EncodeToString(sum[:]))
}

type memTooLarge struct{ error }

func (memTooLarge) TooLarge() int64 { return 1 }

func (m *memFiles) Root() string { return "/ws" }

func (m *memFiles) Resolve(p string) (string, bool, error) {
	if p == "" {
		return "", false, fmt.Errorf("the path is empty")
	}
	if !path.IsAbs(p) {
		p = "/ws/" + p
	}
	p = path.Clean(p)
	if p == "/ws" {
		return ".", true, nil
	}
	if rel, ok := strings.CutPrefix(p, "/ws/"); ok {
		return rel, true, nil
	}
	return p, false, nil
}

func (m *memFiles) isDir(p string) bool {
	for k := range m.files {
		if strings.HasPrefix(k, p+"/") {
			return true
		}
	}
	return p == "."
}

func (m *memFiles) Stat(p string) (tool.Hash, bool, error) {
	p, _, err := m.Resolve(p)
	if err != nil {
		return "", false, err
	}
	if s, ok := m.files[p]; ok {
		return memHash(s), false, nil
	}
	return "", m.isDir(p), nil
}

func (m *memFiles) Read(_ context.Context, p string, limit int64) (tool.File, error) {
	p, _, err := m.Resolve(p)
	if err != nil {
		return tool.File{}, err
	}
	s, ok := m.files[p]
	if !ok && m.isDir(p) {
		return tool.File{}, fmt.Errorf("%s is a folder", p)
	}
	if !ok {
		return tool.File{}, fmt.Errorf("%s: %w", p, fs.ErrNotExist)
	}
	if m.large > 0 && len(s) > m.large && limit == 0 {
		return tool.File{}, memTooLarge{fmt.Errorf("%s is too large", p)}
	}
	return tool.File{Path: p, Data: []byte(s), Hash: memHash(s)}, nil
}

func (m *memFiles) Lines(_ context.Context, p string, from, to int, limit int64) (f tool.File, first, last, total int, err error) {
	ls := splitLines(m.files[p])
	f = tool.File{Path: p, Hash: memHash(m.files[p])}
	for i, l := range ls {
		if i+1 < from || to > 0 && i+1 > to || len(f.Data)+len(l) > int(limit) {
			continue
		}
		if first == 0 {
			first = i + 1
		}
		last = i + 1
		f.Data = append(f.Data, l...)
	}
	return f, first, last, len(ls), nil
}

func (m *memFiles) Write(ctx context.Context, p string, data []byte, expect tool.Hash) (tool.Change, error) {
	cs, err := m.WriteAll(ctx, []tool.Write{{Path: p, Data: data, Expect: expect}})
	if err != nil {
		return tool.Change{}, err
	}
	return cs[0], nil
}

func (m *memFiles) ReadNoFollow(ctx context.Context, p string, limit int64) (tool.File, error) {
	return m.Read(ctx, p, limit)
}

func (m *memFiles) WriteAll(_ context.Context, ws []tool.Write) ([]tool.Change, error) {
	if m.fail != nil {
		return nil, m.fail
	}
	next := maps.Clone(m.files)
	var out []tool.Change
	change := func(p string, after *string) {
		c := tool.Change{Path: p}
		before, had := m.files[p]
		if had {
			c.Before = memHash(before)
		}
		if after != nil {
			c.After = memHash(*after)
			next[p] = *after
			c.Added = strings.Count(*after, "\n")
		} else {
			delete(next, p)
		}
		c.Removed = strings.Count(before, "\n")
		out = append(out, c)
	}
	for _, w := range ws {
		if h, _, _ := m.Stat(w.Path); h != w.Expect {
			return nil, &tool.StaleError{Path: w.Path, Want: w.Expect, Got: h}
		}
		data := string(w.Data)
		switch {
		case w.Remove:
			change(w.Path, nil)
		case w.MoveTo != "":
			if _, ok := m.files[w.MoveTo]; ok {
				return nil, fs.ErrExist
			}
			change(w.Path, nil)
			change(w.MoveTo, &data)
		default:
			change(w.Path, &data)
		}
	}
	m.files = next
	return out, nil
}

func (m *memFiles) List(_ context.Context, dir string) ([]tool.Entry, error) {
	dir, _, err := m.Resolve(dir)
	if err != nil {
		return nil, err
	}
	if !m.isDir(dir) {
		return nil, fmt.Errorf("%s: %w", dir, fs.ErrNotExist)
	}
	set := map[string]tool.Entry{}
	for k, v := range m.files {
		rel, ok := strings.CutPrefix("./"+k, path.Join("./", dir)+"/")
		if dir != "." {
			rel, ok = strings.CutPrefix(k, dir+"/")
		}
		if !ok {
			continue
		}
		name, _, sub := strings.Cut(rel, "/")
		e := tool.Entry{Name: name, Dir: sub, Ignored: strings.HasSuffix(name, ".o")}
		if !sub {
			e.Size = int64(len(v))
		}
		set[name] = e
	}
	return slices.SortedFunc(maps.Values(set), func(a, b tool.Entry) int { return cmp.Compare(a.Name, b.Name) }), nil
}

func (m *memFiles) Entry(ctx context.Context, name string) (tool.Entry, error) {
	es, err := m.List(ctx, path.Dir(name))
	for _, e := range es {
		if e.Name == path.Base(name) {
			return e, nil
		}
	}
	return tool.Entry{}, cmp.Or(err, fs.ErrNotExist)
}

func (m *memFiles) Glob(_ context.Context, dir, pattern string, limit int) (out []string, more bool, err error) {
	for _, k := range slices.Sorted(maps.Keys(m.files)) {
		name := k
		if !strings.Contains(pattern, "/") {
			name = path.Base(k)
		}
		if dir != "." && !strings.HasPrefix(k, dir+"/") {
			continue
		}
		if ok, _ := doublestar.Match(pattern, name); ok {
			out = append(out, k)
		}
	}
	if len(out) > limit {
		return out[:limit], true, nil
	}
	return out, false, nil
}

func (m *memFiles) Grep(_ context.Context, q tool.Query) (tool.Matches, error) {
	re, err := regexp.Compile(q.Pattern)
	if err != nil {
		return tool.Matches{}, err
	}
	var out tool.Matches
	for _, k := range slices.Sorted(maps.Keys(m.files)) {
		if strings.Contains(m.files[k], "\x00") {
			if out.Skipped++; re.MatchString(m.files[k]) {
				out.Binary = append(out.Binary, k)
			}
			continue
		}
		out.Searched++
		hits := 0
		for i, l := range splitLines(m.files[k]) {
			if !re.MatchString(bare(l)) {
				continue
			}
			hits++
			if !q.FilesOnly || hits == 1 {
				out.Lines = append(out.Lines, tool.Match{Path: k, Line: i + 1, Text: bare(l), Hit: true})
			}
		}
		out.Hits += hits
		if hits > 0 {
			out.Files++
		}
	}
	return out, nil
}

func memEnv(files map[string]string) (tool.Env, *memFiles) {
	m := &memFiles{files: files}
	return tool.Env{Files: m, Out: func(string) {}}, m
}

// fataler is what tests and property tests have in common.
type fataler interface {
	Helper()
	Fatal(args ...any)
	Fatalf(format string, args ...any)
}

// call runs a tool as the engine would: check, footprint, run.
func call(t fataler, env tool.Env, tl tool.Tool, args any) tool.Result {
	t.Helper()
	raw, ok := args.(string)
	if !ok {
		b := must.Get(json.Marshal(args))(t)
		raw = string(b)
	}
	if err := tl.Check(json.RawMessage(raw)); err != nil {
		return tool.Errorf("check: %s", err)
	}
	if _, err := tl.Footprint(env, json.RawMessage(raw)); err != nil {
		return tool.Errorf("footprint: %s", err)
	}
	r, err := tl.Run(context.Background(), env, json.RawMessage(raw))
	if err != nil {
		t.Fatalf("%s %s: %v", tl.Spec.Name, raw, err)
	}
	return r
}

func spans(ss []tool.Span) string {
	var out []string
	for _, s := range ss {
		out = append(out, fmt.Sprintf("%s:%d-%d", s.Path, s.From, s.To))
	}
	return strings.Join(out, " ")
}

// Every tool's own example passes its check, and its schema is an object.
func TestExamples(t *testing.T) {
	t.Parallel()
	for _, tl := range []tool.Tool{Read(), Write(), Edit(), MultiEdit(), ApplyPatch(), Ls(), Glob(), Grep()} {
		if err := tl.Check(json.RawMessage(tl.Example)); err != nil {
			t.Errorf("%s: %v", tl.Spec.Name, err)
		}
		if !strings.HasPrefix(string(tl.Spec.Schema), `{"type":"object"`) || tl.Spec.Doc == "" {
			t.Errorf("%s: %s", tl.Spec.Name, tl.Spec.Schema)
		}
		if tl.ReadOnly == (tl.Does() == tool.Edit) {
			t.Errorf("%s: a writer is of kind edit, a reader is not", tl.Spec.Name)
		}
	}
}

func TestNearestNames(t *testing.T) {
	t.Parallel()
	env, _ := memEnv(map[string]string{"main.go": "", "pkg/server.go": "", "pkg/servant.go": "", "README.md": ""})
	for p, want := range map[string]string{
		"server.go": "pkg/server.go", "pkg/sever.go": "pkg/server.go", "mian.go": "main.go", "Readme.md": "README.md", "zzzzzz": "",
	} {
		got := missing(context.Background(), env, p)
		if !strings.Contains(got, want) || want == "" && strings.Contains(got, "did you mean") {
			t.Errorf("%s: %q", p, got)
		}
	}
}

// SPEC 4.6: what a refusal shows counts as shown.
func TestLines(t *testing.T) {
	t.Parallel()
	_, m := memEnv(map[string]string{"a": "1\n2\n3\n", "bin": "\x00"})
	text, seen := Lines(context.Background(), m, []tool.Span{{Path: "a", From: 2, To: 9}, {Path: "bin"}, {Path: "none"}}, 1000)
	if text != "== a (lines 2-3 of 3) ==\n2\t2\n3\t3\n" || spans(seen) != "a:2-3" || seen[0].Hash != memHash("1\n2\n3\n") {
		t.Errorf("%q %v", text, seen)
	}
}
