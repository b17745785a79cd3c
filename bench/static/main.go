// Command static reports whether programs are static: none of them needs
// a loader or a shared library.
//
//	go run ./bench/static dist/pawl-linux-amd64
package main

import (
	"debug/elf"
	"fmt"
	"os"
)

func main() {
	failed := false
	for _, path := range os.Args[1:] {
		if err := check(path); err != nil {
			fmt.Fprintln(os.Stderr, "static:", err)
			failed = true
		}
	}
	if failed || len(os.Args) == 1 {
		os.Exit(1)
	}
}

func check(path string) error {
	f, err := elf.Open(path)
	if err != nil {
		return fmt.Errorf("%s: %w", path, err)
	}
	defer f.Close()
	for _, p := range f.Progs {
		if p.Type == elf.PT_INTERP {
			return fmt.Errorf("%s needs a loader", path)
		}
	}
	libraries, err := f.ImportedLibraries()
	if err == nil && len(libraries) > 0 {
		return fmt.Errorf("%s needs %v", path, libraries)
	}
	return nil
}
