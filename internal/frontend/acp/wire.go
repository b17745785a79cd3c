package acp

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"sync"
)

// object is a JSON object that is sent.
type object = map[string]any

// The following types are what the editor sends, in both versions; pawl reads no more of it.

type initializeParams struct {
	Version int          `json:"protocolVersion"`
	Client  capabilities `json:"clientCapabilities"` // of version 1
	Second  capabilities `json:"capabilities"`       // of version 2
}

// capabilities are what the editor offers. Version 2 has neither files nor this sign-in.
type capabilities struct {
	Meta struct {
		// Terminal: it shows the output of pawl's commands in a terminal. This is
		// what editors agreed on before version 2 had it.
		Terminal bool `json:"terminal_output"`
	} `json:"_meta"`
	Files struct {
		Read  bool `json:"readTextFile"`
		Write bool `json:"writeTextFile"`
	} `json:"fs"`
	Auth struct {
		Terminal any `json:"terminal"` // true; version 2 has an object
	} `json:"auth"`
	// Elicitation is how it asks the person for text. Version 1 does not have it yet: it is
	// used if the editor announces it.
	Elicitation *struct {
		Form *struct{} `json:"form"`
	} `json:"elicitation"`
}

type authenticateParams struct {
	Method string `json:"methodId"`
}

type sessionParams struct {
	SessionID string `json:"sessionId"`
}

type openParams struct {
	SessionID  string   `json:"sessionId"`
	Dir        string   `json:"cwd"`
	Dirs       []string `json:"additionalDirectories"`
	Servers    []server `json:"mcpServers"`
	ReplayFrom *struct {
		Type string `json:"type"`
	} `json:"replayFrom"`
}

// server is an MCP server. In version 1, a server that is a program has no type.
type server struct {
	Type    string     `json:"type"`
	Name    string     `json:"name"`
	Command string     `json:"command"`
	Args    []string   `json:"args"`
	Env     []variable `json:"env"`
	URL     string     `json:"url"`
	Headers []variable `json:"headers"`
}

type variable struct {
	Name  string `json:"name"`
	Value string `json:"value"`
}

type listParams struct {
	Dir    string `json:"cwd"`
	Cursor string `json:"cursor"`
}

type promptParams struct {
	SessionID string  `json:"sessionId"`
	Prompt    []block `json:"prompt"`
}

type modeParams struct {
	SessionID string `json:"sessionId"`
	ModeID    string `json:"modeId"`
}

type optionParams struct {
	SessionID string          `json:"sessionId"`
	ConfigID  string          `json:"configId"`
	Value     json.RawMessage `json:"value"`
}

// outcome is the answer to a question about a permission.
type outcome struct {
	Outcome struct {
		Outcome string `json:"outcome"` // selected, cancelled
		Option  string `json:"optionId"`
	} `json:"outcome"`
}

// typed is the answer to a question that expects words.
type typed struct {
	Action  string `json:"action"` // accept, decline, cancel
	Content struct {
		Answer string `json:"answer"`
	} `json:"content"`
}

// servers returns MCP servers in the format of .mcp.json. A value is used as it is: the
// editor has replaced its variables already.
func servers(list []server) json.RawMessage {
	if len(list) == 0 {
		return nil
	}
	all := map[string]object{}
	for _, s := range list {
		o := object{}
		if s.URL != "" {
			o["type"], o["url"], o["headers"] = s.Type, s.URL, pairs(s.Headers)
		} else {
			o["type"], o["command"], o["args"], o["env"] = "stdio", s.Command, s.Args, pairs(s.Env)
		}
		all[s.Name] = o
	}
	b, err := json.Marshal(object{"mcpServers": all})
	if err != nil {
		panic(err) // all of it can be encoded
	}
	return b
}

func pairs(list []variable) map[string]string {
	out := map[string]string{}
	for _, v := range list {
		out[v.Name] = v.Value
	}
	return out
}

// lineLimit is the longest message: a prompt with images.
const lineLimit = 64 << 20

// lines is a message of JSON on each line, a jsonrpc2.ObjectStream.
type lines struct {
	in    *bufio.Scanner
	err   io.Writer
	ended func() // is called at the end of the input, before it is reported

	mu  sync.Mutex
	out io.Writer
}

func newLines(in io.Reader, out, err io.Writer) *lines {
	s := bufio.NewScanner(in)
	s.Buffer(make([]byte, 0, 64<<10), lineLimit)
	return &lines{in: s, out: out, err: err}
}

// ReadObject is part of jsonrpc2.ObjectStream. A line that is not a message is skipped
// and reported, not answered: it has no id. After an error ReadObject is not called
// again.
func (l *lines) ReadObject(v any) error {
	err := l.next(v)
	if err != nil && l.ended != nil {
		l.ended()
	}
	return err
}

func (l *lines) next(v any) error {
	for l.in.Scan() {
		text := bytes.TrimSpace(l.in.Bytes())
		if len(text) == 0 {
			continue
		}
		if err := json.Unmarshal(text, v); err != nil {
			fmt.Fprintf(l.err, "pawl: a line of the editor is not a message: %v\n", err)
			continue
		}
		return nil
	}
	if err := l.in.Err(); err != nil {
		if errors.Is(err, bufio.ErrTooLong) {
			err = fmt.Errorf("a message of the editor is longer than %d MB", lineLimit>>20)
		}
		fmt.Fprintf(l.err, "pawl: %v\n", err)
		return err
	}
	return io.EOF
}

func (l *lines) WriteObject(v any) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	enc := json.NewEncoder(l.out) // which writes all of it at once
	enc.SetEscapeHTML(false)
	return enc.Encode(v)
}

// Close is part of jsonrpc2.ObjectStream. The pipes belong to the process.
func (l *lines) Close() error { return nil }
