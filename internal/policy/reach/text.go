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

func set(words string) map[string]bool {
	out := map[string]bool{}
	for w := range strings.FieldsSeq(words) {
		out[w] = true
	}
	return out
}

var (
	// interpreters run the file that an argument names.
	interpreters = set("sh bash dash zsh ksh ash fish busybox . source python pypy node nodejs ruby perl php lua luajit deno bun tsx ts-node R Rscript java groovy osascript pwsh tclsh expect guile include -include sinclude load -load import mod npx pnpx bunx uvx")
	// prefixes are the words after which a program follows.
	prefixes = set("time exec command env sudo nohup npx pnpx bunx uv uvx pipx poetry run exec bundle call then do if else !")
	// own run what their own files define, in ways that are not followed.
	own = set(`tox nox rake gradle gradlew mvn mvnw ant bazel cmake ctest meson ninja scons turbo nx lerna task mage invoke inv sbt mix dune composer bmake zig
		ansible-playbook devbox docker-compose podman-compose doit earthly foreman grunt gulp hatch honcho husky lefthook nix-shell overmind pdm pm2 poe pre-commit
		rebar3 rush skaffold tilt vagrant watchexec wireit direnv`)
	// languages are the extensions of source that interpreters run; data are those of what a
	// command reads or writes.
	languages = set(".py .rb .pl .pm .php .lua .js .cjs .mjs .ts .mts .cts .tsx .jsx")
	data      = set(`.log .out .txt .md .rst .xml .html .css .scss .vue .svelte .lcov .csv .tmp .pid .prof .svg .png .jpg .gif .pdf .db .sqlite .snap .lock .o .lo .a`)

	comment   = lazyregexp.New(`(?m)^[ \t]*#[^\n]*$|[ \t]#[^\n"']*$`)
	computed  = lazyregexp.New(`\$\$?(?:\w+|[@<^*?+|#!$-]|\{\w+[^{}\s/]*\}|\(\w+\))|\{\{[^{}]*\}\}|\{[^{}\s/]*(?:,[^{}\s]*)?\}|[%?]|\[[^\[\]\s"']+\]|[)}` + "`" + `]["']?/`)
	blanks    = lazyregexp.New(`"([^"\n$]* [^"\n]*)"|'([^'\n]* [^'\n]*)'|((?:[\w./-]|\\ )+\\ (?:[\w./-]|\\ )+)`)
	outputs   = lazyregexp.New(`(?:>\s*|\s-o\s+|\s--out\w*[= ]\s*)[^\s;|&<>]+|\b(?:touch|tee|rm|mkdir)\s[^;|&\n]*`)
	commands  = lazyregexp.New("[;|&()\n`]+")
	name      = lazyregexp.New(`[\w.@+~*/-]+`)
	anyFolder = lazyregexp.New(`\b(?:npm|pnpm|yarn|bun)\b.*(?:\s-ws?\b|\s-r\b|--workspace|--filter|--recursive|\sworkspaces?\b)|(?:\b(?:cd|pushd)\s+|\s-C\s*|--(?:directory|chdir|prefix|cwd|dir|working-directory)[= ])["']?(?:\*|\$\()`)
	unknown   = lazyregexp.New(`\b(?:docker|podman|nerdctl)\b.*\s(?:-v|--volume|--mount|compose|bake)\b|\$[({](?:eval|file)\b|\.RECIPEPREFIX|\.ONESHELL|\$'[^'\n]*\\[xu1]|\b(?:include|eval|source|sh|-c) (?:\$\(|` + "`" + `)(?:shell )?cat\b`)
	paths     = lazyregexp.New(`(?:^|[\s;])(?:PATH|PYTHONPATH|PYTHONHOME|NODE_PATH|RUBYLIB|PERL5LIB|LD_LIBRARY_PATH)\s*[:?+]*=\s*([^\s;]*)`)
	elsewhere = lazyregexp.New(`^(?:(?:/[^:]*|~[^:]*|\$[({]?HOME[^:]*|\$[({]?\w*PATH[)}]?|)(?::|$))*$`)
	compiling = lazyregexp.New(`\b(?:go (?:run|test|generate|tool|vet|build|install)|cargo (?:run|test|build|bench|check|clippy|r|t|b)|(?:dotnet|swift|deno|cabal|stack) (?:run|test|build)|pytest|py\.test|unittest|jest|vitest|mocha|ava|rspec|phpunit|node .*--test)\b`)
	loading   = lazyregexp.New(`\b(?:import_module|__import__|runpy\.run_\w+|spec_from_file_location|SourceFileLoader|execfile)\s*\(\s*[^"'\s)]|\b(?:require|import)\s*\(\s*[^"'\s)\x60]|\b(?:exec|eval)\s*\(\s*(?:open|Path|compile|fs\.|readFile|File\.)|\brunInThisContext\b|\binstance_eval\s+File`)
	searching = lazyregexp.New(`(?m)^.*(?:sys\.path|\buse lib\b|LOAD_PATH|\$:\s*(?:<<|\.)|package\.c?path|module\.paths|addsitedir|set_include_path|createRequire).*$`)
)

// scan takes the names out of a file.
func (r *walk) scan(file string) {
	text := strings.ReplaceAll(strings.ReplaceAll(r.text(file), "\r\n", "\n"), "\\\n", " ")
	ext := strings.ToLower(path.Ext(file))
	switch {
	case path.Base(file) == "package.json":
		r.scripts(text)
	case languages[ext], slices.Contains([]string{".json", ".toml", ".yml", ".yaml", ".cfg", ".ini", ".npmrc"}, ext):
		r.code(text, file)
	default:
		r.lines(text, file)
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
		if r.said[name] || r.said[strings.TrimPrefix(strings.TrimPrefix(name, "pre"), "post")] || r.said["*"] {
			r.said[name] = true
			r.lines(p.Scripts[name], "package.json")
		}
	}
	if !r.ask.Deep {
		text = strings.Join(slices.DeleteFunc(trust.Executable("package.json", text), func(l string) bool { return strings.HasPrefix(l, "scripts.") }), "\n")
	}
	r.code(text, "package.json")
}

// lines takes the names out of command lines.
func (r *walk) lines(text, from string) {
	for _, v := range r.ask.Vars {
		text = strings.NewReplacer("${"+v+"}", ".", "$"+v, ".").Replace(text)
	}
	if r.ask.Root != "" && r.ask.Root != "/" {
		text = strings.ReplaceAll(text, r.ask.Root+"/", "./")
	}
	text = comment().ReplaceAllString(text, "")
	plain := strings.NewReplacer(`"`, "", "'", "").Replace(text)
	if m := unknown().FindString(plain); m != "" {
		r.not(from + " has " + strings.TrimSpace(m) + ", so that what runs is known only when it runs")
	}
	for _, m := range paths().FindAllStringSubmatch(plain, -1) {
		if !elsewhere().MatchString(m[1]) {
			r.not(from + " has folders to search for programs or libraries: " + strings.TrimSpace(m[0]))
		}
	}
	if r.ask.Deep && compiling().MatchString(plain) {
		r.not(from + " has a command that runs source of this folder")
	}
	r.loads(text, from)
	for _, m := range blanks().FindAllStringSubmatch(text, -1) {
		r.word(word{text: strings.ReplaceAll(m[1]+m[2]+m[3], `\ `, " ")})
	}
	for range 3 { // they may be nested
		text = computed().ReplaceAllStringFunc(text, func(s string) string {
			if strings.HasSuffix(s, "/") && strings.ContainsAny(s[:1], ")}`") {
				return " */"
			}
			return "*"
		})
	}
	text = outputs().ReplaceAllString(text, " ")
	r.wide = r.wide || anyFolder().MatchString(text)
	text = strings.NewReplacer(`"`, " ", "'", " ", `\`, "", "=", " = ", ",", " ", ":", " ", "<", " < ").Replace(strings.NewReplacer(`"/`, "/", `'/`, "/", `/"`, "/", `/'`, "/").Replace(text))
	r.code(text, "")
	at := 0
	for at < len(text) {
		end, next := len(text), len(text)
		if m := commands().FindStringIndex(text[at:]); m != nil {
			end, next = at+m[0], at+m[1]
		}
		r.command(strings.Fields(text[at:end]), at > 0 && text[at-1] == '|', from)
		at = next
	}
}

// command looks for programs among the words of a command that run what cannot be listed,
// or a file without its extension.
func (r *walk) command(words []string, piped bool, from string) {
	program := true
	for i, w := range words {
		base := strings.TrimRight(path.Base(w), "0123456789.")
		if w == "." {
			base = w
		}
		switch {
		case program && own[base]:
			r.not(from + " calls " + base + ", which runs what its own files define")
		case interpreters[base]:
			r.interpreter(words[i+1:], piped || slices.ContainsFunc(words[:i], func(w string) bool { return w == "xargs" || w == "parallel" || strings.HasPrefix(w, "-exec") }), from+" calls "+base)
		}
		program = program && (prefixes[w] || strings.HasPrefix(w, "-")) || prefixes[w] || w == "=" || i+1 < len(words) && words[i+1] == "="
	}
}

// interpreter takes the file that an interpreter runs out of its arguments. fed: its input,
// or what another program gives it, is not known.
func (r *walk) interpreter(args []string, fed bool, calls string) {
	for i, w := range args {
		w = strings.Trim(w, "+")
		switch {
		case w == "<" || w == "--test" && !r.ask.Deep: // what follows is named; tests are source
			return
		case w == "-c" || w == "-e" || strings.HasPrefix(w, "-") && strings.HasSuffix(w, "c") && len(w) < 5:
			if len(args) > i+1 && args[i+1] != "*" {
				for _, n := range args[i+1:] {
					r.word(word{text: n, stem: r.ask.Deep})
				}
				return
			}
		case strings.Trim(w, "*@%/") == "" && w != "":
			r.not(calls + " with a file that is known only when it runs")
			return
		case strings.HasPrefix(w, "-"):
			if len(w) > 2 { // -r./x
				r.word(word{text: w[2:], stem: true})
			}
		default:
			r.word(word{text: w, stem: true})
			if i == 0 || !strings.HasPrefix(args[i-1], "-") {
				return
			}
			fed = false
		}
	}
	if fed {
		r.not(calls + ", whose input is known only when it runs")
	}
}

// code takes all names out of a text. With a name of its file it is in another language, or
// configuration.
func (r *walk) code(text, file string) {
	for _, n := range name().FindAllString(text, -1) {
		r.said[n], r.said[strings.TrimRight(path.Base(n), "0123456789.")] = true, true
		w := word{text: n, code: file != "", stem: file != "" && r.ask.Deep}
		r.word(w)
		if plain := strings.TrimLeft(n, "-+@"); plain != n && plain != "" {
			w.text = plain
			r.word(w)
			w.text = plain[1:] // -Ilib
			r.word(w)
		}
	}
	if file != "" {
		r.loads(text, file)
	}
}

// loads looks for code that is loaded from elsewhere than its text names.
func (r *walk) loads(text, from string) {
	if !r.ask.Deep {
		return
	}
	if loading().MatchString(text) {
		r.not(from + " loads code by a name that is known only when it runs")
	}
	for _, l := range searching().FindAllString(text, -1) {
		found := false
		for _, n := range name().FindAllString(l, -1) {
			for _, b := range slices.Clone(r.bases) {
				for ; ; b = path.Dir(b) { // relative to a parent folder, by dirname or parent
					if at := path.Join(b, n); r.isFolder(at) {
						r.folder(at)
						found = true
					}
					if b == "." {
						break
					}
				}
			}
		}
		if !found {
			r.not(from + " says where modules are searched for: " + strings.TrimSpace(l)[:min(len(strings.TrimSpace(l)), 60)])
		}
	}
}

// word adds a name that a text has.
func (r *walk) word(w word) {
	for strings.Contains(w.text, "**") {
		w.text = strings.ReplaceAll(w.text, "**", "*")
	}
	literal := strings.Trim(w.text, "*@+-/.~") != ""
	if w.text == "" || !literal || strings.HasPrefix(w.text, "/") && !w.code || strings.HasPrefix(w.text, "~") {
		return // nothing, or outside the folder
	}
	w.text = strings.TrimLeft(w.text, "/")
	if below := strings.TrimLeft(w.text, "./"); strings.HasPrefix(w.text, "../") && below != "" { // it may run in any folder
		v := w
		v.text = below
		r.word(v)
	}
	switch {
	case r.known[w]:
	case len(r.words) >= maxWords:
		r.not("it has more names than are followed")
	default:
		r.known[w] = true
		r.words, r.tried = append(r.words, w), append(r.tried, 0)
	}
}
