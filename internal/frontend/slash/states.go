package slash

import "context"

func statesCommand() Command {
	return Command{Name: "states", Anytime: true, Doc: "show what pawl does now, the way of this turn and its phases", Run: func(_ context.Context, h Host, args string) error {
		if err := noArguments(args); err != nil {
			return err
		}
		h.Do(ShowStates, "")
		return nil
	}}
}
