package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"strings"
	"time"

	"github.com/pawl-agent/pawl/internal/adapter/offline/repair"
)

// bugCase is one bug in one program.
type bugCase struct {
	name, file, kind string
	right, broken    string            // the text that differs
	files            map[string]string // the correct program with its visible tests
	hidden           map[string]string
}

// load reads the programs of a folder. A program is a text of sections
// "-- FILE --"; before the first one stand its bugs: a line "bug NAME FILE
// KIND", then the correct lines after "- " and the broken ones after "+ ".
func load(fsys fs.FS, dir string) ([]*bugCase, error) {
	entries, err := fs.ReadDir(fsys, dir)
	if err != nil {
		return nil, fmt.Errorf("read the cases: %w", err)
	}
	var out []*bugCase
	for _, e := range entries {
		b, err := fs.ReadFile(fsys, path.Join(dir, e.Name()))
		if err != nil {
			return nil, fmt.Errorf("read the cases: %w", err)
		}
		cases, err := parse(string(b))
		if err != nil {
			return nil, fmt.Errorf("%s: %w", e.Name(), err)
		}
		out = append(out, cases...)
	}
	return out, nil
}

func parse(text string) ([]*bugCase, error) {
	files, hidden := map[string]string{}, map[string]string{}
	var out []*bugCase
	section, inHidden := "", false
	for line := range strings.Lines(text) {
		if rest, ok := strings.CutPrefix(line, "-- "); ok && strings.HasSuffix(line, " --\n") {
			section, inHidden = strings.CutPrefix(strings.TrimSuffix(rest, " --\n"), "hidden/")
			continue
		}
		switch {
		case section != "" && inHidden:
			hidden[section] += line
		case section != "":
			files[section] += line
		case strings.HasPrefix(line, "bug "):
			f := strings.Fields(line)
			if len(f) != 4 {
				return nil, fmt.Errorf("bad line %q", line)
			}
			out = append(out, &bugCase{name: f[1], file: f[2], kind: f[3], files: files, hidden: hidden})
		case strings.HasPrefix(line, "- ") && len(out) > 0:
			out[len(out)-1].right += line[2:]
		case strings.HasPrefix(line, "+ ") && len(out) > 0:
			out[len(out)-1].broken += line[2:]
		case strings.TrimSpace(line) != "":
			return nil, fmt.Errorf("bad line %q", line)
		}
	}
	for _, c := range out {
		if strings.Count(files[c.file], c.right) != 1 {
			return nil, fmt.Errorf("bug %s: its lines are not once in %s", c.name, c.file)
		}
	}
	return out, nil
}

// lay writes the program to a new folder.
func (c *bugCase) lay(broken bool) (string, error) {
	dir, err := os.MkdirTemp("", "pawl-repair-bench-")
	if err != nil {
		return "", err
	}
	if err := write(dir, "go.mod", "module example.com/quix\n\ngo 1.26\n"); err != nil {
		return dir, err
	}
	for name, text := range c.files {
		if name == c.file && broken {
			text = strings.Replace(text, c.right, c.broken, 1)
		}
		if err := write(dir, name, text); err != nil {
			return dir, err
		}
	}
	return dir, nil
}

func write(dir, name, text string) error {
	p := filepath.Join(dir, filepath.FromSlash(name))
	if err := os.MkdirAll(filepath.Dir(p), 0o755); err != nil {
		return err
	}
	return os.WriteFile(p, []byte(text), 0o644)
}

// passes copies the hidden tests in and runs everything.
func (c *bugCase) passes(dir string) (bool, string, error) {
	for name, text := range c.hidden {
		if err := write(dir, name, text); err != nil {
			return false, "", err
		}
	}
	out, exit, err := shell(dir, "go test -count=1 -timeout=30s ./...")
	return exit == 0, out, err
}

// check returns an error if a case's correct program fails, or its broken one passes
// the visible tests.
func (c *bugCase) check() error {
	dir, err := c.lay(false)
	defer os.RemoveAll(dir)
	if err != nil {
		return err
	}
	ok, out, err := c.passes(dir)
	if err != nil {
		return err
	}
	if !ok {
		return fmt.Errorf("the correct program fails: %s", out)
	}
	bad, err := c.lay(true)
	defer os.RemoveAll(bad)
	if err != nil {
		return err
	}
	out, exit, err := shell(bad, "go test -count=1 -timeout=10s ./...")
	switch {
	case err != nil:
		return err
	case exit == 0:
		return errors.New("the visible tests do not see the bug")
	case strings.Contains(out, "[build failed]"):
		return fmt.Errorf("the broken program does not build: %s", out)
	}
	return nil
}

// repair writes the broken program, repairs it, and runs the hidden tests.
func (c *bugCase) repair(verbose bool) (result, error) {
	dir, err := c.lay(true)
	defer os.RemoveAll(dir)
	if err != nil {
		return result{}, err
	}
	begin := time.Now()
	rep, err := repair.Tests(&hands{dir: dir, verbose: verbose}, repair.Options{})
	r := result{report: rep, took: time.Since(begin)}
	if err != nil {
		return r, err
	}
	if verbose {
		for i, e := range rep.Plausible {
			fmt.Printf("    %2d. %.3f %s:%d (%s) %q -> %q\n", i+1, e.Score, e.Path, e.Line, e.Operator, strings.TrimSpace(e.Old), strings.TrimSpace(e.New))
		}
		for _, d := range rep.Differ {
			fmt.Printf("    %s(%s): %q\n", d.Func, d.Input, d.Outputs)
		}
		fmt.Printf("    %s\n", rep.Why)
	}
	if err := c.clean(dir, rep); err != nil {
		return r, err
	}
	if rep.Outcome == repair.Fixed || rep.Outcome == repair.Uncertain {
		r.correct, _, err = c.passes(dir)
	}
	return r, err
}

// clean checks that a repair left nothing but its edit.
func (c *bugCase) clean(dir string, rep repair.Report) error {
	return filepath.WalkDir(dir, func(p string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		rel, err := filepath.Rel(dir, p)
		if err != nil {
			return err
		}
		rel = filepath.ToSlash(rel)
		if rel == "go.mod" {
			return nil
		}
		want, ok := c.files[rel]
		if !ok {
			return fmt.Errorf("left behind: %s", rel)
		}
		if rel == c.file {
			want = strings.Replace(want, c.right, c.broken, 1)
		}
		got, err := os.ReadFile(p)
		if err == nil && string(got) != want && rel != rep.Edit.Path {
			return fmt.Errorf("still changed: %s", rel)
		}
		return err
	})
}

// hands are plain files and a shell.
type hands struct {
	dir     string
	verbose bool
}

func (h *hands) file(p string) string { return filepath.Join(h.dir, filepath.FromSlash(p)) }

func (h *hands) Read(p string) (string, error) {
	b, err := os.ReadFile(h.file(p))
	return string(b), err
}

func (h *hands) ReadAll(paths []string) (map[string]string, error) {
	out := map[string]string{}
	for _, p := range paths {
		text, err := h.Read(p)
		if err != nil {
			return nil, err
		}
		out[p] = text
	}
	return out, nil
}

func (h *hands) Edit(p, old, new string) error {
	s, err := h.Read(p)
	if err != nil {
		return err
	}
	if n := strings.Count(s, old); n != 1 {
		return fmt.Errorf("edit %s: the text is there %d times", p, n)
	}
	return h.Write(p, strings.Replace(s, old, new, 1))
}

func (h *hands) Write(p, content string) error { return write(h.dir, p, content) }

// Overlay runs a go command with files, from a folder beside the project, in
// place of its own.
func (h *hands) Overlay(command string, files map[string]string) (string, int, error) {
	dir, err := os.MkdirTemp("", "overlay")
	if err != nil {
		return "", 0, err
	}
	defer os.RemoveAll(dir)
	replace := map[string]string{}
	for p, text := range files {
		name := fmt.Sprint(len(replace))
		if err := write(dir, name, text); err != nil {
			return "", 0, err
		}
		replace[h.file(p)] = filepath.Join(dir, name)
	}
	list, err := json.Marshal(map[string]any{"Replace": replace})
	if err == nil {
		err = write(dir, "overlay.json", string(list))
	}
	if err != nil {
		return "", 0, err
	}
	return h.Run(strings.Replace(command, " -vet=off ", " -overlay="+filepath.Join(dir, "overlay.json")+" -vet=off ", 1))
}

func (h *hands) Run(command string) (string, int, error) {
	begin := time.Now()
	out, exit, err := shell(h.dir, command)
	if h.verbose {
		fmt.Printf("    $ %s  (exit %d, %.1f s)\n", command, exit, time.Since(begin).Seconds())
		if !strings.Contains(out, "PAWLEND") && strings.Contains(command, "overlay") {
			fmt.Println(out)
		}
	}
	return out, exit, err
}

func (h *hands) List(pattern string) ([]string, error) {
	var out []string
	err := filepath.WalkDir(h.dir, func(p string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() || !strings.HasSuffix(p, path.Ext(pattern)) {
			return err
		}
		rel, err := filepath.Rel(h.dir, p)
		out = append(out, filepath.ToSlash(rel))
		return err
	})
	return out, err
}

func (h *hands) Say(text string) {
	if h.verbose {
		fmt.Println("    " + text)
	}
}

func shell(dir, command string) (string, int, error) {
	cmd := exec.Command("sh", "-c", command)
	cmd.Dir = dir
	var out bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &out
	err := cmd.Run()
	if _, ok := errors.AsType[*exec.ExitError](err); ok {
		return out.String(), cmd.ProcessState.ExitCode(), nil
	}
	return out.String(), 0, err
}
