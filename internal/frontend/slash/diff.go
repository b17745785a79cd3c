package slash

import (
	"context"
	"fmt"
	"io"

	"github.com/pawl-agent/pawl/internal/frontend/plain"
	"github.com/pawl-agent/pawl/internal/policy/undo"
)

// Coloured is a Host that shows diffs in colours.
type Coloured interface {
	Colours() plain.Theme
}

// Rawer is a Host whose Out breaks lines for the terminal; what is written to
// Raw stays as it is.
type Rawer interface {
	Raw() io.Writer
}

func diff() Command {
	return Command{Name: "diff", Anytime: true, Args: "[turn|file PATH|command|all]", Doc: "show what the last turn changed", Run: func(ctx context.Context, h Host, args string) error {
		w, err := unit(args, undo.ByTurn)
		if err != nil {
			return err
		}
		if w.Kind == undo.ByFile {
			w.Kind = undo.ByAll // all that was done to the file
		}
		text, err := h.Session().Changes().Diff(ctx, w)
		if err == nil && text == "" {
			text = "no change of the agent's stands\n"
		}
		theme := plain.None
		if c, ok := h.(Coloured); ok {
			theme = c.Colours()
		}
		out := h.Out()
		if r, ok := h.(Rawer); ok {
			out = r.Raw()
		}
		fmt.Fprint(out, plain.Diff(text, theme))
		return err
	}}
}
