package cli

import (
	"context"
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"github.com/pawl-agent/pawl/internal/core/event"
	"github.com/pawl-agent/pawl/internal/core/plural"
	"github.com/pawl-agent/pawl/internal/frontend/chat"
	"github.com/pawl-agent/pawl/internal/frontend/plain"
)

func searchCommand(a *App) *cobra.Command {
	var all bool
	var limit int
	c := &cobra.Command{
		Use: "search WORDS", Short: "Search the sessions of this folder",
		Long: `Search the sessions of this folder for a prompt, reply, call, result or command that
contains all these words. It prints the newest sessions first, with the lines found,
at most --limit sessions. Exit code 1 if nothing is found.`,
		Args: func(c *cobra.Command, args []string) error {
			if strings.TrimSpace(strings.Join(args, "")) == "" {
				return usageError("usage: %s", c.UseLine())
			}
			return nil
		},
		RunE: func(c *cobra.Command, args []string) error { return searchSessions(c.Context(), a, args, all, limit) },
	}
	c.Flags().BoolVarP(&all, "all", "a", false, "use the sessions of all folders")
	c.Flags().IntVarP(&limit, "limit", "n", shownSessions, "find at most this many sessions; 0 finds all")
	return c
}

// shownHits is how many lines are shown per session.
const shownHits = 3

func searchSessions(ctx context.Context, a *App, args []string, all bool, limit int) error {
	st, _, err := a.store(ctx)
	if err != nil {
		return err
	}
	defer st.Close()
	rows, err := a.rows(ctx, st, all)
	if err != nil {
		return err
	}
	words := strings.Fields(strings.ToLower(strings.Join(args, " ")))
	found := 0
	for i, r := range rows {
		if limit > 0 && found == limit {
			fmt.Fprintf(a.Out, "not searched: %s; --limit 0 searches all\n", plural.Of(len(rows)-i, "older session"))
			return nil
		}
		var hits []string
		n := 0
		timeline := chat.Timeline{}
		broken := passEvents(ctx, st, r.ID, func(e event.Event) error {
			for _, ch := range timeline.Apply(e) {
				if ch.What != chat.Finished {
					continue
				}
				for who, text := range spoken(ch.Block.Body) {
					if line := hit(text, words); line != "" {
						if n++; n <= shownHits {
							hits = append(hits, who+line)
						}
					}
				}
			}
			return nil
		})
		if n > 0 {
			found++
			head := fmt.Sprintf("%s  %s  %s", r.ID, r.Updated.Local().Format("2006-01-02 15:04"), r.Title)
			if all {
				head += "  (" + r.Dir + ")"
			}
			fmt.Fprintln(a.Out, plain.Line(head))
			for _, h := range hits {
				fmt.Fprintln(a.Out, "    "+plain.Line(h))
			}
			if n > shownHits {
				fmt.Fprintf(a.Out, "    and %d more\n", n-shownHits)
			}
		}
		if broken != nil {
			a.warn(fmt.Sprintf("session %s: %v", r.ID, broken))
		}
	}
	if found == 0 {
		a.warn("no session of this folder contains all these words; --all searches all folders")
		return &exitError{code: 1}
	}
	return nil
}

// spoken returns the texts of a block that a person would search, by author.
func spoken(b chat.Body) map[string]string {
	switch b := b.(type) {
	case chat.Prompt:
		if b.Source == event.Person {
			return map[string]string{"> ": b.Text}
		}
	case chat.Reply:
		return map[string]string{"": b.Text}
	case chat.Call:
		return map[string]string{b.Tool + " ": b.Command + "\n" + b.Title + "\n" + b.Diff, b.Tool + " → ": b.Output}
	case chat.Command:
		return map[string]string{"> !": b.Line, "! → ": b.Output}
	}
	return nil
}

// hit returns the line of a text that contains the first of the words, or "" if the
// text does not contain all of them.
func hit(text string, words []string) string {
	low := strings.ToLower(text)
	for _, w := range words {
		if !strings.Contains(low, w) {
			return ""
		}
	}
	if len(low) != len(text) { // a letter is longer in lower case
		text = low
	}
	at := strings.Index(low, words[0])
	from := strings.LastIndexByte(text[:at], '\n') + 1
	line, _, _ := strings.Cut(text[from:], "\n")
	const before, most = 60, 160
	if at-from > before {
		line = "…" + line[at-from-before:]
	}
	if len(line) > most {
		line = line[:most] + "…"
	}
	return strings.TrimSpace(strings.ToValidUTF8(line, "")) // a letter may be cut
}
