// Package mcpserve offers a session of pawl as tools and resources to other programs, over
// the Model Context Protocol: to one program on standard input and output, or to those with
// a token over HTTP on this machine (http.go, doc/programs.md).
//
// It promises that a program can do nothing here that the command line that started the
// server does not allow. Rights, budget and folder come from the flags and settings,
// and no tool changes them. If a call needs a permission, the program's person is asked
// if the program supports that (elicitation); otherwise the call is denied. One prompt
// runs at a time. A call's turn is interrupted if the call is cancelled or the program
// ends its MCP session. All programs share one session of pawl, and so its budget.
//
// It refuses protocol 2026-07-28, in which a server cannot ask in the middle of a call:
// programs that support it also support an older one.
package mcpserve

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"io"
	"strings"
	"sync"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/pawl-agent/pawl/internal/core/event"
	"github.com/pawl-agent/pawl/internal/engine/session"
	"github.com/pawl-agent/pawl/internal/frontend/putback"
	"github.com/pawl-agent/pawl/internal/policy/undo"
)

// Options are the options of a server.
type Options struct {
	In      io.ReadCloser
	Out     io.Writer
	Version string
	Dir     string // the folder of the session
	// Open opens the session, at the first call that needs it. ask reports whether the
	// program can ask its person.
	Open func(ctx context.Context, ask bool) (*session.Session, error)
}

// versions are the supported protocol versions, the newest first.
var versions = []string{"2025-11-25", "2025-06-18", "2025-03-26", "2024-11-05"}

const instructions = `pawl is a coding agent that works in one folder, with its own model, permissions and budget. The tool "prompt" has it do a task; everything it changes can be looked at with "diff" and undone with "undo".`

// Server serves programs.
type Server struct {
	opt Options
	own context.Context // the session's context; the end of a call only interrupts its turn
	sdk *sdk.Server

	mu sync.Mutex
	s  *session.Session
}

// New returns a server. It opens no session.
func New(ctx context.Context, o Options) *Server {
	s := &Server{opt: o, own: context.WithoutCancel(ctx)}
	s.sdk = sdk.NewServer(&sdk.Implementation{Name: "pawl", Title: "pawl", Version: o.Version}, &sdk.ServerOptions{
		Instructions: instructions, SupportedProtocolVersions: versions, Capabilities: &sdk.ServerCapabilities{Tools: &sdk.ToolCapabilities{}, Resources: &sdk.ResourceCapabilities{Subscribe: true}},
		CompletionHandler: complete, SubscribeHandler: subscribed, UnsubscribeHandler: func(context.Context, *sdk.UnsubscribeRequest) error { return nil },
	})
	yes, no := true, false
	sdk.AddTool(s.sdk, &sdk.Tool{
		Name: "prompt", Title: "Have pawl do something",
		Description: "Give pawl a task or a question in its folder and wait for its answer. It keeps the conversation: later prompts may refer to earlier ones. It may read, edit and run things as far as its permissions go. Progress is reported while it works; cancelling the call interrupts it.",
		Annotations: &sdk.ToolAnnotations{DestructiveHint: &yes, OpenWorldHint: &yes},
	}, s.prompt)
	sdk.AddTool(s.sdk, &sdk.Tool{
		Name: "status", Title: "What pawl is doing", Description: "The state of pawl's session: folder, model, permission mode, whether a turn runs, what it cost, which files the last turn changed and whether a check proves them.",
		Annotations: &sdk.ToolAnnotations{ReadOnlyHint: true, OpenWorldHint: &no},
	}, s.status)
	sdk.AddTool(s.sdk, &sdk.Tool{
		Name: "diff", Title: "What pawl changed", Description: "The changes of pawl's last turn, or of its whole session, as a unified diff.",
		Annotations: &sdk.ToolAnnotations{ReadOnlyHint: true, OpenWorldHint: &no},
	}, s.diff)
	sdk.AddTool(s.sdk, &sdk.Tool{
		Name: "undo", Title: "Undo what pawl changed", Description: "Undo the changes of pawl's last turn. Files that somebody else changed since, or may have changed, are left as they are and named.",
		Annotations: &sdk.ToolAnnotations{DestructiveHint: &yes, OpenWorldHint: &no},
	}, s.undo)
	s.addResources()
	return s
}

// Run serves the program until the program disconnects or ctx ends.
func (s *Server) Run(ctx context.Context) error {
	err := s.sdk.Run(ctx, &sdk.IOTransport{Reader: s.opt.In, Writer: open{s.opt.Out}, MaxLineLength: 16 << 20})
	if ctx.Err() != nil || errors.Is(err, io.EOF) {
		err = nil
	}
	return errors.Join(err, s.Close())
}

// open is a writer that only the end of the process closes.
type open struct{ io.Writer }

func (open) Close() error { return nil }

// Close ends the session. A running turn is interrupted.
func (s *Server) Close() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.s == nil {
		return nil
	}
	err := s.s.Close()
	s.s = nil
	return err
}

// session returns the session; the first call opens it.
func (s *Server) session(by *sdk.ServerSession) (*session.Session, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.s == nil {
		opened, err := s.opt.Open(s.own, asks(by))
		if err != nil {
			return nil, err
		}
		s.s = opened
	}
	return s.s, nil
}

type promptIn struct {
	Prompt string `json:"prompt" jsonschema:"the task or question, complete in itself"`
}

// Result is the result of a prompt.
type Result struct {
	Session string   `json:"session" jsonschema:"for pawl --resume"`
	End     string   `json:"end" jsonschema:"done, or why it ended before"`
	Reply   string   `json:"reply"`
	Files   []string `json:"files" jsonschema:"that differ from the turn's start"`
	USD     *float64 `json:"usd" jsonschema:"what the turn cost; null where it is not known"`
}

func (s *Server) prompt(ctx context.Context, req *sdk.CallToolRequest, in promptIn) (*sdk.CallToolResult, *Result, error) {
	if strings.TrimSpace(in.Prompt) == "" {
		return nil, nil, errors.New("the prompt is empty")
	}
	sess, err := s.session(req.Session)
	if err != nil {
		return nil, nil, err
	}
	w := &observer{ctx: ctx, req: req, s: sess}
	out, err := sess.RunPrompt(ctx, session.Prompt{Text: strings.ToValidUTF8(in.Prompt, "\uFFFD")}, session.Observer{After: sess.View().Last(), See: w.see})
	w.work.Wait()
	s.updated()
	if err != nil {
		return nil, nil, err
	}
	v := sess.View()
	_, turn := v.Spent()
	r := &Result{Session: sess.ID(), End: string(out.Ended.End), Reply: out.Reply, Files: []string{}, USD: turn.Cost()}
	for _, f := range v.Evidence().Files {
		r.Files = append(r.Files, f.Path)
	}
	text := out.Reply
	if out.Ended.End != event.EndDone {
		why := string(out.Ended.End)
		if f := out.Ended.Error; f != nil {
			why += ": " + f.Message
		}
		text = strings.TrimSpace(text + "\n[pawl ended before it was done: " + why + "]")
	}
	return &sdk.CallToolResult{Content: []sdk.Content{&sdk.TextContent{Text: text}}, IsError: out.Ended.End != event.EndDone}, r, nil
}

type nothing struct{}

// Status is the state of the session.
type Status struct {
	Session  string   `json:"session"`
	Folder   string   `json:"folder"`
	Model    string   `json:"model"`
	Mode     string   `json:"mode" jsonschema:"of permissions"`
	Asks     bool     `json:"asks" jsonschema:"what needs a permission is asked of your person; else it is denied"`
	Busy     bool     `json:"busy"`
	USD      *float64 `json:"usd" jsonschema:"what the session cost; null where it is not known"`
	MaxUSD   float64  `json:"max_usd" jsonschema:"what it may cost; 0: no limit"`
	Files    []string `json:"files" jsonschema:"that the last turn changed"`
	Verified bool     `json:"verified" jsonschema:"a check that ran tests passed after the last change"`
	Why      string   `json:"why,omitempty" jsonschema:"why it is not verified"`
}

func (s *Server) status(_ context.Context, req *sdk.CallToolRequest, _ nothing) (*sdk.CallToolResult, *Status, error) {
	st, err := s.state(req.Session)
	return nil, st, err
}

func (s *Server) state(by *sdk.ServerSession) (*Status, error) {
	sess, err := s.session(by)
	if err != nil {
		return nil, err
	}
	v := sess.View()
	all, _ := v.Spent()
	proof := v.Evidence()
	st := &Status{
		Session: sess.ID(), Folder: s.opt.Dir, Model: v.Info().Ref(), Mode: string(v.Mode()), Asks: asks(by), Busy: sess.Busy(),
		USD: all.Cost(), MaxUSD: v.Limits().USD, Files: []string{}, Verified: proof.Verified != nil && proof.Verified.OK, Why: proof.Unverified,
	}
	for _, f := range proof.Files {
		st.Files = append(st.Files, f.Path)
	}
	return st, nil
}

type diffIn struct {
	Session bool `json:"session,omitempty" jsonschema:"of the whole session instead of its last turn"`
}

func (s *Server) diff(ctx context.Context, req *sdk.CallToolRequest, in diffIn) (*sdk.CallToolResult, any, error) {
	kind := undo.ByTurn
	if in.Session {
		kind = undo.ByAll
	}
	text, err := s.changes(ctx, req.Session, kind)
	if err != nil {
		return nil, nil, err
	}
	return said(cmp.Or(text, "nothing is changed")), nil, nil
}

func (s *Server) changes(ctx context.Context, by *sdk.ServerSession, of undo.Kind) (string, error) {
	sess, err := s.session(by)
	if err != nil {
		return "", err
	}
	return sess.View().Changes().Diff(ctx, undo.Selector{Kind: of})
}

func (s *Server) undo(ctx context.Context, req *sdk.CallToolRequest, _ nothing) (*sdk.CallToolResult, any, error) {
	sess, err := s.session(req.Session)
	if err != nil {
		return nil, nil, err
	}
	p, err := sess.View().Changes().Plan(ctx, undo.Selector{Kind: undo.ByTurn})
	if errors.Is(err, undo.ErrNothing) {
		return said("there is nothing to undo"), nil, nil
	}
	if err != nil {
		return nil, nil, err
	}
	done, err := putback.Do(ctx, sess, p, putback.Settled(p, nil))
	s.updated()
	if err != nil {
		return nil, nil, err
	}
	var b bytes.Buffer
	putback.Done(&b, putback.Verb(undo.ByTurn), done)
	r := said(strings.TrimSpace(b.String()))
	r.IsError = len(done.Left) > 0
	return r, nil, nil
}

func said(text string) *sdk.CallToolResult {
	return &sdk.CallToolResult{Content: []sdk.Content{&sdk.TextContent{Text: text}}}
}
