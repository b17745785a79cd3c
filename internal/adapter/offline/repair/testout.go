package repair

import (
	"go/ast"
	"strconv"
	"strings"
)

// verdict is what the go command printed about a test run.
type verdict struct {
	failed []string // import paths of packages whose tests failed
	broken []string // those that did not build
	names  []string // failing tests, as path: Name, where the output names them
	stack  []place  // lines of panics, innermost first
}

type place struct {
	file string
	line int
}

// readVerdict reads the output of go test without -v.
func readVerdict(out string) verdict {
	var v verdict
	var names []string
	seen := map[string]bool{}
	for line := range strings.Lines(out) {
		line = strings.TrimRight(line, "\r\n")
		trimmed := strings.TrimSpace(line)
		if rest, ok := strings.CutPrefix(trimmed, "--- FAIL: "); ok {
			name, _, _ := strings.Cut(rest, " ")
			names = append(names, name)
			continue
		}
		if p, ok := stackLine(line); ok {
			v.stack = append(v.stack, p)
			continue
		}
		rest, ok := strings.CutPrefix(line, "FAIL\t")
		if !ok {
			continue
		}
		path, note, _ := strings.Cut(rest, "\t")
		path, inline, _ := strings.Cut(path, " ")
		if strings.HasPrefix(note, "[") || strings.HasPrefix(inline, "[") {
			v.broken = append(v.broken, path)
		} else if !seen[path] {
			seen[path] = true
			v.failed = append(v.failed, path)
			for _, n := range names {
				v.names = append(v.names, path+": "+n)
			}
		}
		names = nil
	}
	return v
}

// stackLine reads "\t/dir/file.go:12 +0x1d".
func stackLine(line string) (place, bool) {
	if !strings.HasPrefix(line, "\t") {
		return place{}, false
	}
	file, rest, ok := strings.Cut(strings.TrimSpace(line), ".go:")
	if !ok {
		return place{}, false
	}
	num, _, _ := strings.Cut(rest, " ")
	n, err := strconv.Atoi(num)
	if err != nil {
		return place{}, false
	}
	return place{file + ".go", n}, true
}

// testNames returns the top-level tests of a package, in file order.
func testNames(p *pkg) []string {
	var out []string
	for _, s := range p.tests {
		for _, d := range s.tree.Decls {
			f, ok := d.(*ast.FuncDecl)
			if !ok || f.Recv != nil || f.Type.Params == nil || len(f.Type.Params.List) != 1 {
				continue
			}
			rest, ok := strings.CutPrefix(f.Name.Name, "Test")
			if !ok || rest != "" && rest[0] >= 'a' && rest[0] <= 'z' || f.Name.Name == "TestMain" {
				continue
			}
			out = append(out, f.Name.Name)
		}
	}
	return out
}

// compileErrors returns, by base name of the file, the lines that the compiler
// complains about.
func compileErrors(out string) map[string][]int {
	found := map[string][]int{}
	for line := range strings.Lines(out) {
		file, rest, ok := strings.Cut(strings.TrimSpace(line), ".go:")
		if !ok || strings.ContainsAny(file, " \t") {
			continue
		}
		num, _, _ := strings.Cut(rest, ":")
		if n, err := strconv.Atoi(num); err == nil {
			name := file[strings.LastIndexAny(file, `/\`)+1:] + ".go"
			found[name] = append(found[name], n)
		}
	}
	return found
}
