package workspace

import (
	"bufio"
	"bytes"
	"context"
	"crypto/sha1"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"hash"
	"io"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"time"

	"github.com/pawl-agent/pawl/internal/core/event"
	"github.com/pawl-agent/pawl/internal/core/gitrepo"
	"github.com/pawl-agent/pawl/internal/policy/gitnext"
)

// This file reads what a turn left in git: the index and the references, as they were when
// it began and as they are. What did not change costs a stat; of what changed, git tells
// the differences to the last commit before the turn.

const (
	mostRefs    = 2000     // that are files of their own
	mostTips    = 50       // changed ones that are looked at
	mostPacked  = 64 << 20 // bytes of packed references in which the last commit is looked for
	mostContent = 16 << 20
	inGitTime   = 10 * time.Second
)

// InGit returns what is called when a turn begins. What that returns is called at its end,
// and returns what the turn left in the git of a folder: see event.Ended. who returns
// who runs or obeys a file, by its absolute path, "" for others; it is asked for anew at
// each end.
func (g *Git) InGit(root string, who func() func(abs string) string) func() func(context.Context) []event.GitFile {
	return func() func(context.Context) []event.GitFile {
		before := gitMomentOf(root)
		return func(ctx context.Context) []event.GitFile {
			now := gitMomentOf(root)
			if now.top == "" || now.same(before) {
				return nil
			}
			ctx, cancel := context.WithTimeout(ctx, inGitTime)
			defer cancel()
			names := who()
			return gitnext.Found(g.sides(ctx, before, now), func(file string) string { return names(filepath.Join(now.top, filepath.FromSlash(file))) })
		}
	}
}

// gitMoment is what git's own files of a repository say at a moment.
type gitMoment struct {
	top    string
	index  string            // what distinguishes it from an index that was changed
	base   string            // the last commit, "" for none
	refs   map[string]string // the commits by what names them
	packed string
	large  bool // packed is too large to be read, and only its version
}

func (m gitMoment) same(o gitMoment) bool {
	return m.top == o.top && m.index == o.index && m.packed == o.packed && maps.Equal(m.refs, o.refs)
}

func gitMomentOf(root string) gitMoment {
	top := gitrepo.Above(root)
	if top == "" {
		return gitMoment{}
	}
	own, shared := gitFolders(top)
	m := gitMoment{top: top, index: versionOf(filepath.Join(own, "index")), refs: map[string]string{}}
	if st, err := os.Stat(filepath.Join(shared, "packed-refs")); err == nil && st.Size() < sourceMax {
		m.packed = string(readSource(filepath.Join(shared, "packed-refs")).text)
	} else if err == nil {
		m.packed, m.large = versionOf(filepath.Join(shared, "packed-refs")), true
	}
	for _, name := range []string{"HEAD", "ORIG_HEAD", "MERGE_HEAD", "CHERRY_PICK_HEAD", "REVERT_HEAD", "MERGE_AUTOSTASH", "AUTO_MERGE", "FETCH_HEAD"} {
		m.ref(name, filepath.Join(own, name))
	}
	_ = filepath.WalkDir(filepath.Join(shared, "refs"), func(p string, d fs.DirEntry, err error) error {
		if err != nil || len(m.refs) > mostRefs {
			return fs.SkipAll
		}
		if rel, err := filepath.Rel(shared, p); err == nil && d.Type().IsRegular() {
			m.ref(filepath.ToSlash(rel), p)
		}
		return nil
	})
	for i, line := range strings.Split(string(readSource(filepath.Join(shared, "logs", "refs", "stash")).text), "\n") {
		if fields := strings.Fields(line); len(fields) > 1 && isID(fields[1]) { // each is one that can be popped
			m.refs["stash "+strconv.Itoa(i)] = fields[1]
		}
	}
	if _, m.base = head(own, shared); m.refs["HEAD"] == "" {
		m.refs["HEAD"] = firstLine(filepath.Join(own, "HEAD"))
	}
	return m
}

func (m *gitMoment) ref(name, file string) {
	id, _, _ := strings.Cut(firstLine(file), "\t")
	if isID(id) {
		m.refs[name] = id
	}
}

// packedRef returns the commit of a packed reference, "" for none.
func packedRef(file, name string) string {
	f, err := os.OpenFile(file, os.O_RDONLY|syscall.O_NONBLOCK, 0)
	if err != nil {
		return ""
	}
	defer f.Close()
	if st, err := f.Stat(); err != nil || !st.Mode().IsRegular() {
		return ""
	}
	for lines := bufio.NewScanner(io.LimitReader(f, mostPacked)); lines.Scan(); {
		if id, of, _ := strings.Cut(lines.Text(), " "); of == name && isID(id) {
			return id
		}
	}
	return ""
}

func isID(s string) bool {
	_, err := hex.DecodeString(s)
	return err == nil && (len(s) == 2*sha1.Size || len(s) == 2*sha256.Size)
}

// firstLine returns the first line of a small file, "" if there is none.
func firstLine(file string) string {
	line, _, _ := strings.Cut(string(readSource(file).text), "\n")
	return strings.TrimRight(line, "\r")
}

// tips returns the commits that references name now and did not before, with words for
// the reference.
func (m gitMoment) tips(before gitMoment) (ids, words []string) {
	add := func(id, name string) {
		if id != before.base && !slices.Contains(ids, id) {
			ids, words = append(ids, id), append(words, refWords(name))
		}
	}
	if m.base != "" {
		add(m.base, "HEAD")
	}
	for _, name := range slices.Sorted(maps.Keys(m.refs)) {
		if id := m.refs[name]; isID(id) && before.refs[name] != id {
			add(id, name)
		}
	}
	if m.packed != before.packed && !m.large && !before.large {
		was := map[string]bool{}
		for line := range strings.SplitSeq(before.packed, "\n") {
			was[line] = true
		}
		for line := range strings.SplitSeq(m.packed, "\n") {
			if id, name, ok := strings.Cut(line, " "); ok && isID(id) && !was[line] && before.refs[name] != id {
				add(id, name)
			}
		}
	}
	return ids, words
}

func refWords(name string) string {
	for prefix, what := range map[string]string{"refs/heads/": "branch ", "refs/remotes/": "branch ", "refs/tags/": "tag ", "stash ": "stash"} {
		if rest, ok := strings.CutPrefix(name, prefix); ok {
			return strings.TrimSuffix(what+rest, strings.TrimPrefix(name, "stash "))
		}
	}
	return name
}

// sides returns what the index and the changed references have that the last commit before
// did not have.
func (g *Git) sides(ctx context.Context, before, now gitMoment) []gitnext.Side {
	var out []gitnext.Side
	if now.packed != before.packed && (now.large || before.large) {
		out = append(out, gitnext.Side{In: "packed-refs", Why: "too large to be looked at"})
	}
	base := before.base
	if base == "" {
		tree, err := g.Run(ctx, now.top, nil, strings.NewReader(""), "hash-object", "-t", "tree", "--stdin")
		if err != nil {
			return []gitnext.Side{{In: "git", Why: "not looked at: " + err.Error()}}
		}
		base = strings.TrimSpace(string(tree))
	}
	if now.index != before.index {
		out = append(out, g.side(ctx, now.top, "in the index", "diff-index", "--cached", base))
	}
	ids, words := now.tips(before)
	for i, id := range ids {
		if i == mostTips {
			out = append(out, gitnext.Side{In: fmt.Sprintf("%d more changed references", len(ids)-i), Why: "not looked at"})
			break
		}
		out = append(out, g.side(ctx, now.top, words[i], "diff-tree", "-r", base, id+"^{tree}"))
		if strings.Contains(words[i], "stash") {
			for _, parent := range []string{"^2", "^3"} { // its index, and files that were not tracked
				if _, err := g.Run(ctx, now.top, nil, nil, "rev-parse", "-q", "--verify", id+parent+"^{tree}"); err == nil {
					out = append(out, g.side(ctx, now.top, words[i], "diff-tree", "-r", base, id+parent+"^{tree}"))
				}
			}
		}
	}
	return out
}

// side returns the entries that a command of git lists.
func (g *Git) side(ctx context.Context, top, in string, args ...string) gitnext.Side {
	s := gitnext.Side{In: in}
	at := 1
	if args[0] == "diff-tree" {
		at = 2
	}
	args = slices.Insert(args, at, "--raw", "-z", "--no-renames", "--no-abbrev", "--ignore-submodules=dirty")
	out, err := g.Run(ctx, top, nil, nil, args...)
	if err != nil {
		s.Why = "not looked at: " + err.Error()
		return s
	}
	for fields := bytes.Split(out, []byte{0}); len(fields) > 1; fields = fields[2:] {
		about := strings.Fields(strings.TrimPrefix(string(fields[0]), ":")) // modes, ids, status
		if len(about) != 5 || about[4] == "D" {
			continue
		}
		mode, err := strconv.ParseUint(about[1], 8, 32)
		if err != nil {
			continue
		}
		file, id := filepath.Join(top, filepath.FromSlash(string(fields[1]))), about[3]
		s.Entries = append(s.Entries, gitnext.Entry{
			Path: string(fields[1]), Mode: uint32(mode),
			Lies: func() bool { return lies(file, uint32(mode), id) },
			Target: func() string {
				target, err := g.Run(ctx, top, nil, nil, "cat-file", "blob", id)
				if err != nil {
					return "/" // where it leads is not known
				}
				return string(target)
			},
		})
	}
	return s
}

// lies reports whether a file of the workspace has a mode and a content.
func lies(file string, mode uint32, id string) bool {
	st, err := os.Lstat(file)
	if err != nil {
		return false
	}
	var content io.Reader
	size := st.Size()
	switch {
	case mode == gitnext.Repository:
		_, err := os.Lstat(filepath.Join(file, ".git"))
		return err == nil
	case mode == gitnext.Link:
		to, err := os.Readlink(file)
		if err != nil {
			return false
		}
		content, size = strings.NewReader(filepath.ToSlash(to)), int64(len(to))
	case !st.Mode().IsRegular() || size > mostContent || mode&0o100 != 0 && st.Mode()&0o100 == 0:
		return false
	default:
		f, err := os.OpenFile(file, os.O_RDONLY|syscall.O_NONBLOCK, 0)
		if err != nil {
			return false
		}
		defer f.Close()
		content = io.LimitReader(f, mostContent)
	}
	h := hash.Hash(sha1.New())
	if len(id) == 2*sha256.Size {
		h = sha256.New()
	}
	fmt.Fprintf(h, "blob %d\x00", size)
	if _, err := io.Copy(h, content); err != nil {
		return false
	}
	return hex.EncodeToString(h.Sum(nil)) == id
}
