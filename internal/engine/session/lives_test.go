//go:build unix

package session

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/pawl-agent/pawl/internal/adapter/shell"
	"github.com/pawl-agent/pawl/internal/adapter/store/memory"
	"github.com/pawl-agent/pawl/internal/adapter/tools"
	"github.com/pawl-agent/pawl/internal/adapter/workspace"
	"github.com/pawl-agent/pawl/internal/adapter/workspace/journal"
	"github.com/pawl-agent/pawl/internal/core/event"
	"github.com/pawl-agent/pawl/internal/core/llm"
	"github.com/pawl-agent/pawl/internal/core/llm/llmtest"
	"github.com/pawl-agent/pawl/internal/core/must"
	proc "github.com/pawl-agent/pawl/internal/core/process"
	"github.com/pawl-agent/pawl/internal/core/process/processtest"
	"github.com/pawl-agent/pawl/internal/core/tool"
	"github.com/pawl-agent/pawl/internal/engine/changes"
	"github.com/pawl-agent/pawl/internal/engine/turn"
	"github.com/pawl-agent/pawl/internal/policy/permission"
	"github.com/pawl-agent/pawl/internal/policy/secrets"
	"github.com/pawl-agent/pawl/internal/policy/undo"
)

// crashFiles are the files of a process that can die before or after a write.
type crashFiles struct {
	tool.Files
	*crash
}

func (f crashFiles) WriteAll(ctx context.Context, ws []tool.Write) ([]tool.Change, error) {
	if err := f.step(); err != nil {
		return nil, err
	}
	cs, err := f.Files.WriteAll(ctx, ws)
	if dead := f.step(); dead != nil {
		return nil, dead
	}
	return cs, err
}

// life is a random session on a real folder: file tools, real commands of a real
// shell, found by the real journal, and a person who saves files between and
// while commands run.
type life struct {
	*randomSession
	base   string // all is below it
	dir    string
	root   *os.Root // of dir: nothing random is written but through it
	repo   bool
	gates  int
	states int
	others map[string][]int64 // files that somebody else than the agent changed, and when

	follow bool // the journal follows what the system tells

	// of the process
	state string
	j     *journal.Journal
	sh    *shell.Shell
	ws    *workspace.Workspace
	job   string
	// orphan: a background command was alive at the last death, and what changed
	// since may be its.
	orphan    bool
	wasOrphan bool
	jobGo     func(last bool)

	commands, loose, middles, jobs, saves int
}

func newLife(t *testing.T, seed uint64, base string, follow bool) *life {
	l := &life{
		randomSession: newRandomSession(t, seed, 2, memory.New(time.Now)), base: base, follow: follow, dir: filepath.Join(base, "work"), others: map[string][]int64{},
	}
	l.folder = l
	orPanic(os.Mkdir(l.dir, 0o755))
	var err error
	l.root, err = os.OpenRoot(l.dir)
	orPanic(err)
	for _, p := range paths[:2] {
		l.put(p, l.line("P")+l.line("P")+l.line("P"))
	}
	if l.repo = l.chance(40); l.repo {
		l.put("t", l.line("P")+l.line("P"))
		for _, a := range [][]string{{"init", "-q"}, {"add", "."}, {"commit", "-qm", "x"}} {
			if out, err := processtest.Git(l.dir, a...).CombinedOutput(); err != nil {
				l.fail("git %q: %v %s", a, err, out)
			}
		}
		l.person() // so that stash has something
	}
	l.state = l.newState()
	l.open()
	return l
}

func (l *life) newState() string {
	l.states++
	return filepath.Join(l.base, "state"+strconv.Itoa(l.states))
}

func (l *life) open() {
	l.crash = &crash{steps: -1}
	opt := journal.Options{Dir: l.state, Git: &workspace.Git{Starter: &processtest.Plain{}, Confine: proc.Free}, FollowFrom: -1}
	if l.follow {
		opt.FollowFrom = 1
	}
	l.j = journal.New(l.dir, opt)
	l.sh = shell.New(shell.Options{Root: l.dir, SpillDir: filepath.Join(l.base, "spill")})
	var err error
	l.ws, err = workspace.Open(l.dir, workspace.Options{})
	orPanic(err)
	l.s, err = Open(context.Background(), Config{
		Store: crashStore{l.store, l.crash}, ID: "s", Dir: l.dir, Model: llmtest.New(), Files: crashFiles{l.ws, l.crash},
		Shell: l.sh, Journal: changes.Share(l.j),
		Permission: permission.New(permission.Config{Mode: permission.Yolo, Root: l.dir, Home: "/home/nobody"}), Locks: turn.NewLocks(8),
		Mask: secrets.New(), Now: time.Now, Sleep: SleepFor, NewID: func() string { return "q" },
	})
	if err != nil {
		l.fail("open: %v", err)
	}
	l.orphan = l.orphan || l.job != ""
	l.wasOrphan = l.wasOrphan || l.orphan
	l.job, l.jobGo = "", nil
}

// process is what is left of a process.
type process struct {
	j  *journal.Journal
	sh *shell.Shell
	ws *workspace.Workspace
	s  *Session
}

func (l *life) process() process { return process{l.j, l.sh, l.ws, l.s} }

func (p process) end() {
	_ = p.s.Close()
	_ = p.sh.Close()
	_ = p.j.Close()
	_ = p.ws.Close()
}

func (l *life) end() {
	l.process().end()
	orPanic(l.root.Close())
}

// files is what is there, but for git's own.
func (l *life) files() map[string]content {
	out := map[string]content{}
	orPanic(fs.WalkDir(l.root.FS(), ".", func(p string, e fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if e.IsDir() {
			if e.Name() == ".git" {
				return fs.SkipDir
			}
			return nil
		}
		info, err := e.Info()
		orPanic(err)
		c := content{mode: uint32(info.Mode())}
		if info.Mode()&fs.ModeSymlink != 0 {
			c.data, err = l.root.Readlink(p)
		} else {
			var b []byte
			b, err = l.root.ReadFile(p)
			c.data = string(b)
		}
		orPanic(err)
		out[p] = c
		return nil
	}))
	return out
}

func (l *life) put(p, data string) bool {
	if d := path.Dir(p); d != "." && l.root.MkdirAll(d, 0o755) != nil {
		return false
	}
	return l.root.WriteFile(p, []byte(data), 0o644) == nil
}

// some returns a file that exists, or one of the usual names.
func (l *life) some() string {
	have := slices.Sorted(maps.Keys(l.files()))
	if len(have) > 0 && l.chance(60) {
		return have[l.rnd.IntN(len(have))]
	}
	return paths[l.rnd.IntN(len(paths))]
}

// person edits, makes or removes a file and returns its path.
func (l *life) person() string {
	p := l.some()
	was, ok := l.files()[p]
	if ok && was.link() {
		return ""
	}
	if ok && l.chance(10) {
		for _, x := range linesOf(was.data) {
			l.removed[x] = true
		}
		orPanic(l.root.Remove(p))
		l.say("the person removes %s", p)
	} else {
		data := l.edited("P", was.data)
		if !l.put(p, data) {
			return ""
		}
		if l.chance(5) {
			orPanic(l.root.Chmod(p, 0o700))
		}
		l.say("the person writes %s: %q", p, data)
	}
	l.touch(p)
	return p
}

// touch notes that somebody else than the agent changed a file.
func (l *life) touch(p string) {
	at := int64(0)
	if l.s != nil {
		at = l.s.View().Last()
	}
	l.others[p] = append(l.others[p], at)
	if to, err := filepath.EvalSymlinks(filepath.Join(l.dir, p)); err == nil {
		if p, err = filepath.Rel(l.dir, to); err != nil {
			l.fail("%v", err)
		}
	}
	l.others[p] = append(l.others[p], at)
}

// gate is a place where a command waits.
type gate struct {
	words      string // of the command
	ready, go_ *os.File
}

func (l *life) gate() gate {
	l.gates++
	open := func(name string) (*os.File, string) {
		p := filepath.Join(l.base, name+strconv.Itoa(l.gates))
		orPanic(syscall.Mkfifo(p, 0o600))
		f, err := os.OpenFile(p, os.O_RDWR|syscall.O_NONBLOCK, 0)
		orPanic(err)
		return f, p
	}
	r, rp := open("ready")
	g, gp := open("go")
	return gate{words: "echo r > " + rp + "; read x < " + gp, ready: r, go_: g}
}

func (l *life) reached(g gate) {
	orPanic(g.ready.SetReadDeadline(time.Now().Add(time.Minute)))
	if _, err := g.ready.Read(make([]byte, 2)); err != nil {
		l.fail("the command does not get there: %v", err)
	}
}

func (g gate) release() { _, err := g.go_.WriteString("go\n"); orPanic(err) }
func (g gate) close()   { _ = g.ready.Close(); _ = g.go_.Close() }

// step is one simple command of the agent.
func (l *life) command1() string {
	p, q := l.some(), l.some()
	text := func() string { return strings.TrimSuffix(l.line("A"), "\n") }
	all := []string{
		"echo " + text() + " >> " + p, "echo " + text() + " > " + p, "sed -i '1s/.*/" + text() + "/' " + p, "sed -i '$a " + text() + "' " + p,
		"sed -i 1d " + p, "rm -f " + p, "mv " + p + " " + q, "cp " + p + " " + q, "chmod 755 " + p, "chmod 644 " + p,
		"mkdir -p n/m", "rmdir n/m n", "mkdir -p n; echo " + text() + " > n/x", "ln -s a l", "ln -sf b d", "rm -rf n", "mv d n", "rm -f *", "touch " + p,
	}
	if l.repo {
		git := "git -c user.name=x -c user.email=x@x "
		all = append(all, git+"checkout -q -- t", git+"stash -q", git+"stash pop -q", git+"commit -qam x", "git add -A", git+"checkout -q -- .")
	}
	return all[l.rnd.IntN(len(all))]
}

// script is a program that names nothing and does several things.
func (l *life) script() string {
	p := filepath.Join(l.base, "script"+strconv.Itoa(l.calls))
	text := ""
	for range 1 + l.rnd.IntN(4) {
		text += l.command1() + "\n"
	}
	orPanic(os.WriteFile(p, []byte(text), 0o600))
	l.say("%s is %q", p, text)
	return "sh " + p
}

func (l *life) turn() {
	if !l.prompt("go on") {
		return
	}
	for range 1 + l.rnd.IntN(3) {
		name := pick(l.randomSession, []string{"write", "bash", "bash"})
		done, err := l.asks(name)
		if err != nil {
			return
		}
		if name == "bash" {
			if done.Command = l.command(done.ID); done.Command == "" {
				return // it died
			}
		} else {
			l.write(done.ID)
		}
		if l.chance(15) {
			l.person()
		}
		if l.record(done) != nil {
			return
		}
	}
	l.s.changes.Verify(context.Background())
	_ = l.record(event.Ended{End: event.EndDone})
}

func (l *life) write(id string) {
	ctx := context.Background()
	env := l.s.abilities.env(&turn.Pending{Call: llm.Call{ID: id}, Tool: tool.Tool{Spec: llm.ToolSpec{Name: "write"}}})
	var ws []tool.Write
	used := map[string]bool{}
	before := l.files()
	for range 1 + l.rnd.IntN(2) {
		p := l.some()
		f, ok := before[p]
		if used[p] || ok && f.link() {
			continue
		}
		used[p] = true
		w := tool.Write{Path: p, Data: []byte(l.edited("A", f.data))}
		if ok {
			w.Expect = hashOf(f.data)
			w.Remove = l.chance(15)
		}
		ws = append(ws, w)
	}
	l.faults()
	_, err := env.Files.WriteAll(ctx, ws)
	l.say("call %s writes %v: %v", id, ws, err)
	if err != nil && !l.crash.died() && !maps.Equal(before, l.files()) {
		l.fail("a write that failed changed something: %v", err)
	}
}

func (l *life) faults() {
	if l.chance(6) {
		l.crash.after(l.rnd.IntN(5))
	}
}

// bash is the call of a command, as the loop makes it.
func (l *life) bash(id, command string, background bool) (*turn.Pending, func(context.Context) (tool.Result, error)) {
	args, err := json.Marshal(map[string]any{"command": command, "background": background})
	orPanic(err)
	t := tools.Bash()
	p := &turn.Pending{Call: llm.Call{ID: id, Name: "bash", Args: args}, Args: args, Tool: t, Confine: proc.Free}
	p.Footprint, err = t.Footprint(l.s.abilities.env(p), args)
	orPanic(err)
	env := l.s.abilities.env(p)
	return p, func(ctx context.Context) (tool.Result, error) {
		if no := l.s.changes.Start(ctx, p); no != nil {
			return tool.Result{}, errors.New(no.Text)
		}
		r, err := t.Run(ctx, env, args)
		if aerr := l.s.changes.After(ctx, &turn.Ran{Pending: p, Started: true, Result: r}); err == nil {
			err = aerr
		}
		return r, err
	}
}

// command runs a command and checks what was recorded about it. It returns "" if
// the process died during the command.
func (l *life) command(id string) string {
	l.commands++
	if l.job == "" && l.chance(10) {
		l.background(id)
		return "job"
	}
	head, tail := l.command1(), ""
	if l.chance(40) {
		head = l.script()
	}
	for l.chance(30) {
		head += "; " + l.command1()
	}
	gated := l.chance(35)
	g := gate{}
	line := head
	if gated {
		tail = l.command1()
		g = l.gate()
		defer g.close()
		line = head + "; " + g.words + "; " + tail
	}
	p, run := l.bash(id, line, false)
	before, from, named := l.files(), l.s.View().Last(), undo.Workspace{Dir: l.s.cfg.Dir, Resolve: l.s.cfg.Files.Resolve}.PathsNamedBy(p.Footprint.Commands)
	l.say("call %s runs %q", id, line)
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	var r tool.Result
	var err error
	saved := map[string]bool{}
	jobbed := l.job != "" || l.orphan
	l.orphan = false
	if !gated {
		if l.chance(4) {
			l.crash.after(0) // between the command and its record
		}
		r, err = run(ctx)
	} else {
		done := make(chan struct{})
		go func() { defer close(done); r, err = run(ctx) }()
		l.reached(g)
		for l.chance(60) {
			if at := l.person(); at != "" {
				saved[at] = true
				l.saves++
			}
		}
		if l.job != "" && l.chance(50) {
			l.jobStep()
		}
		switch {
		case l.chance(15):
			l.dieInside(id, before, g, cancel, done)
			return ""
		case l.chance(15):
			l.say("it is cancelled")
			cancel()
		default:
			g.release()
		}
		<-done
	}
	if l.crash.died() {
		l.die(before, from, id)
		return ""
	}
	if err != nil && !errors.Is(err, context.Canceled) {
		l.fail("%q: %v", line, err)
	}
	l.recorded(before, l.files(), from, id, saved, jobbed, r.Text, named)
	return line
}

// recorded checks that the log has exactly what happened.
func (l *life) recorded(before, now map[string]content, from int64, call string, saved map[string]bool, jobbed bool, text string, named undo.NamedPaths) {
	l.t.Helper()
	got := map[string]event.FileChanged{}
	for _, c := range l.changes(from) {
		got[c.Path] = c.FileChanged
		if !jobbed && (c.Call != call || c.Tool != undo.Shell) {
			l.fail("%+v is not of %s", c, call)
		}
		if c.Unattributed {
			l.loose++
		}
		if saved[c.Path] && !c.Unattributed {
			if !named.Covers(tool.Effect{Path: c.Path, Before: c.Before, After: c.After}, map[tool.Hash]bool{c.After: true}) {
				l.fail("%s was saved by the person, and is taken for the command's", c.Path)
			}
			for _, x := range linesOf(now[c.Path].data) {
				l.risked[x] = true
			}
		}
		if !c.Kept && !strings.Contains(text, "cannot be restored") && !jobbed {
			l.fail("%s is not kept, and the result does not say so: %s", c.Path, text)
		}
		if c.Kept && c.Before != "" {
			if data, err := l.store.Get(context.Background(), string(c.Before)); err != nil || hashOf(string(data)) != c.Before {
				l.fail("%s is said to be kept: %v", c.Path, err)
			}
		}
	}
	all := maps.Clone(before)
	maps.Copy(all, now)
	orphan := l.wasOrphan
	for p := range all {
		b, was := before[p]
		n, is := now[p]
		c, ok := got[p]
		hash := func(x content, ok bool) tool.Hash {
			if !ok {
				return ""
			}
			return hashOf(x.data)
		}
		if jobbed {
			if ok && !orphan && c.After != hash(n, is) {
				l.fail("%s is recorded as another", p)
			}
			continue
		}
		switch changed := was != is || b != n; {
		case changed && !ok:
			l.fail("%s changed and is not recorded: %v, %v", p, b, n)
		case !changed && ok:
			l.fail("%s did not change and is recorded: %+v", p, c)
		case ok && (c.Before != hash(b, was) || c.After != hash(n, is)):
			l.fail("%s: %v > %v is recorded as %+v", p, b, n, c)
		case ok && !c.Kept:
			l.fail("%s could have been kept: %+v", p, c)
		}
	}
}

// background starts a job that does something each time it is told to.
func (l *life) background(id string) {
	l.jobs++
	g, back := l.gate(), l.gate()
	_ = back.go_.Close()
	p := strings.TrimPrefix(g.ready.Name(), "")
	script := filepath.Join(l.base, "job"+id)
	orPanic(os.WriteFile(script, []byte("while read x <&3; do [ $x = end ] && exit; echo $x >> a; echo $x > jobs; rm -f b; echo done > "+p+"; done 3< "+g.go_.Name()+"\n"), 0o600))
	_, run := l.bash(id, "sh "+script, true)
	r, err := run(context.Background())
	if err != nil || r.Error {
		l.fail("background: %v %+v", err, r)
	}
	_, rest, _ := strings.Cut(r.Note, "started ")
	l.job = rest
	l.say("call %s starts %s", id, l.job)
	l.jobGo = func(last bool) {
		if last {
			_, err := g.go_.WriteString("end\n")
			orPanic(err)
			return
		}
		_, err := g.go_.WriteString(l.line("A"))
		orPanic(err)
		orPanic(g.ready.SetReadDeadline(time.Now().Add(time.Minute)))
		if _, err := g.ready.Read(make([]byte, 8)); err != nil {
			l.fail("the job does not get on: %v", err)
		}
	}
	l.t.Cleanup(func() { g.close(); back.close() })
}

func (l *life) jobStep() {
	l.say("the job does something")
	l.jobGo(false)
}

// jobEnds tells the job to end, and looks at its output.
func (l *life) jobEnds() {
	if !l.prompt("and the job?") {
		return
	}
	l.calls++
	id := strconv.Itoa(l.calls)
	l.jobGo(true)
	t := tools.BashOutput()
	args := []byte(fmt.Sprintf(`{"id":%q,"wait":20}`, l.job))
	env := l.s.abilities.env(&turn.Pending{Call: llm.Call{ID: id, Name: "bash_output", Args: args}, Args: args, Tool: t})
	if _, err := t.Run(context.Background(), env, args); err != nil {
		l.fail("%v", err)
	}
	l.say("the job ends")
	l.job = ""
	_ = l.record(event.Ended{End: event.EndDone})
}

// dieInside is the death of pawl in the middle of a command; the command may go
// on.
func (l *life) dieInside(id string, before map[string]content, g gate, cancel func(), done chan struct{}) {
	l.middles++
	old, from := l.process(), l.s.View().Last()
	l.crash.now()
	l.copyState()
	goesOn := l.chance(50)
	if !goesOn {
		cancel()
		<-done
		old.end()
	}
	for l.chance(30) {
		l.person()
	}
	l.deaths++
	then := l.files()
	l.open()
	l.say("pawl died in the middle of %s and was opened again; the command goes on: %v", id, goesOn)
	l.found(before, then, from, id)
	if goesOn {
		atRest := l.files()
		g.release()
		<-done
		for p, c := range l.files() {
			if atRest[p] != c {
				l.touch(p)
			}
			delete(atRest, p)
		}
		for p := range atRest {
			l.touch(p)
		}
		old.end()
	}
	if n := len(l.s.open); n > 0 {
		l.fail("%d calls are still open", n)
	}
}

// copyState takes the journal's folder as it is at a death.
func (l *life) copyState() {
	to := l.newState()
	orPanic(os.MkdirAll(to, 0o700))
	if _, err := os.Stat(l.state); err == nil {
		orPanic(os.CopyFS(to, os.DirFS(l.state)))
	}
	l.state = to
}

// found checks that what changed since the look before a command is recorded
// after a death in it.
func (l *life) found(before, now map[string]content, from int64, id string) {
	l.t.Helper()
	got := map[string]changeAt{}
	for _, c := range l.changes(from) {
		if c.Call == id {
			got[c.Path] = c
			if !c.Unattributed {
				l.fail("%+v is taken for certain", c)
			}
		}
	}
	all := maps.Clone(before)
	maps.Copy(all, now)
	for p := range all {
		b, was := before[p]
		n, is := now[p]
		if was == is && b == n {
			continue
		}
		c, ok := got[p]
		if !ok || !c.Kept || was && c.Before != hashOf(b.data) || is && c.After != hashOf(n.data) || !was && c.Before != "" || !is && c.After != "" {
			l.fail("%s changed from %v to %v, which is not what is recorded: %v %+v", p, b, n, ok, c)
		}
	}
}

// die is the death of the process between commands.
func (l *life) die(before map[string]content, from int64, id string) {
	l.deaths++
	l.crash.now()
	l.copyState()
	l.process().end()
	now := l.files()
	l.open()
	l.say("it died and was opened again")
	if id != "" {
		l.found(before, now, from, id)
	}
	l.nothingOpen()
}

func (l *life) restart() { l.die(nil, 0, "") }

func (l *life) partly(error) bool { return false }

// chains checks that what is recorded of each path hangs together, unless
// somebody else wrote it in between.
func (l *life) chains() {
	last := map[string]changeAt{}
	for _, c := range l.changes(0) {
		if was, ok := last[c.Path]; ok && was.After != c.Before {
			// What a background command did after a death comes when there is a look.
			if !l.wasOrphan && !slices.ContainsFunc(l.others[c.Path], func(at int64) bool { return at <= c.seq }) {
				l.fail("%s: %d is not from where %d left it", c.Path, c.seq, was.seq)
			}
		}
		last[c.Path] = c
	}
}

// calm takes back a death that was to come, where an undo went well.
func (l *life) calm(done bool) {
	if done {
		l.crash.never()
	}
}

func (l *life) live(steps int) {
	o := odds{leaveBlocked: 80, confirm: 85, meanwhile: 10, again: 40}
	for range steps {
		switch n := l.rnd.IntN(100); {
		case n < 40:
			l.turn()
		case n < 50:
			l.person()
		case n < 85:
			l.calm(l.putBackSomething([]undo.Kind{undo.ByChange, undo.ByTurn, undo.ByFile, undo.ByCommand, undo.ByCommand, undo.ByAll, undo.ByRewind}, l.some, o))
		case n < 93:
			l.calm(l.putBack(undo.Selector{Kind: undo.ByRedo}, o))
		case n < 97 && l.job != "":
			l.jobStep()
			if l.chance(50) {
				l.jobEnds()
			}
		default:
			l.restart()
		}
		if l.crash.died() {
			if l.chance(30) {
				l.person()
			}
			l.restart()
		}
	}
	l.chains()
	l.end()
}

// lives is how many the normal run tries in each way; PAWL_LIVES sets another number, which
// .ci/run does.
const lives = 15

// SPEC 4.8, 6.2, 10.2, 11.1, 11.2, 19.1: with the real workspace, journal and
// shell, what commands do is recorded as it was, and no line of a person's is
// lost by what pawl does. Each life is lived with a journal that walks and with
// one that follows.
func TestLives(t *testing.T) {
	n, first := lives, 0
	if s := os.Getenv("PAWL_LIVES"); s != "" {
		a, b, _ := strings.Cut(s, "+")
		n = must.Get(strconv.Atoi(a))(t)
		first, _ = strconv.Atoi(b)
	}
	sums := make([]*life, 2*n)
	t.Run("all", func(t *testing.T) {
		for w := range 4 {
			t.Run(strconv.Itoa(w), func(t *testing.T) {
				t.Parallel()
				for i := w; i < len(sums); i += 4 {
					seed, follow := i%n, i >= n
					base, err := filepath.EvalSymlinks(t.TempDir())
					orPanic(err)
					base = filepath.Join(base, strconv.Itoa(i))
					orPanic(os.Mkdir(base, 0o700))
					l := newLife(t, uint64(first+seed), base, follow)
					l.live(12)
					sums[i] = l
					orPanic(os.RemoveAll(base))
				}
			})
		}
	})
	if t.Failed() {
		return
	}
	s := life{randomSession: &randomSession{}}
	for _, l := range sums {
		s.commands, s.loose, s.plans, s.redos = s.commands+l.commands, s.loose+l.loose, s.plans+l.plans, s.redos+l.redos
		s.deaths, s.middles, s.jobs, s.saves = s.deaths+l.deaths, s.middles+l.middles, s.jobs+l.jobs, s.saves+l.saves
	}
	n *= 2
	t.Logf("%d lives: %d commands, %d loose changes, %d undos and redos, %d done again, %d deaths, %d in a command, %d background commands, %d files saved while a command ran",
		n, s.commands, s.loose, s.plans, s.redos, s.deaths, s.middles, s.jobs, s.saves)
	if s.commands < n || s.loose < n || s.plans < n || s.deaths < n/2 || s.middles < n/20 || s.saves < n/4 {
		t.Errorf("too little happened")
	}
}
