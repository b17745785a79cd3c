// Package reach finds the files of a folder that command lines are made of: scripts,
// definitions (makefiles, package.json, …) and what these name in turn (SPEC 16.1). A
// person trusts a check, a hook or a server of a folder in its present state; the files
// that this package finds must stay unchanged for that.
//
// It reads names in plain text; it evaluates nothing. A name counts wherever a text has it,
// whether it is run or only mentioned, relative to every folder that a text names, to the
// folder of each text and to the top. A computed part and a pattern stand for any text. The
// definitions of a tool (policy/trust has the table) count in all these folders once a text
// names the tool. Where an interpreter is given a computed file or its input, and where
// something runs what its own files define (rake, cmake, …), Found has the reason, and the
// caller must count every file.
//
// It is a list for a person, and no boundary: a program that is computed whole, or by more
// than names, is not found. What holds such a program is the sandbox.
//
// It leaves out what trust in a check does not cover (ADR 022): source that only
// compilers read, what they write, lists of dependencies (.d), what scripts in languages other than the shell's
// load, and source that a pattern names. With Deep these count too. It also leaves out what
// is named like data: reports, logs and documents.
//
// It reads only from the caller's fs.FS, within limits, and starts nothing.
package reach

import (
	"io"
	"io/fs"
	"path"
	"slices"
	"strings"

	"github.com/pawl-agent/pawl/internal/policy/trust"
)

// Limits of what is followed.
const (
	maxReached = 200
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
	fsys  fs.FS
	ask   Ask
	found Found
	texts []string          // files that are read to find what they name
	bases []string          // folders that names may be relative to
	words []word            // the names in the texts
	known map[word]bool     // those of words
	tried []int             // by word, the bases that it was searched for in
	said  map[string]bool   // the words of the texts: names of tools and of scripts
	wide  bool              // names may be relative to any folder
	lists map[string]string // by path in lower case, the path; "" after a folder was read
	names []string          // all names of the folder, read when they are needed
	read  map[string]string
}

// word is a name in a text. A * stands for each computed part.
type word struct {
	text string
	stem bool // an interpreter may add an extension
	code bool // the text is in another language than the shell's
}

// Of returns what runs in a folder for a.
func Of(fsys fs.FS, a Ask) Found {
	r := &walk{fsys: fsys, ask: a, said: map[string]bool{}, known: map[word]bool{}, lists: map[string]string{}, read: map[string]string{}}
	r.base(path.Clean(a.Dir))
	for _, l := range a.Lines {
		r.lines(l, "the command")
	}
	scanned, size := 0, -1
	for size != r.size() { // a later text's folders and tools apply in an earlier one
		size = r.size()
		for ; scanned < len(r.texts); scanned++ {
			r.scan(r.texts[scanned])
		}
		for _, name := range r.texts { // another of its scripts may be named now
			if path.Base(name) == "package.json" {
				r.scan(name)
			}
		}
		for i := 0; i < len(r.words); i++ {
			r.find(i)
		}
		r.definitions()
	}
	slices.Sort(r.found.Files)
	slices.Sort(r.found.Folders)
	return r.found
}

// size grows with everything that is found.
func (r *walk) size() int {
	n := len(r.found.Files) + len(r.found.Folders) + len(r.texts) + len(r.bases) + len(r.words) + len(r.said)
	if r.wide {
		n++
	}
	return n
}

// not records something that cannot be listed.
func (r *walk) not(what string) {
	if r.found.Unlisted == "" {
		r.found.Unlisted = what
	}
}

// counts reports whether a file that a word names counts; the package comment says what
// does not.
func (r *walk) counts(name string, w word) bool {
	ext, pattern := strings.ToLower(path.Ext(name)), strings.Contains(path.Base(w.text), "*")
	switch {
	case !r.ask.Deep && (compiled(name) || machineCode(r.head(name))):
		return false
	case languages[ext]:
		return !pattern || r.ask.Deep && w.text != "*"
	case data[ext]:
		return strings.HasPrefix(r.head(name), "#!")
	}
	// A pattern of names with another extension than it has is one of data, and so is a bare
	// word of another language.
	return (!pattern || w.stem || w.text == "*" || ext == strings.ToLower(path.Ext(w.text))) && (!w.code || strings.ContainsAny(w.text, "/."))
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
func (r *walk) follow(name string) {
	ext := strings.ToLower(path.Ext(name))
	switch {
	case slices.Contains(r.texts, name), machineCode(r.head(name)), !r.ask.Deep && (languages[ext] || data[ext]):
		return
	case r.text(name) != "":
		r.base(path.Dir(name))
		r.texts = append(r.texts, name)
	default:
		if st, err := fs.Stat(r.fsys, name); err == nil && st.Size() > 0 {
			r.not(name + " has more text than is read")
		}
	}
}

// definitions counts the files that define what the named tools run.
func (r *walk) definitions() {
	here, above := trust.DefinedFor(r.said)
	for _, b := range slices.Clone(r.bases) {
		for _, n := range here {
			r.name(path.Join(b, n), word{})
		}
		for ; ; b = path.Dir(b) {
			for _, n := range above {
				r.name(path.Join(b, n), word{})
			}
			if b == "." {
				break
			}
		}
	}
	if r.wide {
		for _, n := range slices.Concat(here, above) {
			r.anywhere(word{text: "*/" + n})
		}
	}
}
