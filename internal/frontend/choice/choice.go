// Package choice is a question with a few answers, each of which is one letter.
//
// It promises that a question ends: an empty answer chooses nothing, and so do several
// in a row that are none of the answers, since whoever gives them may be a program.
package choice

import (
	"slices"
	"strings"
)

// Option is an answer.
type Option struct {
	Key, Text string // a letter, and what it means
	// Typed: the person's own words are the answer.
	Typed bool
}

func YesNo() []Option { return []Option{{Key: "y", Text: "yes"}, {Key: "n", Text: "no"}} }

// Asker asks a person, and returns the key of an option, or their own words if one of the
// options is typed; "" if nothing was chosen.
type Asker func(question string, options ...Option) (string, error)

// Tries is how often a question is asked.
const Tries = 3

// Lines returns an Asker for a person who enters lines.
func Lines(ask func(prompt string) (string, error)) Asker {
	return func(question string, options ...Option) (string, error) {
		text := Prompt(question, options)
		for range Tries {
			in, err := ask(text)
			if err != nil {
				return "", err
			}
			if key, ok := Read(in, options); ok {
				return key, nil
			}
			text = "not understood: answer " + Keys(options) + "; " + Prompt(question, options)
		}
		return "", nil
	}
}

// Prompt returns a question with its answers in one line.
func Prompt(question string, options []Option) string {
	var words []string
	for _, o := range options {
		if rest, ok := strings.CutPrefix(o.Text, o.Key); ok {
			words = append(words, "["+o.Key+"]"+rest)
		} else {
			words = append(words, "["+o.Key+"] "+o.Text)
		}
	}
	return question + " " + strings.Join(words, ", ") + ": "
}

// Keys returns the letters that are answers.
func Keys(options []Option) string {
	var keys []string
	for _, o := range options {
		if !o.Typed {
			keys = append(keys, o.Key)
		}
	}
	last := len(keys) - 1
	out := strings.Join(keys[:last], ", ") + " or " + keys[last]
	if len(keys) < len(options) {
		out += ", or your own words"
	}
	return strings.TrimPrefix(out, " or ")
}

// Read reads a line: a key or the first word of an option's text, or own words if an option
// takes them. An empty line chooses nothing, which is an answer.
func Read(line string, options []Option) (answer string, ok bool) {
	line = strings.TrimSpace(line)
	word := strings.ToLower(line)
	for _, o := range options {
		first, _, _ := strings.Cut(strings.ToLower(o.Text), " ")
		if !o.Typed && (word == o.Key || word == strings.Trim(first, ",;")) {
			return o.Key, true
		}
	}
	return line, line == "" || slices.ContainsFunc(options, func(o Option) bool { return o.Typed })
}
