//go:build linux

package main

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"time"
)

const (
	pieceSize  = 5
	pieceEvery = 5 * time.Millisecond
)

// serve answers as OpenAI's API does: a prompt of "quick" at once, one of "note"
// with a few words, every other one as fast as a model writes.
func serve() *httptest.Server {
	whole := markdown()
	return httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if !strings.HasSuffix(r.URL.Path, "/chat/completions") { // the one API that it has
			http.NotFound(w, r)
			return
		}
		body, _ := io.ReadAll(r.Body) // one that broke off has no prompt
		var req struct {
			Messages []struct{ Content json.RawMessage }
		}
		_ = json.Unmarshal(body, &req) // as above
		every, text, last := pieceEvery, whole, ""
		if n := len(req.Messages); n > 0 {
			last = string(req.Messages[n-1].Content)
		}
		switch {
		case strings.Contains(last, "quick"):
			every = 0
		case strings.Contains(last, "note"):
			every, text = 0, "It is **noted**, with `some` words.\n"
		}
		w.Header().Set("Content-Type", "text/event-stream")
		began := time.Now()
		for i := 0; i < len(text); i += pieceSize {
			piece, _ := json.Marshal(text[i:min(i+pieceSize, len(text))])
			fmt.Fprintf(w, `data: {"id":"1","choices":[{"index":0,"delta":{"content":%s}}]}`+"\n\n", piece)
			if every > 0 {
				w.(http.Flusher).Flush()
				time.Sleep(time.Until(began.Add(time.Duration(i/pieceSize+1) * every)))
			}
		}
		fmt.Fprint(w, `data: {"id":"1","choices":[{"index":0,"delta":{},"finish_reason":"stop"}]}`+"\n\n"+
			`data: {"id":"1","choices":[],"usage":{"prompt_tokens":1000,"completion_tokens":1300}}`+"\n\ndata: [DONE]\n\n")
	}))
}

// markdown is a reply of 1,000 words.
func markdown() string {
	var b strings.Builder
	words := 0
	for part := 1; words < 1000; part++ {
		fmt.Fprintf(&b, "## Part %d\n\n", part)
		for range 4 {
			b.WriteString("This is a **sentence** of some words that says `nothing` at all but takes its room. ")
			words += 15
		}
		b.WriteString("\n\n- an item of a list\n- another one with *some* more words\n\n```go\nfunc f(n int) int {\n\treturn n + 1 // more\n}\n```\n\n")
		words += 2 + 5 + 7 + 12
	}
	return b.String()
}
