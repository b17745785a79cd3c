package lsp

import (
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"
)

// place is a server for a file, with the root of its project.
type place struct {
	server *Server
	root   string // absolute
	lang   string
}

// places returns the servers for a file, with the root of each. The file must be absolute
// and in the workspace. Only project files are searched for: nothing is started.
func (s *Servers) places(file string) []place {
	var out []place
	for i := range s.table {
		srv := &s.table[i]
		lang := srv.Language(filepath.ToSlash(file))
		if lang == "" {
			continue
		}
		if root := s.rootOf(srv, filepath.Dir(file)); root != "" {
			out = append(out, place{srv, root, lang})
		}
	}
	return out
}

// rootOf returns the root of a folder's project for a server. It is the outermost folder
// with one of Outer, otherwise the nearest with one of Roots, never outside the
// workspace. Without one it is the workspace, or "" if the server needs one.
func (s *Servers) rootOf(srv *Server, dir string) string {
	nearest, outermost := "", ""
	for at := dir; ; at = filepath.Dir(at) {
		if !within(s.opt.Root, at) {
			break
		}
		if nearest == "" && holds(at, srv.Roots) {
			nearest = at
		}
		if holds(at, srv.Outer) {
			outermost = at
		}
		if at == filepath.Dir(at) {
			break
		}
	}
	switch {
	case outermost != "":
		return outermost
	case nearest != "":
		return nearest
	case srv.Anywhere:
		return s.opt.Root
	}
	return ""
}

// holds reports whether a folder has a file of one of these names.
func holds(dir string, names []string) bool {
	for _, n := range names {
		if strings.ContainsAny(n, "*?[") {
			if m, err := filepath.Glob(filepath.Join(escape(dir), n)); err == nil && len(m) > 0 {
				return true
			}
			continue
		}
		if st, err := os.Stat(filepath.Join(dir, n)); err == nil && !st.IsDir() {
			return true
		}
	}
	return false
}

// escape returns a folder's name in a form in which a pattern matches it literally.
func escape(dir string) string {
	if os.PathSeparator == '\\' {
		return dir
	}
	return strings.NewReplacer(`*`, `\*`, `?`, `\?`, `[`, `\[`, `\`, `\\`).Replace(dir)
}

// within reports whether a path is dir or below it.
func within(dir, path string) bool {
	rel, err := filepath.Rel(dir, path)
	return err == nil && rel != ".." && !strings.HasPrefix(rel, ".."+string(filepath.Separator))
}

// Limits of a search through a project's files.
const (
	scanLimit = 50_000 // entries
	scanTime  = 2 * time.Second
)

// passed are folders that hold dependencies and generated files.
var passed = []string{"node_modules", "vendor", "target", "dist", "build", "out", "__pycache__", "venv", "bin", "obj"}

func isPassed(folder string) bool { return slices.Contains(passed, folder) }

// stamp distinguishes versions of a file.
type stamp struct {
	size int64
	mod  time.Time
}

// scan lists the files below a root that match accepts, with their stamps. whole is false
// if a limit was reached.
func scan(root string, match func(path string) bool) (found map[string]stamp, whole bool) {
	found, whole = map[string]stamp{}, true
	end, n := time.Now().Add(scanTime), 0
	_ = filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
		if err != nil { // what cannot be read is not watched
			if d != nil && d.IsDir() {
				return fs.SkipDir
			}
			return nil
		}
		if n++; n > scanLimit || n%512 == 0 && time.Now().After(end) {
			whole = false
			return fs.SkipAll
		}
		if d.IsDir() {
			if path != root && (strings.HasPrefix(d.Name(), ".") || isPassed(d.Name())) {
				return fs.SkipDir
			}
			return nil
		}
		if !d.Type().IsRegular() || !match(path) {
			return nil
		}
		if st, err := d.Info(); err == nil {
			found[path] = stamp{st.Size(), st.ModTime()}
		}
		return nil
	})
	return found, whole
}
