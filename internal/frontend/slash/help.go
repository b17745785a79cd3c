package slash

import (
	"context"
	"fmt"
	"strings"

	"github.com/pawl-agent/pawl/internal/frontend/plain"
)

func help() Command {
	return Command{Name: "help", Anytime: true, Doc: "list the commands", Run: func(ctx context.Context, h Host, _ string) error {
		if name, ok, err := h.Pick(ctx, "commands", Items(h.Custom())); ok {
			if err == nil && name != "" {
				h.Edit("/" + name + " ")
			}
			return err
		}
		for _, c := range All() {
			fmt.Fprintf(h.Out(), "  %-26s %s\n", strings.TrimSpace("/"+c.Name+" "+c.Args), c.Doc)
		}
		for _, c := range h.Custom() {
			if !Builtin(c.Name) {
				fmt.Fprintf(h.Out(), "  %-26s %s\n", plain.Line(strings.TrimSpace("/"+c.Name+" "+c.Args)), plain.Line(c.Doc))
			}
		}
		fmt.Fprintf(h.Out(), "  %-26s %s\n", "# text", "add a preference for this folder, like /memory add")
		fmt.Fprintf(h.Out(), "  %-26s %s\n", "!command", "run a shell command yourself; the model sees the command and its output")
		fmt.Fprintf(h.Out(), "  %-26s %s\n", "while a turn runs", "a prompt is sent with the next request; /pause pauses the turn, /phase starts a phase, Ctrl+C interrupts")
		fmt.Fprintf(h.Out(), "  %-26s %s\n", "a line that ends in \\", "continues in the next line")
		return nil
	}}
}

// Items lists the commands by their groups, with how many each has.
func Items(custom []Custom) (out []Item) {
	item := func(group, name, args, doc string) {
		out = append(out, Item{ID: name, Group: group, Text: plain.Line("/" + name), About: plain.Line(doc), More: plain.Line(strings.TrimSpace("/" + name + " " + args))})
	}
	for _, g := range groups() {
		for _, c := range g.commands {
			item(fmt.Sprintf("%s (%d)", g.name, len(g.commands)), c.Name, c.Args, c.Doc)
		}
	}
	first := len(out)
	for _, c := range custom {
		if !Builtin(c.Name) {
			item("", c.Name, c.Args, c.Doc)
		}
	}
	for i := range out[first:] {
		out[first+i].Group = fmt.Sprintf("from files and servers (%d)", len(out)-first)
	}
	return out
}
