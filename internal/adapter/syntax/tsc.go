package syntax

import (
	"bytes"
	"context"
	_ "embed"
	"encoding/json"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strconv"

	"github.com/pawl-agent/pawl/internal/core/process"
	"github.com/pawl-agent/pawl/internal/core/tool"
)

// TypeScript's compiler belongs to the project: nobody else knows the release that it is
// written for. So code of the workspace runs here; it may read the workspace and the system,
// and has no network.

//go:embed tsc.js
var tscScript string

const (
	// tsconfig makes a folder a project of TypeScript.
	tsconfig = "tsconfig.json"
	// compiler is where a project that has TypeScript keeps it.
	compiler = "node_modules/typescript/lib/typescript.js"
)

// above returns the path of a file in a folder or in the nearest one above it that has it,
// inside the workspace; "" if there is none.
func (l *Look) above(dir, name string) string {
	for {
		file := path.Join(dir, name)
		if info, err := os.Stat(filepath.Join(l.Root, filepath.FromSlash(file))); err == nil && info.Mode().IsRegular() {
			return file
		}
		if dir == "." {
			return ""
		}
		dir = path.Dir(dir)
	}
}

// tsc returns what TypeScript's compiler newly finds in a project after changes. What it
// found until the limit counts: it looks at the changed files first.
func (l *Look) tsc(ctx context.Context, config string, cs []tool.CodeChange, _ *vetted) []tool.Diagnostic {
	module := l.above(path.Dir(config), compiler)
	if module == "" {
		return nil
	}
	whole := func(name string) string { return filepath.Join(l.Root, filepath.FromSlash(name)) }
	before := map[string]*string{}
	for _, c := range cs {
		if before[whole(c.Path)] = nil; c.Existed {
			if c.Before == nil {
				return nil
			}
			text, err := c.Before(ctx)
			if err != nil {
				return nil
			}
			was := string(text)
			before[whole(c.Path)] = &was
		}
	}
	input, err := json.Marshal(before)
	if err != nil {
		return nil
	}
	var out capped
	p, err := l.Start.Start(ctx, process.Program{
		Path: "node", Args: []string{"-e", tscScript, "--", whole(module), whole(config), strconv.Itoa(maxShown)},
		Dir: "/", Exact: true, Env: []string{"PATH=" + programs, "LC_ALL=C.UTF-8"}, Apart: []string{l.Root},
		Stdin: bytes.NewReader(input), Stdout: &out, Confine: process.Confine{Level: process.ReadOnly, Reads: []string{l.Root}},
	})
	if err != nil {
		return nil
	}
	_ = p.Wait() // it was stopped, or cannot read the project: what it found stands
	var found []tool.Diagnostic
	for line := range bytes.Lines(out.b) {
		var file, message string
		var n int
		if json.Unmarshal(line, &[]any{&file, &n, &message}) != nil {
			break // the last line, cut off
		}
		if name, err := filepath.Rel(l.Root, filepath.FromSlash(file)); err == nil && filepath.IsLocal(name) && len(found) < maxShown {
			found = append(found, tool.Diagnostic{Path: filepath.ToSlash(name), Line: n, Severity: tool.SeverityError, Source: "tsc", Earlier: true, Message: clip(message)})
		}
	}
	return found
}

// isTypeScript reports whether the compiler reads files of a name.
func isTypeScript(name string) bool {
	return slices.Contains([]string{".ts", ".tsx", ".mts", ".cts"}, path.Ext(name))
}
