package machine

import (
	"os"
	"path/filepath"
	"strconv"
	"strings"
)

// memory returns how much memory new work could use: of the machine, or of the
// container's limit if that is less. Memory that the kernel can reclaim counts
// as free.
func memory() (free uint64, known bool) {
	free, known = available("/proc/meminfo")
	if left, ok := container("/proc/self/cgroup", "/sys/fs/cgroup"); ok && (!known || left < free) {
		return left, true
	}
	return free, known
}

func available(path string) (uint64, bool) {
	raw, err := os.ReadFile(path)
	if err != nil {
		return 0, false
	}
	for line := range strings.Lines(string(raw)) {
		if rest, ok := strings.CutPrefix(line, "MemAvailable:"); ok {
			kb, err := strconv.ParseUint(strings.TrimSuffix(strings.TrimSpace(rest), " kB"), 10, 64)
			return kb << 10, err == nil
		}
	}
	return 0, false
}

// container returns what is left of the control group's limit (version 2), or
// of one above it.
func container(self, root string) (left uint64, ok bool) {
	raw, err := os.ReadFile(self)
	if err != nil {
		return 0, false
	}
	_, group, found := strings.Cut(string(raw), "0::")
	if !found {
		return 0, false
	}
	group, _, _ = strings.Cut(group, "\n")
	for dir := filepath.Clean("/" + group); ; dir = filepath.Dir(dir) {
		if n, has := groupLeft(filepath.Join(root, dir)); has && (!ok || n < left) {
			left, ok = n, true
		}
		if dir == "/" {
			return left, ok
		}
	}
}

func groupLeft(dir string) (uint64, bool) {
	most, ok := number(filepath.Join(dir, "memory.max"))
	if !ok {
		return 0, false // "max": no limit
	}
	used, ok := number(filepath.Join(dir, "memory.current"))
	if !ok {
		return 0, false
	}
	// The page cache counts as used but can be reclaimed.
	if raw, err := os.ReadFile(filepath.Join(dir, "memory.stat")); err == nil {
		for line := range strings.Lines(string(raw)) {
			if rest, found := strings.CutPrefix(line, "inactive_file "); found {
				if n, err := strconv.ParseUint(strings.TrimSpace(rest), 10, 64); err == nil {
					used -= min(used, n)
				}
			}
		}
	}
	return most - min(most, used), true
}

func number(path string) (uint64, bool) {
	raw, err := os.ReadFile(path)
	if err != nil {
		return 0, false
	}
	n, err := strconv.ParseUint(strings.TrimSpace(string(raw)), 10, 64)
	return n, err == nil
}
