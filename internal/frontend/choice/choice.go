// Package choice asks a person to choose one of a few answers.
//
// It promises that a question ends: an empty answer chooses nothing, and so do several
// in a row that are none of the answers, since whoever gives them may be a program.
package choice

import (
	"slices"
	"strings"
)

// tries is how often a question is asked.
const tries = 3

// Of asks until the answer is one of the words, and returns the first letter of that
// word; "" if nothing was chosen. known names the words, for a repeated question.
func Of(ask func(question string) (string, error), question, known string, words ...string) (string, error) {
	text := question
	for range tries {
		in, err := ask(text)
		if err != nil {
			return "", err
		}
		in = strings.ToLower(strings.TrimSpace(in))
		if in == "" {
			return "", nil
		}
		if slices.Contains(words, in) {
			return in[:1], nil
		}
		text = "not understood, it is " + known + "; " + question
	}
	return "", nil
}
