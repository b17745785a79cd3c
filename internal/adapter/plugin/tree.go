package plugin

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"strings"
	"unicode"
	"unicode/utf8"
)

// Limits of a plugin.
const (
	maxFiles = 2000
	maxBytes = 16 << 20
	maxDeep  = 16
)

// file is a file of a plugin, with its path in the plugin.
type file struct {
	path string
	text []byte
	exec bool
}

// Fetched is a plugin that is not installed yet.
type Fetched struct {
	Record
	Manifest
	// Pointers are files whose content is stored in Git LFS and not fetched.
	Pointers []string
	files    []file
}

// plugin returns the plugin in a folder of the commit.
func (r *repository) plugin(ctx context.Context, rec Record) (*Fetched, error) {
	var of []entry
	seen, total := map[string]string{}, int64(0)
	for _, e := range r.tree {
		p, in := e.path, true
		if rec.Folder != "" {
			p, in = strings.CutPrefix(e.path, rec.Folder+"/")
			if e.path == rec.Folder {
				return nil, fmt.Errorf("%s is not a folder", rec.Folder)
			}
		}
		if !in {
			continue
		}
		if err := checkEntry(e, p); err != nil {
			return nil, err
		}
		if err := distinct(seen, p); err != nil {
			return nil, err
		}
		if total += e.size; total > maxBytes || len(of) == maxFiles {
			return nil, fmt.Errorf("it has more than %d files or %d MB", maxFiles, maxBytes>>20)
		}
		e.path = p
		of = append(of, e)
	}
	if len(of) == 0 {
		return nil, fmt.Errorf("there is nothing at %q", rec.Folder)
	}
	texts, err := r.contents(ctx, of)
	if err != nil {
		return nil, err
	}
	f := &Fetched{Record: rec}
	for i, e := range of {
		f.files = append(f.files, file{e.path, texts[i], e.mode == "100755"})
		if strings.HasPrefix(string(texts[i]), "version https://git-lfs.github.com/spec/") {
			f.Pointers = append(f.Pointers, e.path)
		}
	}
	f.Manifest, err = readManifest(f.read, rec.Entry)
	return f, err
}

// checkEntry returns an error for an entry that is not a regular file with a portable
// name.
func checkEntry(e entry, p string) error {
	switch {
	case e.mode == "120000":
		return fmt.Errorf("%q is a link, and a plugin is installed without links", p)
	case e.mode == "160000":
		return fmt.Errorf("%q is a submodule, and submodules are not fetched", p)
	case e.kind != "blob" || e.mode != "100644" && e.mode != "100755":
		return fmt.Errorf("%q is not a regular file (%s %s)", p, e.kind, e.mode)
	}
	return checkPath(p)
}

// checkPath returns an error for a path that is unsafe or means something else on a
// system on which pawl runs.
func checkPath(p string) error {
	parts := strings.Split(p, "/")
	if len(parts) > maxDeep || !utf8.ValidString(p) {
		return fmt.Errorf("%.200q is not a path that a plugin may have", p)
	}
	for _, part := range parts {
		lower := strings.ToLower(strings.TrimRight(part, ". "))
		dos, _, _ := strings.Cut(lower, ".")
		switch {
		case part == "" || lower == "" || len(part) > 200 || lower == ".git" || strings.HasPrefix(lower, "git~") || reserved[dos],
			part != strings.TrimRight(part, ". "),
			strings.ContainsAny(part, `\:*?"<>|`),
			strings.ContainsFunc(part, func(r rune) bool { return !unicode.IsPrint(r) && r != ' ' }):
			return fmt.Errorf("%.200q is not a path that a plugin may have", p)
		}
	}
	return nil
}

// reserved are names of devices on Windows.
var reserved = map[string]bool{
	"con": true, "prn": true, "aux": true, "nul": true, "conin$": true, "conout$": true,
	"com1": true, "com2": true, "com3": true, "com4": true, "com5": true, "com6": true, "com7": true, "com8": true, "com9": true,
	"lpt1": true, "lpt2": true, "lpt3": true, "lpt4": true, "lpt5": true, "lpt6": true, "lpt7": true, "lpt8": true, "lpt9": true,
}

// distinct returns an error for paths that are the same file if case is ignored: the
// later one would replace the one that was reviewed. Folders count, too.
func distinct(seen map[string]string, p string) error {
	for at, whole := p, true; at != "."; at, whole = path.Dir(at), false {
		is := at
		if whole {
			is += " (file)"
		}
		if was, ok := seen[strings.ToLower(at)]; ok && (was != is || whole) {
			return fmt.Errorf("%q and %q are the same file on some systems", p, strings.TrimSuffix(was, " (file)"))
		}
		seen[strings.ToLower(at)] = is
	}
	return nil
}

// read returns a file of a plugin that is not installed yet.
func (f *Fetched) read(name string) ([]byte, error) {
	for _, x := range f.files {
		if x.path == name {
			return x.text, nil
		}
	}
	return nil, fs.ErrNotExist
}

// write writes the files into an empty folder.
func (f *Fetched) write(dir string) error {
	root, err := os.OpenRoot(dir)
	if err != nil {
		return err
	}
	defer root.Close()
	for _, x := range f.files {
		if err := root.MkdirAll(path.Dir(x.path), 0o700); err != nil {
			return err
		}
		perm := fs.FileMode(0o600)
		if x.exec {
			perm = 0o700
		}
		out, err := root.OpenFile(x.path, os.O_WRONLY|os.O_CREATE|os.O_EXCL, perm)
		if err != nil {
			return err
		}
		_, err = out.Write(x.text)
		if err = errors.Join(err, out.Close()); err != nil {
			return err
		}
	}
	return nil
}
