package machines

import (
	"bytes"
	"context"
	"encoding/hex"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/pawl-agent/pawl/internal/adapter/nats/leases"
	"github.com/pawl-agent/pawl/internal/adapter/nats/natstest"
	"github.com/pawl-agent/pawl/internal/core/event"
	"github.com/pawl-agent/pawl/internal/core/must"
	"github.com/pawl-agent/pawl/internal/core/process/processtest"
	judge "github.com/pawl-agent/pawl/internal/policy/swarm"
)

// forge is a repository in which objects are made that git itself would not make.
type forge struct {
	t    *testing.T
	dir  string
	made []string // all objects
}

func (f *forge) git(in io.Reader, args ...string) string {
	cmd := processtest.Git(f.dir, args...)
	cmd.Stdin = in
	var fail bytes.Buffer
	cmd.Stderr = &fail
	out, err := cmd.Output()
	if err != nil {
		f.t.Errorf("git %v: %v: %s", args, err, fail.Bytes())
	}
	return string(out)
}

func (f *forge) object(kind string, in io.Reader) string {
	id := strings.TrimSpace(f.git(in, "hash-object", "-t", kind, "--literally", "-w", "--stdin"))
	f.made = append(f.made, id)
	return id
}

func (f *forge) blob(text string) string { return f.object("blob", strings.NewReader(text)) }

// tree takes mode, name and id of each entry.
func (f *forge) tree(entries ...string) string {
	var raw bytes.Buffer
	for i := 0; i < len(entries); i += 3 {
		id, err := hex.DecodeString(entries[i+2])
		if err != nil {
			f.t.Error(err)
		}
		fmt.Fprintf(&raw, "%s %s\x00%s", entries[i], entries[i+1], id)
	}
	return f.object("tree", &raw)
}

// pack packs all that was made, without looking at it.
func (f *forge) pack() string {
	return f.git(strings.NewReader(strings.Join(f.made, "\n")+"\n"), "pack-objects", "--stdout", "-q")
}

// Escape: what a hostile worker sends in a pack is refused by the coordinator, which
// says what and why; nothing of it is merged, and nothing lies outside the trees.
//
// A task is tried three times, and the huge object is read by git each time: that is
// most of the seconds this takes.
//
// SPEC 14.6
func TestEscape(t *testing.T) {
	t.Parallel()
	r := newRemoteSwarm(t, natstest.Server(t).ClientURL(), time.Minute)
	defer func() { _ = r.board.Close(context.Background()) }()
	const hook = "#!/bin/sh\ntouch owned\n"
	// All but the honest one have the file that the task is to make, so that the check of
	// the task would pass.
	attacks := map[string]struct {
		why  string
		tree func(f *forge, fine, base string) string // base is a commit
	}{
		"honest": {"", func(f *forge, fine, _ string) string {
			return f.tree("100644", "honest", fine, "100644", "start", f.blob("start\n"))
		}},
		"hook": {"refused", func(f *forge, fine, _ string) string {
			return f.tree("40000", ".git", f.tree("40000", "hooks", f.tree("100755", "post-checkout", f.blob(hook))), "100644", "hook", fine)
		}},
		"hook-below": {"refused", func(f *forge, fine, _ string) string {
			return f.tree("100644", "hook-below", fine, "40000", "sub", f.tree("40000", ".GIT", f.tree("100644", "config", f.blob(hook))))
		}},
		"submodule": {"nested repository", func(f *forge, fine, base string) string {
			return f.tree("160000", "m", base, "100644", "submodule", fine)
		}},
		"submodule-file": {"refused", func(f *forge, fine, base string) string {
			return f.tree("100644", ".gitmodules", f.blob("[submodule \"x\"]\n\tpath = -x\n\turl = --upload-pack=touch owned\n"), "100644", "submodule-file", fine)
		}},
		"dots": {"refused", func(f *forge, fine, _ string) string {
			return f.tree("40000", "..", f.tree("100644", "owned", fine), "100644", "dots", fine)
		}},
		"path-in-a-name": {"refused", func(f *forge, fine, _ string) string {
			return f.tree("100644", "../../owned", fine, "100644", "path-in-a-name", fine)
		}},
		"huge": {"over 100 MB", func(f *forge, fine, _ string) string {
			return f.tree("100644", "big", f.object("blob", io.LimitReader(zeros{}, 101<<20)), "100644", "huge", fine)
		}},
		"link": {"symbolic link", func(f *forge, fine, _ string) string {
			return f.tree("120000", "l", f.blob("/etc/passwd"), "100644", "link", fine)
		}},
		"through-a-link": {"refused", func(f *forge, fine, _ string) string {
			return f.tree("120000", "d", f.blob("/tmp"), "40000", "d", f.tree("100644", "owned", fine), "100644", "through-a-link", fine)
		}},
		"bomb": {"over 100000", func(f *forge, fine, _ string) string { // 10^12 files in a thousand bytes
			tree := f.tree("100644", "f", fine)
			for range 12 {
				var es []string
				for i := range 10 {
					es = append(es, "40000", fmt.Sprint("d", i), tree)
				}
				tree = f.tree(es...)
			}
			return f.tree("100644", "bomb", fine, "40000", "x", tree)
		}},
		"a-device": {"refused", func(f *forge, fine, _ string) string { return f.tree("100644", "a-device", fine, "060000", "x", fine) }},
	}
	var mu sync.Mutex
	files := map[string][2]string{} // the pack of each attack, and its commit
	r.worker(dial(t, r.url), "hostile", func(ctx context.Context, held *leases.Held) leases.Result {
		id, base := held.Job.Task.ID, held.Job.Base
		mu.Lock()
		defer mu.Unlock()
		made, ok := files[id+base]
		if !ok {
			f := &forge{t: t, dir: t.TempDir()}
			f.git(nil, "init", "-q", "--bare")
			fine := f.blob(id + "\n")
			tree := attacks[id].tree(f, fine, base)
			commit := f.object("commit", strings.NewReader(fmt.Sprintf("tree %s\nparent %s\nauthor x <x> 0 +0000\ncommitter x <x> 0 +0000\n\nm\n", tree, base)))
			made = [2]string{f.pack(), commit}
			files[id+base] = made
		}
		name, err := held.Put(ctx, func(w io.Writer) error { _, err := io.WriteString(w, made[0]); return err })
		if err != nil {
			return leases.Result{Error: err.Error()}
		}
		return leases.Result{Commit: made[1], Pack: name, Reply: "it is done"}
	})
	var tasks []event.Task
	for id := range attacks {
		tasks = append(tasks, makes(id))
	}
	r.plan(tasks...)
	must.Do(t, r.run(t.Context(), 2))
	for id, a := range attacks {
		p, _ := r.schedule.Task(id)
		if a.why == "" && p.State != judge.Merged || a.why != "" && (p.State != judge.Failed || !strings.Contains(p.Result.Error, a.why) || !strings.Contains(p.Result.Error, "the result of hostile")) {
			t.Errorf("%s is %s: %s", id, p.State, p.Result.Error)
		}
	}
	if got := r.files(); len(got) != 1 || got["honest"] != "honest\n" {
		t.Errorf("what was refused is in the result: %v", got)
	}
	home := filepath.Dir(filepath.Dir(r.trees.Path("x")))
	err := filepath.WalkDir(filepath.Dir(home), func(p string, d os.DirEntry, err error) error {
		if err == nil && strings.Contains(d.Name(), "owned") {
			t.Errorf("%s was made", p)
		}
		return nil
	})
	if err != nil {
		t.Error(err)
	}
}

// zeros are bytes without end.
type zeros struct{}

func (zeros) Read(p []byte) (int, error) {
	clear(p)
	return len(p), nil
}
