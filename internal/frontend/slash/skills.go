package slash

import (
	"context"
	"fmt"
)

func skillsCommand() Command {
	return Command{Name: "skills", Anytime: true, Doc: "list the skills, and pick one to use", Run: func(ctx context.Context, h Host, _ string) error {
		var items []Item
		for _, c := range h.Custom() {
			if c.Skill {
				items = append(items, Item{ID: c.Name, Text: "/" + c.Name, About: c.Doc})
			}
		}
		if len(items) == 0 {
			fmt.Fprintln(h.Out(), "there are no skills here that you can use: one is a file .agents/skills/NAME/SKILL.md")
			return nil
		}
		name, err := pickOrList(ctx, h, "skills", items)
		if err == nil && name != "" {
			h.Edit("/" + name + " ")
		}
		return err
	}}
}
