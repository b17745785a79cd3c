package slash

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/pawl-agent/pawl/internal/core/plural"
	"github.com/pawl-agent/pawl/internal/engine/changes"
	"github.com/pawl-agent/pawl/internal/frontend/choice"
	"github.com/pawl-agent/pawl/internal/frontend/plain"
	"github.com/pawl-agent/pawl/internal/policy/undo"
)

func rewind() Command {
	return Command{Name: "rewind", Args: "[N] [conversation|files|both]", Doc: "go back to a prompt: list them, or go before the Nth", Run: func(ctx context.Context, h Host, args string) error {
		points, err := h.Session().View().Changes().Points(ctx)
		if err != nil {
			return err
		}
		number, what, _ := strings.Cut(args, " ")
		if number == "" && len(points) > 0 {
			id, ok, err := h.Pick(ctx, "go back to before a prompt", pointItems(points))
			switch {
			case ok && (err != nil || id == ""):
				return err
			case ok:
				number = id
			}
		}
		if number == "" {
			list(h, points)
			if len(points) == 0 {
				return nil
			}
			if number, err = h.Ask(ctx, "go back to before which prompt? (a number, or Enter to cancel): "); err != nil || strings.TrimSpace(number) == "" {
				return err
			}
		}
		n, err := strconv.Atoi(strings.TrimSpace(number))
		if err != nil || n < 1 || n > len(points) {
			return fmt.Errorf("there is no prompt %s; /rewind lists all", plain.Line(number))
		}
		p := points[n-1]
		if what = strings.TrimSpace(what); what == "" {
			if what, err = which(ctx, h, p); err != nil || what == "" {
				return err
			}
		}
		return back(ctx, h, p, what, len(points)-n+1)
	}}
}

// pointItems lists the prompts, the newest first.
func pointItems(points []changes.Point) (out []Item) {
	for i, p := range slices.Backward(points) {
		it := Item{ID: strconv.Itoa(i + 1), Text: short(p.Text, 70), About: p.Time.Local().Format("15:04"), More: "no file changed after it"}
		if len(p.Files) > 0 {
			it.About += "  " + plural.Of(len(p.Files), "file")
			it.More = "changed " + strings.Join(p.Files, ", ")
		}
		out = append(out, it)
	}
	return out
}

func list(h Host, points []changes.Point) {
	if len(points) == 0 {
		fmt.Fprintln(h.Out(), "there is no prompt yet")
	}
	for i, p := range points {
		line := fmt.Sprintf("%4d  %s  %s", i+1, p.Time.Local().Format("15:04"), short(p.Text, 70))
		if len(p.Files) > 0 {
			line += "  (changed " + short(strings.Join(p.Files, ", "), 60) + ")"
		}
		fmt.Fprintln(h.Out(), plain.Line(line))
	}
}

func short(s string, most int) string {
	s, _, more := strings.Cut(strings.TrimSpace(s), "\n")
	if r := []rune(s); len(r) > most {
		s, more = string(r[:most]), true
	}
	if more {
		s += "…"
	}
	return s
}

func which(ctx context.Context, h Host, p changes.Point) (string, error) {
	in, err := h.Ask(ctx, "go back to before “"+short(p.Text, 40)+"”: what to restore?", choice.Option{Key: "b", Text: "both: conversation and files"}, choice.Option{Key: "c", Text: "conversation: the files stay as they are"}, choice.Option{Key: "f", Text: "files: the conversation stays"})
	return map[string]string{"c": "conversation", "f": "files", "b": "both"}[in], err
}

// back resets files, conversation or both to the state before a prompt. Files are reset
// first and in the session that changed them, so that its log records it. The
// conversation then continues in a fork without the left prompts, and nothing of the old
// one is lost.
func back(ctx context.Context, h Host, p changes.Point, what string, left int) error {
	switch what {
	case "conversation", "files", "both":
	default:
		return errors.New("say what to restore: conversation, files or both")
	}
	if what != "conversation" {
		and := ""
		if what == "both" {
			and = ", and take " + plural.Of(left, "prompt") + " out of the conversation"
		}
		done, err := putBack(ctx, h, undo.Selector{Kind: undo.ByRewind, Prompt: p.Seq}, and)
		switch {
		case errors.Is(err, undo.ErrNothing):
			fmt.Fprintln(h.Out(), "no file has changed since then")
		case err != nil || !done:
			return err
		}
	}
	if what == "files" {
		return nil
	}
	if err := h.Switch(ctx, Want{Resume: h.Session().ID(), Fork: true, At: p.Before()}); err != nil {
		return err
	}
	fmt.Fprintf(h.Out(), "left out: %s with what followed; the old session keeps all\n", plural.Of(left, "prompt"))
	h.Edit(p.Text)
	return nil
}
