package tools

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"strings"

	"github.com/pawl-agent/pawl/internal/core/plural"
	"github.com/pawl-agent/pawl/internal/core/tool"
)

// globLimit is how many paths one glob returns.
const globLimit = 500

type globArgs struct {
	Pattern string `json:"pattern" doc:"glob with * ? ** [a-z] {a,b}; without a / it matches names in every folder"`
	Path    string `json:"path,omitempty" doc:"folder; default the workspace"`
}

// Glob returns the tool that finds files by name.
func Glob() tool.Tool {
	t := tool.New("glob",
		"Find files by name or path, newest first. Ignored files are left out.",
		func(env tool.Env, in globArgs) (tool.Footprint, error) {
			in = in.split(env)
			return folderSpan(env, in.Path)
		},
		func(ctx context.Context, env tool.Env, in globArgs) (tool.Result, error) {
			in = in.split(env)
			if in.Pattern == "" {
				return tool.Errorf("pattern is empty: give one such as *.go or src/**/*.ts"), nil
			}
			paths, more, err := env.Files.Glob(ctx, in.Path, in.Pattern, globLimit)
			if errors.Is(err, fs.ErrNotExist) {
				return tool.Errorf("%s", missing(ctx, env, in.Path)), nil
			}
			if err != nil {
				return failed(err)
			}
			if len(paths) == 0 {
				return tool.Result{Text: fmt.Sprintf("no files match %s", in.Pattern), Note: "no files"}, nil
			}
			var b strings.Builder
			for i, p := range paths {
				p = oneLine(p)
				if b.Len()+len(p) > limitOf(env)-100 {
					paths, more = paths[:i], true
					break
				}
				b.WriteString(p + "\n")
			}
			if more {
				fmt.Fprintf(&b, "[only the %d newest are shown: use a narrower pattern or a path]\n", len(paths))
			}
			return tool.Result{Text: strings.TrimSuffix(b.String(), "\n"), Note: plural.Of(len(paths), "file")}, nil
		})
	t.Facts = tool.Facts{Kind: tool.Search, Aliases: []string{"filesearch", "find", "findfiles"}, Family: tool.ReadFamily, Repeatable: true, Listing: true, Hooks: []string{"Glob"}}
	t.ReadOnly = true
	t.Example = `{"pattern":"**/*_test.go"}`
	return t
}

// split extracts the folder from an absolute pattern.
func (in globArgs) split(env tool.Env) globArgs {
	in.Path = cmp.Or(in.Path, ".")
	if !filepath.IsAbs(in.Pattern) {
		return in
	}
	if rest, ok := strings.CutPrefix(in.Pattern, strings.TrimSuffix(env.Files.Root(), "/")+"/"); ok {
		in.Path, in.Pattern = ".", rest
		return in
	}
	i := strings.IndexAny(in.Pattern, `*?[{\`)
	if i < 0 {
		i = len(in.Pattern)
	}
	cut := strings.LastIndexByte(in.Pattern[:i], '/') + 1
	in.Path, in.Pattern = in.Pattern[:max(cut-1, 1)], in.Pattern[cut:]
	return in
}
