// Package reach finds the files of a folder that command lines are made of: scripts,
// definitions (makefiles, package.json, …) and what these name in turn (SPEC 16.1). A
// person trusts a check, a hook or a server of a folder in its present state; the files
// that this package finds must stay unchanged for that.
//
// It reads names in plain text; it knows the syntax of no language and evaluates nothing. A
// name counts wherever a text has it, whether it is run or only mentioned, relative to the
// top, to the folder of each text, and to every folder that a text names. In such a folder,
// and where a pattern matches, programs count too: files that may be executed, and scripts
// of a shell. The definitions of a tool (policy/trust has the table) count in all these
// folders once a text names the tool.
//
// It is a list for a person, and no boundary: what a text computes is not found. What a
// folder configures runs in the sandbox; where there is none, a check asks again after the
// agent changed any definition or script (policy/permission).
//
// It leaves out what trust in a check does not cover (ADR 022): source that only compilers
// read, what they write, what is named like data, and what scripts in languages other than
// the shell's load. With Deep these count too.
//
// It reads only from the caller's fs.FS, within limits, and starts nothing.
package reach

import (
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"io"
	"io/fs"
	"path"
	"slices"
	"strings"

	"github.com/pawl-agent/pawl/internal/core/lazyregexp"
	"github.com/pawl-agent/pawl/internal/policy/command"
	"github.com/pawl-agent/pawl/internal/policy/trust"
)

// Limits of what is followed.
const (
	maxReached = 200     // files, and packages
	maxBases   = 100     // folders that names may be relative to
	maxFile    = 1 << 20 // the longest file that is read, in bytes
	maxNames   = 10_000  // the names in the texts
	maxHashed  = 64 << 20
)

// Ask describes what is to be followed.
type Ask struct {
	// Dir is where the command runs, relative to the folder.
	Dir string
	// Lines are command lines that run in Dir.
	Lines []string
	// Root is the folder's own path; lines may use it to name the folder's files.
	Root string
	// Deep also follows what scripts in languages other than the shell's load. For a
	// check it is not set: a check runs the project's source code, which trust does not
	// cover. A hook or a server is defined by all that it loads.
	Deep bool
}

// Found is what runs.
type Found struct {
	Files    []string // relative to the folder
	Packages []string // folders of installed packages, of which every file may run
}

// walk is the state of a search.
type walk struct {
	fsys  fs.FS
	ask   Ask
	found Found
	bases []string           // folders that names may be relative to
	names []string           // the names in the texts
	known map[string]bool    // those of names
	tried []int              // by name, how many bases it was looked up in
	lists map[string]listing // by folder
}

// listing is what is in a folder: paths, by their lower-case form, and by what stands before
// the first dot of their name.
type listing struct {
	names []string
	lower map[string]string
	stems map[string][]string
}

// Of returns what runs in a folder for a.
func Of(fsys fs.FS, a Ask) Found {
	r := &walk{fsys: fsys, ask: a, known: map[string]bool{}, lists: map[string]listing{}}
	r.base(path.Clean(a.Dir))
	for _, l := range a.Lines {
		r.read(l)
	}
	scanned, size := 0, -1
	for size != r.size() { // a later text's folders and tools count for an earlier one
		size = r.size()
		for ; scanned < len(r.found.Files); scanned++ {
			r.follow(r.found.Files[scanned])
		}
		for i := 0; i < len(r.names); i++ {
			for ; r.tried[i] <= len(r.bases); r.tried[i]++ {
				base := "." // the definitions of tools do not count there
				if at := r.tried[i]; at > 0 {
					base = r.bases[at-1]
				}
				r.look(base, r.names[i])
			}
		}
		r.definitions()
	}
	slices.Sort(r.found.Files)
	slices.Sort(r.found.Packages)
	return r.found
}

// size grows with everything that is found.
func (r *walk) size() int { return len(r.found.Files) + len(r.bases) + len(r.names) }

func (r *walk) base(dir string) {
	if !slices.Contains(r.bases, dir) && len(r.bases) < maxBases {
		r.bases = append(r.bases, dir)
	}
}

var (
	// variables are what a text computes; a default value stays.
	variables = lazyregexp.New(`\$\$?(?:\w+|[@<^*?!#-]|\(\w+\)|\{\w+[:?+=-]*)|\{\{[^{}]*\}\}`)
	outputs   = lazyregexp.New(`(?:>\s*|\s-o\s+|\s--out\w*[= ]\s*)[^\s;|&<>]+|\b(?:touch|tee|rm|mkdir)\s[^;|&\n]*`)
	quoted    = lazyregexp.New(`"([^"\n]* [^"\n]*)"|'([^'\n]* [^'\n]*)'`)
	name      = lazyregexp.New(`[\w.@+~*?/\x01-]+`)
)

// read takes the names out of a text: by blanks, quotes and separators.
func (r *walk) read(text string) {
	if r.ask.Root != "" && r.ask.Root != "/" {
		text = strings.ReplaceAll(text, r.ask.Root+"/", "./")
	}
	text = strings.NewReplacer("\r\n", "\n", "\\\n", " ", `\ `, "\x01", `\`, "").Replace(text)
	for _, m := range quoted().FindAllStringSubmatch(text, -1) {
		r.name(m[1] + m[2]) // it may have a blank
	}
	text = outputs().ReplaceAllString(variables().ReplaceAllString(text, " "), " ")
	text = strings.NewReplacer(`"/`, "/", `'/`, "/", `/"`, "/", `/'`, "/", `'/"`, "/").Replace(text)
	for _, n := range name().FindAllString(text, -1) {
		n = strings.ReplaceAll(n, "\x01", " ")
		r.name(n)
		if plain := strings.TrimLeft(n, "-+@"); plain != n && plain != "" {
			r.name(plain)
			r.name(plain[1:]) // -Ilib
		}
	}
}

func (r *walk) name(n string) {
	n = strings.TrimLeft(n, "/") // after what is computed, a path begins with a slash
	if strings.Trim(n, "*?@+-/.~") == "" || r.known[n] || len(r.names) >= maxNames {
		return
	}
	r.known[n] = true
	r.names, r.tried = append(r.names, n), append(r.tried, 0)
}

// look counts the files that a name means in a folder.
func (r *walk) look(base, n string) {
	at := path.Join(base, n)
	switch below := strings.TrimLeft(n, "./"); {
	case strings.ContainsAny(n, "*?"):
		matches, _ := fs.Glob(r.fsys, at) // what is no pattern matches nothing
		for _, m := range matches {
			if r.ask.Deep || !languages[strings.ToLower(path.Ext(m))] {
				r.met(m)
			}
		}
		return
	case strings.HasPrefix(n, "../") && below != "": // it may run in any folder
		r.name(below)
	}
	if !fs.ValidPath(at) || at == "." {
		return
	}
	name := r.spelled(at)
	r.loaded(at, r.ask.Deep || strings.Contains(n, "/"))
	if r.ask.Deep {
		r.installed(base, n)
	}
	if name != "" {
		r.met(name)
	}
}

// met counts a file that a text names, or that a pattern matches. Of a folder its programs
// count.
func (r *walk) met(at string) {
	if to, err := fs.ReadLink(r.fsys, at); err == nil { // a program finds what is beside it by its real name
		r.name(path.Join(path.Dir(at), to))
	}
	st, err := fs.Stat(r.fsys, at)
	switch {
	case err != nil || st.Mode().IsRegular(): // a link to outside cannot be read: nothing that runs it is trusted
		r.file(at)
	case st.IsDir():
		r.base(at)
		for _, n := range r.list(at).names {
			if r.program(n) {
				r.file(n)
			}
		}
	}
}

// program reports whether a file in a folder that a text names is one that may run: it has
// the right to, or the name or the beginning of a script.
func (r *walk) program(name string) bool {
	st, err := fs.Stat(r.fsys, name)
	return err == nil && st.Mode().IsRegular() &&
		(st.Mode()&0o111 != 0 || command.Defines(name) || strings.HasPrefix(r.head(name), "#!"))
}

// loaded counts the files that a name without an extension means: beside it, and in a folder
// of that name. source: also in languages other than the shell's.
func (r *walk) loaded(at string, source bool) {
	for _, at := range slices.Compact([]string{at, path.Join(path.Dir(at), strings.ReplaceAll(path.Base(at), ".", "/"))}) {
		for _, n := range r.list(path.Dir(at)).stems[path.Base(at)] {
			if _, ext, ok := strings.Cut(path.Base(n), "."); ok && (ext == "just" || source && (languages["."+ext] || ext == "json" || strings.HasSuffix(ext, "so"))) {
				r.file(n)
			}
		}
		for _, stem := range [...]string{"__init__", "__main__", "index", "main", "mod", "package"} {
			for _, n := range r.list(at).stems[stem] {
				if r.ask.Deep || path.Ext(n) == ".just" {
					r.file(n)
				}
			}
		}
		if init := path.Join(path.Dir(at), "__init__.py"); r.ask.Deep && r.spelled(init) == init { // of the package that a module is in
			r.file(init)
		}
	}
}

// list returns what is in a folder.
func (r *walk) list(dir string) listing {
	l, known := r.lists[dir]
	if !known {
		r.lists[dir] = l // also where dir is looked for below itself
		l = listing{lower: map[string]string{}, stems: map[string][]string{}}
		if dir == "." || r.spelled(dir) != "" {
			entries, _ := fs.ReadDir(r.fsys, dir) // no folder has no names
			for _, e := range entries {
				at := path.Join(dir, e.Name())
				stem, _, _ := strings.Cut(e.Name(), ".")
				l.names, l.lower[strings.ToLower(at)], l.stems[stem] = append(l.names, at), at, append(l.stems[stem], at)
			}
			for _, at := range l.names {
				l.lower[at] = at
			}
		}
		r.lists[dir] = l
	}
	return l
}

// spelled returns a path as the folder spells it, "" if there is none: on some file systems
// case does not count.
func (r *walk) spelled(at string) string {
	l := r.list(path.Dir(at))
	return cmp.Or(l.lower[at], l.lower[strings.ToLower(at)])
}

func set(words string) map[string]bool {
	out := map[string]bool{}
	for w := range strings.FieldsSeq(words) {
		out[w] = true
	}
	return out
}

var (
	// languages are the extensions of source that interpreters run; data are those of what a
	// command reads or writes; compiled are those that only compilers read or write.
	languages = set(".py .rb .pl .pm .php .lua .js .cjs .mjs .ts .mts .cts .tsx .jsx")
	data      = set(".log .out .txt .md .rst .xml .html .css .scss .vue .svelte .lcov .csv .tmp .pid .prof .svg .png .jpg .gif .pdf .db .sqlite .snap .lock")
	compiled  = set(".c .h .cc .cpp .cxx .c++ .hh .hpp .hxx .h++ .inl .ipp .tpp .m .mm .s .asm .cu .cuh .f .f90 .f95 .for .go .java .kt .swift .cs .hs .ml .mli .o .obj .lo .a .d")
)

// file counts a file, unless trust does not cover it.
func (r *walk) file(at string) {
	if st, err := fs.Stat(r.fsys, at); err == nil && !st.Mode().IsRegular() {
		return
	}
	ext, head := strings.ToLower(path.Ext(at)), r.head(at)
	source := compiled[ext] || ext == ".rs" && path.Base(at) != "build.rs" || machineCode(head)
	if slices.Contains(r.found.Files, at) || len(r.found.Files) >= maxReached || source && !r.ask.Deep || data[ext] && !strings.HasPrefix(head, "#!") {
		return
	}
	r.found.Files = append(r.found.Files, at)
}

// machineCode reports whether a file is a compiled program, an object file or an archive of
// them.
func machineCode(head string) bool {
	return slices.ContainsFunc([]string{"\x7fELF", "!<arch>\n", "!<thin>\n", "\xcf\xfa\xed\xfe", "\xce\xfa\xed\xfe", "\xca\xfe\xba\xbe", "MZ"}, func(magic string) bool { return strings.HasPrefix(head, magic) })
}

// head returns the first bytes of a file.
func (r *walk) head(name string) string {
	if st, err := fs.Stat(r.fsys, name); err != nil || !st.Mode().IsRegular() {
		return "" // a named pipe would be waited for
	}
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
func (r *walk) follow(file string) {
	if languages[strings.ToLower(path.Ext(file))] && !r.ask.Deep || machineCode(r.head(file)) {
		return
	}
	st, err := fs.Stat(r.fsys, file)
	if err != nil || st.Size() > maxFile {
		return
	}
	b, err := fs.ReadFile(r.fsys, file)
	if err != nil {
		return // the caller cannot read it either
	}
	text := string(b)
	if path.Base(file) == "package.json" && !r.ask.Deep {
		text = strings.Join(trust.Executable("package.json", text), "\n")
	}
	r.base(path.Dir(file))
	r.read(text)
}

// definitions counts the files that define what the named tools run.
func (r *walk) definitions() {
	said := map[string]bool{}
	for n := range r.known {
		said[strings.TrimRight(path.Base(n), "0123456789.")], said[n] = true, true
	}
	here, above := trust.DefinedFor(said)
	for _, b := range slices.Clone(r.bases) {
		for _, n := range here {
			r.look(b, n)
		}
		for ; ; b = path.Dir(b) {
			for _, n := range above {
				r.look(b, n)
			}
			if b == "." {
				break
			}
		}
	}
}

// Sources returns the sources for what was found besides its files: the installed packages.
func (f Found) Sources(fsys fs.FS) []trust.Source {
	var out []trust.Source
	for _, at := range f.Packages {
		s := trust.Source{Name: at + "/"}
		sum, err := hash(fsys, at)
		if s.Unread = err != nil; !s.Unread {
			s.Text = "its files are " + sum
		}
		out = append(out, s)
	}
	return out
}

// hash returns a hash of all files of a folder.
func hash(fsys fs.FS, at string) (string, error) {
	h, left := sha256.New(), int64(maxHashed)
	err := fs.WalkDir(fsys, at, func(name string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		fmt.Fprintf(h, "%q %v\n", name, d.Type())
		if !d.Type().IsRegular() {
			return nil
		}
		file, err := fsys.Open(name)
		if err != nil {
			return err
		}
		defer file.Close()
		size, err := io.Copy(h, io.LimitReader(file, left+1))
		if left -= size; left < 0 {
			return fmt.Errorf("it has more than %d MB", maxHashed>>20)
		}
		return err
	})
	return hex.EncodeToString(h.Sum(nil)), err
}
