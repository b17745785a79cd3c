package cli

import (
	"fmt"
	"os"
	"runtime"
	"runtime/debug"
	"sync"
)

// program names this very program, for what only the program that wrote it may
// read: its version, its build and its file. "" if the file is not known, or was
// replaced since.
var program = sync.OnceValue(func() string {
	path, err := os.Executable()
	if err != nil {
		return ""
	}
	file, err := os.Stat(path)
	if err != nil {
		return ""
	}
	build := ""
	if b, ok := debug.ReadBuildInfo(); ok {
		build = b.String()
	}
	return fmt.Sprintf("%s %s %d %d %s", Version, runtime.Version(), file.Size(), file.ModTime().UnixNano(), build)
})
