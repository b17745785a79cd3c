//go:build unix

package sandbox

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/pawl-agent/pawl/internal/policy/confine"
)

// prove makes attempts in a sandbox as commands have it, in a place that is made
// for it, and returns what each promise came to. The attempts are made by pawl's
// own program; a promise of which an attempt was not heard of is not kept.
func (t *belt) prove() []Proof {
	place, err := t.newPlace()
	if err != nil {
		return []Proof{{"sandbox", err}}
	}
	defer place.close()
	var out []Proof
	for _, level := range []confine.Level{confine.Workspace, confine.ReadOnly} {
		ps, err := t.proveAt(level, place)
		if err != nil {
			return append(out, Proof{"sandbox", err})
		}
		out = joined(out, ps)
	}
	return out
}

// joined adds proofs of promises, of which the first failure counts.
func joined(a, b []Proof) []Proof {
	for _, p := range b {
		i := slices.IndexFunc(a, func(q Proof) bool { return q.Promise == p.Promise })
		if i < 0 {
			a = append(a, p)
		} else if a[i].Err == nil {
			a[i].Err = p.Err
		}
	}
	return a
}

// provingPlace is a workspace, keys and a folder outside, and servers.
type provingPlace struct {
	dir string
	task
	servers []io.Closer
	keep    string // the content of what must stay
}

func (p *provingPlace) close() {
	for _, s := range p.servers {
		_ = s.Close()
	}
	_ = os.RemoveAll(p.dir)
}

func (t *belt) newPlace() (*provingPlace, error) {
	dir, err := ownTemp()
	if err != nil {
		return nil, err
	}
	p := &provingPlace{dir: dir, task: task{Work: filepath.Join(dir, "work"), Keys: filepath.Join(dir, "keys"), Outside: filepath.Join(dir, "out"), Parent: os.Getpid()}}
	files := map[string]string{
		"work/free": "free", "work/free2": "free", "work/AGENTS.md": "agents", "work/.git/config": "config", "work/.git/HEAD": "ref: refs/heads/main\n",
		"work/.git/hooks/pre-commit": "hook", "work/.git/objects/info/x": "", "work/.git/refs/x": "", "work/sub/x": "", "work/bare/x": "",
		"keys/id": "secret", "out/file": "outside", "out/old": "old", "out/moved": "moved",
	}
	for name, content := range files {
		file := filepath.Join(dir, name)
		err = errors.Join(err, os.MkdirAll(filepath.Dir(file), 0o700), os.WriteFile(file, []byte(content), 0o600))
	}
	err = errors.Join(err, os.Symlink(p.Outside, filepath.Join(p.Work, "to-outside")), os.Symlink(p.Keys, filepath.Join(p.Work, "to-keys")))
	if err == nil {
		err = p.listen()
	}
	if err != nil {
		p.close()
		return nil, err
	}
	p.keep = p.kept()
	return p, nil
}

func (p *provingPlace) listen() error {
	for _, at := range []struct {
		network, address string
		to               *string
	}{{"tcp4", "127.0.0.1:0", &p.TCP}, {"tcp6", "[::1]:0", &p.TCP6}, {"unix", filepath.Join(p.dir, "s"), &p.Unix}} {
		l, err := net.Listen(at.network, at.address)
		if err != nil {
			if at.network == "tcp6" {
				continue // not every machine has it
			}
			return err
		}
		p.servers = append(p.servers, l)
		*at.to = l.Addr().String()
	}
	return nil
}

// kept is the content of everything that no command may change.
func (p *provingPlace) kept() string {
	var out strings.Builder
	for _, name := range []string{"keys", "out", "work/.git/config", "work/.git/hooks", "work/AGENTS.md"} {
		_ = filepath.WalkDir(filepath.Join(p.dir, name), func(path string, d os.DirEntry, err error) error {
			var content []byte
			var mode os.FileMode
			if err == nil {
				if st, err := d.Info(); err == nil {
					mode = st.Mode()
				}
				content, _ = os.ReadFile(path) // of a folder there is none
			}
			fmt.Fprintf(&out, "%s %v %s %q\n", strings.TrimPrefix(path, p.dir), err, mode, content)
			return nil
		})
	}
	return out.String()
}

// proveAt makes the attempts of a level.
func (t *belt) proveAt(level confine.Level, p *provingPlace) ([]Proof, error) {
	box, err := t.box(confine.New(level, confine.Facts{Root: p.Work, State: []string{p.Keys}, Reads: []string{t.self}}))
	if err != nil {
		return nil, err
	}
	defer box.Close()
	other, err := t.another(p)
	if err != nil {
		return nil, err
	}
	defer other()
	todo := p.task
	todo.Write = level >= confine.Workspace
	results, err := t.run(box, todo)
	if err != nil {
		return nil, err
	}
	var out []Proof
	for _, o := range tryOuts(t.own) {
		if o.applies(todo) {
			out = joined(out, []Proof{{o.promise, judged(o, results)}})
		}
	}
	if p.kept() != p.keep {
		out = joined(out, []Proof{{"no write outside", errors.New("files that must stay have changed")}})
	}
	if left := results["leave"]; left.Left != 0 {
		out = append(out, Proof{"nothing runs on after a command", t.gone(left.Left)})
	}
	return out, nil
}

// judged returns why a try breaks a promise.
func judged(o tryOut, results map[string]tried) error {
	r, heard := results[o.promise+": "+o.name]
	switch {
	case !heard:
		return fmt.Errorf("%s: it was not tried", o.name)
	case o.works && r.Err != "":
		return fmt.Errorf("%s does not work: %s", o.name, r.Err)
	case !o.works && r.Err == "":
		return fmt.Errorf("an attempt was not refused: %s", o.name)
	}
	return nil
}

// gone returns an error if a process still runs.
func (t *belt) gone(pid int) error {
	for pause := time.Millisecond; pause < time.Second; pause *= 2 {
		all, err := t.list()
		if err != nil {
			return err
		}
		if !slices.ContainsFunc(all, func(k kin) bool { return k.pid == pid && !k.dead }) {
			return nil
		}
		time.Sleep(pause)
	}
	return errors.New("a process in a session of its own runs on")
}

// another starts a process in a sandbox of its own, which waits until end.
func (t *belt) another(p *provingPlace) (end func(), err error) {
	box, err := t.box(confine.New(confine.ReadOnly, confine.Facts{Root: p.Work, State: []string{p.Keys}, Reads: []string{t.self}}))
	if err != nil {
		return nil, err
	}
	cmd := exec.Command(t.self, TryWord, "stay")
	cmd.Dir, cmd.Env = p.Work, []string{"PATH=/usr/bin:/bin"}
	in, err := cmd.StdinPipe()
	if err != nil {
		return nil, errors.Join(err, box.Close())
	}
	c, err := box.Start(cmd)
	if err != nil {
		return nil, errors.Join(err, box.Close())
	}
	p.Other = cmd.Process.Pid
	return func() {
		c.End()
		_ = in.Close()
		_ = c.Wait()
		_ = box.Close()
	}, nil
}

// run makes the attempts and returns them by promise and name.
func (t *belt) run(box *beltBox, todo task) (map[string]tried, error) {
	words, err := json.Marshal(todo)
	if err != nil {
		return nil, err
	}
	var said limitedText
	cmd := exec.Command(t.self, TryWord, string(words))
	cmd.Dir, cmd.Env, cmd.Stderr = todo.Work, []string{"PATH=/usr/bin:/bin"}, &said
	in, err := cmd.StdinPipe()
	if err != nil {
		return nil, err
	}
	outs, err := cmd.StdoutPipe()
	if err != nil {
		return nil, err
	}
	c, err := box.Start(cmd)
	if err != nil {
		return nil, err
	}
	stop := time.AfterFunc(t.limit, c.End)
	results := map[string]tried{}
	for lines := bufio.NewScanner(outs); lines.Scan(); {
		var r tried
		if json.Unmarshal(lines.Bytes(), &r) != nil {
			continue // what sandbox-exec says itself
		}
		if r.Left != 0 {
			results["leave"] = r
			c.line.look()
			break
		}
		results[r.Name] = r
	}
	inTime := stop.Stop()
	_ = in.Close()
	err = c.Wait()
	switch {
	case !inTime:
		return nil, errors.New("the attempts did not end in time")
	case results["leave"].Left == 0:
		return nil, fmt.Errorf("the attempts did not run to their end (%v) %s", err, said.line())
	}
	return results, nil
}

// limitedText keeps the beginning of what is printed.
type limitedText struct{ b bytes.Buffer }

func (l *limitedText) Write(p []byte) (int, error) {
	l.b.Write(p[:min(len(p), max(0, 4<<10-l.b.Len()))])
	return len(p), nil
}

// line is the first line.
func (l *limitedText) line() string {
	s, _, _ := strings.Cut(strings.TrimSpace(l.b.String()), "\n")
	return s
}
