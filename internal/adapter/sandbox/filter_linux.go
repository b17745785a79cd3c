//go:build amd64 || arm64

package sandbox

import (
	"maps"
	"math"
	"slices"

	"golang.org/x/sys/unix"

	"github.com/pawl-agent/pawl/internal/policy/confine"
)

// Where the fields of what a filter sees lie.
const (
	atNumber = 0
	atArch   = 4
	atArgs   = 16
)

func errnoAction(e unix.Errno) uint32 { return unix.SECCOMP_RET_ERRNO | uint32(e) }

const (
	allow = unix.SECCOMP_RET_ALLOW
	tell  = unix.SECCOMP_RET_USER_NOTIF
)

var (
	eperm  = errnoAction(unix.EPERM)
	enosys = errnoAction(unix.ENOSYS)
)

// Refused with EPERM at every level.
var refused = []uint32{
	// Other processes.
	unix.SYS_PTRACE, unix.SYS_PROCESS_VM_READV, unix.SYS_PROCESS_VM_WRITEV, unix.SYS_PROCESS_MADVISE, unix.SYS_PROCESS_MRELEASE,
	unix.SYS_KCMP, unix.SYS_PIDFD_GETFD, unix.SYS_MIGRATE_PAGES, unix.SYS_MOVE_PAGES,
	// Keys of the kernel, and what of it is rarely used and often attacked.
	unix.SYS_KEYCTL, unix.SYS_ADD_KEY, unix.SYS_REQUEST_KEY, unix.SYS_BPF, unix.SYS_PERF_EVENT_OPEN, unix.SYS_USERFAULTFD,
	// Namespaces and mounts.
	unix.SYS_UNSHARE, unix.SYS_SETNS, unix.SYS_MOUNT, unix.SYS_UMOUNT2, unix.SYS_PIVOT_ROOT, unix.SYS_CHROOT,
	unix.SYS_OPEN_TREE, unix.SYS_MOVE_MOUNT, unix.SYS_FSOPEN, unix.SYS_FSCONFIG, unix.SYS_FSMOUNT, unix.SYS_FSPICK, unix.SYS_MOUNT_SETATTR,
	// Files by another way than their path.
	unix.SYS_OPEN_BY_HANDLE_AT, unix.SYS_NAME_TO_HANDLE_AT, unix.SYS_FANOTIFY_INIT, unix.SYS_FANOTIFY_MARK,
	// The machine.
	unix.SYS_KEXEC_LOAD, unix.SYS_KEXEC_FILE_LOAD, unix.SYS_INIT_MODULE, unix.SYS_FINIT_MODULE, unix.SYS_DELETE_MODULE,
	unix.SYS_REBOOT, unix.SYS_SWAPON, unix.SYS_SWAPOFF, unix.SYS_ACCT, unix.SYS_QUOTACTL, unix.SYS_QUOTACTL_FD, unix.SYS_SYSLOG, unix.SYS_VHANGUP,
	unix.SYS_SETTIMEOFDAY, unix.SYS_CLOCK_SETTIME, unix.SYS_ADJTIMEX, unix.SYS_CLOCK_ADJTIME, unix.SYS_SETHOSTNAME, unix.SYS_SETDOMAINNAME,
	unix.SYS_LOOKUP_DCOOKIE, unix.SYS_NFSSERVCTL,
	// Memory and messages that others share, which Landlock does not see.
	unix.SYS_SHMGET, unix.SYS_SHMAT, unix.SYS_SHMCTL, unix.SYS_MSGGET, unix.SYS_MSGSND, unix.SYS_MSGRCV, unix.SYS_MSGCTL,
	unix.SYS_SEMGET, unix.SYS_SEMOP, unix.SYS_SEMTIMEDOP, unix.SYS_SEMCTL, unix.SYS_MQ_OPEN, unix.SYS_MQ_UNLINK,
}

// Missing: with ENOSYS programs use an older call, whose arguments the filter
// can see.
var missing = []uint32{unix.SYS_IO_URING_SETUP, unix.SYS_IO_URING_ENTER, unix.SYS_IO_URING_REGISTER, unix.SYS_CLONE3, unix.SYS_OPENAT2}

// Missing where pawl changes files and sockets for the command: it would do so
// with its own rights, for callers that restricted themselves further too. A
// restriction that does not hold must not be promised.
var landlock = []uint32{unix.SYS_LANDLOCK_CREATE_RULESET, unix.SYS_LANDLOCK_ADD_RULE, unix.SYS_LANDLOCK_RESTRICT_SELF}

// Of the newer numbers these are known to do no harm. What is not known is
// missing: a kernel's new call must not be a way around.
const firstUnknown = 335 // the calls from 424 on have one number everywhere

var harmlessNew = []uint32{
	unix.SYS_PIDFD_SEND_SIGNAL, unix.SYS_PIDFD_OPEN, unix.SYS_CLOSE_RANGE, unix.SYS_FACCESSAT2, unix.SYS_EPOLL_PWAIT2,
	unix.SYS_LANDLOCK_CREATE_RULESET, unix.SYS_LANDLOCK_ADD_RULE, unix.SYS_LANDLOCK_RESTRICT_SELF, unix.SYS_MEMFD_SECRET,
	unix.SYS_FUTEX_WAITV, unix.SYS_SET_MEMPOLICY_HOME_NODE, unix.SYS_CACHESTAT, unix.SYS_MAP_SHADOW_STACK,
	unix.SYS_FUTEX_WAKE, unix.SYS_FUTEX_WAIT, unix.SYS_FUTEX_REQUEUE, unix.SYS_MSEAL, unix.SYS_GETXATTRAT, unix.SYS_LISTXATTRAT,
}

// Changes of attributes: Landlock does not look at them, so they are refused
// where nothing may change, and else made by pawl.
var attributes = []uint32{
	unix.SYS_FCHMOD, unix.SYS_FCHMODAT, unix.SYS_FCHMODAT2, unix.SYS_FCHOWN, unix.SYS_FCHOWNAT, unix.SYS_UTIMENSAT,
}

// Changes of extended attributes: for a command no file system has them.
var extended = []uint32{
	unix.SYS_SETXATTR, unix.SYS_LSETXATTR, unix.SYS_FSETXATTR, unix.SYS_REMOVEXATTR, unix.SYS_LREMOVEXATTR, unix.SYS_FREMOVEXATTR,
}

// Changes of names and contents. Where nothing may change, Landlock refuses
// them alone.
var changes = []uint32{
	unix.SYS_TRUNCATE, unix.SYS_MKDIRAT, unix.SYS_MKNODAT, unix.SYS_RENAMEAT2,
	unix.SYS_LINKAT, unix.SYS_SYMLINKAT, unix.SYS_UNLINKAT,
}

const writing = unix.O_WRONLY | unix.O_RDWR | unix.O_CREAT | unix.O_TRUNC | (unix.O_TMPFILE &^ unix.O_DIRECTORY)

// program is a filter as it is written.
type program []unix.SockFilter

func (f *program) op(code uint16, k uint32) { *f = append(*f, unix.SockFilter{Code: code, K: k}) }
func (f *program) load(at uint32)           { f.op(unix.BPF_LD|unix.BPF_W|unix.BPF_ABS, at) }
func (f *program) arg(n uint32)             { f.load(atArgs + 8*n) } // its low half
func (f *program) ret(action uint32)        { f.op(unix.BPF_RET|unix.BPF_K, action) }

// jump goes over the next instructions: yes of them where the test holds, no
// where it does not.
func (f *program) jump(test uint16, k uint32, yes, no uint8) {
	*f = append(*f, unix.SockFilter{Code: unix.BPF_JMP | test | unix.BPF_K, Jt: yes, Jf: no, K: k})
}

// filter is a seccomp filter as it is written: what is answered to which call,
// by its number. The first answer to a call counts.
type filter map[uint32]program

// each answers calls by their number alone.
func (f filter) each(calls []uint32, action uint32) {
	for _, c := range calls {
		f.when(c, func(b *program) { b.ret(action) })
	}
}

// when answers a call by its arguments: body ends in ret on every way.
func (f filter) when(call uint32, body func(*program)) {
	if _, answered := f[call]; !answered {
		var b program
		body(&b)
		f[call] = b
	}
}

// either answers by the loaded value: with action where it is one of these.
func (f *program) either(values []uint32, action uint32) {
	for _, v := range values {
		f.jump(unix.BPF_JEQ, v, 0, 1)
		f.ret(action)
	}
}

// compile returns the program of a filter. The numbers are searched as in a tree, since
// the kernel goes through the program once for each call there is when it is
// loaded, which with a list took a third of the time of a command's start.
func (f filter) compile() []unix.SockFilter {
	var p program
	p.load(atArch)
	p.jump(unix.BPF_JEQ, arch, 1, 0)
	p.ret(unix.SECCOMP_RET_KILL_PROCESS) // 32-bit calls have other numbers
	p.load(atNumber)
	return append(p, search(f.spans())...)
}

// span is what is answered to the calls from a number on, to the next span's.
type span struct {
	from uint32
	body program
}

// spans returns the answers to all numbers: calls that the filter does not name are
// allowed where they are known, and else missing (x32 has its numbers there,
// with the same arch).
func (f filter) spans() []span {
	var out []span
	add := func(from uint32, body program) {
		if n := len(out); n == 0 || !slices.Equal(out[n-1].body, body) {
			out = append(out, span{from, body})
		}
	}
	var known, unknown program
	known.ret(allow)
	unknown.ret(enosys)
	rest := func(from, to uint32) { // those between two that are named
		if from < min(to, firstUnknown) {
			add(from, known)
		}
		if from = max(from, firstUnknown); from < to {
			add(from, unknown)
		}
	}
	next := uint32(0)
	for _, call := range slices.Sorted(maps.Keys(f)) {
		rest(next, call)
		add(call, f[call])
		next = call + 1
	}
	rest(next, math.MaxUint32)
	return out
}

// search goes to the span of the loaded number.
func search(spans []span) program {
	if len(spans) == 1 {
		return spans[0].body
	}
	half := len(spans) / 2
	below, above := search(spans[:half]), search(spans[half:])
	var p program
	p.jump(unix.BPF_JGE, spans[half].from, 0, 1)
	p.op(unix.BPF_JMP|unix.BPF_JA, uint32(len(below))) // further than a test can jump
	return append(append(p, below...), above...)
}

func compiled(p confine.Policy, held bool) []unix.SockFilter { return rules(p, held).compile() }

// rules returns the filter of a policy. held: the supervisor opens for reading as well;
// it does so where a rule is about reading.
func rules(p confine.Policy, held bool) filter {
	f := filter{}
	held = held || p.RulesReads()
	f.each(refused, eperm)
	f.each(missing, enosys)
	f.each(oldRefused, eperm)
	f.each(extended, errnoAction(unix.EOPNOTSUPP))
	if p.Level >= confine.Workspace || len(p.Lists) > 0 || held {
		f.each(landlock, enosys)
	}
	if p.Level >= confine.Workspace {
		f.each(attributes, tell)
		f.each(oldAttributes, tell)
		f.each(changes, tell)
		f.each([]uint32{unix.SYS_UMASK}, tell)     // what new files get
		f.each([]uint32{unix.SYS_FALLOCATE}, tell) // which no counter of a process tells
		f.each(oldChanges, tell)
		f.opens(writing, held)
	} else {
		f.each(attributes, eperm)
		f.each(oldAttributes, eperm)
		if len(p.Lists) > 0 || held {
			f.opens(unix.O_DIRECTORY, held)
		}
	}
	f.processes()
	f.sockets(p.Loopback && p.Level >= confine.Workspace)
	f.each(harmlessNew, allow)
	return f
}

// opens hands over what opens with one of some flags, or all that opens.
func (f filter) opens(of uint32, all bool) {
	flags := func(n uint32) func(*program) {
		return func(b *program) {
			b.arg(n)
			if all {
				b.jump(unix.BPF_JSET, unix.O_PATH, 0, 1) // neither reads nor writes
				b.ret(allow)
				b.ret(tell)
				return
			}
			b.jump(unix.BPF_JSET, of, 0, 1)
			b.ret(tell)
			b.ret(allow)
		}
	}
	f.when(unix.SYS_OPENAT, flags(2))
	if oldOpen != 0 {
		f.when(oldOpen, flags(1))
	}
}

// setDelegation is F_SETDELEG of newer kernels, a lease that holds for folders, too.
const setDelegation = unix.F_SETLEASE + 16

// processes keeps from others what Landlock's scope does not.
func (f filter) processes() {
	f.when(unix.SYS_CLONE, func(b *program) {
		b.arg(0)
		b.jump(unix.BPF_JSET, unix.CLONE_NEWNS|unix.CLONE_NEWCGROUP|unix.CLONE_NEWUTS|unix.CLONE_NEWIPC|unix.CLONE_NEWUSER|unix.CLONE_NEWPID|unix.CLONE_NEWNET|
			unix.CLONE_PARENT, 0, 1) // a child of pawl would outlive the command as its zombie
		b.ret(eperm)
		b.ret(allow)
	})
	f.ioctls()
	// Who opens a file with a lease for writing waits for its holder, who needs only
	// to read it.
	f.when(unix.SYS_FCNTL, func(b *program) {
		b.arg(1)
		b.either([]uint32{unix.F_SETLEASE, setDelegation}, eperm)
		b.ret(allow)
	})
	f.when(unix.SYS_PRCTL, func(b *program) {
		b.arg(0)
		b.jump(unix.BPF_JEQ, unix.PR_SET_PTRACER, 0, 1)
		b.ret(eperm)
		b.ret(allow)
	})
	// With pid 0 they mean the caller.
	own := func(n uint32) func(*program) {
		return func(b *program) {
			b.arg(n)
			b.jump(unix.BPF_JEQ, 0, 0, 1)
			b.ret(allow)
			b.ret(eperm)
		}
	}
	f.when(unix.SYS_PRLIMIT64, func(b *program) {
		b.arg(0)
		b.jump(unix.BPF_JEQ, 0, 0, 1)
		b.ret(allow)
		b.arg(2) // no new limit: only a look
		b.jump(unix.BPF_JEQ, 0, 0, 3)
		b.load(atArgs + 8*2 + 4)
		b.jump(unix.BPF_JEQ, 0, 0, 1)
		b.ret(allow)
		b.ret(eperm)
	})
	f.when(unix.SYS_SCHED_SETPARAM, own(0))
	f.when(unix.SYS_SCHED_SETSCHEDULER, own(0))
	f.when(unix.SYS_SCHED_SETATTR, own(0))
	f.when(unix.SYS_SCHED_SETAFFINITY, own(0))
	f.when(unix.SYS_SETPRIORITY, func(b *program) { // of a process, not of a user's all
		b.arg(0)
		b.jump(unix.BPF_JEQ, unix.PRIO_PROCESS, 0, 3)
		b.arg(1)
		b.jump(unix.BPF_JEQ, 0, 0, 1)
		b.ret(allow)
		b.ret(eperm)
	})
	f.when(unix.SYS_IOPRIO_SET, func(b *program) {
		b.arg(0)
		b.jump(unix.BPF_JEQ, 1, 0, 3)
		b.arg(1)
		b.jump(unix.BPF_JEQ, 0, 0, 1)
		b.ret(allow)
		b.ret(eperm)
	})
}

// Some ioctls change what a descriptor leads to though it was opened for
// reading: flags of a file (chattr, verity), new subvolumes of Btrfs. They are
// refused by the kind of file system that they are of, but for those that look,
// and those that need a file opened for writing.
var (
	changingKinds = []uint32{'f', 'v', 'X', 0x94, 0xbc, 0xf5, 'K'} // K: the keys of a console
	harmlessIoctl = []uint32{
		unix.FS_IOC_GETFLAGS, unix.FICLONE, unix.FICLONERANGE, unix.FIDEDUPERANGE,
		0x80047601, 0x80087601, 0xc020660b, 0x801c581f, // GETVERSION, FIEMAP, FSGETXATTR
	}
)

func (f filter) ioctls() {
	f.when(unix.SYS_IOCTL, func(b *program) {
		b.arg(1) // the kernel ignores the high half, and so does this
		b.either(harmlessIoctl, allow)
		b.either([]uint32{unix.TIOCSTI, unix.TIOCLINUX, unix.TIOCSETD}, eperm)
		b.op(unix.BPF_ALU|unix.BPF_AND|unix.BPF_K, 0xff00)
		for _, k := range changingKinds {
			b.jump(unix.BPF_JEQ, k<<8, 0, 1)
			b.ret(eperm)
		}
		b.ret(allow)
	})
}
