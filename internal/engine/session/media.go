package session

import (
	"context"
	"fmt"
	"slices"

	"github.com/pawl-agent/pawl/internal/core/event"
	"github.com/pawl-agent/pawl/internal/core/fault"
	"github.com/pawl-agent/pawl/internal/core/llm"
)

// mediaWarnings records about which kinds of media the person was warned that the model
// in use does not accept them.
type mediaWarnings struct {
	ref  string // the model in use
	told []event.WarnedWhat
}

func (b *mediaWarnings) Apply(e event.Event) {
	switch body := e.Body.(type) {
	case event.Rebased:
		if ref := body.Info.Ref(); ref != b.ref {
			b.ref, b.told = ref, nil
		}
	case event.Warned:
		if llm.MediaKind(body.What).Name() != "" {
			b.told = append(b.told, body.What)
		}
	}
}

// warnUnseen warns the person, once for each model and kind, that the model does not see
// media of the conversation.
func (s *Session) warnUnseen(ctx context.Context) error {
	info := s.info()
	var out []event.Draft
	s.log.View(func() {
		for _, k := range s.conv.Unseen() {
			if what := event.WarnedWhat(k); !slices.Contains(s.media.told, what) {
				out = append(out, event.Draft{Body: event.Warned{What: what, Text: fmt.Sprintf(
					"pawl does not know whether %s accepts %ss: it gets a text about them. If it does: %s", info.Ref(), k.Name(), allow(info, k))}})
			}
		}
	})
	if len(out) == 0 {
		return nil
	}
	return s.log.Append(ctx, out...)
}

func allow(info llm.Info, k llm.MediaKind) string {
	return fmt.Sprintf(`pawl config set 'models."%s".%s' true`, info.Ref(), k)
}

// Refuse returns why a prompt with these media is not taken: they fill the whole window, or
// the model would only get words in place of the document that the prompt is about. Of
// images it always got words.
func Refuse(info llm.Info, ms []llm.Media) error {
	for _, m := range ms {
		if k := m.Kind(); k != llm.Images && !info.Takes(k) {
			return fault.NewConfiguration("choose a model that does, or send its text; if this one does: "+allow(info, k), "%s takes no %ss, as far as pawl knows", info.Ref(), k.Name())
		}
	}
	if n := llm.TokensOf(ms); info.Window > 0 && n > info.Window {
		return fault.NewConfiguration("send a part of it", "the prompt has %s, about %d tokens: the window of %s has %d", llm.CountMedia(ms), n, info.Ref(), info.Window)
	}
	return nil
}
