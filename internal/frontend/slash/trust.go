package slash

import (
	"context"
	"errors"
	"fmt"
)

func trustCommand() Command {
	return Command{
		Name: "trust", Anytime: true, Args: "[yes | revoke]", Doc: "show what this folder may have pawl run by itself; allow it, or take that back",
		Run: func(ctx context.Context, h Host, args string) error {
			var err error
			switch args {
			case "", "status":
				return h.Pawl(ctx, "trust", "status")
			case "yes":
				err = h.Pawl(ctx, "trust", "--yes")
			case "revoke", "no":
				err = h.Pawl(ctx, "trust", "revoke")
			default:
				return errors.New("/trust takes nothing, yes or revoke")
			}
			if err == nil {
				fmt.Fprintln(h.Out(), "it holds from the next session on: /clear begins one")
			}
			return err
		},
	}
}
