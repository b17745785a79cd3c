package workspace

import "golang.org/x/sys/unix"

type renameFlags = uint32

const (
	noReplace renameFlags = unix.RENAME_EXCL
	swap      renameFlags = unix.RENAME_SWAP
)

func renameAt(fd int, from, to string, flags renameFlags) error {
	return unix.RenameatxNp(fd, from, fd, to, flags)
}
