package workspace

import (
	"cmp"
	"container/heap"
	"context"
	"errors"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"sync"

	"github.com/pawl-agent/pawl/internal/core/gitrepo"
)

// This file visits the files below a folder that are not ignored, on several threads and
// in the order of their paths. So a search that has enough results can stop early with
// the same result each time, and only the siblings on the path to the current folder
// wait. No link is followed.

// tree is one such walk.
type tree struct {
	ctx   context.Context
	w     *Workspace
	place place
	git   *Git
	root  *folder
	// visit gets files of one open folder, sorted, on any thread. at is the
	// folder's path relative to the tree's, "" or with a slash.
	visit func(worker int, in *folder, at string, names []string)
	// passed is called when everything before a path was visited; "" means everything.
	// It reports whether to go on.
	passed func(before string) bool
	// full reports whether too many results wait for earlier ones, so that no new folder
	// is begun; nil: never.
	full func() bool

	mu      sync.Mutex
	wake    sync.Cond
	pending tasks
	running []string // keys
	files   int      // that were passed to visit
	ended   bool
	failed  error
}

// task is a folder that is to be listed, or files in one that are to be visited.
type task struct {
	key   string // all its files are at or after it, by path
	at    string // the folder
	judge *judge
	names []string // nil: the folder is listed
}

// entry is a name in a folder.
type entry struct {
	name string
	kind fs.FileMode // type bits
	// judge is that of a folder, once it is known that it is not ignored.
	judge *judge
}

// compare orders names as the paths below them are ordered: a folder as its name
// with a slash.
func (e entry) compare(f entry) int {
	n := min(len(e.name), len(f.name))
	if c := strings.Compare(e.name[:n], f.name[:n]); c != 0 {
		return c
	}
	return cmp.Compare(e.after(n), f.after(n))
}

func (e entry) after(n int) int {
	switch {
	case n < len(e.name):
		return int(e.name[n])
	case e.kind == fs.ModeDir:
		return '/'
	}
	return -1
}

type tasks []*task

func (t tasks) Len() int           { return len(t) }
func (t tasks) Less(i, j int) bool { return t[i].key < t[j].key }
func (t tasks) Swap(i, j int)      { t[i], t[j] = t[j], t[i] }
func (t *tasks) Push(x any)        { *t = append(*t, x.(*task)) }
func (t *tasks) Pop() any {
	old := *t
	x := old[len(old)-1]
	old[len(old)-1] = nil
	*t = old[:len(old)-1]
	return x
}

// treeOf prepares the walk below a folder. In a repository it goes through what
// git would list: what is tracked, and what is not ignored. A folder that is
// ignored as a whole was named explicitly, so it is walked.
func (w *Workspace) treeOf(ctx context.Context, p place) (*tree, error) {
	root, err := w.folder(p)
	if err != nil {
		return nil, wrapError("list", p.clean, err)
	}
	defer root.Close()
	in, err := openFolder(root)
	if err != nil {
		return nil, wrapError("list", p.clean, err)
	}
	t := &tree{ctx: ctx, w: w, place: p, root: in}
	t.wake.L = &t.mu
	git, top := w.gitOf(p)
	t.git = git
	if git == nil {
		t.beginPlain()
		return t, nil
	}
	if err := t.begin("", p.abs, top); err != nil {
		t.close()
		return nil, err
	}
	return t, nil
}

func (t *tree) close() { t.root.close() }

// beginPlain begins without git: only the ignore files in the tree count.
func (t *tree) beginPlain() { t.pending = append(t.pending, &task{judge: t.unjudged("")}) }

func (t *tree) unjudged(at string) *judge {
	j := &judge{prefix: at, ownRules: true}
	if text, err := ruleFile(filepath.Join(t.place.abs, at, ignoreName)); err == nil {
		j.rules = j.rules.With(at, "", text)
	}
	return j
}

// begin adds a folder of a repository: the tree's own, or one in which another
// repository is.
func (t *tree) begin(at, dir, top string) error {
	j, err := t.w.judgeOf(t.ctx, t.git, top, dir)
	if err == nil && j.ignored {
		var tracked bool
		if tracked, err = j.anyTracked(); err == nil && !tracked {
			err = errNoRepository
		}
	}
	switch err {
	case nil:
		t.push(&task{key: at, at: at, judge: j})
	case errAskGit:
		return t.listByGit(at, dir, top)
	case errNoRepository:
		t.push(&task{key: at, at: at, judge: t.unjudged(at)})
	default:
		return err
	}
	return nil
}

func (t *tree) push(more ...*task) {
	t.mu.Lock()
	defer t.mu.Unlock()
	for _, x := range more {
		heap.Push(&t.pending, x)
	}
	t.wake.Broadcast()
}

func (t *tree) listByGit(at, dir, top string) error {
	names, err := t.git.files(t.ctx, dir, top)
	if t.ctx.Err() != nil {
		return t.ctx.Err()
	}
	if err != nil { // git is missing, or refuses the repository
		t.push(&task{key: at, at: at, judge: t.unjudged(at)})
		return nil
	}
	slices.Sort(names)
	var files []string
	for _, n := range slices.Compact(names) {
		inner, nested := strings.CutSuffix(n, "/")
		if !nested {
			if !isTemp(path.Base(n)) {
				files = append(files, n)
			}
			continue
		}
		abs := filepath.Join(dir, filepath.FromSlash(inner))
		if gitrepo.Above(abs) != abs {
			continue // an empty submodule, or one that is gone
		}
		if err := t.begin(at+n, abs, abs); err != nil {
			return err
		}
	}
	for _, b := range batches(files) {
		t.push(&task{key: at + b.dir + b.names[0], at: at + b.dir, names: b.names})
	}
	return nil
}

// fileBatch is files of one folder.
type fileBatch struct {
	dir   string // "" or with a slash
	names []string
}

func batches(paths []string) []fileBatch {
	var out []fileBatch
	for _, p := range paths {
		i := strings.LastIndexByte(p, '/') + 1
		last := len(out) - 1
		if last < 0 || out[last].dir != p[:i] || len(out[last].names) >= batchFiles {
			out = append(out, fileBatch{dir: p[:i]})
			last++
		}
		out[last].names = append(out[last].names, p[i:])
	}
	return out
}

// batchFiles is how many files a thread takes at once, at most.
const batchFiles = 256

// all goes through the tree. Where git lists nothing, since it ignores all of it,
// the folder was named explicitly.
func (t *tree) all() error {
	if err := t.run(); err != nil || t.files > 0 || t.git == nil {
		return err
	}
	t.git, t.ended = nil, false
	t.beginPlain()
	return t.run()
}

func (t *tree) run() error {
	var wg sync.WaitGroup
	for i := range min(max(runtime.GOMAXPROCS(0), 2), maxWorkers) {
		wg.Go(func() { t.work(i) })
	}
	wg.Wait()
	if err := t.ctx.Err(); err != nil {
		return err
	}
	return t.failed
}

// maxWorkers is the largest number of threads of a walk. The number of processors
// may change while it runs, so what each thread has is made for all.
const maxWorkers = 4

func (t *tree) work(worker int) {
	for {
		x := t.next()
		if x == nil {
			return
		}
		err := t.do(worker, x)
		t.done(x, err)
	}
}

// next takes the first task that is left; nil at the end.
func (t *tree) next() *task {
	t.mu.Lock()
	defer t.mu.Unlock()
	for !t.ended && t.ctx.Err() == nil {
		if len(t.pending) > 0 && (t.full == nil || len(t.running) == 0 || !t.full()) {
			x := heap.Pop(&t.pending).(*task)
			t.running = append(t.running, x.key)
			return x
		}
		if len(t.running) == 0 {
			break
		}
		t.wake.Wait()
	}
	t.wake.Broadcast()
	return nil
}

func (t *tree) done(x *task, err error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	i := slices.Index(t.running, x.key)
	t.running = slices.Delete(t.running, i, i+1)
	if err != nil && t.failed == nil {
		t.failed = err
	}
	// The key of the first folder is "", which passed would take for everything.
	before, open := "", false
	if len(t.pending) > 0 {
		before, open = t.pending[0].key, true
	}
	for _, k := range t.running {
		if !open || k < before {
			before, open = k, true
		}
	}
	nothing := open && before == ""
	if t.failed != nil || t.passed != nil && !nothing && !t.passed(before) {
		t.ended = true
	}
	t.wake.Broadcast()
}

func (t *tree) do(worker int, x *task) error {
	in, err := t.root.sub(x.at)
	if err != nil {
		return nil // unreadable or gone: the rest still counts
	}
	defer in.close()
	if x.names != nil {
		t.pass(worker, in, x.at, x.names)
		return nil
	}
	entries, err := in.list()
	if err != nil {
		if x.at == "" {
			return wrapError("list", t.place.clean, err)
		}
		return nil
	}
	slices.SortFunc(entries, entry.compare)
	left, err := t.notIgnored(x, in, entries)
	if errors.Is(err, errAskGit) {
		dir := filepath.Join(t.place.abs, filepath.FromSlash(x.at))
		top := gitrepo.Above(dir)
		if x.judge.tracked != nil { // another one may lie between, and its files be the outer one's
			top = filepath.Clean(strings.TrimSuffix(filepath.ToSlash(dir)+"/", x.judge.prefix))
		}
		return t.listByGit(x.at, dir, top)
	}
	if err != nil || left == nil {
		return err
	}
	t.split(worker, x, in, left)
	return nil
}

// pass passes files on.
func (t *tree) pass(worker int, in *folder, at string, names []string) {
	t.mu.Lock()
	t.files += len(names)
	t.mu.Unlock()
	t.visit(worker, in, at, names)
}

// split visits a folder's files, and leaves its folders. Many files are left for
// other threads.
func (t *tree) split(worker int, x *task, in *folder, left []entry) {
	var more []*task
	var names []string
	var runs [][]string
	files := 0
	end := func() {
		if len(names) > 0 {
			runs = append(runs, names)
			names = nil
		}
	}
	for _, e := range left {
		if e.judge == nil {
			files++
			if names = append(names, e.name); len(names) == batchFiles {
				end()
			}
			continue
		}
		end()
		at := x.at + e.name + "/"
		more = append(more, &task{key: at, at: at, judge: e.judge})
	}
	end()
	if files > batchFiles {
		for _, r := range runs {
			more = append(more, &task{key: x.at + r[0], at: x.at, names: r})
		}
		runs = nil
	}
	t.push(more...)
	for _, r := range runs {
		t.pass(worker, in, x.at, r)
	}
}

// notIgnored returns those names of a folder that are not ignored; nil if it belongs to
// another repository.
func (t *tree) notIgnored(x *task, in *folder, entries []entry) ([]entry, error) {
	j := x.judge
	other, rules := false, false
	for _, e := range entries {
		other = other || e.name == ".git"
		rules = rules || e.name == ignoreName && e.kind == 0
	}
	if j.tracked != nil && j.prefix != "" && !j.ownRules {
		if gone, err := t.nested(x, other); gone || err != nil {
			return nil, err
		}
	}
	if rules && !j.ownRules {
		text, err := in.text(ignoreName)
		if err != nil {
			return nil, errAskGit
		}
		with := *j
		if with.rules = j.rules.With(j.prefix, "", text); with.tracked != nil && with.rules.differsFromGit() {
			return nil, errAskGit
		}
		j = &with
	}
	left := entries[:0]
	for _, e := range entries {
		special := e.kind != 0 && e.kind != fs.ModeDir && e.kind != fs.ModeSymlink
		if e.name == ".git" || isTemp(e.name) || special && j.tracked != nil {
			continue
		}
		dir, closed := e.kind == fs.ModeDir, false
		if j.ignored || j.rules.Match(j.prefix+e.name, dir) {
			in, err := j.isTracked(e.name, dir)
			if err != nil {
				return nil, err
			}
			if !in {
				continue
			}
			closed = true
		}
		if dir {
			e.judge = j.child(e.name, closed)
		}
		left = append(left, e)
	}
	if len(left) == 0 {
		return entries[:0:0], nil
	}
	return left, nil
}

// nested decides about a folder in which another repository is, or should be.
// It reports whether the folder is done with.
func (t *tree) nested(x *task, other bool) (bool, error) {
	if !other && !x.judge.modules {
		return false, nil
	}
	set, err := x.judge.tracked()
	if err != nil {
		return false, err
	}
	name := strings.TrimSuffix(x.judge.prefix, "/")
	switch {
	case !other:
		return set.Module(name), nil // a submodule that is not there
	case !set.Module(name) && (set.Below(name) || x.judge.ignored):
		return false, nil // its files are the outer repository's
	}
	dir := filepath.Join(t.place.abs, filepath.FromSlash(x.at))
	switch _, err := t.w.repositoryOf(t.ctx, t.git, dir); {
	case errors.Is(err, errNoRepository) && !isRepository(dir):
		return false, nil
	case t.ctx.Err() != nil:
		return false, t.ctx.Err()
	}
	return true, t.begin(x.at, dir, dir)
}

// isRepository reports whether git takes a folder's .git for a repository.
func isRepository(dir string) bool {
	git := filepath.Join(dir, ".git")
	if s := readSource(git); s.is {
		return strings.HasPrefix(string(s.text), "gitdir: ")
	}
	for _, n := range []string{"HEAD", "objects", "refs"} {
		if _, err := os.Lstat(filepath.Join(git, n)); err != nil {
			return false
		}
	}
	return true
}
