package setup

import (
	"fmt"
	"os"
	"runtime"
	"runtime/debug"
	"sync"
)

// BuildID identifies this exact program (version, build, file), for data that only the
// program that wrote it may read. It returns "" if the program's file is unknown, or
// was replaced since the start.
func BuildID(version string) string {
	if of := build(); of != "" {
		return version + " " + of
	}
	return ""
}

// build returns the part of BuildID that is not the version.
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
