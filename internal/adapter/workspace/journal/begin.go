package journal

import (
	"cmp"
	"maps"
	"path/filepath"
	"slices"

	"github.com/pawl-agent/pawl/internal/adapter/workspace"
)

// gitMin is the number of unread files from which git is asked about them:
// fewer are read in less time.
const gitMin = 200

// begin reads the index that an earlier process left, or reports that there is none.
func (l *comparison) begin() (fresh bool, err error) {
	j := l.j
	j.disk, j.pack = j.place()
	j.begun = true
	d := j.disk
	old, ok := d.load(j.root)
	j.x = newIndex()
	if ok {
		j.x, j.tag, j.sources, j.gitSeen, j.forced = old.x, old.tag, old.sources, old.gitSeen, old.forced
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
	for _, d := range j.x.sorted() {
		l.claimCopies(d)
	}
	return !ok, nil
}

// place opens the storage of the journal: in its folder, else in a temporary
// one; else nothing is stored, and changes are recorded without the old
// content.
func (j *Journal) place() (*disk, *pack) {
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
			l.quiet = true
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
		if j.opt.Git == nil || workspace.Repository(j.root) == "" {
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
	now := pathStamp(j.repo.index)
	if !again && j.forced != nil && now == j.gitSeen && !now.racy(l.now) {
		return false
	}
	all, _, err := j.repo.list(l.ctx)
	if err != nil {
		return false // ignored files stay ignored until git can be asked
	}
	j.gitSeen = now
	forced := map[string]bool{}
	for _, t := range all {
		in, name := split(t.path)
		d := j.x.dirs[in]
		if d != nil && !d.closed && !d.rules.Match(t.path, false) {
			continue
		}
		if f, err := l.p.open(in); err != nil {
			continue
		} else if _, err := f.stat(name); err != nil {
			continue
		}
		for p := t.path; p != "" && !forced[p]; p, _ = split(p) {
			forced[p] = true
		}
	}
	changed := !maps.Equal(forced, j.forced)
	j.forced = forced
	return changed
}

// clean returns git's entries, by path, of files whose stamps match git's index.
func (l *comparison) clean() map[string]tracked {
	j := l.j
	if j.repo == nil {
		return nil
	}
	all, written, err := j.repo.list(l.ctx)
	if err != nil {
		return nil
	}
	inTree := false
	for _, d := range j.x.sorted() {
		if _, ok := d.find(attributesName); ok {
			inTree = true
			break
		}
	}
	all = slices.DeleteFunc(all, func(t tracked) bool {
		f, _ := j.x.at(t.path)
		return f == nil || f.link() || f.stamp.racy(l.now) || !t.same(f.stamp, written)
	})
	if all, err = j.repo.convert(l.ctx, all, inTree); err != nil {
		return nil
	}
	out := make(map[string]tracked, len(all))
	for _, t := range all {
		out[t.path] = t
	}
	return out
}

// markTracked marks files that match git as read, and returns the rest.
func (l *comparison) markTracked(work []*job) []*job {
	n := 0
	for _, w := range work {
		if w.silent {
			n++
		}
	}
	if n < l.j.gitMin || l.j.repo == nil {
		return work
	}
	clean := l.clean()
	if len(clean) == 0 {
		return work
	}
	left := work[:0:0]
	for _, w := range work {
		t, ok := clean[w.d.join(w.name)]
		e, there := w.d.find(w.name)
		if !ok || !there || !w.silent || e.state != unread {
			left = append(left, w)
			continue
		}
		e.state, e.id, w.d.dirty = inGit, t.id, true
		w.unsaid = true // there is nothing to settle
	}
	return left
}

// release drops copies of contents that git has.
func (l *comparison) release() bool {
	freed := false
	for p, t := range l.clean() {
		f, d := l.j.x.at(p)
		if f != nil && f.state == kept && !f.racy {
			l.j.pack.drop(f.id)
			f.state, f.id, d.dirty, freed = inGit, t.id, true, true
		}
	}
	return freed
}
