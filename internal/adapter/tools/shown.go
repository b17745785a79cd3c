package tools

import (
	"cmp"
	"context"
	"path"
	"slices"
	"strconv"
	"strings"

	"github.com/pawl-agent/pawl/internal/core/shellsyntax"
	"github.com/pawl-agent/pawl/internal/core/sorting"
	"github.com/pawl-agent/pawl/internal/core/tool"
	"github.com/pawl-agent/pawl/internal/policy/secrets"
)

// numberedLines returns the lines of files that a command printed with their numbers, as
// grep -n, cat -n and nl do: they count as read. Only a file that the command line names is
// looked into, and only a line that it has under this number, letter for letter.
func numberedLines(ctx context.Context, env tool.Env, cmds []shellsyntax.Command, output string) []tool.Span {
	if env.Files == nil {
		return nil
	}
	files := map[string]bool{}
	for _, f := range namedFiles(env.Files, cmds) {
		if rel, inside := strings.CutPrefix(f.Path, env.Files.Root()+"/"); inside && !f.Write && !secrets.LooksSecret(rel) && len(files) < verifyFiles {
			files[rel] = true
		}
	}
	var found []tool.Match
	for line := range strings.Lines(output) {
		line = bare(line)
		for name := range files {
			if n, text, ok := cutNumber(behindName(line, path.Join(env.Files.Root(), name))); ok {
				found = append(found, tool.Match{Path: name, Line: n, Text: text})
			}
		}
	}
	sorting.By(found, func(a, b tool.Match) int { return cmp.Or(cmp.Compare(a.Path, b.Path), cmp.Compare(a.Line, b.Line)) })
	return verified(ctx, env, slices.Compact(found))
}

// behindName returns what stands behind a file's name: of several files grep -n prints it,
// too, as the command line has it.
func behindName(line, file string) string {
	before, rest, ok := strings.Cut(line, path.Base(file))
	if !ok || rest == "" || !strings.HasSuffix(file, path.Join("/", before, path.Base(file))) && before != path.Dir(file)+"/" {
		return line
	}
	return rest[1:]
}

// cutNumber cuts the number off a line that begins with one.
func cutNumber(line string) (n int, text string, ok bool) {
	line = strings.TrimLeft(line, " ")
	end := strings.IndexAny(line, ":-\t")
	if end < 0 {
		return 0, "", false
	}
	n, err := strconv.Atoi(line[:end])
	return n, line[end+1:], err == nil && n > 0
}
