//go:build linux

package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"os/exec"
	"slices"
	"strconv"
	"strings"
	"time"
)

const screen = "github.com/pawl-agent/pawl/internal/frontend/tui"

// linked tells what the screen costs a command that does not open it: the packages that
// are linked for the screen alone, and how long their initialisation takes at each start.
func linked(pawl string, times int) error {
	out, err := exec.Command("go", "list", "-deps", "-json=ImportPath,Imports", "./cmd/pawl").Output()
	if err != nil {
		return err
	}
	imports := map[string][]string{}
	for d := json.NewDecoder(bytes.NewReader(out)); ; {
		var p struct {
			ImportPath string
			Imports    []string
		}
		if err := d.Decode(&p); err == io.EOF {
			break
		} else if err != nil {
			return err
		}
		imports[p.ImportPath] = p.Imports
	}
	without := map[string]bool{}
	var walk func(string)
	walk = func(p string) {
		if without[p] || p == screen || strings.HasPrefix(p, screen+"/") {
			return
		}
		without[p] = true
		for _, i := range imports[p] {
			walk(i)
		}
	}
	walk("github.com/pawl-agent/pawl/cmd/pawl")
	walk("runtime")
	only := 0
	for p := range imports {
		if !without[p] {
			only++
		}
	}
	var alone, all []time.Duration
	for range times {
		cmd := exec.Command(pawl, "--version")
		cmd.Env = []string{"GODEBUG=inittrace=1", "HOME=/nonexistent"}
		var trace bytes.Buffer
		cmd.Stderr = &trace
		if err := cmd.Run(); err != nil {
			return err
		}
		a, b := time.Duration(0), time.Duration(0)
		for l := range strings.Lines(trace.String()) { // init NAME @0.1 ms, 0.01 ms clock, 16 bytes, 1 allocs
			w := strings.Fields(l)
			if len(w) < 6 || w[0] != "init" {
				continue
			}
			took, err := strconv.ParseFloat(w[4], 64)
			if err != nil {
				return fmt.Errorf("inittrace: %q", l)
			}
			d := time.Duration(took * float64(time.Millisecond))
			b += d
			if !without[w[1]] {
				a += d
			}
		}
		alone, all = append(alone, a), append(all, b)
	}
	slices.Sort(alone)
	fmt.Printf("linked for the screen alone: %d packages of %d; their initialisation %.3f ms of %.3f ms (median of %d; least %.3f; at most 0.2)\n",
		only, len(imports), inMs(middle(alone)), inMs(middle(all)), times, inMs(alone[0]))
	return nil
}

func inMs(d time.Duration) float64 { return float64(d.Nanoseconds()) / 1e6 }
