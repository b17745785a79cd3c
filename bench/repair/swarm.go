package main

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"time"
)

// swarm repairs all cases as one swarm: each is a package of one project, the
// built-in model makes the graph, and 4 workers do its tasks with the pawl
// program. It is an error where a case is not repaired, a hidden test fails, or
// one undo does not take everything back.
func swarm(pawl string, cases []*bugCase) error {
	pawl, err := filepath.Abs(pawl)
	if err != nil {
		return err
	}
	home, err := os.MkdirTemp("", "pawl-swarm-home-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(home)
	project := filepath.Join(home, "project")
	before := map[string]string{"go.mod": "module example.com/broken\n\ngo 1.26\n"}
	for _, c := range cases {
		for name, text := range c.files {
			if name == c.file {
				text = strings.Replace(text, c.right, c.broken, 1)
			}
			before[c.name+"/"+name] = text
		}
	}
	for name, text := range before {
		if err := write(project, name, text); err != nil {
			return err
		}
	}
	run := func(args ...string) (string, error) {
		cmd := exec.Command(pawl, args...)
		cmd.Dir = project
		cmd.Env = append(os.Environ(), "PAWL_HOME=", "XDG_DATA_HOME="+filepath.Join(home, "data"), "XDG_STATE_HOME="+filepath.Join(home, "state"), "XDG_CONFIG_HOME="+filepath.Join(home, "config"))
		var out bytes.Buffer
		cmd.Stdout, cmd.Stderr = &out, &out
		if err := cmd.Run(); err != nil {
			return "", fmt.Errorf("pawl %s: %w\n%s", strings.Join(args, " "), err, out.String())
		}
		return out.String(), nil
	}
	graph := filepath.Join(home, "graph.yaml")
	if _, err := run("swarm", "plan", "-m", "offline", "-o", graph, "fix the failing tests"); err != nil {
		return err
	}
	begin := time.Now()
	report, err := run("swarm", "run", graph, "-m", "offline", "--workers", "4")
	if err != nil {
		return err
	}
	fmt.Print(report)
	took := time.Since(begin)
	var wrong []error
	for _, c := range cases {
		for name, text := range c.hidden {
			if err := write(project, c.name+"/"+name, text); err != nil {
				return err
			}
		}
		if out, exit, err := shell(project, "go test -count=1 -timeout=60s ./"+c.name); err != nil || exit != 0 {
			wrong = append(wrong, fmt.Errorf("%s: the hidden tests fail: %v\n%s", c.name, err, out))
		}
		for name := range c.hidden {
			if err := os.Remove(filepath.Join(project, c.name, filepath.FromSlash(name))); err != nil {
				return err
			}
		}
	}
	if _, err := run("undo"); err != nil {
		return err
	}
	for name, text := range before {
		if now, err := os.ReadFile(filepath.Join(project, filepath.FromSlash(name))); err != nil || string(now) != text {
			wrong = append(wrong, fmt.Errorf("one undo did not take back %s: %v", name, err))
		}
	}
	if len(wrong) > 0 {
		return errors.Join(wrong...)
	}
	fmt.Printf("\n%d broken packages repaired by one swarm with 4 workers in %.0f s; the hidden tests pass; one undo took everything back\n", len(cases), took.Seconds())
	return nil
}
