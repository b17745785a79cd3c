package journal

import (
	"cmp"
	"crypto/sha256"
	"slices"
	"strings"

	"github.com/pawl-agent/pawl/internal/adapter/workspace"
	"github.com/pawl-agent/pawl/internal/core/tool"
)

// change is an effect that is being computed. before is where the old content is.
type change struct {
	tool.Effect
	before      file
	had         bool
	from, until int64 // sizes
}

// updateIndex updates the index with what was read, and returns the effects.
func (l *comparison) updateIndex() ([]tool.Effect, error) {
	var out []change
	for _, w := range l.work {
		if c, ok := l.updateFile(w); ok {
			out = append(out, c)
		}
	}
	for _, g := range l.removed {
		out = append(out, change{
			Effect: tool.Effect{Path: g.path, ModeBefore: mode(g.was.stamp), HasAfter: true},
			before: g.was, had: true, from: g.was.size,
		})
	}
	err := l.findOldContents(out)
	if err != nil {
		return nil, err
	}
	if out, err = l.ours(out); err != nil {
		return nil, err
	}
	l.count(out)
	slices.SortStableFunc(out, func(a, b change) int {
		// Removals come first, so that a folder can replace a file.
		return cmp.Or(cmp.Compare(live(a), live(b)), strings.Compare(a.Path, b.Path))
	})
	effects := make([]tool.Effect, len(out))
	for i, c := range out {
		effects[i] = c.Effect
	}
	return effects, nil
}

func live(c change) int {
	if c.After == "" {
		return 0
	}
	return 1
}

func mode(s stamp) uint32 { return s.mode }

func (l *comparison) updateFile(w *fileRead) (change, bool) {
	e, ok := w.d.find(w.name)
	if !ok && !w.nowIgnored || w.unreadable {
		l.visited(w.d, true)
		return change{}, false
	}
	c := change{Effect: tool.Effect{Path: w.d.join(w.name)}, before: w.old, had: w.hasOld && w.old.state != unread, from: w.old.size}
	c.ModeBefore = mode(w.old.stamp)
	if !c.had {
		c.ModeBefore = 0
	}
	if w.missing {
		// It was removed after its folder was listed.
		c.HasAfter = true
		if !w.nowIgnored {
			if !w.dropped {
				l.forget(*e)
			}
			i := slices.IndexFunc(w.d.files, func(f file) bool { return f.name == w.name })
			w.d.files = slices.Delete(w.d.files, i, i+1)
			w.d.unstable = true
			l.j.index.touched(w.d)
			l.j.index.files--
		}
		return c, c.had
	}
	same := c.had && w.same()
	c.After, c.Mode, c.until = hashOf(w.read.id), mode(w.read.stamp), w.read.stamp.size
	c.HasAfter = w.read.state == kept || w.keptBriefly
	if !w.nowIgnored {
		l.j.updateEntry(w, e, same)
	}
	if same {
		c.Before, c.Kept = c.After, c.HasAfter
	}
	return c, c.had && (!same || c.Mode != c.ModeBefore) || !c.had && !w.silent
}

// updateEntry updates an entry of the index with what was read.
func (j *Journal) updateEntry(w *fileRead, e *file, same bool) {
	if w.full {
		j.noSpace++
	}
	old := *e
	e.stamp, e.unstable = w.read.stamp, w.read.unstable
	if !same || w.old.state == lost {
		e.state, e.id = w.read.state, w.read.id
	}
	if old.state == kept && !same && !w.dropped {
		j.pack.touch(old.id, j.snapshots)
		j.pack.drop(old.id)
	}
	if *e != old {
		j.index.touched(w.d)
	}
}

// findOldContents completes the old contents that git has, and copies them for a while.
func (l *comparison) findOldContents(cs []change) error {
	j := l.j
	var ask []id
	size := int64(0)
	type blobOf struct {
		sum  id
		size int64
		kept bool
	}
	sums := map[id]blobOf{}
	flush := func() error {
		if j.repo == nil || len(ask) == 0 {
			return nil
		}
		err := j.repo.blobs(l.ctx, ask, func(git id, data []byte) error {
			sum := sha256.Sum256(data)
			sums[git] = blobOf{sum, int64(len(data)), j.pack.put(sum, data, false, j.snapshots)}
			return nil
		})
		ask, size = nil, 0
		if l.ctx.Err() != nil {
			return err
		}
		return nil // a git that fails has nothing: not kept
	}
	asked := map[id]bool{}
	for i := range cs {
		c := &cs[i]
		if !c.had || c.Before != "" || c.before.state != inGit || c.before.size > j.opt.MaxHash || asked[c.before.id] {
			continue
		}
		asked[c.before.id] = true
		ask, size = append(ask, c.before.id), size+c.before.size
		if size > j.opt.MaxHash {
			if err := flush(); err != nil {
				return err
			}
		}
	}
	if err := flush(); err != nil {
		return err
	}
	for i := range cs {
		c := &cs[i]
		switch {
		case !c.had:
			c.Kept = true // there was nothing
		case c.Before != "":
		case c.before.state == inGit:
			// The size differs: git did convert it at the checkout.
			b, ok := sums[c.before.id]
			if ok = ok && b.size == c.before.size; !ok {
				g := content{stamp: c.before.stamp}
				g.guess(c.Path)
				b = blobOf{sum: g.id}
			}
			c.Before, c.Kept = hashOf(b.sum), b.kept
		default:
			c.Before, c.Kept = hashOf(c.before.id), c.before.state == kept
		}
	}
	return nil
}

// ours removes the effects of recorded writes, and uses their contents as the
// old contents of later changes by others.
func (l *comparison) ours(cs []change) ([]change, error) {
	l.j.mu.Lock()
	written := l.j.wrote
	l.j.wrote = map[string]*wrote{}
	l.j.mu.Unlock()
	if len(written) == 0 {
		return cs, nil
	}
	var out []change
	for _, c := range cs {
		w := written[c.Path]
		delete(written, c.Path)
		switch {
		case w == nil:
		case c.After == w.after:
			if c.Before == w.before {
				continue
			}
			// Somebody changed it before pawl wrote.
			c.After, c.HasAfter, c.Mode = w.before, w.before == "", c.ModeBefore
		default:
			c.Before, c.Kept, c.had = w.after, false, w.after != ""
			if w.mode != 0 {
				c.ModeBefore = w.mode
			}
		}
		out = append(out, c)
	}
	for p, w := range written {
		c, ok, err := l.reverted(p, *w)
		if err != nil {
			return nil, err
		}
		if ok {
			out = append(out, c)
		}
	}
	return out, nil
}

// reverted returns the change of a file that pawl wrote and that has the
// content of the last snapshot again: somebody restored it.
func (l *comparison) reverted(path string, w wrote) (change, bool, error) {
	c := change{Effect: tool.Effect{Path: path, Before: w.after, After: w.before, ModeBefore: w.mode}, had: w.after != ""}
	c.Kept = w.after == "" // otherwise pawl's own store has it
	f, _ := l.j.lookup(path)
	switch {
	case w.before == w.after:
	case w.before == "":
		if f != nil {
			return c, false, nil
		}
		in, name := split(path)
		d, err := l.p.open(in)
		if err == nil {
			_, err = d.stat(name)
		}
		c.HasAfter = true
		return c, err != nil && absent(err), nil // otherwise it exists but is not watched
	case f == nil:
	case f.state == inGit && l.j.repo != nil:
		c.Mode = mode(f.stamp)
		same := false
		err := l.j.repo.blobs(l.ctx, []id{f.id}, func(_ id, data []byte) error {
			sum := sha256.Sum256(data)
			same = hashOf(sum) == w.before
			c.HasAfter = same && l.j.pack.put(sum, data, false, l.j.snapshots)
			return nil
		})
		if l.ctx.Err() != nil {
			return c, false, err
		}
		return c, same, nil // a git that fails shows nothing
	default:
		c.Mode, c.HasAfter = mode(f.stamp), f.state == kept
		return c, hashOf(f.id) == w.before, nil
	}
	return c, false, nil
}

// The lines of a change are counted only where that is fast.
const (
	countFiles = 200
	countSize  = 256 << 10
)

func (l *comparison) count(cs []change) {
	for i := range cs[:min(len(cs), countFiles)] {
		c := &cs[i]
		if c.Before == c.After || c.from > countSize || c.until > countSize || (c.Mode|c.ModeBefore)&^0o777 != 0 {
			continue
		}
		get := func(h tool.Hash) ([]byte, bool) {
			if h == "" {
				return nil, true
			}
			i, err := parseHash(h)
			if err != nil {
				return nil, false
			}
			data, err := l.j.pack.get(i)
			return data, err == nil
		}
		before, ok := get(c.Before)
		after, ok2 := get(c.After)
		if ok && ok2 {
			c.Added, c.Removed = workspace.Lines(before, after)
		}
	}
}
