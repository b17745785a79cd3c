package session

import (
	"context"
	"fmt"

	"github.com/pawl-agent/pawl/internal/core/event"
	"github.com/pawl-agent/pawl/internal/engine/eventlog"
)

// imageWarning records whether the person was warned that the model in use does
// not accept images.
type imageWarning struct {
	ref  string // the model in use
	told bool   // the person was warned about it
}

func (b *imageWarning) Apply(e event.Event) {
	switch body := e.Body.(type) {
	case event.Rebased:
		if ref := body.Info.Ref(); ref != b.ref {
			b.ref, b.told = ref, false
		}
	case event.Warned:
		b.told = b.told || body.What == event.WarnedImages
	}
}

// warnImagesUnseen warns the person, once for each model, that the model does not see the
// images of the conversation.
func (s *Session) warnImagesUnseen(ctx context.Context) error {
	say := eventlog.Query(s.log, func() bool { return s.conv.HasUnseenImages() && !s.images.told })
	if !say {
		return nil
	}
	ref := s.info().Ref()
	return s.log.Append(ctx, event.Draft{Body: event.Warned{What: event.WarnedImages, Text: fmt.Sprintf(
		`pawl does not know whether %s accepts images: it gets a text about them. If it does: pawl config set 'models."%s".images' true`, ref, ref)}})
}
