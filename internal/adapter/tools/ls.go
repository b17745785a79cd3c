package tools

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"strings"

	"github.com/pawl-agent/pawl/internal/core/tool"
)

type lsArgs struct {
	Path string `json:"path,omitempty" doc:"folder; default the workspace"`
}

func Ls() tool.Tool {
	t := tool.New("ls",
		"List a folder: folders end in /, files have their size, symlinks their target; ignored entries are marked. "+
			"To find files by name use glob.",
		func(env tool.Env, in lsArgs) (tool.Footprint, error) { return folderSpan(env, in.Path) },
		func(ctx context.Context, env tool.Env, in lsArgs) (tool.Result, error) {
			p := cmp.Or(in.Path, ".")
			entries, err := env.Files.List(ctx, p)
			if errors.Is(err, fs.ErrNotExist) {
				return tool.Errorf("%s", missing(ctx, env, p)), nil
			}
			if err != nil {
				return failed(err)
			}
			if len(entries) == 0 {
				return tool.Result{Text: p + " is empty", Note: "empty"}, nil
			}
			var b strings.Builder
			for i, e := range entries {
				line := listing(e)
				if b.Len()+len(line) > limitOf(env)-100 {
					fmt.Fprintf(&b, "[%d more entries not shown; use glob with a pattern]\n", len(entries)-i)
					break
				}
				b.WriteString(line)
			}
			note := fmt.Sprintf("%d entries", len(entries))
			if len(entries) == 1 {
				note = "1 entry"
			}
			return tool.Result{Text: strings.TrimSuffix(b.String(), "\n"), Note: note}, nil
		})
	t.Facts = tool.Facts{Kind: tool.Read, Aliases: []string{"list", "listdir", "listdirectory", "listfiles"}, Family: tool.ReadFamily, Shows: showFolder, Repeatable: true, Listing: true, Hooks: []string{"LS"}}
	t.ReadOnly = true
	t.Example = `{"path":"internal"}`
	return t
}

func showFolder(m tool.Mention) any {
	if !m.Dir {
		return nil
	}
	return lsArgs{m.Path}
}

func listing(e tool.Entry) string {
	name := oneLine(e.Name)
	switch {
	case e.Link != "":
		name += " -> " + oneLine(e.Link)
	case e.Dir:
		name += "/"
	default:
		name += fmt.Sprintf("  %d bytes", e.Size)
	}
	if e.Ignored {
		name += "  (ignored)"
	}
	return name + "\n"
}

// oneLine returns a name with control characters and invalid UTF-8 escaped, so that it
// cannot look like several entries.
func oneLine(name string) string {
	for _, r := range name {
		if r < ' ' || r == 0x7f || r == 0xFFFD {
			return fmt.Sprintf("%q", name)
		}
	}
	return name
}
