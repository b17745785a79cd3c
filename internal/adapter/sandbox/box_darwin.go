package sandbox

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"sync"
	"syscall"
	"time"

	"golang.org/x/sys/unix"

	"github.com/pawl-agent/pawl/internal/policy/confine"
)

// Holds: Seatbelt refuses at once.
const Holds = false

// Box confines commands by one policy. Commands in it share its temporary
// folder and nothing else.
type Box = seatbeltBox

// Child is a confined command.
type Child = seatbeltChild

// start is Start: Seatbelt holds no call.
func (b *seatbeltBox) start(cmd *exec.Cmd, _ holding) (*seatbeltChild, error) {
	return b.Start(cmd)
}

// share does nothing: commands here reach no server.
func (b *seatbeltBox) share(*seatbeltBox) {}

// hostSeatbelt is tested once in a process.
var hostSeatbelt = sync.OnceValue(func() *seatbelt {
	self, err := os.Executable()
	if err == nil {
		self = real(self)
	}
	return &seatbelt{program: "/usr/bin/sandbox-exec", self: self, limit: time.Minute, list: processes, canProtect: apfs, selfTests: systemSelfTests()}
})

// Open makes a box. If Seatbelt cannot keep the package's promises, the error is
// an *Unsupported.
func Open(p confine.Policy) (*Box, error) { return hostSeatbelt().open(p) }

// Probe returns the result of each promise's tests.
func Probe() []Proof { return hostSeatbelt().proofs() }

func tryKernel(bool) error { return hostSeatbelt().verify() }

// apfs refuses other file systems: HFS+ ignores invisible characters in names, FAT has
// short names, and what a network file system does is not known.
func apfs(folder string) error {
	var st unix.Statfs_t
	if err := unix.Statfs(folder, &st); err != nil {
		return err
	}
	if kind := unix.ByteSliceToString(st.Fstypename[:]); kind != "apfs" {
		return fmt.Errorf("%s is on a file system (%s) that may take other names for protected ones", folder, kind)
	}
	return nil
}

func processes() ([]processInfo, error) {
	all, err := unix.SysctlKinfoProcSlice("kern.proc.uid", os.Getuid())
	if err != nil {
		return nil, err
	}
	out := make([]processInfo, 0, len(all))
	for i := range all {
		p := &all[i]
		out = append(out, processInfo{
			pid: int(p.Proc.P_pid), parent: int(p.Eproc.Ppid), group: int(p.Eproc.Pgid), started: p.Proc.P_starttime.Nano(), dead: p.Proc.P_stat == 5, // SZOMB of sys/proc.h
		})
	}
	return out, nil
}

// systemSelfTests returns the tests of what only macOS has: other names of a file, clones,
// exchanges, and the arguments of processes.
func systemSelfTests() []selfTest {
	at := func(t targets, name string) string { return filepath.Join(t.Work, name) }
	const data = "/System/Volumes/Data"
	byNumber := func(file string) string {
		var st syscall.Stat_t
		if err := syscall.Stat(file, &st); err != nil {
			return file
		}
		return "/.vol/" + strconv.Itoa(int(st.Dev)) + "/" + strconv.FormatUint(st.Ino, 10)
	}
	return []selfTest{
		{"no read of a key", "by the data volume", false, 0, func(t targets) error { return readFrom(data + filepath.Join(t.Keys, "id")) }},
		{"no read of a key", "by number", false, 0, func(t targets) error { return readFrom(byNumber(filepath.Join(t.Keys, "id"))) }},
		{"no read of a key", "by a clone", false, 0, func(t targets) error {
			return unix.Clonefile(filepath.Join(t.Keys, "id"), at(t, "cloned"), 0)
		}},
		{"no read of a key", "the arguments and the environment of pawl", false, 0, func(t targets) error {
			_, err := unix.SysctlRaw("kern.procargs2", t.Parent)
			return err
		}},
		{"no write outside", "by the data volume", false, 0, func(t targets) error { return writeTo(data + filepath.Join(t.Outside, "new")) }},
		{"no write outside", "by number", false, 0, func(t targets) error { return writeTo(byNumber(filepath.Join(t.Outside, "file"))) }},
		{"no write outside", "exchange", false, 'w', func(t targets) error {
			return unix.RenameatxNp(unix.AT_FDCWD, at(t, "free"), unix.AT_FDCWD, filepath.Join(t.Outside, "file"), unix.RENAME_SWAP)
		}},
		{"protected files stay", "by the data volume", false, 'w', func(t targets) error { return writeTo(data + at(t, "AGENTS.md")) }},
		{"protected files stay", "by number", false, 'w', func(t targets) error { return writeTo(byNumber(at(t, "AGENTS.md"))) }},
		{"protected files stay", "a clone as one", false, 'w', func(t targets) error {
			return unix.Clonefile(at(t, "free"), at(t, ".git/hooks/post-merge"), 0)
		}},
		{"protected files stay", "exchange", false, 'w', func(t targets) error {
			return unix.RenameatxNp(unix.AT_FDCWD, at(t, "free"), unix.AT_FDCWD, at(t, ".git/config"), unix.RENAME_SWAP)
		}},
	}
}
