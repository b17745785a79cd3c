package journal

import (
	"bytes"
	"cmp"
	"maps"
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
		j.index, j.tag, j.sources, j.gitSeen, j.forced, j.forcedSaved = old.x, old.tag, old.sources, old.gitSeen, old.forced, true
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
	if (d.ignore == stamp{}) {
		return
	}
	if f, err := l.p.open(d.path); err == nil {
		was := d.ignore
		l.readRules(d, f, d.rules, []string{ignoreName})
		if d.ignore != was {
			// Its old content is not known; the sweep sees that it changed.
			l.suppressNew = true
			d.ignore = was
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

// force finds the files that are tracked and ignored: they are watched anyway.
// It reports whether they changed. again: even if git's index is unchanged,
// since the rules changed.
func (l *comparison) force(again bool) bool {
	j := l.j
	l.oldForced = j.forced
	if j.repo == nil || j.partial {
		return false
	}
	if !again && j.forced != nil && !j.gitChanged(l.now) {
		return false
	}
	if again || j.absentMore {
		j.gitKnown = gitindex.Known{}
	}
	var c cursor
	n, there := 0, l.tracked()
	marked, was, end, err := j.repo.marked(l.ctx, &j.gitKnown, func() {
		n, c, j.absentMore = 0, cursor{x: j.index}, false
	}, func(t *gitindex.Entry) bool {
		if l.watchedByRules(&c, t.Path) {
			return false
		}
		if n++; n <= maxAbsent {
			return true
		}
		is := there(string(t.Path))
		j.absentMore = j.absentMore || !is
		return is
	})
	if err != nil {
		return false // ignored files stay ignored until git can be asked
	}
	forced, absent := map[string]bool{}, map[string]bool{}
	c = cursor{x: j.index}
	for _, p := range marked { // some were found when the index was read before
		if l.watchedByRules(&c, []byte(p)) {
			continue
		}
		in := forced
		if !there(p) {
			in = absent
		}
		for ; p != "" && !in[p]; p, _ = split(p) {
			in[p] = true
		}
	}
	j.absent = absent
	j.gitSeen, j.gitEnd = was, end
	changed := !maps.Equal(forced, j.forced)
	j.forced, j.forcedSaved = forced, j.forcedSaved && !changed
	return changed
}

// maxAbsent is how many tracked files that are ignored and not there are known by
// name. Where there are more, such as in a sparse checkout, the index is read whole.
const maxAbsent = 10_000

// tracked returns what reports whether a tracked file is there. A folder that is
// not there is asked for once for all of its files that follow each other.
func (l *comparison) tracked() func(path string) bool {
	missing := "\x00"
	return func(path string) bool {
		in, name := split(path)
		if in == missing {
			return false
		}
		f, err := l.p.open(in)
		if err != nil {
			missing = in
			return false
		}
		_, err = f.stat(name)
		return err == nil
	}
}

// watchedByRules reports whether a tracked file is watched, or would be, by the ignore
// rules alone.
func (l *comparison) watchedByRules(c *cursor, path []byte) bool {
	name := c.seek(path)
	d := c.d
	if d == nil || d.closed {
		return false
	}
	if _, ok := c.find(name); ok && (len(l.j.forced) == 0 || !l.j.forced[string(path)]) {
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
	if !is.racy(now) {
		return false
	}
	is, end := lastHash(j.repo.index, j.repo.idLen)
	return is != j.gitSeen || end != j.gitEnd || end == gitindex.End{}
}

// clean returns the files whose content git has: their stamps match git's index, and
// nothing converts them. There are about n of them.
func (l *comparison) clean(in state, n int) *cleanFiles {
	j := l.j
	if j.repo == nil {
		return &cleanFiles{}
	}
	var all cleanFiles
	var c cursor
	written := pathStamp(j.repo.index).mtime
	was, _, err := j.repo.entries(l.ctx, func() {
		all, c = cleanFiles{make([]fileRef, 0, n), make([]byte, 0, n*j.repo.idLen)}, cursor{x: j.index}
	}, func(t *gitindex.Entry) {
		name := c.seek(t.Path)
		i, ok := c.find(name)
		if !ok {
			return
		}
		f := &c.d.files[i]
		if f.state == in && !f.racy && !f.link() && !f.stamp.racy(l.now) && same(t, f.stamp, written) {
			all.add(c.d, i, t.ID[:j.repo.idLen])
		}
	})
	if err == nil && was.mtime == written {
		err = j.repo.unconverted(l.ctx, &all, j.index.has(attributesName))
	}
	if err != nil || was.mtime != written {
		return &cleanFiles{}
	}
	return &all
}

// markTracked marks unread files that match git as read, if they are many.
func (l *comparison) markTracked(n int) {
	if n < l.j.gitMin {
		return
	}
	all := l.clean(unread, n)
	for k := range all.len() {
		f := all.file(k)
		f.state, f.id = inGit, all.id(k)
		l.j.index.touched(all.at[k].d)
	}
}

// release drops copies of contents that git has.
func (l *comparison) release() bool {
	all := l.clean(kept, 0)
	for k := range all.len() {
		f := all.file(k)
		l.j.pack.drop(f.id)
		f.state, f.id = inGit, all.id(k)
		l.j.index.touched(all.at[k].d)
	}
	return all.len() > 0
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
