package session

import "github.com/pawl-agent/pawl/internal/core/tool"

// searcher returns who searches the web: the one that is configured, else the
// model's provider; nil if it does not.
func (s *abilities) searcher() tool.Searcher {
	switch {
	case s.cfg.Search != nil && s.cfg.SearchUSD > 0:
		return s.side.Paid(s.cfg.Search, s.cfg.SearchUSD)
	case s.cfg.Search != nil:
		return s.cfg.Search
	case s.info().Search:
		return s.side.Search()
	}
	return nil
}
