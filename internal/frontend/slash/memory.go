package slash

import (
	"context"
	"fmt"

	"github.com/pawl-agent/pawl/internal/core/plural"
	"github.com/pawl-agent/pawl/internal/frontend/plain"
)

func memory() Command {
	return Command{
		Name: "memory", Args: "[add TEXT | forget N | turns | history]",
		Doc: "show or change the preferences and notes for all sessions",
		Run: func(ctx context.Context, h Host, args string) error {
			if args == "" {
				now(h)
			}
			return h.Memory(ctx, args)
		},
	}
}

// now shows the first two tiers of memory (SPEC 11.4).
func now(h Host) {
	say := func(format string, args ...any) { fmt.Fprintln(h.Out(), plain.Line(fmt.Sprintf(format, args...))) }
	w, s := h.Session().View().Memory()
	say("this session: %s read, %s", plural.Of(len(s.Files), "file"), plural.Of(len(s.Exchanges), "prompt"))
	for _, f := range s.Files[max(0, len(s.Files)-5):] {
		say("  %s", f.Path)
	}
	if w.Step > 0 || w.LastError != "" {
		say("this turn: step %d, file %s, %s", w.Step, w.File, plural.Of(w.Retries, "retry"))
	}
	for _, f := range w.Feedback[max(0, len(w.Feedback)-5):] {
		say("  %s", f)
	}
}
