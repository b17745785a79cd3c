//go:build amd64 || arm64

package sandbox

import (
	"errors"
	"fmt"
	"net"
	"os"
	"path/filepath"

	"golang.org/x/sys/unix"

	"github.com/pawl-agent/pawl/internal/policy/confine"
)

// Probe tries the promises on a thread that is confined like a command's and
// ends afterwards. It asks the kernel for no version: what is refused is.
func Probe() []Proof {
	dir, drop, err := ownTemp()
	if err != nil {
		return []Proof{{"sandbox", err}}
	}
	defer func() { _ = drop() }()
	work, key := filepath.Join(dir, "work"), filepath.Join(dir, "keys")
	for _, d := range []string{work, key, filepath.Join(work, ".git/hooks")} {
		if err := os.MkdirAll(d, 0o700); err != nil {
			return []Proof{{"sandbox", err}}
		}
	}
	secret := filepath.Join(key, "id")
	if err := os.WriteFile(secret, []byte("secret"), 0o600); err != nil {
		return []Proof{{"sandbox", err}}
	}
	box, err := Open(confine.New(confine.Workspace, confine.Facts{Root: work, State: []string{key}}))
	if err != nil {
		return []Proof{{"sandbox", err}}
	}
	defer box.Close()
	server, err := net.Listen("tcp4", "127.0.0.1:0")
	if err != nil {
		return []Proof{{"sandbox", err}}
	}
	defer server.Close()
	out := make(chan []Proof)
	onThread(func() {
		sup, err := restrict(box, holding{})
		if err != nil {
			out <- []Proof{{"sandbox", err}}
			return
		}
		proofs := attempts(work, key, secret, server.Addr().(*net.TCPAddr).Port)
		sup.stop()
		out <- proofs
	})
	return <-out
}

// attempts are made on the confined thread.
func attempts(work, key, secret string, port int) []Proof {
	write := func(file string) error {
		fd, err := unix.Open(file, unix.O_WRONLY|unix.O_CREAT|unix.O_CLOEXEC, 0o600)
		if err == nil {
			_ = unix.Close(fd)
		}
		return err
	}
	socket := func(family, kind int) error {
		fd, err := unix.Socket(family, kind|unix.SOCK_CLOEXEC, 0)
		if err == nil {
			_ = unix.Close(fd)
		}
		return err
	}
	connect := func(port int) error {
		fd, err := unix.Socket(unix.AF_INET, unix.SOCK_STREAM|unix.SOCK_CLOEXEC, 0)
		if err == nil {
			err = unix.Connect(fd, &unix.SockaddrInet4{Port: port, Addr: local4.As4()})
			_ = unix.Close(fd)
		}
		return err
	}
	read := func(file string) error {
		fd, err := unix.Open(file, unix.O_RDONLY|unix.O_CLOEXEC, 0)
		if err == nil {
			_ = unix.Close(fd)
		}
		return err
	}
	var out []Proof
	works := func(promise string, err error) {
		if err != nil {
			err = fmt.Errorf("does not work: %w", err)
		}
		out = append(out, Proof{promise, err})
	}
	refuses := func(promise string, errs ...error) {
		var bad error
		for _, err := range errs {
			if err == nil {
				bad = errors.New("an attempt was not refused")
			}
		}
		out = append(out, Proof{promise, bad})
	}
	works("commands write in the workspace", write(filepath.Join(work, "new")))
	refuses("no write outside", write(filepath.Join(key, "new")), unix.Chmod(secret, 0o644), unix.Unlink(secret))
	refuses("protected files stay", write(filepath.Join(work, ".git/hooks/pre-commit")), write(filepath.Join(work, "AGENTS.md")), unix.Rename(filepath.Join(work, ".git"), filepath.Join(work, "g")))
	refuses("no read of a key", read(secret))
	if noSockets() == nil { // else they have no sockets at all, and the promise holds
		works("commands connect to servers of their own", ownServer(connect))
	}
	refuses("no network", connect(port), socket(unix.AF_INET6, unix.SOCK_DGRAM), socket(unix.AF_NETLINK, unix.SOCK_RAW), socket(unix.AF_UNIX, unix.SOCK_DGRAM))
	refuses("no signal to processes outside", outside())
	refuses("no mounts, namespaces and privileges", unix.Unshare(unix.CLONE_NEWUSER), unix.Mount("none", work, "tmpfs", 0, ""), unix.Chroot(work))
	return out
}

func ownServer(connect func(port int) error) error {
	fd, err := unix.Socket(unix.AF_INET, unix.SOCK_STREAM|unix.SOCK_CLOEXEC, 0)
	if err != nil {
		return err
	}
	defer unix.Close(fd)
	if err := unix.Listen(fd, 1); err != nil {
		return err
	}
	at, err := unix.Getsockname(fd)
	if err != nil {
		return err
	}
	return connect(int(addrPort(at).Port()))
}

// outside returns nil if pawl's parent could be signalled.
func outside() error {
	if parent := unix.Getppid(); parent > 0 {
		return unix.Kill(parent, 0)
	}
	return unix.EPERM // in a process namespace of its own pawl has no parent
}
