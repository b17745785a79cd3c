package agentsdk

import (
	"crypto/sha256"
	"fmt"
	"iter"

	"github.com/pawl-agent/pawl/internal/core/event"
)

// This file finds a message by the identifier that a program got for it (resumeSessionAt).

// uuidOf makes an identifier of something. The same always gets the same one.
func uuidOf(a ...any) string {
	b := sha256.Sum256(fmt.Append(nil, a...))
	b[6], b[8] = b[6]&0x0f|0x80, b[8]&0x3f|0x80 // version 8: custom
	return fmt.Sprintf("%x-%x-%x-%x-%x", b[:4], b[4:6], b[6:8], b[8:10], b[10:16])
}

// messageID returns the identifier of a message of the conversation, which is a part of an
// event. It is the same in every process, and in every fork.
func messageID(e event.Event, part int) string {
	return uuidOf("message", e.Time.UnixNano(), e.Seq, part)
}

// isMessage reports whether an event has the message with an identifier.
func isMessage(e event.Event, uuid string) bool {
	if b, ok := e.Body.(event.Prompted); ok && b.ID == uuid {
		return true
	}
	for i := range messages(e) {
		if messageID(e, i) == uuid {
			return true
		}
	}
	return false
}

// Through returns the last event that belongs to a message: a conversation that goes on
// after it has this message, and no later one. drops, if set, is the only prompt that may be
// left out, with its turn.
func Through(events iter.Seq2[event.Event, error], uuid, drops string) (last int64, err error) {
	over, dropping := false, false
	for e, err := range events {
		if err != nil {
			return 0, err
		}
		switch b := e.Body.(type) {
		case event.Prompted:
			if over = over || last > 0; over && b.Source == event.Person {
				if dropping = true; drops != "" && b.ID != drops {
					return 0, fmt.Errorf("the prompt %.64q would be left out, too", b.Text)
				}
			}
		case event.Requested, event.CallStarted, event.CallDone, event.Asked:
			over = over || last > 0
		}
		switch {
		case last == 0 && isMessage(e, uuid), last > 0 && !over:
			last = e.Seq
		case over && !dropping && drops != "":
			return 0, fmt.Errorf("a part of the turn before the prompt %.64q would be left out, too", drops)
		}
	}
	if last == 0 {
		err = fmt.Errorf("no message of the session has the uuid %.64q", uuid)
	}
	return last, err
}
