package sqlite

import (
	"bufio"
	"context"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/pawl-agent/pawl/internal/core/event"
	"github.com/pawl-agent/pawl/internal/core/must"
	"github.com/pawl-agent/pawl/internal/core/tool"
)

// childEnv makes the test binary the writer that is killed: the log's path.
const childEnv = "PAWL_STORE_CHILD"

func TestMain(m *testing.M) {
	if path := os.Getenv(childEnv); path != "" {
		if err := child(path); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		os.Exit(0)
	}
	if path := os.Getenv(appendEnv); path != "" {
		if err := appendChild(path); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		os.Exit(0)
	}
	if path := os.Getenv(holdEnv); path != "" {
		if err := holdChild(path); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		os.Exit(0)
	}
	os.Exit(m.Run())
}

func killText(seq int64) string { return strings.Repeat(fmt.Sprint(seq, " "), int(seq*7919%900)) }

// child goes on where the log ends and prints the seq of every batch once it
// was acknowledged, for ever.
func child(path string) error {
	ctx := context.Background()
	s, err := Open(ctx, path, Options{})
	if err != nil {
		return err
	}
	var at int64
	if row, err := s.Session(ctx, "s"); err == nil {
		at = row.Last
	}
	for {
		var ds []event.Draft
		for range 1 + at%3 {
			seq := at + int64(len(ds)) + 1
			if seq%10 == 0 {
				hash, err := s.Put(ctx, []byte(killText(seq)+"content"))
				if err != nil {
					return err
				}
				ds = append(ds, event.Draft{Body: event.FileChanged{Path: "a", After: tool.Hash(hash)}})
				continue
			}
			ds = append(ds, event.Draft{Body: event.Noted{Text: killText(seq)}})
		}
		es, err := s.Append(ctx, "s", at, ds...)
		if err != nil {
			return err
		}
		at = es[len(es)-1].Seq
		if _, err := fmt.Println(at); err != nil {
			return err
		}
	}
}

// SPEC 10.4: process death at any instant loses nothing that was acknowledged.
// One log is killed again and again, at random lines of its writer's output,
// which is at a random instant of what it does after them.
func TestKill(t *testing.T) {
	ctx := context.Background()
	seed := rand.Uint64()
	t.Logf("seed %d", seed)
	rnd := rand.New(rand.NewPCG(seed, 2))
	self := must.Get(os.Executable())(t)
	path := filepath.Join(t.TempDir(), "log.db")
	const kills = 50
	checked := int64(0)
	for kill := range kills {
		acked := run(t, self, path, 1+rnd.IntN(150))
		s, err := Open(ctx, path, Options{})
		if err != nil {
			t.Fatalf("kill %d: %v", kill, err)
		}
		if kill%10 == 9 {
			if found, err := s.Check(ctx); err != nil || len(found) > 0 {
				t.Fatalf("kill %d: damaged: %q %v", kill, found, err)
			}
		}
		last, batch := checked, int64(0)
		for e, err := range s.Read(ctx, "s", checked) {
			if err != nil {
				t.Fatalf("kill %d: %v", kill, err)
			}
			last++
			switch b := e.Body.(type) {
			case event.Noted:
				if b.Text != killText(e.Seq) {
					t.Fatalf("kill %d: event %d is not what was stored", kill, e.Seq)
				}
			case event.FileChanged:
				if data, err := s.Get(ctx, string(b.After)); err != nil || string(data) != killText(e.Seq)+"content" {
					t.Fatalf("kill %d: event %d names a content that is not there: %v", kill, e.Seq, err)
				}
			default:
				t.Fatalf("kill %d: event %d is %#v", kill, e.Seq, b)
			}
			if e.Seq != last {
				t.Fatalf("kill %d: event %d at place %d", kill, e.Seq, last)
			}
		}
		// Nothing torn: the log ends where a batch does.
		for batch = checked; batch < last; batch += 1 + batch%3 {
		}
		if batch != last {
			t.Fatalf("kill %d: half a batch is there: %d events", kill, last)
		}
		if last < acked {
			t.Fatalf("kill %d: %d events were acknowledged, %d are there", kill, acked, last)
		}
		checked = last
		if kill%2 == 0 { // half of the time the next writer meets the WAL as it was left
			must.Do(t, s.Close())
		} else {
			t.Cleanup(func() { s.Close() })
		}
	}
	t.Logf("%d kills, %d events", kills, checked)
}

// run starts a writer, kills it after it printed some lines, and returns the
// last seq that it said was stored, also after the kill was on its way.
func run(t *testing.T, self, path string, lines int) int64 {
	t.Helper()
	cmd := exec.Command(self)
	cmd.Env = append(os.Environ(), childEnv+"="+path)
	cmd.Stderr = os.Stderr
	out := must.Get(cmd.StdoutPipe())(t)
	must.Do(t, cmd.Start())
	acked := int64(0)
	in := bufio.NewReader(out)
	for n := 0; ; n++ {
		line, err := in.ReadString('\n')
		if err != nil {
			break // dead; what was printed in part was not said
		}
		if acked, err = strconv.ParseInt(strings.TrimSpace(line), 10, 64); err != nil {
			t.Fatalf("the writer printed %q", line)
		}
		if n == lines {
			must.Do(t, cmd.Process.Kill())
		}
	}
	if err := cmd.Wait(); err == nil || cmd.ProcessState.ExitCode() == 1 {
		t.Fatalf("the writer ended by itself: %v", err)
	}
	return acked
}
