package mcp

import (
	"context"
	"errors"
	"fmt"
	"io"
	"time"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	sdk "github.com/modelcontextprotocol/go-sdk/mcp"
)

// Inside is the program that drives pawl, with the MCP servers inside it.
type Inside interface {
	// Exchange sends a message to a server and returns its answer. If the message is not
	// a request, the answer is ignored.
	Exchange(ctx context.Context, server string, message []byte) ([]byte, error)
	// Incoming yields the messages that a server sends without a request from pawl.
	Incoming(server string) <-chan []byte
	// Elicit passes a question of any server on, and returns the answer as the protocol has it.
	Elicit(ctx context.Context, q Elicitation) ([]byte, error)
}

// Elicitation is a question of a server.
type Elicitation struct {
	Server  string `json:"mcp_server_name"`
	Message string `json:"message"`
	Mode    string `json:"mode"` // form, url
	URL     string `json:"url,omitempty"`
	ID      string `json:"elicitation_id,omitempty"`
	Schema  any    `json:"requested_schema,omitempty"`
}

// inside is the transport of a server inside a program.
const inside = "sdk"

// InsideServer returns a server inside the program that drives pawl.
func InsideServer(name string) Server {
	s := Server{Name: name, File: "the program", Transport: inside}
	if err := CheckName(name); err != nil {
		s.Problem = err.Error()
	}
	return s
}

// InProgram reports whether the server is a part of the program that drives pawl.
func (s Server) InProgram() bool { return s.Transport == inside }

// noticeTime is how long a server may take to accept a message that is not a request.
const noticeTime = 20 * time.Second

// program is the transport to a server inside a program.
type program struct {
	in   Inside
	name string
	life context.Context
}

func (p program) Connect(context.Context) (sdk.Connection, error) {
	if p.in == nil {
		return nil, fmt.Errorf("%w: it is a part of a program, and none drives pawl", errStart)
	}
	c := &programConn{program: p, answers: make(chan jsonrpc.Message)}
	c.ctx, c.end = context.WithCancel(p.life)
	return c, nil
}

type programConn struct {
	program
	ctx     context.Context
	end     context.CancelFunc
	answers chan jsonrpc.Message
	work    tasks
}

func (c *programConn) Read(ctx context.Context) (jsonrpc.Message, error) {
	for {
		select {
		case m := <-c.answers:
			return m, nil
		case raw := <-c.in.Incoming(c.name):
			m, err := jsonrpc.DecodeMessage(raw)
			if _, answer := m.(*jsonrpc.Response); err != nil || answer || len(raw) > maxMessage {
				continue // answers come through Exchange
			}
			return m, nil
		case <-c.ctx.Done():
			return nil, io.EOF
		case <-ctx.Done():
			return nil, context.Cause(ctx)
		}
	}
}

func (c *programConn) Write(ctx context.Context, m jsonrpc.Message) error {
	raw, err := jsonrpc.EncodeMessage(m)
	if err != nil {
		return err
	}
	if r, ok := m.(*jsonrpc.Request); ok && r.IsCall() {
		if !c.work.begin(func() {
			select {
			case c.answers <- c.ask(r.ID, raw):
			case <-c.ctx.Done():
			}
		}) {
			return io.ErrClosedPipe
		}
		return nil
	}
	ctx, cancel := context.WithTimeout(ctx, noticeTime)
	defer cancel()
	_, err = c.in.Exchange(ctx, c.name, raw)
	return err
}

// ask returns the answer to a request. An invalid answer becomes an error; otherwise the
// SDK would wait for ever.
func (c *programConn) ask(id jsonrpc.ID, raw []byte) jsonrpc.Message {
	answer, err := c.in.Exchange(c.ctx, c.name, raw)
	if err == nil && len(answer) > maxMessage {
		err = fmt.Errorf("it sent a message of more than %d MB", maxMessage>>20)
	}
	if err == nil {
		m, derr := jsonrpc.DecodeMessage(answer)
		if r, ok := m.(*jsonrpc.Response); ok && derr == nil && r.ID == id {
			return r
		}
		err = errors.Join(errors.New("the program's answer is not the one to this request"), derr)
	}
	return &jsonrpc.Response{ID: id, Error: &jsonrpc.Error{Code: jsonrpc.CodeInternalError, Message: err.Error()}}
}

func (c *programConn) Close() error {
	c.end()
	c.work.wait()
	return nil
}

func (c *programConn) SessionID() string { return "" }
