package window

import (
	"unicode/utf8"

	"github.com/pawl-agent/pawl/internal/core/llm"
)

// Counter counts the tokens of a text. A tokenizer may replace the estimate; it
// is called once for each part, and never before the first request.
type Counter interface{ Count(text string) int }

// Estimate is the Counter that needs no vocabulary. It weighs each rune by its
// kind and by the runes before it, in hundredths of a token, in the way
// byte-pair vocabularies of the large models split text:
//
//   - a word costs 0.55 for its first letter and 0.15 for each further one: an
//     English word with its space is about 1.1; a change from small to capital
//     or from digit to letter begins a word (0.7), so that camelCase and
//     hexadecimal are about right, and base64 nearly;
//   - a digit costs 0.4 (two to three of them are a token);
//   - punctuation costs 0.6, the same character again 0.12 (lines such as ----);
//   - the end of a line costs 0.35, other white space 0.04: indentation is merged;
//   - beyond ASCII, a two-byte rune costs 0.5, a three-byte one 1 (CJK), a
//     four-byte one 2 (emoji), and a byte that is not UTF-8 costs 1.
//
// The error should be less than a fifth; calibration corrects the rest.
type Estimate struct{}

func (Estimate) Count(text string) int {
	_, n := head(text, -1)
	return n
}

// Tokens that are added to the texts of a part.
const (
	messageTokens = 4  // the role and its marks
	callTokens    = 12 // the frame of a call: id, name, type
	resultTokens  = 10 // the frame of a result
	toolTokens    = 12 // the frame of a tool's definition
)

// hundredths of a token
const unit = 100

// weight returns the cost of a rune after the two before it.
func weight(first, before, r rune, size int) int {
	switch {
	case size > 1 || r == utf8.RuneError:
		switch size {
		case 2:
			return 50
		case 4:
			return 200
		}
		return 100
	case r == '\n':
		return 35
	case r == ' ' || r == '\t' || r == '\r':
		return 4
	case lower(r):
		switch {
		case lower(before), upper(before) && !lower(first) && !digit(first):
			return 15
		case upper(before):
			return 40
		case digit(before):
			return 70
		}
		return 55
	case upper(r):
		switch {
		case upper(before):
			return 30
		case lower(before) || digit(before):
			return 70
		}
		return 55
	case digit(r):
		return 40
	case r == before:
		return 12
	}
	return 60
}

func lower(r rune) bool { return r >= 'a' && r <= 'z' }
func upper(r rune) bool { return r >= 'A' && r <= 'Z' }
func digit(r rune) bool { return r >= '0' && r <= '9' }

// head returns the size in bytes of the longest beginning of s, in whole runes,
// with at most limit tokens, and its tokens. limit -1 is none.
func head(s string, limit int) (bytes, tokens int) {
	sum, first, before := 0, rune(0), rune(0)
	for i := 0; i < len(s); {
		r, size := rune(s[i]), 1
		if r >= utf8.RuneSelf {
			r, size = utf8.DecodeRuneInString(s[i:])
		}
		w := weight(first, before, r, size)
		if limit >= 0 && sum+w > limit*unit {
			return i, (sum + unit - 1) / unit
		}
		sum, first, before = sum+w, before, r
		i += size
	}
	return len(s), (sum + unit - 1) / unit
}

// tail is head from the end: it returns where the last limit tokens begin.
func tail(s string, limit int) (start int) {
	last := func(end int) (rune, int) {
		switch {
		case end == 0:
			return 0, 0
		case s[end-1] < utf8.RuneSelf:
			return rune(s[end-1]), 1
		}
		return utf8.DecodeLastRuneInString(s[:end])
	}
	// The weight of a rune depends on the two before it.
	i, sum := len(s), 0
	r, size := last(i)
	before, n := last(i - size)
	for at := i - size - n; i > 0; {
		first, m := last(at)
		w := weight(first, before, r, size)
		if sum+w > limit*unit {
			return i
		}
		sum += w
		i -= size
		r, size, before, n = before, n, first, m
		at -= m
	}
	return 0
}

func countPart(c Counter, p llm.Part) int {
	switch p.Kind {
	case llm.Image:
		return p.Attached().Tokens()
	case llm.CallPart:
		if p.Call == nil {
			return 0
		}
		return callTokens + c.Count(p.Call.Name) + c.Count(string(p.Call.Args))
	case llm.Output:
		if p.Result == nil {
			return 0
		}
		return resultTokens + c.Count(p.Result.Text) + llm.TokensOf(p.Result.Images)
	case llm.Reasoning:
		switch {
		case p.Parsed:
			return 0 // never sent back
		case len(p.Raw) > 0:
			return c.Count(string(p.Raw))
		}
		return c.Count(p.Text)
	case llm.Opaque:
		return c.Count(string(p.Raw))
	}
	return c.Count(p.Text)
}

func countMessage(c Counter, m llm.Message) int {
	n := messageTokens
	for _, p := range m.Parts {
		n += countPart(c, p)
	}
	return n
}

func countTool(c Counter, t llm.ToolSpec) int {
	return toolTokens + c.Count(t.Name) + c.Count(t.Doc) + c.Count(string(t.Schema))
}

func countHead(c Counter, h llm.Head) int {
	n := messageTokens + c.Count(h.System)
	for _, t := range h.Tools {
		n += countTool(c, t)
	}
	return n
}

// calibration learns the factor between counted and reported tokens.
type calibration struct {
	factor float64 // 0: nothing reported yet
	sent   int     // the count of the request in flight
}

// Factors outside these limits do not measure the count: a provider that leaves
// out cached tokens, a gateway with its own count.
const (
	oddest  = 4.0
	smooth  = 0.3
	certain = 1.0
)

func (k *calibration) replied(u llm.Usage) {
	got := u.Input + u.CacheRead + u.CacheWrite
	sent := k.sent
	k.sent = 0
	if !u.Known || got <= 0 || sent <= 0 {
		return
	}
	ratio := float64(got) / float64(sent)
	switch {
	case ratio > oddest || ratio < 1/oddest:
	case k.factor == 0:
		k.factor = ratio
	default:
		k.factor += smooth * (ratio - k.factor)
	}
}

func (k *calibration) value() float64 {
	if k.factor == 0 {
		return certain
	}
	return k.factor
}

// of converts counted tokens to the provider's tokens.
func (k *calibration) of(counted int) int { return int(float64(counted)*k.value() + 0.5) }

// to converts the provider's tokens to counted tokens.
func (k *calibration) to(tokens int) int { return int(float64(tokens) / k.value()) }
