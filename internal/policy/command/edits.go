package command

import (
	"slices"

	"github.com/pawl-agent/pawl/internal/core/shellsyntax"
)

// Edits reports whether a command is of a program that only changes the files that it names.
// Where pawl's tools edit without a question, the sandbox lets it do so too.
func Edits(c shellsyntax.Command) bool {
	name, plain := c.Program()
	return plain && !c.Code && Transparent(c) && slices.Contains([]string{"mkdir", "touch", "tee", "cp", "mv", "ln", "rm", "rmdir", "sed", "chmod", "gofmt"}, name)
}
