package tools

import (
	"context"
	"strings"

	"github.com/pawl-agent/pawl/internal/core/tool"
)

type rememberArgs struct {
	Note string `json:"note" doc:"one fact or preference, as a full sentence"`
}

const noteText = 500 // bytes of a note

// Remember returns the tool that stores a note for later sessions.
func Remember() tool.Tool {
	t := tool.New("remember",
		"Keep one fact or preference of the person for later sessions in this project. Only what they said or confirmed, and never a secret.",
		func(tool.Env, rememberArgs) (tool.Footprint, error) { return tool.Footprint{}, nil },
		func(ctx context.Context, env tool.Env, in rememberArgs) (tool.Result, error) {
			note := strings.Join(strings.Fields(in.Note), " ")
			switch {
			case env.Notes == nil:
				return tool.Errorf("this session keeps no notes"), nil
			case note == "":
				return tool.Errorf("the note is empty"), nil
			case len(note) > noteText:
				return tool.Errorf("a note of %d bytes is too long, the limit is %d: keep only what matters", len(note), noteText), nil
			}
			if err := env.Notes.Remember(ctx, note); err != nil {
				return shellFailed(ctx, err)
			}
			return tool.Result{Text: "remembered: " + note, Note: note}, nil
		})
	t.Facts = tool.Facts{Kind: tool.Note, Aliases: []string{"memory", "savememory"}, AnsweredByPerson: true}
	t.Example = `{"note":"Tests in this project are run with make check."}`
	return t
}
