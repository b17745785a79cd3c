package confine

import (
	"slices"

	"github.com/pawl-agent/pawl/internal/policy/guidance"
)

// Protected are the names of files and folders that configure what runs, at any depth
// of the workspace (SPEC 16.3), besides .git. The permissions ask about the same ones.
// A name is here only if it is known that a program runs something of it when a person
// opens the folder, or starts or uses the program there; files that are run as the
// project's own code are not. HEAD, which would make a folder a bare git repository, is
// judged apart.
var Protected = slices.Concat(guidance.Names(), guidance.Protected())
