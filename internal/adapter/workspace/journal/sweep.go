package journal

import (
	"context"
	"errors"
	"io/fs"
	"strings"
	"sync"
	"sync/atomic"
)

// found is what a sweep found changed in one folder.
type found struct {
	d       *dir
	gone    bool
	relist  bool // names were added or removed, or may have been
	rules   bool // its .gitignore changed
	changed []int
}

func (f *found) news() bool { return f.gone || f.relist || f.rules || len(f.changed) > 0 }

// sweep compares the stamps of everything that is watched with the system's,
// and returns the differences. It changes nothing. A large tree pays this part
// of a snapshot each time: one system call for each file and three for each
// folder, on several threads.
func (x *index) sweep(ctx context.Context, root folder, now int64, workers int) ([]found, error) {
	const chunk = 32 // folders
	order := x.sorted()
	parts := make([][]found, workers)
	var next atomic.Int64
	var wg sync.WaitGroup
	for w := range workers {
		wg.Go(func() {
			p := pather{root: root}
			defer p.close()
			for ctx.Err() == nil {
				lo := int(next.Add(chunk)) - chunk
				if lo >= len(order) {
					return
				}
				for _, d := range order[lo:min(lo+chunk, len(order))] {
					if f := p.compare(d, now); f.news() {
						parts[w] = append(parts[w], f)
					}
				}
			}
		})
	}
	wg.Wait()
	if err := ctx.Err(); err != nil {
		return nil, context.Cause(ctx)
	}
	var out []found
	for _, p := range parts {
		out = append(out, p...)
	}
	return out, nil
}

// pather opens folders by their paths and keeps the folders above the last one
// open, since the next one is usually near.
type pather struct {
	root  folder
	stack []level
}

type level struct {
	path string
	f    folder
}

func (p *pather) close() {
	for _, l := range p.stack {
		l.f.close()
	}
	p.stack = nil
}

// open opens a folder. The pather owns it.
func (p *pather) open(path string) (folder, error) {
	if path == "" {
		return p.root, nil
	}
	for n := len(p.stack); n > 0; n-- {
		if t := p.stack[n-1]; t.path == path {
			return t.f, nil
		} else if strings.HasPrefix(path, t.path) && path[len(t.path)] == '/' {
			break
		}
		p.stack[n-1].f.close()
		p.stack = p.stack[:n-1]
	}
	cur, at := p.root, ""
	if n := len(p.stack); n > 0 {
		cur, at = p.stack[n-1].f, p.stack[n-1].path
	}
	rest := strings.TrimPrefix(path[len(at):], "/")
	for rest != "" {
		name, tail, _ := strings.Cut(rest, "/")
		f, err := cur.sub(name)
		if err != nil {
			return folder{}, err
		}
		cur, at, rest = f, join(at, name), tail
		p.stack = append(p.stack, level{at, f})
	}
	return cur, nil
}

// absent reports whether an error means that a folder or file no longer exists.
// An unreadable one is not absent: its entry is kept.
func absent(err error) bool {
	return errors.Is(err, fs.ErrNotExist) || notFolder(err)
}

// compare compares one folder with the system.
func (p *pather) compare(d *dir, now int64) found {
	out := found{d: d}
	f, err := p.open(d.path)
	if err != nil {
		out.gone = absent(err)
		return out
	}
	st, err := f.self()
	if err != nil {
		return out
	}
	out.relist = d.racy || st != d.stamp
	for i := range d.files {
		e := &d.files[i]
		st, err := f.stat(e.name)
		switch {
		case err != nil:
			if absent(err) {
				out.relist = true
			}
		case e.racy || e.state == unread || st != e.stamp:
			out.changed = append(out.changed, i)
			out.rules = out.rules || e.name == ignoreName
		}
	}
	if !out.rules && (d.ignore != stamp{}) {
		// Check this even if the ignore file itself is ignored.
		if _, ok := d.find(ignoreName); !ok {
			st, err := f.stat(ignoreName)
			out.rules = err != nil || st != d.ignore || st.racy(now)
		}
	}
	return out
}

const ignoreName = ".gitignore"
