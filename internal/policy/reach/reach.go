// Package reach finds the files of a folder that command lines are made of: scripts,
// definitions (makefiles, package.json, …) and what these name in turn (SPEC 16.1). A
// person trusts a check, a hook or a server of a folder in its present state; the files
// that this package finds must stay unchanged for that.
//
// It reads names in plain text; it evaluates nothing. It counts too much rather than too
// little:
//
//   - A name counts wherever a text has it, whether it is run or only mentioned, and
//     relative to every folder that any of the texts names, to the folder of each text
//     and to the top. If a text goes to a folder by a computed name, it counts in every
//     folder.
//   - A name with a computed part or a pattern counts each file that it could mean, with
//     any text in place of that part; but no part is taken to lead upwards (..).
//   - The definitions of a tool (policy/trust has the table) count in all these folders
//     once a text names the tool.
//   - If a program or a sourced file has a name without a literal part, or something runs
//     that its own files define (rake, cmake, …), Found has the reason, and the caller
//     must count every file of the folder.
//
// It leaves out what trust in a check does not cover (ADR 022): source that only
// compilers read, what a makefile builds of it, lists of dependencies, what scripts in
// languages other than the shell's import, and source that a pattern names as an
// argument. With Deep these count too. It also leaves out the data that a command only
// mentions: files named like reports, logs and documents, names without a folder and an
// extension, those after >, -o and --out…, and those that touch, tee, rm and mkdir are
// given.
//
// It reads only from the caller's fs.FS, within limits, and starts nothing.
package reach

import (
	"cmp"
	"fmt"
	"io"
	"io/fs"
	"path"
	"slices"
	"strings"

	"github.com/pawl-agent/pawl/internal/core/lazyregexp"
	"github.com/pawl-agent/pawl/internal/policy/trust"
)

// Limits of what is followed.
const (
	maxReached = 200
	maxRounds  = 200
	maxFile    = 1 << 20 // the longest file that is read, in bytes
	maxWords   = 20_000
	maxNames   = 100_000 // the names of the folder that patterns are compared with
)

// Ask describes what is to be followed.
type Ask struct {
	// Dir is where the command runs, relative to the folder.
	Dir string
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
	// Unlisted is why not everything was found, "" if everything was.
	Unlisted string
}

// walk is the state of a search.
type walk struct {
	fsys    fs.FS
	ask     Ask
	found   Found
	texts   []file
	at      file     // the one that is being read
	bases   []string // folders that names may be relative to
	words   []word   // the names in the texts
	known   map[word]bool
	tried   []int               // by word, the folders in which it was searched for; -1 is any
	said    map[string]bool     // the words of the texts: names of tools and of scripts
	vars    map[string][]string // what the texts assign to their variables
	refs    []ref
	wide    bool                           // names may be relative to any folder
	names   []string                       // all names of the folder, read when they are needed
	named   map[string][]string            // by their last part in lower case
	lists   map[string]map[string][]string // by folder and lower-case name
	read    map[string]string
	values  int // of variables
	widened bool
	limit   string // why more is not followed
}

// file is a text that is read to find what it names.
type file struct {
	name string
	as   format
}

type format int

const (
	shell   format = iota // command lines
	recipe                // a makefile, or a file that a makefile includes
	scripts               // package.json
	other                 // another language, or configuration
)

// word is a name in a text. A * stands for each computed part.
type word struct {
	text    string
	at      file
	run     bool // it stands where a program or a file to run would
	script  bool // an interpreter may add an extension
	foreign bool // the interpreter is not a shell
	include bool // it is text of the same format
	value   bool // it is the value of an option or a setting
}

// Of returns what runs in a folder for a.
func Of(fsys fs.FS, a Ask) Found {
	a.Dir = path.Clean(a.Dir)
	r := &walk{fsys: fsys, ask: a, vars: map[string][]string{}, said: map[string]bool{}, known: map[word]bool{}, lists: map[string]map[string][]string{}, read: map[string]string{}}
	r.base(a.Dir)
	before := ""
	for _, l := range a.Lines {
		r.lines(unmarked.Replace(l), false)
	}
	scanned := 0
	for range maxRounds { // a later text's folders and variables apply in an earlier one
		for i, t := range slices.Clone(r.texts) {
			if i >= scanned || t.as == scripts {
				r.at = t
				r.scan(t)
			}
		}
		scanned = len(r.texts)
		for i := 0; i < len(r.refs); i++ {
			for n := &r.refs[i].done; *n < len(r.vars[r.refs[i].name]); {
				value := r.vars[r.refs[i].name][*n]
				*n++
				r.at = r.refs[i].at
				r.lines(value, r.refs[i].all || r.refs[i].script)
				n = &r.refs[i].done // it may have moved
			}
		}
		if r.wide && !r.widened {
			r.widened = true
			clear(r.tried)
		}
		for i := 0; i < len(r.words) && r.limit == ""; i++ {
			r.at = r.words[i].at
			r.find(i)
		}
		r.definitions()
		now := fmt.Sprint(len(r.found.Files), len(r.found.Folders), len(r.texts), len(r.bases), r.wide, r.values, len(r.said), len(r.words), len(r.refs))
		if now == before || r.limit != "" {
			r.unknown()
			r.found.Unlisted = cmp.Or(r.found.Unlisted, r.limit)
			slices.Sort(r.found.Files)
			slices.Sort(r.found.Folders)
			return r.found
		}
		before = now
	}
	r.not("definitions that call each other without an end")
	return r.found
}

// ref is a variable whose value is run.
type ref struct {
	name string
	at   file
	// part: other text follows the value in the name. all, script: as in lines and word.
	part, all, script bool
	done              int // the values that were read
}

// unknown judges the variables whose values are run.
func (r *walk) unknown() {
	for _, v := range r.refs {
		values := r.vars[v.name]
		r.at = v.at
		switch {
		case v.part && slices.ContainsFunc(values, func(v string) bool { return strings.Trim(v, "@+-\t ") != "" }),
			// In a makefile, those are programs of make or of the environment.
			values == nil && (v.all || v.at.as != recipe || !capitals().MatchString(v.name)):
			r.not("a file to run that is known only when it runs")
		}
	}
}

// word adds a name that a text has.
func (r *walk) word(w word) {
	w.text = strings.ReplaceAll(spare().ReplaceAllString(w.text, "*"), "?", "*")
	w.text = ranges().ReplaceAllString(w.text, "*")
	literal := strings.Trim(w.text, "*@+-/.") != ""
	if w.text == "" || strings.Contains(w.text, "*") && !literal || strings.HasPrefix(w.text, "/") || strings.HasPrefix(w.text, "~") {
		return // nothing, or outside the folder
	}
	if below := strings.TrimLeft(w.text, "./"); strings.HasPrefix(w.text, "../") && below != "" { // it may run in any folder
		v := w
		v.text = below
		r.word(v)
	}
	w.at = r.at
	if len(r.words) >= maxWords {
		r.limit = "it has more names than are followed"
	} else if !r.known[w] {
		r.known[w] = true
		r.words, r.tried = append(r.words, w), append(r.tried, 0)
	}
}

var ranges = lazyregexp.New(`\[[^\[\]\s]+\]`)

// not records something that cannot be listed.
func (r *walk) not(what string) {
	if r.found.Unlisted == "" {
		r.found.Unlisted = "the command has " + what
		if r.at.name != "" {
			r.found.Unlisted = r.at.name + " has " + what
		}
	}
}

// counts reports whether a file that a word names counts; the package comment says what
// does not.
func (r *walk) counts(name string, st fs.FileInfo, w word) bool {
	text, _ := r.text(name)
	ext := strings.ToLower(path.Ext(name))
	foreign := w.at.as == other && (r.ask.Deep || languages[path.Ext(w.at.name)]) // no configuration
	deep, computed := r.ask.Deep, strings.Contains(path.Base(w.text), "*")
	switch {
	case !deep && compiled(name), !deep && w.at.as == recipe && (machineCode(r.head(name)) || dependenciesOnly(text)):
		return false
	case w.run:
		return true
	case languages[ext] && w.text != "*" && (deep || !computed && !foreign), st.Mode()&0o111 != 0, strings.HasPrefix(text, "#!"), programs[ext], machineCode(r.head(name)):
		return true
	case languages[ext], data[ext], foreign, w.at.as == other && !strings.Contains(w.text, "/"):
		return false
	}
	// A pattern of names with another extension than it has is one of data.
	return strings.ContainsAny(w.text, "/.") && (!computed || ext == strings.ToLower(path.Ext(w.text)))
}

// head returns the first bytes of a file.
func (r *walk) head(name string) string {
	f, err := r.fsys.Open(name)
	if err != nil {
		return ""
	}
	defer f.Close()
	head := make([]byte, 8)
	n, _ := io.ReadFull(f, head) // a short file has a short head
	return string(head[:n])
}

// follow reads a counted file for what it names.
func (r *walk) follow(name string, w word) {
	text, ok := r.text(name)
	base, ext := path.Base(name), strings.ToLower(path.Ext(name))
	t := file{name: name, as: other}
	switch {
	case base == "package.json":
		t.as = scripts
	case slices.Contains(trust.BuildFiles("make"), base), ext == ".mk", w.include && w.at.as == recipe:
		t.as = recipe
	case slices.Contains(trust.BuildFiles("just"), base), ext == ".just", w.include, shellScript(name, text),
		w.run && !w.foreign && w.at.as != other && !languages[ext] && !strings.HasPrefix(text, "#!") && (w.at != (file{}) || w.script):
		t.as = shell
	}
	switch {
	case machineCode(r.head(name)), t.as == other && !r.ask.Deep && data[ext]: // it names nothing that runs
	case ok:
		r.base(path.Dir(name))
		if !slices.Contains(r.texts, t) {
			r.texts = append(r.texts, t)
		}
	case r.ask.Deep || t.as != other:
		if st, err := fs.Stat(r.fsys, name); err == nil && st.Size() > 0 {
			r.not("a file, " + name + ", with more text than is read")
		}
	}
}

// shellScript reports whether a shell runs a file.
func shellScript(name, text string) bool {
	first, _, _ := strings.Cut(text, "\n")
	return slices.Contains([]string{".sh", ".bash", ".zsh", ".ksh"}, path.Ext(name)) ||
		strings.HasPrefix(first, "#!") && slices.ContainsFunc(strings.FieldsFunc(first, func(r rune) bool { return r == '/' || r == ' ' }), func(w string) bool { return shells[w] })
}

// above returns the folders that names may be relative to, and those above them.
func (r *walk) above() []string {
	var out []string
	for _, b := range r.bases {
		for ; !slices.Contains(out, b); b = path.Dir(b) {
			out = append(out, b)
		}
	}
	return out
}
