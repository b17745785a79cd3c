// Package reach follows what command lines run: the scripts that they call, the
// definitions of the tools that they start, and the files that these include (SPEC
// 16.1). A person trusts a check, a hook or a server of a folder in its present state;
// the files that this package finds must stay unchanged for that.
//
// It promises to omit nothing silently: if the files of a command cannot be listed
// before it runs, Found has the reason, and the caller must count every file of the
// folder. It reads only from the caller's fs.FS, within limits, and starts nothing. It
// does not evaluate programs in languages other than the shell's; with Deep it follows
// the files that their text names.
package reach

import (
	"encoding/json"
	"errors"
	"io"
	"io/fs"
	"path"
	"slices"
	"strings"
	"syscall"

	"github.com/pawl-agent/pawl/internal/core/lazyregexp"
	"github.com/pawl-agent/pawl/internal/core/shellsyntax"
	"github.com/pawl-agent/pawl/internal/policy/command"
)

// Limits of what is followed.
const (
	maxReached = 200
	maxRounds  = 8
	maxFile    = 1 << 20 // the longest file that is read, in bytes
)

// under is the path of the folder for the parser of command lines: a path that begins
// differently is outside it.
const under = "/workspace"

// Ask describes what is to be followed.
type Ask struct {
	// Dir is where the command runs, relative to the folder.
	Dir string
	// Definitions are files that define what runs: makefiles, package.json.
	Definitions []string
	// Lines are command lines that run in Dir.
	Lines []string
	// Root is the folder's own path; lines may use it to name the folder's files.
	Root string
	// Vars are variables whose value is the folder's path.
	Vars []string
	// Deep also follows what scripts in languages other than the shell's load. For a
	// check it is not set: a check runs the project's source code, which trust does not
	// cover. A hook or a server is defined by all that it loads.
	Deep bool
}

// Found is what runs.
type Found struct {
	Files   []string // relative to the folder
	Folders []string // folders of which every file may run: packages that are loaded
	// Built are compiled programs that a makefile builds; they are not among Files.
	Built []string
	// Unlisted is why not everything was found, "" if everything was.
	Unlisted string
}

// walk is the state of a search.
type walk struct {
	fsys  fs.FS
	ask   Ask
	found Found
	todo  []definition
	vars  map[string][]string // the values that makefiles give their variables
	at    definition          // the one that is being read
	// targets are the files for which makefiles have rules.
	targets   map[string]bool
	links     int
	including bool // an include line is being expanded
	all       bool // every script of each package.json may run
}

// definition is a file that is read to find what it runs, in a folder.
type definition struct {
	dir, name string
	as        how
}

// how is the way in which a file is run.
type how int

const (
	asItIs    how = iota // its content decides how
	asProgram            // by the system: a shell runs it if it names no interpreter
	asShell              // by a shell
	asSourced            // by the shell that runs another file, which is then $0
	asScript             // by an interpreter of another language
)

// Of returns what runs in a folder for a.
func Of(fsys fs.FS, a Ask) Found {
	a.Dir = path.Clean(a.Dir)
	r := &walk{fsys: fsys, ask: a, vars: map[string][]string{}, targets: map[string]bool{}}
	for _, n := range a.Definitions {
		r.define(a.Dir, n)
	}
	for i, before := 0, ""; ; i++ { // a later file's variables apply in an earlier one
		r.found.Unlisted, r.links = "", 0
		r.at = definition{dir: a.Dir}
		for _, l := range a.Lines {
			r.line(a.Dir, l)
		}
		for j := 0; j < len(r.todo); j++ {
			r.at = r.todo[j]
			r.read()
		}
		now := r.state()
		if now == before {
			return r.withoutBuilt()
		}
		if i == maxRounds {
			r.not("definitions that call each other without an end")
			return r.found
		}
		before = now
	}
}

// withoutBuilt omits the compiled programs that a makefile builds: they are compiled
// source code, and change with it (ADR 022).
func (r *walk) withoutBuilt() Found {
	if r.ask.Deep {
		return r.found
	}
	for name := range r.targets {
		if fs.ValidPath(name) && r.isMachineCode(name) {
			r.found.Built = append(r.found.Built, name)
		}
	}
	slices.Sort(r.found.Built)
	r.found.Files = slices.DeleteFunc(r.found.Files, func(n string) bool { return slices.Contains(r.found.Built, n) })
	return r.found
}

func (r *walk) isMachineCode(name string) bool {
	f, err := r.fsys.Open(name)
	if err != nil {
		return false
	}
	defer f.Close()
	head := make([]byte, 8)
	n, _ := io.ReadFull(f, head) // a short file has a short head
	return machineCode(string(head[:n]))
}

// state returns a value that changes if a round found something.
func (r *walk) state() string {
	b, _ := json.Marshal([]any{len(r.found.Files), len(r.found.Folders), len(r.todo), r.vars}) // plain strings: no error
	return string(b)
}

// not records something that cannot be listed.
func (r *walk) not(what string) {
	if r.found.Unlisted == "" {
		r.found.Unlisted = strings.TrimPrefix(path.Join(r.at.dir, path.Base(r.at.name))+" has ", ". has ")
		if r.at.name == "" {
			r.found.Unlisted = "the command has "
		}
		r.found.Unlisted += what
	}
}

func (r *walk) isFile(name string) bool {
	st, err := fs.Stat(r.fsys, name)
	return err == nil && st.Mode().IsRegular()
}

// leadsOut reports whether a name is a link to outside the folder. Its target cannot be
// read, so nothing that runs it is trusted.
func (r *walk) leadsOut(name string) bool {
	_, err := fs.Stat(r.fsys, name)
	if err == nil || errors.Is(err, fs.ErrNotExist) || errors.Is(err, syscall.ENOTDIR) {
		return false
	}
	st, err := fs.Lstat(r.fsys, name)
	return err == nil && !st.IsDir()
}

// text returns a file's text, "" if it cannot be read.
func (r *walk) text(name string) string {
	st, err := fs.Stat(r.fsys, name)
	if err != nil || !st.Mode().IsRegular() || st.Size() > maxFile {
		return ""
	}
	b, err := fs.ReadFile(r.fsys, name)
	if err != nil {
		return ""
	}
	return string(b)
}

// add adds a file that is run. A file that does not exist runs nothing; if it is
// created later, it is found then.
func (r *walk) add(name string) bool {
	if name = path.Clean(name); !fs.ValidPath(name) || !r.isFile(name) && !r.leadsOut(name) {
		return false
	}
	if !slices.Contains(r.found.Files, name) {
		if len(r.found.Files) >= maxReached {
			r.not("more files than are followed")
			return false
		}
		r.found.Files = append(r.found.Files, name)
	}
	return true
}

// define adds a file and reads it as a definition that runs in a folder.
func (r *walk) define(dir, name string) {
	r.follow(definition{dir: path.Clean(dir), name: path.Clean(name)})
}

func (r *walk) follow(d definition) {
	if r.add(d.name) && !slices.Contains(r.todo, d) {
		r.todo = append(r.todo, d)
	}
}

// read reads the present definition.
func (r *walk) read() {
	text := r.text(r.at.name)
	base := path.Base(r.at.name)
	switch {
	case text == "":
		if st, err := fs.Stat(r.fsys, r.at.name); err == nil && st.Size() > 0 {
			r.not("more text than is read")
		}
	case base == "package.json":
		r.scripts(text)
	case strings.HasSuffix(base, "justfile"), strings.HasSuffix(base, "Justfile"), path.Ext(base) == ".just":
		r.justfile(text)
	case r.at.as == asShell, r.at.as == asSourced, r.at.as != asScript && shellScript(base, text):
		r.line(r.at.dir, r.ownPlace(text))
	case r.at.as == asScript:
		r.loaded(text)
	default:
		r.makefile(text)
	}
}

// shellScript reports whether a shell runs a file.
func shellScript(name, text string) bool {
	first, _, _ := strings.Cut(text, "\n")
	return slices.Contains([]string{".sh", ".bash", ".zsh", ".ksh"}, path.Ext(name)) ||
		strings.HasPrefix(first, "#!") && slices.ContainsFunc(strings.FieldsFunc(first, func(r rune) bool { return r == '/' || r == ' ' }), shellsyntax.Shell)
}

// given replaces what the context of a line defines: the folder's own path, and the
// variables that name it.
func (r *walk) given(line string) string {
	if r.ask.Root != "" && r.ask.Root != "/" {
		line = strings.ReplaceAll(line, r.ask.Root+"/", under+"/")
	}
	line = gitTop().ReplaceAllString(line, under)
	var b strings.Builder
	for _, v := range r.ask.Vars {
		b.WriteString("export " + v + "=" + under + "; ")
	}
	return b.String() + line
}

var (
	gitTop   = lazyregexp.New("\\$\\(git rev-parse --show-toplevel\\)|`git rev-parse --show-toplevel`")
	ownPlace = lazyregexp.New(`\$\(\s*dirname\s+(?:--\s+)?(?:"SELF"|SELF)\s*\)|\$\{0%/\*\}|\$\{BASH_SOURCE(?:\[0\])?%/\*\}`)
	thereNow = lazyregexp.New(`\$\(\s*cd\s+(?:-P\s+)?(?:--\s+)?"?(/workspace[A-Za-z0-9_./-]*)"?\s*(?:>\s*/dev/null\s*(?:2>&1\s*)?|2>\s*/dev/null\s*)?(?:&&|;)\s*pwd(?:\s+-P)?\s*\)`)
	self     = lazyregexp.New(`\$0\b|\$\{0\}|\$\{BASH_SOURCE(?:\[0\]|\[-1\])?(?::-\$0)?\}|\$BASH_SOURCE\b`)
	realSelf = lazyregexp.New(`\$\(\s*(?:realpath|readlink\s+-f)\s+(?:--\s+)?(?:"SELF"|SELF)\s*\)`)
)

// ownPlace replaces the expressions by which a script finds its own folder. In a script
// that another one sources, $0 is the other one.
func (r *walk) ownPlace(text string) string {
	if strings.Contains(text, "SELF") || r.at.as == asSourced && strings.Contains(text, "$0") || codeArg().MatchString(text) {
		return text
	}
	marked := realSelf().ReplaceAllString(self().ReplaceAllString(text, "SELF"), "SELF")
	marked = ownPlace().ReplaceAllString(marked, path.Dir(path.Join(under, r.at.name)))
	for range 3 { // they may be nested
		marked = thereNow().ReplaceAllString(marked, "$1")
	}
	return strings.ReplaceAll(marked, "SELF", path.Join(under, r.at.name))
}

// codeArg matches a call of a shell or awk with code, in which $0 has another meaning.
var codeArg = lazyregexp.New(`(?m)\b(?:sh|bash|zsh|ksh|dash)\s+(?:-[a-z]+\s+)*-[a-z]*c\b`)

// line follows the commands of a shell's text.
func (r *walk) line(dir, line string) {
	cmds, err := command.ParseWith(r.given(line), shellsyntax.Options{Dir: path.Join(under, dir)})
	if err != nil {
		r.not("a command line that pawl cannot parse")
		return
	}
	for _, c := range cmds {
		r.command(c)
	}
}

func (r *walk) command(c shellsyntax.Command) {
	for _, a := range c.Assigns {
		if name, value, _ := strings.Cut(a, "="); loads(name, value) {
			r.not("a value of " + name + " by which programs load files")
		}
	}
	if c.Code {
		r.not("a command whose text is known only when it runs")
	}
	if slices.ContainsFunc(c.Via, func(w shellsyntax.Word) bool {
		return strings.HasPrefix(w.Text, "-C") || strings.HasPrefix(w.Text, "--chdir") || strings.HasPrefix(w.Text, "PATH=")
	}) {
		r.not("a wrapper that changes the folder or the programs")
	}
	if c.Func || len(c.Words) == 0 {
		return
	}
	if r.run(c, c.Words[0]); c.Words[0].Known {
		r.program(c, path.Base(c.Words[0].Text), c.Words[1:])
	}
}

// loads reports whether a value of a variable makes programs run other files.
func loads(name, value string) bool {
	value = strings.Trim(value, `"'`)
	switch strings.TrimSuffix(name, "+") {
	case "PATH", "SHELL":
		return slices.ContainsFunc(strings.Split(value, ":"), func(p string) bool {
			return !strings.HasPrefix(p, "/") && p != "$PATH" && p != "${PATH}" && name+p != "SHELLbash" && name+p != "SHELLsh" || strings.HasPrefix(p, under)
		})
	case "NODE_OPTIONS":
		return slices.ContainsFunc([]string{"require", "import", "loader", "-r", "$"}, func(s string) bool { return strings.Contains(value, s) })
	case "BASH_ENV", "ENV", "LD_PRELOAD", "LD_LIBRARY_PATH", "DYLD_INSERT_LIBRARIES", "RUBYOPT", "RUBYLIB", "PERL5OPT", "PERL5LIB", "MAKEFILES", "MAKEFLAGS", "PYTHONPATH", "PYTHONHOME", "PYTHONUSERBASE", "PYTHONPYCACHEPREFIX", "NODE_PATH", "PYTHONSTARTUP", ".SHELLFLAGS", ".RECIPEPREFIX":
		return value != ""
	}
	return false
}

// run adds a file that a word names to be run. A word without a folder is a program of
// the system, unless it is an argument.
func (r *walk) run(c shellsyntax.Command, w shellsyntax.Word) {
	switch {
	case !w.Known && !w.Glob:
		r.not("a file to run, " + written(w) + ", that is known only when it runs")
	case !w.Known || strings.Contains(w.Text, "/"):
		r.files(c, w, asProgram)
	}
}

func written(w shellsyntax.Word) string {
	text := strings.NewReplacer("${"+unlistedVar+"}", "$(…)", "${"+targetVar+"}", "$@").Replace(w.Text)
	return text[:min(len(text), 60)]
}

// file adds the files that a word names, and follows them.
func (r *walk) file(c shellsyntax.Command, w shellsyntax.Word) { r.files(c, w, asItIs) }

func (r *walk) files(c shellsyntax.Command, w shellsyntax.Word, as how) {
	absolute := strings.HasPrefix(w.Text, "/")
	if !w.Known && !w.Glob || !c.Dir.Known && !absolute {
		r.not("a file to run, " + written(w) + ", in a folder that is known only when it runs")
		return
	}
	for _, dir := range append([]string{c.Dir.Text}, c.Alt...) {
		name := path.Join(dir, w.Text)
		if absolute {
			name = path.Clean(w.Text)
		}
		name, within := strings.CutPrefix(name, under+"/")
		if !within {
			continue
		}
		names := []string{name}
		if w.Glob {
			var err error
			if names, err = fs.Glob(r.fsys, name); err != nil || strings.ContainsAny(name, "{}") || strings.Contains(name, "**") {
				r.not("a pattern, " + written(w) + ", that pawl cannot list")
			}
		}
		for _, n := range names {
			r.ran(definition{inside(".", dir), n, as})
		}
	}
}

// ran adds a file that runs in a folder, and follows it as far as requested.
func (r *walk) ran(d definition) {
	if to, err := fs.ReadLink(r.fsys, d.name); err == nil && r.ask.Deep {
		if dir := path.Dir(d.name); path.Base(dir) == ".bin" {
			r.bin(path.Dir(path.Dir(dir)), d.name, to)
		}
		if to = path.Join(path.Dir(d.name), to); fs.ValidPath(to) {
			if r.links++; r.links > maxReached {
				r.not("more links than are followed")
				return
			}
			r.ran(definition{d.dir, to, d.as}) // a program finds files beside it by its real name
		}
	}
	text := r.text(d.name)
	switch {
	case d.as == asShell, d.as == asSourced:
	case shellScript(d.name, text), d.as == asProgram && text != "" && !otherScript(d.name, text) && !machineCode(text):
		d.as = asShell
	case r.ask.Deep && (d.as == asScript || otherScript(d.name, text)):
		d.as = asScript
	default:
		r.add(d.name)
		return
	}
	r.follow(d)
}

// folders returns the folders in which a command runs.
func (r *walk) folders(c shellsyntax.Command) []string {
	if !c.Dir.Known {
		r.not("a folder that is known only when it runs")
		return nil
	}
	var out []string
	for _, d := range append([]string{c.Dir.Text}, c.Alt...) {
		if rest, ok := strings.CutPrefix(path.Clean(d)+"/", under+"/"); ok {
			out = append(out, path.Join(".", rest))
		}
	}
	return out
}
