package session

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/pawl-agent/pawl/internal/core/event"
	"github.com/pawl-agent/pawl/internal/engine/eventlog"
	"github.com/pawl-agent/pawl/internal/policy/window"
)

// words is the text of a prompt without what was pasted into it.
func words(p Prompt) string {
	for _, text := range p.Pasted {
		p.Text = strings.Replace(p.Text, text, "", 1)
	}
	return p.Text
}

// fitted returns a prompt that leaves room in the window. One that takes more
// than its share is kept in files: of each part that was pasted or piped the
// beginning and the end stay, and where the whole is; of the rest likewise, if it
// is still too long. The model reads the files in parts.
func (s *Session) fitted(ctx context.Context, p Prompt) (Prompt, error) {
	most := eventlog.Query(s.log, s.conv.PromptCap)
	if p.Source != event.Person || window.Fits(p.Text, most) {
		return p, nil
	}
	left := max(most-window.Estimate{}.Count(words(p)), most/2)
	parts := slices.DeleteFunc(slices.Clone(p.Pasted), func(text string) bool { return text == "" || !strings.Contains(p.Text, text) })
	slices.SortStableFunc(parts, func(a, b string) int { return len(a) - len(b) }) // what a short one leaves is the others'
	for i, text := range parts {
		share := left / (len(parts) - i)
		short, err := s.fitsPart(ctx, &p, fmt.Sprintf("pasted-%d", i+1), text, share)
		if err != nil {
			return p, err
		}
		p.Text = strings.Replace(p.Text, text, short, 1)
		left -= window.Estimate{}.Count(short)
	}
	if window.Fits(p.Text, most+most/4) { // each part is a little longer than its share
		return p, nil
	}
	var err error
	p.Text, err = s.fitsPart(ctx, &p, "prompt", p.Text, most)
	return p, err
}

// fitsPart cuts a part of a prompt to a number of tokens. The whole is in a file.
func (s *Session) fitsPart(ctx context.Context, p *Prompt, name, text string, tokens int) (string, error) {
	if window.Fits(text, tokens) {
		return text, nil
	}
	clean := s.cfg.Mask.String(text)
	p.masked = p.masked || clean != text
	file, err := s.spill(context.WithoutCancel(ctx), name, clean)
	if err != nil {
		return "", fmt.Errorf("a prompt of %.1f MB does not fit the model's window, and it cannot be kept in a file: %w", float64(len(text))/1e6, err)
	}
	where := fmt.Sprintf("the whole, %d lines and %.1f MB, is in %s: read it in parts", strings.Count(strings.TrimRight(clean, "\n"), "\n")+1, float64(len(clean))/1e6, file)
	short, _ := window.Cut(clean, min(tokens, s.window.resultCapOf(clean)), func() string { return where })
	return short, nil
}
