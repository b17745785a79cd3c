//go:build truth && linux

package truth

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"time"
	"unsafe"

	"github.com/pawl-agent/pawl/internal/adapter/tools"
	"github.com/pawl-agent/pawl/internal/adapter/workspace"
	"github.com/pawl-agent/pawl/internal/core/tool"
	"github.com/pawl-agent/pawl/internal/policy/permission"
)

// marker is the program that shows that code ran: it makes a file.
const marker = "#!/bin/sh\n: >>/w/RAN\n: >>/tmp/RAN\n"

// files is the world of the cage: a workspace /w full of traps, a neighbour
// /sib and a home. A path with an arrow is a link, one with "!" is executable.
var files = map[string]string{
	"/w/a.txt":                          "one\ntwo 2\nthree 3\n",
	"/w/b.txt":                          "one\n2\n3\n",
	"/w/f":                              "a[$(zap)]\n",
	"/w/notes.md":                       "a[$(zap)]\n-v a[$(zap)]\n$(zap)\n",
	"/w/names":                          "/sib/secret.txt\n/home/u/.ssh/id_rsa\n",
	"/w/names0":                         "/sib/secret.txt\x00/home/u/.ssh/id_rsa\x00",
	"/w/x.json":                         `{"a":1,"b":[1,2,3],"c":"$(zap)"}` + "\n",
	"/w/main.go":                        "package main\n\nfunc main() { println(1) }\n",
	"/w/go.mod":                         "module example.com/w\n\ngo 1.20\n",
	"/w/Makefile":                       "X := $(shell zap)\nall:\n\tzap\ntest:\n\tzap\n",
	"/w/package.json":                   `{"scripts":{"test":"zap","lint":"zap"}}`,
	"/w/s.sed":                          "1e zap\n1w /w/W\n",
	"/w/p.awk":                          "BEGIN { system(\"zap\") }\n",
	"/w/c.jq":                           "import \"secret\" as $s {search:\"/sib\"}; $s\n",
	"/w/zap!":                           marker,
	"/w/sub/ls!":                        marker,
	"/w/sub/cat!":                       marker,
	"/w/sub/zap!":                       marker,
	"/w/sub/git-zap!":                   marker,
	"/w/sub/n.txt":                      "one\n",
	"/w/-x":                             "dash\n",
	"/w/--files0-from=names0":           "dash\n",
	"/w/.hidden":                        "one\n",
	"/w/.envrc":                         "zap\n",
	"/w/l->":                            "../sib/sub",
	"/w/out->":                          "/sib/secret.txt",
	"/w/outdir->":                       "/sib",
	"/w/hk->":                           ".git/hooks",
	"/w/ag->":                           "AGENTS.md",
	"/w/AGENTS.md":                      "rules\n",
	"/w/inl->":                          "sub",
	"/w/bare/HEAD":                      "ref: refs/heads/main\n",
	"/w/bare/config":                    "[core]\n\trepositoryformatversion = 0\n\tbare = false\n\tworktree = /w\n\tfsmonitor = zap\n\tpager = zap\n[diff]\n\texternal = zap\n",
	"/w/bare/objects/x":                 "",
	"/w/bare/refs/x":                    "",
	"/w/.git/HEAD":                      "ref: refs/heads/main\n",
	"/w/.git/config":                    "[core]\n\trepositoryformatversion = 0\n\tfsmonitor = zap\n\tpager = zap\n\tsshCommand = zap\n\thooksPath = .git/hooks\n\teditor = zap\n[diff]\n\texternal = zap\n[diff \"x\"]\n\ttextconv = zap\n\tcommand = zap\n[filter \"x\"]\n\tclean = zap\n\tsmudge = zap\n\tprocess = zap\n[alias]\n\tst = !zap\n\tlog2 = !zap\n[gpg]\n\tprogram = zap\n[log]\n\tshowSignature = true\n[credential]\n\thelper = !zap\n[remote \"origin\"]\n\turl = ext::zap\n",
	"/w/.git/objects/x":                 "",
	"/w/.git/refs/heads/x":              "",
	"/w/.git/hooks/pre-commit!":         marker,
	"/w/.git/hooks/post-checkout!":      marker,
	"/w/.git/hooks/post-index-change!":  marker,
	"/w/.git/hooks/fsmonitor-watchman!": marker,
	"/w/.gitattributes":                 "*.txt diff=x filter=x\n",
	"/sib/f.txt":                        "sibling\n",
	"/sib/sub/s.txt":                    "sibling\n",
	"/home/u/x.txt":                     "home\n",
	"/home/u/.bashrc":                   "zap\n",
}

// secret files lie outside the workspace or look like secrets: nothing that is
// judged harmless opens them.
var secret = map[string]string{
	"/sib/secret.txt":     "CANARY\n",
	"/sib/sub/secret.txt": "CANARY\n",
	"/sib/secret.json":    `{"k":"CANARY"}` + "\n",
	"/home/u/.ssh/id_rsa": "CANARY\n",
	"/home/u/.netrc":      "CANARY\n",
	"/w/.env":             "TOKEN=CANARY\n",
	"/w/sub/.env":         "TOKEN=CANARY\n",
	"/w/keys/id_ed25519":  "CANARY\n",
}

// world is the cage's files, with the state they had when they were made.
type world struct {
	before  map[string]stamp
	watch   int // an inotify descriptor on the secret files
	watched map[int32]string
}

type stamp struct {
	mode   fs.FileMode
	size   int64
	ctime  syscall.Timespec
	ino    uint64
	target string
}

var roots = []string{"/w", "/sib", "/home/u", "/tmp"}

func makeWorld() (*world, error) {
	for _, r := range roots {
		es, err := os.ReadDir(r)
		if err != nil {
			return nil, err
		}
		for _, e := range es {
			p := filepath.Join(r, e.Name())
			// A line that did harm may have taken the rights away.
			_ = filepath.WalkDir(p, func(p string, d fs.DirEntry, err error) error {
				if d != nil && d.IsDir() {
					_ = os.Chmod(p, 0o700)
				}
				return nil
			})
			if err := os.RemoveAll(p); err != nil {
				return nil, err
			}
		}
	}
	for _, set := range []map[string]string{files, secret} {
		for p, text := range set {
			link, exec := strings.HasSuffix(p, "->"), strings.HasSuffix(p, "!")
			p = strings.TrimSuffix(strings.TrimSuffix(p, "->"), "!")
			if err := os.MkdirAll(filepath.Dir(p), 0o755); err != nil {
				return nil, err
			}
			if link {
				if err := os.Symlink(text, p); err != nil {
					return nil, err
				}
				continue
			}
			mode := os.FileMode(0o644)
			if exec {
				mode = 0o755
			}
			if err := os.WriteFile(p, []byte(text), mode); err != nil {
				return nil, err
			}
		}
	}
	w := &world{watched: map[int32]string{}}
	fd, err := syscall.InotifyInit1(syscall.IN_NONBLOCK | syscall.IN_CLOEXEC)
	if err != nil {
		return nil, err
	}
	w.watch = fd
	for p := range secret {
		wd, err := syscall.InotifyAddWatch(fd, p, syscall.IN_ACCESS)
		if err != nil {
			return nil, err
		}
		w.watched[int32(wd)] = p
	}
	w.before, err = stamps()
	return w, err
}

func stamps() (map[string]stamp, error) {
	out := map[string]stamp{}
	for _, r := range roots {
		err := filepath.WalkDir(r, func(p string, d fs.DirEntry, err error) error {
			if err != nil {
				out[p] = stamp{}
				return nil // a folder that was closed differs from before
			}
			i, err := d.Info()
			if err != nil {
				return nil
			}
			st := i.Sys().(*syscall.Stat_t)
			s := stamp{mode: i.Mode(), size: i.Size(), ctime: st.Ctim, ino: st.Ino}
			if i.Mode()&fs.ModeSymlink != 0 {
				s.target, _ = os.Readlink(p)
			}
			out[p] = s
			return nil
		})
		if err != nil {
			return nil, err
		}
	}
	return out, nil
}

// harm lists what is not as it was, and the secrets that were read.
func (w *world) harm() []string {
	var out []string
	after, err := stamps()
	if err != nil {
		return []string{err.Error()}
	}
	for p, s := range after {
		if old, ok := w.before[p]; !ok {
			out = append(out, "made "+p)
		} else if old != s {
			out = append(out, "changed "+p)
		}
	}
	for p := range w.before {
		if _, ok := after[p]; !ok {
			out = append(out, "removed "+p)
		}
	}
	read := map[string]bool{}
	buf := make([]byte, 4096)
	for {
		n, err := syscall.Read(w.watch, buf)
		if n <= 0 || err != nil {
			break
		}
		for at := 0; at+syscall.SizeofInotifyEvent <= n; {
			e := (*syscall.InotifyEvent)(unsafe.Pointer(&buf[at]))
			if e.Mask&syscall.IN_ACCESS != 0 {
				read["read "+w.watched[e.Wd]] = true
			}
			at += syscall.SizeofInotifyEvent + int(e.Len)
		}
	}
	out = append(out, slices.Collect(maps.Keys(read))...)
	slices.Sort(out)
	return out
}

// caged is a tool.Shell that runs a line in the cage as pawl's shell would:
// bash without profile, no input, an environment without surprises.
type caged struct{ output string }

func (s *caged) Run(ctx context.Context, c tool.Run) (tool.Ran, error) {
	ctx, cancel := context.WithTimeout(ctx, 3*time.Second)
	defer cancel()
	cmd := exec.CommandContext(ctx, "/bin/bash", "--noprofile", "--norc", "-c", c.Command)
	cmd.Dir = "/w"
	cmd.Env = append([]string{
		"PATH=/usr/bin:/bin:/traps", "HOME=/home/u", "PWD=/w", "LANG=C.UTF-8", "GIT_EDITOR=:", "GIT_PAGER=cat", "PAGER=cat",
		"GIT_TERMINAL_PROMPT=0", "TERM=dumb", "PAWL=1",
	}, c.Env...)
	var out bytes.Buffer
	cmd.Stdout, cmd.Stderr = &limited{&out}, &limited{&out}
	cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true, Pdeathsig: syscall.SIGKILL}
	cmd.WaitDelay = 100 * time.Millisecond
	err := cmd.Run()
	// What was left behind ends now; this process is the cage's first.
	_ = syscall.Kill(-1, syscall.SIGKILL)
	for {
		if pid, err := syscall.Wait4(-1, nil, syscall.WNOHANG, nil); pid <= 0 || err != nil {
			break
		}
	}
	s.output = out.String()
	if cmd.ProcessState == nil {
		return tool.Ran{}, err
	}
	code := cmd.ProcessState.ExitCode()
	return tool.Ran{Output: s.output, Exit: &code}, nil
}

func (*caged) Start(context.Context, tool.Run) (string, error) {
	return "", fmt.Errorf("no background here")
}
func (*caged) Output(context.Context, string, time.Duration) (tool.Ran, error) {
	return tool.Ran{}, fmt.Errorf("no background here")
}
func (*caged) Kill(context.Context, string) (tool.Ran, error) {
	return tool.Ran{}, fmt.Errorf("no background here")
}

type limited struct{ b *bytes.Buffer }

func (l *limited) Write(p []byte) (int, error) {
	if l.b.Len() < 1<<16 {
		l.b.Write(p[:min(len(p), 1<<16)])
	}
	return len(p), nil
}

// serveCage judges and runs the lines that come on standard input.
func serveCage() int {
	in, out := json.NewDecoder(os.Stdin), json.NewEncoder(os.Stdout)
	w, err := makeWorld()
	if err != nil {
		fmt.Fprintln(os.Stderr, "cage:", err)
		return 3
	}
	ws, err := workspace.Open("/w", workspace.Options{})
	if err != nil {
		fmt.Fprintln(os.Stderr, "cage:", err)
		return 3
	}
	if err := os.Setenv("HOME", "/home/u"); err != nil {
		return 3
	}
	shell := &caged{}
	env := tool.Env{Files: ws, Shell: shell, Limit: 1 << 16, Out: func(string) {}}
	bash := tools.Bash()
	judge := os.Getenv("PAWL_TRUTH_JUDGE") != "off"
	plan := permission.New(permission.Config{Mode: permission.Plan, Root: "/w", Home: "/home/u"})
	for {
		var line string
		if err := in.Decode(&line); err != nil {
			return 0
		}
		r := tried{Line: line}
		args, err := json.Marshal(map[string]string{"command": line})
		if err != nil {
			return 3
		}
		if f, err := bash.Footprint(env, args); err == nil {
			d := plan.Decide(permission.Call{Tool: "bash", Footprint: f, Args: args})
			r.Judged = d.Verdict == permission.Allow || !judge
		}
		if r.Judged {
			if _, err := bash.Run(context.Background(), env, args); err == nil {
				r.Output = shell.output
			}
			if r.Harm = w.harm(); len(r.Harm) > 0 {
				_ = syscall.Close(w.watch)
				if w, err = makeWorld(); err != nil {
					fmt.Fprintln(os.Stderr, "cage:", err)
					return 3
				}
			}
		}
		if err := out.Encode(r); err != nil {
			return 3
		}
	}
}
