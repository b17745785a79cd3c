package slash

import (
	"context"
	"errors"
)

func doctor() Command {
	return Command{Name: "doctor", Anytime: true, Args: "[offline]", Doc: "check the installation; offline: do not contact a provider to test the key", Run: func(ctx context.Context, h Host, args string) error {
		switch args {
		case "":
			return h.Pawl(ctx, "doctor")
		case "offline", "--offline":
			return h.Pawl(ctx, "doctor", "--offline")
		}
		return errors.New("/doctor takes no argument, or offline")
	}}
}
