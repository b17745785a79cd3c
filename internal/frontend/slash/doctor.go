package slash

import (
	"context"
	"errors"
)

func doctor() Command {
	return Command{Name: "doctor", Anytime: true, Args: "[offline]", Doc: "show what is found, what is missing and what to do; offline does not try the key", Run: func(ctx context.Context, h Host, args string) error {
		switch args {
		case "":
			return h.Pawl(ctx, "doctor")
		case "offline", "--offline":
			return h.Pawl(ctx, "doctor", "--offline")
		}
		return errors.New("/doctor takes nothing, or offline")
	}}
}
