package chat

import (
	"context"
	"strings"

	"github.com/pawl-agent/pawl/internal/core/event"
)

func (h *host) Newest(ctx context.Context, what string, n int) (string, error) {
	f := newest{what: what, n: n}
	if err := h.Session().View().Fold(ctx, &f); err != nil || len(f.found) < n {
		return "", err
	}
	return f.found[0], nil
}

// newest keeps the last n texts of one kind that blocks hold.
type newest struct {
	timeline Timeline
	what     string
	n        int
	found    []string
	answer   int // how many of found are older than the newest answer
}

func (f *newest) Apply(e event.Event) {
	for _, c := range f.timeline.Apply(e) {
		if c.What == Finished && !c.Block.Ephemeral {
			if r, ok := c.Block.Body.(Reply); ok {
				if r.Before == "" {
					f.answer = len(f.found)
				}
				f.found = f.found[:f.answer] // what it continues is not a text of its own
			}
			f.found = append(f.found, blockTexts(c.Block.Body, f.what)...)
		}
	}
	old := max(0, len(f.found)-f.n)
	f.found, f.answer = f.found[old:], max(0, f.answer-old)
}

// blockTexts returns a block's texts of a kind.
func blockTexts(b Body, what string) []string {
	reply, command, output := "", "", ""
	switch b := b.(type) {
	case Reply:
		reply = b.Answer()
	case Aside:
		reply = b.Answer
	case Call:
		command, output = b.Command, b.Output
	case Command:
		command, output = b.Line, b.Output
	}
	switch {
	case what == "code":
		return codeBlocks(reply)
	case what == "reply" && strings.TrimSpace(reply) != "":
		return []string{strings.TrimSpace(reply) + "\n"}
	case what == "command" && command != "":
		return []string{command}
	case what == "output" && command != "":
		return []string{output}
	}
	return nil
}

// codeBlocks returns the code blocks of a text, without their fences.
func codeBlocks(text string) (out []string) {
	var b strings.Builder
	fence := ""
	for l := range strings.Lines(text) {
		t := strings.TrimLeft(l, " ")
		mark := t[:len(t)-len(strings.TrimLeft(t, "`"))]
		if tilde := t[:len(t)-len(strings.TrimLeft(t, "~"))]; len(tilde) > len(mark) {
			mark = tilde
		}
		switch {
		case fence == "" && len(mark) >= 3:
			fence = mark
			b.Reset()
		case fence != "" && strings.HasPrefix(mark, fence) && strings.TrimSpace(t[len(mark):]) == "":
			out, fence = append(out, b.String()), ""
		case fence != "":
			b.WriteString(l)
		}
	}
	if fence != "" && b.Len() > 0 { // a reply that ends within it
		out = append(out, b.String())
	}
	return out
}
