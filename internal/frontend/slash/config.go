package slash

import (
	"context"
	"errors"
	"strings"
)

func configCommand() Command {
	return Command{
		Name: "config", Anytime: true, Args: "[KEY [VALUE] | path]", Doc: "show your configuration or one key, or set a key",
		Run: func(ctx context.Context, h Host, args string) error {
			verb, rest, _ := strings.Cut(args, " ")
			rest = strings.TrimSpace(rest)
			switch verb { // the verbs of `pawl config`
			case "get", "set":
				if rest == "" {
					return errors.New("a key is missing: write one, such as /config budget.usd 5")
				}
				args = rest
			case "", "list", "path":
				if rest != "" {
					return errors.New("/config takes nothing, KEY, KEY VALUE or path")
				}
				if verb == "path" {
					return h.Pawl(ctx, "config", "path")
				}
				return h.Pawl(ctx, "config", "list")
			}
			key, value, set := keyAndValue(args)
			if !set {
				if verb == "set" {
					return errors.New("a value is missing: /config " + key + " VALUE")
				}
				return h.Pawl(ctx, "config", "get", key)
			}
			return h.Pawl(ctx, "config", "set", key, value)
		},
	}
}

// keyAndValue splits at the first blank outside quotes: a part of a key may be quoted.
func keyAndValue(args string) (key, value string, set bool) {
	quoted := false
	for i, c := range args {
		switch {
		case c == '"':
			quoted = !quoted
		case c == ' ' && !quoted:
			return args[:i], strings.TrimSpace(args[i:]), true
		}
	}
	return args, "", false
}
