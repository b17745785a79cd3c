package checks

import (
	"cmp"
	"path"
	"slices"
	"strings"
)

// maxPanic is the most lines of a panic that are shown: the message and where it
// happened.
const maxPanic = 24

// readGo returns the errors of the compiler and of vet, the failing tests with their
// output, and the tests that hang, from the output of go test, go build and go vet.
func readGo(lines []string) failures {
	f := failures{about: aboutGo}
	var block, last []string
	pending := map[string][]string{} // lines of tests that have not ended; of nobody's: ""
	now := ""                        // the test whose lines these are, as go test -v says
	open := ""
	pkg := 0 // the first block of the package whose output this is
	end := func() {
		if open == "panic" && len(block) > maxPanic {
			block = append(block[:maxPanic:maxPanic], "[…]")
		}
		f.add(block)
		block, open = nil, ""
	}
	begin := func(kind string, ls ...string) {
		end()
		open, block = kind, append([]string{}, ls...)
	}
	tests := 0
	for i, l := range lines {
		switch {
		case strings.HasPrefix(l, "# "):
			if open == "build" && strings.HasPrefix(l, "# [") { // vet prints a second line with the package
				continue
			}
			begin("build", l)
		case open != "build" && strings.HasPrefix(l, "go: ") && !strings.HasPrefix(l, "go: downloading ") && !strings.HasPrefix(l, "go: finding "):
			begin("go", l)
		case strings.HasPrefix(l, "=== "):
			end()
			if word, name, ok := strings.Cut(l[len("=== "):], " "); ok { // RUN, CONT, NAME, PAUSE: tests may run side by side
				now, _, _ = strings.Cut(strings.TrimSpace(name), "/")
				if word == "RUN" {
					delete(pending, "")
				}
			}
		case strings.HasPrefix(l, "--- FAIL: "):
			name := goTest(l)
			begin("test", slices.Concat([]string{l}, pending[""], pending[name])...)
			delete(pending, "")
			delete(pending, name)
			now = ""
			tests++
		case strings.HasPrefix(l, "--- "): // passed, skipped
			end()
			delete(pending, "")
			delete(pending, goTest(l))
			now = ""
		case strings.HasPrefix(l, "panic: test timed out after "):
			end()
			hangs := goHangs(lines[i:])
			f.blocks = append(f.blocks, hangs...)
			tests += len(hangs)
			open = "dump"
		case open == "dump" && !strings.HasPrefix(l, "FAIL\t"):
		case strings.HasPrefix(l, "panic: "), strings.HasPrefix(l, "fatal error: "):
			if open == "test" { // the panic happened in this test
				open = "panic"
				block = append(block, l)
				continue
			}
			begin("panic", l)
		case strings.HasPrefix(l, "FAIL\t"):
			end()
			last = append(last, l)
			name, _, _ := strings.Cut(strings.TrimPrefix(l, "FAIL\t"), "\t")
			name, _, failed := strings.Cut(name, " [")
			if failed {
				f.count++
			}
			if len(f.blocks) == pkg && (!failed || pkg == 0) { // no test of it failed: it ended by itself
				f.add(slices.Concat([]string{l}, pending[""], pending[now]))
			}
			for i := pkg; i < len(f.blocks); i++ {
				f.blocks[i].unit = cmp.Or(f.blocks[i].unit, name)
			}
			pkg, now = len(f.blocks), ""
			clear(pending)
		case strings.HasPrefix(l, "ok  \t"), strings.HasPrefix(l, "?   \t"), l == "PASS", l == "FAIL", strings.HasPrefix(l, "coverage: "), strings.HasPrefix(l, "exit status "):
			end()
			if strings.HasPrefix(l, "ok  \t") {
				now = ""
				clear(pending)
			}
		case open != "":
			block = append(block, l)
		default:
			pending[now] = append(pending[now], l)
		}
	}
	end()
	f.count += tests
	if len(f.blocks) == 0 {
		return failures{}
	}
	if f.count == 0 {
		f.count = len(f.blocks)
	}
	f.summary = last
	return f
}

// goTest returns the test of a line such as "--- FAIL: TestX (0.01s)".
func goTest(l string) string {
	_, name, _ := strings.Cut(l, ": ")
	name, _, _ = strings.Cut(name, " (")
	return name
}

// aboutGo finds the test or the package, and the line that says what is wrong.
func aboutGo(b *block) {
	first := b.lines[0]
	if strings.HasPrefix(first, "--- FAIL: ") {
		b.name = goTest(first)
	}
	if pkg, ok := strings.CutPrefix(first, "# "); ok {
		b.unit, _, _ = strings.Cut(pkg, " [")
	}
	if len(b.lines) == 1 || strings.HasPrefix(first, "panic: ") || strings.HasPrefix(first, "go: ") {
		return
	}
	b.at = 1
	for i, l := range b.lines {
		t := strings.TrimSpace(l)
		file, _, ok := strings.Cut(t, ":")
		if strings.HasPrefix(l, "panic: ") || ok && strings.HasSuffix(file, ".go") && !strings.HasPrefix(l, "\t") {
			b.at = i
			return
		}
	}
}

// goHangs reads the end of a package whose tests were still running when the time of go
// test was over: it lists them, and where each of its goroutines is.
func goHangs(dump []string) []block {
	after := strings.TrimPrefix(dump[0], "panic: test timed out after ")
	var out []block
	for i, l := range dump[1:] {
		switch name, _, ok := strings.Cut(strings.TrimSpace(l), " ("); {
		case strings.HasPrefix(l, "\t\t") && ok:
			if n := len(out); n > 0 && strings.HasPrefix(name, out[n-1].name+"/") {
				out = out[:n-1] // it waits for its subtest
			}
			b := block{name: name, hangs: true, lines: []string{"still running after " + after}}
			b.lines = append(b.lines, goStack(dump[i+1:], name)...)
			out = append(out, b)
		case !strings.Contains(l, "running tests:"):
			if len(out) == 0 {
				out = []block{{hangs: true, lines: []string{"still running after " + after}}}
			}
			return out
		}
	}
	return out
}

// goStack returns the functions of the project down to a test, from a dump of all
// goroutines, each with its place.
func goStack(dump []string, test string) []string {
	top, _, _ := strings.Cut(test, "/")
	for _, g := range strings.Split(strings.Join(dump, "\n"), "\n\n") {
		if !strings.Contains(g, "."+top+"(") && !strings.Contains(g, "."+top+".func") {
			continue
		}
		var out []string
		for l := range strings.Lines(g) {
			if l = strings.TrimSpace(l); goFrame(l) {
				out = append(out, "    at "+l)
			}
		}
		return out[:min(len(out), 5)]
	}
	return nil
}

// goFrame reports whether a line of a stack is a place outside Go's own packages.
func goFrame(l string) bool {
	file, _, ok := strings.Cut(strings.TrimSpace(l), ".go:")
	dir := path.Dir(file)
	return ok && path.IsAbs(file) && !slices.ContainsFunc([]string{"/src/testing", "/src/runtime", "/src/sync", "/src/time"}, func(s string) bool {
		return strings.HasSuffix(dir, s)
	})
}
