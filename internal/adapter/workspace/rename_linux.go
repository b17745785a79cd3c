package workspace

import "golang.org/x/sys/unix"

type renameFlags = uint

const (
	noReplace renameFlags = unix.RENAME_NOREPLACE
	swap      renameFlags = unix.RENAME_EXCHANGE
)

func renameAt(fd int, from, to string, flags renameFlags) error {
	return unix.Renameat2(fd, from, fd, to, flags)
}
