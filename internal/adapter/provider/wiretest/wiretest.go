// Package wiretest replays recorded HTTP exchanges with model providers through the real
// client, and compares the results with the recordings' index. It knows the recordings'
// format, not their content: the same checks apply to all files, and exceptions are
// listed with a reason (known.go).
//
// The recordings are in the folder of PAWL_WIRE, or in ../shared/wire next to the module.
// Without them, the hand-written fixtures in testdata, which have the same format, still
// run. Tests of other packages use Serve to drive a whole agent with a recorded session.
package wiretest

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"

	"github.com/pawl-agent/pawl/internal/adapter/provider"
	"github.com/pawl-agent/pawl/internal/adapter/provider/anthropic"
	"github.com/pawl-agent/pawl/internal/adapter/provider/gemini"
	"github.com/pawl-agent/pawl/internal/adapter/provider/ollama"
	"github.com/pawl-agent/pawl/internal/adapter/provider/openaichat"
	"github.com/pawl-agent/pawl/internal/adapter/provider/responses"
	"github.com/pawl-agent/pawl/internal/core/llm"
)

// apis makes the API of a recording. A new API is one line here.
var apis = map[string]func(Case) provider.API{
	anthropic.Name:  func(Case) provider.API { return anthropic.New(provider.Tuning{}) },
	gemini.Name:     func(Case) provider.API { return gemini.New(provider.Tuning{}) },
	openaichat.Name: func(c Case) provider.API { return openaichat.New(openaichat.DialectFor(c.who(), c.Model), nil) },
	responses.Name:  func(c Case) provider.API { return responses.New(responses.DialectFor(c.who()), nil) },
	ollama.Name:     func(Case) provider.API { return ollama.New(0, nil) },
}

// hosts maps a host to its provider, if it offers another provider's API.
var hosts = map[string]string{
	"ai-gateway.vercel.sh": "vercel", "api.deepseek.com": "deepseek", "api.groq.com": "groq", "api.mistral.ai": "mistral",
	"api.openai.com": "openai", "api.x.ai": "xai", "api.z.ai": "zai", "openrouter.ai": "openrouter", "ollama.com": "ollama",
	"resource.openai.azure.com": "azure", "resource.services.ai.azure.com": "azure", "router.huggingface.co": "huggingface",
}

// who returns the provider that answers, by its name in the catalogue.
func (c Case) who() string {
	if name, ok := hosts[c.Host]; ok {
		return name
	}
	return "openai-compatible"
}

// Case is one entry of an index.
type Case struct {
	File     string   `json:"file"`
	API      string   `json:"api"`
	Provider string   `json:"provider"`
	Host     string   `json:"host"`
	Model    string   `json:"model"`
	Session  *Session `json:"session"`
	Status   int      `json:"status"`
	Expected Expected `json:"expected"`

	dir string
}

// Session is a recording's place in a chain. Follows is the earlier step whose messages
// begin this step's messages, 0 for none.
type Session struct {
	Name    string `json:"name"`
	Step    int    `json:"step"`
	Of      int    `json:"of"`
	Follows int    `json:"follows"`
}

// Expected is the reply that an index expects. Complete is nil if no terminal event is
// expected (an error answer).
type Expected struct {
	Stream     bool            `json:"stream"`
	Complete   *bool           `json:"complete"`
	Model      string          `json:"model"`
	ResponseID string          `json:"response_id"`
	Finish     string          `json:"finish_reason"`
	Text       *Digest         `json:"text"`
	Reasoning  *Digest         `json:"reasoning"`
	Signatures []Digest        `json:"signatures"`
	Redacted   int             `json:"redacted_thinking_blocks"`
	Calls      []ExpectedCall  `json:"tool_calls"`
	Blocks     []string        `json:"blocks"`
	Refusal    string          `json:"refusal"`
	Error      json.RawMessage `json:"error"`
	Usage      json.RawMessage `json:"usage"`
	FinishSaid string          `json:"finish_message"`
	Feedback   json.RawMessage `json:"prompt_feedback"`
	Quirks     []string        `json:"quirks"`
}

// Digest is a text's length and hash.
type Digest struct {
	Chars  int    `json:"chars"`
	SHA256 string `json:"sha256"`
	First  string `json:"first80"`
}

// ExpectedCall is a tool call; ID is nil if the provider sent none.
type ExpectedCall struct {
	ID   *string         `json:"id"`
	Name string          `json:"name"`
	Args json.RawMessage `json:"args"`
}

// Recording is one exchange.
type Recording struct {
	Request struct {
		Method string          `json:"method"`
		Path   string          `json:"path"`
		Body   json.RawMessage `json:"body"`
	} `json:"request"`
	Response struct {
		Status  int               `json:"status"`
		Headers map[string]string `json:"headers"`
		Body    string            `json:"body"`
	} `json:"response"`
}

// Dir returns the folder of the recordings, "" if there is none. It is an error if
// PAWL_WIRE names a folder without recordings.
func Dir() (string, error) {
	if dir := os.Getenv("PAWL_WIRE"); dir != "" {
		if _, err := os.Stat(filepath.Join(dir, "index.json")); err != nil {
			return "", fmt.Errorf("PAWL_WIRE: %w", err)
		}
		return dir, nil
	}
	root, err := moduleRoot()
	if err != nil {
		return "", err
	}
	dir := filepath.Join(root, "..", "shared", "wire")
	if _, err := os.Stat(filepath.Join(dir, "index.json")); err != nil {
		return "", nil
	}
	return dir, nil
}

func moduleRoot() (string, error) {
	dir, err := os.Getwd()
	if err != nil {
		return "", err
	}
	for {
		if _, err := os.Stat(filepath.Join(dir, "go.mod")); err == nil {
			return dir, nil
		}
		up := filepath.Dir(dir)
		if up == dir {
			return "", fmt.Errorf("no go.mod above the working folder")
		}
		dir = up
	}
}

// Index returns the cases of a folder of recordings.
func Index(dir string) ([]Case, error) {
	raw, err := os.ReadFile(filepath.Join(dir, "index.json"))
	if err != nil {
		return nil, err
	}
	var index struct {
		Cases []Case `json:"cases"`
	}
	if err := json.Unmarshal(raw, &index); err != nil {
		return nil, fmt.Errorf("%s: %w", dir, err)
	}
	for i := range index.Cases {
		index.Cases[i].dir = dir
	}
	return index.Cases, nil
}

// Load reads the recording of a case.
func (c Case) Load() (*Recording, error) {
	raw, err := os.ReadFile(filepath.Join(c.dir, filepath.FromSlash(c.File)))
	if err != nil {
		return nil, err
	}
	r := new(Recording)
	if err := json.Unmarshal(raw, r); err != nil {
		return nil, fmt.Errorf("%s: %w", c.File, err)
	}
	return r, nil
}

// Wire returns the API of the case; false if pawl does not support it.
func (c Case) Wire() (provider.API, bool) {
	make, ok := apis[c.API]
	if !ok {
		return nil, false
	}
	return make(c), true
}

// Info returns the description of the case's model.
func (c Case) Info() llm.Info {
	return llm.Info{Provider: c.Provider, Model: c.Model, API: c.API, From: c.Host}
}

// Chain returns the cases of a session that follow one another up to the last one, in
// order.
func Chain(cases []Case, session string) []Case {
	var in []Case
	for _, c := range cases {
		if c.Session != nil && c.Session.Name == session {
			in = append(in, c)
		}
	}
	slices.SortFunc(in, func(a, b Case) int { return a.Session.Step - b.Session.Step })
	if len(in) == 0 {
		return nil
	}
	var chain []Case
	for at := in[len(in)-1]; ; {
		chain = append(chain, at)
		i := slices.IndexFunc(in, func(c Case) bool { return c.Session.Step == at.Session.Follows })
		if at.Session.Follows == 0 || i < 0 || i >= slices.IndexFunc(in, func(c Case) bool { return c.File == at.File }) {
			break
		}
		at = in[i]
	}
	slices.Reverse(chain)
	return chain
}
