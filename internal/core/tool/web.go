package tool

import "context"

// Web fetches pages under the rules of SPEC 16.10.
type Web interface {
	Fetch(ctx context.Context, url string) (Page, error)
}

// Searcher searches the web.
type Searcher interface {
	// Host is whom the query is sent to.
	Host() string
	Search(ctx context.Context, query string) (SearchResult, error)
}

// SearchResult is what a search found.
type SearchResult struct {
	Answer string // in words, if the searcher returns one
	Hits   []Hit
}

// Hit is a page that was found.
type Hit struct{ Title, URL, Text string }

// Page is a fetched page as text.
type Page struct {
	URL       string // after redirects
	Type      string
	Status    int
	Text      string
	Truncated bool
}
