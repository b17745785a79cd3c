package window

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/pawl-agent/pawl/internal/core/event"
	"github.com/pawl-agent/pawl/internal/core/llm"
)

// This file is what a model is shown of media that it does not take: the fact is
// llm.Info's, recorded with each rebase, so that requests stay prefixes of the next ones.

// Unseen returns the kinds of media in the conversation that its model does not take.
func (c *Conversation) Unseen() []llm.MediaKind {
	return slices.DeleteFunc(slices.Clone(c.media), func(k llm.MediaKind) bool { return taken(c.info, k) })
}

func taken(info llm.Info, k llm.MediaKind) bool { return info.Takes(k) || info.Planner() }

func (c *Conversation) noteMedia(b event.Body) {
	note := func(ms []llm.Media) {
		for _, m := range ms {
			if k := m.Kind(); !slices.Contains(c.media, k) {
				c.media = append(slices.Clip(c.media), k)
			}
		}
	}
	switch b := b.(type) {
	case event.Prompted:
		note(b.Images)
	case event.CallDone:
		note(b.Result.Images)
	case event.Compacted:
		for _, m := range b.Start {
			for _, p := range m.Parts {
				note(mediaOf(p))
			}
		}
	}
}

func mediaOf(p llm.Part) []llm.Media {
	switch {
	case p.Kind == llm.Image:
		return []llm.Media{p.Attached()}
	case p.Result != nil:
		return p.Result.Images
	}
	return nil
}

// shown returns a message as the model is sent it.
func (c *Conversation) shown(m llm.Message) llm.Message { return withoutUnseen(m, c.info) }

// withoutUnseen returns a message with a text in place of media that the model does not
// take. The message itself stays, for another model.
func withoutUnseen(m llm.Message, info llm.Info) llm.Message {
	unseen := func(x llm.Media) bool { return !taken(info, x.Kind()) }
	if !slices.ContainsFunc(m.Parts, func(p llm.Part) bool { return slices.ContainsFunc(mediaOf(p), unseen) }) {
		return m
	}
	m.Parts = slices.Clone(m.Parts)
	for i, p := range m.Parts {
		switch {
		case p.Kind == llm.Image && unseen(p.Attached()):
			m.Parts[i] = llm.TextPart(leftOut(p.Attached()))
		case p.Result != nil:
			r := *p.Result
			r.Images = nil
			for _, x := range p.Result.Images {
				if unseen(x) {
					r.Text += "\n" + leftOut(x)
				} else {
					r.Images = append(r.Images, x)
				}
			}
			m.Parts[i].Result = &r
		}
	}
	return m
}

func leftOut(m llm.Media) string {
	name := cmp.Or(m.Kind(), llm.Images).Name()
	article := map[bool]string{true: "a", false: "an"}[m.Kind() == llm.PDF]
	return fmt.Sprintf("[%s %s (%s, %d bytes) is left out here: you take no %ss]", article, name, m.Type, len(m.Data), name)
}
