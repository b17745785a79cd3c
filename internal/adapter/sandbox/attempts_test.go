//go:build linux && (amd64 || arm64)

package sandbox

import (
	"bufio"
	"encoding/binary"
	"errors"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"unsafe"

	"golang.org/x/sys/unix"

	"github.com/pawl-agent/pawl/internal/core/must"
)

// attempt is a try to get out: nil where it succeeded.
type attempt struct {
	name string
	do   func(spot) error
	root bool // without the sandbox it needs root
	some bool // not every kernel has it
}

var errHeld = errors.New("held")

// attemptsOn is all attempts, always in the same order.
func attemptsOn() []attempt {
	out := []attempt{{name: "descriptors of pawl", do: inherited}} // before others open some
	out = append(out, changesBy()...)
	out = append(out, shapes()...)
	out = append(out, looks()...)
	out = append(out, others()...)
	out = append(out, networks()...)
	out = append(out, reaches()...)
	return append(out, kernels()...)
}

// inherited looks for descriptors that pawl left open.
func inherited(spot) error {
	for fd := 3; fd < 1024; fd++ {
		name, err := os.Readlink(self(fd))
		if err != nil || strings.HasPrefix(name, "anon_inode:") || strings.HasPrefix(name, "/sys/fs/cgroup/") {
			continue // Go's own runtime has some
		}
		return nil
	}
	return errHeld
}

// primitive changes the file that a path names.
type primitive struct {
	name    string
	follows bool // through a symbolic link in the last name
	do      func(dir int, path string, at spot) error
}

func opening(flags int) func(int, string, spot) error {
	return func(dir int, path string, _ spot) error {
		fd, err := unix.Openat(dir, path, flags|unix.O_CLOEXEC, 0o644)
		if err != nil {
			return err
		}
		defer unix.Close(fd)
		if flags&unix.O_ACCMODE != unix.O_RDONLY {
			_, err = unix.Write(fd, []byte("evil"))
		}
		return err
	}
}

// raw makes a call of an older architecture or one that x/sys replaces.
func raw(nr uintptr, args ...uintptr) error {
	var a [6]uintptr
	copy(a[:], args)
	_, _, errno := unix.Syscall6(nr, a[0], a[1], a[2], a[3], a[4], a[5])
	if errno != 0 {
		return errno
	}
	return nil
}

func primitives() []primitive {
	free := func(at spot) string { return filepath.Join(at.in, "free") }
	return []primitive{
		{"write", true, opening(unix.O_WRONLY)},
		{"read-write", true, opening(unix.O_RDWR)},
		{"append", true, opening(unix.O_WRONLY | unix.O_APPEND)},
		{"create-truncate", true, opening(unix.O_WRONLY | unix.O_CREAT | unix.O_TRUNC)},
		{"truncate-for-reading", true, opening(unix.O_RDONLY | unix.O_TRUNC)},
		{"unlink", false, func(d int, p string, _ spot) error { return unix.Unlinkat(d, p, 0) }},
		{"move-away", false, func(d int, p string, at spot) error { return unix.Renameat(d, p, unix.AT_FDCWD, free(at)+"2") }},
		{"move-over", false, func(d int, p string, at spot) error { return unix.Renameat(unix.AT_FDCWD, free(at), d, p) }},
		{"exchange", false, func(d int, p string, at spot) error {
			return unix.Renameat2(unix.AT_FDCWD, free(at), d, p, unix.RENAME_EXCHANGE)
		}},
		{"link", false, func(d int, p string, at spot) error { return unix.Linkat(d, p, unix.AT_FDCWD, free(at)+"3", 0) }},
		{"chmod", true, func(d int, p string, _ spot) error { return unix.Fchmodat(d, p, 0o777, 0) }},
		{"chown", true, func(d int, p string, _ spot) error { return unix.Fchownat(d, p, os.Getuid(), os.Getgid(), 0) }},
		{"times", true, func(d int, p string, _ spot) error {
			return unix.UtimesNanoAt(d, p, []unix.Timespec{{Sec: 1}, {Sec: 1}}, 0)
		}},
		{"flags by ioctl", true, func(d int, p string, _ spot) error {
			fd, err := unix.Openat(d, p, unix.O_RDONLY|unix.O_CLOEXEC, 0)
			if err != nil {
				return err
			}
			defer unix.Close(fd)
			return unix.IoctlSetPointerInt(fd, unix.FS_IOC_SETFLAGS, unix.STATX_ATTR_NODUMP)
		}},
		{"fchmod", true, func(d int, p string, _ spot) error {
			fd, err := unix.Openat(d, p, unix.O_RDONLY|unix.O_CLOEXEC, 0)
			if err != nil {
				return err
			}
			defer unix.Close(fd)
			return unix.Fchmod(fd, 0o700)
		}},
	}
}

// ways are the paths by which a file is reached.
var ways = []struct {
	name string
	file bool // a link in the last name
	path func(target string, at spot) (int, string, error)
}{
	{"direct", false, func(t string, _ spot) (int, string, error) { return unix.AT_FDCWD, t, nil }},
	{"dots", false, func(t string, at spot) (int, string, error) {
		rel, err := filepath.Rel(filepath.Join(at.in, "sub"), t)
		return unix.AT_FDCWD, filepath.Join(at.in, "sub") + "/" + rel, err
	}},
	{"link-to-file", true, func(t string, at spot) (int, string, error) {
		_ = os.Remove(filepath.Join(at.in, "l"))
		return unix.AT_FDCWD, filepath.Join(at.in, "l"), os.Symlink(t, filepath.Join(at.in, "l"))
	}},
	{"link-to-folder", false, func(t string, at spot) (int, string, error) {
		_ = os.Remove(filepath.Join(at.in, "d"))
		return unix.AT_FDCWD, filepath.Join(at.in, "d", filepath.Base(t)), os.Symlink(filepath.Dir(t), filepath.Join(at.in, "d"))
	}},
	{"proc-root", false, func(t string, _ spot) (int, string, error) { return unix.AT_FDCWD, "/proc/self/root" + t, nil }},
	{"descriptor", false, func(t string, _ spot) (int, string, error) {
		fd, err := unix.Open(filepath.Dir(t), unix.O_PATH|unix.O_CLOEXEC, 0)
		return fd, filepath.Base(t), err
	}},
	{"proc-descriptor", false, func(t string, _ spot) (int, string, error) {
		fd, err := unix.Open(filepath.Dir(t), unix.O_PATH|unix.O_CLOEXEC, 0)
		return unix.AT_FDCWD, fmt.Sprintf("/proc/self/fd/%d/%s", fd, filepath.Base(t)), err
	}},
}

// changesBy is each primitive by each way on a file outside and a hook.
func changesBy() []attempt {
	var out []attempt
	for _, where := range []string{"outside", "hook"} {
		for _, way := range ways {
			for _, p := range primitives() {
				if way.file && !p.follows {
					continue // it would be the link's own
				}
				out = append(out, attempt{name: p.name + " " + where + " by " + way.name, do: func(at spot) error {
					target := filepath.Join(at.out, "file")
					if where == "hook" {
						target = filepath.Join(at.in, ".git/hooks/file")
					}
					return changed(target, func() error {
						dir, path, err := way.path(target, at)
						if err != nil {
							return err
						}
						return p.do(dir, path, at)
					})
				}})
			}
		}
	}
	return out
}

// changed reports, as nil, whether f changed a file, by what the kernel says of
// it, not by what f was told.
func changed(target string, f func() error) error {
	var a, b unix.Stat_t
	aerr := unix.Lstat(target, &a)
	ferr := f()
	berr := unix.Lstat(target, &b)
	if (aerr == nil) != (berr == nil) || a.Ino != b.Ino || a.Size != b.Size || a.Mode != b.Mode || a.Nlink != b.Nlink || a.Ctim != b.Ctim {
		return nil
	}
	if ferr == nil {
		return errHeld
	}
	return ferr
}

// making is an attempt to bring about a name in the workspace.
func making(name, target string, f func(spot) error) attempt {
	return attempt{name: name, do: func(at spot) error {
		return changed(filepath.Join(at.in, target), func() error { return f(at) })
	}}
}

// shapes are changes that only the protected names forbid.
func shapes() []attempt {
	in := func(at spot, p string) string { return filepath.Join(at.in, p) }
	write := func(p string) func(spot) error {
		return func(at spot) error {
			_ = os.MkdirAll(filepath.Dir(in(at, p)), 0o755)
			return os.WriteFile(in(at, p), []byte("evil"), 0o644)
		}
	}
	var out []attempt
	for _, p := range []string{
		"AGENTS.md", "CLAUDE.md", "agents.MD", ".envrc", ".mcp.json", ".pawl/config.json", ".claude/settings.json", ".vscode/tasks.json", ".gitmodules",
		"HEAD", "sub/HEAD", "sub/AGENTS.md", "sub/.git/config", ".git/config", ".git/config.worktree", ".git/hooks/post-checkout", ".git/info/attributes",
		".git/HEAD", ".git/commondir", ".git/objects/info/alternates", ".git/modules/m/config", ".git/rebase-merge/git-rebase-todo", ".git/worktrees/x/gitdir",
	} {
		out = append(out, making("make "+p, p, write(p)))
	}
	return append(out,
		making("move .git away", ".git", func(at spot) error { return os.Rename(in(at, ".git"), in(at, "g")) }),
		making("exchange .git", ".git", func(at spot) error {
			return unix.Renameat2(unix.AT_FDCWD, in(at, "sub"), unix.AT_FDCWD, in(at, ".git"), unix.RENAME_EXCHANGE)
		}),
		making("move hooks away", ".git/hooks", func(at spot) error { return os.Rename(in(at, ".git/hooks"), in(at, "h")) }),
		making("move HEAD away", ".git/HEAD", func(at spot) error { return os.Rename(in(at, ".git/HEAD"), in(at, "h")) }),
		making("remove HEAD", ".git/HEAD", func(at spot) error { return os.Remove(in(at, ".git/HEAD")) }),
		making("remove objects", ".git/objects", func(at spot) error { return os.Remove(in(at, ".git/objects")) }),
		making("move refs away", ".git/refs", func(at spot) error { return os.Rename(in(at, ".git/refs"), in(at, "r")) }),
		making("link in .git", ".git/COMMIT_EDITMSG", func(at spot) error { return os.Symlink(filepath.Join(at.out, "file"), in(at, ".git/COMMIT_EDITMSG")) }),
		making("move a link into .git", ".git/ORIG_HEAD", func(at spot) error {
			return errors.Join(os.Symlink(filepath.Join(at.out, "file"), in(at, "l")), os.Rename(in(at, "l"), in(at, ".git/ORIG_HEAD")))
		}),
		making("folder of installed packages to a project's", "p/.vscode/tasks.json", func(at spot) error {
			return errors.Join(write("node_modules/p/.vscode/tasks.json")(at), os.Rename(in(at, "node_modules/p"), in(at, "p")))
		}),
		making("rename node_modules", "src/AGENTS.md", func(at spot) error {
			return errors.Join(write("node_modules/AGENTS.md")(at), os.Rename(in(at, "node_modules"), in(at, "src")))
		}),
		making("a repository of a temporary folder", "repo/.git/config", func(at spot) error {
			dir, err := os.MkdirTemp("", "x")
			if err != nil {
				return err
			}
			return errors.Join(os.MkdirAll(filepath.Join(dir, ".git"), 0o755), os.WriteFile(filepath.Join(dir, ".git/config"), nil, 0o644), os.Rename(dir, in(at, "repo")))
		}),
		making("folder moved to .vscode", ".vscode", func(at spot) error { return os.Rename(in(at, "sub"), in(at, ".vscode")) }),
		making("link named .claude", ".claude", func(at spot) error { return os.Symlink("sub", in(at, ".claude")) }),
		making("hard link named AGENTS.md over it", "AGENTS.md", func(at spot) error { return os.Link(in(at, "AGENTS.md"), in(at, "a")) }),
		making("FIFO named .envrc", ".envrc", func(at spot) error { return unix.Mkfifo(in(at, ".envrc"), 0o600) }),
		making("folder named .pawl", ".pawl", func(at spot) error { return os.Mkdir(in(at, ".pawl"), 0o755) }),
		making("write a file that has a name outside", "stored", func(at spot) error { return os.WriteFile(in(at, "stored"), []byte("evil"), 0o600) }),
		making("chmod a file that has a name outside", "stored", func(at spot) error { return os.Chmod(in(at, "stored"), 0o777) }),
		making("link a file that has a name outside", "stored2", func(at spot) error { return os.Link(in(at, "stored"), in(at, "stored2")) }),
		making("set-uid file", "free", func(at spot) error { return unix.Chmod(in(at, "free"), 0o4755) }),
		making("set-gid file", "free", func(at spot) error { return unix.Chmod(in(at, "free"), 0o2755) }),
		making("xattr of a hook", ".git/hooks/file", func(at spot) error { return unix.Setxattr(in(at, ".git/hooks/file"), "user.x", []byte("x"), 0) }),
		making("chmod by the shell", ".git/hooks/file", func(at spot) error { return exec.Command("/bin/chmod", "777", in(at, ".git/hooks/file")).Run() }),
		making("write by another program", ".git/hooks/file", func(at spot) error {
			return exec.Command("/bin/sh", "-c", "echo evil >> "+in(at, ".git/hooks/file")).Run()
		}),
		making("a working folder that is hooks", ".git/hooks/new", func(at spot) error {
			c := exec.Command("/bin/sh", "-c", "echo evil > new")
			c.Dir = in(at, ".git/hooks")
			return c.Run()
		}),
		making("the name by /proc/self/cwd", ".git/hooks/new2", func(at spot) error {
			c := exec.Command("/bin/sh", "-c", "echo evil > /proc/self/cwd/new2")
			c.Dir = in(at, ".git/hooks")
			return c.Run()
		}),
		making("old truncate", ".git/hooks/file", func(at spot) error { return unix.Truncate(in(at, ".git/hooks/file"), 1) }),
		making("a file without a name, linked", ".git/hooks/tmp", func(at spot) error {
			fd, err := unix.Open(in(at, "sub"), unix.O_TMPFILE|unix.O_RDWR|unix.O_CLOEXEC, 0o755)
			if err != nil {
				return err
			}
			return unix.Linkat(unix.AT_FDCWD, self(fd), unix.AT_FDCWD, in(at, ".git/hooks/tmp"), unix.AT_SYMLINK_FOLLOW)
		}),
	)
}

// looks are attempts to read.
func looks() []attempt {
	read := func(name string, path func(spot) string) attempt {
		return attempt{name: "read " + name, do: func(at spot) error {
			b, err := os.ReadFile(path(at))
			if err == nil && !strings.Contains(string(b), "secret") {
				return errHeld
			}
			return err
		}}
	}
	out := []attempt{
		read("a file", func(at spot) string { return filepath.Join(at.out, "file") }),
		read("by /proc/self/root", func(at spot) string { return "/proc/self/root" + filepath.Join(at.out, "file") }),
		read("by the victim's root", func(at spot) string {
			return fmt.Sprintf("/proc/%d/root%s", at.Victim, filepath.Join(at.out, "file"))
		}),
		read("by a link", func(at spot) string {
			_ = os.Symlink(filepath.Join(at.out, "file"), filepath.Join(at.in, "rl"))
			return filepath.Join(at.in, "rl")
		}),
		read("by a link to its folder", func(at spot) string {
			_ = os.Symlink(at.out, filepath.Join(at.in, "rd"))
			return filepath.Join(at.in, "rd/file")
		}),
		read("the victim's environment", func(at spot) string { return fmt.Sprintf("/proc/%d/environ", at.Victim) }),
		{name: "read a new hard link", do: func(at spot) error {
			if err := os.Link(filepath.Join(at.out, "file"), filepath.Join(at.in, "hl")); err != nil {
				return err
			}
			_, err := os.ReadFile(filepath.Join(at.in, "hl"))
			return err
		}},
		{name: "read by moving it in", do: func(at spot) error { return os.Rename(filepath.Join(at.out, "file"), filepath.Join(at.in, "mv")) }},
		{name: "list a folder", do: func(at spot) error { _, err := os.ReadDir(at.out); return err }},
		{name: "list temporary files", do: func(at spot) error { _, err := os.ReadDir(filepath.Dir(filepath.Dir(at.Root))); return err }},
		{name: "shadow passwords", root: true, do: func(spot) error { _, err := os.ReadFile("/etc/shadow"); return err }},
		{name: "disk devices", root: true, do: func(spot) error {
			_, err := os.ReadDir("/dev/block")
			_, err2 := os.ReadDir("/dev")
			return errors.Join(err2, ignoreMissing(err))
		}},
	}
	for _, f := range []string{"mem", "maps", "exe", "cwd", "fd/0", "root", "syscall", "stack"} {
		out = append(out, attempt{name: "victim's " + f, root: f == "stack", do: func(at spot) error {
			p := fmt.Sprintf("/proc/%d/%s", at.Victim, f)
			if f == "exe" || f == "cwd" || f == "root" || f == "fd/0" {
				_, err := os.Readlink(p)
				return err
			}
			fd, err := unix.Open(p, unix.O_RDONLY|unix.O_CLOEXEC, 0)
			if err != nil || f == "mem" {
				return err
			}
			n, err := unix.Read(fd, make([]byte, 64))
			if err == nil && n == 0 {
				return errHeld
			}
			return err
		}})
	}
	return out
}

func ignoreMissing(err error) error {
	if errors.Is(err, os.ErrNotExist) {
		return nil
	}
	return err
}

// firstMapping is an address in a process.
func firstMapping(pid int) uintptr {
	f, err := os.Open(fmt.Sprintf("/proc/%d/maps", pid))
	if err != nil {
		return 4096
	}
	defer f.Close()
	line, _ := bufio.NewReader(f).ReadString('\n')
	addr, _, _ := strings.Cut(line, "-")
	n, _ := strconv.ParseUint(addr, 16, 64)
	return uintptr(n)
}

// others are attempts on another process.
func others() []attempt {
	on := func(name string, f func(pid int) error) attempt {
		return attempt{name: name, do: func(at spot) error { return f(at.Victim) }}
	}
	return []attempt{
		on("signal", func(pid int) error { return unix.Kill(pid, unix.SIGCONT) }),
		on("ask for a signal", func(pid int) error { return unix.Kill(pid, 0) }),
		on("signal its thread", func(pid int) error { return unix.Tgkill(pid, pid, unix.SIGCONT) }),
		on("tkill", func(pid int) error { return raw(unix.SYS_TKILL, uintptr(pid), uintptr(unix.SIGCONT)) }),
		on("queue a signal", func(pid int) error {
			var info [128]byte
			*(*int32)(unsafe.Pointer(&info[0])) = int32(unix.SIGCONT)
			*(*int32)(unsafe.Pointer(&info[8])) = -1 // SI_QUEUE
			return raw(unix.SYS_RT_SIGQUEUEINFO, uintptr(pid), uintptr(unix.SIGCONT), uintptr(unsafe.Pointer(&info)))
		}),
		on("signal by a pidfd", func(pid int) error {
			fd, err := unix.PidfdOpen(pid, 0)
			if err != nil {
				return err
			}
			return unix.PidfdSendSignal(fd, unix.SIGCONT, nil, 0)
		}),
		on("signal by fcntl", func(pid int) error {
			var p [2]int
			if err := unix.Pipe2(p[:], unix.O_CLOEXEC); err != nil {
				return err
			}
			// The owner is set, but the signal is judged when it is sent: this one is never.
			if _, err := unix.FcntlInt(uintptr(p[0]), unix.F_SETOWN, pid); err != nil {
				return err
			}
			return unix.Kill(pid, unix.SIGCONT)
		}),
		on("take its descriptor", func(pid int) error {
			fd, err := unix.PidfdOpen(pid, 0)
			if err != nil {
				return err
			}
			_, err = unix.PidfdGetfd(fd, 0, 0)
			return err
		}),
		on("trace", func(pid int) error {
			runtime.LockOSThread()
			defer runtime.UnlockOSThread()
			if err := raw(unix.SYS_PTRACE, unix.PTRACE_SEIZE, uintptr(pid), 0, 0); err != nil {
				return err
			}
			_ = raw(unix.SYS_PTRACE, unix.PTRACE_INTERRUPT, uintptr(pid), 0, 0)
			var ws unix.WaitStatus
			_, _ = unix.Wait4(pid, &ws, unix.WALL, nil)
			return raw(unix.SYS_PTRACE, unix.PTRACE_DETACH, uintptr(pid), 0, 0)
		}),
		on("read its memory", func(pid int) error {
			b := make([]byte, 8)
			l := []unix.Iovec{{Base: &b[0], Len: 8}}
			_, err := unix.ProcessVMReadv(pid, l, []unix.RemoteIovec{{Base: firstMapping(pid), Len: 8}}, 0)
			return err
		}),
		on("kcmp", func(pid int) error { return raw(unix.SYS_KCMP, uintptr(pid), uintptr(os.Getpid()), 1, 0, 0) }),
		on("limits", func(pid int) error {
			var old unix.Rlimit
			if err := unix.Prlimit(pid, unix.RLIMIT_NOFILE, nil, &old); err != nil {
				return err
			}
			return unix.Prlimit(pid, unix.RLIMIT_NOFILE, &old, nil)
		}),
		on("priority", func(pid int) error { return unix.Setpriority(unix.PRIO_PROCESS, pid, 19) }),
		{name: "priority of a user", root: true, do: func(spot) error { return unix.Setpriority(unix.PRIO_PGRP, 0, 1) }}, // the group may hold others'
		on("affinity", func(pid int) error {
			var set unix.CPUSet
			if err := unix.SchedGetaffinity(pid, &set); err != nil {
				return err
			}
			return unix.SchedSetaffinity(pid, &set)
		}),
		on("scheduler", func(pid int) error {
			var p int32
			return raw(unix.SYS_SCHED_SETSCHEDULER, uintptr(pid), 0, uintptr(unsafe.Pointer(&p)))
		}),
		on("input priority", func(pid int) error { return raw(unix.SYS_IOPRIO_SET, 1, uintptr(pid), 2<<13) }),
	}
}

func inet4(port int) *unix.SockaddrInet4 {
	return &unix.SockaddrInet4{Port: port, Addr: [4]byte{127, 0, 0, 1}}
}

func sock(family, kind, proto int, f func(fd int) error) error {
	fd, err := unix.Socket(family, kind|unix.SOCK_CLOEXEC, proto)
	if err != nil {
		return err
	}
	defer unix.Close(fd)
	if f == nil {
		return nil
	}
	return f(fd)
}

// networks are attempts to talk to what is outside.
func networks() []attempt {
	to := func(name string, f func(spot) error) attempt { return attempt{name: name, do: f} }
	connect := func(family, kind int, sa func(spot) unix.Sockaddr) func(spot) error {
		return func(at spot) error {
			return sock(family, kind, 0, func(fd int) error { return unix.Connect(fd, sa(at)) })
		}
	}
	tcp := func(at spot) unix.Sockaddr { return inet4(at.TCP) }
	udp := func(at spot) unix.Sockaddr { return inet4(at.UDP) }
	stream := func(at spot) unix.Sockaddr { return &unix.SockaddrUnix{Name: at.Stream} }
	gram := func(at spot) unix.Sockaddr { return &unix.SockaddrUnix{Name: at.Datagram} }
	abstract := func(at spot) unix.Sockaddr { return &unix.SockaddrUnix{Name: at.Abstract} }
	return []attempt{
		to("TCP", connect(unix.AF_INET, unix.SOCK_STREAM, tcp)),
		to("TCP over IPv6", func(at spot) error {
			if at.TCP6 == at.TCP { // no IPv6 here
				return connect(unix.AF_INET, unix.SOCK_STREAM, tcp)(at)
			}
			return sock(unix.AF_INET6, unix.SOCK_STREAM, 0, func(fd int) error {
				return unix.Connect(fd, &unix.SockaddrInet6{Port: at.TCP6, Addr: [16]byte{15: 1}})
			})
		}),
		to("TCP by Go", func(at spot) error {
			c, err := net.Dial("tcp", "127.0.0.1:"+strconv.Itoa(at.TCP))
			if err == nil {
				c.Close()
			}
			return err
		}),
		to("TCP fast open", func(at spot) error {
			return sock(unix.AF_INET, unix.SOCK_STREAM, 0, func(fd int) error { return unix.Sendto(fd, []byte("x"), unix.MSG_FASTOPEN, tcp(at)) })
		}),
		to("TCP fast open by sendmsg", func(at spot) error {
			return sock(unix.AF_INET, unix.SOCK_STREAM, 0, func(fd int) error { return unix.Sendmsg(fd, []byte("x"), nil, tcp(at), unix.MSG_FASTOPEN) })
		}),
		to("multipath TCP", func(at spot) error {
			return sock(unix.AF_INET, unix.SOCK_STREAM, 0, func(fd int) error { return unix.Connect(fd, tcp(at)) })
		}),
		to("UDP", connect(unix.AF_INET, unix.SOCK_DGRAM, udp)),
		to("UDP by sendto", func(at spot) error {
			return sock(unix.AF_INET, unix.SOCK_DGRAM, 0, func(fd int) error { return unix.Sendto(fd, []byte("x"), 0, udp(at)) })
		}),
		to("UDP by sendmsg", func(at spot) error {
			return sock(unix.AF_INET, unix.SOCK_DGRAM, 0, func(fd int) error { return unix.Sendmsg(fd, []byte("x"), nil, udp(at), 0) })
		}),
		{name: "raw", root: true, do: func(spot) error { return sock(unix.AF_INET, unix.SOCK_RAW, unix.IPPROTO_ICMP, nil) }},
		{name: "packet", root: true, do: func(spot) error { return sock(unix.AF_PACKET, unix.SOCK_DGRAM, 0, nil) }},
		to("netlink", func(spot) error { return sock(unix.AF_NETLINK, unix.SOCK_RAW, unix.NETLINK_ROUTE, nil) }),
		to("resolve a name", func(at spot) error {
			return sock(unix.AF_INET, unix.SOCK_DGRAM, 0, func(fd int) error { return unix.Connect(fd, inet4(53)) })
		}),
		to("bash's /dev/tcp", func(at spot) error {
			return exec.Command("/bin/bash", "-c", "echo x > /dev/tcp/127.0.0.1/"+strconv.Itoa(at.TCP)).Run()
		}),
		to("unix stream", connect(unix.AF_UNIX, unix.SOCK_STREAM, stream)),
		to("unix datagram", connect(unix.AF_UNIX, unix.SOCK_DGRAM, gram)),
		to("unix datagram by sendto", func(at spot) error {
			return sock(unix.AF_UNIX, unix.SOCK_DGRAM, 0, func(fd int) error { return unix.Sendto(fd, []byte("x"), 0, gram(at)) })
		}),
		to("unix datagram by sendmsg", func(at spot) error {
			return sock(unix.AF_UNIX, unix.SOCK_DGRAM, 0, func(fd int) error { return unix.Sendmsg(fd, []byte("x"), nil, gram(at), 0) })
		}),
		to("unix datagram by a pair", func(at spot) error {
			fds, err := unix.Socketpair(unix.AF_UNIX, unix.SOCK_DGRAM|unix.SOCK_CLOEXEC, 0)
			if err != nil {
				return err
			}
			return unix.Sendto(fds[0], []byte("x"), 0, gram(at))
		}),
		to("abstract", connect(unix.AF_UNIX, unix.SOCK_STREAM, abstract)),
		to("unix by a link", func(at spot) error {
			l := filepath.Join(at.in, "sl")
			_ = os.Symlink(at.Stream, l)
			fd, err := unix.Open(at.in, unix.O_PATH|unix.O_CLOEXEC, 0)
			if err != nil {
				return err
			}
			return sock(unix.AF_UNIX, unix.SOCK_STREAM, 0, func(s int) error { return unix.Connect(s, &unix.SockaddrUnix{Name: self(fd) + "/sl"}) })
		}),
	}
}

func kernels() []attempt {
	private := func(at spot) {
		if at.Control {
			_ = unix.Mount("", "/", "", unix.MS_REC|unix.MS_PRIVATE, "")
		}
	}
	asRoot := func(name string, f func(spot) error) attempt { return attempt{name: name, do: f, root: true} }
	all := func(name string, f func(spot) error) attempt { return attempt{name: name, do: f} }
	// What gives the process something for good is done by a child.
	child := func(name, line string) attempt {
		return asRoot(name, func(at spot) error {
			private(at)
			c := exec.Command("/bin/sh", "-c", line)
			c.Dir = at.in
			return c.Run()
		})
	}
	out := []attempt{
		{name: "a lease, for which all who write the file wait", root: true, some: true, do: func(spot) error {
			fd, err := unix.Open("/bin/sh", unix.O_RDONLY|unix.O_CLOEXEC, 0)
			if err != nil {
				return err
			}
			defer unix.Close(fd)
			_, err = unix.FcntlInt(uintptr(fd), unix.F_SETLEASE, unix.F_RDLCK)
			return err
		}},
		asRoot("mount a tmpfs", func(at spot) error {
			private(at)
			return unix.Mount("none", filepath.Join(at.in, "sub"), "tmpfs", 0, "")
		}),
		asRoot("bind a folder", func(at spot) error {
			private(at)
			return unix.Mount(at.out, filepath.Join(at.in, "sub"), "", unix.MS_BIND, "")
		}),
		asRoot("open_tree", func(at spot) error {
			fd, err := unix.OpenTree(unix.AT_FDCWD, at.out, unix.OPEN_TREE_CLONE|unix.OPEN_TREE_CLOEXEC)
			if err == nil {
				_ = unix.Close(fd)
			}
			return err
		}),
		asRoot("fsopen", func(spot) error { _, err := unix.Fsopen("tmpfs", unix.FSOPEN_CLOEXEC); return err }),
		child("unshare mounts", "unshare -m true"),
		child("unshare a user", "unshare -U true"),
		child("unshare the network", "unshare -n true"),
		child("chroot", "/usr/sbin/chroot / true"),
		child("host name", "hostname sandboxed"),
		child("another user", "setpriv --reuid 4713 --clear-groups true"),
		asRoot("enter namespaces", func(at spot) error {
			fd, err := unix.Open(fmt.Sprintf("/proc/%d/ns/uts", at.Victim), unix.O_RDONLY|unix.O_CLOEXEC, 0)
			if err != nil {
				return err
			}
			runtime.LockOSThread() // for good: the thread ends with the process
			return unix.Setns(fd, unix.CLONE_NEWUTS)
		}),
		all("file handles", func(at spot) error {
			_, _, err := unix.NameToHandleAt(unix.AT_FDCWD, filepath.Join(at.in, "free"), 0)
			return err
		}),
		asRoot("open by handle", func(at spot) error {
			h, _, err := unix.NameToHandleAt(unix.AT_FDCWD, filepath.Join(at.out, "file"), 0)
			if err != nil {
				return err
			}
			d, err := unix.Open(at.in, unix.O_RDONLY|unix.O_CLOEXEC, 0)
			if err != nil {
				return err
			}
			_, err = unix.OpenByHandleAt(d, h, unix.O_RDONLY)
			return err
		}),
		asRoot("device file", func(at spot) error {
			return unix.Mknod(filepath.Join(at.in, "dev"), unix.S_IFCHR|0o666, int(unix.Mkdev(1, 3)))
		}),
		asRoot("device file in the temporary folder", func(spot) error {
			return unix.Mknod(filepath.Join(os.TempDir(), "dev"+strconv.Itoa(os.Getpid())), unix.S_IFBLK|0o666, int(unix.Mkdev(7, 99)))
		}),
		all("shared memory", func(spot) error {
			id, err := unix.SysvShmGet(unix.IPC_PRIVATE, 4096, 0o600)
			if err == nil {
				_, err = unix.SysvShmCtl(id, unix.IPC_RMID, nil)
			}
			return err
		}),
		all("message queue", func(spot) error { return raw(unix.SYS_MSGGET, 0, 0o600) }),
		all("semaphores", func(spot) error { return raw(unix.SYS_SEMGET, 0, 1, 0o600) }),
		all("shared memory files of others", func(spot) error {
			f, err := os.CreateTemp("/dev/shm", "pawl")
			if err == nil {
				f.Close()
				err = os.Remove(f.Name())
			}
			return err
		}),
		asRoot("perf", func(spot) error {
			fd, err := unix.PerfEventOpen(&unix.PerfEventAttr{Type: unix.PERF_TYPE_SOFTWARE, Config: unix.PERF_COUNT_SW_CPU_CLOCK, Size: unix.PERF_ATTR_SIZE_VER0}, 0, -1, -1, 0)
			if err == nil {
				_ = unix.Close(fd)
			}
			return err
		}),
		all("io_uring", func(spot) error {
			var p [120]byte
			fd, _, errno := unix.Syscall(unix.SYS_IO_URING_SETUP, 1, uintptr(unsafe.Pointer(&p)), 0)
			if errno != 0 {
				return errno
			}
			return unix.Close(int(fd))
		}),
		all("keys of the kernel", func(spot) error {
			_, err := unix.AddKey("user", "pawl", []byte("x"), unix.KEY_SPEC_PROCESS_KEYRING)
			return err
		}),
		all("a keyring", func(spot) error { _, err := unix.KeyctlGetKeyringID(unix.KEY_SPEC_SESSION_KEYRING, true); return err }),
		asRoot("input of a terminal", func(spot) error {
			m, err := unix.Open("/dev/ptmx", unix.O_RDWR|unix.O_NOCTTY|unix.O_CLOEXEC, 0)
			if err != nil {
				return err
			}
			defer unix.Close(m)
			c := byte('x')
			return raw(unix.SYS_IOCTL, uintptr(m), unix.TIOCSTI, uintptr(unsafe.Pointer(&c)))
		}),
		asRoot("input of a terminal, with high bits", func(spot) error {
			m, err := unix.Open("/dev/ptmx", unix.O_RDWR|unix.O_NOCTTY|unix.O_CLOEXEC, 0)
			if err != nil {
				return err
			}
			defer unix.Close(m)
			c, high := byte('x'), uintptr(1)<<40
			return raw(unix.SYS_IOCTL, uintptr(m), high|unix.TIOCSTI, uintptr(unsafe.Pointer(&c)))
		}),
		asRoot("bpf", func(spot) error {
			attr := [3]uint32{1, 4, 4}
			var all [128]byte
			*(*[3]uint32)(unsafe.Pointer(&all)) = attr
			*(*uint32)(unsafe.Pointer(&all[12])) = 1
			*(*uint32)(unsafe.Pointer(&all[0])) = 2 // an array
			fd, _, errno := unix.Syscall(unix.SYS_BPF, 0, uintptr(unsafe.Pointer(&all)), 128)
			if errno != 0 {
				return errno
			}
			return unix.Close(int(fd))
		}),
		asRoot("userfaultfd", func(spot) error {
			fd, _, errno := unix.Syscall(unix.SYS_USERFAULTFD, unix.O_CLOEXEC, 0, 0)
			if errno != 0 {
				return errno
			}
			return unix.Close(int(fd))
		}),
		asRoot("fanotify", func(spot) error { fd, err := unix.FanotifyInit(unix.FAN_CLOEXEC, 0); _ = unix.Close(fd); return err }),
		all("another terminal", func(at spot) error {
			fd, err := unix.Open(at.Terminal, unix.O_RDWR|unix.O_NOCTTY|unix.O_CLOEXEC, 0)
			if err == nil {
				_ = unix.Close(fd)
			}
			return err
		}),
		all("a child of pawl's", func(at spot) error {
			// clone(CLONE_PARENT) that fails for another reason after the flags
			// are judged: it has no thread group without CLONE_SIGHAND.
			err := raw(unix.SYS_CLONE, unix.CLONE_PARENT|unix.CLONE_THREAD)
			if errors.Is(err, unix.EINVAL) {
				return nil
			}
			return err
		}),
		all("calls of 32 bits", func(at spot) error {
			p := filepath.Join(at.in, "i386")
			if err := must.WriteProgram(p, string(exits42()), 0o755); err != nil {
				return err
			}
			var exit *exec.ExitError
			if err := exec.Command(p).Run(); !errors.As(err, &exit) || exit.ExitCode() != 42 {
				return fmt.Errorf("%w: %v", errHeld, err)
			}
			return nil
		}),
		all("openat2", func(at spot) error {
			_, err := unix.Openat2(unix.AT_FDCWD, filepath.Join(at.in, ".git/hooks/file"), &unix.OpenHow{Flags: unix.O_WRONLY})
			return err
		}),
		all("core size of one's own", func(at spot) error {
			var l unix.Rlimit
			if err := unix.Getrlimit(unix.RLIMIT_CORE, &l); err != nil {
				return err
			}
			if l.Max == 0 {
				return errHeld
			}
			return nil
		}),
		all("a privilege by set-uid", func(at spot) error {
			v, err := unix.PrctlRetInt(unix.PR_GET_NO_NEW_PRIVS, 0, 0, 0, 0)
			if err == nil && v == 1 {
				return errHeld
			}
			return err
		}),
	}
	for i := range out {
		out[i].some = strings.Contains(" io_uring; keys of the kernel; a keyring; input of a terminal; input of a terminal, with high bits; bpf; userfaultfd; fanotify; calls of 32 bits; perf; ", " "+out[i].name+"; ")
	}
	return out
}

// exits42 is a program of 32 bits for x86 that makes one call: exit(42).
func exits42() []byte {
	code := []byte{0xb8, 1, 0, 0, 0, 0xbb, 42, 0, 0, 0, 0xcd, 0x80}
	le := binary.LittleEndian
	h := append([]byte{0x7f, 'E', 'L', 'F', 1, 1, 1}, make([]byte, 9)...)
	h = le.AppendUint16(le.AppendUint16(h, 2), 3) // executable, 386
	for _, v := range []uint32{1, 0x8048054, 52, 0, 0} {
		h = le.AppendUint32(h, v)
	}
	for _, v := range []uint16{52, 32, 1, 0, 0, 0} {
		h = le.AppendUint16(h, v)
	}
	size := uint32(52 + 32 + len(code))
	for _, v := range []uint32{1, 0, 0x8048000, 0x8048000, size, size, 5, 0x1000} {
		h = le.AppendUint32(h, v)
	}
	return append(h, code...)
}
