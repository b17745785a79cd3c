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

	"github.com/pawl-agent/pawl/internal/adapter/nats/natstest"
)

// processes is how many worker processes repair a swarm's cases.
const processes = 4

// swarm repairs all cases as one swarm: each is a package of one project, the
// built-in model makes the graph, and 4 processes of pawl worker do its tasks,
// joined by a NATS server in this process. It is an error where a case is not
// repaired, a worker did nothing, a hidden test fails, or one undo does not take
// everything back.
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
	program := func(machine string, args ...string) *exec.Cmd {
		cmd := exec.Command(pawl, args...)
		cmd.Dir = project
		at := func(name string) string { return filepath.Join(home, machine, name) }
		cmd.Env = append(os.Environ(), "PAWL_HOME=", "XDG_DATA_HOME="+at("data"), "XDG_STATE_HOME="+at("state"), "XDG_CONFIG_HOME="+at("config"))
		return cmd
	}
	run := func(args ...string) (string, error) {
		cmd := program("swarm", args...)
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
	server, err := natstest.New(filepath.Join(home, "nats"))
	if err != nil {
		return err
	}
	defer server.Shutdown()
	if !server.ReadyForConnections(10 * time.Second) {
		return errors.New("the NATS server does not start")
	}
	url := server.ClientURL()
	for i := range processes {
		name := fmt.Sprint("machine", i+1)
		worker := program(name, "worker", "--nats", url, "--name", name, "-m", "offline")
		worker.Stderr = os.Stderr
		if err := worker.Start(); err != nil {
			return err
		}
		defer func() {
			_ = worker.Process.Signal(os.Interrupt)
			_ = worker.Wait()
		}()
	}
	begin := time.Now()
	report, err := run("swarm", "run", graph, "-m", "offline", "--workers", fmt.Sprint(processes), "--nats", url)
	if err != nil {
		return err
	}
	fmt.Print(report)
	took := time.Since(begin)
	var wrong []error
	if report, err = run("swarm", "report", "--json"); err != nil {
		return err
	}
	for i := range processes {
		if name := fmt.Sprintf("@machine%d-", i+1); len(cases) >= 2*processes && !strings.Contains(report, name) {
			wrong = append(wrong, fmt.Errorf("%s did nothing", name))
		}
	}
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
	fmt.Printf("\n%d broken packages repaired by one swarm on %d worker processes over NATS in %.0f s; the hidden tests pass; one undo took everything back\n", len(cases), processes, took.Seconds())
	return nil
}
