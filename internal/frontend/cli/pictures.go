package cli

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"time"

	"github.com/pawl-agent/pawl/internal/core/llm"
	"github.com/pawl-agent/pawl/internal/core/plainfile"
	"github.com/pawl-agent/pawl/internal/frontend/tui"
)

// This file reads the images and documents that a person puts into a prompt: files that
// they drop on the terminal, and their clipboard.

// pictureLimit is how much is read; models take less.
const pictureLimit = 32 << 20

// dropped returns the image or document whose path was pasted: terminals paste the path of
// a file that is dropped on them. It returns nil for any other text, and for the path of a
// file that no model takes.
func (a *App) dropped(dir, pasted string) (*tui.Picture, error) {
	path, ok := droppedPath(pasted, a.Env("HOME"))
	if !ok {
		return nil, nil
	}
	if !filepath.IsAbs(path) {
		path = filepath.Join(dir, path)
	}
	st, err := os.Lstat(path)
	if err != nil || !st.Mode().IsRegular() { // a pipe could be read for ever, and a link leads to a file that nobody named
		return nil, nil
	}
	f, err := plainfile.Open(path)
	if err != nil {
		return nil, nil
	}
	defer f.Close()
	data, err := io.ReadAll(io.LimitReader(f, pictureLimit+1))
	if err != nil {
		return nil, nil
	}
	return picture(filepath.Base(path), data)
}

// picture returns an image or document with this content; nil if it is none.
func picture(name string, data []byte) (*tui.Picture, error) {
	kind := llm.MediaType(data)
	if kind == "" {
		return nil, nil
	}
	m, err := llm.NewMedia(kind, data)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	return &tui.Picture{Name: name, Media: m}, nil
}

// droppedPath returns the path that a text consists of: one line, plain, in quotes,
// with backslashes before blanks, or as a file URL.
func droppedPath(text, home string) (path string, ok bool) {
	text = strings.TrimSpace(text)
	if text == "" || len(text) > 4096 || strings.ContainsAny(text, "\n\x00") {
		return "", false
	}
	switch {
	case strings.HasPrefix(text, "file://"):
		u, err := url.Parse(text)
		if err != nil || u.Host != "" && u.Host != "localhost" {
			return "", false
		}
		return filepath.FromSlash(u.Path), true
	case len(text) > 1 && (text[0] == '\'' || text[0] == '"') && text[len(text)-1] == text[0]:
		return text[1 : len(text)-1], true
	case runtime.GOOS != "windows":
		text = unescaped(text)
	}
	if rest, ok := strings.CutPrefix(text, "~/"); ok && home != "" {
		return filepath.Join(home, rest), true
	}
	return text, true
}

// unescaped returns a text without the backslashes that a shell would remove.
func unescaped(text string) string {
	var b strings.Builder
	for i := 0; i < len(text); i++ {
		if text[i] == '\\' && i+1 < len(text) {
			i++
		}
		b.WriteByte(text[i])
	}
	return b.String()
}

// clipboards are the programs that print the image in the clipboard.
var clipboards = [][]string{
	{"wl-paste", "--no-newline", "--type", "image/png"},
	{"xclip", "-selection", "clipboard", "-target", "image/png", "-out"},
	{"pngpaste", "-"},
}

// clipboardTime is how long the program that owns the clipboard may take.
const clipboardTime = 5 * time.Second

// clipboard returns the image in the person's clipboard.
func (a *App) clipboard(ctx context.Context) (*tui.Picture, error) {
	ctx, stop := context.WithTimeout(ctx, clipboardTime)
	defer stop()
	found := false
	for _, c := range clipboards {
		program, env, err := a.FindProgram(c[0])
		if err != nil {
			continue
		}
		found = true
		var out bytes.Buffer
		cmd := exec.CommandContext(ctx, program, c[1:]...)
		cmd.Env = env
		cmd.Stdout = &limited{&out, pictureLimit + 1}
		cmd.WaitDelay = time.Second
		if cmd.Run() != nil && out.Len() <= pictureLimit {
			continue
		}
		if p, err := picture("clipboard", out.Bytes()); p != nil || err != nil {
			return p, err
		}
	}
	if !found {
		return nil, errors.New("to paste a picture, install wl-paste, xclip or pngpaste, or drop its file here")
	}
	return nil, errors.New("there is no picture in the clipboard")
}

// limited writes at most n bytes to w.
type limited struct {
	w io.Writer
	n int
}

func (l *limited) Write(p []byte) (int, error) {
	if len(p) > l.n {
		return 0, errors.New("too large")
	}
	l.n -= len(p)
	return l.w.Write(p)
}
