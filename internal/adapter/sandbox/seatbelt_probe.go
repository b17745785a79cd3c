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

// prove runs the tests in a sandbox like that of commands, on files made for it, and
// returns the result of each promise. pawl's own program runs the tests; a test without a
// result breaks its promise.
func (t *seatbelt) prove() []Proof {
	place, err := t.newProbeFolder()
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

// joined adds proofs of b to a. The first failure of a promise counts.
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

// probeFolder has the files and servers of the tests: a workspace, keys, and a folder
// outside.
type probeFolder struct {
	dir string
	targets
	servers []io.Closer
	drop    func() error // removes the folder
	before  string       // contents before the tests
}

func (p *probeFolder) close() {
	for _, s := range p.servers {
		_ = s.Close()
	}
	_ = p.drop()
}

func (t *seatbelt) newProbeFolder() (*probeFolder, error) {
	dir, drop, err := ownTemp()
	if err != nil {
		return nil, err
	}
	p := &probeFolder{dir: dir, drop: drop, targets: targets{Work: filepath.Join(dir, "work"), Keys: filepath.Join(dir, "keys"), Outside: filepath.Join(dir, "out"), Parent: os.Getpid()}}
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
	p.before = p.contents()
	return p, nil
}

func (p *probeFolder) listen() error {
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

// contents returns the contents of all files that no command may change.
func (p *probeFolder) contents() string {
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

// proveAt runs the tests of a level.
func (t *seatbelt) proveAt(level confine.Level, p *probeFolder) ([]Proof, error) {
	box, err := t.newBox(confine.New(level, confine.Facts{Root: p.Work, State: []string{p.Keys}, Reads: []string{t.self}}))
	if err != nil {
		return nil, err
	}
	defer box.Close()
	other, err := t.startOther(p)
	if err != nil {
		return nil, err
	}
	defer other()
	todo := p.targets
	todo.Write = level >= confine.Workspace
	results, err := t.run(box, todo)
	if err != nil {
		return nil, err
	}
	var out []Proof
	for _, o := range selfTests(t.selfTests) {
		if o.applies(todo) {
			out = joined(out, []Proof{{o.promise, judge(o, results)}})
		}
	}
	if p.contents() != p.before {
		out = joined(out, []Proof{{"no write outside", errors.New("files that must stay have changed")}})
	}
	if left := results["leave"]; left.Left != 0 {
		out = append(out, Proof{"nothing runs on after a command", t.checkGone(left.Left)})
	}
	return out, nil
}

// judge returns how a test's result breaks its promise, nil if it does not.
func judge(o selfTest, results map[string]testResult) error {
	r, heard := results[o.promise+": "+o.name]
	switch {
	case !heard:
		return fmt.Errorf("%s: it was not tried", o.name)
	case o.mustWork && r.Err != "":
		return fmt.Errorf("%s does not work: %s", o.name, r.Err)
	case !o.mustWork && r.Err == "":
		return fmt.Errorf("an attempt was not refused: %s", o.name)
	}
	return nil
}

// checkGone returns an error if a process runs on.
func (t *seatbelt) checkGone(pid int) error {
	for pause := time.Millisecond; pause < time.Second; pause *= 2 {
		all, err := t.list()
		if err != nil {
			return err
		}
		if !slices.ContainsFunc(all, func(k processInfo) bool { return k.pid == pid && !k.dead }) {
			return nil
		}
		time.Sleep(pause)
	}
	return errors.New("a process in a session of its own runs on")
}

// startOther starts a process in another sandbox, which waits until end is called.
func (t *seatbelt) startOther(p *probeFolder) (end func(), err error) {
	box, err := t.newBox(confine.New(confine.ReadOnly, confine.Facts{Root: p.Work, State: []string{p.Keys}, Reads: []string{t.self}}))
	if err != nil {
		return nil, err
	}
	cmd := exec.Command(t.self, TryArgument, "stay")
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

// run runs the tests in a box and returns their results by promise and name.
func (t *seatbelt) run(box *seatbeltBox, todo targets) (map[string]testResult, error) {
	words, err := json.Marshal(todo)
	if err != nil {
		return nil, err
	}
	var said limitedText
	cmd := exec.Command(t.self, TryArgument, string(words))
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
	results := map[string]testResult{}
	for lines := bufio.NewScanner(outs); lines.Scan(); {
		var r testResult
		if json.Unmarshal(lines.Bytes(), &r) != nil {
			continue // a message of sandbox-exec
		}
		if r.Left != 0 {
			results["leave"] = r
			c.processes.count()
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

// limitedText keeps the first 4 KiB that are written.
type limitedText struct{ b bytes.Buffer }

func (l *limitedText) Write(p []byte) (int, error) {
	l.b.Write(p[:min(len(p), max(0, 4<<10-l.b.Len()))])
	return len(p), nil
}

// line returns the first line.
func (l *limitedText) line() string {
	s, _, _ := strings.Cut(strings.TrimSpace(l.b.String()), "\n")
	return s
}
