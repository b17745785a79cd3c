package command

import (
	"strings"

	"github.com/pawl-agent/pawl/internal/core/shellsyntax"
)

func sed(_ string, args []shellsyntax.Word) Effect {
	r := usage{short: "nErusze=!fl=i?b", long: "quiet silent debug expression= !file= !follow-symlinks in-place? line-length= null-data zero-terminated posix regexp-extended separate sandbox unbuffered binary help version", full: true}
	opts, operands, why := r.scan(args)
	if why != "" {
		return other("sed " + why)
	}
	var scripts []shellsyntax.Word
	edit := false
	for _, o := range opts {
		switch {
		case o.is("-e --expression"):
			scripts = append(scripts, o.value)
		case o.is("-i --in-place"):
			edit = true
			if strings.ContainsAny(o.value.Text, "/*") {
				return other("sed -i with a backup somewhere else")
			}
		}
	}
	if len(scripts) == 0 {
		if len(operands) == 0 {
			return other("sed without a script")
		}
		scripts, operands = operands[:1], operands[1:]
	}
	for _, s := range scripts {
		if !s.Known || !plainSed(s.Text) {
			return other("a sed script may write files or run commands")
		}
	}
	if edit {
		return Effect{Kind: Writes, Writes: operands}
	}
	return Effect{Kind: Reads, Reads: operands}
}

// awk returns the effect of awk, which parses no options after its program.
func awk(_ string, args []shellsyntax.Word) Effect {
	r := usage{short: "F=v=k", long: "field-separator= assign= csv posix re-interval sandbox", exact: true}
	n := 0
	for n < len(args) && args[n].Known && len(args[n].Text) > 1 && args[n].Text[0] == '-' {
		if t := args[n].Text; t == "-F" || t == "-v" || t == "--field-separator" || t == "--assign" {
			if n++; n < len(args) && several(args[n]) {
				return other("awk " + t + " with what may be several words: quote it")
			}
		} else if t == "--" {
			n++
			break
		}
		n++
	}
	n = min(n, len(args))
	for _, a := range args {
		if many(a) && !a.Glob {
			return other("an argument that cannot be known before may be an option of awk: quote it")
		}
	}
	if _, _, why := r.scan(args[:n]); why != "" {
		return other("awk " + why)
	}
	operands := args[n:]
	if len(operands) == 0 || !operands[0].Known {
		return other("an awk program that cannot be known before")
	}
	if !plainAwk(operands[0].Text) {
		return other("an awk program may write files or run commands")
	}
	return Effect{Kind: Reads, Reads: operands[1:]}
}

func jq(_ string, args []shellsyntax.Word) Effect {
	r := usage{short: "nrjacCMSesR0hVs!f!L", long: "null-input raw-output raw-output0 join-output ascii-output compact-output color-output monochrome-output sort-keys exit-status slurp raw-input tab indent= unbuffered stream stream-errors seq ascii seq help version build-configuration !from-file !library-path !run-tests", exact: true}
	e := Effect{Kind: Reads}
	var rest []shellsyntax.Word
	textual := false
	for i := 0; i < len(args); i++ {
		a := args[i]
		switch {
		case many(a):
			return other("an argument that cannot be known before may be an option of jq: quote it")
		case a.Known && (a.Text == "--arg" || a.Text == "--argjson"):
			if i += 2; i < len(args) && (several(args[i]) || several(args[i-1])) {
				return other("jq " + a.Text + " with what may be several words: quote it")
			}
		case a.Known && (a.Text == "--slurpfile" || a.Text == "--rawfile" || a.Text == "--argfile"):
			if i += 2; i < len(args) {
				if several(args[i-1]) {
					return other("jq " + a.Text + " with a name that may be several words: quote it")
				}
				e.Reads = append(e.Reads, args[i])
			}
		case a.Known && (a.Text == "--args" || a.Text == "--jsonargs"):
			textual = true
		case textual && !a.Known:
		default:
			rest = append(rest, a)
		}
	}
	_, operands, why := r.scan(rest)
	switch {
	case why != "":
		return other("jq " + why)
	case len(operands) == 0:
		return e
	case !operands[0].Known || !plainJq(operands[0].Text):
		return other("a jq filter may read other files or the environment")
	}
	if !textual {
		e.Reads = append(e.Reads, operands[1:]...)
	}
	return e
}

func date(_ string, args []shellsyntax.Word) Effect {
	r := usage{short: "uRjnd=I?r<!s=!f=", long: "utc universal rfc-email rfc-2822 rfc-3339= iso-8601? date= reference< resolution debug help version !set= !file=", exact: true}
	opts, operands, why := r.scan(args)
	if why != "" {
		return other("date " + why)
	}
	e := Effect{Kind: Reads}
	for _, o := range opts {
		if o.is("-r --reference") {
			e.Reads = append(e.Reads, o.value)
		}
	}
	for _, w := range operands {
		if !strings.HasPrefix(w.Text, "+") {
			return other("date with a time sets the clock")
		}
	}
	return e
}

// find returns the effect of find: all is an expression; only the operands before it
// are paths. The command after -exec is a separate command of the line.
func find(_ string, args []shellsyntax.Word) Effect {
	e := Effect{Kind: Reads}
	paths := true
	for i := 0; i < len(args); i++ {
		a := args[i]
		if !a.Known && mayBeOption(a) {
			return other("an argument that cannot be known before may be an action of find")
		}
		t := a.Text
		switch {
		case a.Known && (t == "(" || t == ")" || t == "!" || t == ","):
			paths = false
		case !a.Known || !strings.HasPrefix(t, "-"):
			if !paths {
				return other("find " + t + " is not known to be harmless")
			}
			e.Reads = append(e.Reads, a)
		case t == "-exec":
			paths = false
			for i++; i < len(args) && args[i].Text != ";" && args[i].Text != "+"; i++ {
			}
			if i >= len(args) {
				return other("find -exec without an end")
			}
		default:
			arg, ok := findWord(t)
			if !ok {
				return other("find " + t + " runs, writes or deletes, or is not known")
			}
			if t != "-H" && t != "-P" {
				paths = false
			}
			if arg == 0 {
				continue
			}
			if i++; i >= len(args) || several(args[i]) {
				return other("find " + t + " without a value that is one word: quote it")
			}
			if arg == '<' {
				e.Reads = append(e.Reads, args[i])
			}
		}
	}
	return e
}

// findWord knows the tests and actions of find that only report; arg is the kind of the
// word after it: none, a text or a file.
func findWord(t string) (arg byte, ok bool) {
	switch t {
	case "-H", "-P", "-empty", "-true", "-false", "-daystart", "-depth", "-d", "-mount", "-xdev", "-noleaf", "-print", "-print0", "-ls", "-prune", "-quit", "-readable", "-writable", "-executable", "-nouser", "-nogroup",
		"-not", "-a", "-and", "-o", "-or", "-warn", "-nowarn", "-ignore_readdir_race", "-noignore_readdir_race", "-E", "-X", "-x", "-s", "--help", "--version", "-help", "-version":
		return 0, true
	case "-name", "-iname", "-path", "-ipath", "-wholename", "-iwholename", "-lname", "-ilname", "-regex", "-iregex", "-regextype", "-type", "-xtype", "-size", "-mtime", "-atime", "-ctime", "-mmin", "-amin", "-cmin",
		"-used", "-user", "-group", "-uid", "-gid", "-perm", "-links", "-inum", "-maxdepth", "-mindepth", "-fstype", "-printf":
		return '=', true
	case "-newer", "-anewer", "-cnewer", "-samefile":
		return '<', true
	}
	if rest, ok := strings.CutPrefix(t, "-newer"); ok && len(rest) == 2 && strings.Trim(rest, "aBcmt") == "" {
		return '<', true
	}
	return 0, false
}

func gofmt(_ string, args []shellsyntax.Word) Effect {
	r := usage{dash: "l d e s w r= extra local= v", exact: true}
	opts, operands, why := r.scan(args)
	if why != "" {
		return other("gofmt " + why)
	}
	for _, o := range opts {
		if o.name == "-w" {
			return Effect{Kind: Writes, Writes: operands}
		}
	}
	return Effect{Kind: Reads, Reads: operands}
}
