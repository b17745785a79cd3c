package kvtest

import (
	"bufio"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"testing"

	"github.com/pawl-agent/pawl/internal/core/kv"
)

// childDir is set in the process that Killed kills.
const childDir = "PAWL_KVTEST_DIR"

// Killed kills a process while it writes, and checks that every acknowledged write is
// there and every value is whole. The process is the calling test, run again.
func Killed(t *testing.T, open func(t testing.TB, dir string) kv.Store) {
	if dir := os.Getenv(childDir); dir != "" {
		writeForEver(t, open(t, dir))
		return
	}
	dir := t.TempDir()
	random := rand.New(rand.NewPCG(3, 4))
	last := 0
	for round := range 4 {
		cmd := exec.Command(os.Args[0], "-test.run=^"+t.Name()+"$", "-test.count=1")
		cmd.Env = append(os.Environ(), childDir+"="+dir)
		out, err := cmd.StdoutPipe()
		if err != nil {
			t.Fatal(err)
		}
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		stop := last + 1 + random.IntN(40)
		for lines := bufio.NewScanner(out); lines.Scan(); {
			n, ok := strings.CutPrefix(lines.Text(), "kept ")
			if !ok {
				continue
			}
			if last, err = strconv.Atoi(n); err != nil {
				t.Fatal(err)
			}
			if last >= stop {
				_ = cmd.Process.Kill()
				for lines.Scan() {
					if n, ok := strings.CutPrefix(lines.Text(), "kept "); ok {
						if k, err := strconv.Atoi(n); err == nil {
							last = k
						}
					}
				}
				break
			}
		}
		_ = cmd.Wait() // it was killed
		if last < stop {
			t.Fatalf("round %d: the writer ended by itself after %d", round, last)
		}
		s := open(t, dir)
		e, err := s.Load(t.Context(), "n")
		n, _, whole := strings.Cut(string(e.Value), " ")
		if got, _ := strconv.Atoi(n); err != nil || got < last || got > last+1 || !whole || string(e.Value) != killedValue(got) {
			t.Errorf("round %d: %.20q of %d bytes, %v; %d was acknowledged", round, e.Value, len(e.Value), err, last)
		}
		if keys, err := s.List(t.Context(), ""); err != nil || len(keys) != 1 {
			t.Errorf("round %d: %q, %v", round, keys, err)
		}
	}
}

func killedValue(n int) string { return fmt.Sprint(n, " ") + strings.Repeat("x", n%7*1000) }

func writeForEver(t testing.TB, s kv.Store) {
	var at kv.Version
	n := 0
	if e, err := s.Load(t.Context(), "n"); err == nil {
		at = e.Version
		before, _, _ := strings.Cut(string(e.Value), " ")
		n, _ = strconv.Atoi(before)
	}
	for {
		n++
		v, err := s.Swap(t.Context(), "n", at, []byte(killedValue(n)))
		if err != nil {
			t.Fatal(err)
		}
		at = v
		fmt.Println("kept", n)
	}
}
