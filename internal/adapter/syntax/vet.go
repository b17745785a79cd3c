package syntax

import (
	"context"
	"encoding/json"
	"errors"
	"maps"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/pawl-agent/pawl/internal/core/lazyregexp"
	"github.com/pawl-agent/pawl/internal/core/process"
	"github.com/pawl-agent/pawl/internal/core/tool"
)

const (
	// maxShown is how many findings of a package are returned at once.
	maxShown = 5
	// maxLate is how many looks at a package may be stopped by the limit, one after the
	// other, before it is looked at no more: a cold cache fills meanwhile.
	maxLate = 3
	// maxSaid is how many bytes of a program's messages are read.
	maxSaid = 64 << 10
)

// vetted is what is known of a package: what go vet found, or did not, before the session
// changed it and since. known is nil as long as nobody can tell what is new.
type vetted struct {
	known map[string]bool
	late  int
}

// types returns what is newly found in the packages and projects of changed files.
func (l *Look) types(ctx context.Context, cs []tool.CodeChange) []tool.Diagnostic {
	by := map[string][]tool.CodeChange{} // by the folder of a package of Go, or a project's tsconfig.json
	for _, c := range cs {
		unit := ""
		switch {
		case !filepath.IsLocal(filepath.FromSlash(c.Path)) || l.Served != nil && l.Served(c.Path):
		case path.Ext(c.Path) == ".go":
			unit = path.Dir(c.Path)
		case isTypeScript(c.Path):
			unit = l.above(path.Dir(c.Path), tsconfig)
		}
		if unit != "" {
			by[unit] = append(by[unit], c)
		}
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	if len(cs) > maxFiles || l.packages == nil {
		l.packages = map[string]*vetted{} // of many changes nobody can tell which one did it
	}
	if len(cs) > maxFiles || l.Start == nil || l.TypeLimit == 0 {
		return nil
	}
	ctx, cancel := context.WithTimeout(ctx, l.TypeLimit)
	defer cancel()
	var out []tool.Diagnostic
	for _, unit := range slices.Sorted(maps.Keys(by)) {
		v := l.packages[unit]
		if v == nil {
			v = &vetted{}
			l.packages[unit] = v
		}
		if v.late == maxLate {
			continue
		}
		look := l.fresh
		if path.Base(unit) == tsconfig {
			look = l.tsc
		}
		found := look(ctx, unit, by[unit], v)
		if v.late++; ctx.Err() == nil {
			v.late = 0
		}
		out = append(out, found[:min(len(found), maxShown)]...)
	}
	return out
}

// fresh returns what go vet finds in a folder's package and did not find before.
func (l *Look) fresh(ctx context.Context, dir string, cs []tool.CodeChange, v *vetted) []tool.Diagnostic {
	now, whole, err := l.vet(ctx, dir)
	if err != nil {
		return nil
	}
	if v.known == nil && len(now) > 0 {
		was, typed, err := l.before(ctx, dir, cs)
		if err != nil || !typed {
			return nil // of what does not compile only the first error is known
		}
		v.known = messages(was)
	}
	found := slices.DeleteFunc(slices.Clone(now), func(d tool.Diagnostic) bool { return v.known[d.Message] })
	if v.known == nil || whole {
		v.known = map[string]bool{} // what is mended, and comes again, is told again
	}
	maps.Copy(v.known, messages(now))
	return found
}

func messages(ds []tool.Diagnostic) map[string]bool {
	out := map[string]bool{}
	for _, d := range ds {
		out[d.Message] = true
	}
	return out
}

// before returns what go vet finds in a package as it was before changes.
func (l *Look) before(ctx context.Context, dir string, cs []tool.CodeChange) (found []tool.Diagnostic, whole bool, err error) {
	tmp, err := os.MkdirTemp("", "pawl-before-*")
	if err != nil {
		return nil, false, err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(tmp)) }()
	replace := map[string]string{}
	for i, c := range cs {
		file := ""
		if c.Existed {
			if c.Before == nil {
				return nil, false, errUntold
			}
			text, err := c.Before(ctx)
			if err != nil {
				return nil, false, err
			}
			file = filepath.Join(tmp, strconv.Itoa(i)+".go")
			if err := os.WriteFile(file, text, 0o600); err != nil {
				return nil, false, err
			}
		}
		replace[filepath.Join(l.Root, filepath.FromSlash(c.Path))] = file
	}
	list, err := json.Marshal(map[string]any{"Replace": replace})
	if err != nil {
		return nil, false, err
	}
	overlay := filepath.Join(tmp, "overlay.json")
	if err := os.WriteFile(overlay, list, 0o600); err != nil {
		return nil, false, err
	}
	return l.vet(ctx, dir, "-overlay="+overlay)
}

var errUntold = errors.New("nobody can tell")

// vetLine is a finding; one that go vet itself names is an error of types, and the first
// one only.
var vetLine = lazyregexp.New(`^(vet: )?(\S+\.go):(\d+):(?:\d+:)? (.*)`)

// vet returns what go vet finds in the package of a folder. whole is false if the package
// does not compile. An error means that nothing is known.
func (l *Look) vet(ctx context.Context, dir string, flags ...string) (found []tool.Diagnostic, whole bool, err error) {
	var out, said capped // errors of types are on the second one; Go 1.26 has moved the rest to the first one
	run := process.Program{
		// With -trimpath, what go vet has cached names the files of another copy.
		Path: "go", Args: append(append([]string{"vet", "-trimpath=false"}, flags...), "."), Dir: filepath.Join(l.Root, filepath.FromSlash(dir)),
		Env: []string{"GOPROXY=off", "LC_ALL=C.UTF-8"}, Apart: []string{l.Root}, Stdout: &out, Stderr: &said, Confine: l.Confine,
	}
	for _, f := range flags {
		run.Confine.Reads = append(slices.Clone(run.Confine.Reads), filepath.Dir(strings.TrimPrefix(f, "-overlay=")))
	}
	p, err := l.Start.Start(ctx, run)
	if err != nil {
		return nil, false, err
	}
	err = p.Wait()
	failed := (*exec.ExitError)(nil)
	switch {
	case ctx.Err() != nil:
		return nil, false, context.Cause(ctx)
	case err == nil:
		return nil, true, nil
	case !errors.As(err, &failed):
		return nil, false, err
	}
	whole = true
	for line := range strings.Lines(string(said.b) + "\n" + string(out.b)) {
		m := vetLine().FindStringSubmatch(strings.TrimSpace(line))
		if m == nil {
			continue
		}
		name := path.Join(dir, filepath.ToSlash(m[2]))
		if filepath.IsAbs(m[2]) || !filepath.IsLocal(filepath.FromSlash(name)) {
			return nil, false, errUntold // it is not the package that is broken
		}
		whole = whole && m[1] == ""
		n, _ := strconv.Atoi(m[3])
		found = append(found, tool.Diagnostic{Path: name, Line: n, Severity: tool.SeverityError, Source: "go vet", Earlier: true, Message: clip(m[4])})
	}
	if len(found) == 0 && !strings.Contains(string(said.b), noFiles) {
		return nil, false, errUntold // no module, no such dependency, a folder that is no package
	}
	return found, whole, nil
}

// noFiles is what go says of a folder without a package: one before its first file.
const noFiles = "no Go files in"

// capped keeps the first bytes of what is written.
type capped struct{ b []byte }

func (c *capped) Write(p []byte) (int, error) {
	c.b = append(c.b, p[:min(len(p), maxSaid-len(c.b))]...)
	return len(p), nil
}
