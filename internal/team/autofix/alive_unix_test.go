//go:build unix

package autofix

import (
	"os"
	"strconv"
	"strings"
	"syscall"
)

// alive says whether a process runs. One that is dead and not yet taken by its
// parent, which may be the machine's init, runs no more.
func alive(pid int) bool {
	if syscall.Kill(pid, 0) != nil {
		return false
	}
	stat, err := os.ReadFile("/proc/" + strconv.Itoa(pid) + "/stat")
	if err != nil {
		return true
	}
	_, rest, _ := strings.Cut(string(stat), ") ")
	return !strings.HasPrefix(rest, "Z")
}
