package cli

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/pawl-agent/pawl/internal/core/must"
	"github.com/pawl-agent/pawl/internal/frontend/setup"
)

var png = []byte("\x89PNG\r\n\x1a\n\x00\x00\x00\rIHDR")

func TestDroppedPath(t *testing.T) {
	for text, want := range map[string]string{
		"/a/b.png": "/a/b.png", " /a/b.png\n": "/a/b.png", "'/a/b c.png'": "/a/b c.png", `"/a/b c.png"`: "/a/b c.png", `/a/b\ c\'d.png`: "/a/b c'd.png",
		"~/b.png": "/home/me/b.png", "b.png": "b.png", "file:///a/b%20c.png": "/a/b c.png", "file://localhost/a.png": "/a.png",
		"": "", "  ": "", "/a.png\n/b.png": "", "file://elsewhere/a.png": "", "a\x00.png": "", strings.Repeat("x", 5000): "",
	} {
		got, ok := droppedPath(text, "/home/me")
		if got != want || ok != (want != "") {
			t.Errorf("%q: %q, %v, want %q", text, got, ok, want)
		}
	}
}

// SPEC 10.1: an image is known by its content, and nothing else is read to its end.
func TestDropped(t *testing.T) {
	dir := t.TempDir()
	put := func(name string, data []byte) string {
		path := filepath.Join(dir, name)
		must.Do(t, os.WriteFile(path, data, 0o600))
		return path
	}
	shot := put("shot", png)
	put("text.png", []byte("not an image"))
	put("empty.png", nil)
	put("page.svg", []byte("<svg xmlns='http://www.w3.org/2000/svg'/>"))
	put("large.png", append(bytes.Clone(png), make([]byte, pictureLimit)...))
	must.Do(t, os.Symlink(shot, filepath.Join(dir, "link.png")))
	a := &App{Environment: setup.Environment{Env: func(string) string { return "" }}}
	for _, name := range []string{shot, "shot", "./shot", "'" + shot + "'"} {
		if p, err := a.dropped(dir, name); err != nil || p == nil || p.Name != "shot" || p.Media.Type != "image/png" {
			t.Errorf("%s: %v, %v", name, p, err)
		}
	}
	for _, name := range []string{"text.png", "empty.png", "page.svg", "link.png", "none.png", ".", "/dev/zero", "see shot", "fix the bug"} {
		if p, err := a.dropped(dir, name); err != nil || p != nil {
			t.Errorf("%s: %v, %v", name, p, err)
		}
	}
	if p, err := a.dropped(dir, "large.png"); p != nil || err == nil || !strings.Contains(err.Error(), "10 MB") {
		t.Errorf("%v, %v", p, err)
	}
}
