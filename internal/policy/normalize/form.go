package normalize

import (
	"slices"
	"strconv"
	"strings"
)

// formLimit is how much of a result is compared by its form: its head and tail.
const formLimit = 8 << 10

// Form returns a result without numbers and ids. Two answers to one question with
// one form differ at most in their numbers.
func Form(text string) string {
	if len(text) > formLimit {
		text = text[:formLimit/2] + "\n" + text[len(text)-formLimit/2:]
	}
	return stable(Result(text), true)
}

// Stable returns what Result returns, without words that look generated and
// without the values of ids and times by their names.
func Stable(text string) string { return stable(Result(text), false) }

func stable(text string, mask bool) string {
	var b strings.Builder
	b.Grow(len(text))
	attempt := false // a count of attempts follows
	id := false      // the value that follows belongs to a name of an id
	for i := 0; i < len(text); {
		if !word(text[i]) {
			if text[i] == ' ' || text[i] == '\n' || text[i] == ',' {
				id = id && text[i] == ' '
			}
			b.WriteByte(text[i])
			i++
			continue
		}
		n := run(text[i:], func(c byte) bool { return word(c) || c == '-' })
		w := text[i : i+n]
		i += n
		tries := attempt
		attempt = false
		switch {
		case tries && run(w, isDigit) == len(w):
			b.WriteByte('#')
		case id && w[0] != '<', generated(w):
			b.WriteString("<id>")
			id = false
		default:
			if mask {
				digits(&b, w)
			} else {
				b.WriteString(w)
			}
			switch strings.ToLower(w) {
			case "attempt", "try", "retry":
				attempt = true
			}
			id = namesID(w) && i < len(text) && strings.IndexByte(`:="'`, text[i]) >= 0
		}
	}
	return b.String()
}

func digits(b *strings.Builder, w string) {
	for j := 0; j < len(w); {
		if isDigit(w[j]) {
			b.WriteByte('#')
			j += run(w[j:], isDigit)
			continue
		}
		b.WriteByte(w[j])
		j++
	}
}

// generated reports whether a word looks like an id: letters and digits mixed,
// not a name with a number at its end.
func generated(w string) bool {
	if len(w) < 6 || !strings.ContainsAny(w, "0123456789") {
		return false
	}
	changes := 0
	for i := 1; i < len(w); i++ {
		if isDigit(w[i]) != isDigit(w[i-1]) && w[i] != '-' && w[i-1] != '-' && w[i] != '_' && w[i-1] != '_' {
			changes++
		}
	}
	return changes >= 2 || len(w) >= 7 && run(w, isHex) == len(w) && changes >= 1
}

func namesID(w string) bool {
	w = strings.ToLower(w)
	return slices.ContainsFunc([]string{"id", "token", "nonce", "trace", "etag", "span", "seed", "ts", "timestamp"}, func(end string) bool {
		before, ok := strings.CutSuffix(w, end)
		return ok && (before == "" || strings.ContainsRune("_-", rune(before[len(before)-1])))
	})
}

// numberLimit is how many numbers of a result are compared.
const numberLimit = 8

// Numbers returns the numbers of a result that may measure something, from its
// first and its last lines: not times and ids, not places (a line, a column), and
// not counts of attempts.
func Numbers(text string) []float64 {
	var lines []string
	for line := range strings.Lines(shown(text)) {
		if line = strings.TrimSpace(line); line == "" || closing(line) {
			continue
		}
		if len(lines) == 4 {
			lines = append(lines[:1], lines[2:]...)
		}
		if len(line) > 400 {
			line = line[:400]
		}
		lines = append(lines, line)
	}
	var out []float64
	for _, line := range lines {
		line = Result(line)
		before := ""
		for i := 0; i < len(line) && len(out) < numberLimit; {
			if !word(line[i]) {
				i++
				continue
			}
			n := run(line[i:], func(c byte) bool { return word(c) || c == '.' })
			w := strings.TrimRight(line[i:i+n], ".")
			at := i
			i += n
			v, err := strconv.ParseFloat(strings.TrimSuffix(w, "k"), 64)
			if err != nil || !isDigit(w[0]) {
				before = strings.ToLower(w)
				continue
			}
			if !place(line, at, i, before) {
				out = append(out, v)
			}
			before = ""
		}
	}
	return out
}

// place reports whether the number at line[from:to] says where or which, not how
// much; before is the word before it.
func place(line string, from, to int, before string) bool {
	if from > 0 && strings.IndexByte(":<#-/[=", line[from-1]) >= 0 && line[from-1] != '=' {
		return true
	}
	if to < len(line) && line[to] == ':' && to+1 < len(line) && isDigit(line[to+1]) {
		return true
	}
	switch before {
	case "line", "lines", "col", "column", "char", "offset", "position", "attempt", "try", "tries", "retry", "retries", "round", "run", "iteration",
		"port", "pid", "code", "status", "t", "ts", "time", "id", "seed", "uptime", "up", "job", "build", "near":
		return true
	}
	return false
}

// Pending reports whether a short answer says that something is not finished.
func Pending(text string) bool {
	if len(text) > 400 {
		return false
	}
	l := strings.ToLower(text)
	for _, w := range []string{
		"pending", "queued", "in progress", "in_progress", "running", "waiting", "starting", "not ready", "initializing", "building",
		"deploying", "provisioning", "creating", "scheduled", "processing", "compiling",
	} {
		if strings.Contains(l, w) {
			return true
		}
	}
	return strings.Contains(l, "%") && !strings.Contains(l, "100%") && !strings.Contains(l, "100 %")
}

// Meaning returns a text of a source file without what does not change what it
// does: white space, and the numbers, times and ids in comments and in output for
// debugging.
func Meaning(text string) string {
	var b strings.Builder
	for line := range strings.Lines(text) {
		line = strings.TrimSpace(strings.TrimLeft(line, "+-")) // it may be a line of a patch
		code, comment := line, ""
		if at := commentAt(line); at >= 0 {
			code, comment = line[:at], line[at:]
		}
		if prints(code) {
			code, comment = "", line
		}
		for f := range strings.FieldsSeq(code) {
			b.WriteString(f)
		}
		if comment != "" {
			for f := range strings.FieldsSeq(Form(comment)) {
				b.WriteString(f)
			}
		}
	}
	return b.String()
}

// commentAt returns where the comment of a line begins, -1 if there is none.
func commentAt(line string) int {
	for i := range len(line) {
		if i > 0 && line[i-1] != ' ' && line[i-1] != '\t' && line[i-1] != ';' {
			continue
		}
		rest := line[i:]
		for _, sign := range []string{"# ", "##", "//", "/*", "* ", "-- ", "<!--"} {
			if strings.HasPrefix(rest, sign) && (sign != "* " || i == 0) {
				return i
			}
		}
		if rest == "#" {
			return i
		}
	}
	return -1
}

func prints(code string) bool {
	return slices.ContainsFunc([]string{"print(", "console.log(", "fmt.Print", "println!(", "eprintln!(", "dbg!(", "System.out.print", "log.Print", "logger.debug(", "puts "}, func(w string) bool {
		return strings.HasPrefix(code, w)
	})
}

// Prose reports whether a file is notes or a log, by its name: nothing is built of it.
func Prose(path string) bool {
	base := strings.ToLower(path[strings.LastIndexByte(path, '/')+1:])
	i := strings.LastIndexByte(base, '.')
	if i < 0 {
		return base == "notes" || base == "todo" || base == "log"
	}
	switch base[i:] {
	case ".md", ".txt", ".log", ".rst", ".adoc", ".org", ".out":
		return true
	}
	return false
}
