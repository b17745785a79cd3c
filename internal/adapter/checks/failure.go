package checks

import (
	"cmp"
	"slices"
	"strings"

	"github.com/pawl-agent/pawl/internal/core/event"
	"github.com/pawl-agent/pawl/internal/core/lazyregexp"
	"github.com/pawl-agent/pawl/internal/core/tool"
	"github.com/pawl-agent/pawl/internal/policy/normalize"
)

// This file makes facts of failures: what failed, why, and whether it could run at all.

// Limits of a cause: the lines and bytes that are recorded.
const (
	causeLines = 12
	causeBytes = 900
)

var (
	// aside matches lines that say where, not why: stacks and pieces of source.
	aside = lazyregexp.New(`^\s*(at |goroutine |❯ |note: run with |stack: |>? *\d+ ?\||\||\^|-{5,}|\[recovered)`)
	// place matches a file with a line.
	place = lazyregexp.New(`[^\s:("']+\.\w+(:\d+(:\d+)?|\(\d+,\d+\)|", line \d+)|(?m:^\d+:\d+\b)`)
)

// failure returns the facts of a block.
func (b block) failure() event.Failure {
	f := event.Failure{Name: b.name, Unit: b.unit, Hangs: b.hangs}
	var why []string
	test := strings.HasPrefix(b.lines[b.at], " ") && strings.Contains(b.lines[b.at], ".go:") // what it says is indented
	for _, l := range b.lines[b.at:] {
		if len(why) > 0 && (len(why) == causeLines || aside().MatchString(l) || test && !strings.HasPrefix(l, " ")) {
			break
		}
		if goFrame(l) || strings.TrimSpace(l) == "" {
			continue
		}
		why = append(why, strings.TrimSpace(l))
	}
	f.Cause = shorten(why, 0, causeBytes)
	if b.name == "" && b.unit == "" {
		why = b.lines // nothing else tells it from others
	}
	// Parts of a test that run at once tell what is wrong in any order.
	same := strings.Split(normalize.Result(place().ReplaceAllString(strings.Join(why, "\n"), "FILE")), "\n")
	same = slices.DeleteFunc(same, func(l string) bool { return strings.HasPrefix(l, "--- FAIL: ") })
	slices.Sort(same)
	f.Digest = normalize.Digest(strings.Join(slices.Compact(same), "\n"))
	f.Unrun, f.Sure = couldNotRun(b.lines)
	if b.hangs { // how long it took is no part of what it is
		f.Digest = "hangs"
		f.Cause = strings.Join(b.lines, "\n")
	}
	return f
}

// unrun is what keeps a test from running at all, as programs report it. Where sure, the
// machine lacks something, and no change of the project is the cause.
var unrun = []struct {
	why   string
	sure  bool
	forms []string
}{
	{"no network", true, []string{
		"dial tcp: lookup ", ": no such host", "module lookup disabled by GOPROXY=off", "Temporary failure in name resolution", "Could not resolve host", "getaddrinfo ENOTFOUND", "getaddrinfo EAI_AGAIN",
		"Network is unreachable", "network is unreachable", "pawl: the sandbox refused: host ", "CONNECT tunnel failed, response 403", "failed to download from `http", "npm error code ENOTFOUND", "attempting to make an HTTP request, but --offline was specified",
	}},
	{"no login", true, []string{
		"could not find default credentials", "DefaultCredentialsError", "Unable to locate credentials", "NoCredentialProviders", "NoCredentialsError", "npm error code ENEEDAUTH", "could not read Username for",
	}},
	{"no container engine", true, []string{"rootless Docker not found", "Cannot connect to the Docker daemon", "docker daemon is not running", "DockerException: Error while fetching server API version", "failed to create Docker provider", "Could not find a working container runtime strategy"}},
	{"disk full", true, []string{"no space left on device", "No space left on device", "ENOSPC", "disk quota exceeded", "Disk quota exceeded"}},
	{"program missing", true, []string{"executable file not found in $PATH", ": command not found", ": not found\x00", "spawn \x00 ENOENT"}},
	{"no module cache", true, []string{"go: could not create module cache: "}},
	{"modules missing", false, []string{
		"no required module provides package ", "cannot find module providing package ", "missing go.sum entry for ", "cannot query module due to -mod=vendor", "ModuleNotFoundError: No module named ", "ImportError: No module named ",
		"/cache/download/\x00.lock: permission denied", "Cannot find module '", "Cannot find package '", "Failed to resolve import ", "error TS2307: Cannot find module ", "no matching package named ", "can't find crate for ",
	}},
}

// couldNotRun returns what kept a test from running, "" if nothing is known to have. In a
// form, a NUL stands for a word, and at its end for the end of the line.
func couldNotRun(lines []string) (why string, sure bool) {
	for _, u := range unrun {
		for _, form := range u.forms {
			head, tail, word := strings.Cut(form, "\x00")
			if slices.ContainsFunc(lines, func(l string) bool {
				_, rest, ok := strings.Cut(l, head)
				if !ok || !word {
					return ok
				}
				if tail == "" {
					return rest == ""
				}
				_, rest, ok = strings.Cut(rest, tail)
				return ok && rest == ""
			}) {
				return u.why, u.sure
			}
		}
	}
	return "", false
}

var (
	cargoSlow   = lazyregexp.New(`^test (.+) has been running for over `)
	pytestLine  = lazyregexp.New(`^(\S+\.py)(?:::(\S+))? ?[.sxXFE]*$`)
	goEnded     = lazyregexp.New(`--- (?:PASS|FAIL|SKIP): (\S+) \(`) // behind what the test printed without an end of line
	unittestRun = lazyregexp.New(`^(\w+) \((\S+)\)(?:\n.*)? \.\.\. ?$`)
)

// stillRunning returns the tests that had begun and not ended when a check was stopped.
func stillRunning(lines []string) []block {
	open := map[string]string{} // by name: its unit
	ended := map[string]bool{}
	var order []string
	begin := func(name, unit string) {
		if _, ok := open[name]; !ok {
			order = append(order, name)
		}
		open[name] = unit
	}
	for i, l := range lines {
		t := strings.TrimSpace(l)
		if name, ok := strings.CutPrefix(l, "=== RUN   "); ok {
			begin(name, "")
			if parent, _, sub := strings.Cut(name, "/"); sub {
				delete(open, parent)
			}
			continue
		}
		if name, ok := strings.CutPrefix(l, "=== PAUSE "); ok {
			delete(open, name)
		}
		if m := goEnded().FindStringSubmatch(l); m != nil {
			delete(open, m[1])
			ended[m[1]] = true
		}
		if _, left := tool.Missing(l); left || strings.HasPrefix(l, "ok  \t") || strings.HasPrefix(l, "FAIL\t") {
			clear(open) // its package has ended, or its end may be left out
		}
		if m := cargoSlow().FindStringSubmatch(l); m != nil {
			begin(m[1], "")
		} else if rest, ok := strings.CutPrefix(l, "test "); ok {
			name, _, _ := strings.Cut(rest, " ... ")
			delete(open, name)
		}
		if i < len(lines)-1 { // these have a test's line for the last one only
			continue
		}
		if m := pytestLine().FindStringSubmatch(t); m != nil {
			begin(m[2], m[1])
		}
		if m := unittestRun().FindStringSubmatch(t); m != nil {
			begin(m[1], m[2])
		}
	}
	var out []block
	for _, name := range order {
		parent, _, _ := strings.Cut(name, "/") // no part of a test goes on after it
		if unit, ok := open[name]; ok && !ended[parent] {
			out = append(out, block{name: name, unit: unit, hangs: true, lines: []string{"still running when it was stopped: " + cmp.Or(name, unit)}})
		}
	}
	return out
}
