package window

import "github.com/pawl-agent/pawl/internal/core/llm"

// Encode encodes a single request that is not part of the conversation, such as
// the one for a summary. A nil codec leaves it unchanged.
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
