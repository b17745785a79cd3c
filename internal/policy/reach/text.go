package reach

import (
	"encoding/json"
	"maps"
	"path"
	"slices"
	"strings"

	"github.com/pawl-agent/pawl/internal/core/lazyregexp"
	"github.com/pawl-agent/pawl/internal/policy/trust"
)

// This file takes names out of texts: by blanks, quotes and separators, without the
// syntax of any language.

// mark encloses the variables that a computed part of a name consists of, between commas;
// ? stands for what is no variable.
const mark = "\x00"

// unmarked removes what this package itself puts into texts.
var unmarked = strings.NewReplacer(mark, " ", "\x01", " ", "\x02", " ")

func set(words string) map[string]bool {
	out := map[string]bool{}
	for w := range strings.FieldsSeq(words) {
		out[w] = true
	}
	return out
}

var (
	// prefixes are the words after which a program follows.
	prefixes = set(`if then else elif do while until ! { time exec command builtin eval trap env export local declare readonly sudo doas nohup setsid nice stdbuf
		timeout xargs parallel coproc npx pnpx bunx uv uvx pipx poetry pipenv mise bundle shell call -exec -execdir -ok --exec --run`)
	includes = set("include -include sinclude load -load import import? mod mod?")
	// interpreters run the file that an argument names.
	interpreters = set("sh bash dash zsh ksh ash fish busybox . source python pypy node nodejs ruby perl php lua luajit deno bun tsx ts-node R Rscript java groovy osascript pwsh tclsh expect guile")
	shells       = set("sh bash dash zsh ksh ash fish busybox . source")
	// writers run nothing that they are given.
	writers = set("touch tee rm mkdir")
	// own run what their own files define, in ways that are not followed.
	own = set(`tox nox rake gradle gradlew mvn mvnw ant bazel cmake ctest meson ninja scons turbo nx lerna task mage invoke inv sbt mix dune composer bmake zig
		ansible-playbook devbox docker-compose podman-compose doit earthly foreman grunt gulp hatch honcho husky lefthook nix-shell overmind pdm pm2 poe pre-commit
		rebar3 rush skaffold tilt vagrant watchexec wireit direnv`)
	// functions are those of make whose value consists of their arguments.
	functions = set("wildcard sort strip filter filter-out patsubst addprefix addsuffix if or and call info warning error abspath")
	// languages are the extensions of source that interpreters run; programs are those of
	// other scripts; data are those of what a command reads or writes.
	languages = set(".py .rb .pl .pm .php .lua .js .cjs .mjs .ts .mts .cts .tsx .jsx")
	programs  = set(".sh .bash .zsh .ksh .fish .ps1 .awk .sed .jq .bat .cmd .mk .just .jar .bats .exp .so .node .pyc .pyd .dylib")
	data      = set(`.log .out .txt .md .rst .xml .html .css .scss .vue .svelte .lcov .csv .tmp .pid .prof .svg .png .jpg .gif .pdf .db .sqlite .snap .lock .o .lo .a`)

	self       = lazyregexp.New(`\$0\b|\$\{0\}|\$\{BASH_SOURCE(?:\[0\]|\[-1\])?(?::-\$0)?\}|\$BASH_SOURCE\b`)
	here       = lazyregexp.New(`\$\(\s*(?:dirname|realpath|readlink -f)\s+(?:--\s+)?"?(?:SELF|\.)"?\s*\)|\$\{0%/\*\}|\$\{BASH_SOURCE(?:\[0\])?%/\*\}|\$\(\s*git rev-parse --show-toplevel\s*\)|` + "`git rev-parse --show-toplevel`|`pwd`" + `|\$\(pwd\)|\$PWD\b|\$[({]PWD[)}]|\$[({]CURDIR[)}]|\$\(shell pwd\)`)
	there      = lazyregexp.New(`\$\(\s*cd\s+(?:-P\s+)?(?:--\s+)?"?([A-Za-z0-9_./-]+)"?\s*[^)&;]*(?:&&|;)\s*pwd(?:\s+-P)?\s*\)`)
	computed   = lazyregexp.New(`\$\(\(([^()]*)\)\)|\$\(([^()$]*)\)|\$\{([^{}$]*)\}|\{\{([^{}]*)\}\}|` + "`([^`\n]*)`" + `|\$([A-Za-z_]\w*|[0-9@<^*?+|#!$-])|\{([^{}\s]*)\}`)
	quoted     = lazyregexp.New(`'[^'\n]*'|"(?:[^"\\\n]|\\.)*"`)
	runsLines  = lazyregexp.New(`(?:\s-\w*[ce]|\seval|\strap|\s--e\w+|\s--run|\b(?:concurrently|watch|nodemon|parallel|flock|script).*)\s+$`)
	separators = lazyregexp.New(`[;|&()]+`)
	escaped    = lazyregexp.New(`\$'[^'\n]*\\(?:x[2-7][0-9A-Fa-f]|u00|1[0-7][0-7])`)
	comment    = lazyregexp.New(`(?m)^[ \t]*#[^\n]*$|[ \t]#[^\n"']*$`)
	variable   = lazyregexp.New(`^\s*([\w.-]+)\s*(?::?[-=?+]|[:%#/\[^,]|$)`)
	changed    = lazyregexp.New(`^[\w.-]+:\S*?=(\S*)$`)
	capitals   = lazyregexp.New(`^[A-Z][A-Z0-9_]*$`)
	assignment = lazyregexp.New(`(?m)(?:^|[\s;&|"'])(?:define\s+)?([A-Za-z_][\w.-]*)\s*(?:[:?+!]*=|\n)[ \t]*(\([^)\n]*\)|"[^"\n]*"|'[^'\n]*'|[^\n;]*)`)
	given      = lazyregexp.New(`\b(?:read|mapfile|readarray|getopts|printf\s+-v)\s+([^;|&\n<]*)`)
	loop       = lazyregexp.New(`\bfor\s+(\w+)\s+in\s+([^;\n]*)`)
	defined    = lazyregexp.New(`(?ms)^define[ \t]+([\w.-]+)[^\n]*\n(.*?)^endef`)
	container  = lazyregexp.New(`\b(?:docker|podman|nerdctl)\b.*\s(?:-v|--volume|--mount|compose|bake)\b`)
	compiling  = lazyregexp.New(`\b(?:go (?:run|test|generate|tool|vet|build|install)|cargo (?:run|test|build|bench|check|clippy|r|t|b)|(?:dotnet|swift|deno|cabal|stack) (?:run|test|build)|pytest|py\.test|unittest|jest|vitest|mocha|ava|rspec|phpunit|node .*--test)\b`)
	everywhere = lazyregexp.New(`\b(?:npm|pnpm|yarn|bun)\b.*(?:\s-ws?\b|\s-r\b|--workspace|--filter|--recursive|\sworkspaces?\b)|(?:\b(?:cd|pushd)\s+|\s-C\s*|--(?:directory|chdir|prefix|cwd|dir|working-directory)[= ])[^\s;&|)]*(?:` + mark + `|\*)`)
	searching  = lazyregexp.New(`(?:^|[\s;"'])(?:PATH|PYTHONPATH|PYTHONHOME|PYTHONUSERBASE|PYTHONPYCACHEPREFIX|NODE_PATH|RUBYLIB|PERL5LIB|LD_LIBRARY_PATH)\s*[:?+]*=\s*([^\s;]*)`)
	elsewhere  = lazyregexp.New(`^["']?(?:(?:/[^:"']*|~[^:"']*|\$[({]?HOME[^:"']*|\$[({]?\w*PATH[)}]?|)(?::|["']|$))*$`)
	hides      = lazyregexp.New(`\$[({](?:eval|file)\b|\.RECIPEPREFIX|\.ONESHELL`)
	named      = lazyregexp.New(`[A-Za-z0-9_@.+~-]*(?:[/.][A-Za-z0-9_@.+~-]+)+`)
	loading    = lazyregexp.New(`\b(?:import|from|require|require_relative|load|include|include_once|require_once|dofile|loadfile|use|do|import_module|__import__|export)\b`)
	bareName   = lazyregexp.New(`[A-Za-z_@][A-Za-z0-9_@/.-]*`)
	loads      = lazyregexp.New(`\b(?:import_module|__import__|runpy\.run_\w+|spec_from_file_location|SourceFileLoader|execfile)\s*\(\s*[^"'\s)]|\b(?:require|import)\s*\(\s*[^"'\s)\x60]|\b(?:exec|eval)\s*\(\s*(?:open|Path|compile|fs\.|readFile|File\.)|\brunInThisContext\b|\binstance_eval\s+File`)
	searched   = lazyregexp.New(`sys\.path|\buse lib\b|LOAD_PATH|\$:\s*(?:<<|\.)|package\.c?path|module\.paths|addsitedir|set_include_path|createRequire`)
)

// scan takes the names out of a file.
func (r *walk) scan(t file) {
	text, _ := r.text(t.name)
	text = strings.ReplaceAll(strings.ReplaceAll(text, "\r\n", "\n"), "\\\n", " ")
	switch t.as {
	case scripts:
		r.scripts(text)
	case recipe:
		r.recipes(strings.ReplaceAll(text, "$$", "$"))
	case other:
		r.foreign(text)
	default:
		r.lines(text, false)
	}
}

// recipes takes the names out of a makefile. In a line that is no recipe no program
// stands first.
func (r *walk) recipes(text string) {
	if hides().MatchString(text) {
		r.not("$(eval …), $(file …), .ONESHELL or .RECIPEPREFIX")
	}
	for _, m := range defined().FindAllStringSubmatch(text, -1) {
		r.assign(m[1], m[2])
	}
	defining := false
	for l := range strings.Lines(text) {
		first, rest, _ := strings.Cut(strings.Join(strings.Fields(l), " "), " ")
		defining = first == "define" || defining && first != "endef"
		switch {
		case first == "" || first[0] == '#':
		case strings.HasPrefix(l, "\t") || defining:
			r.lines(strings.TrimLeft(l, "@+- \t"), false)
		case includes[first]:
			r.lines(rest, true)
		case strings.Contains(l, "!="):
			r.assign(strings.TrimSpace(l[:strings.Index(l, "!=")]), "$(it is read)")
			r.lines(l[strings.Index(l, "!=")+2:], false)
		default:
			if head, _, ok := strings.Cut(l, "="); ok && l[0] == '$' && !strings.Contains(head, ":") {
				r.not("an assignment to a variable whose name is known only when it runs")
			}
			r.lines(": "+l, false)
		}
	}
}

// scripts takes the names out of those scripts of a package.json that a text names.
func (r *walk) scripts(text string) {
	var p struct {
		Scripts map[string]string `json:"scripts"`
	}
	if json.Unmarshal([]byte(text), &p) != nil {
		return // it defines no scripts
	}
	for _, name := range slices.Sorted(maps.Keys(p.Scripts)) {
		l := unmarked.Replace(p.Scripts[name])
		if r.said[name] || r.said[strings.TrimPrefix(strings.TrimPrefix(name, "pre"), "post")] || r.said["*"] {
			r.said[name] = true
			r.said["*"] = r.said["*"] || strings.ContainsAny(l, "$*") && runner().MatchString(l)
			r.lines(l, false)
		}
	}
	if !r.ask.Deep {
		text = strings.Join(slices.DeleteFunc(trust.Executable("package.json", text), func(l string) bool { return strings.HasPrefix(l, "scripts.") }), "\n")
	}
	r.foreign(text)
}

var unquoted = strings.NewReplacer(`\ `, "\x02", `"`, "", "'", "", `\`, "")

var runner = lazyregexp.New(`\b(?:npm|pnpm|yarn|bun|run-[sp]|npm-run-all)\b`)

func (r *walk) assign(name, value string) {
	if value = strings.TrimSpace(value); !slices.Contains(r.vars[name], value) && len(r.vars[name]) < maxReached {
		r.vars[name] = append(r.vars[name], value)
		r.values++
	}
}

// lines takes the names out of command lines. If all is set, each name is of a file that
// is included.
func (r *walk) lines(text string, all bool) {
	if escaped().MatchString(text) {
		r.not("a name in escapes")
	}
	text = strings.NewReplacer(`$'`, "'", `$"`, `"`).Replace(text)
	plain := unquoted.Replace(text)
	if container().MatchString(plain) {
		r.not("a container that runs files of this folder")
	}
	for _, m := range searching().FindAllStringSubmatch(plain, -1) {
		if !elsewhere().MatchString(m[1]) {
			r.not("folders to search for programs or libraries: " + strings.TrimSpace(m[0]))
		}
	}
	if r.ask.Deep {
		if compiling().MatchString(plain) {
			r.not("a command that runs source of this folder")
		}
		r.modules(text)
	}
	text = r.own(comment().ReplaceAllString(text, ""))
	for _, m := range slices.Concat(assignment().FindAllStringSubmatch(text, -1), loop().FindAllStringSubmatch(text, -1)) {
		r.assign(m[1], strings.Trim(m[2], `"'()`))
	}
	for _, m := range given().FindAllStringSubmatch(text, -1) {
		for _, name := range strings.Fields(m[1]) {
			r.assign(name, "$(it is read)")
		}
	}
	text = r.parts(text, all)
	if everywhere().MatchString(text) {
		r.wide = true
	}
	for _, q := range quoted().FindAllString(text, -1) {
		if strings.Contains(q, " ") { // a name with blanks
			r.word(word{text: q[1 : len(q)-1], run: all})
		}
	}
	var b strings.Builder
	from := 0
	for _, at := range quoted().FindAllStringIndex(text, -1) {
		q := text[at[0]+1 : at[1]-1]
		switch {
		case runsLines().MatchString(text[max(0, at[0]-80):at[0]]):
		case at[0] > 0 && nameByte(text[at[0]-1]), at[1] < len(text) && nameByte(text[at[1]]): // a part of a name
			q = strings.ReplaceAll(q, " ", "\x02")
			fallthrough
		default:
			q = separators().ReplaceAllString(q, " \x01 ")
		}
		b.WriteString(text[from:at[0]] + q)
		from = at[1]
	}
	text = unquoted.Replace(b.String() + text[from:])
	for l := range strings.Lines(text) {
		piped := false
		for l != "" {
			at := separators().FindStringIndex(l)
			if at == nil {
				at = []int{len(l), len(l)}
			}
			r.command(strings.Fields(strings.NewReplacer("<", " < ", ">", " > ").Replace(l[:at[0]])), piped, all)
			piped = strings.TrimSpace(l[at[0]:at[1]]) == "|"
			l = l[at[1]:]
		}
	}
}

func nameByte(c byte) bool {
	return c == '/' || c == '.' || c == '_' || c == '-' || c >= '0' && c <= '9' || c|0x20 >= 'a' && c|0x20 <= 'z'
}

// own replaces what names the folder of the text or of the command.
func (r *walk) own(text string) string {
	for _, v := range r.ask.Vars {
		text = strings.NewReplacer("${"+v+"}", ".", "$"+v, ".").Replace(text)
	}
	if r.ask.Root != "" && r.ask.Root != "/" {
		text = strings.ReplaceAll(text, r.ask.Root+"/", "./")
	}
	if strings.Contains(text, "SELF") {
		return text
	}
	text = self().ReplaceAllString(text, "SELF")
	for range 3 { // they may be nested
		text = here().ReplaceAllString(there().ReplaceAllString(text, "$1"), ".")
	}
	return strings.ReplaceAll(text, "SELF", mark+mark)
}

// parts replaces each computed part by a mark, and takes the names out of it.
func (r *walk) parts(text string, all bool) string {
	for range 12 {
		next := computed().ReplaceAllStringFunc(text, func(s string) string {
			m := computed().FindStringSubmatch(s)
			inner := strings.Join(m[1:], "")
			first, args, isCall := strings.Cut(strings.TrimSpace(inner), " ")
			v := variable().FindStringSubmatch(inner)
			switch {
			case s[0] == '{' && s[1] != '{': // a list, or the file that find names
				r.lines(strings.ReplaceAll(inner, ",", " "), all)
				return mark + "?" + mark
			case s[0] == '$' && s[1] == '(' && isCall && functions[first]:
				args = strings.ReplaceAll(strings.ReplaceAll(args, ",", " "), "%", "*")
				r.lines(": "+args, all)
				var names []string
				for i, n := range strings.Split(args, mark) {
					if i%2 == 1 {
						names = append(names, n)
					}
				}
				if called := strings.Fields(args); first == "call" && len(called) > 0 {
					names = append(names, called[0])
				}
				if strings.HasPrefix(first, "add") {
					names = append(names, "?")
				}
				return mark + strings.Join(names, ",") + mark
			case v != nil && (s[:2] != "$(" || !isCall && !strings.ContainsAny(strings.SplitN(inner, ":", 2)[0], "/")):
				if m := changed().FindStringSubmatch(inner); m != nil {
					to := strings.ReplaceAll(m[1], "%", "*")
					if !strings.Contains(to, "*") {
						to = "*" + to
					}
					r.word(word{text: to, run: all, at: r.at})
				} else if rest := strings.TrimLeft(inner[len(v[1]):], ":-=+?%#/"); rest != "" {
					r.lines(": "+rest, false)
				}
				r.said[v[1]] = true
				return mark + v[1] + mark
			}
			r.lines(inner, false)
			return mark + "?" + mark
		})
		if next == text {
			break
		}
		text = next
	}
	return strings.NewReplacer("$(", mark+"?"+mark+" ", "${", mark+"?"+mark+" ").Replace(text)
}

// command takes the names out of the words of a command.
func (r *walk) command(words []string, piped, all bool) {
	program, run, wrapped, out, in, option := "", true, false, false, false, false
	script := "" // the interpreter whose file comes next
	for _, w := range words {
		w = strings.ReplaceAll(w, "\x02", " ")
		name := strings.TrimRight(path.Base(w), "0123456789.")
		if w == "." {
			name = w
		}
		r.said[path.Base(w)], r.said[name] = true, true
		isOption := len(w) > 1 && w[0] == '-' || w == "-" && script != ""
		switch {
		case w == "<", w == ">":
			in, out = w == "<", w == ">"
			continue
		case out, strings.HasPrefix(w, "--out") && strings.Contains(w, "="):
			out = false
			continue
		case w == "-o", strings.HasPrefix(w, "--out"):
			out = true
			continue
		case w == "\x01", writers[program] && !all:
			continue
		case all:
			r.runs(word{text: w, script: true, include: true}, true)
		case script != "" && isOption:
			option = w != "-m" && w != "-c"
			if w == "--test" && !r.ask.Deep { // tests are source
				script, piped = "", false
			}
		case script != "" && strings.Trim(w, "%:@+{}") == "":
			r.not("a file to run that " + program + " names only when it runs")
		case script != "":
			r.runs(word{text: w, script: true, foreign: !shells[script]}, false)
			if piped = false; !strings.Contains(w, mark) && (!option || strings.ContainsAny(w, "./")) {
				script = ""
			}
			if own[w] {
				r.not("a call of " + w + ", which runs what its own files define")
			}
			option = false
		case in:
		case run && (isOption && !prefixes[w] || strings.Contains(strings.Trim(w, "="), "=") || wrapped && strings.ContainsAny(w[:1], "+0123456789")):
		case prefixes[w], run && prefixes[name]:
			run, wrapped, program = true, true, name
			piped = piped || w == "xargs" || w == "parallel" || w[0] == '-'
		case interpreters[name] && (run || name != "." && name != "source" && program != "echo" && program != "printf"):
			script, option, run = name, false, false
		case run:
			w = strings.TrimLeft(w, "@+-")
			if own[name] || own[path.Base(w)] {
				r.not("a call of " + path.Base(w) + ", which runs what its own files define")
			}
			if run, program = false, name; includes[w] {
				all = true
			} else if w != "" && w != ":" {
				r.runs(word{text: w}, false)
			} else {
				run = w == ""
			}
		}
		in = false
		if isOption && len(w) > 2 && w[1] != '-' {
			r.word(word{text: w[2:], script: script != "", value: true, foreign: !shells[script]})
		}
		r.word(word{text: w})
		for _, p := range strings.FieldsFunc(w, func(c rune) bool { return strings.ContainsRune("=:,!@[]<>", c) }) {
			if p != w {
				r.word(word{text: p, value: true, script: script != "", foreign: !shells[script]})
			}
		}
	}
	if script != "" && piped && !in {
		r.not("a call of " + script + ", whose input is known only when it runs")
	}
}

// runs takes a word that is run. One without a literal part is what its parts may be.
func (r *walk) runs(w word, all bool) {
	w.run = true
	if !strings.Contains(w.text, mark) || strings.Trim(spare().ReplaceAllString(w.text, ""), "*@+-/.") != "" {
		r.word(w)
		return
	}
	ms := spare().FindAllString(w.text, -1)
	if strings.ContainsAny(w.text, "/.*") {
		r.not("a file to run that is known only when it runs")
	}
	for i, m := range ms {
		for _, name := range strings.Split(strings.Trim(m, mark), ",") {
			v := ref{name: name, at: r.at, part: i < len(ms)-1, all: all, script: w.script}
			if name != "" && !slices.ContainsFunc(r.refs, func(o ref) bool { v.done = o.done; return o == v }) {
				v.done = 0
				r.refs = append(r.refs, v)
			}
		}
	}
}

var spare = lazyregexp.New(mark + `[^\x00]*` + mark)

// foreign takes the names out of a text in another language, or of configuration.
func (r *walk) foreign(text string) {
	for _, n := range named().FindAllString(text, -1) {
		r.word(word{text: strings.TrimLeft(n, "/")})
	}
	if !r.ask.Deep {
		return
	}
	if loads().MatchString(text) {
		r.not("code that it loads by a name that is known only when it runs")
	}
	r.modules(text)
}

// modules takes the names of what the lines of a text load.
func (r *walk) modules(text string) {
	for l := range strings.Lines(text) {
		names := bareName().FindAllString(l, -1)
		if loading().MatchString(l) {
			for _, n := range names {
				r.word(word{text: strings.TrimRight(n, "./"), run: true, script: true, foreign: true})
			}
		}
		if !searched().MatchString(l) {
			continue
		}
		found := false
		for _, n := range names {
			for _, b := range r.above() { // relative to a parent folder, by dirname or parent
				if at := path.Join(b, n); r.isFolder(at) {
					r.folder(at)
					found = true
				}
			}
		}
		if !found {
			r.not("a line that says where modules are searched for: " + strings.TrimSpace(l)[:min(len(strings.TrimSpace(l)), 60)])
		}
	}
}

// definitions counts the files that define what the named tools run.
func (r *walk) definitions() {
	here, above := trust.DefinedFor(r.said)
	w := word{run: true}
	for _, b := range slices.Clone(r.bases) {
		for _, n := range here {
			r.name(path.Join(b, n), w)
		}
	}
	for _, b := range r.above() {
		for _, n := range above {
			r.name(path.Join(b, n), w)
		}
	}
	if r.wide {
		for _, n := range slices.Concat(here, above) {
			r.pattern(word{text: "*/" + n, run: true})
		}
	}
}
