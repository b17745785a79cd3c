package window

import "github.com/pawl-agent/pawl/internal/core/llm"

// Encode encodes a single request that is not part of the conversation, such as
// the one for a summary. With mark it has the cache marker at its end. A nil codec
// leaves it unchanged.
func Encode(codec llm.Codec, r *llm.Request, mark bool) error {
	if codec == nil {
		return nil
	}
	head, err := codec.Head(r.Head)
	if err != nil {
		return err
	}
	step, err := codec.Step(r.Messages, mark)
	if err != nil {
		return err
	}
	r.Body = [][]byte{head, step, codec.Tail(r.Tail)}
	return nil
}
