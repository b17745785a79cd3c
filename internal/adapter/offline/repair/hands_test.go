package repair

import (
	"bytes"
	"encoding/json"
	"errors"
	"io/fs"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/pawl-agent/pawl/internal/core/must"
)

// disk is Hands over a temporary folder. after, when positive, makes the n-th
// call that changes something fail; it counts down.
type disk struct {
	dir   string
	after int
	// panics: the failing call panics.
	panics bool
	runs   int
}

var errDisk = errors.New("the disk is gone")

func newDisk(t *testing.T, files map[string]string) *disk {
	t.Helper()
	d := &disk{dir: t.TempDir()}
	if _, ok := files["go.mod"]; !ok {
		d.put(t, "go.mod", "module example.com/m\n\ngo 1.26\n")
	}
	for name, text := range files {
		d.put(t, name, text)
	}
	return d
}

func (d *disk) put(t *testing.T, name, text string) {
	t.Helper()
	p := filepath.Join(d.dir, filepath.FromSlash(name))
	must.Write(t, p, text)
}

// tree returns every file of the folder with its text.
func (d *disk) tree(t *testing.T) map[string]string {
	t.Helper()
	out := map[string]string{}
	err := filepath.WalkDir(d.dir, func(p string, e fs.DirEntry, err error) error {
		if err != nil || e.IsDir() {
			return err
		}
		b, err := os.ReadFile(p)
		rel, _ := filepath.Rel(d.dir, p)
		out[filepath.ToSlash(rel)] = string(b)
		return err
	})
	must.Do(t, err)
	return out
}

func (d *disk) fails() bool {
	if d.after == 0 {
		return false
	}
	d.after--
	if d.after == 0 && d.panics {
		panic(errDisk)
	}
	return d.after == 0
}

func (d *disk) file(p string) string { return filepath.Join(d.dir, filepath.FromSlash(p)) }

func (d *disk) Read(p string) (string, error) {
	b, err := os.ReadFile(d.file(p))
	return string(b), err
}

func (d *disk) ReadAll(paths []string) (map[string]string, error) {
	out := map[string]string{}
	for _, p := range paths {
		text, err := d.Read(p)
		if err != nil {
			return nil, err
		}
		out[p] = text
	}
	return out, nil
}

func (d *disk) Edit(p, old, new string) error {
	s, err := d.Read(p)
	if err != nil {
		return err
	}
	if strings.Count(s, old) != 1 {
		return errors.New("not once")
	}
	return d.Write(p, strings.Replace(s, old, new, 1))
}

func (d *disk) Write(p, content string) error {
	if d.fails() {
		return errDisk
	}
	return os.WriteFile(d.file(p), []byte(content), 0o644)
}

func (d *disk) Overlay(command string, files map[string]string) (string, int, error) {
	dir, err := os.MkdirTemp("", "overlay")
	if err != nil {
		return "", 0, err
	}
	defer os.RemoveAll(dir)
	replace := map[string]string{}
	for p, text := range files {
		to := filepath.Join(dir, strconv.Itoa(len(replace)))
		if err := os.WriteFile(to, []byte(text), 0o644); err != nil {
			return "", 0, err
		}
		replace[d.file(p)] = to
	}
	list, err := json.Marshal(map[string]any{"Replace": replace})
	if err != nil {
		return "", 0, err
	}
	to := filepath.Join(dir, "overlay.json")
	if err := os.WriteFile(to, list, 0o644); err != nil {
		return "", 0, err
	}
	return d.Run(strings.Replace(command, " -vet=off ", " -overlay="+to+" -vet=off ", 1))
}

func (d *disk) Run(command string) (string, int, error) {
	d.runs++
	if d.fails() {
		return "", 0, errDisk
	}
	cmd := exec.Command("sh", "-c", command)
	cmd.Dir = d.dir
	var out bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &out
	err := cmd.Run()
	if _, ok := errors.AsType[*exec.ExitError](err); ok {
		return out.String(), cmd.ProcessState.ExitCode(), nil
	}
	return out.String(), 0, err
}

func (d *disk) List(pattern string) ([]string, error) {
	var out []string
	root := strings.TrimSuffix(pattern, "**/*.go")
	err := filepath.WalkDir(filepath.Join(d.dir, root), func(p string, e fs.DirEntry, err error) error {
		if err != nil || e.IsDir() || path.Ext(p) != ".go" {
			return err
		}
		rel, err := filepath.Rel(d.dir, p)
		out = append(out, filepath.ToSlash(rel))
		return err
	})
	return out, err
}

func (d *disk) Say(string) {}
