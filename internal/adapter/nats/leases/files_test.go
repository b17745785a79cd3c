package leases

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/nats-io/nats.go/jetstream"

	"github.com/pawl-agent/pawl/internal/adapter/nats/natstest"
	"github.com/pawl-agent/pawl/internal/core/must"
)

func text(s string) func(context.Context, io.Writer) error {
	return func(_ context.Context, w io.Writer) error {
		_, err := io.WriteString(w, s)
		return err
	}
}

func (r *testBoard) keep(what string, write func(context.Context, io.Writer) error) string {
	r.t.Helper()
	name, err := r.board.Keep(r.t.Context(), what, write)
	must.Do(r.t, err)
	return name
}

func (r *testBoard) read(name string, most int64) (string, error) {
	in, err := r.board.Get(r.t.Context(), name, most)
	if err != nil {
		return "", err
	}
	defer in.Close()
	b, err := io.ReadAll(in)
	return string(b), err
}

// SPEC 14.6: files arrive as they were sent, each once, and what somebody else stored in
// their place is refused.
func TestFiles(t *testing.T) {
	t.Parallel()
	r := newTestBoardFor(t, natstest.Server(t).ClientURL(), time.Minute)
	stream := must.Get(r.board.js.Stream(t.Context(), r.board.filesStream()))(t)
	for _, n := range []int{0, 1, partSize - 1, partSize, partSize + 1, 9*partSize + 7} {
		all := strings.Repeat("0123456789abcdef", n/16+1)[:n]
		name := r.keep(fmt.Sprint(n), text(all))
		if _, err := stream.GetLastMsgForSubject(t.Context(), here.partsSubject(name)+endID); n <= partSize+1 && err != nil {
			t.Errorf("%d bytes: whoever fetches them must wait for their end: %v", n, err)
		}
		if got, err := r.read(name, 2<<20); err != nil || got != all {
			t.Errorf("%d bytes: got %d, %v", n, len(got), err)
		}
		if again := r.keep(fmt.Sprint(n), func(context.Context, io.Writer) error { return errors.New("it is made again") }); again != name {
			t.Errorf("it is kept as %s and as %s", name, again)
		}
		if got, err := r.read(name, int64(n)-1); n > 0 && !errors.Is(err, ErrRefused) {
			t.Errorf("over the limit: %d bytes, %v", len(got), err)
		}
	}
	for _, bad := range []string{"", "../x", strings.Repeat("z", 64), newFile()[:63]} {
		if _, err := r.read(bad, 1000); !errors.Is(err, ErrRefused) {
			t.Errorf("%q: %v", bad, err)
		}
	}
	if _, err := r.read(newFile(), 1000); err == nil {
		t.Error("what nobody stored is there")
	}
	const sum = "d9298a10d1b0735837dc4bd85dac641b0f3cef27a47e5d53a54f2f3f5b2fcffa" // of "other"
	for what, parts := range map[string][]string{
		"other content": {`{"parts":1,"size":5,"sum":"00"}`, "other"},
		"a longer part": {`{"parts":1,"size":5,"sum":"` + sum + `"}`, "other and more"},
		"a part more":   {`{"parts":2,"size":5,"sum":"` + sum + `"}`, "other", " and more"},
		"a part less":   {`{"parts":0,"size":5,"sum":"` + sum + `"}`},
		"no end":        {`{`},
	} {
		name := newFile()
		for i, p := range parts {
			id := endID
			if i > 0 {
				id = fmt.Sprint(i - 1)
			}
			must.Done(t)(r.board.js.Publish(t.Context(), here.partsSubject(name)+id, []byte(p)))
		}
		if got, err := r.read(name, 1<<20); !errors.Is(err, ErrRefused) {
			t.Errorf("%s: %q, %v", what, got, err)
		}
	}
}

// SPEC 14.6: a worker that died while it fetched a large file begins where it stopped, and
// what was changed meanwhile is refused, once.
func TestFileIsResumed(t *testing.T) {
	t.Parallel()
	r := newTestBoardFor(t, natstest.Server(t).ClientURL(), time.Minute)
	all := strings.Repeat("0123456789abcdef", 5*partSize/16) + "the end"
	name, dir := r.keep("large", text(all)), t.TempDir()
	must.Write(t, filepath.Join(dir, keptPart+newFile()), "of another")
	dies := func(after int) {
		t.Helper()
		in := must.Get(r.board.files.get(t.Context(), name, dir, 1<<20))(t)
		defer in.Close()
		must.Done(t)(io.ReadFull(in, make([]byte, after)))
	}
	kept := func() string {
		t.Helper()
		all, err := filepath.Glob(filepath.Join(dir, "*"))
		if err != nil || len(all) > 1 {
			t.Fatalf("%q %v", all, err)
		}
		return strings.Join(all, "")
	}
	dies(2*partSize + 1)
	dies(10)
	if info, err := os.Stat(kept()); err != nil || info.Size() != 3*partSize {
		t.Fatalf("%+v %v", info, err)
	}
	if err := os.Truncate(kept(), 3*partSize-1); err != nil { // it died while it wrote
		t.Fatal(err)
	}
	stream := must.Get(r.board.js.Stream(t.Context(), r.board.filesStream()))(t)
	if err := stream.Purge(t.Context(), jetstream.WithPurgeSubject(here.partsSubject(name)+"1")); err != nil { // it is not needed again
		t.Fatal(err)
	}
	in := must.Get(r.board.files.get(t.Context(), name, dir, 1<<20))(t)
	defer in.Close()
	if got, err := io.ReadAll(in); err != nil || string(got) != all || kept() != "" {
		t.Errorf("%d bytes of %d, %v; left: %s", len(got), len(all), err, kept())
	}
	name = r.keep("again", text(all))
	dies(2 * partSize)
	must.Do(t, os.WriteFile(kept(), make([]byte, 2*partSize), 0o600))
	for _, want := range []error{ErrRefused, nil} {
		in := must.Get(r.board.files.get(t.Context(), name, dir, 1<<20))(t)
		if got, err := io.ReadAll(in); !errors.Is(err, want) || want == nil && string(got) != all {
			t.Errorf("%d bytes, %v, want %v", len(got), err, want)
		}
		_ = in.Close()
	}
}

// SPEC 14.6: the first bytes of a large repository arrive while the rest is still made.
func TestFileArrivesWhileItIsMade(t *testing.T) {
	t.Parallel()
	r := newTestBoardFor(t, natstest.Server(t).ClientURL(), time.Minute)
	arrived := make(chan struct{})
	name := r.keep("large", func(_ context.Context, w io.Writer) error {
		if _, err := w.Write(make([]byte, 3*partSize)); err != nil {
			return err
		}
		<-arrived
		_, err := io.WriteString(w, "the end")
		return err
	})
	in := must.Get(r.board.Get(t.Context(), name, 1<<20))(t)
	defer in.Close()
	must.Done(t)(io.ReadFull(in, make([]byte, 3*partSize)))
	close(arrived)
	if rest, err := io.ReadAll(in); err != nil || string(rest) != "the end" {
		t.Errorf("%q, %v", rest, err)
	}
}

// SPEC 14.6: a file that its sender cannot make ends for those who read it, and is made
// again for the next one who needs it.
func TestFileIsNotFinished(t *testing.T) {
	t.Parallel()
	r := newTestBoard(t, natstest.Server(t).ClientURL())
	none := errors.New("no such commit")
	if _, err := r.board.Keep(t.Context(), "x", func(context.Context, io.Writer) error { return none }); !errors.Is(err, none) {
		t.Errorf("%v", err)
	}
	goOn := make(chan struct{})
	name := r.keep("x", func(_ context.Context, w io.Writer) error {
		if _, err := w.Write(make([]byte, 2*partSize)); err != nil {
			return err
		}
		<-goOn
		return errors.New("the disk is full")
	})
	in := must.Get(r.board.Get(t.Context(), name, 1<<20))(t)
	defer in.Close()
	must.Done(t)(io.ReadFull(in, make([]byte, 2*partSize)))
	close(goOn)
	if _, err := in.Read(make([]byte, 1)); !errors.Is(err, ErrNetwork) {
		t.Errorf("%v", err)
	}
	for !r.heard("the disk is full") {
		pause(t.Context(), askAgain)
	}
	if got, err := r.read(r.keep("x", text("again")), 100); err != nil || got != "again" {
		t.Errorf("%q, %v", got, err)
	}
	// A sender that only stands still.
	stands := make(chan struct{})
	defer close(stands)
	name = r.keep("y", func(_ context.Context, w io.Writer) error {
		_, err := w.Write(make([]byte, 2*partSize))
		<-stands
		return err
	})
	if _, err := r.read(name, 1<<20); !errors.Is(err, ErrNetwork) || !strings.Contains(err.Error(), "no more of it") {
		t.Errorf("%v", err)
	}
}
