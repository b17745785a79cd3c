package settings

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"strings"

	"github.com/pawl-agent/pawl/internal/core/atomicfile"
	"github.com/pawl-agent/pawl/internal/core/fault"
	"github.com/pawl-agent/pawl/internal/core/sorting"
	"github.com/pawl-agent/pawl/internal/policy/trust"
)

// Trust is the store of the person's answers about folders (SPEC 16.1). Each folder has
// its own file, named by the hash of its real path: two processes write the same file
// only for the same folder, and each writes it as a whole.
type Trust struct{ Dir string }

// Trust returns the store of the person's answers about folders.
func (p Paths) Trust() Trust { return Trust{Dir: filepath.Join(p.State, "trust")} }

// Within reports whether the answers are stored inside a workspace, where a repository
// could contain forged ones. A workspace that contains the home is not somebody else's
// repository.
func (t Trust) Within(workspace, home string) bool {
	return below(t.Dir, workspace) && (home == "" || !below(home, workspace))
}

func below(path, dir string) bool {
	if real, err := filepath.EvalSymlinks(nearest(path)); err == nil {
		path = real
	}
	rel, err := filepath.Rel(dir, path)
	return err == nil && rel != ".." && !strings.HasPrefix(rel, ".."+string(filepath.Separator))
}

// nearest returns a path, or its deepest parent that exists.
func nearest(path string) string {
	for {
		if _, err := os.Lstat(path); err == nil || path == filepath.Dir(path) {
			return path
		}
		path = filepath.Dir(path)
	}
}

// Of returns the answer about a folder, nil for none. folder is the folder's identity: it
// finds the answer if the path is spelled in another case, which some file systems allow.
func (t Trust) Of(path, folder string) (*trust.Entry, error) {
	e, err := t.read(t.file(path))
	if err != nil || e != nil && e.Path == path {
		return e, err
	}
	all, err := t.All()
	for _, e := range all {
		if folder != "" && e.Folder == folder && strings.EqualFold(e.Path, path) {
			return &e, nil
		}
	}
	return nil, err
}

// All returns the answers about every folder, sorted by path.
func (t Trust) All() ([]trust.Entry, error) {
	files, err := os.ReadDir(t.Dir)
	if missing(err) {
		return nil, nil
	}
	var out []trust.Entry
	for _, f := range files {
		if filepath.Ext(f.Name()) != ".json" {
			continue
		}
		e, rerr := t.read(filepath.Join(t.Dir, f.Name()))
		if rerr != nil || e == nil {
			err = errors.Join(err, rerr)
			continue
		}
		out = append(out, *e)
	}
	sorting.By(out, func(a, b trust.Entry) int { return strings.Compare(a.Path, b.Path) })
	return out, err
}

// Keep stores a person's answer.
func (t Trust) Keep(e trust.Entry) error {
	raw, err := json.MarshalIndent(e, "", "  ")
	if err != nil {
		return err
	}
	if err := os.MkdirAll(t.Dir, 0o700); err != nil {
		return fmt.Errorf("store what is trusted: %w", err)
	}
	return atomicfile.Write(t.file(e.Path), append(raw, '\n'), 0o600)
}

// Revoke deletes the answer about a folder, and reports whether there was one.
func (t Trust) Revoke(path string) (bool, error) {
	err := os.Remove(t.file(path))
	if errors.Is(err, fs.ErrNotExist) {
		return false, nil
	}
	return err == nil, err
}

func (t Trust) file(path string) string {
	sum := sha256.Sum256([]byte(path))
	return filepath.Join(t.Dir, hex.EncodeToString(sum[:16])+".json")
}

// read reads an answer; nil if there is none. A file that others may write is an error.
func (t Trust) read(name string) (*trust.Entry, error) {
	bad := func(err error) error {
		return &fault.Error{Category: fault.Configuration, Message: "cannot read what is trusted: " + name, Err: err, Hint: "remove the file; pawl trust asks again"}
	}
	st, err := os.Lstat(name)
	switch {
	case missing(err):
		return nil, nil
	case err != nil:
		return nil, bad(err)
	case !st.Mode().IsRegular():
		return nil, bad(errors.New("it is not a regular file"))
	case st.Mode().Perm()&0o022 != 0 && runtime.GOOS != "windows": // permission bits have no meaning there
		return nil, bad(errors.New("other users can write it"))
	case st.Size() > 4<<20:
		return nil, bad(errors.New("it is too long"))
	}
	raw, err := os.ReadFile(name)
	if missing(err) { // revoked in between
		return nil, nil
	}
	var e trust.Entry
	if err == nil {
		err = json.Unmarshal(raw, &e)
	}
	if err == nil && t.file(e.Path) != name {
		err = errors.New("it belongs to another folder")
	}
	if err != nil {
		return nil, bad(err)
	}
	return &e, nil
}
