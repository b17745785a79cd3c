package window

import (
	"cmp"

	"github.com/pawl-agent/pawl/internal/core/llm"
	"github.com/pawl-agent/pawl/internal/core/sorting"
)

// Share is a part of the window's content.
type Share struct {
	Name   string
	Count  int // how many of them there are
	Tokens int
}

// Report lists what fills the window, part by part (SPEC 9.7). Tokens are in
// the provider's count.
type Report struct {
	Window    int // the model's, 0: not known
	Limit     int // the largest request, 0: not known
	Tokens    int
	Percent   float64
	Tier      Tier
	Urgency   string
	Calls     int // how many more fit, at most CallsMost
	CallsMost int
	Parts     []Share // system, tools, prompts, …, in a fixed order
	Results   []Share // of results, by tool, largest first
	Biggest   []Share // the biggest single results
	Cap       int     // of the next result
	Factor    float64 // the calibration factor; 1: nothing reported yet
	Compacts  int     // compactions so far
	Failed    string  // why the last one has no summary by a model, "" if it has one or needs none
	Cleaned   int     // results that are marked to be dropped
}

// Report computes the report; its cost grows with the conversation.
func (c *Conversation) Report() Report {
	limit := c.Limit()
	r := Report{
		Window: c.info.Window, Limit: limit, Tokens: c.Tokens(), Percent: c.Percent(), Tier: c.Tier(),
		Urgency: Urgency(c.Percent()), Calls: c.CallsLeft(), CallsMost: c.conf.Defaults().CallsMost, Cap: c.ResultCap(), Factor: c.calib.value(), Compacts: c.compact.count, Failed: c.compact.failed, Cleaned: len(c.clean.waiting),
	}
	n := func(p llm.Part) int { return c.calib.of(countPart(c.count(), p)) }
	system := Share{Name: "system prompt", Count: 1, Tokens: c.calib.of(messageTokens + c.count().Count(c.head.System))}
	tools := Share{Name: "tools", Count: len(c.head.Tools)}
	for _, t := range c.head.Tools {
		tools.Tokens += c.calib.of(countTool(c.count(), t))
	}
	compacted, prompts, notes := Share{Name: "compacted"}, Share{Name: "prompts"}, Share{Name: "notes"}
	replies, thinking, calls := Share{Name: "replies"}, Share{Name: "thinking"}, Share{Name: "calls"}
	results := Share{Name: "results"}
	byTool := map[string]*Share{}
	add := func(s *Share, tokens int) {
		s.Count++
		s.Tokens += tokens
	}
	read := func(m llm.Message, k kind) {
		for _, p := range m.Parts {
			tokens := n(p)
			switch {
			case k == start:
				add(&compacted, tokens)
			case k == prompt:
				add(&prompts, tokens)
			case p.Kind == llm.Output && p.Result != nil:
				add(&results, tokens)
				s := byTool[p.Result.Name]
				if s == nil {
					s = &Share{Name: p.Result.Name}
					byTool[p.Result.Name] = s
				}
				add(s, tokens)
				r.Biggest = append(r.Biggest, Share{Name: p.Result.Name + " " + p.Result.ID, Count: 1, Tokens: tokens})
			case p.Kind == llm.CallPart:
				add(&calls, tokens)
			case p.Kind == llm.Reasoning || p.Kind == llm.Opaque:
				add(&thinking, tokens)
			case m.Role == llm.Assistant:
				add(&replies, tokens)
			default:
				add(&notes, tokens)
			}
		}
	}
	for m, a := range c.past.from(0) {
		read(m, a.kind)
	}
	read(c.tail, plain)
	r.Parts = []Share{system, tools, compacted, prompts, notes, replies, thinking, calls, results}
	for _, s := range byTool {
		r.Results = append(r.Results, *s)
	}
	larger := func(a, b Share) int { return cmp.Or(b.Tokens-a.Tokens, cmp.Compare(a.Name, b.Name)) }
	sorting.By(r.Results, larger)
	sorting.By(r.Biggest, larger)
	r.Biggest = r.Biggest[:min(5, len(r.Biggest))]
	return r
}
