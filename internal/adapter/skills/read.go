// Package skills reads Markdown files for models: skills, which the model knows by name
// and reads when it needs one, and custom commands, which a person types (SPEC 17.4).
//
// They are only text, like rules: nothing in them is executed here, and no field grants a
// session more rights (allowed-tools only removes some, tools.go). Only regular files of
// limited size within their folder are read; an unreadable one is skipped with a warning.
// If two have the same name, the earlier folder wins.
package skills

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"strings"

	"github.com/pawl-agent/pawl/internal/core/cut"
	"github.com/pawl-agent/pawl/internal/core/frontmatter"
	"github.com/pawl-agent/pawl/internal/core/lazyregexp"
	"github.com/pawl-agent/pawl/internal/core/plainfile"
	"github.com/pawl-agent/pawl/internal/policy/claudecode"
)

// Folder is a folder to search: Path below Root. No link may lead out of Root.
type Folder struct {
	Root, Path string
	// Prefix precedes the names of a plugin's texts (NAME:); "" for others. In a plugin's
	// texts ${CLAUDE_PLUGIN_ROOT} becomes Root.
	Prefix string
	// Here: Root is the workspace.
	Here bool
}

// Limits: the bytes of a file, the files in a folder, and the depth of subfolders.
const (
	maxFile  = 128 << 10
	maxFiles = 200
	maxDeep  = 3
)

var name = lazyregexp.New(`^[A-Za-z0-9][A-Za-z0-9_.-]{0,63}$`)

// file is a file that was read.
type file struct {
	path   string // absolute
	base   string // the file's name, or its folder's
	fields frontmatter.Fields
	text   string
	raw    string // with the front matter
	keys   []claudecode.Finding
	hooks  string // by which its hooks are known; "": it has none
	unkept error  // why it cannot be used: it has a guard that pawl cannot keep
}

// each calls do for the files below a folder that want accepts, in the order of their
// names.
func (f Folder) each(front claudecode.Front, want func(p string) (base string, ok bool), do func(file)) (warnings []string) {
	warn := func(p string, err error) {
		warnings = append(warnings, fmt.Sprintf("%s was not read: %v", filepath.Join(f.Root, filepath.FromSlash(p)), err))
	}
	root, err := os.OpenRoot(f.Root)
	if err != nil {
		return nil // it is not there
	}
	defer root.Close()
	n := 0
	err = fs.WalkDir(root.FS(), f.Path, func(p string, d fs.DirEntry, err error) error {
		switch {
		case err != nil:
			if !errors.Is(err, fs.ErrNotExist) && p == f.Path {
				warn(p, err)
			}
			return fs.SkipDir
		case d.IsDir():
			if strings.Count(strings.TrimPrefix(p, f.Path), "/") > maxDeep {
				return fs.SkipDir
			}
			return nil
		}
		base, ok := want(p)
		if !ok {
			return nil
		}
		if n++; n > maxFiles {
			warn(f.Path, fmt.Errorf("there are more than %d files", maxFiles))
			return fs.SkipAll
		}
		text, err := read(root, p)
		if err != nil {
			warn(p, err)
			return nil
		}
		if f.Prefix != "" {
			text = strings.ReplaceAll(text, "${CLAUDE_PLUGIN_ROOT}", f.Root)
		}
		fields, body, err := frontmatter.Parse(text)
		if err == nil && !name().MatchString(base) {
			err = fmt.Errorf("the name %.80q must be letters, digits, -, _ or a dot", base)
		}
		if err != nil {
			warn(p, err)
			return nil
		}
		one := file{path: filepath.Join(f.Root, filepath.FromSlash(p)), base: base, fields: fields, text: numbered(strings.TrimSpace(body), fields), raw: text}
		one.keys, one.unkept = front.Read(fields)
		if rules, _ := claudecode.Hooks("", fields); len(rules) > 0 { // Read returned the error
			if one.hooks = p; !f.Here {
				one.hooks = one.path
			}
		}
		do(one)
		return nil
	})
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		warn(f.Path, err)
	}
	return warnings
}

func read(root *os.Root, p string) (string, error) {
	st, err := root.Stat(p)
	switch {
	case err != nil:
		return "", err
	case !st.Mode().IsRegular():
		return "", errors.New("it is not a regular file")
	case st.Size() > maxFile:
		return "", fmt.Errorf("it is longer than %d KB", maxFile>>10)
	}
	b, err := plainfile.ReadIn(root, p, maxFile)
	return strings.ToValidUTF8(string(b), "\uFFFD"), err
}

// line returns a text as one line, cut after n characters.
func line(s string, n int) string {
	return cut.Runes(strings.Join(strings.Fields(s), " "), n)
}

func below(folder, p string) string { return strings.TrimPrefix(strings.TrimPrefix(p, folder), "/") }

func stem(p string) string { return strings.TrimSuffix(path.Base(p), path.Ext(p)) }
