package setup

import (
	"fmt"
	"os"
	"runtime"
	"runtime/debug"
	"sync"
)

// BuildID names this very program, for what only the program that wrote it may
// read: its version, its build and its file. "" if the file is not known, or was
// replaced since.
func BuildID(version string) string {
	if of := build(); of != "" {
		return version + " " + of
	}
	return ""
}

// build is what BuildID names besides the version.
var build = sync.OnceValue(func() string {
	path, err := os.Executable()
	if err != nil {
		return ""
	}
	file, err := os.Stat(path)
	if err != nil {
		return ""
	}
	info := ""
	if b, ok := debug.ReadBuildInfo(); ok {
		info = b.String()
	}
	return fmt.Sprintf("%s %d %d %s", runtime.Version(), file.Size(), file.ModTime().UnixNano(), info)
})
