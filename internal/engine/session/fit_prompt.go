package session

import (
	"context"
	"fmt"
	"strings"

	"github.com/pawl-agent/pawl/internal/core/event"
	"github.com/pawl-agent/pawl/internal/engine/eventlog"
	"github.com/pawl-agent/pawl/internal/policy/window"
)

// fitPrompt shortens a prompt that would fill the window. The removed parts are stored in
// files, which the model can read in parts.
func (s *Session) fitPrompt(ctx context.Context, p Prompt) (Prompt, error) {
	if p.Source != event.Person {
		return p, nil
	}
	var err error
	p.Text, err = window.FitPrompt(p.Text, p.Pasted, eventlog.Query(s.log, s.conv.PromptCap), func(name, text string, tokens int) (string, error) {
		clean := s.cfg.Mask.String(text)
		p.masked = p.masked || clean != text
		file, err := s.spill(context.WithoutCancel(ctx), name, clean)
		if err != nil {
			return "", fmt.Errorf("a prompt of %.1f MB does not fit the model's window, and it cannot be kept in a file: %w", float64(len(text))/1e6, err)
		}
		where := fmt.Sprintf("the whole, %d lines and %.1f MB, is in %s: read it in parts", strings.Count(strings.TrimRight(clean, "\n"), "\n")+1, float64(len(clean))/1e6, file)
		short, _ := window.Cut(clean, min(tokens, s.window.resultCapOf(clean)), func() string { return where })
		return short, nil
	})
	return p, err
}
