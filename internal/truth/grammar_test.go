//go:build truth && linux

package truth

import (
	"fmt"
	"math/rand/v2"
	"strings"
)

// grammar composes command lines. It knows what bash and its programs take,
// and puts traps wherever something could be evaluated, opened or run.
type grammar struct {
	r     *rand.Rand
	known []string
	table []program
	depth int
}

func (g *grammar) pick(list ...string) string { return list[g.r.IntN(len(list))] }

func (g *grammar) odds(n int) bool { return g.r.IntN(n) == 0 }

// line composes one, or changes one that is known.
func (g *grammar) line() string {
	g.depth = 0
	if g.odds(3) {
		return g.list()
	}
	l := g.known[g.r.IntN(len(g.known))]
	for range 1 + g.r.IntN(3) {
		l = g.changed(l)
	}
	return l
}

func (g *grammar) changed(l string) string {
	words := strings.Split(l, " ")
	at := g.r.IntN(len(words))
	switch g.r.IntN(13) {
	case 0:
		words[at] = g.word()
	case 1, 2:
		words = append(words[:at+1:at+1], append([]string{g.word()}, words[at+1:]...)...)
	case 3:
		words = append(words[:at:at], words[at+1:]...)
	case 4:
		words = append(words[:at+1:at+1], append([]string{g.option()}, words[at+1:]...)...)
	case 5:
		return g.pick(g.setter(), g.simple()) + g.pick("; ", " && ", "\n", " | ", " || ") + l
	case 6:
		return l + g.pick("; ", " && ", "\n", " | ", " |& ", " || ") + g.simple()
	case 7:
		return g.wrapped(l)
	case 8: // part of one known line into another
		other := strings.Split(g.known[g.r.IntN(len(g.known))], " ")
		k := g.r.IntN(len(other))
		return strings.Join(append(words[:at:at], other[k:]...), " ")
	case 9:
		words[at] = g.shortened(words[at])
	case 10:
		words[at] = g.quoted(words[at])
	case 11:
		return l + g.redirect()
	case 12:
		return g.pick("env ", "command ", "time -p ", "nice ", "timeout 2 ", "xargs ", "stdbuf -o0 ", "env -i ", "nohup ", "exec ", "builtin ", "find . -exec ") + l
	}
	return strings.Join(words, " ")
}

// shortened takes letters off a long option, or puts letters into a cluster.
func (g *grammar) shortened(w string) string {
	switch {
	case strings.HasPrefix(w, "--") && len(w) > 4:
		name, v, has := strings.Cut(w, "=")
		name = name[:min(len(name), 3+g.r.IntN(len(name)))]
		if has {
			return name + "=" + v
		}
		return name
	case strings.HasPrefix(w, "-") && len(w) > 1:
		at := 1 + g.r.IntN(len(w)-1)
		return w[:at] + string("abcdefghijklmnopqrstuvwxyzCEFILPRSTX0"[g.r.IntN(37)]) + w[at:]
	}
	return g.word()
}

func (g *grammar) quoted(w string) string {
	switch g.r.IntN(6) {
	case 0:
		return `"` + strings.ReplaceAll(w, `"`, `\"`) + `"`
	case 1:
		return "'" + strings.ReplaceAll(w, "'", `'\''`) + "'"
	case 2:
		return "$'" + strings.NewReplacer("'", `\'`, `\`, `\\`, "$", `\44`).Replace(w) + "'"
	case 3:
		if w != "" {
			return `\` + w
		}
	case 4:
		if len(w) > 2 {
			return w[:1] + `""` + w[1:]
		}
	case 5:
		return "{" + w + "," + g.plain() + "}"
	}
	return w
}

func (g *grammar) wrapped(l string) string {
	q := "'" + strings.ReplaceAll(l, "'", `'\''`) + "'"
	n := g.name()
	switch g.r.IntN(14) {
	case 0:
		return "for " + n + " in " + g.word() + " " + g.word() + "; do " + l + "; done"
	case 1:
		return "if " + l + "; then " + g.simple() + "; fi"
	case 2:
		return "f() { " + l + "; }; f " + g.word()
	case 3:
		return "( " + l + " )" + g.redirect()
	case 4:
		return "{ " + l + "; }" + g.redirect()
	case 5:
		return "eval " + q
	case 6:
		return "bash -c " + q + " " + g.word()
	case 7:
		return "echo " + g.pick(`"$(`+l+`)"`, "`"+strings.NewReplacer("`", "\\`", `\`, `\\`).Replace(l)+"`", "$("+l+")", "<("+l+")")
	case 8:
		return "while read -r " + n + "; do " + l + "; done < " + g.path()
	case 9:
		return n + "=$(" + l + "); " + g.user(n)
	case 10:
		return "case " + g.word() + " in " + g.pick("*", "one", g.plain()) + ") " + l + ";; esac"
	case 11:
		return "cat <<" + g.pick("E", "'E'") + "\n" + l + " $(" + g.simple() + ")\nE"
	case 12:
		return l + " <<< " + g.word()
	default:
		return "trap " + q + " " + g.pick("EXIT", "DEBUG", "ERR", "RETURN")
	}
}

// list is a few statements.
func (g *grammar) list() string {
	out := g.statement()
	for range g.r.IntN(3) {
		out += g.pick("; ", " && ", " | ", "\n", " || ", " |& ") + g.statement()
	}
	return out
}

func (g *grammar) statement() string {
	if g.depth++; g.depth > 4 {
		return g.simple()
	}
	defer func() { g.depth-- }()
	switch g.r.IntN(10) {
	case 0:
		return g.wrapped(g.simple())
	case 1, 2:
		return g.setter() + "; " + g.user(g.name())
	case 3:
		return g.setter()
	case 4:
		n := g.name()
		return fmt.Sprintf("%s=%s; %s", n, g.word(), g.user(n))
	}
	return g.simple() + g.redirect()
}

func (g *grammar) name() string {
	return g.pick("x", "x", "y", "z", "a", "PATH", "PS4", "IFS", "RANDOM", "OPTIND", "SECONDS", "BASH_ENV", "ENV", "HISTCMD", "LINENO", "SHELLOPTS",
		"BASHOPTS", "GLOBIGNORE", "CDPATH", "HOME", "PWD", "OLDPWD", "REPLY", "TMOUT", "UID", "LESSOPEN", "MANPAGER", "GIT_EXTERNAL_DIFF", "GIT_SSH",
		"LD_PRELOAD", "PROMPT_COMMAND", "BASH_XTRACEFD", "POSIXLY_CORRECT", "COLUMNS", "TZ", "LC_ALL", "DIRSTACK", "FUNCNAME", "SRANDOM", "EPOCHSECONDS", "BASH_CMDS", "BASH_ALIASES", "MAPFILE")
}

// setter gives a variable a value in one of the shell's many ways.
func (g *grammar) setter() string {
	n, v := g.name(), g.word()
	switch g.r.IntN(20) {
	case 0, 1, 2:
		return n + "=" + v
	case 3:
		return "read -r " + n + " < " + g.path()
	case 4:
		return "read " + n + " <<< " + v
	case 5:
		return "printf -v " + n + " %s " + v
	case 6:
		return ": ${" + n + g.pick(":=", "=") + v + "}"
	case 7:
		return "export " + n + "=" + v
	case 8:
		return g.pick("declare", "local", "typeset", "readonly", "declare -i", "declare -n", "declare -a", "declare -A", "declare -x", "declare -l") + " " + n + "=" + v
	case 9:
		return g.pick("mapfile", "readarray") + g.pick("", " -t", " -C zap -c 1") + " " + n + " < " + g.path()
	case 10:
		return n + "+=" + v
	case 11:
		return n + "[" + g.payload() + "]=" + v
	case 12:
		return n + "=(" + v + " " + g.word() + ")"
	case 13:
		return "let " + g.pick("'"+n+"="+g.payload()+"'", n+"="+g.payload())
	case 14:
		return "(( " + n + " = " + g.payload() + " ))"
	case 15:
		return "set -- " + v + " " + g.word()
	case 16:
		return "set " + g.pick("-x", "-a", "-k", "-f", "-e", "-o pipefail", "+x", "-u", "-m", "-H", "-o history", "-T", "-E")
	case 17:
		return "shopt -s " + g.pick("expand_aliases", "nullglob", "dotglob", "extglob", "globstar", "lastpipe", "sourcepath", "execfail")
	case 18:
		return "unset " + g.pick(n, "'"+g.payload()+"'", "-v "+n)
	}
	return "getopts " + v + " " + n
}

// user is a statement that uses a variable.
func (g *grammar) user(n string) string {
	return g.pick(
		`echo $`+n, `echo "$`+n+`"`, `echo ${!`+n+`}`, `echo ${`+n+`@P}`, `echo $((`+n+`))`, `echo $(( `+n+` + 1 ))`, `[[ $`+n+` -eq 1 ]]`, `[[ `+n+` -gt 0 ]]`, `[[ -v `+n+` ]]`,
		`[ $`+n+` -eq 1 ]`, `test $`+n, `test -v $`+n, `echo ${`+n+`:1:2}`, `echo ${`+n+`:`+n+`}`, `echo ${a[$`+n+`]}`, `echo ${a[`+n+`]}`, `cat $`+n, `cat "$`+n+`"`, `$`+n, `$`+n+` a.txt`,
		`ls $`+n, `set -x; ls`, `ls`, `./ls`, `cd sub; ls`, `cd sub && cat n.txt`, `git status`, `git diff`, `for i in $`+n+`; do cat "$i"; done`, `echo ${#`+n+`}`, `echo ${`+n+`^}`, `echo ${`+n+`/o/$(zap)}`,
		`printf "$`+n+`"`, `printf -v $`+n+` x`, `head $`+n+` a.txt`, `sort $`+n+` a.txt`, `sed $`+n+` a.txt`, `sed "$`+n+`" a.txt`, `awk "$`+n+`" a.txt`, `grep $`+n+` a.txt`, `find $`+n, `case $`+n+` in $(zap)) ;; esac`,
		`echo ${`+n+`:-$(ls)}`, `echo ${`+n+`:?no}`, `read $`+n+` < a.txt`, `export $`+n, `declare $`+n, `eval echo $`+n, `wc $`+n, `file $`+n, `diff $`+n+` a.txt`, `env $`+n, `xargs $`+n+` < names`, `less a.txt`, `man ls`, `jq . $`+n, `jq "$`+n+`" x.json`, `exec 3<$`+n, `echo >$`+n, `cat <$`+n, `kill -0 $`+n, `shift $`+n, `exit $`+n, `return $`+n, `wait $`+n, `let $`+n, `(( $`+n+` ))`, `((`+n+`++))`, `until [[ $`+n+` -lt 9 ]]; do break; done`, `select q in $`+n+`; do break; done < a.txt`)
}

// payload is text that runs zap where it is evaluated.
func (g *grammar) payload() string {
	return g.pick("a[$(zap)]", "a[`zap`]", "$(cat f)", "x", "y", "x=y", "b[x]", "0", "1", "z+1", "$((y))", "$x", "${y}", "f", "a[$x]", "x?y:z", "x,y", "x++", "RANDOM")
}

func (g *grammar) plain() string {
	return g.pick("a.txt", "b.txt", "sub", "sub/n.txt", ".", "f", "notes.md", "x.json", "a.zip", "a.tar", "a.gz", "z.bz2", "z.xz", "one", "2", "1", "main.go", "names", "names0", "1,2p", "-", "--", "*.txt", "HEAD", "./...")
}

func (g *grammar) path() string {
	return g.pick("a.txt", "b.txt", "f", "notes.md", "names", "names0", "sub/n.txt", "l/../secret.txt", "l/../f.txt", "out", "outdir/secret.txt", "../sib/secret.txt", "~/.ssh/id_rsa", "/sib/secret.txt",
		"/home/u/.netrc", ".pgpass", ".p*", ".env", "out*", "*/secret.txt", "sub/../a.txt", "inl/../a.txt", "l/..", "keys/*", "$HOME/.netrc", "/proc/self/environ", "/dev/null", "/dev/stdin", "bare", "hk/pre-commit", ".git/config",
		"./-x", "{a,b}.txt", "~+/a.txt", "$PWD/a.txt", "\"$PWD\"/../sib/secret.txt", "sub/.pgpass", "[a-b].txt", "?.txt", "o[u]t", "outdir/*", "l/*", "*", ".*", "**", "/dev/fd/0", "/dev/tcp/127.0.0.1/1", "zap", "./zap", "sub/ls", "s.sed", "p.awk", "c.jq", "x.json", "Makefile")
}

func (g *grammar) word() string {
	if g.depth++; g.depth > 6 {
		return g.plain()
	}
	defer func() { g.depth-- }()
	switch g.r.IntN(16) {
	case 0, 1, 2:
		return g.plain()
	case 3, 4:
		return g.path()
	case 5:
		return g.pick("$", `"$`, `"${`)[0:1] + g.name()
	case 6:
		return `"$` + g.name() + `"`
	case 7:
		return "$(" + g.simple() + ")"
	case 8:
		return `"$(` + g.simple() + `)"`
	case 9:
		return "${" + g.pick("", "", "!", "#") + g.name() + g.pick("", "[0]", "[@]", "[x]", "["+g.payload()+"]", ":-"+g.plain(), ":="+g.payload(), "%.*", "/o/x", ":1", ":x:y", "@P", "@Q", "@A", "^^", ":+$(zap)") + "}"
	case 10:
		return "$((" + g.payload() + "))"
	case 11:
		return "'" + g.program() + "'"
	case 12:
		return g.quoted(g.plain())
	case 13:
		return g.option()
	case 14:
		return "<(" + g.simple() + ")"
	}
	return g.payload()
}

// program is text in the language of a program that has one.
func (g *grammar) program() string {
	return g.pick(`{print $1}`, `BEGIN{system("zap")}`, `{print > "W"}`, `{print | "zap"}`, `BEGIN{"zap"|getline}`, `BEGIN{ARGV[1]="/sib/secret.txt";ARGC=2}1`, `BEGIN{while((getline l < "/sib/secret.txt")>0)print l}`, `$1>2`, `NR==1`, `{printf "%s\n", $1}`,
		`1e zap`, `1w W`, `s/one/zap/e`, `s/o/x/w W`, `1,2p`, `$p`, `s/a/b/`, `r /sib/secret.txt`, `R names`, `1{e zap`+"\n}", `y/abc/def/`, `$!N;P;D`, `/one/{p;q}`, `e`,
		`.a`, `.b[]`, `import "secret" as $s {search:"/sib"}; $s`, `include "c"; .`, `env`, `$ENV.HOME`, `input`, `[inputs]`, `@sh`, `input_filename`, `getpath(["a"])`, `$__loc__`, `"\(.a)"`,
		`a[$(zap)]`, `$(zap)`, "`zap`", `;zap`, `|zap`, `-v a[$(zap)]`, `@zap`, `%s`, `%d`, `{}`, `{} +`, `zap {}`)
}

func (g *grammar) option() string {
	switch g.r.IntN(5) {
	case 0, 1:
		out := "-"
		for range 1 + g.r.IntN(3) {
			out += string("abcdefghijklmnopqrstuvwxyzABCDEFGHILMNOPRSTUVWXYZ0123"[g.r.IntN(53)])
		}
		return out
	case 2:
		return g.long()
	case 3:
		return g.shortened(g.long())
	}
	return g.long() + "=" + g.pick(g.plain(), g.path(), "zap", "W", g.payload(), "-")
}

func (g *grammar) long() string {
	return g.pick("--expression", "--file", "--files0-from", "--output", "--in-place", "--regexp", "--compress-program", "--temporary-directory", "--exec", "--exec-batch", "--pre", "--hostname-bin", "--search-zip",
		"--textconv", "--ext-diff", "--no-ext-diff", "--no-textconv", "--output-indicator-new", "--open-files-in-pager", "--paginate", "--exec-path", "--git-dir", "--work-tree", "--upload-pack", "--show-signature", "--config-env",
		"--null", "--null-data", "--quiet", "--version", "--help", "--recursive", "--dereference-recursive", "--include", "--exclude-from", "--from-file", "--slurpfile", "--rawfile", "--arg", "--args", "--unbuffered", "--sandbox", "--posix", "--follow-symlinks",
		"--magic-file", "--compile", "--reference", "--target-directory", "--backup", "--suffix", "--chdir", "--ignore-environment", "--unset", "--split-string", "--append", "--format", "--kill-after", "--signal", "--foreground", "--line-buffered",
		"--color", "--sort", "--debug", "--parallel", "--batch-size", "--random-source", "--header", "--tabs", "--filter", "--additional-suffix", "--exec-delegate", "--files-with-matches", "--fixed-strings", "--load", "--include-dir", "--profile", "--dump-variables", "--lint", "--assign", "--field-separator", "--source", "--max-procs", "--arg-file", "--process-slot-var", "--interactive", "--open-tty", "-exec", "-execdir", "-ok", "-delete", "-fprint", "-fls", "-fprintf", "-newer", "-samefile", "-files0-from", "-name", "-path", "-printf", "-L", "-follow", "-type", "-prune", "-maxdepth")
}

func (g *grammar) simple() string {
	if g.depth++; g.depth > 7 {
		return "echo one"
	}
	defer func() { g.depth-- }()
	var b strings.Builder
	if g.odds(12) {
		b.WriteString(g.name() + "=" + g.word() + " ")
	}
	if g.odds(10) {
		b.WriteString(g.pick("env", "env -i", "env -C sub", "env -S", "time -p", "nice -n 5", "timeout 2", "command", "builtin", "exec", "stdbuf -o0", "nohup", "setsid", "xargs", "xargs -0", "xargs -I{}", "command -p", "env -u x", "time -po W", "exec -a x") + " ")
	}
	if g.odds(2) {
		b.WriteString(g.tabled())
		return b.String()
	}
	b.WriteString(g.pick("ls", "cat", "tac", "rev", "head", "tail", "wc", "sort", "uniq", "cut", "tr", "grep", "egrep", "fgrep", "sed", "awk", "find", "jq", "diff", "cmp", "comm", "paste", "join", "fold", "expand", "nl", "od", "hexdump", "xxd", "base64", "strings", "stat", "file", "readlink", "realpath",
		"basename", "dirname", "echo", "printf", "test", "[", "[[", "true", "seq", "date", "du", "df", "md5sum", "sha256sum", "git status", "git diff", "git log", "git show", "git grep", "git ls-files", "git branch", "git blame", "git -C sub status", "git -C bare status", "git rev-parse", "git cat-file", "git describe", "git shortlog", "git config", "git remote", "git stash list", "git reflog", "git tag", "git worktree list", "git for-each-ref", "git check-ignore", "git archive", "git help",
		"type", "which", "command -v", "hash", "read", "mapfile", "export", "declare", "local", "unset", "set", "shopt", "cd", "pushd", "eval", "alias", "trap", "wait", "jobs", "kill", "let", ":", "source", ".", "exec", "getopts", "shift", "help", "compgen", "bind", "enable", "complete", "history", "fc", "ulimit", "umask", "times", "dirs", "caller", "column", "less", "more", "man", "tar t", "tar tf", "unzip -l", "zcat", "gzip -l", "bc", "expr", "numfmt", "ps", "id", "uname", "free", "uptime", "env", "printenv", "make -n", "make", "python3 -V", "tee", "split", "csplit", "dd", "xargs", "tsort", "pr", "fmt", "iconv", "cksum", "shuf", "tree", "look", "getconf", "locale", "go version", "go list", "go vet", "perl -v", "node -v", "nm", "objdump", "readelf", "zdiff", "zgrep", "bzcat", "xzcat", "gunzip -c", "sdiff", "vi", "sleep", "yes", "watch", "script", "flock", "nproc", "arch", "tty", "lsof", "ss", "logname", "pathchk", "mktemp", "truncate", "touch", "mkdir", "zap"))
	for range g.r.IntN(4) {
		b.WriteByte(' ')
		switch g.r.IntN(5) {
		case 0:
			b.WriteString(g.option())
		case 1:
			b.WriteString(g.path())
		case 2:
			b.WriteString("'" + g.program() + "'")
		default:
			b.WriteString(g.word())
		}
	}
	out := b.String()
	if strings.HasPrefix(out, "[[ ") {
		out += " ]]"
	} else if strings.HasPrefix(out, "[ ") {
		out += " ]"
	}
	return out
}

// tabled is a program of the policy's table, mostly with options of its own.
func (g *grammar) tabled() string {
	p := g.table[g.r.IntN(len(g.table))]
	out := p.name
	for range g.r.IntN(4) {
		o := ""
		if len(p.options) > 0 && !g.odds(8) {
			o = p.options[g.r.IntN(len(p.options))]
		} else {
			o = g.option()
		}
		value := strings.HasSuffix(o, "=")
		o = strings.TrimSuffix(o, "=")
		if g.odds(6) {
			o = g.shortened(o)
		}
		switch {
		case !value:
		case strings.HasPrefix(o, "--") && g.odds(2):
			o += "=" + g.word()
		case g.odds(3):
			o += g.plain()
		default:
			o += " " + g.pick(g.plain(), "1", "2", g.word())
		}
		out += " " + o
	}
	for range g.r.IntN(3) {
		out += " " + g.pick(g.plain(), g.plain(), g.path(), g.word(), "'"+g.program()+"'")
	}
	return out
}

func (g *grammar) redirect() string {
	if !g.odds(4) {
		return ""
	}
	return " " + g.pick("2>/dev/null", ">/dev/null 2>&1", "<"+g.path(), "2>&1", ">W", ">>a.txt", ">"+g.path(), "<<< "+g.word(), "3<"+g.path(), "{fd}<"+g.path(), "<&3", ">&2", "&>/dev/null", "> >("+g.simple()+")", "< <("+g.simple()+")", "<>a.txt", ">|W", "{x}>W", ">/dev/stdout", ">/dev/fd/1", ">/proc/self/fd/1", "2>$x")
}
