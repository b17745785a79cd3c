package window

// Size is what the next request has, in short.
type Size struct{ Messages, Tools, Tokens int }

// Size returns the size of the next request. Its cost is constant.
func (c *Conversation) Size() Size {
	return Size{Messages: c.size(), Tools: len(c.head.Tools), Tokens: c.Tokens()}
}
