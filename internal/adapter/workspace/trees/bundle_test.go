package trees

import (
	"bytes"
	"context"
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
)

// two returns a store with a project of one file and one of another machine,
// which has nothing, and the portable base that both have by then.
func two(t *testing.T) (here, there *Store, base string) {
	t.Helper()
	t.Setenv("HOME", t.TempDir())
	root := t.TempDir()
	if err := os.WriteFile(filepath.Join(root, "a"), []byte("one\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, s := range []**Store{&here, &there} {
		var err error
		if *s, err = Open(t.Context(), plainGit, t.TempDir(), root); err != nil {
			t.Fatal(err)
		}
		root = ""
	}
	commit, err := here.Snapshot(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if base, err = here.Portable(t.Context(), commit, ""); err != nil {
		t.Fatal(err)
	}
	file, err := here.Bundle(t.Context(), base, "")
	if err != nil {
		t.Fatal(err)
	}
	if got, err := there.Unbundle(t.Context(), reader(t, file), MaxBundle, ""); err != nil || got != base {
		t.Fatalf("the base came as %s, %v", got, err)
	}
	return here, there, base
}

func reader(t *testing.T, file string) *bytes.Reader {
	t.Helper()
	b, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	return bytes.NewReader(b)
}

// SPEC 14.6: a base goes to another machine and a result comes back, by what
// differs only.
func TestBundles(t *testing.T) {
	here, there, base := two(t)
	ctx := t.Context()
	if again, err := here.Portable(ctx, base, ""); err != nil || again != base {
		t.Errorf("it is another commit the next time: %s, %s, %v", base, again, err)
	}
	if same, err := here.Portable(ctx, base, base); err != nil || same != base {
		t.Errorf("the same files on itself: %s, %v", same, err)
	}
	dir, err := there.Checkout(ctx, "w1", base)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(dir, "b"), []byte("two\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	result, err := there.Commit(ctx, "w1", base, "m")
	if err != nil {
		t.Fatal(err)
	}
	file, err := there.Bundle(ctx, result, base)
	if err != nil {
		t.Fatal(err)
	}
	for range 2 { // what comes twice is the same
		got, err := here.Unbundle(ctx, reader(t, file), MaxBundle, base)
		if err != nil || got != result {
			t.Fatalf("the result came as %s, %v", got, err)
		}
	}
	mine, err := here.CommitOn(ctx, result, base, "task")
	if err != nil {
		t.Fatal(err)
	}
	changes, err := here.Changes(ctx, base, mine)
	if err != nil || len(changes) != 1 || changes[0].Path != "b" {
		t.Errorf("%v, %v", changes, err)
	}
	if _, err := here.Unbundle(ctx, reader(t, file), 10, base); !errors.Is(err, ErrRefused) {
		t.Errorf("a bundle that is too large: %v", err)
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
	out, err := s.ask(t.Context(), raw.String(), "hash-object", "-t", "tree", "--literally", "-w", "--stdin")
	if err != nil {
		t.Fatal(err)
	}
	return strings.TrimSpace(out)
}

func (s *Store) blob(t *testing.T, text string) string {
	t.Helper()
	out, err := s.ask(t.Context(), text, "hash-object", "-w", "--stdin")
	if err != nil {
		t.Fatal(err)
	}
	return strings.TrimSpace(out)
}

// SPEC 14.6: what no result may bring is refused, whoever made the bundle.
func TestHostileBundles(t *testing.T) {
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
			file := filepath.Join(t.TempDir(), "b")
			if err := packed(ctx, there, file, commit, base); err != nil {
				t.Fatal(err)
			}
			got, err := here.Unbundle(ctx, reader(t, file), MaxBundle, base)
			if err == nil {
				_, err = here.Changes(ctx, base, got)
			}
			if !errors.Is(err, ErrRefused) {
				t.Errorf("it was taken: %v", err)
			}
		})
	}
}

// packed makes a bundle by hand, without what git bundle looks at.
func packed(ctx context.Context, s *Store, file, commit, base string) error {
	out, err := s.writes.Run(ctx, s.dir, []string{"GIT_DIR=" + s.dir}, strings.NewReader(commit+"\n^"+base+"\n"), "pack-objects", "--stdout", "--revs", "--missing=allow-any", "-q")
	if err != nil { // what git itself cannot walk through is packed without looking
		tree, _ := s.git(ctx, nil, "rev-parse", commit+"^{tree}")
		out, err = s.writes.Run(ctx, s.dir, []string{"GIT_DIR=" + s.dir}, strings.NewReader(commit+"\n"+tree+"\n"), "pack-objects", "--stdout", "-q")
	}
	if err != nil {
		return err
	}
	return os.WriteFile(file, append([]byte("# v2 git bundle\n-"+base+"\n"+commit+" refs/heads/x\n\n"), out...), 0o600)
}

// The head of a bundle is text of somebody else's.
func TestHostileHeads(t *testing.T) {
	here, there, base := two(t)
	ctx := t.Context()
	baseTree, err := there.treeOf(ctx, base)
	if err != nil {
		t.Fatal(err)
	}
	other, err := there.commitTree(ctx, baseTree, "not on the base", time.Now())
	if err != nil {
		t.Fatal(err)
	}
	file := filepath.Join(t.TempDir(), "b")
	if err := packed(ctx, there, file, other, base); err != nil {
		t.Fatal(err)
	}
	made, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	a, b := strings.Repeat("a", 40), strings.Repeat("b", 40)
	for what, text := range map[string]string{
		"nothing": "", "no bundle": "PACK", "another version": "# v3 git bundle\n@filter=blob:none\n" + a + " x\n\n",
		"no commit": "# v2 git bundle\n\n", "no end": "# v2 git bundle\n" + a + " x\n", "two commits": "# v2 git bundle\n" + a + " x\n" + b + " y\n\n",
		"another base": "# v2 git bundle\n-" + b + " x\n" + a + " y\n\n", "an option for a commit": "# v2 git bundle\n--upload-pack=x y\n\n",
		"a long line": "# v2 git bundle\n" + strings.Repeat("x", 1<<20), "many lines": "# v2 git bundle\n" + strings.Repeat("-"+base+" x\n", 100),
		"no objects": "# v2 git bundle\n" + a + " x\n\n", "other objects": "# v2 git bundle\n" + a + " x\n\nPACK nonsense",
		"torn": string(made[:len(made)-10]), "not on the base": string(made),
	} {
		if got, err := here.Unbundle(ctx, strings.NewReader(text), MaxBundle, base); !errors.Is(err, ErrRefused) {
			t.Errorf("%s: %q, %v", what, got, err)
		}
	}
}

// A network that fails is not the fault of who made the bundle.
//
// SPEC 14.6
func TestUnreadableBundle(t *testing.T) {
	here, there, base := two(t)
	file, err := there.Bundle(t.Context(), base, "")
	if err != nil {
		t.Fatal(err)
	}
	made, lost := reader(t, file), errors.New("the connection is lost")
	for _, n := range []int64{0, 5, made.Size() - 30, made.Size() - 1} {
		in := io.MultiReader(io.NewSectionReader(made, 0, n), iotest.ErrReader(lost))
		if got, err := here.Unbundle(t.Context(), in, MaxBundle, ""); !errors.Is(err, lost) || errors.Is(err, ErrRefused) {
			t.Errorf("%d of %d bytes: %q, %v", n, made.Size(), got, err)
		}
	}
}
