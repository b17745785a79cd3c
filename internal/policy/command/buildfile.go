package command

// BuildFile is a kind of file that defines the commands that a program runs.
type BuildFile int

// The kinds of build files.
const (
	NoBuildFile BuildFile = iota
	Makefile
	Justfile
	PackageJSON
	ToxINI
)

// Files returns the names that programs look for in a folder, in their order.
func (b BuildFile) Files() []string {
	switch b {
	case Makefile:
		return []string{"GNUmakefile", "makefile", "Makefile"}
	case Justfile:
		return []string{"justfile", "Justfile", ".justfile"}
	case PackageJSON:
		return []string{"package.json"}
	case ToxINI:
		return []string{"tox.ini"}
	}
	return nil
}
