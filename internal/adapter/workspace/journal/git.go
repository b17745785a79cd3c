package journal

import (
	"bytes"
	"context"
	"crypto/sha1"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"hash"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/pawl-agent/pawl/internal/adapter/workspace"
	"github.com/pawl-agent/pawl/internal/adapter/workspace/gitindex"
	"github.com/pawl-agent/pawl/internal/adapter/workspace/gitobjects"
	"github.com/pawl-agent/pawl/internal/core/gitrepo"
	"github.com/pawl-agent/pawl/internal/core/plainfile"
)

// repo is what the journal knows of the git repository around the workspace. It
// only reads the repository, and trusts it in two things: which files are
// tracked, and that a blob has the content of a file whose stamp git recorded.
// Git never reads a file for it, so no filter of the repository runs.
type repo struct {
	git     *workspace.Git
	root    string // the workspace
	prefix  string // the workspace relative to the top, "" or with a slash
	index   string
	sources []string // ignore files outside the workspace's folders, weakest first
	attrs   []string // attribute files outside the tree
	config  map[string]string
	idLen   int // of an object id, bytes
	objects string
}

const attributesName = ".gitattributes"

// findRepo finds the repository; nil if there is none, or if git cannot be asked.
func findRepo(ctx context.Context, git *workspace.Git, root string) *repo {
	top := gitrepo.Above(root)
	if top == "" {
		return nil
	}
	out, err := git.Run(ctx, root, nil, nil, "rev-parse", "--show-object-format", "--git-path", "index", "--git-path", "info/exclude", "--git-path", "info/attributes", "--git-path", "objects")
	lines := strings.Split(strings.TrimSuffix(string(out), "\n"), "\n")
	if err != nil || len(lines) != 5 {
		return nil
	}
	abs := func(p string) string {
		if filepath.IsAbs(p) {
			return p
		}
		return filepath.Join(root, p)
	}
	r := &repo{git: git, root: root, index: abs(lines[1]), objects: abs(lines[4]), idLen: sha1.Size, config: map[string]string{}}
	if lines[0] == "sha256" {
		r.idLen = sha256.Size
	}
	if rel, err := filepath.Rel(top, root); err == nil && rel != "." {
		r.prefix = filepath.ToSlash(rel) + "/"
	}
	// Exit code 1: none is set.
	out, _ = git.Run(ctx, root, nil, nil, "config", "-z", "--type=path", "--get-regexp", `^core\.(autocrlf|eol|attributesfile|excludesfile)$`)
	for entry := range strings.SplitSeq(string(out), "\x00") {
		if k, v, ok := strings.Cut(entry, "\n"); ok {
			r.config[k] = v
		}
	}
	user := os.Getenv("XDG_CONFIG_HOME")
	if user == "" {
		user = filepath.Join(os.Getenv("HOME"), ".config")
	}
	global := func(key, name string) string {
		if p, ok := r.config[key]; ok {
			return p
		}
		return filepath.Join(user, "git", name)
	}
	r.attrs = []string{"/etc/gitattributes", global("core.attributesfile", "attributes"), abs(lines[3])}
	r.sources = []string{global("core.excludesfile", "ignore"), abs(lines[2])}
	for dir := top; dir != root; {
		r.sources = append(r.sources, filepath.Join(dir, ignoreName))
		r.attrs = append(r.attrs, filepath.Join(dir, attributesName))
		name, _, _ := strings.Cut(strings.TrimPrefix(root[len(dir):], string(filepath.Separator)), string(filepath.Separator))
		dir = filepath.Join(dir, name)
	}
	return r
}

// rules returns those of the ignore files outside the workspace's folders.
func (r *repo) rules() workspace.Ignore {
	var out workspace.Ignore
	for i, p := range r.sources {
		down := r.prefix
		for range max(i-2, 0) { // the file of a folder further down
			_, down, _ = strings.Cut(down, "/")
		}
		f, err := plainfile.Open(p)
		if err != nil {
			continue
		}
		text, err := readLimited(f, workspace.IgnoreMax)
		if f.Close(); err == nil {
			out = out.With("", down, string(text))
		}
	}
	return out
}

// entries passes on the entries of git's index below the workspace. fresh is
// called before the first one, again if git has to be asked after all. It
// returns the stamp of the index and its last hash.
func (r *repo) entries(ctx context.Context, fresh func(), take func(*gitindex.Entry)) (was stamp, end gitindex.End, err error) {
	fresh()
	was, err = readIndex(r.index, func(f *os.File, size int64) error {
		end, err = gitindex.Read(f, size, r.prefix, r.idLen, take)
		return err
	})
	if err == nil {
		return was, end, nil
	}
	fresh()
	was, err = r.listed(ctx, take)
	return was, gitindex.End{}, err
}

// listed calls take for each index entry below the workspace, as git lists them.
func (r *repo) listed(ctx context.Context, take func(*gitindex.Entry)) (stamp, error) {
	before := pathStamp(r.index)
	out, err := r.git.Run(ctx, r.root, nil, nil, "ls-files", "-s", "-v", "--debug", "-z")
	if err != nil {
		return stamp{}, err
	}
	if pathStamp(r.index) != before {
		return stamp{}, errors.New("git's index was written meanwhile")
	}
	return before, gitindex.ParseListing(out, take)
}

// readIndex opens an index file for read, unless there is none: nothing was ever added.
func readIndex(path string, read func(f *os.File, size int64) error) (was stamp, err error) {
	f, err := plainfile.Open(path)
	if errors.Is(err, fs.ErrNotExist) {
		return was, nil
	}
	if err != nil {
		return was, err
	}
	defer f.Close()
	if was, err = fileStamp(f); err != nil {
		return was, err
	}
	return was, read(f, was.size)
}

// lastHash returns the stamp of an index file and the hash at its end.
func lastHash(path string, idLen int) (was stamp, end gitindex.End) {
	f, err := plainfile.Open(path)
	if err != nil {
		return stamp{}, end
	}
	defer f.Close()
	if was, err = fileStamp(f); err == nil {
		end, err = gitindex.EndOf(f, was.size, idLen)
	}
	if err != nil {
		return stamp{}, gitindex.End{}
	}
	return was, end
}

// same reports whether a file matches git's index, which was written at that time.
func same(t *gitindex.Entry, s stamp, written int64) bool {
	eq := func(git, ours int64) bool {
		return git == ours || git%int64(time.Second) == 0 && git == ours-ours%int64(time.Second)
	}
	if !t.Plain || t.Size != uint32(s.size) || t.Ino != uint32(s.ino) || !eq(t.Mtime, s.mtime) || !eq(t.Ctime, s.ctime) {
		return false
	}
	margin := tick
	if t.Mtime%int64(time.Second) == 0 {
		margin = coarseTick
	}
	return t.Mtime+margin < written && t.Ctime+margin < written
}

// cleanFile is a file of the index that matches git's.
type cleanFile struct {
	d    *dir
	i    int32 // in d.files
	blob id
}

func (c cleanFile) file() *file  { return &c.d.files[c.i] }
func (c cleanFile) path() string { return c.d.join(c.file().name) }

// converts reports whether files in the workspace may differ from their blobs:
// filters, line endings, encodings. inTree: there are attribute files in it.
func (r *repo) converts(inTree bool) (any, ends bool) {
	auto := r.config["core.autocrlf"]
	ends = auto != "" && auto != "false"
	for _, p := range r.attrs {
		inTree = inTree || pathStamp(p) != stamp{}
	}
	return ends || inTree, ends
}

// askedAtOnce is how many files git is asked about at once: its answer has six
// lines for each.
const askedAtOnce = 4000

// unconverted leaves out the files whose content may differ from their blob.
func (r *repo) unconverted(ctx context.Context, all []cleanFile, inTree bool) ([]cleanFile, error) {
	any, ends := r.converts(inTree)
	if !any {
		return all, nil
	}
	out := all[:0]
	for part := range slices.Chunk(all, askedAtOnce) {
		same, err := r.compareWithBlobs(ctx, part, ends)
		if err != nil {
			return nil, err
		}
		out = append(out, same...)
	}
	return out, nil
}

// compareWithBlobs returns those of some files that are certainly the same as their blobs.
func (r *repo) compareWithBlobs(ctx context.Context, files []cleanFile, ends bool) (same []cleanFile, err error) {
	var names bytes.Buffer
	for _, c := range files {
		names.WriteString(c.path())
		names.WriteByte(0)
	}
	out, err := r.git.Run(ctx, r.root, nil, &names, "check-attr", "-z", "--stdin", "filter", "ident", "working-tree-encoding", "text", "eol", "crlf")
	if err != nil {
		return nil, err
	}
	never, sized := map[string]bool{}, map[string]bool{}
	next := func() []byte {
		field, rest, _ := bytes.Cut(out, []byte{0})
		out = rest
		return field
	}
	for len(out) > 0 {
		path, attr, value := next(), next(), next()
		switch {
		case string(value) == "unspecified" || string(value) == "unset":
		case string(attr) == "filter" || string(attr) == "ident" || string(attr) == "working-tree-encoding":
			never[string(path)] = true
		default:
			sized[string(path)] = true
		}
	}
	var ask []cleanFile
	for _, c := range files {
		switch path := c.path(); {
		case never[path]:
		case ends || sized[path]:
			ask = append(ask, c)
		default:
			same = append(same, c)
		}
	}
	// Line endings are converted in one direction at a time: a blob of the same
	// size is the same.
	sizes, err := r.sizes(ctx, ask)
	for i, size := range sizes {
		if size == ask[i].file().size {
			same = append(same, ask[i])
		}
	}
	return same, err
}

// sizes returns the sizes of blobs; -1 for a missing one.
func (r *repo) sizes(ctx context.Context, ask []cleanFile) ([]int64, error) {
	if len(ask) == 0 {
		return nil, nil
	}
	var in bytes.Buffer
	for _, c := range ask {
		in.WriteString(hex.EncodeToString(c.blob[:r.idLen]))
		in.WriteByte('\n')
	}
	out, err := r.git.Run(ctx, r.root, nil, &in, "cat-file", "--batch-check=%(objectsize)")
	if err != nil {
		return nil, err
	}
	lines := strings.Split(strings.TrimSuffix(string(out), "\n"), "\n")
	if len(lines) != len(ask) {
		return nil, gitindex.ErrListing
	}
	sizes := make([]int64, len(ask))
	for i, l := range lines {
		if sizes[i], err = strconv.ParseInt(l, 10, 64); err != nil {
			sizes[i] = -1
		}
	}
	return sizes, nil
}

// hasher returns a hash for the object id of a blob of this size.
func (r *repo) hasher(size int64) hash.Hash {
	h := sha1.New()
	if r.idLen == sha256.Size {
		h = sha256.New()
	}
	fmt.Fprintf(h, "blob %d\x00", size)
	return h
}

func (r *repo) idOf(data []byte) (out id) {
	h := r.hasher(int64(len(data)))
	h.Write(data)
	h.Sum(out[:0])
	return out
}

// blobs fetches blobs and passes on those that match their ids. Missing ones
// are left out. They are read here; git is asked for what is not found so.
func (r *repo) blobs(ctx context.Context, ids []id, take func(id, []byte) error) error {
	o := gitobjects.New(r.objects, r.idLen)
	defer o.Close()
	var left []id
	for _, i := range ids {
		if ctx.Err() != nil {
			return ctx.Err()
		}
		data, err := o.Blob(i[:r.idLen])
		if err != nil {
			left = append(left, i)
		} else if err := take(i, data); err != nil {
			return err
		}
	}
	return r.ask(ctx, left, take)
}

// ask fetches blobs from git.
func (r *repo) ask(ctx context.Context, ids []id, take func(id, []byte) error) error {
	var in bytes.Buffer
	for _, i := range ids {
		in.WriteString(hex.EncodeToString(i[:r.idLen]))
		in.WriteByte('\n')
	}
	if len(ids) == 0 {
		return nil
	}
	out, err := r.git.Run(ctx, r.root, nil, &in, "cat-file", "--batch")
	if err != nil {
		return err
	}
	for _, want := range ids {
		line, rest, ok := bytes.Cut(out, []byte("\n"))
		f := strings.Fields(string(line))
		if !ok {
			return gitindex.ErrListing
		}
		out = rest
		if len(f) != 3 || f[1] != "blob" {
			if len(f) == 2 {
				continue // missing
			}
			return gitindex.ErrListing
		}
		n, err := strconv.Atoi(f[2])
		if err != nil || n+1 > len(out) {
			return gitindex.ErrListing
		}
		data := out[:n]
		out = out[n+1:]
		if r.idOf(data) != want {
			continue
		}
		if err := take(want, data); err != nil {
			return err
		}
	}
	return nil
}
