package plugin

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"github.com/pawl-agent/pawl/internal/core/fault"
	"github.com/pawl-agent/pawl/internal/core/process"
)

// Git fetches repositories.
type Git struct {
	Start process.Starter
	Env   func(string) string
}

// Limits for a repository, and how often its size is measured.
const (
	maxFetch   = 256 << 20 // bytes that git stores of it
	maxTime    = 5 * time.Minute
	maxEntries = 50_000 // files of its commit
	lookAgain  = 100 * time.Millisecond
)

// passed are the variables of the person's environment that git gets: what it needs to
// find programs, servers and credentials. GIT_* could make it use another place.
var passed = []string{
	"PATH", "HOME", "XDG_CONFIG_HOME", "USERPROFILE", "SYSTEMROOT", "TMPDIR", "SSH_AUTH_SOCK",
	"HTTPS_PROXY", "https_proxy", "ALL_PROXY", "all_proxy", "NO_PROXY", "no_proxy", "SSL_CERT_FILE", "SSL_CERT_DIR", "GIT_SSL_CAINFO",
}

// repository is a fetched commit: git objects without a work tree.
type repository struct {
	git    Git
	dir    string
	commit string
	tree   []entry
}

// entry is one file in the tree of a commit.
type entry struct {
	mode, kind, id string
	size           int64
	path           string
}

// run runs git in the repository. Nothing that a repository or its server sends can make
// git run a program: it has no work tree and no hooks, and uses only the named protocols.
func (r *repository) run(ctx context.Context, protocols string, in []byte, args ...string) ([]byte, error) {
	env := []string{
		"LC_ALL=C", "GIT_TERMINAL_PROMPT=0", "GIT_ASKPASS=", "SSH_ASKPASS=", "GIT_PAGER=cat", "GIT_EDITOR=:", "GIT_NO_LAZY_FETCH=1", "GIT_LFS_SKIP_SMUDGE=1",
		"GIT_DIR=" + r.dir, "GIT_ALLOW_PROTOCOL=" + protocols,
	}
	for _, k := range passed {
		if v := r.git.Env(k); v != "" {
			env = append(env, k+"="+v)
		}
	}
	safe := []string{
		"--no-pager", "-c", "core.hooksPath=" + os.DevNull, "-c", "core.fsmonitor=false", "-c", "core.askPass=", "-c", "core.bare=true",
		"-c", "fetch.recurseSubmodules=false", "-c", "transfer.fsckObjects=true", "-c", "transfer.bundleURI=false", "-c", "fetch.writeCommitGraph=false",
		"-c", "http.followRedirects=initial", "-c", "gc.auto=0", "-c", "maintenance.auto=false", "-c", "core.quotePath=false",
	}
	return process.Output(ctx, r.git.Start, process.Program{
		Path: "git", Args: append(safe, args...), Dir: r.dir, Env: env, Exact: true, Stdin: bytes.NewReader(in), Confine: process.Free,
	})
}

// open fetches one commit of a source into an empty folder.
func (g Git) open(ctx context.Context, s Source, dir string) (*repository, error) {
	ctx, cancel := context.WithTimeoutCause(ctx, maxTime, fmt.Errorf("it took longer than %s", maxTime))
	defer cancel()
	r := &repository{git: g, dir: dir}
	if _, err := r.run(ctx, "none", nil, "init", "--quiet", "--bare", "--template=", dir); errors.Is(err, exec.ErrNotFound) {
		return nil, fault.NewConfiguration("install git", "plugins need git, which is not installed")
	} else if err != nil {
		return nil, err
	}
	protocols, ref := "https:ssh", s.Ref
	if s.local() {
		protocols = "file"
	}
	ref = cmp.Or(ref, "HEAD")
	if err := r.fetch(ctx, protocols, s.From, ref); err != nil {
		return nil, fmt.Errorf("%s was not fetched: %w", s, err)
	}
	out, err := r.run(ctx, "none", nil, "rev-parse", "--verify", "--end-of-options", "FETCH_HEAD^{commit}")
	if err != nil {
		return nil, err
	}
	if r.commit = strings.TrimSpace(string(out)); !commitID().MatchString(r.commit) {
		return nil, fmt.Errorf("git names the commit of %s as %.80q", s, r.commit)
	}
	out, err = r.run(ctx, "none", nil, "ls-tree", "-r", "-z", "-l", "--full-tree", r.commit)
	if err != nil {
		return nil, err
	}
	r.tree, err = parseTree(out)
	return r, err
}

// fetch is the only step that uses the network. It stops when the repository grows too
// large: a server does not announce how much it will send.
func (r *repository) fetch(ctx context.Context, protocols, from, ref string) error {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	done := make(chan struct{})
	go func() {
		tick := time.NewTicker(lookAgain)
		defer tick.Stop()
		for {
			select {
			case <-done:
				return
			case <-tick.C:
				if sizeOf(r.dir) > maxFetch {
					cancel(fmt.Errorf("the repository is larger than %d MB", maxFetch>>20))
				}
			}
		}
	}()
	defer close(done)
	_, err := r.run(ctx, protocols, nil, "fetch", "--quiet", "--depth=1", "--no-tags", "--no-recurse-submodules", "--no-auto-maintenance", "--end-of-options", from, ref)
	return err
}

func sizeOf(dir string) (n int64) {
	_ = filepath.WalkDir(dir, func(_ string, d fs.DirEntry, err error) error { // files come and go while it runs
		if err == nil && d.Type().IsRegular() {
			if st, err := d.Info(); err == nil {
				n += st.Size()
			}
		}
		return nil
	})
	return n
}

func parseTree(out []byte) ([]entry, error) {
	var tree []entry
	for line := range strings.SplitSeq(strings.TrimSuffix(string(out), "\x00"), "\x00") {
		if line == "" {
			continue
		}
		head, name, ok := strings.Cut(line, "\t")
		f := strings.Fields(head)
		if !ok || len(f) != 4 {
			return nil, fmt.Errorf("git lists a file as %.80q", line)
		}
		e := entry{mode: f[0], kind: f[1], id: f[2], path: name}
		if f[3] != "-" {
			size, err := strconv.ParseInt(f[3], 10, 64)
			if err != nil {
				return nil, err
			}
			e.size = size
		}
		if tree = append(tree, e); len(tree) > maxEntries {
			return nil, fmt.Errorf("the repository has more than %d files", maxEntries)
		}
	}
	return tree, nil
}

// contents returns the contents of files of the commit, in the order of the entries.
func (r *repository) contents(ctx context.Context, of []entry) ([][]byte, error) {
	var ids bytes.Buffer
	for _, e := range of {
		ids.WriteString(e.id + "\n")
	}
	out, err := r.run(ctx, "none", ids.Bytes(), "cat-file", "--batch")
	if err != nil {
		return nil, err
	}
	all := make([][]byte, 0, len(of))
	for _, e := range of {
		head, rest, ok := bytes.Cut(out, []byte("\n"))
		if !ok || string(head) != fmt.Sprintf("%s blob %d", e.id, e.size) || int64(len(rest)) <= e.size {
			return nil, fmt.Errorf("git returned %.80q for %s", head, e.path)
		}
		all, out = append(all, rest[:e.size]), rest[e.size+1:]
	}
	return all, nil
}
