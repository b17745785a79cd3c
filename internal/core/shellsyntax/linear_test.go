package shellsyntax

import (
	"errors"
	"fmt"
	"runtime"
	"strings"
	"testing"
	"time"
)

// shapes are command lines that grow with n.
var shapes = []struct {
	name string
	line func(n int) string
}{
	{"one word", func(n int) string { return "echo " + strings.Repeat("a", n*50) }},
	{"one quoted word", func(n int) string { return `echo "` + strings.Repeat(`a\$b`, n*10) + `"` }},
	{"one word of globs", func(n int) string { return "echo " + strings.Repeat("a*", n*10) }},
	{"many words", func(n int) string { return "echo" + strings.Repeat(" ab", n*2) }},
	{"assignments", func(n int) string { return number(n/2, "x%d=1;") }},
	{"assignments before a command", func(n int) string { return number(n*4, "x%d=1 ") + "ls" }},
	{"appending", func(n int) string { return "x=a" + strings.Repeat(";x+=b", n/2) }},
	{"and", func(n int) string { return "a" + strings.Repeat(" && b", n/2) }},
	{"and, assigning", func(n int) string { return "a" + number(n/2, " && x%d=1") }},
	{"or", func(n int) string { return "a" + strings.Repeat(" || b", n/2) }},
	{"pipe", func(n int) string { return "a" + strings.Repeat(" | b", n/2) }},
	{"pipe in a function", func(n int) string { return "f() { f" + strings.Repeat(" | b", n/2) + "; }" }},
	{"ifs", func(n int) string { return number(n/4, "if a; then x%d=1; fi;") }},
	{"elif", func(n int) string { return "if a; then b" + strings.Repeat("; elif c; then d", min(n/4, 50)) + "; fi" }},
	{"case", func(n int) string { return "case $x in" + number(n/4, " a%[1]d) x%[1]d=1;;") + " esac" }},
	{"case, falling through", func(n int) string { return "case $x in" + number(n/4, " a%[1]d) x%[1]d=1;;&") + " esac" }},
	{"loops", func(n int) string { return number(n/4, "while a; do x%d=1; done;") }},
	{"functions", func(n int) string { return number(n/4, "f%d() { a; };") }},
	{"calls", func(n int) string { return "f() { x=1; };" + number(n/4, "x%d=1;f;") }},
	{"substitutions", func(n int) string { return "echo" + strings.Repeat(" $(a)", n/4) }},
	{"expansions", func(n int) string { return "x=a; echo" + strings.Repeat(" $x", n*2) }},
	{"expansions of what came from a command", func(n int) string { return "x=$(a); echo" + strings.Repeat(" $x", n*2) }},
	{"defaults in defaults", func(n int) string {
		return strings.Repeat("echo "+strings.Repeat("${x:-", 20)+strings.Repeat("}", 20)+";", n/20)
	}},
	{"arithmetic", func(n int) string {
		return "x=1; echo $((x" + strings.Repeat("+x", min(n/8, 50)) + "))" + number(n/4, "; ((x%d=1))")
	}},
	{"tests", func(n int) string { return number(n/2, "[[ $x -eq %d ]];") }},
	{"operands of test", func(n int) string { return "[ a" + strings.Repeat(` -a "$x"`, n) + " ]" }},
	{"redirections", func(n int) string { return "a" + strings.Repeat(" >b", n) }},
	{"here-documents", func(n int) string { return strings.Repeat("a <<E\n$x b\nE\n", n/4) }},
	{"a long here-document", func(n int) string { return "a <<E\n" + strings.Repeat("$x \\$ b\n", n*4) + "E" }},
	{"braces", func(n int) string { return strings.Repeat("echo {a,b}{1..5};", n/10) }},
	{"unclosed braces", func(n int) string { return "echo " + strings.Repeat("{a,", n) }},
	{"a long word with braces", func(n int) string { return "echo {a,b}" + strings.Repeat("c", n*10) + "$x" }},
	{"declarations", func(n int) string { return "export" + number(n*2, " x%d=1") }},
	{"arrays", func(n int) string { return "a=(" + strings.Repeat("b ", n*2) + ")" }},
	{"elements", func(n int) string { return number(n/2, "a[%d]=1;") }},
	{"cd", func(n int) string { return strings.Repeat("cd a;", n/4) }},
	{"child shells", func(n int) string { return number(n/8, "export x%d=1; sh -c a;") }},
	{"traps", func(n int) string { return strings.Repeat("trap a EXIT;", n/4) }},
	{"xargs", func(n int) string { return "xargs -I{} a" + strings.Repeat(" {}", n) }},
	{"wrappers", func(n int) string { return strings.Repeat(strings.Repeat("env a=b ", 20)+"c;", n/20) }},
}

func number(n int, format string) string {
	var b strings.Builder
	for i := range n {
		fmt.Fprintf(&b, format, i)
	}
	return b.String()
}

// SPEC 19.2: memory and counted work grow with the length, not with its square.
// A shape that is too large for a bound is refused in less.
func TestLinear(t *testing.T) {
	for _, s := range shapes {
		one, ten := s.line(100), s.line(1000)
		w1, m1 := cost(one)
		w10, m10 := cost(ten)
		grown := float64(len(ten)) / float64(len(one))
		if float64(w10) > float64(w1)*grown*1.2+1000 {
			t.Errorf("%s: work %d for %d bytes, %d for %d", s.name, w1, len(one), w10, len(ten))
		}
		if float64(m10) > float64(m1)*grown*1.8+50_000 {
			t.Errorf("%s: %d bytes allocated for %d, %d for %d", s.name, m1, len(one), m10, len(ten))
		}
	}
}

// cost is the work that is counted and the bytes that are allocated for a line.
func cost(line string) (work int, bytes uint64) {
	var before, after runtime.MemStats
	w := &walker{opts: Options{Dir: "/w"}, programs: few{}}
	runtime.ReadMemStats(&before)
	w.source(newState("/w"), line)
	runtime.ReadMemStats(&after)
	return w.work, after.TotalAlloc - before.TotalAlloc
}

// SPEC 19.2: what grows by itself is refused, and soon.
func TestBoundedWork(t *testing.T) {
	for name, line := range map[string]string{
		"doubling":             "x=a" + strings.Repeat(";x=$x$x", 60),
		"doubling by +=":       "x=a" + strings.Repeat(";x+=$x", 60),
		"doubling words":       "x='a a'" + strings.Repeat(`;x="$x $x"`, 40) + "; echo $x",
		"a long value often":   "x=" + strings.Repeat("a", 99_000) + ";" + strings.Repeat("echo $x;", 1000),
		"loops in loops":       strings.Repeat("for i in {1..60}; do ", 8) + "[[ a ]]" + strings.Repeat("; done", 8),
		"eval of a long value": "x='" + strings.Repeat("[[ a ]];", 12_000) + "';" + strings.Repeat(`eval "$x";`, 1000),
		"many to many":         "{ " + strings.Repeat("a;", 2000) + " } | { " + strings.Repeat("b;", 2000) + " }",
		"braces":               "echo " + strings.Repeat("a", 90_000) + strings.Repeat(" {1..500}"+strings.Repeat("b", 50), 8),
	} {
		work, bytes := cost(line)
		if _, err := parseLine(line, Options{Dir: "/w"}, few{}); err != nil && !errors.Is(err, ErrTooLarge) {
			t.Errorf("%s: %v", name, err)
		}
		if work > maxWork+maxBytes || bytes > 200<<20 {
			t.Errorf("%s: work %d, %d bytes", name, work, bytes)
		}
	}
}

// BenchmarkShapes prints how much longer ten times the length takes.
func BenchmarkShapes(b *testing.B) {
	for _, s := range shapes {
		b.Run(s.name, func(b *testing.B) {
			one, ten := s.line(100), s.line(1000)
			var t1, t10 time.Duration
			for b.Loop() {
				t1 += took(one)
				t10 += took(ten)
			}
			b.ReportMetric(float64(t10)/float64(t1)*10*float64(len(one))/float64(len(ten)), "x/10x")
		})
	}
}

func took(line string) time.Duration {
	start := time.Now()
	_, _ = parseLine(line, Options{Dir: "/w"}, few{})
	return time.Since(start)
}
