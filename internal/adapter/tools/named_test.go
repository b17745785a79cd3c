package tools

import (
	"context"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/pawl-agent/pawl/internal/core/must"
	"github.com/pawl-agent/pawl/internal/core/tool"
)

// rootOnly is a workspace that has only a root: the rest is on disk.
type rootOnly struct {
	tool.Files
	root string
}

func (r rootOnly) Root() string { return r.root }

// Read finds no file.
func (r rootOnly) Read(context.Context, string, int64) (tool.File, error) {
	return tool.File{}, os.ErrNotExist
}

// Resolve follows the links of what exists.
func (r rootOnly) Resolve(name string) (string, bool, error) {
	real, err := filepath.EvalSymlinks(name)
	if err != nil {
		dir, err := filepath.EvalSymlinks(filepath.Dir(name))
		if err != nil {
			return "", false, err
		}
		real = filepath.Join(dir, filepath.Base(name))
	}
	if rel, ok := strings.CutPrefix(real, r.root+"/"); ok {
		return rel, true, nil
	}
	return real, false, nil
}

// SPEC 4.15, 16.3, 16.8: the footprint of a command line has the files that its words name,
// with the place where links and patterns lead, so that a question is about that place.
func TestNamedFiles(t *testing.T) {
	top := must.Dir(t)
	dir := filepath.Join(top, "w")
	for _, d := range []string{"w/src", "w/.claude", "sib"} {
		must.Do(t, os.MkdirAll(filepath.Join(top, d), 0o755))
	}
	for _, f := range []string{"w/a.txt", "w/a.pem", "w/src/b.pem", "sib/x"} {
		must.Do(t, os.WriteFile(filepath.Join(top, f), nil, 0o644))
	}
	for link, to := range map[string]string{"w/link": "a.pem", "w/up": "../sib", "w/c": ".claude"} {
		must.Do(t, os.Symlink(to, filepath.Join(top, link)))
	}
	for line, want := range map[string]string{
		"cat a.txt nosuch":             "a.txt",
		"go build -o /dev/null a.txt":  "a.txt",
		"cat link":                     "a.pem",
		"tar cf x.tar --file=a.txt":    "a.txt",
		"curl -F f=@a.pem x":           "a.pem",
		"cat up/x; ls up src":          "../sib/x",
		"cd src && cat *.pem":          "src/b.pem",
		"cat *.pem":                    "a.pem",
		"echo x > c/new":               "!.claude/new",
		"echo x >> up/new; cat < link": "!../sib/new a.pem",
		"sudo cat a.txt":               "a.txt",
		"sh -c 'cat link'":             "a.pem",
		"cat \"$X\" 2>/dev/null":       "",
		"(":                            "",
	} {
		in, _ := json.Marshal(bashArgs{Command: line})
		fp := must.Get(Bash().Footprint(tool.Env{Files: rootOnly{root: dir}}, in))(t)
		var got []string
		for _, r := range fp.Resolved {
			rel, _ := filepath.Rel(dir, r.Path)
			if r.Write {
				rel = "!" + rel
			}
			got = append(got, rel)
			if !r.Maybe {
				t.Errorf("%s: %+v", line, r)
			}
		}
		if s := strings.Join(got, " "); s != want {
			t.Errorf("%s: %q, want %q", line, s, want)
		}
	}
}
