// Package replay records a model's replies, and plays a recording as a model: for tests
// of hooks, rules and CI without a key, a network or costs.
//
// A recording is a text file with one JSON object per line. The first line describes the
// model. Every other line is an exchange: the conversation that asked, and the reply or
// the error. Of a request only the beginning of the last prompt is stored, for people who
// read the file.
//
// It promises that a recording has no secret that the mask function knows, that it is
// complete up to the last whole reply whenever the process ends, and that the replies of
// a conversation are played in their order, even if several conversations (of agents) ask
// in another order than before. It refuses a recording of an unknown format version.
package replay

import (
	"bufio"
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"iter"
	"os"
	"path/filepath"
	"strings"
	"sync"

	"github.com/pawl-agent/pawl/internal/core/cut"
	"github.com/pawl-agent/pawl/internal/core/fault"
	"github.com/pawl-agent/pawl/internal/core/llm"
)

// version is the version of the format.
const version = 1

// lineLimit is the longest line of a recording, in bytes.
const lineLimit = 64 << 20

// head is the first line.
type head struct {
	Version int      `json:"pawl_recording"`
	Model   llm.Info `json:"model"`
}

// exchange is one request and its reply or error.
type exchange struct {
	// Of identifies the conversation: a digest of its first prompt.
	Of     string     `json:"conversation"`
	Prompt string     `json:"prompt"` // the beginning of the last prompt, for readers
	Reply  *llm.Reply `json:"reply,omitempty"`
	Error  *failure   `json:"error,omitempty"`
}

// failure is an error of the model.
type failure struct {
	Category  fault.Category `json:"category"`
	Message   string         `json:"message"`
	Hint      string         `json:"hint,omitempty"`
	Status    int            `json:"status,omitempty"`
	Retryable bool           `json:"retryable,omitempty"`
	// TooLong means that the request did not fit into the model's window.
	TooLong bool `json:"too_long,omitempty"`
}

// shown is the most characters of a prompt in a recording.
const shown = 80

// Recorder writes one recording. It is safe for concurrent use.
type Recorder struct {
	path string
	mask func([]byte) []byte

	mu  sync.Mutex
	out *os.File
	err error
}

// NewRecorder returns a recorder that writes to a file. The file must not exist, so that
// recordings are never mixed; it is created at the first reply. mask removes secrets.
func NewRecorder(path string, mask func([]byte) []byte) *Recorder {
	return &Recorder{path: path, mask: mask}
}

func (r *Recorder) Wrap(m llm.Model) llm.Model {
	w := recorded{m, r}
	if e, ok := m.(llm.Encoded); ok {
		return encoded{w, e}
	}
	return w
}

// Close ends the recording. Its error explains why the file is not complete.
func (r *Recorder) Close() error {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.out != nil {
		r.err = errors.Join(r.err, r.out.Close())
		r.out = nil
	}
	return r.err
}

type recorded struct {
	llm.Model
	r *Recorder
}

// Close closes the wrapped model, if it can be closed.
func (m recorded) Close() error {
	if c, ok := m.Model.(io.Closer); ok {
		return c.Close()
	}
	return nil
}

type encoded struct {
	recorded
	of llm.Encoded
}

func (e encoded) Codec() llm.Codec { return e.of.Codec() }

// Stream implements llm.Model. If a reply cannot be recorded, the stream ends with an
// error: an incomplete recording would be played as another conversation.
func (m recorded) Stream(ctx context.Context, q *llm.Request) iter.Seq2[llm.Delta, error] {
	return func(yield func(llm.Delta, error) bool) {
		for d, err := range m.Model.Stream(ctx, q) {
			x := exchange{Of: conversation(q), Prompt: beginning(q), Reply: d.Reply}
			if err != nil {
				x.Error = failureOf(err)
			}
			if x.Error != nil && ctx.Err() == nil || x.Reply != nil {
				if werr := m.r.write(m.Info(), x); werr != nil {
					yield(llm.Delta{}, fault.NewConfiguration("PAWL_RECORD names the file", "the reply could not be recorded: %v", werr))
					return
				}
			}
			if !yield(d, err) {
				return
			}
		}
	}
}

func (r *Recorder) write(of llm.Info, x exchange) error {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.err != nil {
		return r.err
	}
	if r.out == nil {
		if r.out, r.err = os.OpenFile(r.path, os.O_CREATE|os.O_EXCL|os.O_WRONLY|os.O_APPEND, 0o600); r.err != nil {
			return r.err
		}
		if r.err = r.line(head{version, of}); r.err != nil {
			return r.err
		}
	}
	r.err = r.line(x)
	return r.err
}

func (r *Recorder) line(v any) error {
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(v); err != nil {
		return err
	}
	line := r.mask(b.Bytes())
	if !json.Valid(line) {
		return errors.New("it is not valid JSON without its secrets")
	}
	_, err := r.out.Write(line)
	return err
}

func failureOf(err error) *failure {
	f := (*fault.Error)(nil)
	if !errors.As(err, &f) {
		return &failure{Category: fault.Internal, Message: err.Error()}
	}
	if f.Category == fault.Cancellation {
		return nil
	}
	message := f.Message
	if f.Err != nil {
		message = strings.TrimPrefix(message+": "+f.Err.Error(), ": ")
	}
	return &failure{Category: f.Category, Message: message, Hint: f.Hint, Status: f.Status, Retryable: f.Retryable, TooLong: errors.Is(err, fault.ErrContextLength)}
}

// conversation returns an id for the conversation of a request: a hash of its first
// prompt without surrounding blanks.
func conversation(q *llm.Request) string {
	for _, m := range q.All() {
		if m.Role == llm.User && m.Text() != "" {
			sum := sha256.Sum256([]byte(strings.TrimSpace(m.Text())))
			return hex.EncodeToString(sum[:8])
		}
	}
	return ""
}

// beginning returns the beginning of the last prompt's first line.
func beginning(q *llm.Request) string {
	ms := q.All()
	for i := len(ms) - 1; i >= 0; i-- {
		if m := ms[i]; m.Role == llm.User && m.Text() != "" {
			line, _, _ := strings.Cut(strings.TrimSpace(m.Text()), "\n")
			return cut.Runes(line, shown)
		}
	}
	return ""
}

// Model plays a recording. It is safe for concurrent use.
type Model struct {
	info llm.Info
	name string

	mu   sync.Mutex
	left []exchange
	all  int
}

// Open reads a recording. It closes the file.
func Open(path string) (*Model, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, fault.NewConfiguration("PAWL_RECORD=FILE makes a recording", "the recording cannot be read: %v", err)
	}
	defer f.Close()
	m := &Model{name: filepath.Base(path)}
	if err := m.read(f); err != nil {
		return nil, fault.NewConfiguration("PAWL_RECORD=FILE makes a recording", "%s is not a recording that can be played: %v", path, err)
	}
	return m, nil
}

func (m *Model) read(r io.Reader) error {
	in := bufio.NewScanner(r)
	in.Buffer(make([]byte, 0, 64<<10), lineLimit)
	var h head
	for n := 1; in.Scan(); n++ {
		if n == 1 {
			if err := json.Unmarshal(in.Bytes(), &h); err != nil || h.Version == 0 {
				return errors.New("its first line does not describe a model")
			}
			if h.Version != version {
				return fmt.Errorf("its format is version %d, and this pawl knows %d", h.Version, version)
			}
			continue
		}
		var x exchange
		if err := json.Unmarshal(in.Bytes(), &x); err != nil {
			return fmt.Errorf("line %d: %w", n, err)
		}
		if (x.Reply == nil) == (x.Error == nil) {
			return fmt.Errorf("line %d has no reply", n)
		}
		m.left = append(m.left, x)
	}
	if err := in.Err(); err != nil {
		return err
	}
	if h.Version == 0 {
		return errors.New("it is empty")
	}
	m.all = len(m.left)
	m.info = h.Model
	// The facts about edits, windows and images are the recorded model's. No provider is
	// asked, and nothing is paid.
	m.info.Provider, m.info.Model, m.info.API, m.info.From, m.info.Price = "replay", m.name, "replay", "a recording", &llm.Price{}
	return nil
}

func (m *Model) Info() llm.Info { return m.info }

// take returns the next exchange of a conversation. For a conversation that is not in the
// recording (its prompt was changed) it returns the first exchange that is left.
func (m *Model) take(of string) (exchange, bool) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if len(m.left) == 0 {
		return exchange{}, false
	}
	at := 0
	for i, x := range m.left {
		if x.Of == of {
			at = i
			break
		}
	}
	x := m.left[at]
	m.left = append(m.left[:at:at], m.left[at+1:]...)
	return x, true
}

func (m *Model) Stream(ctx context.Context, q *llm.Request) iter.Seq2[llm.Delta, error] {
	return func(yield func(llm.Delta, error) bool) {
		if ctx.Err() != nil {
			yield(llm.Delta{}, fault.NewCancellation(context.Cause(ctx)))
			return
		}
		x, ok := m.take(conversation(q))
		if !ok {
			yield(llm.Delta{}, fault.NewConfiguration("record it again, or ask for less", "the recording %s has no more replies: all %d were played", m.name, m.all))
			return
		}
		if x.Error != nil {
			yield(llm.Delta{}, x.Error.fault(m.name))
			return
		}
		for _, d := range deltas(x.Reply) {
			if !yield(d, nil) {
				return
			}
		}
	}
}

func (f *failure) fault(name string) error {
	e := &fault.Error{Category: f.Category, Message: f.Message, Hint: f.Hint, Status: f.Status, Retryable: f.Retryable, Provider: name}
	if f.TooLong {
		e.Kind = fault.ErrContextLength
	}
	return e
}

// deltas returns the pieces in which a reply is streamed: one for each part.
func deltas(r *llm.Reply) []llm.Delta {
	var out []llm.Delta
	calls := 0
	for _, p := range r.Message.Parts {
		switch p.Kind {
		case llm.Reasoning:
			out = append(out, llm.Delta{Kind: llm.DeltaReasoning, Text: p.Text})
		case llm.Text:
			out = append(out, llm.Delta{Kind: llm.DeltaText, Text: p.Text})
		case llm.CallPart:
			out = append(out, llm.Delta{Kind: llm.DeltaCall, Index: calls, ID: p.Call.ID, Name: p.Call.Name, Text: string(p.Call.Args)})
			calls++
		}
	}
	return append(out, llm.Delta{Kind: llm.Done, Reply: r})
}
