package lsp

import (
	"bytes"
	"os"
	"strconv"
)

// memoryOf returns the resident memory of a process group, in bytes. The whole group
// counts, since some servers start processes that do the work.
func memoryOf(pid int) int64 {
	entries, err := os.ReadDir("/proc")
	if err != nil {
		return 0
	}
	var pages int64
	for _, e := range entries {
		if _, err := strconv.Atoi(e.Name()); err != nil {
			continue
		}
		raw, err := os.ReadFile("/proc/" + e.Name() + "/stat")
		if err != nil {
			continue // it has ended
		}
		// The name is in parentheses and may contain any character, so the fields after
		// the last one are used.
		f := bytes.Fields(raw[bytes.LastIndexByte(raw, ')')+1:])
		if len(f) < 22 {
			continue
		}
		if group, err := strconv.Atoi(string(f[2])); err != nil || group != pid {
			continue
		}
		n, err := strconv.ParseInt(string(f[21]), 10, 64)
		if err == nil {
			pages += n
		}
	}
	return pages * int64(os.Getpagesize())
}
