package trees

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"time"

	"github.com/pawl-agent/pawl/internal/adapter/workspace"
	"github.com/pawl-agent/pawl/internal/core/lazyregexp"
)

// Commit makes a commit of a tree's files, on top of the worker's base commit.
// It returns the base if nothing changed.
func (s *Store) Commit(ctx context.Context, name, base, message string) (string, error) {
	s.mu.Lock()
	made := s.from[name] == base
	delete(s.from, name) // what git adds changes the index
	s.mu.Unlock()
	was, err := s.treeOf(ctx, base)
	if err != nil {
		return "", err
	}
	tree, err := "", errUnusual
	if made {
		tree, err = s.addPlainly(ctx, name, was)
	}
	if err != nil && ctx.Err() == nil {
		tree, err = s.addByGit(ctx, name, base, made)
	}
	if err != nil || tree == was {
		return base, err
	}
	return s.commitTree(tree, message, time.Now(), base)
}

// addByGit returns the tree of a tree's files. made: its index is that of base.
func (s *Store) addByGit(ctx context.Context, name, base string, made bool) (string, error) {
	env := []string{"GIT_INDEX_FILE=" + s.index(name), "GIT_WORK_TREE=" + s.Path(name)}
	if !made {
		if _, err := s.git(ctx, env, "read-tree", base); err != nil {
			return "", err
		}
	}
	return s.addAll(ctx, env)
}

// maxAdded is the size limit of a file that is added here, in bytes.
const maxAdded = 8 << 20

// adding finds what changed in a tree since it was made. Any error means that git must.
type adding struct {
	s       *Store
	ctx     context.Context
	dir     string
	root    *os.Root           // dir, which nothing that is read leads out of
	index   map[string]indexed // files that were not seen yet
	folders map[string]bool    // that hold files of the index
	end     [2]uint32          // when the index was written
	changes []file
}

// addPlainly is addByGit where nothing is unusual.
func (s *Store) addPlainly(ctx context.Context, name, base string) (string, error) {
	if !s.plain {
		return "", errUnusual
	}
	ignore, err := s.ignored(ctx)
	if err != nil {
		return "", err
	}
	index := s.index(name)
	files, err := readIndex(index)
	if err != nil {
		return "", err
	}
	at, err := statFile(index)
	if err != nil {
		return "", err
	}
	dir := s.Path(name)
	root, err := os.OpenRoot(dir)
	if err != nil {
		return "", err
	}
	defer root.Close()
	a := &adding{s: s, ctx: ctx, dir: dir, root: root, index: make(map[string]indexed, len(files)), folders: map[string]bool{}, end: at.mtime}
	for _, f := range files {
		a.index[f.path] = f
		for i := strings.LastIndexByte(f.path, '/'); i > 0 && !a.folders[f.path[:i]]; i = strings.LastIndexByte(f.path[:i], '/') {
			a.folders[f.path[:i]] = true
		}
	}
	if err := a.folder("", ignore, false); err != nil {
		return "", err
	}
	for path := range a.index {
		a.changes = append(a.changes, file{path, modeGone, ""})
	}
	tree, err := s.edit(base, a.changes)
	if tree == "" && err == nil {
		err = errUnusual // the empty tree
	}
	return tree, err
}

// folder looks at what is below a folder, rel is "" or ends in a slash. out: all that is
// not in the index is ignored.
func (a *adding) folder(rel string, ignore workspace.Ignore, out bool) error {
	if a.ctx.Err() != nil {
		return context.Cause(a.ctx)
	}
	names, err := os.ReadDir(filepath.Join(a.dir, rel))
	if err != nil {
		return err
	}
	for _, e := range names {
		if e.Name() == ".gitignore" && e.Type().IsRegular() {
			text, err := a.read(rel + e.Name())
			if err == nil {
				ignore, err = withRules(ignore, rel, text)
			}
			if err != nil {
				return err
			}
		}
	}
	for _, e := range names {
		path := rel + e.Name()
		if path == ".git" {
			continue
		}
		if !plainName(e.Name()) {
			return errUnusual // also .git: a nested repository
		}
		known, tracked := a.index[path]
		switch skip := out || ignore.Match(path, e.IsDir()); {
		case e.IsDir() && skip && !a.folders[path]:
		case e.IsDir():
			if err := a.folder(path+"/", ignore, skip); err != nil {
				return err
			}
		case !tracked && skip:
		case e.Type()&fs.ModeSymlink != 0 || e.Type().IsRegular():
			if err := a.file(path, known, tracked); err != nil {
				return err
			}
		case tracked:
			return errUnusual
		}
	}
	return nil
}

// file looks at one file.
func (a *adding) file(path string, known indexed, tracked bool) error {
	delete(a.index, path)
	now, err := statFile(filepath.Join(a.dir, path))
	if err != nil {
		return err
	}
	// A file that changed in the instant of the index may have changed after it.
	if tracked && now.stamp == known.stamp && now.mode == known.mode && slices.Compare(now.mtime[:], a.end[:]) < 0 {
		return nil
	}
	var body []byte
	switch {
	case now.mode == "" || now.size > maxAdded:
		return errUnusual
	case now.mode == modeLink:
		to, err := a.root.Readlink(path)
		if err != nil {
			return err
		}
		body = []byte(to)
	default:
		if body, err = a.read(path); err != nil {
			return err
		}
	}
	id := nameOf(fmt.Appendf(nil, "blob %d\x00", len(body)), body)
	if tracked && id == known.id && now.mode == known.mode {
		return nil
	}
	if id, err = a.s.write("blob", body); err == nil {
		a.changes = append(a.changes, file{path, now.mode, id})
	}
	return err
}

// read reads a file.
func (a *adding) read(path string) ([]byte, error) {
	f, err := a.root.OpenFile(path, os.O_RDONLY|syscall.O_NONBLOCK, 0)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	about, err := f.Stat()
	if err != nil {
		return nil, err
	}
	body, err := io.ReadAll(io.LimitReader(f, maxAdded+1))
	if !about.Mode().IsRegular() || len(body) > maxAdded {
		return nil, errUnusual
	}
	return body, err
}

// slashInSet is a pattern that we match otherwise than git does.
var slashInSet = lazyregexp.New(`\[[^\]\n]*/`)

// withRules adds the rules of an ignore file of a folder.
func withRules(ignore workspace.Ignore, rel string, text []byte) (workspace.Ignore, error) {
	if len(text) > workspace.IgnoreMax || slashInSet().Match(text) {
		return ignore, errUnusual
	}
	return ignore.With(rel, "", string(text)), nil
}

// ignored returns the rules that hold in all trees: the person's own, and those that the
// project's repository does not share.
func (s *Store) ignored(ctx context.Context) (workspace.Ignore, error) {
	s.rules.Do(func() {
		path, err := s.git(context.WithoutCancel(ctx), nil, "config", "--type=path", "--get", "core.excludesFile")
		if exitOne(err) != nil {
			s.rulesErr = err
			return
		}
		if path == "" && err != nil {
			user := os.Getenv("XDG_CONFIG_HOME")
			if user == "" {
				user = filepath.Join(os.Getenv("HOME"), ".config")
			}
			path = filepath.Join(user, "git", "ignore")
		}
		for _, p := range []string{path, filepath.Join(s.dir, "info", "exclude")} {
			text, err := os.ReadFile(p)
			if err == nil {
				s.ignore, err = withRules(s.ignore, "", text)
			}
			if err != nil && !errors.Is(err, fs.ErrNotExist) {
				s.rulesErr = err
			}
		}
	})
	return s.ignore, s.rulesErr
}
