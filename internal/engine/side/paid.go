package side

import (
	"context"
	"errors"

	"github.com/pawl-agent/pawl/internal/core/event"
	"github.com/pawl-agent/pawl/internal/core/llm"
	"github.com/pawl-agent/pawl/internal/core/tool"
	"github.com/pawl-agent/pawl/internal/policy/budget"
)

// Paid returns a search by a service that takes a price in USD for each. The
// price is reserved and recorded before the service is asked. It is charged whatever the
// service answers, as a guess where that is an error: it may have counted the search.
func (s *Requests) Paid(by tool.Searcher, usd float64) tool.Searcher {
	return paid{by, s, usd}
}

type paid struct {
	tool.Searcher
	by  *Requests
	usd float64
}

func (p paid) Search(ctx context.Context, query string) (tool.SearchResult, error) {
	g, settle, err := p.by.Spending.ReserveWithParent(ctx, budget.Ask{Price: &llm.Price{}, MaxOutput: 1, Fixed: p.usd, Child: true})
	if err != nil {
		return tool.SearchResult{}, errors.Join(context.Cause(ctx), err)
	}
	done := context.WithoutCancel(ctx)
	id, err := p.by.open(ctx, event.SideRequest{By: bySearch, Model: p.Host(), Reserved: g.USD})
	if err != nil {
		return tool.SearchResult{}, errors.Join(err, settle(done))
	}
	found, err := p.Searcher.Search(ctx, query)
	usd := p.usd
	charged := event.Charged{By: bySearch, Request: id, Model: p.Host(), Usage: llm.Usage{Known: true, Searches: 1}, USD: &usd, Guess: err != nil}
	if rerr := errors.Join(p.by.Log.Append(done, event.Draft{Body: charged}), settle(done, charged)); rerr != nil {
		return tool.SearchResult{}, rerr
	}
	return found, err
}
