package llm

import (
	"encoding/json"
	"fmt"
	"strings"
	"unicode/utf8"
)

// maxArgsDepth limits the nesting of arguments that are repaired, and
// maxArgsEncodings how often arguments may have been encoded as a string.
const (
	maxArgsDepth     = 1000
	maxArgsEncodings = 4
)

// ArgsError reports where arguments stop being readable, even with every repair by
// pawl. Offset counts bytes of the text that was sent, or of the decoded string if
// the arguments were a string.
type ArgsError struct {
	Offset int
	Reason string
}

// Error names the reason and the position.
func (e *ArgsError) Error() string {
	return fmt.Sprintf("arguments are not a JSON object: %s at byte %d", e.Reason, e.Offset)
}

// NewCall makes a call from the arguments that a model sent. Args is always an
// object: the arguments as sent; their repair, with the original in Sent; or {} with
// the reason in Bad if they could not be repaired.
func NewCall(id, name, sent string) Call {
	c := Call{ID: id, Name: name}
	args, err := repairArgs(sent)
	if err != nil {
		c.Args, c.Sent, c.Bad = json.RawMessage("{}"), sent, err.Error()
		return c
	}
	c.Args = args
	if string(args) != sent {
		c.Sent = sent
	}
	return c
}

// repairArgs reads the arguments of a tool call in the forms in which models send
// them (SPEC 4.4). A valid JSON object is returned byte for byte. An empty text is
// an empty object. These are repaired: an object encoded as a JSON string (also more
// than once), single quotes, bare keys, trailing commas, raw control characters in
// strings, Python's literals, escapes that JSON does not have, bytes that are not
// UTF-8, a code fence around the object. A document that was cut off is never
// completed: that is an *ArgsError, like everything else that is not an object.
func repairArgs(sent string) (args json.RawMessage, err error) {
	return repairNested(sent, maxArgsEncodings)
}

func repairNested(sent string, encodings int) (json.RawMessage, error) {
	if !utf8.ValidString(sent) {
		sent = strings.ToValidUTF8(sent, "\uFFFD")
	}
	body := strings.Trim(sent, " \t\r\n")
	start := strings.Index(sent, body) // body's offset in sent
	if inner, at, ok := unfence(body); ok {
		sent, body, start = inner, inner, start+at
	}
	switch {
	case strings.HasPrefix(body, "{") && json.Valid([]byte(body)):
		return json.RawMessage(sent), nil
	case body == "", body == "null", body == "None":
		return json.RawMessage("{}"), nil
	case body[0] == '"' || body[0] == '\'':
		return repairEncoded(body, start, encodings)
	case body[0] != '{':
		return nil, &ArgsError{Offset: start, Reason: "it starts with " + quoteStart(body)}
	}
	r := repairer{in: body}
	if err := r.document(); err != nil {
		err.Offset += start
		return nil, err
	}
	if !json.Valid(r.out) { // a bug in the repair: refuse rather than pass it on
		return nil, &ArgsError{Offset: start, Reason: "it cannot be repaired"}
	}
	return r.out, nil
}

// repairEncoded reads an object that was encoded as a string.
func repairEncoded(body string, start, encodings int) (json.RawMessage, error) {
	if encodings == 0 {
		return nil, &ArgsError{Offset: start, Reason: "a string inside strings"}
	}
	r := repairer{in: body}
	if err := r.stringToken(); err != nil {
		err.Offset += start
		return nil, err
	}
	if r.at < len(body) {
		return nil, &ArgsError{Offset: start + r.at, Reason: "more after the end"}
	}
	var inner string
	if err := json.Unmarshal(r.out, &inner); err != nil {
		return nil, &ArgsError{Offset: start, Reason: "a string that cannot be read"}
	}
	return repairNested(inner, encodings-1)
}

// unfence removes a Markdown code fence; at is the start of the content. A fence that
// is not closed is kept, since the text was cut off.
func unfence(s string) (inner string, at int, ok bool) {
	const fence = "```"
	if len(s) < 2*len(fence) || !strings.HasPrefix(s, fence) || !strings.HasSuffix(s, fence) {
		return "", 0, false
	}
	at = len(fence)
	for at < len(s) && isWord(s[at]) {
		at++
	}
	end := len(s) - len(fence)
	if at > end {
		return "", 0, false
	}
	inner = s[at:end]
	trimmed := strings.TrimLeft(inner, " \t\r\n")
	at += len(inner) - len(trimmed)
	return strings.TrimRight(trimmed, " \t\r\n"), at, true
}

// repairer copies one tolerant JSON document to strict JSON. The nesting is kept in a
// slice, so that depth needs no stack.
type repairer struct {
	in    string
	at    int
	out   []byte
	stack []byte // '{' or '[', the open containers
}

func (r *repairer) fail(reason string) *ArgsError {
	if r.at >= len(r.in) {
		reason = "it ends in the middle"
	}
	return &ArgsError{Offset: min(r.at, len(r.in)), Reason: reason}
}

func (r *repairer) space() {
	for r.at < len(r.in) && strings.IndexByte(" \t\r\n", r.in[r.at]) >= 0 {
		r.at++
	}
}

// peek returns the next byte that is not space, 0 at the end.
func (r *repairer) peek() byte {
	r.space()
	if r.at < len(r.in) {
		return r.in[r.at]
	}
	return 0
}

// document reads one object and nothing after it.
func (r *repairer) document() *ArgsError {
	if err := r.value(); err != nil {
		return err
	}
	for len(r.stack) > 0 {
		if err := r.member(); err != nil {
			return err
		}
	}
	if r.peek(); r.at < len(r.in) {
		return r.fail("more after the end")
	}
	return nil
}

// member reads the next member of the innermost container, or its end.
func (r *repairer) member() *ArgsError {
	open := r.stack[len(r.stack)-1]
	if r.close(open) {
		return nil
	}
	if r.out[len(r.out)-1] != open { // not the first member
		if r.peek() != ',' {
			return r.fail("no comma before " + quoteStart(r.in[min(r.at, len(r.in)):]))
		}
		r.at++
		if r.close(open) { // a trailing comma
			return nil
		}
		r.out = append(r.out, ',')
	}
	if open == '[' {
		return r.value()
	}
	if err := r.key(); err != nil {
		return err
	}
	if r.peek() != ':' {
		return r.fail("no colon after a key")
	}
	r.at++
	r.out = append(r.out, ':')
	return r.value()
}

// close ends the innermost container if the next byte is its closing bracket.
func (r *repairer) close(open byte) bool {
	end := byte('}')
	if open == '[' {
		end = ']'
	}
	if r.peek() != end {
		return false
	}
	r.at++
	r.out = append(r.out, end)
	r.stack = r.stack[:len(r.stack)-1]
	return true
}

// value reads a scalar, or opens a container.
func (r *repairer) value() *ArgsError {
	switch c := r.peek(); c {
	case '{', '[':
		if len(r.stack) == maxArgsDepth {
			return r.fail("it is nested too deeply")
		}
		r.at++
		r.out = append(r.out, c)
		r.stack = append(r.stack, c)
		return nil
	case '"', '\'':
		return r.stringToken()
	}
	word := r.word()
	if r.at+len(word) == len(r.in) { // a value is always followed by a bracket
		r.at = len(r.in)
		return r.fail("")
	}
	switch word {
	case "True":
		r.out = append(r.out, "true"...)
	case "False":
		r.out = append(r.out, "false"...)
	case "None":
		r.out = append(r.out, "null"...)
	default:
		if word == "" || !json.Valid([]byte(word)) {
			return r.fail("no value begins with " + quoteStart(r.in[r.at:]))
		}
		r.out = append(r.out, word...)
	}
	r.at += len(word)
	return nil
}

// key reads a key: a string, or a bare word.
func (r *repairer) key() *ArgsError {
	if c := r.peek(); c == '"' || c == '\'' {
		return r.stringToken()
	}
	word := r.word()
	if word == "" || word[0] == '-' || word[0] >= '0' && word[0] <= '9' {
		return r.fail("no key begins with " + quoteStart(r.in[min(r.at, len(r.in)):]))
	}
	for i := range len(word) {
		if !isWord(word[i]) {
			return r.fail("no key looks like " + quoteStart(word))
		}
	}
	r.at += len(word)
	r.out = append(r.out, '"')
	r.out = append(r.out, word...)
	r.out = append(r.out, '"')
	return nil
}

// word returns the text up to the next space or delimiter, without consuming it.
func (r *repairer) word() string {
	end := r.at
	for end < len(r.in) && strings.IndexByte(" \t\r\n{}[],:\"'`", r.in[end]) < 0 {
		end++
	}
	return r.in[r.at:end]
}

// stringToken copies a string in either kind of quotes.
func (r *repairer) stringToken() *ArgsError {
	quote := r.in[r.at]
	r.at++
	r.out = append(r.out, '"')
	for r.at < len(r.in) {
		c := r.in[r.at]
		switch {
		case c == quote:
			r.at++
			r.out = append(r.out, '"')
			return nil
		case c == '\\':
			if err := r.escape(); err != nil {
				return err
			}
			continue
		case c == '"': // inside single quotes
			r.out = append(r.out, '\\', '"')
		case c < 0x20:
			r.out = appendControl(r.out, c)
		default:
			r.out = append(r.out, c)
		}
		r.at++
	}
	return r.fail("")
}

// escape copies an escape. One that JSON does not have means its own characters, as
// in Python; \u and \x without their digits are dropped.
func (r *repairer) escape() *ArgsError {
	if r.at+1 >= len(r.in) {
		r.at = len(r.in)
		return r.fail("")
	}
	c := r.in[r.at+1]
	digits := 0
	switch c {
	case '"', '\\', '/', 'b', 'f', 'n', 'r', 't':
		r.out = append(r.out, '\\', c)
	case '\'':
		r.out = append(r.out, c)
	case 'u':
		digits = 4
	case 'x':
		digits = 2
	default: // the backslash itself; what follows it is read next
		r.out = append(r.out, '\\', '\\')
		r.at++
		return nil
	}
	if digits > 0 {
		hex := r.in[r.at+2 : min(r.at+2+digits, len(r.in))]
		if len(hex) < digits && isHex(hex) {
			r.at = len(r.in)
			return r.fail("")
		}
		if !isHex(hex) {
			return r.fail("an escape without its digits")
		}
		r.out = append(r.out, "\\u00"[:6-digits]...)
		r.out = append(r.out, hex...)
	}
	r.at += 2 + digits
	return nil
}

// appendControl escapes a raw control character.
func appendControl(out []byte, c byte) []byte {
	switch c {
	case '\n':
		return append(out, '\\', 'n')
	case '\r':
		return append(out, '\\', 'r')
	case '\t':
		return append(out, '\\', 't')
	}
	return fmt.Appendf(out, "\\u%04x", c)
}

func isHex(s string) bool {
	for i := range len(s) {
		c := s[i] | 0x20
		if (c < '0' || c > '9') && (c < 'a' || c > 'f') {
			return false
		}
	}
	return true
}

func isWord(c byte) bool {
	return c == '_' || c == '-' || c >= '0' && c <= '9' || c|0x20 >= 'a' && c|0x20 <= 'z'
}

// quoteStart quotes the start of the text for an error.
func quoteStart(s string) string {
	const show = 12
	if s == "" {
		return "nothing"
	}
	if n := strings.IndexByte(s, '\n'); n >= 0 {
		s = s[:max(n, 1)]
	}
	runes := []rune(s[:min(len(s), 4*show)])
	return fmt.Sprintf("%q", string(runes[:min(len(runes), show)]))
}
