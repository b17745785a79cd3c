package trees

import (
	"bytes"
	"context"
	"crypto/rand"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"testing/iotest"
	"time"

	"github.com/pawl-agent/pawl/internal/adapter/workspace"
	"github.com/pawl-agent/pawl/internal/core/must"
	"github.com/pawl-agent/pawl/internal/core/process"
)

// two returns a store with a project of one file and one of another machine,
// which has nothing, and the portable base that both have by then.
func two(t *testing.T) (here, there *Store, base string) {
	t.Helper()
	t.Setenv("HOME", t.TempDir())
	root := t.TempDir()
	must.Do(t, os.WriteFile(filepath.Join(root, "a"), []byte("one\n"), 0o600))
	for _, s := range []**Store{&here, &there} {
		*s = must.Get(Open(t.Context(), plainGit, t.TempDir(), root))(t)
		root = ""
	}
	commit := must.Get(here.Snapshot(t.Context()))(t)
	base = must.Get(here.Portable(t.Context(), commit, ""))(t)
	must.Do(t, there.Unpack(t.Context(), pack(t, here, base), MaxPack, base, ""))
	return here, there, base
}

func pack(t *testing.T, s *Store, commit string, others ...string) *bytes.Reader {
	t.Helper()
	var b bytes.Buffer
	must.Do(t, s.Pack(t.Context(), &b, commit, others...))
	return bytes.NewReader(b.Bytes())
}

// killer is a Starter whose git is killed while it reads a pack.
type killer struct{ process.Starter }

func (k killer) Start(ctx context.Context, p process.Program) (process.Process, error) {
	if slices.Contains(p.Args, "index-pack") {
		p.Path, p.Args = "sh", []string{"-c", "kill -9 $$"}
	}
	return k.Starter.Start(ctx, p)
}

// SPEC 14.2: who kills git on the coordinator's machine uses up no try of the task.
func TestGitIsKilled(t *testing.T) {
	here, there, base := two(t)
	dir := must.Get(there.Checkout(t.Context(), "w", base))(t)
	write(t, dir, map[string]string{"b": "two\n"})
	result := must.Get(there.Commit(t.Context(), "w", base, "b"))(t)
	here.writes = &workspace.Git{Starter: killer{plainGit.Starter}}
	if err := here.Unpack(t.Context(), pack(t, there, result, base), MaxPack, result, base); !errors.Is(err, ErrKilled) || errors.Is(err, ErrRefused) || !strings.Contains(err.Error(), "git index-pack") {
		t.Errorf("%v", err)
	}
}

// SPEC 14.6: a base goes to another machine and a result comes back, by what
// differs only.
func TestPacks(t *testing.T) {
	here, there, base := two(t)
	ctx := t.Context()
	if again, err := here.Portable(ctx, base, ""); err != nil || again != base {
		t.Errorf("it is another commit the next time: %s, %s, %v", base, again, err)
	}
	if same, err := here.Portable(ctx, base, base); err != nil || same != base {
		t.Errorf("the same files on itself: %s, %v", same, err)
	}
	dir := must.Get(there.Checkout(ctx, "w1", base))(t)
	must.Do(t, os.WriteFile(filepath.Join(dir, "b"), []byte("two\n"), 0o600))
	result := must.Get(there.Commit(ctx, "w1", base, "m"))(t)
	for range 2 { // what comes twice is the same
		must.Do(t, here.Unpack(ctx, pack(t, there, result, base), MaxPack, result, base))
	}
	over, cancel := context.WithCancel(ctx)
	cancel()
	if _, err := here.Tree(over, result); err != nil {
		t.Errorf("git is asked again for what it said of the pack: %v", err)
	}
	mine := must.Get(here.On(ctx, base, result, "task", time.Now()))(t)
	changes, err := here.Changes(ctx, base, mine)
	if err != nil || len(changes) != 1 || changes[0].Path != "b" {
		t.Errorf("%v, %v", changes, err)
	}
	if err := here.Unpack(ctx, pack(t, there, result, base), 10, result, base); !errors.Is(err, ErrRefused) {
		t.Errorf("a pack that is too large: %v", err)
	}
	if refs, err := here.git(ctx, nil, "for-each-ref"); err != nil || refs != "" {
		t.Errorf("branches were made: %s, %v", refs, err)
	}
}

// tree makes a tree object of entries (mode, name and id of each) that git itself
// might not write.
func (s *Store) tree(t *testing.T, entries ...string) string {
	t.Helper()
	var raw strings.Builder
	for e := range slices.Chunk(entries, 3) {
		id, err := hex.DecodeString(e[2])
		if err != nil {
			t.Fatal(err)
		}
		fmt.Fprintf(&raw, "%s %s\x00%s", e[0], e[1], id)
	}
	out := must.Get(s.ask(t.Context(), raw.String(), "hash-object", "-t", "tree", "--literally", "-w", "--stdin"))(t)
	return strings.TrimSpace(out)
}

func (s *Store) blob(t *testing.T, text string) string {
	t.Helper()
	out := must.Get(s.ask(t.Context(), text, "hash-object", "-w", "--stdin"))(t)
	return strings.TrimSpace(out)
}

// SPEC 14.6: what no result may bring is refused, whoever made the pack.
func TestHostilePacks(t *testing.T) {
	here, there, base := two(t)
	ctx := t.Context()
	text := there.blob(t, "#!/bin/sh\ntouch /tmp/owned\n")
	link := there.blob(t, "../../etc/passwd")
	in := func(dir string, tree string) string { return there.tree(t, "40000", dir, tree) }
	for what, tree := range map[string]string{
		"a hook":                in(".git", in("hooks", there.tree(t, "100755", "post-checkout", text))),
		"a hook, other case":    in(".GIT", in("hooks", there.tree(t, "100755", "post-checkout", text))),
		"a hook, short name":    in("git~1", there.tree(t, "100755", "config", text)),
		"a hook below":          in("sub", in(".git", there.tree(t, "100644", "config", text))),
		"..":                    in("..", there.tree(t, "100644", "x", text)),
		".":                     in(".", there.tree(t, "100644", "x", text)),
		"a slash":               there.tree(t, "100644", "../x", text),
		"an absolute path":      there.tree(t, "100644", "/etc/x", text),
		"an empty name":         there.tree(t, "100644", "", text),
		"a submodule":           there.tree(t, "160000", "sub", base),
		"a submodule's file":    there.tree(t, "120000", ".gitmodules", link),
		"a link":                there.tree(t, "120000", "l", link),
		"something not there":   there.tree(t, "100644", "x", strings.Repeat("12", 20)),
		"a tree that is a file": there.tree(t, "40000", "x", text),
	} {
		t.Run(what, func(t *testing.T) {
			commit, err := there.commitTree(ctx, tree, "m", time.Now(), base)
			if err != nil {
				t.Fatal(err)
			}
			err = here.Unpack(ctx, bytes.NewReader(packed(t, there, commit, base)), MaxPack, commit, base)
			if err == nil {
				_, err = here.Changes(ctx, base, commit)
			}
			if !errors.Is(err, ErrRefused) {
				t.Errorf("it was taken: %v", err)
			}
		})
	}
}

// packed makes a pack of what git itself may not want to pack.
func packed(t *testing.T, s *Store, commit, base string) []byte {
	t.Helper()
	ctx := t.Context()
	out, err := s.writes.Run(ctx, s.dir, []string{"GIT_DIR=" + s.dir}, strings.NewReader(commit+"\n^"+base+"\n"), "pack-objects", "--stdout", "--revs", "--missing=allow-any", "-q")
	if err != nil { // what git itself cannot walk through is packed without looking
		tree, _ := s.git(ctx, nil, "rev-parse", commit+"^{tree}")
		out, err = s.writes.Run(ctx, s.dir, []string{"GIT_DIR=" + s.dir}, strings.NewReader(commit+"\n"+tree+"\n"), "pack-objects", "--stdout", "-q")
	}
	if err != nil {
		t.Fatal(err)
	}
	return out
}

// SPEC 14.6: a pack is bytes of somebody else's, and so is the name of what it should hold.
func TestNotThePack(t *testing.T) {
	here, there, base := two(t)
	ctx := t.Context()
	baseTree := must.Get(there.Tree(ctx, base))(t)
	commitOn := func(on ...string) string {
		t.Helper()
		commit, err := there.commitTree(ctx, baseTree, "it", time.Unix(int64(len(on)), 0), on...)
		if err != nil {
			t.Fatal(err)
		}
		return commit
	}
	fine, apart := commitOn(base), commitOn()
	finePack, apartPack := packed(t, there, fine, base), packed(t, there, apart, base)
	for what, one := range map[string]struct {
		text   []byte
		commit string
	}{
		"nothing": {nil, fine}, "a head": {[]byte("PACK"), fine}, "no pack": {[]byte("# v2 git bundle\n\n"), fine},
		"torn": {finePack[:len(finePack)-10], fine}, "not on the base": {apartPack, apart}, "another commit": {finePack, strings.Repeat("a", 40)},
		"an option": {finePack, "--all"}, "no commit": {finePack, ""}, "a tree": {finePack, baseTree}, "a short name": {finePack, fine[:12]},
	} {
		if err := here.Unpack(ctx, bytes.NewReader(one.text), MaxPack, one.commit, base); !errors.Is(err, ErrRefused) {
			t.Errorf("%s: %v", what, err)
		}
	}
	must.Do(t, here.Unpack(ctx, bytes.NewReader(finePack), MaxPack, fine, base))
}

// SPEC 14.6: what another machine has of an earlier swarm is not sent again, also if no
// commit connects the two.
func TestPackOnATree(t *testing.T) {
	here, there, base := two(t)
	ctx := t.Context()
	large := make([]byte, 1<<20)
	_, _ = rand.Read(large)
	add := func(name string, text []byte) string {
		t.Helper()
		must.Do(t, os.WriteFile(filepath.Join(here.root, name), text, 0o600))
		commit, err := here.Snapshot(ctx)
		if err == nil {
			commit, err = here.Portable(ctx, commit, "")
		}
		if err != nil {
			t.Fatal(err)
		}
		return commit
	}
	first := add("large", large)
	must.Do(t, there.Unpack(ctx, pack(t, here, first), MaxPack, first, ""))
	for _, commit := range []string{base, first} {
		must.Do(t, there.Keep(ctx, commit))
	}
	kept, err := there.Kept(ctx, 5)
	firstTree, of := here.Tree(ctx, first)
	if err := errors.Join(err, of); err != nil || len(kept) != 2 || kept[0] != firstTree {
		t.Fatalf("kept: %v, %v", kept, err)
	}
	if newest, err := there.Kept(ctx, 1); err != nil || len(newest) != 1 || newest[0] != firstTree {
		t.Errorf("the newest: %v, %v", newest, err)
	}
	second := add("small", []byte("small\n"))
	difference := pack(t, here, second, kept[0])
	if n := difference.Size(); n > 10<<10 {
		t.Errorf("%d bytes are sent for a small file", n)
	}
	must.Do(t, there.Unpack(ctx, difference, MaxPack, second, ""))
	dir := must.Get(there.Checkout(ctx, "w1", second))(t)
	if text, err := os.ReadFile(filepath.Join(dir, "large")); err != nil || !bytes.Equal(text, large) {
		t.Errorf("%d bytes, %v", len(text), err)
	}
	for _, id := range []string{kept[0], kept[1]} {
		if !here.Has(ctx, "tree", id) || here.Has(ctx, "commit", id) {
			t.Errorf("%s is no tree", id)
		}
	}
	if here.Has(ctx, "tree", strings.Repeat("1", 40)) || here.Has(ctx, "tree", "--batch") {
		t.Error("it has what it has not")
	}
}

// A network that fails is not the fault of who made the pack.
//
// SPEC 14.6
func TestUnreadablePack(t *testing.T) {
	here, there, base := two(t)
	made, lost := pack(t, there, base), errors.New("the connection is lost")
	for _, n := range []int64{0, 5, made.Size() - 30, made.Size() - 1} {
		in := io.MultiReader(io.NewSectionReader(made, 0, n), iotest.ErrReader(lost))
		if err := here.Unpack(t.Context(), in, MaxPack, base, ""); !errors.Is(err, lost) || errors.Is(err, ErrRefused) {
			t.Errorf("%d of %d bytes: %v", n, made.Size(), err)
		}
	}
}
