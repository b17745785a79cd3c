package checks

import (
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
	var f failures
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
	return f
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
	var f failures
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
	var f failures
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
	}
	return f
}
