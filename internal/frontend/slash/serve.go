package slash

import "context"

func serveCommand() Command {
	return Command{
		Name: "serve", Anytime: true, Args: "[watch | answer | steer | stop] [FLAGS of pawl serve]", Doc: "show your sessions in a browser or on a phone, this one too, while pawl runs",
		Run: func(ctx context.Context, h Host, args string) error { return h.Serve(ctx, args) },
	}
}
