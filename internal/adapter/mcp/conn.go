package mcp

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"iter"
	"net/url"
	"path/filepath"
	"strings"
	"sync"
	"time"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/pawl-agent/pawl/internal/core/process"
	"github.com/pawl-agent/pawl/internal/core/tool"
	"github.com/pawl-agent/pawl/internal/policy/trust"
)

// Limits of what is read from a server.
const (
	maxMessage = 16 << 20 // one message
	maxLog     = 32 << 10 // of the server's log, the end
	maxNoise   = 4 << 10  // of a log line that is not a message
)

// Time limits for a server. Where possible, pawl waits in the background of a turn.
const (
	startTime = 30 * time.Second
	listTime  = 20 * time.Second
	stopTime  = 500 * time.Millisecond
)

// classic is the protocol version that is tried first with a server on standard input and
// output: every such server answers initialize, or reports that it no longer has it. With
// a server over HTTP the newest version is tried first.
const classic = "2025-11-25"

// conn is a connection to a running server.
type conn struct {
	inside Inside // nil: questions go to the person
	name   string
	// defaults answer the server's questions where nobody is there
	defaults bool
	ss       *sdk.ClientSession
	proc     process.Process // nil: it is remote
	log      *tail
	began    time.Time
	gone     chan struct{} // closed when no more answers come
	end      func()        // ends its streams

	mu       sync.Mutex
	progress map[string]func(string) // by token
	changed  bool                    // it reported that its list changed
	callers  []tool.Asker            // of the running calls; nil: an ended one
	declined []string                // questions that nobody answered
}

// dial starts a server, or connects to it.
func (s *Servers) dial(ctx context.Context, srv Server, log *tail) (c *conn, err error) {
	if err := s.fetch(ctx, srv, log); err != nil {
		return nil, err
	}
	ctx, cancel := context.WithTimeoutCause(ctx, startTime, fmt.Errorf("it did not answer within %s", startTime))
	defer cancel()
	for _, version := range versions(srv) {
		log.clear() // of the try before
		if c, err = s.try(ctx, srv, version, log); err == nil {
			return c, nil
		}
		if ctx.Err() != nil || errors.Is(err, process.ErrUnconfined) || errors.Is(err, errStart) {
			break
		}
	}
	if ctx.Err() != nil {
		err = context.Cause(ctx)
	}
	if e := (*SignInError)(nil); errors.As(err, &e) {
		return nil, e
	}
	if srv.Transport == "stdio" && s.opt.Confine(srv).Level != process.Unconfined {
		more := "to let it do more, add it to your own configuration: pawl mcp add " + srv.Name + " -- …"
		if _, ok := s.packaged(srv); ok {
			more = "to let it reach a host: pawl mcp fetch " + srv.Name + " --host HOST"
		}
		err = fmt.Errorf("%w (it runs in the sandbox; %s)", err, more)
	}
	return nil, err
}

// versions lists the protocol versions to try. "" is the newest, with the protocol's own
// fallback.
func versions(srv Server) []string {
	if srv.Transport == "stdio" || srv.InProgram() {
		return []string{classic, ""}
	}
	return []string{""}
}

var errStart = errors.New("it cannot be started")

func (s *Servers) try(ctx context.Context, srv Server, version string, log *tail) (*conn, error) {
	c := &conn{name: srv.Name, inside: s.opt.Inside, defaults: srv.Defaults, log: log, began: s.opt.Now(), gone: make(chan struct{}), progress: map[string]func(string){}}
	transport, err := s.transport(srv, c)
	if err != nil {
		return nil, err
	}
	//lint:ignore SA1019 servers of today ask for roots, and newer ones do not
	capabilities := &sdk.ClientCapabilities{RootsV2: &sdk.RootCapabilities{}}
	client := sdk.NewClient(&sdk.Implementation{Name: "pawl", Title: "pawl", Version: s.opt.Version}, &sdk.ClientOptions{
		Capabilities:               capabilities,
		ToolListChangedHandler:     func(context.Context, *sdk.ToolListChangedRequest) { c.listChanged() },
		PromptListChangedHandler:   func(context.Context, *sdk.PromptListChangedRequest) { c.listChanged() },
		ResourceListChangedHandler: func(context.Context, *sdk.ResourceListChangedRequest) { c.listChanged() },
		ElicitationHandler: func(ctx context.Context, r *sdk.ElicitRequest) (*sdk.ElicitResult, error) {
			return c.elicit(ctx, r.Params)
		},
		ProgressNotificationHandler: func(_ context.Context, r *sdk.ProgressNotificationClientRequest) { c.progressed(r.Params) },
	})
	//lint:ignore SA1019 see above
	client.AddRoots(&sdk.Root{URI: (&url.URL{Scheme: "file", Path: filepath.ToSlash(s.opt.Root)}).String(), Name: "workspace"})
	// The SDK waits for unanswered requests; the end of the process, or of the request,
	// ends that wait. A stream lasts as long as the context that opened it.
	lasting, end := context.WithCancel(s.life)
	c.end = end
	stop := context.AfterFunc(ctx, func() {
		end()
		if c.proc != nil {
			c.proc.Kill(0)
		}
	})
	defer stop()
	c.ss, err = client.Connect(lasting, transport, &sdk.ClientSessionOptions{ProtocolVersion: version})
	if err != nil {
		refused := c.refused()
		c.kill(stopTime)
		if refused != "" {
			err = fmt.Errorf("%w; the sandbox refused it: %s", err, refused)
		}
		return nil, err
	}
	go func() {
		_ = c.ss.Wait() // the waiting request reports how it ended
		close(c.gone)
	}()
	return c, nil
}

func (s *Servers) transport(srv Server, c *conn) (sdk.Transport, error) {
	switch srv.Transport {
	case "stdio":
	case inside:
		return program{s.opt.Inside, srv.Name, s.life}, nil
	default:
		return s.remote(srv)
	}
	if s.opt.Changed != nil {
		if why := s.opt.Changed(srv); why != "" {
			return nil, fmt.Errorf("%w: %s", errStart, why)
		}
	}
	start, err := s.program(srv)
	if err != nil {
		return nil, fmt.Errorf("%w: %w", errStart, err)
	}
	start.Stderr = c.log
	p, err := s.opt.Start.Start(s.life, start) // the process outlives the call that started it
	if err != nil {
		return nil, fmt.Errorf("%w: %w", errStart, err)
	}
	c.proc = p
	return &sdk.IOTransport{Reader: newLines(p.Out(), c.log), Writer: p.In(), MaxLineLength: maxMessage}, nil
}

// refused describes what the sandbox refused to the process, "" if nothing.
func (c *conn) refused() string {
	if c.proc == nil {
		return ""
	}
	var out []string
	for i, r := range c.proc.Refused() {
		if i == 3 {
			out = append(out, "…")
			break
		}
		out = append(out, r.String())
	}
	return strings.Join(out, ", ")
}

// kill ends the process, or the connection, and returns when it is gone.
func (c *conn) kill(grace time.Duration) {
	if c.proc != nil {
		c.proc.Kill(grace)
		_ = c.proc.In().Close()
		_ = c.proc.Out().Close()
	}
	if c.ss != nil {
		_ = c.ss.Close()
	}
	c.end()
}

func (c *conn) alive() bool {
	select {
	case <-c.gone:
		return false
	default:
		return true
	}
}

func (c *conn) listChanged() {
	c.mu.Lock()
	c.changed = true
	c.mu.Unlock()
}

// progressed forwards a call's progress. It never makes a call last longer.
func (c *conn) progressed(p *sdk.ProgressNotificationParams) {
	if p == nil {
		return
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	show := c.progress[fmt.Sprint(p.ProgressToken)]
	if show == nil {
		return
	}
	text := fmt.Sprintf("%g", p.Progress)
	if p.Total > 0 {
		text += fmt.Sprintf(" of %g", p.Total)
	}
	if p.Message != "" {
		text += ": " + cut(p.Message, 200)
	}
	show(text + "\n")
}

// listed is what a server offers.
type listed struct {
	instructions string
	items        []trust.Item // tools and prompts
	resources    []string     // by their URI; their descriptions are not read
}

// list asks a server what it offers. If the server fails to list prompts or resources,
// its tools are still returned.
func (c *conn) list(ctx context.Context) (l listed, err error) {
	ctx, cancel := context.WithTimeoutCause(ctx, listTime, fmt.Errorf("it did not list its tools within %s", listTime))
	defer cancel()
	init := c.ss.InitializeResult()
	if init == nil || init.Capabilities == nil {
		return l, nil
	}
	l.instructions = init.Instructions
	if init.Capabilities.Tools != nil {
		err = each(c.ss.Tools(ctx, nil), func(t *sdk.Tool) error {
			return l.add("tool", t.Name, toolDescription{Title: t.Title, Description: t.Description, Schema: t.InputSchema, Annotations: t.Annotations})
		})
	}
	if err == nil && init.Capabilities.Prompts != nil {
		err = optional(each(c.ss.Prompts(ctx, nil), func(p *sdk.Prompt) error {
			return l.add("prompt", p.Name, promptDescription{p.Title, p.Description, p.Arguments})
		}))
	}
	if err == nil && init.Capabilities.Resources != nil {
		err = optional(each(c.ss.Resources(ctx, nil), func(r *sdk.Resource) error {
			if uri := visible(r.URI); uri == r.URI && len(uri) <= 300 && len(l.resources) < maxResources && !strings.ContainsAny(uri, " \t\n\"") {
				l.resources = append(l.resources, uri)
			}
			return nil
		}))
	}
	if ctx.Err() != nil {
		err = context.Cause(ctx)
	}
	return l, err
}

// add adds an item with the server's description of it.
func (l *listed) add(kind, name string, said any) error {
	raw, err := json.Marshal(said)
	if err == nil {
		l.items = append(l.items, trust.Item{Kind: kind, Name: name, Said: raw})
	}
	return err
}

// each calls take for the items of a server's list, until there are more than maxItems.
func each[T any](list iter.Seq2[*T, error], take func(*T) error) error {
	n := 0
	for item, err := range list {
		if err == nil {
			err = take(item)
		}
		if err != nil {
			return err
		}
		if n++; n > maxItems {
			break
		}
	}
	return nil
}

// optional returns nil for an error that the server itself answered with.
func optional(err error) error {
	if wire := (*jsonrpc.Error)(nil); errors.As(err, &wire) {
		return nil
	}
	return err
}

// maxResources is how many resources of a server are stored for completion.
const maxResources = 1000

// promptDescription is a server's description of a prompt.
type promptDescription struct {
	Title       string                `json:"title,omitempty"`
	Description string                `json:"description,omitempty"`
	Args        []*sdk.PromptArgument `json:"arguments,omitempty"`
}

// toolDescription is a server's description of a tool.
type toolDescription struct {
	Title       string               `json:"title,omitempty"`
	Description string               `json:"description,omitempty"`
	Schema      any                  `json:"schema,omitempty"`
	Annotations *sdk.ToolAnnotations `json:"annotations,omitempty"`
}

// maxItems is how many tools of a server's list are read: more than can be pinned.
const maxItems = 2000

// lines forwards only the lines of a server's output that are messages. Many servers also
// print a greeting there, or output of a package manager; such lines are only logged.
type lines struct {
	src  io.ReadCloser
	log  *tail
	buf  []byte
	pass []byte
}

func newLines(src io.ReadCloser, log *tail) io.ReadCloser { return &lines{src: src, log: log} }

func (l *lines) Read(p []byte) (int, error) {
	for len(l.pass) == 0 {
		if i := bytes.IndexByte(l.buf, '\n'); i >= 0 {
			line := l.buf[:i+1]
			if t := bytes.TrimSpace(line); len(t) > 0 && t[0] == '{' && json.Valid(t) {
				l.pass = line
			} else if len(t) > 0 {
				_, _ = l.log.Write(append(bytes.Clone(t[:min(len(t), maxNoise)]), '\n'))
			}
			l.buf = l.buf[i+1:]
			continue
		}
		if len(l.buf) > maxMessage {
			return 0, fmt.Errorf("it sent a message of more than %d MB", maxMessage>>20)
		}
		chunk := make([]byte, 64<<10)
		n, err := l.src.Read(chunk)
		l.buf = append(l.buf, chunk[:n]...)
		if n == 0 && err != nil {
			return 0, err
		}
	}
	n := copy(p, l.pass)
	l.pass = l.pass[n:]
	return n, nil
}

func (l *lines) Close() error { return l.src.Close() }

// tail keeps the end of the written text.
type tail struct {
	mu sync.Mutex
	b  []byte
}

func (t *tail) Write(p []byte) (int, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.b = append(t.b, p[max(0, len(p)-maxLog):]...)
	if over := len(t.b) - maxLog; over > 0 {
		t.b = append(t.b[:0], t.b[over:]...)
	}
	return len(p), nil
}

func (t *tail) clear() {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.b = nil
}

// lines returns the last n lines.
func (t *tail) lines(n int) []string {
	t.mu.Lock()
	defer t.mu.Unlock()
	all := strings.Split(strings.TrimSpace(strings.ToValidUTF8(string(t.b), "\uFFFD")), "\n")
	if len(all) == 1 && all[0] == "" {
		return nil
	}
	return all[max(0, len(all)-n):]
}

func cut(s string, n int) string {
	s = strings.ToValidUTF8(s, "\uFFFD")
	if len(s) <= n {
		return s
	}
	return strings.ToValidUTF8(s[:n], "") + "…"
}
