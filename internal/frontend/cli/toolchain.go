package cli

import "github.com/pawl-agent/pawl/internal/adapter/checks"

// toolchains returns findings about the programs that check the project in the current
// folder: its tests are the evidence for changes.
func toolchains(dir string) []finding {
	var out []finding
	for _, k := range checks.Toolchains(dir) {
		f := findProgram(k.Program, "this project ("+k.File+") cannot be checked without it", false)
		if f.ok {
			f.is += ", for the checks of this project (" + k.File + ")"
		}
		out = append(out, f)
	}
	if out == nil {
		return []finding{{ok: true, what: "project", is: "of a kind that pawl has no checks for"}}
	}
	return out
}
