package agentsdk

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/pawl-agent/pawl/internal/core/event"
	"github.com/pawl-agent/pawl/internal/core/llm"
	"github.com/pawl-agent/pawl/internal/engine/session"
	"github.com/pawl-agent/pawl/internal/frontend/slash"
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

	UUID    string `json:"uuid"` // user
	Message struct {
		Role    string          `json:"role"`
		Content json.RawMessage `json:"content"` // a string, or blocks
	} `json:"message"`

	RequestID string          `json:"request_id"` // control_request
	Request   json.RawMessage `json:"request"`

	Response response `json:"response"` // control_response
}

// request is a request of the program; initialize has its own keys.
type request struct {
	Subtype string `json:"subtype"`

	Server  string          `json:"server_name"` // mcp_message
	MCPSays json.RawMessage `json:"message"`

	Mode  string  `json:"mode"`  // set_permission_mode
	Model *string `json:"model"` // set_model
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
		t.prompt(p)
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

// inputError returns an error about the input.
func inputError(format string, a ...any) error { return &InputError{err: fmt.Errorf(format, a...)} }

// InputError is an error in what the program sent.
type InputError struct {
	err  error
	Told bool // a result has told the program
}

func (e *InputError) Error() string { return e.err.Error() }
func (e *InputError) Unwrap() error { return e.err }

// promptOf reads a prompt: text, and images.
func promptOf(m message) (session.Prompt, error) {
	p := session.Prompt{ID: m.UUID}
	if m.Message.Role != "user" {
		return p, fmt.Errorf("a message of the role %q cannot be sent; the role of a prompt is user", m.Message.Role)
	}
	if json.Unmarshal(m.Message.Content, &p.Text) == nil {
		return p, some(p)
	}
	var blocks []struct {
		Type   string `json:"type"`
		Text   string `json:"text"`
		Source struct {
			Type  string `json:"type"`
			Media string `json:"media_type"`
			Data  []byte `json:"data"`
		} `json:"source"`
	}
	if err := json.Unmarshal(m.Message.Content, &blocks); err != nil {
		return p, fmt.Errorf("the content of the message is neither a text nor a list of blocks: %w", err)
	}
	var texts []string
	for _, b := range blocks {
		switch {
		case b.Type == "text":
			texts = append(texts, b.Text)
		case b.Type == "image" && b.Source.Type == "base64":
			p.Images = append(p.Images, llm.Media{Type: b.Source.Media, Data: b.Source.Data})
		default:
			return p, fmt.Errorf("pawl takes no block of the type %q; text and image (base64) exist", b.Type)
		}
	}
	p.Text = strings.Join(texts, "\n\n")
	return p, some(p)
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

// request handles a request of the program and answers it. An error ends the
// conversation.
func (t *conversation) request(id string, raw json.RawMessage) error {
	var r request
	var done any = struct{}{}
	err := json.Unmarshal(raw, &r)
	switch {
	case r.Subtype == "initialize":
	case err != nil:
		return inputError("the request %s cannot be read: %w", id, err)
	case t.unkept != nil:
		t.w.response(id, nil, fmt.Errorf("initialize failed: %w", t.unkept))
		return nil
	}
	switch r.Subtype {
	case "initialize":
		done, err = t.initialize(raw)
		t.unkept = err
	case "interrupt":
		if t.s != nil {
			_, err = t.s.Submit(t.ctx, session.Interrupt{By: "person"})
		}
	case "set_permission_mode":
		err = t.change(r.Mode)
	case "set_model":
		if err = t.use(id, r.Model); err == nil {
			return nil // answered when it is done
		}
	case "mcp_message":
		err = t.setup.Servers.sent(r.Server, r.MCPSays)
	default:
		err = fmt.Errorf("pawl has no request %q", r.Subtype)
	}
	t.w.response(id, done, err)
	if t.unkept != nil && t.s != nil { // a turn may be running without them
		return t.unprepared()
	}
	return nil
}

// commands describes what a prompt may call.
func (t *conversation) commands() []object {
	out := []object{{"name": compact, "description": "sum up older steps to free the context window", "argumentHint": "[FOCUS]"}}
	for _, c := range slash.Callable(t.custom()) {
		out = append(out, object{"name": c.Name, "description": c.Doc, "argumentHint": c.Args})
	}
	return out
}

// names lists them.
func (t *conversation) names() []string {
	out := []string{compact}
	for _, c := range slash.Callable(t.custom()) {
		out = append(out, c.Name)
	}
	return out
}

// change sets the permission mode.
func (t *conversation) change(mode string) error {
	s, err := t.session()
	if err == nil {
		_, err = s.Submit(t.ctx, session.SetMode{Mode: mode})
	}
	return err
}

// use changes the model. The request is answered when that ends.
func (t *conversation) use(id string, model *string) error {
	s, err := t.session()
	if err != nil {
		return err
	}
	ref := t.model
	if model != nil && *model != "" && *model != "default" {
		ref = *model
	}
	cause, err := s.Submit(t.ctx, session.SetModel{Ref: ref})
	if err == nil {
		t.changes[cause] = id
	}
	return err
}

// changed answers the request that started an operation.
func (t *conversation) changed(cause int64, done event.OpDone) {
	id, ok := t.changes[cause]
	if !ok {
		return
	}
	delete(t.changes, cause)
	t.w.response(id, struct{}{}, done.Err())
}
