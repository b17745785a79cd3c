//go:build linux && (amd64 || arm64)

package sandbox

import (
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/pawl-agent/pawl/internal/core/must"
	"github.com/pawl-agent/pawl/internal/policy/confine"
)

// There is no sandbox-exec here. These take its place: what they are told is the
// same, and the kernel's part is this system's own sandbox, or nothing.

func init() {
	modes["seatbelt"] = beSeatbelt
}

// beSeatbelt is a sandbox-exec that enforces the profile as far as this system's
// sandbox can: the workspace, its protected names, what can be read.
func beSeatbelt() int {
	_ = os.Unsetenv(modeVar)
	profile, args := os.Args[2], os.Args[4:]
	work := regexp.MustCompile(`"([^"]*/work)"`).FindStringSubmatch(profile)
	if work == nil {
		return 65
	}
	facts := confine.Facts{Root: work[1], State: []string{filepath.Join(filepath.Dir(work[1]), "keys")}}
	if self, err := os.Executable(); err == nil && strings.Contains(profile, fmt.Sprintf("(allow file-read* (literal %q)", real(self))) {
		facts.Reads = []string{real(self)}
	}
	level := confine.ReadOnly
	if strings.Contains(profile, fmt.Sprintf("(allow file-write* (literal %[1]q) (subpath %[1]q))", work[1])) {
		level = confine.Workspace
	}
	p := confine.New(level, facts)
	p.Loopback = false
	box, err := Open(p)
	if err != nil {
		fmt.Fprintln(os.Stderr, "sandbox-exec:", err)
		return 71
	}
	defer box.Close()
	cmd := exec.Command(args[0], args[1:]...)
	cmd.Stdin, cmd.Stdout, cmd.Stderr = os.Stdin, os.Stdout, os.Stderr
	c, err := box.start(cmd, holding{})
	if err != nil {
		fmt.Fprintln(os.Stderr, "sandbox-exec:", err)
		return 71
	}
	var exit *exec.ExitError
	if err := c.Wait(); errors.As(err, &exit) {
		return exit.ExitCode()
	}
	return 0
}

func listed() ([]processInfo, error) {
	entries, err := os.ReadDir("/proc")
	if err != nil {
		return nil, err
	}
	var out []processInfo
	for _, e := range entries {
		pid, err := strconv.Atoi(e.Name())
		if err != nil {
			continue
		}
		b, err := os.ReadFile(filepath.Join("/proc", e.Name(), "stat"))
		if err != nil {
			continue // it has ended
		}
		_, rest, _ := strings.Cut(string(b), ") ")
		f := strings.Fields(rest)
		n := func(i int) int { v, _ := strconv.Atoi(f[i]); return v }
		out = append(out, processInfo{pid: pid, parent: n(1), group: n(2), started: int64(n(19)), dead: f[0] == "Z"})
	}
	return out, nil
}

// standIn is a belt with a script in sandbox-exec's place.
func standIn(t *testing.T, script string, limit time.Duration) *seatbelt {
	t.Helper()
	self := must.Get(os.Executable())(t)
	self = real(self)
	program := filepath.Join(t.TempDir(), "sandbox-exec")
	script = strings.NewReplacer("SELF", self, "MODE", modeVar).Replace(script)
	must.WriteMode(t, program, "#!/bin/sh\n"+script+"\n", 0o755)
	return &seatbelt{program: program, self: self, limit: limit, list: listed, canProtect: func(string) error { return nil }}
}

const (
	enforces = `MODE=seatbelt exec "SELF" "$@"`
	allows   = `shift 3; exec "$@"`
)

// SPEC 16.12: macOS' sandbox proves itself by attempts before anything relies on
// it. What enforces passes, and what does not is told by the promise.
func TestBeltProvesItself(t *testing.T) {
	got := standIn(t, enforces, 2*time.Minute).proofs()
	for _, p := range got {
		if p.Err != nil {
			t.Errorf("%s: %v", p.Promise, p.Err)
		}
	}
	want := []string{"commands work in the workspace", "no write outside", "protected files stay", "no read of a key", "no network", "no signal to processes outside", "nothing runs on after a command", "read-only commands change nothing"}
	for _, w := range want {
		if !slices.ContainsFunc(got, func(p Proof) bool { return p.Promise == w }) {
			t.Errorf("not tried: %s", w)
		}
	}

	// One that enforces nothing: every promise but those that pawl keeps itself.
	loose := standIn(t, allows, 2*time.Minute)
	for _, p := range loose.proofs() {
		kept := p.Promise == "commands work in the workspace" || p.Promise == "nothing runs on after a command"
		if kept != (p.Err == nil) {
			t.Errorf("without enforcement: %s: %v", p.Promise, p.Err)
		}
	}
	root := folder(t)
	_, err := loose.open(confine.New(confine.Workspace, confine.Facts{Root: root}))
	var lack *Unsupported
	if !errors.As(err, &lack) || lack.Promise == "" || !errors.Is(err, ErrMissing) {
		t.Errorf("a box of what enforces nothing: %v", err)
	}
}

// SPEC 16.12: each attempt is real: where nothing is enforced, it succeeds.
func TestBeltAttemptsAreReal(t *testing.T) {
	loose := standIn(t, allows, 2*time.Minute)
	// What is no attempt on this system: other names of a file, and processes that
	// have no /proc.
	folds := regexp.MustCompile(`GIT/|HOOKS|Git/|Alternates|agents|claude.md|ſ|bare/head`)
	place := must.Get(loose.newProbeFolder())(t)
	defer place.close()
	todo := place.targets
	todo.Other, todo.Write = os.Getpid(), true
	box := must.Get(loose.newBox(confine.New(confine.Workspace, confine.Facts{Root: place.Work, State: []string{place.Keys}, Reads: []string{loose.self}})))(t)
	defer box.Close()
	results := must.Get(loose.run(box, todo))(t)
	for _, o := range selfTests(nil) {
		r, ok := results[o.promise+": "+o.name]
		if ok && r.Err != "" && !folds.MatchString(o.name) && (o.name != "tcp over IPv6" || place.TCP6 != "") {
			t.Errorf("%s: %s: %s", o.promise, o.name, r.Err)
		}
	}
}

// SPEC 16.12: a sandbox-exec that is not there, fails, hangs or says nothing is
// no sandbox, and the reason is told.
func TestBeltFailures(t *testing.T) {
	for _, c := range []struct{ name, script, want string }{
		{"nested", `echo "sandbox-exec: sandbox_apply: Operation not permitted" >&2; exit 71`, "sandbox_apply: Operation not permitted"},
		{"a profile it does not know", `echo "sandbox-exec: unbound variable: x" >&2; exit 65`, "unbound variable"},
		{"killed", `kill -9 $$`, "killed"},
		{"hangs", `exec tail -f /dev/null`, "did not end"},
		{"starts, and says nothing of the attempts", `case "$5" in */sh) exit 0; esac; exit 0`, "did not run to their end"},
		{"lies about nothing but one", `case "$5" in */sh) exit 0; esac; echo '{"left":1}'`, "was not tried"},
	} {
		limit := time.Minute
		if c.name == "hangs" {
			limit = 100 * time.Millisecond
		}
		belt := standIn(t, c.script, limit)
		err := belt.verify()
		if err == nil || !errors.Is(err, ErrMissing) || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v, want %s", c.name, err, c.want)
		}
	}
	belt := standIn(t, "", time.Minute)
	belt.program = filepath.Join(t.TempDir(), "none")
	if err := belt.verify(); !errors.Is(err, ErrMissing) {
		t.Errorf("without the program: %v", err)
	}
}

// SPEC 16.12: what a command is started with: the profile, its own temporary
// folder, its own name and arguments, the exit code and the output as they are.
func TestBeltCommand(t *testing.T) {
	root := folder(t)
	belt := standIn(t, `test "$1" = -p && test "$3" = -- || exit 65; echo "$2" >"`+root+`/profile"; `+allows, time.Minute)
	box := must.Get(belt.newBox(confine.New(confine.Workspace, confine.Facts{Root: root})))(t)
	cmd := exec.Command("sh", "-c", `echo "$TMPDIR $TEMP $0 $1"; (sleep 1000 & ); exit 3`, "zero", "a b")
	cmd.Dir, cmd.Env = root, []string{"PATH=" + os.Getenv("PATH"), "TMPDIR=/tmp"}
	var out strings.Builder
	cmd.Stdout = &out // a pipe that what is left behind holds open
	c := must.Get(box.Start(cmd))(t)
	err := c.Wait()
	var exit *exec.ExitError
	if !errors.As(err, &exit) || exit.ExitCode() != 3 || cmd.ProcessState.ExitCode() != 3 {
		t.Errorf("end: %v", err)
	}
	if want := box.temp + " " + box.temp + " zero a b\n"; out.String() != want {
		t.Errorf("got %q, want %q", out.String(), want)
	}
	profile, err := os.ReadFile(filepath.Join(root, "profile"))
	if err != nil || !strings.Contains(string(profile), fmt.Sprintf("(allow file-write* (literal %[1]q) (subpath %[1]q))", box.temp)) {
		t.Errorf("the profile does not open %s: %v", box.temp, err)
	}
	for _, c := range []struct {
		cmd  *exec.Cmd
		want error
	}{{exec.Command("no-such-program"), exec.ErrNotFound}, {exec.Command("/no/such"), os.ErrNotExist}, {exec.Command(filepath.Join(root, "profile")), os.ErrPermission}} {
		if _, err := box.Start(c.cmd); !errors.Is(err, c.want) {
			t.Errorf("%s: %v, want %v", c.cmd.Path, err, c.want)
		}
	}
	if err := box.Close(); err != nil {
		t.Error(err)
	}
	if _, err := os.Stat(box.temp); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("the temporary folder is left: %v", err)
	}
}

// SPEC 16.12: what was seen of a command ends with it, wherever it went.
func TestBeltEndsWhatWasLeft(t *testing.T) {
	root := folder(t)
	belt := standIn(t, allows, time.Minute)
	box := must.Get(belt.newBox(confine.New(confine.Workspace, confine.Facts{Root: root})))(t)
	defer box.Close()
	cmd := exec.Command("sh", "-c", `setsid sh -c 'echo $$; exec tail -f /dev/null' & read x`)
	in := must.Get(cmd.StdinPipe())(t)
	outs := must.Get(cmd.StdoutPipe())(t)
	cmd.Dir = root
	c := must.Get(box.Start(cmd))(t)
	var pid int
	must.Done(t)(fmt.Fscan(outs, &pid))
	c.processes.count()
	_ = in.Close()
	_ = c.Wait()
	if err := belt.checkGone(pid); err != nil {
		t.Error(err)
	}
	// A number that somebody else has by now is nobody's of the command.
	line := newProcessTree(os.Getpid(), func() ([]processInfo, error) { return []processInfo{{pid: os.Getpid(), group: 1, started: 1}}, nil })
	line.list = func() ([]processInfo, error) {
		return []processInfo{{pid: os.Getpid(), group: os.Getpid(), started: 2}, {pid: 2, parent: os.Getpid(), group: os.Getpid(), started: 3}}, nil
	}
	if got := line.members(); len(got) > 0 {
		t.Errorf("members: %v", got)
	}
}

// SPEC 16.12: more processes than allowed end the command.
func TestBeltTooMany(t *testing.T) {
	root := folder(t)
	belt := standIn(t, allows, time.Minute)
	box := must.Get(belt.newBox(confine.New(confine.ReadOnly, confine.Facts{Root: root})))(t)
	defer box.Close()
	belt.list = func() ([]processInfo, error) {
		out := make([]processInfo, MaxProcesses+2)
		for i := range out {
			out[i] = processInfo{pid: 1<<30 + i, started: 1} // no process has it
		}
		return out, nil
	}
	cmd := exec.Command("tail", "-f", "/dev/null")
	c := must.Get(box.Start(cmd))(t)
	c.processes.mu.Lock()
	c.processes.known = map[int]int64{}
	for i := range MaxProcesses + 2 {
		c.processes.known[1<<30+i] = 1
	}
	c.processes.mu.Unlock()
	if err := c.Wait(); !errors.Is(err, ErrProcesses) {
		t.Errorf("end: %v", err)
	}
}

// SPEC 16.12: hosts are reached by a proxy that serves this command alone, and a
// refused host is known.
func TestBeltHosts(t *testing.T) {
	root := folder(t)
	belt := standIn(t, allows, time.Minute)
	box := must.Get(belt.newBox(confine.New(confine.Workspace, confine.Facts{Root: root, Hosts: []string{"granted.example"}})))(t)
	defer box.Close()
	if want := fmt.Sprintf(`(allow network-outbound (remote ip "localhost:%d"))`, box.proxy.port()); !strings.Contains(box.profile, want) {
		t.Errorf("the profile lacks %s", want)
	}
	cmd := exec.Command("sh", "-c", `echo "$HTTPS_PROXY"; read x`)
	cmd.Dir = root
	in := must.Get(cmd.StdinPipe())(t)
	outs := must.Get(cmd.StdoutPipe())(t)
	c := must.Get(box.Start(cmd))(t)
	var address string
	must.Done(t)(fmt.Fscan(outs, &address))
	ask := func(through, target string) (int, string) {
		t.Helper()
		at := must.Get(url.Parse(through))(t)
		client := &http.Client{Transport: &http.Transport{Proxy: http.ProxyURL(at), DisableKeepAlives: true}}
		res, err := client.Get(target)
		if err != nil {
			return 0, err.Error()
		}
		defer res.Body.Close()
		b, _ := io.ReadAll(res.Body)
		return res.StatusCode, string(b)
	}
	if code, said := ask(address, "http://refused.example/"); code != http.StatusForbidden || !strings.Contains(said, "refused.example") {
		t.Errorf("a host that is not granted: %d %s", code, said)
	}
	if _, said := ask(address, "https://tunnel.example/"); !strings.Contains(said, "host tunnel.example is not granted") {
		t.Errorf("a tunnel that is not granted: %s", said)
	}
	for _, other := range []string{fmt.Sprintf("http://127.0.0.1:%d", box.proxy.port()), fmt.Sprintf("http://pawl:guess@127.0.0.1:%d", box.proxy.port())} {
		if code, said := ask(other, "http://granted.example/"); code != http.StatusProxyAuthRequired {
			t.Errorf("somebody else's request: %d %s", code, said)
		}
	}
	_ = in.Close()
	if err := c.Wait(); err != nil {
		var exit *exec.ExitError
		if !errors.As(err, &exit) {
			t.Error(err)
		}
	}
	if got := fmt.Sprint(c.Refused()); got != "[host refused.example host tunnel.example]" {
		t.Errorf("refused: %s", got)
	}
	if code, _ := ask(address, "http://granted.example/"); code != http.StatusProxyAuthRequired {
		t.Errorf("after its end: %d", code)
	}
}

// SPEC 16.12: a policy that a profile cannot say for certain is not confined.
func TestBeltRefusesPolicies(t *testing.T) {
	root := folder(t)
	belt := standIn(t, allows, time.Minute)
	for _, name := range []string{"a\nb", "a\x7f", "a\xffb"} {
		dir := filepath.Join(filepath.Dir(root), name)
		must.Do(t, os.MkdirAll(dir, 0o755))
		if _, err := belt.newBox(confine.New(confine.Workspace, confine.Facts{Root: dir})); !errors.Is(err, ErrMissing) {
			t.Errorf("%q: %v", name, err)
		}
	}
	belt.canProtect = func(string) error { return errors.New("this is FAT") }
	if _, err := belt.newBox(confine.New(confine.Workspace, confine.Facts{Root: root})); !errors.Is(err, ErrMissing) {
		t.Errorf("a file system with other names: %v", err)
	}
	must.Do(t, os.WriteFile(filepath.Join(root, "AGENTS.md"), nil, 0o644))
	must.Do(t, os.Link(filepath.Join(root, "AGENTS.md"), filepath.Join(root, "x")))
	belt.canProtect = func(string) error { return nil }
	if _, err := belt.newBox(confine.New(confine.Workspace, confine.Facts{Root: root})); !errors.Is(err, ErrMissing) {
		t.Errorf("a protected file with two names: %v", err)
	}
}

// SPEC 16.12: what a program says it was not permitted is told where the policy
// refuses it, and nothing else is.
func TestBeltExplains(t *testing.T) {
	root := folder(t)
	out := filepath.Dir(root)
	p := confine.New(confine.Workspace, confine.Facts{Root: root})
	for _, c := range []struct{ output, want string }{
		{"touch: OUT/x: Operation not permitted", "[write OUT/x]"},
		{"touch: cannot touch 'OUT/x': Operation not permitted", "[write OUT/x]"},
		{"mkdir: OUT/d: Operation not permitted\nmkdir: OUT/d: Operation not permitted", "[write OUT/d]"},
		{"rm: OUT/x: Operation not permitted", "[remove OUT/x]"},
		{"rm: cannot remove 'OUT/x y': Operation not permitted", "[remove OUT/x y]"},
		{"touch: AGENTS.md: Operation not permitted", "[write OUT/w/AGENTS.md]"},
		{"error: could not lock config file .git/config: Operation not permitted", "[write OUT/w/.git/config]"},
		{"mkdir OUT/x: operation not permitted", "[write OUT/x]"},
		{"Error: EPERM: operation not permitted, mkdir 'OUT/x'", "[write OUT/x]"},
		{"Error: EPERM: operation not permitted, unlink 'OUT/x'", "[remove OUT/x]"},
		// What may have been a read, the file's own rights, no path, several, none.
		{"cat: OUT/x: Operation not permitted", "[]"},
		{"bash: line 1: OUT/x: Operation not permitted", "[]"},
		{"PermissionError: [Errno 1] Operation not permitted: 'OUT/x'", "[]"},
		{"touch: new: Operation not permitted", "[]"},
		{"touch: OUT/x: Permission denied", "[]"},
		{"kill: (1) - Operation not permitted", "[]"},
		{"rename 'OUT/a' -> 'OUT/b': Operation not permitted", "[]"},
		{"touch: ~/x: Operation not permitted", "[]"},
		{"touch: Operation not permitted", "[]"},
	} {
		got := strings.ReplaceAll(fmt.Sprint(refusedChangesIn(p, root, strings.ReplaceAll(c.output, "OUT", out))), out, "OUT")
		if got != c.want {
			t.Errorf("%s: %s, want %s", c.output, got, c.want)
		}
	}
}

// SPEC 16.12: a rule names a path as the disk spells it.
func TestSpelled(t *testing.T) {
	dir := real(t.TempDir())
	at := filepath.Join(dir, "Work", "Sub")
	must.Do(t, os.MkdirAll(at, 0o755))
	for _, p := range []string{at, filepath.Join(at, "none"), "/", dir} {
		if got := onDiskPath(p); got != p {
			t.Errorf("spelled(%s) = %s", p, got)
		}
	}
	if got := onDiskPath("/System/Volumes/Data" + at); got != at {
		t.Errorf("by the data volume: %s", got)
	}
}
