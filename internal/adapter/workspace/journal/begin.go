package journal

import (
	"bytes"
	"cmp"
	"path/filepath"
	"slices"
	"strings"

	"github.com/pawl-agent/pawl/internal/adapter/workspace/gitindex"
	"github.com/pawl-agent/pawl/internal/core/gitrepo"
)

// gitMin is the number of unread files from which git is asked about them:
// fewer are read in less time.
const gitMin = 200

// loadIndex reads the index that an earlier process left, and reports whether there is none.
func (l *comparison) loadIndex() (fresh bool) {
	j := l.j
	j.disk, j.pack = j.openStorage()
	j.begun = true
	d := j.disk
	old, ok := d.load(j.root)
	j.index = newIndex()
	if ok {
		j.index, j.tag, j.sources, j.gitSeen = old.x, old.tag, old.sources, old.gitSeen
	}
	if j.opt.Git != nil {
		j.repo = findRepo(l.ctx, j.opt.Git, j.root)
	}
	if j.repo != nil {
		j.outer = j.repo.rules()
		if !ok {
			j.sources = j.repo.stamps()
		}
	}
	for _, d := range j.index.sorted() {
		l.claimCopies(d)
	}
	if ok && j.repo != nil && !j.gitChanged(l.now) {
		l.force(true) // as they were then
	}
	return !ok
}

// openStorage opens the storage of the journal: in its folder, else in a temporary
// one; else nothing is stored, and changes are recorded without the old
// content.
func (j *Journal) openStorage() (*disk, *pack) {
	var failed error
	for _, dir := range []string{j.opt.Dir, ""} {
		d, err := openDisk(dir, j.root)
		if err != nil {
			failed = cmp.Or(failed, err)
			continue
		}
		p, err := openPack(filepath.Join(d.dir, "contents"), j.opt.MaxAll)
		if err != nil {
			_ = d.close() // the other error is the reason
			failed = cmp.Or(failed, err)
			continue
		}
		d.failed = failed
		return d, p
	}
	return &disk{failed: failed}, noPack(failed)
}

// claimCopies completes a folder of an index that was read from disk.
func (l *comparison) claimCopies(d *dir) {
	for i := range d.files {
		if f := &d.files[i]; f.state == kept && !l.j.pack.claim(f.id) {
			f.state = lost
		}
	}
	d.rules = l.above(d.path)
	if (d.ignoreFile == stamp{}) {
		return
	}
	if f, err := l.p.open(d.path); err == nil {
		was := d.ignoreFile
		l.readRules(d, f, d.rules, []string{ignoreName})
		if d.ignoreFile != was {
			// Its old content is not known; the sweep sees that it changed.
			l.suppressNew = true
			d.ignoreFile = was
		}
	}
}

func (r *repo) stamps() []stamp {
	out := make([]stamp, len(r.sources))
	for i, p := range r.sources {
		out[i] = pathStamp(p)
	}
	return out
}

// sources checks what decides which files are watched, besides the folders' own
// ignore files. It reports whether everything must be judged again.
func (l *comparison) sources() bool {
	j := l.j
	if j.repo == nil {
		if j.opt.Git == nil || gitrepo.Above(j.root) == "" {
			return false
		}
		if j.repo = findRepo(l.ctx, j.opt.Git, j.root); j.repo == nil {
			j.opt.Git = nil // git is missing or refuses the repository
			return false
		}
	}
	changed := false
	if now := j.repo.stamps(); !slices.Equal(now, j.sources) {
		j.outer, j.sources, changed = j.repo.rules(), now, true
	}
	return l.force(false) || changed
}

// force finds the files that are tracked and that the rules ignore, or may ignore: they
// are watched anyway. It reports whether they changed. again: even if git's index is
// unchanged, since the rules changed.
func (l *comparison) force(again bool) bool {
	j := l.j
	l.oldForced = j.forced
	if j.repo == nil || j.partial || !again && j.forced != nil && !j.gitChanged(l.now) {
		return false
	}
	var forced *gitindex.Set
	var c cursor
	var failed error
	was, end, err := j.repo.entries(l.ctx, func() {
		forced, c, failed = &gitindex.Set{}, cursor{x: j.index}, nil
	}, func(t *gitindex.Entry) {
		if failed == nil && !l.watchedByRules(&c, t.Path) {
			failed = forced.Add(t)
		}
	})
	if err != nil || failed != nil {
		return false // ignored files stay ignored until git can be asked
	}
	j.forced, j.gitSeen, j.gitEnd = forced, was, end
	return !forced.Equal(l.oldForced)
}

// watchedByRules reports whether a tracked file is watched, or would be, by the ignore
// rules alone. The rules of a folder that is not there are not known.
func (l *comparison) watchedByRules(c *cursor, path []byte) bool {
	name := c.seek(path)
	d := c.d
	if d == nil || d.ignored {
		return false
	}
	if _, ok := c.find(name); ok && l.j.forced != nil && l.j.forced.Len() == 0 {
		return true
	}
	return !d.rules.Match(string(path), false)
}

// gitChanged reports whether git's index may have been written since it was
// read. One that was written at the moment of the reading is recognized by the
// hash at its end.
func (j *Journal) gitChanged(now int64) bool {
	is := pathStamp(j.repo.index)
	if is != j.gitSeen {
		return true
	}
	if !is.unstable(now) {
		return false
	}
	is, end := lastHash(j.repo.index, j.repo.idLen)
	return is != j.gitSeen || end != j.gitEnd || end == gitindex.End{}
}

// clean returns the files whose content git has: their stamps match git's index, and
// nothing converts them.
func (l *comparison) clean(in state) []cleanFile {
	j := l.j
	if j.repo == nil {
		return nil
	}
	var all []cleanFile
	var c cursor
	written := pathStamp(j.repo.index).mtime
	was, _, err := j.repo.entries(l.ctx, func() {
		all, c = nil, cursor{x: j.index}
	}, func(t *gitindex.Entry) {
		i, ok := c.find(c.seek(t.Path))
		if !ok {
			return
		}
		f := &c.d.files[i]
		if f.state == in && !f.unstable && !f.link() && !f.stamp.unstable(l.now) && same(t, f.stamp, written) {
			all = append(all, cleanFile{c.d, int32(i), t.ID})
		}
	})
	if err == nil && was.mtime == written {
		all, err = j.repo.unconverted(l.ctx, all, j.index.has(attributesName))
	}
	if err != nil || was.mtime != written {
		return nil
	}
	return all
}

// markTracked marks unread files that match git as read, if they are many.
func (l *comparison) markTracked(n int) {
	if n < l.j.gitMin {
		return
	}
	for _, c := range l.clean(unread) {
		f := c.file()
		f.state, f.id = inGit, c.blob
		l.j.index.touched(c.d)
	}
}

// release drops copies of contents that git has.
func (l *comparison) release() bool {
	all := l.clean(kept)
	for _, c := range all {
		f := c.file()
		l.j.pack.drop(f.id)
		f.state, f.id = inGit, c.blob
		l.j.index.touched(c.d)
	}
	return len(all) > 0
}

// cursor finds entries of the index by path. Paths that follow each other are
// mostly of one folder.
type cursor struct {
	x  *index
	in string
	ok bool // in is of the last path
	d  *dir // nil: it is not watched
	i  int
}

// seek goes to the folder of a path, and returns the path's last name.
func (c *cursor) seek(path []byte) (name []byte) {
	in, name := []byte(nil), path
	if i := bytes.LastIndexByte(path, '/'); i >= 0 {
		in, name = path[:i], path[i+1:]
	}
	if !c.ok || string(in) != c.in {
		c.d, c.i, c.ok = c.x.dirs[string(in)], 0, true
		if c.in = string(in); c.d != nil {
			c.in = c.d.path // no copy is kept
		}
	}
	return name
}

// find returns the place of a file in the folder.
func (c *cursor) find(name []byte) (int, bool) {
	if c.d == nil {
		return 0, false
	}
	if c.i < len(c.d.files) && c.d.files[c.i].name == string(name) {
		c.i++
		return c.i - 1, true
	}
	i, ok := slices.BinarySearchFunc(c.d.files, name, func(f file, n []byte) int { return strings.Compare(f.name, string(n)) })
	if ok {
		c.i = i + 1
	}
	return i, ok
}
