package shellsyntax

import "slices"

// few knows some programs in their plainest use. What they do with their options is
// tested where they are known: in policy/command.
type few struct{}

func (few) Wraps(words []Word) (at int, sets []string) {
	if len(words) < 2 || !words[1].Known || !slices.Contains([]string{"timeout", "nohup", "builtin", "command", "env", "exec", "sudo"}, words[0].Text) {
		return 0, nil
	}
	return 1, nil
}
