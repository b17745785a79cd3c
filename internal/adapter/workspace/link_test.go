package workspace

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/pawl-agent/pawl/internal/core/must"
	"github.com/pawl-agent/pawl/internal/core/tool"
)

// what describes a path itself: "file 0644 text", "link target", "folder" or "".
func what(t testing.TB, p string) string {
	t.Helper()
	info, err := os.Lstat(p)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return ""
	case err != nil:
		t.Fatal(err)
	case info.IsDir():
		return "folder"
	case info.Mode()&fs.ModeSymlink != 0:
		to, _ := os.Readlink(p)
		return "link " + to
	}
	return "file " + strings.TrimPrefix(info.Mode().Perm().String(), "-") + " " + get(t, p)
}

func hashText(s string) tool.Hash { return HashOf([]byte(s)) }

// A link itself is written, replaced and removed where the caller asks for it, and a
// change has the old mode. SPEC 4.10, 11.1, 11.2.
func TestItself(t *testing.T) {
	t.Parallel()
	const link = uint32(fs.ModeSymlink)
	for name, c := range map[string]struct {
		write              tool.Write
		link, file         string // what is there afterwards
		before, after      string // contents of the change
		modeBefore, modeTo uint32
	}{
		"retarget":              {tool.Write{Path: "link", Data: []byte("else"), Expect: hashText("file"), Mode: link}, "link else", "file rw-r----- f", "file", "else", link, link},
		"a link stays one":      {tool.Write{Path: "link", Data: []byte("else"), Expect: hashText("file"), NoFollow: true}, "link else", "file rw-r----- f", "file", "else", link, link},
		"link to file":          {tool.Write{Path: "link", Data: []byte("x"), Expect: hashText("file"), NoFollow: true, Mode: 0o600}, "file rw------- x", "file rw-r----- f", "file", "x", link, 0o600},
		"file to link":          {tool.Write{Path: "file", Data: []byte("no/where"), Expect: hashText("f"), Mode: link}, "link file", "link no/where", "f", "no/where", 0o640, link},
		"remove a link":         {tool.Write{Path: "link", Expect: hashText("file"), NoFollow: true, Remove: true}, "", "file rw-r----- f", "file", "", link, 0},
		"remove through a link": {tool.Write{Path: "link", Expect: hashText("f"), Remove: true}, "link file", "", "f", "", 0o640, 0},
		"write through a link":  {tool.Write{Path: "link", Data: []byte("g"), Expect: hashText("f")}, "link file", "file rw-r----- g", "f", "g", 0o640, 0o640},
		"only the mode":         {tool.Write{Path: "file", Data: []byte("f"), Expect: hashText("f"), Mode: 0o755}, "link file", "file rwxr-xr-x f", "f", "f", 0o640, 0o755},
		"content and mode":      {tool.Write{Path: "file", Data: []byte("g"), Expect: hashText("f"), Mode: 0o444}, "link file", "file r--r--r-- g", "f", "g", 0o640, 0o444},
	} {
		for _, plain := range []bool{false, true} {
			w, root := open(t, map[string]string{"file": "f"})
			w.plainRename = plain
			must.Do(t, errors.Join(os.Chmod(filepath.Join(root, "file"), 0o640), os.Symlink("file", filepath.Join(root, "link"))))
			cs, err := w.WriteAll(context.Background(), []tool.Write{c.write})
			if err != nil || len(cs) != 1 {
				t.Errorf("%s: %v, %v", name, cs, err)
				continue
			}
			if l, f := what(t, filepath.Join(root, "link")), what(t, filepath.Join(root, "file")); l != c.link || f != c.file {
				t.Errorf("%s: link is %q, file is %q", name, l, f)
			}
			h := func(s string) tool.Hash {
				if s == "" {
					return ""
				}
				return hashText(s)
			}
			if cs[0].Before != h(c.before) || cs[0].After != h(c.after) || cs[0].ModeBefore != c.modeBefore || cs[0].Mode != c.modeTo {
				t.Errorf("%s: %+v", name, cs[0])
			}
			noTemps(t, root)
		}
	}
	w, root := open(t, map[string]string{"file": "f", "dir/x": "x"})
	ctx := context.Background()
	cs, err := w.WriteAll(ctx, []tool.Write{{Path: "new/l", Data: []byte("../file"), Mode: link}, {Path: "run", Data: []byte("r"), Mode: 0o755}})
	if err != nil || what(t, filepath.Join(root, "new/l")) != "link ../file" || what(t, filepath.Join(root, "run")) != "file rwxr-xr-x r" || !slices.Equal(cs[0].Folders, []string{"new"}) {
		t.Errorf("%+v, %v", cs, err)
	}
	if f, err := w.ReadNoFollow(ctx, "new/l", 0); err != nil || f.Mode != link || string(f.Data) != "../file" || f.Hash != hashText("../file") || f.Path != "new/l" {
		t.Errorf("%+v, %v", f, err)
	}
	if f, err := w.ReadNoFollow(ctx, "file", 0); err != nil || f.Data != nil || f.Hash != hashText("f") || f.Mode != 0o644 {
		t.Errorf("%+v, %v", f, err)
	}
	if _, err := w.ReadNoFollow(ctx, "none", 0); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("%v", err)
	}
	// A folder is never taken for a file, nor a file for a folder.
	var special *SpecialError
	for _, req := range []tool.Write{
		{Path: "dir", Data: []byte("x")}, {Path: "dir", Data: []byte("x"), Mode: link}, {Path: "dir", Remove: true, NoFollow: true, Expect: "h"}, {Path: "dir", NoFollow: true, Mode: 0o644},
	} {
		if _, err := w.WriteAll(ctx, []tool.Write{req}); !errors.As(err, &special) || err.Error() != "dir is a folder: only regular files are read and written" {
			t.Errorf("%+v: %v", req, err)
		}
	}
	for _, req := range []tool.Write{{Path: "file/x", Data: []byte("x")}, {Path: "file/x", Data: []byte("x"), Mode: link}} {
		if _, err := w.WriteAll(ctx, []tool.Write{req}); err == nil || !strings.Contains(err.Error(), "a part of the path is a file, not a folder") {
			t.Errorf("%+v: %v", req, err)
		}
	}
	var stale *tool.StaleError
	if _, err := w.WriteAll(ctx, []tool.Write{{Path: "new/l", Data: []byte("x"), Mode: link, Expect: hashText("f")}}); !errors.As(err, &stale) || stale.Got != hashText("../file") {
		t.Errorf("the content behind a link is not the link: %v", err)
	}
	noTemps(t, root)
}

// A removal takes the folders with it that were made for the file, as far as
// nothing else is in them.
func TestFolders(t *testing.T) {
	t.Parallel()
	w, root := open(t, map[string]string{"kept/x": "x"})
	ctx := context.Background()
	c, err := w.Write(ctx, "kept/a/b/c/f", []byte("f"), "")
	if err != nil || !slices.Equal(c.Folders, []string{"kept/a", "kept/a/b", "kept/a/b/c"}) {
		t.Fatalf("%+v, %v", c, err)
	}
	gone := tool.Write{Path: "kept/a/b/c/f", Remove: true, Expect: hashText("f"), Folders: append([]string{".", "kept"}, c.Folders...)}
	must.WriteMode(t, filepath.Join(root, "kept/a/mine"), "m", 0o644)
	must.Done(t)(w.WriteAll(ctx, []tool.Write{gone}))
	if what(t, filepath.Join(root, "kept/a/b")) != "" || get(t, filepath.Join(root, "kept/a/mine")) != "m" {
		t.Error("the empty folders stay, or others went")
	}
	must.Done(t)(w.Write(ctx, "a/f", []byte("f"), ""))
	must.Do(t, os.Mkdir(filepath.Join(root, "other"), 0o777))
	must.Done(t)(w.WriteAll(ctx, []tool.Write{{Path: "a/f", MoveTo: "g", Data: []byte("f"), Expect: hashText("f"), Folders: []string{"a", "other", "../.."}}}))
	if what(t, filepath.Join(root, "a")) != "" || what(t, filepath.Join(root, "other")) != "folder" || get(t, filepath.Join(root, "g")) != "f" {
		t.Error("a folder that is not above the file went, or the empty one stays")
	}
}
