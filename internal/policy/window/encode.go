package window

import "github.com/pawl-agent/pawl/internal/core/llm"

// Encode encodes a request that stands by itself: the summary's is no
// part of the conversation. A nil codec leaves it as it is.
func Encode(codec llm.Codec, r *llm.Request) error {
	if codec == nil {
		return nil
	}
	head, err := codec.Head(r.Head)
	if err != nil {
		return err
	}
	step, err := codec.Step(r.Messages, false)
	if err != nil {
		return err
	}
	r.Body = [][]byte{head, step, codec.Tail(r.Tail)}
	return nil
}
