package slash

import (
	"context"
	"fmt"
	"path"
	"strings"

	"github.com/pawl-agent/pawl/internal/frontend/plain"
)

func export() Command {
	return Command{
		Name: "export", Anytime: true, Args: "[FILE.md | FILE.html | FILE.jsonl]", Doc: "write this session to a new file: Markdown, one page of HTML, or its events",
		Run: func(ctx context.Context, h Host, args string) error {
			id := h.Session().ID()
			file := strings.Trim(args, `"'`)
			if file == "" {
				file = "pawl-" + id[:min(8, len(id))] + ".md"
			}
			format, known := map[string]string{".md": "markdown", ".markdown": "markdown", ".html": "html", ".htm": "html", ".jsonl": "jsonl"}[strings.ToLower(path.Ext(file))]
			if !known {
				return fmt.Errorf("unknown format of %s: use a name that ends in .md, .html or .jsonl", plain.Line(file))
			}
			if err := h.Pawl(ctx, "sessions", "export", id, "--format", format, "--output", file); err != nil {
				return err
			}
			fmt.Fprintln(h.Out(), plain.Line("exported to "+file+"; keys that pawl recognizes are masked"))
			return nil
		},
	}
}
