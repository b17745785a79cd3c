package page

import (
	"slices"
	"strings"
	"time"

	"github.com/pawl-agent/pawl/internal/core/event"
	"github.com/pawl-agent/pawl/internal/core/plural"
	"github.com/pawl-agent/pawl/internal/core/took"
	"github.com/pawl-agent/pawl/internal/frontend/brief"
	"github.com/pawl-agent/pawl/internal/policy/budget"
)

// summary folds the contents of the page's head.
type summary struct {
	clean   cleaner
	session string
	dir     string
	mode    string
	models  []string
	prompts []entry
	more    int
	turns   int
	meter   budget.Meter
	first   time.Time
	last    time.Time
	end     event.End
}

// entry is a link to a prompt.
type entry struct {
	Number int
	Text   string
}

type fact struct{ Name, Value string }

type head struct {
	Title    string
	Facts    []fact
	Prompts  []entry
	More     int
	Began    moment
	Took     string
	HasBegun bool
}

// mostModels is how many models the head names.
const mostModels = 8

func (s *summary) event(e event.Event) error {
	s.meter.Apply(e)
	if s.first.IsZero() {
		s.first, s.session = e.Time, e.Session
	}
	s.last = e.Time
	switch b := e.Body.(type) {
	case event.Opened:
		s.dir, s.mode = b.Dir, b.Mode
	case event.Resumed:
		s.mode = b.Mode
	case event.ModeSet:
		s.mode = b.Mode
	case event.Rebased:
		if ref := s.clean.line(b.Info.Ref()); len(s.models) < mostModels && !slices.Contains(s.models, ref) {
			s.models = append(s.models, ref)
		}
	case event.Prompted:
		if b.Source == event.Autofix {
			break
		}
		s.turns++
		if len(s.prompts) < mostList {
			s.prompts = append(s.prompts, entry{s.turns, s.clean.title(b.Text)})
		} else {
			s.more++
		}
	case event.Ended:
		s.end = b.End
	}
	return nil
}

func (s *summary) head() head {
	spent := s.meter.Session()
	h := head{
		Title: "a session without a prompt", Prompts: s.prompts, More: s.more,
		Began: moment{s.first}, HasBegun: !s.first.IsZero(), Took: took.Text(s.last.Sub(s.first)),
	}
	if len(s.prompts) > 0 {
		h.Title = s.prompts[0].Text
	}
	for _, f := range []fact{
		{"Folder", s.clean.line(s.dir)},
		{"Model", strings.Join(s.models, ", ")},
		{"Mode", s.clean.line(s.mode)},
		{"Prompts", plural.Of(s.turns, "prompt")},
		{"Work", brief.Spending(spent)},
		{"Last turn", s.clean.line(string(s.end))},
		{"Session", s.clean.line(s.session)},
	} {
		if f.Value != "" {
			h.Facts = append(h.Facts, f)
		}
	}
	return h
}
