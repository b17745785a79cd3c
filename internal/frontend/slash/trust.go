package slash

import (
	"context"
	"errors"
	"fmt"
)

func trustCommand() Command {
	return Command{
		Name: "trust", Anytime: true, Args: "[yes | revoke]", Doc: "show what pawl runs automatically in this folder; trust the folder, or revoke that",
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
				return errors.New("/trust takes no argument, or yes or revoke")
			}
			if err == nil {
				fmt.Fprintln(h.Out(), "it takes effect in the next session; /clear starts one")
			}
			return err
		},
	}
}
