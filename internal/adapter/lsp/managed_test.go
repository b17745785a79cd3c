package lsp

import (
	"context"
	"encoding/json"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/pawl-agent/pawl/internal/core/must"
	"github.com/pawl-agent/pawl/internal/core/process"
	"github.com/pawl-agent/pawl/internal/core/tool"
)

var project = map[string]string{"project.x": "", "a.x": "one\ntwo\n", "b.x": "three\n", "notes.txt": "x"}

// SPEC 12.1: started on first need, one for each root, and shared.
func TestLazyAndShared(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := newBench(t, map[string]string{
			"project.x": "", "a.x": "a", "sub/b.x": "b", "other/project.x": "", "other/c.x": "c", "other/deep/d.x": "d", "e.txt": "",
		}, nil)
		defer b.Close()
		if b.Changed(t.Context(), []tool.CodeChange{{Path: "e.txt"}}); b.started() != 0 {
			t.Error("a file that no server knows started one")
		}
		for _, p := range []string{"a.x", "sub/b.x", "a.x", "other/c.x", "other/deep/d.x"} {
			must.Done(t)(b.Hover(t.Context(), tool.CodeAt{Path: p, Line: 1}))
		}
		if b.started() != 2 || b.starts[0].Dir != b.dir || b.starts[1].Dir != b.path("other") {
			t.Errorf("started: %+v", b.starts)
		}
		for _, env := range []string{"GIT_CONFIG_KEY_0=core.fsmonitor", "GIT_CONFIG_VALUE_0=false"} {
			if !strings.Contains(strings.Join(b.starts[0].Env, "\n"), env) {
				t.Errorf("without %s", env)
			}
		}
		for _, p := range []string{"e.txt", "../out.x", "/etc/passwd"} {
			if _, err := b.Hover(t.Context(), tool.CodeAt{Path: p, Line: 1}); !errors.Is(err, errNoServer) {
				t.Errorf("%s: %v", p, err)
			}
		}
	})
}

// SPEC 12.3: crash → restart with backoff, at most 3; the person can begin again.
func TestRestarts(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := newBench(t, project, nil)
		defer b.Close()
		var at []time.Duration
		began := time.Now()
		for range 4 {
			must.Done(t)(b.Hover(t.Context(), tool.CodeAt{Path: "a.x", Line: 1}))
			at = append(at, time.Since(began))
			b.fake(b.started() - 1).Kill(0)
			synctest.Wait()
		}
		if !slices.Equal(at, []time.Duration{0, 500 * time.Millisecond, 2500 * time.Millisecond, 10500 * time.Millisecond}) {
			t.Errorf("started after %v", at)
		}
		_, err := b.Hover(t.Context(), tool.CodeAt{Path: "a.x", Line: 1})
		if err == nil || !strings.Contains(err.Error(), "/lsp restart") || b.started() != 4 {
			t.Errorf("%v after %d starts", err, b.started())
		}
		b.Restart(t.Context(), "x")
		if _, err := b.Hover(t.Context(), tool.CodeAt{Path: "a.x", Line: 1}); err != nil {
			t.Error(err)
		}
		// What went wrong long ago does not count.
		for range 6 {
			time.Sleep(6 * time.Minute)
			b.fake(b.started() - 1).Kill(0)
			synctest.Wait()
			must.Done(t)(b.Hover(t.Context(), tool.CodeAt{Path: "a.x", Line: 1}))
		}
	})
}

// SPEC 12.3: fifty lives leave nothing behind.
func TestFiftyRestarts(t *testing.T) {
	synctest.Test(t, func(t *testing.T) { // which fails where a goroutine is left
		b := newBench(t, project, nil)
		for i := range 50 {
			must.Done(t)(b.Hover(t.Context(), tool.CodeAt{Path: "a.x", Line: 1}))
			if i%2 == 0 {
				if b.Restart(t.Context(), ""); b.list()[0].restarts.Failures() != 0 {
					t.Fatal("a restart that was asked for counts as a failure")
				}
				continue
			}
			time.Sleep(5*time.Minute + time.Second)
			b.fake(b.started() - 1).Kill(0)
			synctest.Wait()
		}
		_ = b.Close()
		if _, err := b.Hover(t.Context(), tool.CodeAt{Path: "a.x", Line: 1}); !errors.Is(err, errOver) {
			t.Errorf("after Close: %v", err)
		}
		if b.started() != 50 {
			t.Errorf("%d starts", b.started())
		}
		for _, f := range b.fakes {
			select {
			case <-f.done:
			default:
				t.Error("a server runs on")
			}
		}
	})
}

// SPEC 12.3: idle 10 min → stopped; used again → started again.
func TestIdle(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := newBench(t, project, nil)
		defer b.Close()
		ask := func() {
			t.Helper()
			must.Done(t)(b.Hover(t.Context(), tool.CodeAt{Path: "a.x", Line: 1}))
		}
		ask()
		time.Sleep(9 * time.Minute)
		ask()
		time.Sleep(9 * time.Minute)
		if ask(); b.started() != 1 {
			t.Error("a server in use was stopped")
		}
		time.Sleep(10*time.Minute + 10*time.Second)
		if b.list()[0].running() != nil {
			t.Error("an idle server runs on")
		}
		if _, n := b.fake(0).last("shutdown"); n != 1 {
			t.Error("it was not asked to end")
		}
		if ask(); b.started() != 2 {
			t.Error("it was not started again")
		}
	})
}

// SPEC 12.3: another pawl can ask for a restart.
func TestRestartFromElsewhere(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var asked atomic.Pointer[time.Time]
		var name atomic.Value
		name.Store("other")
		b := newBench(t, project, func(o *Options) {
			o.Asked = func() (time.Time, string) {
				if at := asked.Load(); at != nil {
					return *at, name.Load().(string)
				}
				return time.Time{}, ""
			}
		})
		defer b.Close()
		must.Done(t)(b.Hover(t.Context(), tool.CodeAt{Path: "a.x", Line: 1}))
		time.Sleep(time.Minute)
		now := time.Now()
		asked.Store(&now)
		time.Sleep(time.Minute)
		if b.list()[0].running() == nil {
			t.Error("another server was meant")
		}
		name.Store("")
		time.Sleep(time.Minute)
		if b.list()[0].running() != nil {
			t.Error("it runs on")
		}
		must.Done(t)(b.Hover(t.Context(), tool.CodeAt{Path: "a.x", Line: 1}))
		time.Sleep(time.Minute)
		if b.started() != 2 || b.list()[0].running() == nil {
			t.Error("one word restarts once")
		}
	})
}

// SPEC 12.3: a memory limit.
func TestMemory(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var used atomic.Int64
		used.Store(1 << 30)
		b := newBench(t, project, func(o *Options) { o.Usage = func(int) int64 { return used.Load() } })
		defer b.Close()
		must.Done(t)(b.Hover(t.Context(), tool.CodeAt{Path: "a.x", Line: 1}))
		time.Sleep(time.Minute)
		if b.list()[0].running() == nil {
			t.Fatal("ended below the limit")
		}
		used.Store(5 << 30)
		time.Sleep(time.Minute)
		if b.list()[0].running() != nil {
			t.Error("it runs on over the limit")
		}
		if got := b.Status(); !strings.Contains(got[0].Problem, "5120 MB") {
			t.Errorf("status %+v", got)
		}
	})
}

// SPEC 12.1: absent ones are told with the install line, and are there as soon
// as they are installed.
func TestAbsent(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var there atomic.Bool
		b := newBench(t, project, func(o *Options) {
			o.Find = func(n string) (string, error) {
				if !there.Load() {
					return "", exec.ErrNotFound
				}
				return "/programs/" + n, nil
			}
		})
		defer b.Close()
		began := time.Now()
		for range 5 {
			_, err := b.Hover(t.Context(), tool.CodeAt{Path: "a.x", Line: 1})
			if absent := (*AbsentError)(nil); !errors.As(err, &absent) || !strings.Contains(err.Error(), "get x") {
				t.Fatal(err)
			}
			b.Changed(t.Context(), []tool.CodeChange{{Path: "a.x"}})
		}
		if waited := time.Since(began); waited > 2*time.Second {
			t.Errorf("an absent server was waited for: %s", waited)
		}
		if got := b.Missing(); len(got) != 1 || !strings.Contains(got[0], "get x") || len(b.Missing()) != 0 {
			t.Errorf("reported %v", got)
		}
		there.Store(true)
		if _, err := b.Hover(t.Context(), tool.CodeAt{Path: "a.x", Line: 1}); err != nil {
			t.Error(err)
		}
	})
}

// SPEC 16.1: what runs a project's code is not started in a folder that is not
// trusted, and a repository's own programs are never used there.
func TestUntrusted(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var trusted atomic.Bool
		var where atomic.Value
		b := newBench(t, map[string]string{"project.x": "", "a.x": "a", "a.y": "y", "bin/y-server": "#!/bin/sh\n"}, func(o *Options) {
			o.Trusted = func(string) bool { return trusted.Load() }
			o.Table[0].Runs = true
			o.Table = append(o.Table, Server{Name: "y", Commands: [][]string{{"y-server"}}, Files: map[string]string{".y": "y"}, Anywhere: true})
			o.Find = func(n string) (string, error) { return where.Load().(string) + "/" + n, nil }
		})
		defer b.Close()
		where.Store("/programs")
		if _, err := b.Hover(t.Context(), tool.CodeAt{Path: "a.x", Line: 1}); !errors.Is(err, errUntrusted) {
			t.Errorf("got %v", err)
		}
		for _, w := range []string{b.path("bin"), "bin", b.path("bin/../bin"), b.path("nothing")} {
			where.Store(w)
			if _, err := b.Hover(t.Context(), tool.CodeAt{Path: "a.y", Line: 1}); err == nil || b.started() != 0 {
				t.Errorf("%s was started: %v", w, err)
			}
		}
		trusted.Store(true)
		where.Store("/programs")
		if _, err := b.Hover(t.Context(), tool.CodeAt{Path: "a.x", Line: 1}); err != nil {
			t.Error(err)
		}
	})
}

// SPEC 16.12: a confined server reads its own program and nothing more for it.
func TestReadable(t *testing.T) {
	dir := must.Get(filepath.EvalSymlinks(t.TempDir()))(t)
	for _, f := range []string{"bin/gopls", "node/node_modules/x/cli.js"} {
		p := filepath.Join(dir, f)
		must.WriteMode(t, p, "", 0o755)
	}
	link := filepath.Join(dir, "bin", "x-server")
	must.Do(t, os.Symlink("../node/node_modules/x/cli.js", link))
	in := func(p string) string { return filepath.Join(dir, p) }
	for program, want := range map[string][]string{
		in("bin/gopls"): {in("bin/gopls")},
		link:            {in("node/node_modules/x/cli.js"), in("node/node_modules")},
		in("nothing"):   nil,
	} {
		if got := readable(process.Confine{Level: process.Workspace}, program).Reads; !slices.Equal(got, want) {
			t.Errorf("%s: %v, want %v", program, got, want)
		}
	}
	if got := readable(process.Free, link).Reads; got != nil {
		t.Errorf("an unconfined one: %v", got)
	}
}

// SPEC 12.1: of several servers for one language the first that can be had is
// used, also where the first cannot begin.
func TestAlternatives(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := newBench(t, project, func(o *Options) {
			second := o.Table[0]
			second.Name, second.Commands = "x2", [][]string{{"x2-server"}}
			o.Table = append(o.Table, second)
			o.Table[0].Group, o.Table[1].Group = "x", "x"
		})
		defer b.Close()
		b.make = func(c process.Program) (*fake, error) {
			f := newFake(t)
			if strings.HasSuffix(c.Path, "x-server") {
				f.answers["initialize"] = func(json.RawMessage) any { return fakeError{-32603, "no valid installation found"} }
			}
			return f, nil
		}
		must.Done(t)(b.Hover(t.Context(), tool.CodeAt{Path: "a.x", Line: 1}))
		if got := b.Status(); len(got) != 1 || got[0].Name != "x2" {
			t.Errorf("%+v", got)
		}
	})
}

// An interrupt ends the wait for a server that starts slowly, and not the server.
func TestInterruptedStart(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := newBench(t, project, nil)
		defer b.Close()
		b.make = func(process.Program) (*fake, error) {
			f := newFake(t)
			f.answers["initialize"] = func(json.RawMessage) any {
				time.Sleep(5 * time.Second)
				return map[string]any{"capabilities": json.RawMessage(f.caps)}
			}
			return f, nil
		}
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		if _, err := b.Hover(ctx, tool.CodeAt{Path: "a.x", Line: 1}); !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("got %v", err)
		}
		if _, err := b.Hover(t.Context(), tool.CodeAt{Path: "a.x", Line: 1}); err != nil || b.started() != 1 {
			t.Errorf("%v after %d starts", err, b.started())
		}
	})
}
