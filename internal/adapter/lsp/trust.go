package lsp

import (
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/pawl-agent/pawl/internal/core/plainfile"
	"github.com/pawl-agent/pawl/internal/core/shellsyntax"
	"github.com/pawl-agent/pawl/internal/policy/reach"
	"github.com/pawl-agent/pawl/internal/policy/trust"
)

// Parts returns the code of the folder that language servers would run. Each part is a
// server that runs a project's code, is installed here, and has files at the folder's
// top. The programs are those for a trusted folder. Nothing is started.
func Parts(root string, table []Server, find func(string) (string, error)) []trust.Part {
	s := New(Options{Root: root, Table: table, Find: find, Trusted: func(string) bool { return true }})
	var out []trust.Part
	for _, srv := range s.atTop(func(srv *Server) bool { return srv.Runs }) {
		argv, err := s.program(srv, root)
		if err != nil {
			continue
		}
		var sources []trust.Source
		for _, name := range srv.Config {
			if src, there := source(root, name); there {
				sources = append(sources, src)
			}
		}
		sources = append(sources, s.ownProgram(argv[0])...)
		out = append(out, trust.Define(trust.LSP, srv.Name, []string{strings.Join(argv, " ")}, sources))
	}
	return out
}

// ownProgram returns the files of a program in the workspace, including those that it
// loads there. A change of them makes pawl ask for trust again.
func (s *Servers) ownProgram(program string) []trust.Source {
	if !s.ofProject(program) {
		return nil
	}
	root, err := os.OpenRoot(s.opt.Root)
	if err != nil {
		return []trust.Source{{Name: program, Unread: true}}
	}
	defer root.Close()
	at, err := filepath.Rel(s.opt.Root, program)
	if err != nil {
		return []trust.Source{{Name: program, Unread: true}}
	}
	// What configures it are sources of their own. Servers of TypeScript load the project's.
	found, ok := reach.Installed(root.FS(), filepath.ToSlash(at), "typescript")
	if !ok {
		found = reach.Of(root.FS(), reach.Ask{Lines: []string{shellsyntax.Quote(program)}, Root: s.opt.Root, Deep: true})
	}
	var out []trust.Source
	for _, name := range found.Files {
		if src, there := source(s.opt.Root, name); there {
			out = append(out, src)
		}
	}
	return append(out, found.Sources(root.FS())...)
}

// configLimit is the largest file that is read to judge what a server runs.
const configLimit = 1 << 20

func source(root, name string) (trust.Source, bool) {
	src := trust.Source{Name: name, Unread: true}
	path := filepath.Join(root, filepath.FromSlash(name))
	st, err := os.Stat(path)
	if err != nil {
		return src, !os.IsNotExist(err)
	}
	if !st.Mode().IsRegular() || st.Size() > configLimit {
		return src, !st.IsDir()
	}
	b, err := plainfile.Read(path, configLimit)
	if err == nil {
		src.Text, src.Unread = string(b), false
	}
	return src, true
}

// topEntries limits how many entries at the top of the workspace are looked at, since
// that happens when a session opens.
const topEntries = 400

// atTop lists the wanted servers for the files at the top of the workspace or one folder
// below it.
func (s *Servers) atTop(wanted func(*Server) bool) []*Server {
	found := map[string]bool{}
	n := 0
	var look func(dir string, depth int)
	look = func(dir string, depth int) {
		if n > topEntries {
			return
		}
		f, err := os.Open(dir)
		if err != nil {
			return
		}
		entries, _ := f.ReadDir(topEntries - n + 1) // a folder may have very many
		f.Close()
		slices.SortFunc(entries, func(a, b os.DirEntry) int { return strings.Compare(a.Name(), b.Name()) })
		var below []string
		for _, e := range entries {
			if n++; n > topEntries {
				return
			}
			if e.IsDir() {
				if depth > 0 && !strings.HasPrefix(e.Name(), ".") && !isPassed(e.Name()) {
					below = append(below, filepath.Join(dir, e.Name()))
				}
				continue
			}
			for i := range s.table {
				srv := &s.table[i]
				if _, known := found[srv.Name]; !known && srv.Language(e.Name()) != "" && s.rootOf(srv, dir) != "" {
					found[srv.Name] = wanted(srv)
				}
			}
		}
		for _, dir := range below {
			look(dir, depth-1)
		}
	}
	look(s.opt.Root, 1)
	var out []*Server
	for i := range s.table {
		if found[s.table[i].Name] {
			out = append(out, &s.table[i])
		}
	}
	return out
}

// Offered reports whether the workspace has files of a server that can be started here.
// Otherwise requests need not contain the tools of servers. It starts nothing.
func (s *Servers) Offered() bool {
	return len(s.atTop(func(srv *Server) bool {
		_, err := s.program(srv, s.opt.Root)
		return err == nil && (!srv.Runs || s.opt.Trusted(srv.Name))
	})) > 0
}
