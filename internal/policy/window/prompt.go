package window

import (
	"fmt"
	"slices"
	"strings"
)

// Typed returns a prompt without what was pasted or piped into it.
func Typed(prompt string, pasted []string) string {
	for _, text := range pasted {
		prompt = strings.Replace(prompt, text, "", 1)
	}
	return prompt
}

// FitPrompt returns a prompt of about at most a number of tokens. If it takes
// more, short is asked for a shorter form of each part that was pasted or piped and
// is over its share, and of the whole if that is still too long; names are
// different for each.
func FitPrompt(prompt string, pasted []string, most int, short func(name, text string, tokens int) (string, error)) (string, error) {
	if Fits(prompt, most) {
		return prompt, nil
	}
	left := max(most-Estimate{}.Count(Typed(prompt, pasted)), most/2)
	parts := slices.DeleteFunc(slices.Clone(pasted), func(text string) bool { return text == "" || !strings.Contains(prompt, text) })
	slices.SortStableFunc(parts, func(a, b string) int { return len(a) - len(b) }) // what a short one leaves is the others'
	for i, text := range parts {
		is, share := text, left/(len(parts)-i)
		if !Fits(text, share) {
			var err error
			if is, err = short(fmt.Sprintf("pasted-%d", i+1), text, share); err != nil {
				return prompt, err
			}
			prompt = strings.Replace(prompt, text, is, 1)
		}
		left -= Estimate{}.Count(is)
	}
	if Fits(prompt, most+most/4) { // each part is a little longer than its share
		return prompt, nil
	}
	return short("prompt", prompt, most)
}
