package slash

import "context"

func keys() Command {
	return Command{Name: "keys", Anytime: true, Doc: "show the keys", Run: func(_ context.Context, h Host, args string) error {
		if err := noArguments(args); err != nil {
			return err
		}
		h.Do(ShowKeys, "")
		return nil
	}}
}
