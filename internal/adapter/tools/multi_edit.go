package tools

import (
	"context"
	"errors"
	"fmt"

	"github.com/pawl-agent/pawl/internal/core/tool"
)

type oneEdit struct {
	Path       string `json:"path"`
	Old        string `json:"old"`
	New        string `json:"new"`
	ReplaceAll bool   `json:"replace_all,omitempty"`
}

type multiEditArgs struct {
	Edits []oneEdit `json:"edits"`
}

// MultiEdit returns the tool that makes several replacements in one or more files, all or
// none.
func MultiEdit() tool.Tool {
	t := tool.New("multi_edit",
		"Make several replacements in one or several files, all or none. Each works as in edit; later ones see the text that earlier ones left.",
		func(env tool.Env, in multiEditArgs) (fp tool.Footprint, err error) {
			quotes := map[string][]quote{}
			for _, e := range in.Edits {
				sp, err := writeSpan(env, e.Path)
				if err != nil {
					return fp, err
				}
				if quotes[sp.Path] == nil {
					fp.Writes = append(fp.Writes, sp)
				}
				quotes[sp.Path] = append(quotes[sp.Path], quote{e.Old, e.New})
			}
			fp.Quoted = quotedOnce(env, quotes)
			return fp, nil
		},
		func(ctx context.Context, env tool.Env, in multiEditArgs) (tool.Result, error) {
			return perform(ctx, env, func(g *stage) error { return g.edits(ctx, in) })
		})
	t.Facts = tool.Facts{Kind: tool.Edit, Family: tool.EditFamily, Hooks: []string{"MultiEdit", "Edit"}}
	t.Example = `{"edits":[{"path":"a.go","old":"oldName(","new":"newName(","replace_all":true},{"path":"b.go","old":"oldName(1)","new":"newName(1)"}]}`
	return t
}

func (g *stage) edits(ctx context.Context, in multiEditArgs) error {
	if len(in.Edits) == 0 {
		return failf("edits is empty: give at least one")
	}
	for i, e := range in.Edits {
		err := g.apply(ctx, e.Path, e.Old, e.New, e.ReplaceAll)
		if err == nil {
			continue
		}
		if f, ok := errors.AsType[*failure](err); ok && len(in.Edits) > 1 {
			f.text = fmt.Sprintf("edit %d of %d failed, so none was made. %s", i+1, len(in.Edits), f.text)
		}
		return err
	}
	return nil
}
