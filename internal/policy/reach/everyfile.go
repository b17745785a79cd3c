package reach

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"io"
	"io/fs"
	"path"
	"strings"

	"github.com/pawl-agent/pawl/internal/policy/trust"
)

// Limits of a folder all of whose files belong to a part.
const (
	maxFolders   = 2000
	maxEveryFile = 20_000
	maxEveryByte = 256 << 20
)

// EveryFile returns the source for programs that run files that cannot be listed: it
// changes with any file of the folder that could be run or read as a definition. A
// folder with more files than are read is never trusted. deep also counts source code.
func EveryFile(fsys fs.FS, unlisted string, deep bool) trust.Source {
	s := trust.Source{Name: "every file"}
	sum, err := everyFileOf(fsys, ".", deep)
	if err != nil {
		s.Name, s.Unread = "every file of this folder, of which any may run, since "+unlisted+" ("+err.Error()+")", true
		return s
	}
	// It is one line, so that a person sees the reason even if only the differences are
	// shown.
	s.Text = "a change of any file of this folder, " + but(deep) + "asks again, since " + unlisted + "; they are " + sum
	return s
}

func but(deep bool) string {
	if deep {
		return ""
	}
	return "except source that is compiled, "
}

// Sources returns the sources for what was found besides its files: its folders, and
// every file if not all files could be listed.
func (f Found) Sources(fsys fs.FS, deep bool) []trust.Source {
	var out []trust.Source
	for _, at := range f.Folders {
		s := trust.Source{Name: at + "/"}
		sum, err := everyFileOf(fsys, at, true)
		if s.Unread = err != nil; !s.Unread {
			s.Text = "its files are " + sum
		}
		out = append(out, s)
	}
	if f.Unlisted != "" {
		out = append(out, EveryFile(fsys, f.Unlisted, deep))
	}
	return out
}

// everyFileOf returns a hash of all files of a folder, except git's own, those that
// python and its tools write when they run, and, unless deep is set, those that are
// certainly no definition.
func everyFileOf(fsys fs.FS, at string, deep bool) (string, error) {
	h, folders, files, left := sha256.New(), 0, 0, int64(maxEveryByte)
	err := fs.WalkDir(fsys, at, func(name string, d fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case d.IsDir():
			switch d.Name() {
			case ".git", "__pycache__", ".pytest_cache", ".mypy_cache", ".ruff_cache":
				return fs.SkipDir
			}
			if folders++; folders > maxFolders {
				return fmt.Errorf("it has more than %d folders", maxFolders)
			}
			return nil
		}
		if files++; files > maxEveryFile {
			return fmt.Errorf("it has more than %d files", maxEveryFile)
		}
		if d.Type()&fs.ModeSymlink != 0 {
			to, err := fs.ReadLink(fsys, name)
			fmt.Fprintf(h, "%q %v %q\n", name, d.Type(), to)
			return err
		}
		if !d.Type().IsRegular() {
			fmt.Fprintf(h, "%q %v\n", name, d.Type())
			return nil
		}
		if !deep && compiled(name) {
			return nil
		}
		file, err := fsys.Open(name)
		if err != nil {
			return err
		}
		defer file.Close()
		head := make([]byte, 8)
		n, err := io.ReadFull(file, head)
		if err != nil && err != io.EOF && err != io.ErrUnexpectedEOF {
			return err
		}
		if head = head[:n]; !deep && machineCode(string(head)) {
			return nil
		}
		one := sha256.New()
		all := io.MultiReader(strings.NewReader(string(head)), file)
		size, err := io.Copy(one, io.LimitReader(all, left+1))
		if left -= size; left < 0 {
			return fmt.Errorf("it has more than %d MB", maxEveryByte>>20)
		}
		fmt.Fprintf(h, "%q %v\n%x\n", name, d.Type(), one.Sum(nil))
		return err
	})
	return hex.EncodeToString(h.Sum(nil)), err
}

// compiled reports whether a file has the name of source code that only compilers read, or
// of what they write (ADR 022). Such a file does not define what a check runs; a check runs the
// compiled code as it runs other source code.
func compiled(name string) bool {
	switch strings.ToLower(path.Ext(name)) {
	case ".c", ".h", ".cc", ".cpp", ".cxx", ".c++", ".hh", ".hpp", ".hxx", ".h++", ".inl", ".ipp", ".tpp", ".m", ".mm", ".s", ".asm", ".cu", ".cuh",
		".f", ".f90", ".f95", ".for", ".go", ".java", ".kt", ".swift", ".cs", ".hs", ".ml", ".mli", ".o", ".obj", ".lo", ".d":
		return true
	case ".rs":
		return path.Base(name) != "build.rs"
	}
	return false
}

// machineCode reports whether a file is a compiled program, an object file or an archive
// of them.
func machineCode(text string) bool {
	for _, magic := range []string{"\x7fELF", "!<arch>\n", "!<thin>\n", "\xcf\xfa\xed\xfe", "\xce\xfa\xed\xfe", "\xca\xfe\xba\xbe", "MZ"} {
		if strings.HasPrefix(text, magic) {
			return true
		}
	}
	return false
}
