// Package memory is what a session knows of its task: the first two of three
// tiers (SPEC 11.4). Both are folds over the log and contain nothing else;
// adapter/memory keeps what outlives a session.
package memory

import (
	"slices"
	"strings"

	"github.com/pawl-agent/pawl/internal/core/cut"
	"github.com/pawl-agent/pawl/internal/core/event"
	"github.com/pawl-agent/pawl/internal/core/tool"
	"github.com/pawl-agent/pawl/internal/policy/progress"
)

// Limits of the tiers.
const (
	maxFeedback = 20
	maxFiles    = 500
	maxTalk     = 10
	maxText     = 300 // bytes of a text
)

// Working is the state of the running or last turn. A person's prompt resets
// it, and so does the successful end of a turn.
type Working struct {
	Node      string   // the route, "" where none was taken
	Step      int      // model replies so far
	File      string   // the newest file that was read or changed
	Retries   int      // of requests and of fixes
	LastError string   // "" where none
	Feedback  []string // failures reported by tools and checks, the newest 20
}

// Read is a file that was read.
type Read struct {
	Path string
	Hash tool.Hash // of the content when it was last read
}

// Exchange is a prompt and its answer, shortened.
type Exchange struct{ Prompt, Answer string }

// Session is what the session has seen: the newest 500 files, and the newest
// 10 prompts with their answers.
type Session struct {
	Files     []Read
	Exchanges []Exchange
}

// Fold maintains both. The zero value is ready.
type Fold struct {
	answer  event.Answer
	working Working
	session Session
	seen    map[string]int // the index of a file in session.Files
}

// Working returns the first tier.
func (f *Fold) Working() Working {
	w := f.working
	w.Feedback = slices.Clone(w.Feedback)
	return w
}

func (f *Fold) Session() Session {
	return Session{Files: slices.Clone(f.session.Files), Exchanges: slices.Clone(f.session.Exchanges)}
}

func (f *Fold) Apply(e event.Event) {
	f.answer.Apply(e.Body)
	switch b := e.Body.(type) {
	case event.Prompted:
		f.prompted(b)
	case event.Routed:
		f.working.Node = b.Route
	case event.Retried:
		f.working.Retries++
		f.failed("request: " + b.Error.Message)
	case event.Replied:
		f.working.Step++
		f.said(f.answer.Text())
	case event.Recalled:
		f.said(b.Text)
	case event.FileSeen:
		for _, s := range b.Spans {
			if !s.Dir {
				f.read(Read{s.Path, s.Hash})
			}
		}
	case event.FileChanged:
		f.working.File = b.Path
	case event.CallDone:
		if b.Outcome != event.OK && b.Outcome != event.Cancelled {
			f.failed(b.Tool + ": " + b.Result.Text)
		}
	case event.Checked:
		if b.Exit == nil || *b.Exit != 0 {
			f.failed("check " + b.Command + ": " + b.Why + b.Output)
		}
	case event.Stuck:
		f.failed("stuck (" + b.Rule + "): " + progress.Loop(b))
	case event.Ended:
		switch {
		case b.End == event.EndDone:
			f.working = Working{}
		case b.Error != nil:
			f.failed(b.Error.Message)
		}
	}
}

func (f *Fold) prompted(b event.Prompted) {
	if b.Source != event.Person {
		f.working.Retries++
		return
	}
	f.working = Working{}
	if len(f.session.Exchanges) == maxTalk {
		f.session.Exchanges = slices.Delete(f.session.Exchanges, 0, 1)
	}
	f.session.Exchanges = append(f.session.Exchanges, Exchange{Prompt: clip(b.Text)})
}

func (f *Fold) said(text string) {
	if n := len(f.session.Exchanges); n > 0 && strings.TrimSpace(text) != "" {
		f.session.Exchanges[n-1].Answer = clip(text)
	}
}

func (f *Fold) failed(text string) {
	text = clip(text)
	f.working.LastError = text
	if len(f.working.Feedback) == maxFeedback {
		f.working.Feedback = slices.Delete(f.working.Feedback, 0, 1)
	}
	f.working.Feedback = append(f.working.Feedback, text)
}

func (f *Fold) read(r Read) {
	f.working.File = r.Path
	if i, ok := f.seen[r.Path]; ok {
		f.session.Files[i].Hash = r.Hash
		return
	}
	if len(f.session.Files) == maxFiles {
		// Drop half at once, so that the indexes rarely change.
		f.session.Files = slices.Delete(f.session.Files, 0, maxFiles/2)
		clear(f.seen)
		for i, r := range f.session.Files {
			f.seen[r.Path] = i
		}
	}
	if f.seen == nil {
		f.seen = map[string]int{}
	}
	f.seen[r.Path] = len(f.session.Files)
	f.session.Files = append(f.session.Files, r)
}

// clip returns a text as a short line.
func clip(s string) string {
	s = strings.ToValidUTF8(s[:min(len(s), 4*maxText)], "")
	return cut.Bytes(strings.Join(strings.Fields(s), " "), maxText)
}
