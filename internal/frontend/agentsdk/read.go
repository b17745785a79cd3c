package agentsdk

import (
	"bufio"
	"bytes"
	"context"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/pawl-agent/pawl/internal/core/llm"
	"github.com/pawl-agent/pawl/internal/engine/session"
)

// lineLimit is the longest line: a prompt with images.
const lineLimit = 64 << 20

// line is a line of the input, or the error of reading it.
type line struct {
	number int
	text   []byte
	err    error
}

// read sends the lines of r, and closes the channel at its end.
func read(ctx context.Context, r io.Reader, to chan<- line) {
	defer close(to)
	in := bufio.NewScanner(r)
	in.Buffer(make([]byte, 0, 64<<10), lineLimit)
	send := func(l line) bool {
		select {
		case to <- l:
			return true
		case <-ctx.Done():
			return false
		}
	}
	n := 0
	for in.Scan() {
		n++
		if text := bytes.TrimSpace(in.Bytes()); len(text) > 0 && !send(line{number: n, text: bytes.Clone(text)}) {
			return
		}
	}
	if err := in.Err(); err != nil {
		if errors.Is(err, bufio.ErrTooLong) {
			err = fmt.Errorf("line %d of the input is longer than %d MB", n+1, lineLimit>>20)
		}
		send(line{number: n + 1, err: err})
	}
}

// message is a line of the program. Type determines which fields are set.
type message struct {
	Type string `json:"type"` // user, control_request, control_response, …

	UUID     string            `json:"uuid"`            // user
	Composed bool              `json:"client_composed"` // the person did not type its text
	Priority string            `json:"priority"`        // now, next, later
	Query    *bool             `json:"shouldQuery"`     // false: it waits for the next prompt
	Inline   []string          `json:"inline_pastes"`   // parts of the text that were pasted
	Pasted   []json.RawMessage `json:"pasted_content"`  // more of them
	Message  struct {
		Role    string          `json:"role"`
		Content json.RawMessage `json:"content"` // a string, or blocks
	} `json:"message"`

	RequestID string          `json:"request_id"` // control_request
	Request   json.RawMessage `json:"request"`

	Response response `json:"response"` // control_response
}

// systemPrompt is a string, or several.
type systemPrompt string

func (p *systemPrompt) UnmarshalJSON(b []byte) error {
	var many []string
	if json.Unmarshal(b, &many) == nil {
		*p = systemPrompt(strings.Join(many, "\n\n"))
		return nil
	}
	return json.Unmarshal(b, (*string)(p))
}

// response is the program's answer to a question.
type response struct {
	Subtype   string          `json:"subtype"` // success, error
	RequestID string          `json:"request_id"`
	Response  json.RawMessage `json:"response"`
	Error     string          `json:"error"`
}

// read handles a line of the program. A line that is not a message ends the
// conversation, since its meaning is unknown.
func (t *conversation) read(l line) error {
	if l.err != nil {
		return inputError("cannot read the input: %w", l.err)
	}
	var m message
	if err := json.Unmarshal(l.text, &m); err != nil {
		return inputError("line %d of the input is not a message: %w", l.number, err)
	}
	switch m.Type {
	case "user":
		p, err := promptOf(m)
		if err != nil {
			return inputError("line %d of the input: %w", l.number, err)
		}
		if t.unkept != nil {
			return t.unprepared()
		}
		t.user(m, p)
	case "control_request":
		return t.request(m.RequestID, m.Request)
	case "control_response":
		t.answered(m.Response)
	case "":
		return inputError("line %d of the input has no type; a prompt is {\"type\":\"user\",\"message\":{\"role\":\"user\",\"content\":\"…\"}}", l.number)
	case "keep_alive", "control_cancel_request", "assistant", "system", "result":
		// of a program that plays a transcript back, or that no longer waits
	default:
		t.say("line %d of the input is of an unknown type, %q: nothing was done with it", l.number, m.Type)
	}
	return nil
}

// user takes a prompt of the program.
func (t *conversation) user(m message, p session.Prompt) {
	p.Pasted = append(p.Pasted, m.Inline...)
	if m.Query != nil && !*m.Query {
		t.withheld = append(t.withheld, p)
		return
	}
	for _, before := range slices.Backward(t.withheld) {
		p.Text = before.Text + "\n\n" + p.Text
		p.Images, p.Pasted = append(before.Images, p.Images...), append(before.Pasted, p.Pasted...)
	}
	t.withheld = nil
	if m.Composed {
		p.Pasted = []string{p.Text}
	}
	t.prompt(queued{Prompt: p, joins: m.Priority == "now" || m.Priority == "next"})
}

// inputError returns an error about the input.
func inputError(format string, a ...any) error { return &InputError{err: fmt.Errorf(format, a...)} }

// InputError is an error in what the program sent.
type InputError struct {
	err  error
	Told bool // a result has told the program
}

func (e *InputError) Error() string { return e.err.Error() }
func (e *InputError) Unwrap() error { return e.err }

// promptOf reads a prompt: text, and media.
func promptOf(m message) (session.Prompt, error) {
	p := session.Prompt{ID: m.UUID}
	if m.Message.Role != "user" {
		return p, fmt.Errorf("a message of the role %q cannot be sent; the role of a prompt is user", m.Message.Role)
	}
	for _, raw := range m.Pasted {
		var text string
		if json.Unmarshal(raw, &text) == nil {
			p.Pasted = append(p.Pasted, text)
		} else if texts, media, err := content(raw); err != nil {
			return p, err
		} else {
			p.Pasted, p.Images = append(p.Pasted, texts...), append(p.Images, media...)
		}
	}
	if err := json.Unmarshal(m.Message.Content, &p.Text); err != nil {
		texts, media, err := content(m.Message.Content)
		if err != nil {
			return p, err
		}
		p.Text, p.Images = strings.Join(texts, "\n\n"), append(media, p.Images...)
	}
	p.Text = strings.Join(append([]string{p.Text}, p.Pasted...), "\n\n")
	return p, some(p)
}

// content reads the blocks of a message.
func content(raw json.RawMessage) (texts []string, media []llm.Media, err error) {
	var blocks []struct {
		Type   string `json:"type"`
		Text   string `json:"text"`
		Title  string `json:"title"` // document
		Source struct {
			Type  string `json:"type"`
			Media string `json:"media_type"`
			Data  string `json:"data"`
		} `json:"source"`
	}
	if err := json.Unmarshal(raw, &blocks); err != nil {
		return nil, nil, fmt.Errorf("the content of the message is neither a text nor a list of blocks: %w", err)
	}
	for _, b := range blocks {
		switch {
		case b.Type == "text":
			texts = append(texts, b.Text)
		case b.Type == "document" && b.Source.Type == "text":
			texts = append(texts, strings.TrimSpace(b.Title+"\n\n"+b.Source.Data))
		case (b.Type == "image" || b.Type == "document") && b.Source.Type == "base64":
			data, err := base64.StdEncoding.DecodeString(b.Source.Data)
			var m llm.Media
			if err == nil {
				m, err = llm.NewMedia(b.Source.Media, data)
			}
			if err != nil {
				return nil, nil, fmt.Errorf("the block of the type %q: %w", b.Type, err)
			}
			media = append(media, m)
			if b.Title != "" {
				texts = append(texts, "[document: "+b.Title+"]")
			}
		case b.Type == "image", b.Type == "document":
			return nil, nil, fmt.Errorf("pawl takes no %s whose source is of the type %q: send it as base64, or name its file in the prompt with @FILE", b.Type, b.Source.Type)
		default:
			return nil, nil, fmt.Errorf("pawl takes no block of the type %q; text, image and document exist", b.Type)
		}
	}
	return texts, media, nil
}

func some(p session.Prompt) error {
	if strings.TrimSpace(p.Text) == "" && len(p.Images) == 0 {
		return errors.New("the prompt is empty")
	}
	return nil
}

// unprepared ends a conversation whose initialize failed: what it should have set up
// includes guards. Programs read the result, and not the answer to initialize.
func (t *conversation) unprepared() error {
	err := fmt.Errorf("initialize failed, and nothing is done without what it should have set up: %w", t.unkept)
	t.w.failed(err.Error())
	return &InputError{err: err, Told: true}
}
