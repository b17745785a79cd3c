//go:build linux && (amd64 || arm64) && contained

package sandbox

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"
	"unsafe"

	"golang.org/x/sys/unix"

	"github.com/pawl-agent/pawl/internal/core/must"
	"github.com/pawl-agent/pawl/internal/policy/confine"
)

// What Docker's default profile refuses a container without more capabilities,
// after github.com/moby/profiles, seccomp/default.json. Calls that pawl uses and
// this leaves out would be a wrong proof; calls that it lists and nobody uses
// cost nothing.
var dockerRefuses = []uint32{
	unix.SYS_BPF, unix.SYS_FANOTIFY_INIT, unix.SYS_FSCONFIG, unix.SYS_FSMOUNT, unix.SYS_FSOPEN, unix.SYS_FSPICK, unix.SYS_LOOKUP_DCOOKIE,
	unix.SYS_MOUNT, unix.SYS_MOUNT_SETATTR, unix.SYS_MOVE_MOUNT, unix.SYS_OPEN_TREE, unix.SYS_PERF_EVENT_OPEN, unix.SYS_QUOTACTL, unix.SYS_QUOTACTL_FD,
	unix.SYS_SETDOMAINNAME, unix.SYS_SETHOSTNAME, unix.SYS_SETNS, unix.SYS_SYSLOG, unix.SYS_UMOUNT2, unix.SYS_UNSHARE, unix.SYS_REBOOT,
	unix.SYS_DELETE_MODULE, unix.SYS_INIT_MODULE, unix.SYS_FINIT_MODULE, unix.SYS_ACCT, unix.SYS_KCMP, unix.SYS_PIDFD_GETFD, unix.SYS_PROCESS_MADVISE,
	unix.SYS_SETTIMEOFDAY, unix.SYS_CLOCK_SETTIME, unix.SYS_VHANGUP, unix.SYS_GET_MEMPOLICY, unix.SYS_MBIND, unix.SYS_SET_MEMPOLICY, unix.SYS_SET_MEMPOLICY_HOME_NODE,
	unix.SYS_OPEN_BY_HANDLE_AT, unix.SYS_KEYCTL, unix.SYS_ADD_KEY, unix.SYS_REQUEST_KEY, unix.SYS_USERFAULTFD, unix.SYS_SWAPON, unix.SYS_SWAPOFF,
	unix.SYS_KEXEC_LOAD, unix.SYS_KEXEC_FILE_LOAD, unix.SYS_PIVOT_ROOT, unix.SYS_MIGRATE_PAGES, unix.SYS_MOVE_PAGES, unix.SYS_NFSSERVCTL,
	unix.SYS_IO_URING_SETUP, unix.SYS_IO_URING_ENTER, unix.SYS_IO_URING_REGISTER,
}

// dockerKeeps are the capabilities of a container's root.
const dockerKeeps = 1<<unix.CAP_CHOWN | 1<<unix.CAP_DAC_OVERRIDE | 1<<unix.CAP_FSETID | 1<<unix.CAP_FOWNER | 1<<unix.CAP_MKNOD | 1<<unix.CAP_NET_RAW |
	1<<unix.CAP_SETGID | 1<<unix.CAP_SETUID | 1<<unix.CAP_SETFCAP | 1<<unix.CAP_SETPCAP | 1<<unix.CAP_NET_BIND_SERVICE | 1<<unix.CAP_SYS_CHROOT | 1<<unix.CAP_KILL | 1<<unix.CAP_AUDIT_WRITE

// containedName is what the tests are called inside the container.
const containedName = "contained"

func init() { modes["contain"] = contain }

// contain makes this process a container's and becomes the tests: namespaces,
// another root, fewer capabilities, a filter.
func contain() int {
	fail := func(what string, err error) int {
		fmt.Println(what, err)
		return 1
	}
	root := os.Getenv("PAWL_CONTAIN_ROOT")
	if err := unix.Mount("", "/", "", unix.MS_REC|unix.MS_PRIVATE, ""); err != nil {
		return fail("private mounts:", err)
	}
	if err := unix.Mount("/", root, "", unix.MS_BIND|unix.MS_REC, ""); err != nil {
		return fail("bind:", err)
	}
	if err := unix.Mount("proc", filepath.Join(root, "proc"), "proc", 0, ""); err != nil {
		return fail("proc:", err)
	}
	here, err := os.Getwd()
	if err == nil {
		err = unix.Chroot(root)
	}
	if err == nil {
		err = os.Chdir(here)
	}
	if err != nil {
		return fail("chroot:", err)
	}
	f := filter{}
	f.each(dockerRefuses, eperm)
	f.each([]uint32{unix.SYS_CLONE3}, enosys)
	f.when(unix.SYS_CLONE, func(b *program) {
		b.arg(0)
		b.jump(unix.BPF_JSET, 0x7e020000, 0, 1)
		b.ret(eperm)
		b.ret(allow)
	})
	f.when(unix.SYS_SOCKET, func(b *program) {
		b.arg(0)
		b.either([]uint32{unix.AF_VSOCK, unix.AF_ALG}, eperm)
		b.ret(allow)
	})
	for nr := uint32(firstUnknown); nr < 512; nr++ {
		f.each([]uint32{nr}, allow)
	}
	p := f.compile()
	prog := unix.SockFprog{Len: uint16(len(p)), Filter: &p[0]}
	if _, _, errno := unix.Syscall(unix.SYS_SECCOMP, unix.SECCOMP_SET_MODE_FILTER, unix.SECCOMP_FILTER_FLAG_TSYNC, uintptr(unsafe.Pointer(&prog))); errno != 0 {
		return fail("seccomp:", errno)
	}
	for c := range unix.CAP_LAST_CAP + 1 {
		if dockerKeeps&(1<<c) == 0 {
			_ = unix.Prctl(unix.PR_CAPBSET_DROP, uintptr(c), 0, 0, 0)
		}
	}
	// With the bounding set, the new program's root has no more.
	_ = os.Unsetenv(modeVar)
	return fail("exec:", unix.Exec("/proc/self/exe", append([]string{containedName}, os.Args[1:]...), os.Environ()))
}

// SPEC 16.12: where pawl cannot take over sockets, commands have none, and a
// grant of hosts is refused with the reason. It is a test of the container that
// TestContained makes, and of nothing outside it.
func TestWithoutSockets(t *testing.T) {
	if os.Args[0] != containedName {
		return
	}
	if noSockets() == nil {
		t.Fatal("this container lets pawl take over sockets: it is not like Docker's default")
	}
	root := folder(t)
	box := open(t, confine.Workspace, root)
	if got := bash(t, box, root, "python3 -c 'import socket; socket.socket()' 2>&1 | tail -1"); !strings.Contains(got, "not supported") {
		t.Error(got)
	}
	var lack *Unsupported
	if _, err := Open(confine.New(confine.Workspace, confine.Facts{Root: root, Hosts: []string{"example.org"}})); !errors.As(err, &lack) {
		t.Error(err)
	}
}

// SPEC 16.12: in a container such as Docker's default, as root and as another
// user, the sandbox is whole.
func TestContained(t *testing.T) {
	if os.Getuid() != 0 {
		t.Fatal("a container is made by root")
	}
	root, err := os.MkdirTemp("/", "pawl-root")
	must.Do(t, err)
	t.Cleanup(func() {
		if err := os.Remove(root); err != nil { // empty: its mounts were another namespace's
			t.Error(err)
		}
	})
	tests := "TestNoEscape|TestProbe|TestRefusals|TestNothingRunsOn|TestForkBomb|TestRace|TestNested|TestOrdinary|TestWithoutSockets"
	ctx, cancel := context.WithTimeout(t.Context(), 2*time.Minute)
	defer cancel()
	cmd := exec.CommandContext(ctx, "/proc/self/exe", "-test.run", "^("+tests+")", "-test.v", "-test.timeout", "100s")
	cmd.Env = append(os.Environ(), modeVar+"=contain", "PAWL_CONTAIN_ROOT="+root)
	cmd.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL, Cloneflags: syscall.CLONE_NEWNS | syscall.CLONE_NEWPID | syscall.CLONE_NEWIPC | syscall.CLONE_NEWUTS}
	out, err := cmd.CombinedOutput()
	for line := range strings.Lines(string(out)) {
		if strings.HasPrefix(line, "--- ") || strings.Contains(line, "_test.go") || err != nil {
			t.Log(strings.TrimRight(line, "\n"))
		}
	}
	if err != nil {
		t.Error(err)
	}
	for name := range strings.SplitSeq(tests, "|") {
		if !strings.Contains(string(out), "--- PASS: "+name) {
			t.Errorf("no test %s passed in the container", name)
		}
	}
}
