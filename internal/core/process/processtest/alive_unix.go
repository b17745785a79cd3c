//go:build unix

package processtest

import (
	"os"
	"strconv"
	"strings"
	"syscall"
)

// Alive reports whether a process runs. A dead process whose parent, perhaps the
// machine's init, has not yet waited for it does not run.
func Alive(pid int) bool {
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
