package checks

import "strings"

// maxPanic is the most lines of a panic that are shown: the message and where it
// happened.
const maxPanic = 24

// readGo returns the errors of the compiler and of vet, and the failing tests with their
// output, from the output of go test, go build and go vet.
func readGo(lines []string) failures {
	var f failures
	var block, pending, last []string
	open := ""
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
	for _, l := range lines {
		switch {
		case strings.HasPrefix(l, "# "):
			if open == "build" && strings.HasPrefix(l, "# [") { // vet prints a second line with the package
				continue
			}
			begin("build", l)
		case strings.HasPrefix(l, "=== "):
			end()
			if strings.HasPrefix(l, "=== RUN") && !strings.Contains(l, "/") { // the pending lines are another test's
				pending = nil
			}
		case strings.HasPrefix(l, "--- FAIL: "):
			begin("test", append([]string{l}, pending...)...)
			pending = nil
			tests++
		case strings.HasPrefix(l, "--- "): // passed, skipped
			end()
			pending = nil
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
			if strings.HasSuffix(l, " failed]") {
				f.count++
			}
		case strings.HasPrefix(l, "ok  \t"), strings.HasPrefix(l, "?   \t"), l == "PASS", l == "FAIL", strings.HasPrefix(l, "coverage: "), strings.HasPrefix(l, "exit status "):
			end()
			pending = nil
		case open != "":
			block = append(block, l)
		default:
			pending = append(pending, l)
		}
	}
	end()
	f.count += tests
	if len(f.blocks) == 0 && len(last) == 0 {
		return failures{}
	}
	if f.count == 0 {
		f.count = len(f.blocks)
	}
	f.summary = last
	return f
}
