package slash

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/pawl-agent/pawl/internal/core/plural"
	"github.com/pawl-agent/pawl/internal/engine/session"
	"github.com/pawl-agent/pawl/internal/frontend/choice"
	"github.com/pawl-agent/pawl/internal/frontend/plain"
	"github.com/pawl-agent/pawl/internal/policy/permission"
	"github.com/pawl-agent/pawl/internal/policy/phase"
)

// Decide is the argument of /plan with which a conversation asks for a decision about
// the plan that a turn ended with.
const Decide = "decide"

func plan() Command {
	return Command{
		Name: "plan", Args: "[TASK | edit | approve [MODE] | reject [WHY]]", Doc: "show, edit, approve or reject the plan, or ask the model to write one for TASK without changing files",
		Run: func(ctx context.Context, h Host, args string) error {
			p := h.Session().View().Proposal()
			verb, rest, _ := strings.Cut(args, " ")
			rest = strings.TrimSpace(rest)
			switch {
			case args == "" || args == "show":
				showPlan(h, p)
				return nil
			case args == "edit":
				return editPlan(ctx, h, p)
			case args == Decide:
				return decide(ctx, h)
			case verb == "approve" && modeOrNothing(rest):
				return approve(ctx, h, rest, "")
			case verb == "reject" && p.Text != "":
				return reject(ctx, h, rest, "")
			}
			if mode := h.Session().View().Mode(); !mode.ReadsOnly() {
				if _, err := h.Session().Submit(ctx, session.SetMode{Mode: string(mode.Child(true))}); err != nil {
					return err
				}
			}
			_, err := h.Session().Submit(ctx, session.Prompt{Text: args})
			return err
		},
	}
}

func modeOrNothing(s string) bool {
	_, err := permission.ParseMode(s)
	return s == "" || err == nil
}

func showPlan(h Host, p phase.Proposal) {
	if p.Text == "" {
		fmt.Fprintln(h.Out(), "there is no plan yet; /plan TASK asks the model to write one without changing files")
		return
	}
	by := map[string]string{"model": "written by the model", "person": "as you edited it"}[string(p.By)]
	state := "it waits for your answer: /plan approve, /plan edit, /plan reject WHY"
	if !p.Undecided {
		state = "decided already; /todo shows the progress of its phases"
	}
	fmt.Fprintf(h.Out(), "%s\n\n(%s; %s)\n", plain.Text(strings.TrimSpace(p.Text)), by, state)
}

func editPlan(ctx context.Context, h Host, p phase.Proposal) error {
	if p.Text == "" {
		return errors.New("there is no plan to edit; /plan TASK asks the model to write one")
	}
	text, err := h.Editor(ctx, p.Text)
	switch {
	case err != nil:
		return err
	case strings.TrimSpace(text) == strings.TrimSpace(p.Text):
		fmt.Fprintln(h.Out(), "the plan is unchanged")
		return nil
	}
	_, err = h.Session().Submit(ctx, session.WritePlan{Text: text})
	return err
}

// approve approves the plan that was shown; "": whatever it is.
func approve(ctx context.Context, h Host, mode, shown string) error {
	if mode == "" {
		mode = string(permission.Default(true).Editing())
	}
	_, err := h.Session().Submit(ctx, session.DecidePlan{Approve: true, Mode: mode, Shown: shown})
	return err
}

// reject rejects the plan. If there is a reason, the model writes another plan.
func reject(ctx context.Context, h Host, why, shown string) error {
	_, err := h.Session().Submit(ctx, session.DecidePlan{Why: why, Shown: shown})
	if err == nil && why == "" {
		fmt.Fprintln(h.Out(), "the plan is rejected; the mode is as before: write what you want instead, or change the mode")
	}
	return err
}

// decide asks about the plan until it is decided. Any other input is taken as the
// change that the model is to make.
func decide(ctx context.Context, h Host) error {
	for {
		p := h.Session().View().Proposal()
		if !p.Undecided {
			return nil
		}
		steps, err := p.Steps()
		if err != nil {
			return err
		}
		answer, err := h.Ask(ctx, fmt.Sprintf("the plan has %s: carry it out?", plural.Of(len(steps), "phase")),
			choice.Option{Key: "y", Text: "yes, and edits are allowed"}, choice.Option{Key: "a", Text: "yes, and ask about each edit"}, choice.Option{Key: "e", Text: "edit the plan first"},
			choice.Option{Key: "n", Text: "no: go on planning"}, choice.Option{Key: "w", Text: "write what to change", Typed: true})
		if err != nil {
			return err
		}
		switch answer {
		case "":
			fmt.Fprintln(h.Out(), "the plan waits for your answer: /plan approve, /plan edit, /plan reject WHY")
			return nil
		case "y":
			return approve(ctx, h, string(permission.Default(true).Editing()), p.Text)
		case "a":
			return approve(ctx, h, string(permission.Default(true)), p.Text)
		case "e":
			if err := editPlan(ctx, h, p); err != nil {
				return err
			}
		case "n":
			return reject(ctx, h, "", p.Text)
		default:
			return reject(ctx, h, strings.TrimSpace(answer), p.Text)
		}
	}
}
