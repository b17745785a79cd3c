package wiretest

import (
	"errors"
	"fmt"
	"hash/fnv"
	"io"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"go.uber.org/goleak"

	"github.com/pawl-agent/pawl/internal/core/fault"
	"github.com/pawl-agent/pawl/internal/core/must"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// all returns every case there is: the fixtures of this folder, and the
// recordings where they are present.
func all(t *testing.T) []Case {
	t.Helper()
	dirs := must.Get(filepath.Glob(filepath.Join("testdata", "*")))(t)
	recorded := must.Get(Dir())(t)
	if recorded != "" {
		dirs = append(dirs, recorded)
	}
	var out []Case
	for _, dir := range dirs {
		cases := must.Get(Index(dir))(t)
		out = append(out, cases...)
	}
	return out
}

// each runs f for every case whose API pawl speaks.
func each(t *testing.T, f func(t *testing.T, c Case, rec *Recording)) {
	t.Helper()
	for _, c := range all(t) {
		if _, ok := c.Wire(); !ok {
			t.Errorf("%s: pawl does not speak %s", c.File, c.API)
			continue
		}
		t.Run(c.File, func(t *testing.T) {
			t.Parallel()
			rec := must.Get(c.Load())(t)
			f(t, c, rec)
		})
	}
}

// judge fails the test where the differences are not those that known lists.
func judge(t *testing.T, c Case, found []string) {
	t.Helper()
	switch why := known[c.File]; {
	case why == "" && len(found) > 0:
		t.Errorf("%s", strings.Join(found, "\n"))
	case why != "" && len(found) == 0:
		t.Errorf("is listed as %q, and agrees", why)
	}
}

// SPEC 5.1: every recorded exchange, over a real connection.
func TestReplayWhole(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, c Case, _ *Recording) {
		s := Serve(t, c)
		judge(t, c, Check(c, Ask(t.Context(), s.Client(t, c))))
	})
}

// SPEC 5.1: the same however the network cuts it.
func TestReplaySplit(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, c Case, rec *Recording) {
		for _, p := range patterns() {
			body := rec.Response.Body
			api, _ := c.Wire()
			m := must.Get(client(c, api, rec, &cuts{body, p.next(body), io.EOF}))(t)
			judge(t, c, Check(c, Ask(t.Context(), m)))
			if t.Failed() {
				t.Fatalf("cut by %s", p.name)
			}
		}
	})
}

// SPEC 3.2, 3.3: half a stream is an error worth another try, and never a
// reply; a cut after the last event changes nothing.
func TestReplayCutShort(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, c Case, rec *Recording) {
		api, _ := c.Wire()
		ask := func(body string, end error) Outcome {
			m := must.Get(client(c, api, rec, &cuts{body, func() int { return 4096 }, end}))(t)
			return Ask(t.Context(), m)
		}
		body := rec.Response.Body
		whole := ask(body, io.EOF)
		for i, n := range shorter(c.File, len(body)) {
			end := io.EOF
			if i%2 == 1 {
				end = io.ErrUnexpectedEOF
			}
			if err := cutShort(whole, ask(body[:n], end)); err != nil && knownCut[c.File] == "" {
				t.Errorf("after %d of %d bytes (%v): %v", n, len(body), end, err)
			}
		}
	})
}

// shorter returns the places where a body is cut: all of a short one's, a sample
// of a long one's that is the same each time.
func shorter(name string, size int) (out []int) {
	sample := 24
	if os.Getenv("PAWL_WIRE") != "" { // asked for by name: look closer
		sample = 300
	}
	if size <= sample {
		for n := range size {
			out = append(out, n)
		}
		return out
	}
	h := fnv.New64a()
	_, _ = io.WriteString(h, name) // a hash never fails
	r := rand.New(rand.NewPCG(h.Sum64(), 2))
	for n := range 5 { // the start and the end are where the surprises are
		out = append(out, n, size-1-n)
	}
	for range sample - len(out) {
		out = append(out, r.IntN(size))
	}
	return out
}

// cutShort checks the outcome of a body that was cut against the whole one's.
func cutShort(whole, cut Outcome) error {
	var f *fault.Error
	switch {
	case cut.Strays != "":
		return errors.New(cut.Strays)
	case cut.Err == nil && cut.Reply == nil:
		return errors.New("neither reply nor error")
	case !strings.HasPrefix(whole.Text, cut.Text):
		return fmt.Errorf("text that the whole does not have: %.80q", cut.Text)
	case cut.Err != nil && !errors.As(cut.Err, &f):
		return fmt.Errorf("not a *fault.Error: %w", cut.Err)
	case whole.Err != nil && cut.Err == nil:
		return errors.New("half an error became a reply")
	case whole.Err != nil:
		return nil
	case cut.Err != nil && !f.Retryable:
		return fmt.Errorf("not worth another try: %w", cut.Err)
	case cut.Err != nil:
		return nil
	}
	if a, b := whole.Reply, cut.Reply; a.Message.Text() != b.Message.Text() || a.Finish != b.Finish ||
		len(a.Message.Calls()) != len(b.Message.Calls()) || len(a.Message.Parts) != len(b.Message.Parts) {
		return errors.New("half a reply became a whole one")
	}
	return nil
}

// SPEC 5.1: what pawl sends back of a reply is what the recorded client sent
// back of it, in ids, names, arguments, signatures and text.
func TestEcho(t *testing.T) {
	t.Parallel()
	cases := all(t)
	each(t, func(t *testing.T, c Case, rec *Recording) {
		before, ok := followed(cases, c)
		if !ok {
			return
		}
		why := knownEcho[c.File]
		switch found, err := Echo(t.Context(), before, c); {
		case err != nil:
			t.Fatal(err)
		case why == "" && len(found) > 0:
			t.Errorf("%s", strings.Join(found, "\n"))
		case why != "" && len(found) == 0:
			t.Errorf("is listed as %q, and agrees", why)
		}
	})
}

// followed returns the case whose reply stands in c's request.
func followed(cases []Case, c Case) (Case, bool) {
	if c.Session == nil || c.Session.Follows == 0 {
		return Case{}, false
	}
	for _, b := range cases {
		if b.dir == c.dir && b.Session != nil && b.Session.Name == c.Session.Name && b.Session.Step == c.Session.Follows && b.API == c.API {
			return b, true
		}
	}
	return Case{}, false
}
