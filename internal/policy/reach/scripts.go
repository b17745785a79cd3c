package reach

import (
	"encoding/json"
	"io/fs"
	"path"
	"slices"
	"strings"

	"github.com/pawl-agent/pawl/internal/core/lazyregexp"
)

// This file finds what scripts in languages other than the shell's load and start, as
// far as their text names it. A name counts if a file of the folder has it, whatever
// the text uses it for.

// extensions are, by a script's extension, the extensions of the files that it can load
// without naming them.
var extensions = map[string][]string{
	".py": {".py"}, ".rb": {".rb"}, ".pl": {".pl", ".pm"}, ".pm": {".pm"}, ".php": {".php"}, ".lua": {".lua"},
	".js": javaScript, ".cjs": javaScript, ".mjs": javaScript, ".ts": javaScript, ".mts": javaScript, ".cts": javaScript, ".tsx": javaScript, ".jsx": javaScript,
}

var javaScript = []string{".js", ".cjs", ".mjs", ".ts", ".mts", ".tsx", ".jsx", ".json", ".node"}

// otherScript reports whether an interpreter runs a file as a program in a language
// other than the shell's.
func otherScript(name, text string) bool {
	if extensions[path.Ext(name)] != nil {
		return true
	}
	return strings.HasPrefix(text, "#!") && !shellScript(name, text)
}

// program reports whether a file may be run by a text that names it.
func program(name, text string, executable bool) bool {
	switch path.Ext(name) {
	case ".sh", ".bash", ".zsh", ".ksh", ".fish", ".ps1", ".awk", ".sed", ".jq", ".bat", ".cmd", ".mk", ".just":
		return true
	}
	return executable || extensions[path.Ext(name)] != nil || strings.HasPrefix(text, "#!") || machineCode(text)
}

// machineCode reports whether a file is a compiled program, an object file or
// an archive of them.
func machineCode(text string) bool {
	for _, magic := range []string{"\x7fELF", "!<arch>\n", "!<thin>\n", "\xcf\xfa\xed\xfe", "\xce\xfa\xed\xfe", "\xca\xfe\xba\xbe", "MZ"} {
		if strings.HasPrefix(text, magic) {
			return true
		}
	}
	return false
}

var (
	named    = lazyregexp.New(`[A-Za-z0-9_@.+~-]*(?:[/.][A-Za-z0-9_@.+~-]+)+`)
	loading  = lazyregexp.New(`\b(?:import|from|require|require_relative|load|include|include_once|require_once|dofile|loadfile|use|do|import_module|__import__)\b`)
	bareName = lazyregexp.New(`[A-Za-z_@][A-Za-z0-9_@/.-]*`)
	// Names of loaded code that are known only when the text runs.
	computed = lazyregexp.New(`\b(?:import_module|__import__|runpy\.run_\w+|spec_from_file_location|SourceFileLoader|execfile)\s*\(\s*[^"'\s)]|\b(?:require|import)\s*\(\s*[^"'\s)\x60]|\b(?:exec|eval)\s*\(\s*(?:open|Path|compile|fs\.|readFile|File\.)|\brunInThisContext\b|\binstance_eval\s+File`)
)

// searched matches lines that define where modules are searched.
var searched = lazyregexp.New(`sys\.path|\buse lib\b|LOAD_PATH|\$:\s*(?:<<|\.)|package\.c?path|module\.paths|addsitedir|set_include_path|createRequire`)

// folderName matches a quoted name that can be a folder's.
var folderName = lazyregexp.New(`["']([A-Za-z0-9_@./+~-]+)["']`)

// loaded follows the files that a script's text names.
func (r *walk) loaded(text string) {
	dirs := slices.Compact([]string{path.Dir(r.at.name), r.at.dir, "."})
	r.searched(text, dirs)
	if slices.Contains(javaScript, path.Ext(r.at.name)) || strings.Contains(text[:min(len(text), 60)], "node") {
		r.scope(path.Dir(r.at.name))
	}
	if computed().MatchString(text) {
		r.not("code that it loads by a name that is known only when it runs")
	}
	seen := map[string]bool{}
	for _, n := range named().FindAllString(text, -1) {
		if n = strings.Trim(n, "/"); n != "" && !seen[n] && n != "." && n != ".." {
			seen[n] = true
			for _, d := range dirs {
				r.mentioned(path.Join(d, n), false)
			}
		}
	}
	for l := range strings.Lines(text) {
		if !loading().MatchString(l) {
			continue
		}
		for _, n := range bareName().FindAllString(l, -1) {
			if !seen["bare "+n] {
				seen["bare "+n] = true
				r.imported(n)
			}
		}
	}
}

// searched adds the folders in which a script makes modules be searched.
func (r *walk) searched(text string, dirs []string) {
	for l := range strings.Lines(text) {
		if !searched().MatchString(l) {
			continue
		}
		found := false
		for _, m := range folderName().FindAllStringSubmatch(l, -1) {
			for _, d := range dirs {
				for ; ; d = path.Dir(d) { // relative to a parent folder, by dirname or parent
					at := path.Join(d, strings.TrimLeft(m[1], "/"))
					if st, err := fs.Stat(r.fsys, at); fs.ValidPath(at) && at != "." && err == nil && st.IsDir() {
						r.folder(at)
						found = true
					}
					if d == "." {
						break
					}
				}
			}
		}
		if !found {
			r.not("a line that says where modules are searched for: " + strings.TrimSpace(l)[:min(len(strings.TrimSpace(l)), 60)])
		}
	}
}

// scope adds the package.json that decides how the scripts of a folder are loaded, and
// the files that its "imports" names.
func (r *walk) scope(dir string) {
	for ; ; dir = path.Dir(dir) {
		name := path.Join(dir, "package.json")
		if r.isFile(name) {
			r.add(name)
			var p struct {
				Imports json.RawMessage `json:"imports"`
			}
			if json.Unmarshal([]byte(r.text(name)), &p) == nil {
				for _, n := range named().FindAllString(string(p.Imports), -1) {
					r.mentioned(path.Join(dir, n), true)
				}
			}
			return
		}
		if dir == "." {
			return
		}
	}
}

// mentioned adds a file of the folder that a text names: any file if the text loads it,
// and otherwise only one that could be run.
func (r *walk) mentioned(name string, loads bool) {
	if !fs.ValidPath(name) {
		return
	}
	st, err := fs.Stat(r.fsys, name)
	switch {
	case err != nil:
		return
	case st.IsDir():
		for _, n := range []string{"__init__.py", "__main__.py", "index.js", "index.cjs", "index.mjs", "index.ts", "package.json"} {
			if n := path.Join(name, n); loads && r.isFile(n) {
				r.ran(definition{r.at.dir, n, asItIs})
			}
		}
	case loads || program(name, r.text(name), st.Mode()&0o111 != 0):
		r.ran(definition{r.at.dir, name, asItIs})
	}
}

// imported adds what a name in a line that loads something may mean: a module beside
// the script, with its packages, or an installed package.
func (r *walk) imported(name string) {
	own := path.Dir(r.at.name)
	plain := strings.TrimRight(strings.TrimPrefix(name, "./"), "./")
	if plain == "" {
		return
	}
	more := extensions[path.Ext(r.at.name)]
	if more == nil {
		more = slices.Concat(extensions[".py"], extensions[".rb"], extensions[".pl"], extensions[".php"], extensions[".lua"], javaScript)
	}
	forms := []string{plain}
	if !strings.Contains(plain, "/") && strings.Contains(plain, ".") { // a.b.c in python
		at := ""
		for _, part := range strings.Split(plain, ".") {
			at = path.Join(at, part)
			forms = append(forms, at)
		}
	}
	for _, f := range forms {
		at := path.Join(own, f)
		r.mentioned(at, true)
		for _, ext := range more {
			r.mentioned(at+ext, true)
		}
		if !strings.ContainsAny(at, `*?[\`) { // compiled libraries and modules, which take precedence or exist alone
			compiled, _ := fs.Glob(r.fsys, at+".*")
			for _, n := range compiled {
				if ext := path.Ext(n); ext == ".so" || ext == ".pyd" || ext == ".pyc" || ext == ".node" || ext == ".dylib" {
					r.add(n)
				}
			}
		}
	}
	// Relative imports of a package, and of a folder that PYTHONPATH or node finds
	// above.
	if first, _, _ := strings.Cut(plain, "/"); first != "" {
		scoped := plain
		if parts := strings.SplitN(plain, "/", 3); strings.HasPrefix(first, "@") && len(parts) > 1 {
			scoped = parts[0] + "/" + parts[1]
		} else {
			scoped = first
		}
		r.pkg(own, scoped)
	}
}

// pkg adds an installed package of node and its dependencies: they lie in the folder,
// so their content can change.
func (r *walk) pkg(from, name string) {
	for dir := from; ; dir = path.Dir(dir) {
		at := path.Join(dir, "node_modules", name)
		if st, err := fs.Stat(r.fsys, at); err == nil && st.IsDir() {
			r.folder(at)
			return
		}
		if dir == "." || dir == "/" {
			return
		}
	}
}

// folder adds a folder of which every file may run.
func (r *walk) folder(at string) {
	if slices.Contains(r.found.Folders, at) {
		return
	}
	if len(r.found.Folders) >= maxReached {
		r.not("more packages than are followed")
		return
	}
	r.found.Folders = append(r.found.Folders, at)
	for _, name := range dependencies(r.text(path.Join(at, "package.json"))) {
		r.pkg(at, name)
	}
}
