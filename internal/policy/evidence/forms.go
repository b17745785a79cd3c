package evidence

import (
	"encoding/json"
	"regexp"
	"strconv"
	"strings"
	"sync"

	"github.com/pawl-agent/pawl/internal/core/lazyregexp"
	"github.com/pawl-agent/pawl/internal/policy/command"
)

// This file knows the lines in which programs report how many tests ran.

// counts is what an output reports about tests.
type counts struct {
	passed, skipped, failed int
	told                    bool // it reports something about them
	unclear                 bool // it is unknown whether tests ran or were skipped
}

func (c *counts) add(o counts) {
	c.passed += o.passed
	c.skipped += o.skipped
	c.failed += o.failed
	c.told = c.told || o.told
	c.unclear = c.unclear || o.unclear
}

// form reads one output format.
type form struct {
	name string
	read func(lines []string) counts
}

// The formats by the programs that print them.
var (
	goPlain    = []form{{"go", goEither}}
	goVerbose  = []form{{"go -v", goNames}}
	rust       = []form{summary("rust", `test result: \w+\. (?P<p>\d+) passed; (?P<f>\d+) failed; (?P<s>\d+) ignored;.*`, `Summary \[.*\] +\d+ tests? run: (?P<p>\d+) passed(?: \([^)]*\))?(?:, (?P<f>\d+) failed)?(?:, (?P<s>\d+) skipped)?`)}
	pytest     = []form{{"pytest", pytestLines}}
	unittest   = []form{{"unittest", unittestLines}}
	tap        = []form{{"tap", tapLines}, {"node", nodeLines}}
	javascript = append([]form{
		summary("jest", `Tests: +(?:(?P<f>\d+) failed, )?(?:(?P<s>\d+) skipped, )?(?:(?P<s2>\d+) todo, )?(?:(?P<p>\d+) passed, )?\d+ total`),
		summary("vitest", `Tests +(?:(?P<f>\d+) failed(?: \| )?)?(?:(?P<p>\d+) passed(?: \| )?)?(?:(?P<s>\d+) skipped(?: \| )?)?(?:(?P<s2>\d+) todo)? \(\d+\)`),
		summary("mocha", `(?P<p>\d+) passing(?: \(.*\))?`, `(?P<f>\d+) failing`, `(?P<s>\d+) pending`),
		summary("bun", `(?P<p>\d+) pass`, `(?P<f>\d+) fail`, `(?P<s>\d+) (?:skip|todo)`),
		summary("ava", `(?P<p>\d+) tests? passed`, `(?P<f>\d+) tests? failed`, `(?P<s>\d+) tests? skipped`),
		summary("jasmine", `(?P<t>\d+) specs?, (?P<f>\d+) failures?(?:, (?P<s>\d+) pending specs?)?`),
		summary("playwright", `(?P<p>\d+) passed \([\d.]+m?s\)`, `(?P<f>\d+) failed`, `(?P<s>\d+) skipped`),
		summary("deno", `ok \| (?P<p>\d+) passed(?: \(\d+ steps?\))? \| (?P<f>\d+) failed(?: \| (?P<s>\d+) ignored)?.*`),
	}, tap...)
	jvm = []form{
		summary("maven", `(?:\[\w+\] +)?Tests run: (?P<t>\d+), Failures: (?P<f>\d+), Errors: (?P<f2>\d+), Skipped: (?P<s>\d+).*`),
		summary("gradle", `\S.* > .+ (?P<p1>PASSED)`, `\S.* > .+ (?P<s1>SKIPPED)`, `\S.* > .+ (?P<f1>FAILED)`),
	}
	dotnet = []form{summary(
		"dotnet", `Passed! +- Failed: +(?P<f>\d+), Passed: +(?P<p>\d+), Skipped: +(?P<s>\d+), .*`,
		`(?:Failed|Skipped)! +- Failed: +(?P<f>\d+), Passed: +(?P<p>\d+), Skipped: +(?P<s>\d+), .*`,
		`Test summary: total: \d+; failed: (?P<f>\d+); succeeded: (?P<p>\d+); skipped: (?P<s>\d+).*`, `Passed: (?P<p>\d+)`, `Failed: (?P<f>\d+)`, `Skipped: (?P<s>\d+)`,
	)}
	ctest = []form{summary(
		"ctest", `\d+/\d+ Test +#\d+: .*\.\. +(?P<p1>Passed) +[\d.]+ sec`, `\d+/\d+ Test +#\d+: .*\*\*\*(?P<s1>Skipped) .*`,
		`\d+/\d+ Test +#\d+: .*\*\*\*(?P<f1>Failed|Exception|Timeout).*`, `(?P<s0>No tests were found!!!)`,
	)}
	bazel = []form{summary("bazel", `//\S+ +(?:\(cached\) )?(?P<p1>PASSED)(?: in .*)?`, `//\S+ +(?P<f1>FAILED).*`)}
	ruby  = []form{
		summary("rspec", `(?P<t>\d+) examples?, (?P<f>\d+) failures?(?:, (?P<s>\d+) pending)?(?:, \d+ errors? occurred outside of examples)?`),
		summary("minitest", `(?P<t>\d+) (?:runs|tests), \d+ assertions, (?P<f>\d+) failures, (?P<f2>\d+) errors(?:, (?P<s>\d+) (?:skips|pendings).*)?`),
		summary("mix", `(?:\d+ doctests?, )?(?:\d+ properties, )?(?P<t>\d+) tests?, (?P<f>\d+) failures?(?:, (?P<s>\d+) (?:skipped|excluded|invalid))?(?:, (?P<s2>\d+) (?:skipped|excluded|invalid))?`, `Result: (?P<p>\d+) passed.*`),
	}
	php = []form{summary(
		"phpunit", `OK \((?P<t>\d+) tests?, \d+ assertions?\)`,
		`Tests: (?P<t>\d+), Assertions: \d+(?:, (?:Errors|Failures): (?P<f>\d+))?(?:, (?:Warnings|PHPUnit \w+|Deprecations|Notices): \d+)*(?:, Skipped: (?P<s>\d+))?(?:, Incomplete: (?P<s2>\d+))?(?:, Risky: \d+)?\.`,
		`Tests: +(?:(?P<f>\d+) failed, )?(?:(?P<s>\d+) skipped, )?(?P<p>\d+) passed \(\d+ assertions?\)`, `No tests (?P<s0>executed)!`,
	)}
	swift = []form{summary("swift", `Executed (?P<t>\d+) tests?, with (?:(?P<s>\d+) tests? skipped and )?(?P<f>\d+) failures? .*`, `. Test [^ ]+\(\) (?P<p1>passed) after .*`, `. Test [^ ]+\(\) (?P<f1>failed) after .*`)}
	zig   = []form{summary("zig", `All (?P<p>\d+) tests? passed\.`, `(?P<p>\d+) passed; (?P<s>\d+) skipped; (?P<f>\d+) failed\.`)}
)

// forms are the formats of each output.
var forms = map[command.Output][]form{
	command.GoOutput: goPlain, command.RustOutput: rust, command.ScriptsOutput: nil, command.JavaScriptOutput: javascript, command.TAPOutput: tap,
	command.PytestOutput: pytest, command.UnittestOutput: unittest, command.JVMOutput: jvm, command.DotnetOutput: dotnet, command.CTestOutput: ctest,
	command.BazelOutput: bazel, command.RubyOutput: ruby, command.PHPOutput: php, command.SwiftOutput: swift, command.ZigOutput: zig,
}

// everyForm is for programs that may run any of them. What two of them share is read once.
var everyForm = func() []form {
	var out []form
	for _, fs := range forms {
		out = append(out, fs...)
	}
	return out
}()

// summary returns a format of whole lines. Named groups are numbers: p of
// passed tests, t of all, s of skipped, f of failed. A 1 after the letter means
// one test for the line, a 0 means none.
func summary(name string, lines ...string) form {
	// A session without checks compiles none of them.
	compiled := sync.OnceValue(func() (res []*regexp.Regexp) {
		for _, l := range lines {
			res = append(res, regexp.MustCompile(`^\s*(?:`+l+`)$`))
		}
		return res
	})
	return form{name, func(lines []string) (c counts) {
		for _, l := range lines {
			if len(l) > maxSummary {
				continue
			}
			for _, re := range compiled() {
				if m := re.FindStringSubmatch(l); m != nil {
					c.add(named(re.SubexpNames(), m))
				}
			}
		}
		return c
	}}
}

// maxSummary is the longest summary line in bytes.
const maxSummary = 400

func named(names, m []string) counts {
	c := counts{told: true}
	for i, name := range names {
		if name == "" || m[i] == "" {
			continue
		}
		n, _ := strconv.Atoi(m[i]) // one that is not a number counts for 0
		switch name[1:] {
		case "1":
			n = 1
		case "0":
			n = 0
		}
		switch name[0] {
		case 'p', 't':
			c.passed += n
		case 's':
			c.skipped += n
		case 'f':
			c.failed += n
		}
	}
	for _, name := range names {
		if name == "t" {
			c.passed = max(0, c.passed-c.skipped-c.failed)
		}
	}
	return c
}

// goLines reads the lines of go test about packages. Without -v there is
// nothing else: a package in which every test was skipped looks like one that
// passed.
func goLines(lines []string) (c counts) {
	for _, l := range lines {
		switch {
		case strings.HasPrefix(l, "ok  \t"):
			c.told = true
			if !strings.Contains(l, "[no tests to run]") && !strings.Contains(l, "[no test files]") {
				c.unclear = true // its tests passed, or all were skipped
			}
		case strings.HasPrefix(l, "?   \t"):
			c.told = true
		case l == "FAIL", strings.HasPrefix(l, "FAIL\t"), strings.HasPrefix(l, "--- FAIL: "):
			c.failed, c.told = c.failed+1, true
		}
	}
	return c
}

// goEither reads the names of tests if they are printed, else the packages.
func goEither(lines []string) counts {
	for _, l := range lines {
		if strings.HasPrefix(l, "=== RUN   ") || strings.HasPrefix(l, `{"Time":`) {
			return goNames(lines)
		}
	}
	return goLines(lines)
}

// goNames reads the result of each test, as -v and -json print it. Like go,
// it counts a test with subtests too, but not if all of them were skipped.
func goNames(lines []string) counts {
	c := goLines(lines)
	c.unclear = false
	went := map[string]string{}
	end := func() {
		parents := map[string]bool{} // true: a test below it passed
		below := func(name string, passed bool) {
			for i := strings.LastIndexByte(name, '/'); i > 0; i = strings.LastIndexByte(name[:i], '/') {
				parents[name[:i]] = parents[name[:i]] || passed
			}
		}
		for name := range went {
			below(name, false)
		}
		for name, how := range went {
			if _, parent := parents[name]; !parent && how == "PASS" {
				below(name, true)
			}
		}
		for name, how := range went {
			ran, parent := parents[name]
			switch {
			case parent && !ran:
			case how == "PASS":
				c.passed++
			case how == "SKIP":
				c.skipped++
			}
		}
		clear(went)
	}
	for _, l := range lines {
		if strings.HasPrefix(l, "{") {
			var e struct{ Action, Package, Test string }
			if json.Unmarshal([]byte(l), &e) == nil && e.Test != "" && (e.Action == "pass" || e.Action == "skip") {
				went[e.Package+"/"+e.Test] = strings.ToUpper(e.Action)
			}
			continue
		}
		if m := goEnded().FindStringSubmatch(l); m != nil {
			c.told = true
			went[m[2]] = m[1]
		}
		if strings.HasPrefix(l, "ok  \t") || strings.HasPrefix(l, "FAIL\t") { // another package may have tests of the same names
			end()
		}
	}
	end()
	return c
}

// goEnded matches the end of a test, also behind what it printed without an end of line.
var goEnded = lazyregexp.New(`--- (PASS|SKIP): (\S+)(?: \([\d.]+s\))?$`)

var pytestSummary = lazyregexp.New(`^(?:\d+ (?:subtests )?[a-z]+(?:, )?)+ in [\d.]+s(?: \([\d:]+\))?$`)

// pytestLines reads the last line of each run.
func pytestLines(lines []string) (c counts) {
	for _, l := range lines {
		l = strings.Trim(l, "= ")
		if strings.HasPrefix(l, "no tests ran in ") {
			c.told = true
		}
		if len(l) > maxSummary || !pytestSummary().MatchString(l) {
			continue
		}
		c.told = true
		fields := strings.Fields(strings.NewReplacer(",", "", "subtests ", "").Replace(l))
		for i := 1; i < len(fields); i += 2 {
			n, _ := strconv.Atoi(fields[i-1]) // the words after " in " are not counts
			switch fields[i] {
			case "passed", "xpassed", "xfailed":
				c.passed += n
			case "skipped", "deselected":
				c.skipped += n
			case "failed", "error", "errors":
				c.failed += n
			}
		}
	}
	return c
}

var unittestRan = lazyregexp.New(`^Ran (\d+) tests? in [\d.]+s$`)

// unittestLines reads the end of unittest's output: how many tests ran, and the
// result after it.
func unittestLines(lines []string) (c counts) {
	ran := 0
	for _, l := range lines {
		if m := unittestRan().FindStringSubmatch(l); m != nil {
			c.told = true
			ran, _ = strconv.Atoi(m[1])
			continue
		}
		switch {
		case l == "OK":
			c.passed += ran
		case strings.HasPrefix(l, "OK (") && ran > 0:
			_, n, _ := strings.Cut(l, "skipped=")
			n, _, _ = strings.Cut(strings.TrimSuffix(n, ")"), ",")
			skipped, _ := strconv.Atoi(n)
			c.passed, c.skipped = c.passed+max(0, ran-skipped), c.skipped+skipped
		case strings.HasPrefix(l, "FAILED (") && ran > 0:
			c.failed++
		case l == "":
			continue
		}
		ran = 0
	}
	return c
}

var (
	tapLine  = lazyregexp.New(`^( *)(not )?ok(?: \d+)?(?: -)?(?: (.*))?$`)
	specLine = lazyregexp.New(`^( *)([✔✖▶﹣]) (.*?)(?: \([\d.]+ms\))?(?: # \w+.*)?$`)
	nodeFile = lazyregexp.New(`^\S*[/\\]\S*\.[cm]?[jt]sx?$`)
)

// tapLines reads the Test Anything Protocol. A test with subtests is not
// counted itself, and a file that node ran as a whole is not a test.
func tapLines(lines []string) (c counts) {
	deepest := -1 // indentation of the tests since the last one at each level
	plan := false
	for _, l := range lines {
		plan = plan || strings.HasPrefix(l, "TAP version ") || strings.HasPrefix(l, "1..")
		m := tapLine().FindStringSubmatch(l)
		if m == nil || len(l) > maxSummary {
			continue
		}
		indent, inside := len(m[1]), false
		inside, deepest = deepest > indent, indent
		name, directive, _ := strings.Cut(m[3], " # ")
		switch directive = strings.ToUpper(directive); {
		case strings.HasPrefix(directive, "TODO"):
		case m[2] != "":
			c.failed++
		case strings.HasPrefix(directive, "SKIP"):
			c.skipped++
		case !inside && !nodeFile().MatchString(name):
			c.passed++
		}
	}
	if !plan {
		return counts{}
	}
	c.told = true
	return c
}

// nodeLines reads the output of node --test for people.
func nodeLines(lines []string) (c counts) {
	parents := map[string]bool{}
	for _, l := range lines {
		if strings.HasPrefix(l, "ℹ tests ") {
			c.told = true
		}
		m := specLine().FindStringSubmatch(l)
		if m == nil || len(l) > maxSummary {
			continue
		}
		switch name := m[1] + m[3]; {
		case m[2] == "▶":
			parents[name] = true
		case m[2] == "✖":
			c.failed++
		case m[2] == "﹣":
			c.skipped++
		case !parents[name] && !nodeFile().MatchString(m[3]):
			c.passed++
		}
	}
	if !c.told {
		return counts{}
	}
	return c
}
