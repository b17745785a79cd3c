//go:build linux && (amd64 || arm64)

package sandbox

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/pawl-agent/pawl/internal/core/must"
	"github.com/pawl-agent/pawl/internal/core/process"
	"github.com/pawl-agent/pawl/internal/policy/confine"
)

// ruledRoot makes a workspace with a file about which there are rules.
func ruledRoot(t *testing.T) string {
	t.Helper()
	root := real(t.TempDir())
	for name, text := range map[string]string{"secret/x.txt": "DENIEDCONTENT55\n", "secret/deep/y.pem": "DENIEDCONTENT55\n", "lib/secret/x.txt": "DENIEDCONTENT55\n", "open.txt": "open\n"} {
		file := filepath.Join(root, name)
		must.Write(t, file, text)
	}
	git := exec.Command("git", "init", "-q")
	git.Dir = root
	if out, err := git.CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	return root
}

func pathRule(list process.PathList, write bool, rank int, root, pattern string) process.PathRule {
	name := "read("
	if write {
		name = "edit("
	}
	return process.PathRule{List: list, Write: write, Pattern: root + "/" + pattern, Rank: rank, Text: name + pattern + ")"}
}

// ruledRun runs a line at a level with rules.
func ruledRun(t *testing.T, level confine.Level, root, line string, p *person, rules ...process.PathRule) (string, *Child) {
	t.Helper()
	policy := confine.New(level, confine.Facts{Root: root})
	policy.Rules = rules
	b := must.Get(Open(policy))(t)
	defer b.Close()
	line = "export HOME=" + root + " PATH=/usr/bin:/bin; " + line
	if p != nil {
		return heldRun(t, b, root, line, p)
	}
	var buf bytes.Buffer
	cmd := exec.Command("bash", "-c", line)
	cmd.Dir, cmd.Stdout, cmd.Stderr = root, &buf, &buf
	c := must.Get(b.start(cmd, holding{}))(t)
	_ = c.Wait()
	return buf.String(), c
}

// readsOfRuled are ways to a file whose reading a rule denies. Each shows it without one.
var readsOfRuled = []struct {
	name, line string
	changes    bool // the workspace
}{
	{"cat", "cat secret/x.txt", false},
	{"tar of the folder", "tar cf - secret | tar xOf -", false},
	{"tar of all", "tar cf - . | tar xOf -", false},
	{"python", `python3 -c 'print(open("secret/x.txt").read())'`, false},
	{"python, a computed name", `python3 -c 'print(open("sec"+"ret/x.txt").read())'`, false},
	{"python, mapped", `python3 -c 'import mmap;f=open("secret/x.txt","rb");print(mmap.mmap(f.fileno(),0,prot=mmap.PROT_READ)[:])'`, false},
	{"awk, a computed name", `awk 'BEGIN{while((getline l < ("sec" "ret/x.txt"))>0) print l}'`, false},
	{"grep of all", "grep -r DENIED .", false},
	{"a script", "printf 'cat s*/x.txt' > \"${TMPDIR:-/dev/shm}/s\" 2>/dev/null; sh -c 'cat s*/x.txt'", false},
	{"another case of the way", "cd lib/../secret && cat ./x.txt", false},
	{"by a descriptor of the folder", `python3 -c 'import os;d=os.open("secret",os.O_PATH);print(os.read(os.open("x.txt",os.O_RDONLY,dir_fd=d),99))'`, false},
	{"by /proc/self/fd", `python3 -c 'import os;d=os.open("secret/x.txt",os.O_PATH);print(open("/proc/self/fd/%d"%d).read())'`, false},
	{"by a descriptor of /proc", `python3 -c 'import os;d=os.open("secret/x.txt",os.O_PATH);p=os.open("/proc/self",os.O_PATH);print(os.read(os.open("fd/%d"%d,os.O_RDONLY,dir_fd=p),99))'`, false},
	{"by /proc/PID/fd", `python3 -c 'import os;d=os.open("secret/x.txt",os.O_PATH);print(open("/proc/%d/fd/%d"%(os.getpid(),d)).read())'`, false},
	{"by /dev/fd", `python3 -c 'import os;d=os.open("secret/x.txt",os.O_PATH);print(open("/dev/fd/%d"%d).read())'`, false},
	{"by /proc/self/root", `cat /proc/self/root$PWD/secret/x.txt`, false},
	{"by /proc/self/cwd", `cd secret && cat /proc/self/cwd/x.txt`, false},
	{"as a script", "bash secret/x.txt 2>&1 | sed s/DENIED/DENIED/", false},
	{"redirected", "while read l; do echo $l; done < secret/x.txt", false},
	{"for reading, if it is not there", `python3 -c 'import os;print(os.read(os.open("secret/x.txt",os.O_RDONLY|os.O_CREAT),99))'`, false},
	{"for reading and writing", `python3 -c 'print(open("secret/x.txt","r+").read())'`, true},
	{"cp of all", "mkdir to; cp -r secret to/; cat to/secret/x.txt", true},
	{"moved", "mv secret/x.txt y; cat y", true},
	{"the folder moved", "mv secret other; cat other/x.txt", true},
	{"linked", "ln secret/x.txt y; cat y", true},
	{"linked by a name", "ln -s secret/x.txt y; cat y", true},
	{"linked by the folder", "ln -s secret y; cat y/x.txt", true},
	{"git", "git add -f secret/x.txt; git cat-file -p :secret/x.txt", true},
	{"git without the index", "git hash-object -w secret/x.txt | xargs git cat-file -p", true},
	{"moved to the temporary folder", "mv secret/x.txt $TMPDIR/y; cat $TMPDIR/y", true},
}

// SPEC 16.5, 16.12: a rule that denies reading a path holds for every program.
func TestDeniedReads(t *testing.T) {
	for _, c := range readsOfRuled {
		for _, level := range []confine.Level{confine.ReadOnly, confine.Workspace} {
			if c.changes && level == confine.ReadOnly {
				continue
			}
			t.Run(c.name+", "+level.String(), func(t *testing.T) {
				t.Parallel()
				rule := func(root string) []process.PathRule {
					return []process.PathRule{pathRule(process.DeniesPath, false, 9, root, "secret/**"), pathRule(process.DeniesPath, false, 9, root, "lib/secret/**"), pathRule(process.AllowsPath, false, 99, root, "secret/x.txt")}
				}
				root := ruledRoot(t)
				if out, _ := ruledRun(t, level, root, c.line, nil, rule(root)...); strings.Contains(out, "CONTENT55") {
					t.Errorf("the rule does not hold: %s", out)
				}
				root = ruledRoot(t)
				if out, _ := ruledRun(t, level, root, c.line, nil); !strings.Contains(out, "CONTENT55") {
					t.Errorf("without a rule it is not shown either: %s", out)
				}
			})
		}
	}
}

// A rule at any depth, one about what comes later, one with a link in it, and one whose
// folder comes along with the folder above it.
func TestDeniedReadsOfOtherRules(t *testing.T) {
	for _, c := range []struct{ name, pattern, line string }{
		{"at any depth", "**/*.pem", "cat secret/deep/y.pem; cp secret/deep/y.pem z; cat z; mv secret o; cat o/deep/y.pem"},
		{"another case", "SECRET/**", "cat secret/x.txt"},
		{"a file, by another name", "**/y.pem", "mv secret/deep/y.pem y; cat y"},
		{"what is below a folder that moves", "lib/secret/**", "mv lib l; cat l/secret/x.txt; mv lib/secret s; cat s/x.txt"},
		{"a folder in any", "**/deep/*", "mv secret/deep secret/d; cat secret/d/y.pem; cat secret/deep/y.pem"},
		{"what comes later", "later/**", "mkdir later; echo DENIEDCONTENT55 > later/z; cat later/z; mv later l2; cat l2/z"},
		{"what comes later by a move", "later/**", "mkdir -p m/later; echo DENIED''CONTENT55 > t; mv t later; cat later"},
	} {
		t.Run(c.name, func(t *testing.T) {
			root := ruledRoot(t)
			if out, _ := ruledRun(t, confine.Workspace, root, c.line, nil, pathRule(process.DeniesPath, false, 9, root, c.pattern)); strings.Contains(out, "CONTENT55") {
				t.Errorf("the rule does not hold: %s", out)
			}
		})
	}
}

// SPEC 16.5, 16.12: a rule that denies changing a path holds for every program.
func TestDeniedEdits(t *testing.T) {
	for _, c := range []struct{ name, line string }{
		{"written", "echo x > secret/x.txt"},
		{"awk", `awk 'BEGIN{print 1 > ("sec" "ret/x.txt")}'`},
		{"python", `python3 -c 'open("secret/x.txt","a").write("x")'`},
		{"mapped", `python3 -c 'import mmap;f=open("secret/x.txt","r+b");mmap.mmap(f.fileno(),0)[0]=65'`},
		{"sed in place", "sed -i s/DENIED/x/ secret/x.txt"},
		{"truncated", "truncate -s 0 secret/x.txt"},
		{"removed", "rm -rf secret"},
		{"moved", "mv secret/x.txt y"},
		{"the folder moved", "mv secret other"},
		{"replaced", "echo x > n; mv -f n secret/x.txt"},
		{"replaced by an exchange", `python3 -c 'import ctypes;ctypes.CDLL(None).renameat2(-100,b"open.txt",-100,b"secret/x.txt",2)'`},
		{"linked and written", "ln secret/x.txt y; echo x > y"},
		{"a new file", "echo x > secret/new"},
		{"a new folder", "mkdir secret/new"},
		{"a link", "ln -s ../open.txt secret/new"},
		{"unpacked", "mkdir -p t/secret; echo x > t/secret/x.txt; tar cf - -C t secret | tar xf -"},
		{"git", "git -c user.name=a -c user.email=a@b commit -qm x --allow-empty; mkdir -p t; cp -r secret t; git --work-tree=t add secret; git checkout -f -- secret; git stash -q"},
		{"attributes", "chmod 600 secret/x.txt"},
		{"times", "touch -d 2001-01-01 secret/x.txt"},
		{"by a descriptor", `python3 -c 'import os;d=os.open("secret",os.O_PATH);os.write(os.open("x.txt",os.O_WRONLY,dir_fd=d),b"x")'`},
		{"by /proc/self/fd", `python3 -c 'import os;d=os.open("secret/x.txt",os.O_PATH);open("/proc/self/fd/%d"%d,"w").write("x")'`},
		{"a folder moved to its place", "mkdir -p n/secret; echo x > n/secret/new; rm -r lib; mv n lib"},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			root := ruledRoot(t)
			before := ruledState(t, root)
			_, _ = ruledRun(t, confine.Workspace, root, c.line, nil, pathRule(process.DeniesPath, true, 9, root, "secret/**"), pathRule(process.DeniesPath, true, 9, root, "lib/secret/**"))
			if after := ruledState(t, root); after != before {
				t.Errorf("the rule does not hold:\n%s\nbefore\n%s", after, before)
			}
		})
	}
}

// ruledState describes what the rules of TestDeniedEdits are about.
func ruledState(t *testing.T, root string) string {
	t.Helper()
	out, err := exec.Command("sh", "-c", `cd "$1" && find secret lib/secret -type f -exec stat -c '%n %a %Y' {} \; -exec cat {} \; -o -type d -print -o -exec ls -l {} \; | sort`, "-", root).CombinedOutput()
	if err != nil {
		t.Log(err)
	}
	return string(out)
}

// SPEC 16.14: a rule that asks holds the call; a yes goes for all that the rule names, and a
// more specific rule that allows needs none.
func TestRulesAsk(t *testing.T) {
	for _, c := range []struct {
		name, line string
		rules      func(root string) []process.PathRule
		answer     func(process.Refusal) (string, process.Answer)
		asked      int
		shown      bool
	}{
		{"yes", "cat secret/x.txt secret/deep/y.pem; ls secret", readAsks, yes, 1, true},
		{"yes, children at once", "for i in 1 2 3 4; do cat secret/x.txt & done; wait", readAsks, yes, 1, true},
		{"no", "cat secret/x.txt", readAsks, no, 1, false},
		{"nobody", "cat secret/x.txt", readAsks, nil, 0, false},
		{"allowed", "cat secret/x.txt", func(root string) []process.PathRule {
			return append(readAsks(root), pathRule(process.AllowsPath, false, 20, root, "secret/x.txt"))
		}, no, 0, true},
		{"allowed, another file", "cat secret/deep/y.pem", func(root string) []process.PathRule {
			return append(readAsks(root), pathRule(process.AllowsPath, false, 20, root, "secret/x.txt"))
		}, no, 1, false},
		{"changed, yes", "echo CONTENT55 >> secret/x.txt; rm secret/deep/y.pem; cat secret/x.txt", editAsks, yes, 1, true},
		{"changed, no", "echo x > secret/x.txt; cat secret/x.txt", editAsks, no, 1, true},
	} {
		t.Run(c.name, func(t *testing.T) {
			root := ruledRoot(t)
			var p *person
			if c.answer != nil {
				p = answering(c.answer)
			}
			out, _ := ruledRun(t, confine.Workspace, root, c.line, p, c.rules(root)...)
			if p != nil && len(p.list()) != c.asked {
				t.Errorf("asked: %q", p.list())
			}
			if strings.Contains(out, "CONTENT55") != c.shown {
				t.Errorf("shown: %s", out)
			}
		})
	}
}

func readAsks(root string) []process.PathRule {
	return []process.PathRule{pathRule(process.AsksPath, false, 10, root, "secret/**")}
}

func editAsks(root string) []process.PathRule {
	return []process.PathRule{pathRule(process.AsksPath, true, 10, root, "secret/**")}
}

// What a rule denies is told with the rule.
func TestDeniedIsTold(t *testing.T) {
	root := ruledRoot(t)
	_, c := ruledRun(t, confine.Workspace, root, "cat secret/x.txt; echo x > secret/x.txt", nil,
		pathRule(process.DeniesPath, false, 9, root, "secret/**"), pathRule(process.DeniesPath, true, 9, root, "secret/*.txt"))
	want := []process.Refusal{{Act: process.ActRead, What: root + "/secret/x.txt", Rule: "read(secret/**)"}, {Act: process.ActWrite, What: root + "/secret/x.txt", Rule: "edit(secret/*.txt)"}}
	if got := c.Refused(); !slices.Equal(got, want) {
		t.Errorf("refusals %v, want %v", got, want)
	}
}

// With rules about reading, pawl opens for the command: what it may open, it still can, and
// nothing more.
func TestRuledOpensAreOrdinary(t *testing.T) {
	for _, c := range []struct{ name, line, out string }{
		{"itself", "cat /proc/self/comm; head -c 4 /proc/self/cmdline | tr '\\0' ' '; echo; grep -c . /proc/self/maps >/dev/null && echo maps", "cat\nhead\nmaps\n"},
		{"its environment", "B=c cat /proc/self/environ | tr '\\0' '\\n' | grep ^B=", "B=c\n"},
		{"not pawl's", `for f in environ maps cmdline fd task; do cat /proc/$PPID/$f; ls /proc/$PPID/$f/; done 2>/dev/null; cd /proc/self; cat ../$PPID/comm; exec 3< /proc/self; cat /proc/$PPID/task/*/environ 2>/dev/null; echo end`, "cat\nend\n"},
		{"its threads", `python3 -c 'import threading;threading.Thread(target=lambda:print(open("/proc/thread-self/comm").read(),open("/proc/self/maps").read()[:0],end="")).start()'`, "python3\n "},
		{"its descriptors", "ls /proc/self/fd /dev/fd | grep -c '^[012]$'", "6\n"},
		{"its program", "head -c 4 /proc/self/exe | tail -c 3", "ELF"},
		{"pipes", "echo x | cat /dev/stdin; cat <(echo y); cat /dev/fd/3 3< <(echo z)", "x\ny\nz\n"},
		{"a FIFO", "mkfifo f; (sleep 0.2; echo x > f) & cat f; cat open.txt", "x\nopen\n"},
		{"the system", "head -c 0 /etc/passwd && cat /proc/sys/kernel/ostype && head -c 1 /dev/zero | wc -c && ls -d /usr && head -c 0 /proc/meminfo", "Linux\n1\n/usr\n"},
		{"not a terminal", "cat /dev/tty 2>/dev/null || echo none", "none\n"},
		{"not what is closed", "cat /etc/shadow 2>/dev/null || echo none", "none\n"},
		{"not what is not there", "cat nothing 2>&1", "cat: nothing: No such file or directory\n"},
		{"a loop", "ln -s a b; ln -s b a; cat a 2>&1", "cat: a: Too many levels of symbolic links\n"},
		{"a script of the workspace", "printf '#!/bin/sh\\necho ran\\n' > r; chmod +x r; ./r", "ran\n"},
		{"a program of the workspace", "cp /bin/echo e; ./e ran", "ran\n"},
		{"a folder", "ls lib; find lib -name '*.txt'", "secret\nlib/secret/x.txt\n"},
		{"the names in the folder of a rule", "ls secret; find secret -name '*.pem'", "deep\nx.txt\nsecret/deep/y.pem\n"},
		{"appended and read", "echo more >> open.txt; cat open.txt; sed -i s/more/less/ open.txt; tail -1 open.txt", "open\nmore\nless\n"},
	} {
		t.Run(c.name, func(t *testing.T) {
			root := ruledRoot(t)
			out, _ := ruledRun(t, confine.Workspace, root, c.line, nil, pathRule(process.DeniesPath, false, 9, root, "secret/**"))
			if out != c.out {
				t.Errorf("got %q, want %q", out, c.out)
			}
		})
	}
}

// SPEC 16.12: the environment of pawl and of its threads, one of which opens for the command,
// is not shown by any name.
func TestRuledOpensHideTheOpener(t *testing.T) {
	environ := must.Get(os.ReadFile("/proc/self/environ"))(t)
	root := ruledRoot(t)
	line := `exec env -i PATH=/usr/bin:/bin bash -c 'p=$PPID
		for n in $(seq $p $((p+80))) self thread-self; do for f in environ task/$n/environ root/proc/$p/environ cwd/../../proc/$p/environ; do cat /proc/$n/$f; done; done
		cd /proc; cat self/environ thread-self/environ $p/environ ./self/../$p/environ; cd self; cat environ ../thread-self/environ; cat /proc/*/environ
		ln -s /proc/self $TMPDIR/s; cat $TMPDIR/s/environ; echo end' 2>/dev/null`
	out, _ := ruledRun(t, confine.Workspace, root, line, nil, pathRule(process.DeniesPath, false, 9, root, "secret/**"))
	if !strings.Contains(out, "end") {
		t.Errorf("it did not run: %q", out)
	}
	for one := range strings.SplitSeq(string(environ), "\x00") {
		if name, _, _ := strings.Cut(one, "="); one != "" && !slices.Contains([]string{"PATH", "PWD", "OLDPWD", "SHLVL", "_"}, name) && strings.Contains(out, one) {
			t.Errorf("shown: %s", name)
		}
	}
}

// A path that becomes another one while it is judged: the file that is free is read, the
// other one never nor by a folder that changes places.
func TestRuledRace(t *testing.T) {
	root := ruledRoot(t)
	line := `
import os, threading, ctypes
libc = ctypes.CDLL(None, use_errno=True)
stop = False
buf = ctypes.create_string_buffer(b"open.txt-----------------", 64)
def swap():
    while not stop:
        ctypes.memmove(buf, b"secret/x.txt\0", 13)
        ctypes.memmove(buf, b"/proc/version\0", 14)
        ctypes.memmove(buf, b"open.txt\0", 9)
def folder():
    while not stop:
        try:
            os.symlink("secret", "l"); os.unlink("l"); os.mkdir("l"); os.rmdir("l")
        except OSError: pass
ts = [threading.Thread(target=swap), threading.Thread(target=folder)]
for t in ts: t.start()
n = 0
for i in range(1500):
    for fd in (libc.open(buf, os.O_RDONLY), libc.open(buf, os.O_RDONLY | os.O_CREAT, 0o644), libc.open(b"l/x.txt", os.O_RDONLY)):
        if fd >= 0:
            b = os.read(fd, 99); n += b == b"open\n"; os.close(fd)
            if b.startswith(b"DENIED"): print("shown")
stop = True
for t in ts: t.join()
print(n > 0)
`
	out, _ := ruledRun(t, confine.Workspace, root, "python3 -c '"+line+"' 2>&1", nil, pathRule(process.DeniesPath, false, 9, root, "secret/**"))
	if strings.TrimSpace(out) != "True" {
		t.Error(out)
	}
}

// A rule holds in a copy of the workspace, and a rule that names a link for where it leads.
func TestRealRules(t *testing.T) {
	root, at := real(t.TempDir()), real(t.TempDir())
	must.Do(t, os.Symlink("data", filepath.Join(root, "link")))
	must.Do(t, os.Mkdir(filepath.Join(root, "data"), 0o755))
	var got []string
	for _, r := range realRules([]process.PathRule{{Pattern: root + "/link/**"}, {Pattern: root + "/**/x"}, {Pattern: root + "/li*"}, {Pattern: "/**/y"}}, root, root) {
		got = append(got, strings.TrimPrefix(r.Pattern, root))
	}
	if want := []string{"/link/**", "/**/x", "/li*", "/**/y", "/data/**"}; !slices.Equal(got, want) {
		t.Errorf("got %q, want %q", got, want)
	}
	if r := realRules([]process.PathRule{{Pattern: root + "/a/**"}, {Pattern: "/b"}}, root, at); r[0].Pattern != at+"/a/**" || r[1].Pattern != "/b" {
		t.Errorf("in a copy: %v", r)
	}
}
