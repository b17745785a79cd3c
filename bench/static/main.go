// Command static reports whether programs are static: none of them needs
// a loader or a shared library. Nor may one have code that calls methods by names
// it computes, as templates do: the linker would keep every method of every type,
// a tenth of the program, in the file and in memory.
//
//	go run ./bench/static dist/pawl-linux-amd64
package main

import (
	"bytes"
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

// byName is the function of templates that calls methods by their names.
const byName = "text/template.(*state).evalField"

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
	program, err := os.ReadFile(path)
	if err == nil && bytes.Contains(program, []byte(byName)) {
		return fmt.Errorf("%s has %s: find who uses a template (go build -ldflags=-dumpdep)", path, byName)
	}
	return err
}
