package slash

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/pawl-agent/pawl/internal/core/event"
	"github.com/pawl-agent/pawl/internal/engine/session"
	"github.com/pawl-agent/pawl/internal/frontend/plain"
)

func permissions() Command {
	return Command{
		Name: "permissions", Anytime: true, Args: "[allow RULE | always RULE | deny RULE | revoke RULE]", Doc: "list the permission rules; allow calls for this session or permanently, deny them for this session, or revoke that",
		Run: func(ctx context.Context, h Host, args string) error {
			verb, rule, _ := strings.Cut(args, " ")
			rule = strings.TrimSpace(rule)
			switch {
			case args == "" || args == "list":
				fmt.Fprintf(h.Out(), "mode %s\n", h.Session().View().Mode())
				for _, r := range h.Rules() {
					fmt.Fprintln(h.Out(), "  "+plain.Line(r))
				}
				return nil
			case !slices.Contains([]string{"allow", "always", "deny", "revoke"}, verb):
				return errors.New("/permissions takes no argument, or allow RULE, always RULE, deny RULE or revoke RULE")
			case rule == "":
				return fmt.Errorf("a rule is missing: write one, such as /permissions %s bash(go test *)", verb)
			case verb == "revoke":
				return revoke(ctx, h, rule)
			}
			scope := map[string]event.Scope{"allow": event.Session, "always": event.Always, "deny": event.Never}[verb]
			if _, err := h.Session().Submit(ctx, session.Grant{Rule: rule, Scope: scope}); err != nil {
				return err
			}
			fmt.Fprintln(h.Out(), plain.Line(map[event.Scope]string{
				event.Session: "allowed for this session: " + rule + "; rules that ask or deny still apply",
				event.Always:  "allowed permanently in this folder: " + rule + "; rules that ask or deny still apply",
				event.Never:   "denied for this session: " + rule,
			}[scope]))
			return nil
		},
	}
}

// revoke removes a rule from this session, and from the permanent rules if it is stored
// there.
func revoke(ctx context.Context, h Host, rule string) error {
	_, here := h.Session().Submit(ctx, session.Revoke{Rule: rule})
	kept := h.Pawl(ctx, "permissions", "revoke", rule)
	if here != nil && kept != nil {
		return here
	}
	if here == nil {
		fmt.Fprintln(h.Out(), plain.Line("no longer a rule of this session: "+rule))
	}
	return nil
}
