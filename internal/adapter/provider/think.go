package provider

import (
	"encoding/json"
	"strings"

	"github.com/pawl-agent/pawl/internal/core/llm"
)

// ThinkSplitter extracts thinking that a model wrote into its text:
// `<think>…</think>` or `<thinking>…</thinking>` at the very start of a reply,
// also if the tag is split over chunks or never closed (SPEC 5.3). A tag
// anywhere else is text. The zero value is ready.
//
// A decoder must pass every piece of text to it, in order. It must call Native as soon as
// the reply has native reasoning, which switches the splitter off; call Close at the end,
// or before anything that is not text (a call); and put Part, if there is one, before the
// text parts of the reply. The thinking that Push and Close returned, joined, is Part's
// Text; the text that they returned is the text of the reply.
type ThinkSplitter struct {
	state    thinkState
	held     string // text that is not classified yet
	closing  string // the tag that ends the thinking
	raw      strings.Builder
	thinking strings.Builder
}

type thinkState int

const (
	thinkStart  thinkState = iota // nothing but blanks and perhaps half a tag so far
	thinkInside                   // after the tag, before the closing one
	thinkAfter                    // after the closing tag: blanks are dropped until text comes
	thinkText                     // only text from here on
)

// Push adds the next piece of text. It returns what is now known to be thinking and what
// is known to be text; the thinking comes first. Either may be empty: a possible tag is
// buffered in held until it is complete or excluded.
func (s *ThinkSplitter) Push(piece string) (thinking, text string) {
	if s.state == thinkText {
		return "", piece
	}
	s.held += piece
	if s.state == thinkStart && !s.open(false) {
		return "", s.drop()
	}
	if s.state == thinkInside {
		thinking = s.inside(false)
		s.thinking.WriteString(thinking)
	}
	if s.state == thinkAfter {
		text = s.after()
	}
	return thinking, text
}

// Close ends the text and returns the buffered part.
func (s *ThinkSplitter) Close() (thinking, text string) {
	switch s.state {
	case thinkStart:
		s.open(true)
		text = s.held
	case thinkInside:
		thinking = s.inside(true)
		s.thinking.WriteString(thinking)
	}
	s.held, s.state = "", thinkText
	return thinking, text
}

// Native records that the reply has native reasoning: from now on text stays text. It
// returns the buffered text, which comes before anything pushed later.
func (s *ThinkSplitter) Native() (text string) {
	if s.state != thinkStart {
		return ""
	}
	return s.drop()
}

// Part returns the thinking found so far as a part of a message: Parsed, with
// the extracted text including tags as a JSON string in Raw, so that nothing of
// the model's text is lost. It is false if there was no tag.
func (s *ThinkSplitter) Part() (llm.Part, bool) {
	if s.closing == "" {
		return llm.Part{}, false
	}
	raw, err := json.Marshal(s.raw.String())
	if err != nil {
		raw = nil // impossible: strings always encode
	}
	return llm.Part{Kind: llm.Reasoning, Text: s.thinking.String(), Parsed: true, Raw: raw}, true
}

const blanks = " \t\r\n"

// open moves on if held starts with a tag. It returns false if it is certain that there
// is none.
func (s *ThinkSplitter) open(last bool) (undecided bool) {
	rest := strings.TrimLeft(s.held, blanks)
	for _, tag := range []string{"<think>", "<thinking>"} {
		if after, ok := strings.CutPrefix(rest, tag); ok {
			s.state, s.closing = thinkInside, "</"+tag[1:]
			s.raw.WriteString(s.held[:len(s.held)-len(after)])
			s.held = after
			return true
		}
		if !last && len(rest) < len(tag) && strings.HasPrefix(tag, rest) {
			return true
		}
	}
	return false
}

func (s *ThinkSplitter) drop() string {
	held := s.held
	s.held, s.state = "", thinkText
	return held
}

// inside returns the thinking in held. It leaves in held a possible part of the closing
// tag, and blanks around the thinking, which are neither thinking nor text.
func (s *ThinkSplitter) inside(last bool) string {
	if i := strings.Index(s.held, s.closing); i >= 0 {
		think := s.held[:i]
		s.raw.WriteString(s.held[:i+len(s.closing)])
		s.held, s.state = s.held[i+len(s.closing):], thinkAfter
		return s.trim(strings.TrimRight(think, blanks))
	}
	keep := len(s.held)
	if !last {
		keep -= tailOf(s.held, s.closing)
	}
	keep = len(strings.TrimRight(s.held[:keep], blanks))
	think := s.held[:keep]
	s.raw.WriteString(think)
	s.held = s.held[keep:]
	if last {
		s.raw.WriteString(s.held)
		s.held = ""
	}
	return s.trim(think)
}

// trim drops the blanks between the tag and the thinking.
func (s *ThinkSplitter) trim(think string) string {
	if s.thinking.Len() == 0 {
		return strings.TrimLeft(think, blanks)
	}
	return think
}

func (s *ThinkSplitter) after() string {
	rest := strings.TrimLeft(s.held, blanks)
	s.raw.WriteString(s.held[:len(s.held)-len(rest)])
	s.held = ""
	if rest != "" {
		s.state = thinkText
	}
	return rest
}

// tailOf returns the length of the longest end of s that is a start of tag.
func tailOf(s, tag string) int {
	for n := min(len(tag)-1, len(s)); n > 0; n-- {
		if strings.HasSuffix(s, tag[:n]) {
			return n
		}
	}
	return 0
}
