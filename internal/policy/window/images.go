package window

import (
	"fmt"
	"slices"

	"github.com/pawl-agent/pawl/internal/core/event"
	"github.com/pawl-agent/pawl/internal/core/llm"
)

// This file is what a model is shown of images that it does not take: the fact is
// llm.Info's, recorded with each rebase, so that requests stay prefixes of the next ones.

// HasUnseenImages reports whether the conversation has images that its model does not take.
func (c *Conversation) HasUnseenImages() bool {
	return c.hasImages && !c.info.Images && !c.info.Planner()
}

// noteImages notes that the conversation has images.
func (c *Conversation) noteImages(b event.Body) {
	switch b := b.(type) {
	case event.Prompted:
		c.hasImages = c.hasImages || len(b.Images) > 0
	case event.CallDone:
		c.hasImages = c.hasImages || len(b.Result.Images) > 0
	case event.Compacted:
		for _, m := range b.Start {
			c.hasImages = c.hasImages || hasImages(m)
		}
	}
}

// shown returns a message as the model is sent it: where it takes no images, a text is in
// place of each. The message itself stays, for another model.
func (c *Conversation) shown(m llm.Message) llm.Message {
	if c.HasUnseenImages() {
		return withoutImages(m)
	}
	return m
}

func hasImages(m llm.Message) bool {
	return slices.ContainsFunc(m.Parts, func(p llm.Part) bool {
		return p.Kind == llm.Image || p.Result != nil && len(p.Result.Images) > 0
	})
}

// withoutImages returns a message with a text in place of each image.
func withoutImages(m llm.Message) llm.Message {
	if !hasImages(m) {
		return m
	}
	m.Parts = slices.Clone(m.Parts)
	for i, p := range m.Parts {
		switch {
		case p.Kind == llm.Image:
			m.Parts[i] = llm.TextPart(leftOut(p.Media, len(p.Data)))
		case p.Result != nil && len(p.Result.Images) > 0:
			r := *p.Result
			for _, image := range r.Images {
				r.Text += "\n" + leftOut(image.Type, len(image.Data))
			}
			r.Images = nil
			m.Parts[i].Result = &r
		}
	}
	return m
}

func leftOut(media string, size int) string {
	return fmt.Sprintf("[an image (%s, %d bytes) is left out here: you take no images]", media, size)
}
