package sqlite

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/pawl-agent/pawl/internal/core/event"
	"github.com/pawl-agent/pawl/internal/core/llm"
	"github.com/pawl-agent/pawl/internal/core/must"
)

// written is what this process had the kernel write so far, in bytes: the
// calls (wchar) and what goes to the disk (write_bytes). Zero where the system
// does not say.
func written() (calls, disk int64) {
	data, err := os.ReadFile("/proc/self/io")
	if err != nil {
		return 0, 0
	}
	for line := range bytes.Lines(data) {
		fmt.Sscanf(string(line), "wchar: %d", &calls)
		fmt.Sscanf(string(line), "write_bytes: %d", &disk)
	}
	return calls, disk
}

func size(paths ...string) (n int64) {
	for _, p := range paths {
		if i, err := os.Stat(p); err == nil {
			n += i.Size()
		}
	}
	return n
}

func note(n int) event.Draft {
	return event.Draft{Body: event.Noted{Why: "bench", Text: strings.Repeat("x", n)}}
}

// BenchmarkAppend is one event of about 300 bytes in a transaction of its own,
// to a session that has none yet and to one that is 100,000 long.
func BenchmarkAppend(b *testing.B) {
	for _, c := range []struct {
		durability string
		length     int64
	}{{"normal", 0}, {"normal", 100_000}, {"full", 0}} {
		b.Run(fmt.Sprintf("%s/%d", c.durability, c.length), func(b *testing.B) {
			ctx := context.Background()
			s := openAt(b, filepath.Join(b.TempDir(), "log.db"), Options{Durability: c.durability})
			ds := make([]event.Draft, 1000)
			for i := range ds {
				ds[i] = note(260)
			}
			n := int64(0)
			for ; n < c.length; n += 1000 {
				must.Done(b)(s.Append(ctx, "s", n, ds...))
			}
			b.ReportAllocs()
			for b.Loop() {
				must.Done(b)(s.Append(ctx, "s", n, ds[0]))
				n++
			}
			b.ReportMetric(float64(b.N)/b.Elapsed().Seconds(), "appends/s")
		})
	}
}

// session appends what a session of calls does to the log: per call one
// appended batch for the request, one for the reply, one for the start and one
// for the result, with a file changed at every fourth.
func session(tb testing.TB, s *Store, calls int) {
	ctx := context.Background()
	var at int64
	add := func(ds ...event.Draft) {
		tb.Helper()
		es := must.Get(s.Append(ctx, "s", at, ds...))(tb)
		at = es[len(es)-1].Seq
	}
	head := llm.Head{Model: "m", System: strings.Repeat("You are an agent that does one thing well. ", 100)}
	add(event.Draft{Body: event.Opened{Dir: "/w", Pawl: "1", Mode: "ask"}}, event.Draft{Body: event.Rebased{Why: "start", Head: head}})
	add(event.Draft{Body: event.Prompted{Source: event.Person, Text: "do it"}})
	for i := range calls {
		id := fmt.Sprintf("call_%08d", i)
		args := json.RawMessage(fmt.Sprintf(`{"command":"echo %d"}`, i))
		add(event.Draft{Body: event.Requested{Attempt: 1, Bytes: int64(9000 + 300*i), Model: "m"}})
		add(event.Draft{Body: event.Replied{Reply: llm.Reply{
			Message: llm.Message{Role: llm.Assistant, Parts: []llm.Part{{Kind: llm.CallPart, Call: &llm.Call{ID: id, Name: "bash", Args: args}}}},
			Stop:    llm.StopCalls, Usage: llm.Usage{Known: true, Input: int64(i), Output: 40},
		}}})
		add(event.Draft{Cause: at, Body: event.CallAsked{ID: id, Tool: "bash", Args: args}}, event.Draft{Cause: at, Body: event.CallStarted{ID: id}})
		add(event.Draft{Cause: at, Body: event.CallDone{
			ID: id, Tool: "bash", Outcome: event.OK, Exit: new(0), Command: fmt.Sprintf("echo %d", i),
			Result: llm.Result{ID: id, Name: "bash", Text: fmt.Sprintf("%d\nexit code 0", i)}, Took: 1e6, Bytes: 16,
		}})
	}
}

// BenchmarkSession reports what a session of 1,000 calls costs the disk. Aim
// (issue 2, "Cost"): a log of at most 3 MB, at most 30 MB written.
func BenchmarkSession(b *testing.B) {
	for b.Loop() {
		path := filepath.Join(b.TempDir(), "log.db")
		calls0, disk0 := written()
		s := must.Get(Open(context.Background(), path, Options{}))(b)
		session(b, s, 1000)
		open := size(path, path+"-wal", path+"-shm")
		must.Do(b, s.Close())
		calls1, disk1 := written()
		b.ReportMetric(float64(calls1-calls0)/1e6, "MB-written")
		b.ReportMetric(float64(disk1-disk0)/1e6, "MB-to-disk")
		b.ReportMetric(float64(open)/1e6, "MB-open")
		b.ReportMetric(float64(size(path))/1e6, "MB-log")
	}
}

// BenchmarkOpen is open and first append, of a log that is there and of one
// that is not.
func BenchmarkOpen(b *testing.B) {
	first := event.Draft{Body: event.Rebased{Why: "start", Head: llm.Head{System: strings.Repeat("You are an agent that does one thing well. ", 300)}}}
	for _, fresh := range []bool{true, false} {
		b.Run(fmt.Sprintf("fresh=%v", fresh), func(b *testing.B) {
			ctx := context.Background()
			path := filepath.Join(b.TempDir(), "log.db")
			keep := openAt(b, filepath.Join(b.TempDir(), "other.db"), Options{})
			if !fresh {
				keep = openAt(b, path, Options{})
			}
			must.Done(b)(keep.Append(ctx, "before", 0, note(100)))
			i := 0
			for b.Loop() {
				i++
				if fresh {
					path = filepath.Join(b.TempDir(), fmt.Sprint(i), "log.db")
				}
				s := must.Get(Open(ctx, path, Options{}))(b)
				must.Done(b)(s.Append(ctx, fmt.Sprint("s", i), 0, first, note(100)))
				b.StopTimer()
				s.Close()
				b.StartTimer()
			}
		})
	}
}

// BenchmarkRead is a session of 100,000 events, read whole.
func BenchmarkRead(b *testing.B) {
	ctx := context.Background()
	s := openAt(b, filepath.Join(b.TempDir(), "log.db"), Options{})
	ds := make([]event.Draft, 1000)
	for i := range ds {
		ds[i] = note(260)
	}
	for n := int64(0); n < 100_000; n += 1000 {
		must.Done(b)(s.Append(ctx, "s", n, ds...))
	}
	for b.Loop() {
		for _, err := range s.Read(ctx, "s", 0) {
			must.Do(b, err)
		}
	}
}

// BenchmarkPut is a source file of 20 KB, new each time.
func BenchmarkPut(b *testing.B) {
	s := openAt(b, filepath.Join(b.TempDir(), "log.db"), Options{})
	i := 0
	for b.Loop() {
		i++
		must.Done(b)(s.Put(context.Background(), []byte(strings.Repeat(fmt.Sprintf("line %d of a file\n", i), 1000))))
	}
}

// BenchmarkLargeBlob is 1 MB that does not compress, put and read back.
func BenchmarkLargeBlob(b *testing.B) {
	ctx := context.Background()
	s := openAt(b, filepath.Join(b.TempDir(), "log.db"), Options{})
	rnd := rand.New(rand.NewPCG(1, 1))
	data := make([]byte, 1<<20)
	var hash string
	b.Run("put", func(b *testing.B) {
		for b.Loop() {
			for i := range data {
				data[i] = byte(rnd.Uint32())
			}
			hash = must.Get(s.Put(ctx, data))(b)
		}
	})
	b.Run("get", func(b *testing.B) {
		for b.Loop() {
			must.Done(b)(s.Get(ctx, hash))
		}
	})
}
