package lsp

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"

	"github.com/pawl-agent/pawl/internal/core/plainfile"
	"github.com/pawl-agent/pawl/internal/core/sorting"
	"github.com/pawl-agent/pawl/internal/core/tool"
)

// askedServers are the servers for a request about the whole workspace.
type askedServers struct {
	clients []*client
	// missing are the projects that may know an answer but are not asked, because of the
	// limit, or because their server failed.
	missing []string
}

func (a *askedServers) left(root string) {
	if !slices.Contains(a.missing, root) {
		a.missing = append(a.missing, root)
	}
}

// shownRoots is how many of the projects that were not asked are listed.
const shownRoots = 5

// notAsked returns a text that names the projects that were not asked, "" if all were.
func (a *askedServers) notAsked() string {
	if len(a.missing) == 0 {
		return ""
	}
	names := slices.Clone(a.missing[:min(len(a.missing), shownRoots)])
	for i, n := range names {
		if n == "." {
			names[i] = "the workspace's own"
		}
	}
	if n := len(a.missing) - len(names); n > 0 {
		names = append(names, fmt.Sprintf("%d more", n))
	}
	return fmt.Sprintf("not asked were these projects: %s (one question asks at most %d servers, and only those that work)", strings.Join(names, ", "), examplesLimit)
}

// partial returns the error for a name if not every project was asked: then it is not
// known whether the name is unique, or whether it exists.
func (a *askedServers) partial(name string, found []tool.SymbolPosition) error {
	if len(found) == 0 {
		return fmt.Errorf("%s may be in a project that was not asked; %s: give path and line", name, a.notAsked())
	}
	return fmt.Errorf("%s stands for one of these symbols; there may be others, for %s; give path and line:%s", name, a.notAsked(), listed(found, shownNames, true))
}

// workspaceClients returns the servers for a request about the whole workspace: those of
// the workspace's projects, and the running ones. Projects that mention word are asked
// first; with only, the others are not asked if one mentions it.
func (s *Servers) workspaceClients(ctx context.Context, word string, only bool) (*askedServers, error) {
	if s.closed() {
		return nil, errOver
	}
	out := &askedServers{}
	var first error
	all, whole := s.examples(word, only)
	for i, ex := range all {
		root := s.rel(ex.root)
		p := s.serversFor(ex.file)[0]
		if i >= examplesLimit && p.running() == nil {
			out.left(root)
			continue
		}
		c, err := p.ask(ctx)
		if err != nil {
			first = cmp.Or(first, err)
			// A server that is not installed, or may not run, is reported elsewhere. Here
			// it would make every name of the other languages uncertain.
			if absent := (*AbsentError)(nil); !errors.As(err, &absent) && !errors.Is(err, errUntrusted) {
				out.left(root)
			}
			continue
		}
		c.refresh(false)
		if len(c.opened()) == 0 { // some load a project with its first document only
			if _, err := c.bring(ex.file, c.language(ex.file)); err != nil {
				out.left(root)
				continue
			}
		}
		if !slices.Contains(out.clients, c) {
			out.clients = append(out.clients, c)
		}
	}
	if !whole {
		out.left("those among files beyond the limit of a search")
	}
	for _, p := range s.list() {
		if c := p.running(); c != nil && !slices.Contains(out.clients, c) {
			out.clients = append(out.clients, c)
		}
	}
	if len(out.clients) > 0 {
		return out, nil
	}
	if first == nil {
		first = fmt.Errorf("%w: the workspace has no file of one; %s", errNoServer, s.knows())
	}
	return nil, first
}

// example is a file of a project, to ask its server about.
type example struct {
	file, root string
	mentions   bool
}

// examples lists one file for each server and project: a file that mentions word if there
// is one. Projects with such a file come first; with only, the others are then left out.
// whole is false if not all files were looked at.
func (s *Servers) examples(word string, only bool) (out []example, whole bool) {
	at := map[serverKey]int{}
	_, whole = scan(s.opt.Root, func(path string) bool {
		read, says := false, false
		for i, pl := range s.places(path) {
			if len(pl.server.Roots) == 0 || pl.lang == "go.mod" || pl.lang == "go.work" {
				continue
			}
			k := serverKey{cmp.Or(pl.server.Group, pl.server.Name), pl.root}
			n, known := at[k]
			if known && out[n].mentions {
				continue
			}
			if !read {
				read, says = true, mentions(path, word)
			}
			switch {
			case known && says:
				out[n].mentions = true
				if i == 0 {
					out[n].file = path
				}
			case !known && i == 0: // the server that is asked first about a file
				at[k] = len(out)
				out = append(out, example{path, pl.root, says})
			}
		}
		return false
	})
	sorting.By(out, func(a, b example) int {
		switch {
		case a.mentions == b.mentions:
			return 0
		case a.mentions:
			return -1
		}
		return 1
	})
	if n := slices.IndexFunc(out, func(e example) bool { return !e.mentions }); only && n > 0 {
		out = out[:n]
	}
	return out, whole
}

// mentionSize is the size limit, in bytes, of files that are searched for a word.
const mentionSize = 1 << 20

// mentions reports whether a file may contain a word. It returns true for a file that is
// too large or cannot be read.
func mentions(path, word string) bool {
	if st, err := os.Stat(path); err != nil || st.Size() > mentionSize {
		return true
	}
	content, err := plainfile.Read(path, mentionSize)
	return err != nil || bytes.Contains(content, []byte(word))
}

// examplesLimit bounds how many servers one question starts.
const examplesLimit = 8
