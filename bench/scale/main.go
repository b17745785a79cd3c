// Command scale makes the measured tables of bench/scale/README.md:
//
//	go run ./bench/scale [-sizes 50,50000,500000] [-calls 10000] [-sessions 10000] [-mb 2000] [-into bench/scale/README.md]
//
// It builds pawl as it is released, and the benchmarks cost, search, resume and
// sessions, runs them one after the other and prints their tables. With -into it
// writes each into that page, between <!-- NAME --> and <!-- end -->. It needs rg,
// and 6 GB below the temporary folder, which it removes at the end; on two cores with
// nothing else to do it takes six minutes.
package main

import (
	"bytes"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"time"
)

func main() {
	sizes := flag.String("sizes", "50,50000,500000", "how many files the workspaces have")
	calls := flag.Int("calls", 10000, "how many calls the long session has")
	sessions := flag.Int("sessions", 10000, "how many sessions there are")
	mb := flag.Int("mb", 2000, "how many megabytes of outputs they have")
	into := flag.String("into", "", "a page whose tables are replaced")
	flag.Parse()
	if err := run(*sizes, *calls, *sessions, *mb, *into); err != nil {
		fmt.Fprintln(os.Stderr, "scale:", err)
		os.Exit(1)
	}
}

func run(sizes string, calls, sessions, mb int, into string) error {
	dir, err := os.MkdirTemp("", "pawl-scale-*")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	pawl := filepath.Join(dir, "pawl")
	if err := build(pawl, "./cmd/pawl", "CGO_ENABLED=0"); err != nil {
		return err
	}
	if _, err := exec.LookPath("rg"); err != nil {
		return err
	}
	large := sizes[strings.Index(sizes, ",")+1:] // a search of a few files proves nothing
	began, tables := time.Now(), map[string]string{"machine": machine()}
	for _, t := range []struct {
		name string
		args []string
	}{
		{"files", []string{"cost", "-sizes", sizes, "-n", "60", "-pawl", pawl}},
		{"search", []string{"search", "-sizes", large, "-n", "3", "-markdown"}},
		{"resume", []string{"resume", "-calls", fmt.Sprint(calls), "-markdown", "-pawl", pawl}},
		{"sessions", []string{"sessions", "-n", fmt.Sprint(sessions), "-mb", fmt.Sprint(mb), "-markdown", "-pawl", pawl}},
	} {
		bin := filepath.Join(dir, t.args[0])
		if err := build(bin, "./bench/"+t.args[0]); err != nil {
			return err
		}
		fmt.Printf("\n%s (load %s)\n\n", strings.Join(t.args, " "), load())
		var table bytes.Buffer
		cmd := exec.Command(bin, t.args[1:]...)
		cmd.Stdout, cmd.Stderr = io.MultiWriter(os.Stdout, &table), os.Stderr
		if err := cmd.Run(); err != nil {
			return fmt.Errorf("%s: %w", t.args[0], err)
		}
		tables[t.name] = table.String()
	}
	fmt.Printf("\n%s; it took %.0f minutes, load at the end %s\n", strings.TrimSpace(tables["machine"]), time.Since(began).Minutes(), load())
	if into == "" {
		return nil
	}
	page, err := os.ReadFile(into)
	if err != nil {
		return err
	}
	for name, table := range tables {
		if page, err = replaced(page, name, table); err != nil {
			return fmt.Errorf("%s: %w", into, err)
		}
	}
	return os.WriteFile(into, page, 0o644)
}

func build(to, from string, env ...string) error {
	cmd := exec.Command("go", "build", "-trimpath", "-ldflags=-s -w", "-o", to, from)
	cmd.Env = append(os.Environ(), env...)
	if out, err := cmd.CombinedOutput(); err != nil {
		return fmt.Errorf("build %s: %w\n%s", from, err, out)
	}
	return nil
}

var errNoPlace = errors.New("there is no place for the table")

// replaced returns a page with another table of that name.
func replaced(page []byte, name, table string) ([]byte, error) {
	mark := fmt.Sprintf("<!-- %s -->\n", name)
	before, rest, ok := strings.Cut(string(page), mark)
	_, after, ok2 := strings.Cut(rest, "<!-- end -->")
	if !ok || !ok2 {
		return nil, fmt.Errorf("%w %s", errNoPlace, name)
	}
	return []byte(before + mark + table + "<!-- end -->" + after), nil
}

// machine describes the machine and the time at which the tables were made.
func machine() string {
	kernel, _ := os.ReadFile("/proc/sys/kernel/osrelease") // none on other systems
	return fmt.Sprintf("%d cores, %s %s, %s, %s; load at the start %s\n", runtime.NumCPU(), runtime.GOOS, strings.TrimSpace(string(kernel)), runtime.Version(), time.Now().UTC().Format(time.DateOnly), load())
}

// load is the machine's load of the last minute, "unknown" where it is not told.
func load() string {
	b, err := os.ReadFile("/proc/loadavg")
	if err != nil {
		return "unknown"
	}
	one, _, _ := strings.Cut(string(b), " ")
	return one
}
