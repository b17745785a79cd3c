package checks

import (
	"cmp"
	"slices"
	"strings"
)

// readPython returns the failures of pytest or of unittest.
func readPython(lines []string) failures {
	if f := readPytest(lines); len(f.blocks) > 0 {
		return f
	}
	return readUnittest(lines)
}

// readPytest returns the blocks under FAILURES and ERRORS, and the short summary.
func readPytest(lines []string) failures {
	f := failures{about: aboutPytest}
	var block, summary []string
	part := ""
	for _, l := range lines {
		if name, ok := banner(l, '='); ok {
			f.add(block)
			block, part = nil, name
			if n := before(l, "failed") + before(l, "error") + before(l, "errors"); n > 0 {
				f.count = n
				summary = append(summary, strings.Trim(l, "= "))
			}
			continue
		}
		switch part {
		case "FAILURES", "ERRORS":
			if name, ok := banner(l, '_'); ok && name != "" {
				f.add(block)
				block = nil
			}
			block = append(block, l)
		case "short test summary info":
			summary = append(summary, l)
			// With -q the last line has no banner.
			if n := before(l, "failed") + before(l, "error") + before(l, "errors"); n > 0 && f.count == 0 && !strings.HasPrefix(l, "FAILED ") && !strings.HasPrefix(l, "ERROR ") {
				f.count = n
			}
		}
	}
	f.add(block)
	if len(f.blocks) == 0 && f.count == 0 {
		return failures{}
	}
	f.summary = summary
	f.summarised()
	f.untold()
	return f
}

// summarised adds the failures of the summary that were not shown, as with --tb=no.
func (f *failures) summarised() {
	for _, l := range f.summary {
		kind, rest, _ := strings.Cut(l, " ")
		if kind != "FAILED" && kind != "ERROR" {
			continue
		}
		id, why, _ := strings.Cut(rest, " - ")
		unit, name, _ := strings.Cut(id, "::")
		name = strings.ReplaceAll(name, "::", ".")
		if !slices.ContainsFunc(f.blocks, func(b block) bool { return b.name == name && (b.unit == unit || name != "") }) {
			f.blocks = append(f.blocks, block{name: name, unit: unit, lines: []string{cmp.Or(why, l)}})
		}
	}
}

// aboutPytest finds the test, its file, and the first line of the error.
func aboutPytest(b *block) {
	b.name, _ = banner(b.lines[0], '_')
	for _, word := range []string{"ERROR at setup of ", "ERROR at teardown of ", "ERROR collecting "} {
		b.name = strings.TrimPrefix(b.name, word)
	}
	if strings.HasSuffix(b.name, ".py") {
		b.name, b.unit = "", b.name
	}
	b.at = max(0, slices.IndexFunc(b.lines, func(l string) bool { return strings.HasPrefix(l, "E  ") }))
	for _, l := range b.lines[1:] {
		if file, _, ok := strings.Cut(l, ".py:"); ok && b.unit == "" && !strings.ContainsAny(file, " \"'") {
			b.unit = file + ".py"
		}
	}
}

// aboutUnittest finds the test, its class, and the error: what follows the stack.
func aboutUnittest(b *block) {
	_, b.name, _ = strings.Cut(b.lines[0], ": ")
	b.name, b.unit, _ = strings.Cut(strings.TrimSuffix(b.name, ")"), " (")
	for i, l := range b.lines[1:] {
		switch {
		case strings.HasPrefix(l, "  File "):
			b.at = 0
		case b.at == 0 && l != "" && l[0] != ' ' && !strings.HasPrefix(l, "Traceback "):
			b.at = i + 1
		}
	}
}

// aboutCargo finds the test or the file, and the message of the panic.
func aboutCargo(b *block) {
	if name, ok := strings.CutPrefix(b.lines[0], "---- "); ok {
		b.name = strings.TrimSuffix(strings.TrimSuffix(name, " ----"), " stdout") // of a doc test it has blanks
	}
	for i, l := range b.lines {
		if file, ok := strings.CutPrefix(strings.TrimSpace(l), "--> "); ok && b.name == "" && b.unit == "" {
			b.unit, _, _ = strings.Cut(file, ":")
		}
		if b.at == 0 && strings.Contains(l, " panicked at ") {
			if b.at = i; strings.HasSuffix(l, ":") && i+1 < len(b.lines) {
				b.at++
			}
		}
	}
}

// banner returns the name in a line such as "==== FAILURES ====". A line of the mark
// alone has the name "".
func banner(l string, mark byte) (name string, ok bool) {
	m := string(mark)
	if len(l) < 5 || !strings.HasPrefix(l, m+m) || !strings.HasSuffix(l, m+m) {
		return "", false
	}
	return strings.TrimSpace(strings.Trim(l, m)), true
}

// readUnittest returns the blocks that begin with FAIL or ERROR below a double rule.
func readUnittest(lines []string) failures {
	f := failures{about: aboutUnittest}
	var block []string
	inside := false
	for i, l := range lines {
		switch {
		case len(l) > 20 && strings.Trim(l, "=") == "":
			f.add(block)
			block = nil
			inside = i+1 < len(lines) && (strings.HasPrefix(lines[i+1], "FAIL: ") || strings.HasPrefix(lines[i+1], "ERROR: "))
			if inside {
				f.count++
			}
		case strings.HasPrefix(l, "Ran ") && strings.Contains(l, " test"):
			f.add(block)
			block, inside = nil, false
		case inside && !(len(l) > 20 && strings.Trim(l, "-") == ""):
			block = append(block, l)
		}
	}
	f.add(block)
	return f
}

// readCargo returns the compiler's errors and the output of failing tests.
func readCargo(lines []string) failures {
	f := failures{about: aboutCargo}
	var block []string
	open := ""
	end := func() {
		f.add(block)
		block, open = nil, ""
	}
	errs, failed := 0, 0
	for _, l := range lines {
		switch {
		case strings.HasPrefix(l, "error[") || strings.HasPrefix(l, "error: "):
			end()
			if strings.Contains(l, "could not compile") || strings.Contains(l, "test failed, to rerun") || strings.Contains(l, "target failed") || strings.Contains(l, "aborting due to") {
				continue
			}
			open, block = "error", []string{l}
			errs++
		case strings.HasPrefix(l, "---- ") && strings.HasSuffix(l, " ----"):
			end()
			open, block = "test", []string{l}
		case l == "failures:" || strings.HasPrefix(l, "test result: "):
			end()
			if strings.Contains(l, "FAILED") {
				failed += before(strings.ReplaceAll(l, ";", ","), "failed")
			}
		case open == "error" && l == "":
			end()
		case open != "":
			block = append(block, l)
		}
	}
	end()
	if len(f.blocks) > 0 {
		f.count = errs + failed
		f.untold()
	}
	return f
}
