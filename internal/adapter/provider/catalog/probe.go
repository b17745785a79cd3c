package catalog

import (
	"context"
	"encoding/json"
	"io"
	"maps"
	"net/http"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/pawl-agent/pawl/internal/adapter/provider"
)

// probeTime is the time limit of one request to a server on this machine.
const probeTime = 300 * time.Millisecond

// Local is a model server that identified itself.
type Local struct {
	Provider string
	URL      string   // its base URL
	Models   []string // as the provider names them; may be empty
}

// probeRequest describes how one kind of server is asked and recognised.
type probeRequest struct {
	provider string
	base     string
	key      string // sent only if the person named the address
	ask      func(get func(path string, into any) bool) (models []string, ok bool)
}

// Probe asks model servers for their identity and their models, at the addresses that
// variables name or at their usual local ports: small GETs without content, in parallel,
// 300 ms each (1 s on other machines). An open port with another answer is not listed,
// and pawl sends no other request to it. Keys are sent only to addresses that the person
// named.
func Probe(ctx context.Context, transport http.RoundTripper, env func(string) string) []Local {
	at := map[string]string{}
	for name := range asks {
		r, _ := find(name)
		at[name], _ = address(r, env)
	}
	return probe(ctx, transport, env, at)
}

// asks are the functions that recognise each kind of server.
var asks = map[string]func(get func(path string, into any) bool) ([]string, bool){
	"ollama": askOllama, "lmstudio": askLMStudio, "llamacpp": askLlamaCPP, "vllm": askVLLM, compatible: askAny,
}

func probe(ctx context.Context, transport http.RoundTripper, env func(string) string, at map[string]string) []Local {
	var knocks []probeRequest
	for _, name := range slices.Sorted(maps.Keys(asks)) {
		r, _ := find(name)
		k := probeRequest{provider: name, base: strings.TrimSuffix(at[name], "/v1"), ask: asks[name]}
		if at[name] != r.base { // the person named it
			k.key, _ = keyOf(r, env)
		}
		knocks = append(knocks, k)
	}
	found := make([]*Local, len(knocks))
	var wg sync.WaitGroup
	for i, k := range knocks {
		if k.base == "" {
			continue
		}
		wg.Go(func() {
			models, ok := k.ask(func(path string, into any) bool { return fetch(ctx, transport, k, path, into) })
			if ok {
				found[i] = &Local{Provider: k.provider, URL: k.base, Models: models}
			}
		})
	}
	wg.Wait()
	var out []Local
	for _, l := range found {
		if l != nil {
			out = append(out, *l)
		}
	}
	return out
}

// fetch gets a JSON text of at most 1 MB and reports success. It follows no redirect.
func fetch(ctx context.Context, transport http.RoundTripper, k probeRequest, path string, into any) bool {
	most := probeTime
	if !isHere(k.base) {
		most = time.Second
	}
	ctx, cancel := context.WithTimeout(ctx, most)
	defer cancel()
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, provider.Join(k.base, path), nil)
	if err != nil {
		return false
	}
	if k.key != "" {
		req.Header.Set("Authorization", "Bearer "+k.key)
	}
	if transport == nil {
		transport = http.DefaultTransport
	}
	resp, err := transport.RoundTrip(req)
	if err != nil {
		return false
	}
	defer resp.Body.Close()
	body, err := io.ReadAll(io.LimitReader(resp.Body, 1<<20))
	return err == nil && resp.StatusCode == http.StatusOK && json.Unmarshal(body, into) == nil
}

func askOllama(get func(string, any) bool) ([]string, bool) {
	var v struct {
		Version string `json:"version"`
	}
	if !get("/api/version", &v) || v.Version == "" {
		return nil, false
	}
	var tags struct {
		Models []struct {
			Name string `json:"name"`
		} `json:"models"`
	}
	if !get("/api/tags", &tags) || tags.Models == nil {
		return nil, false
	}
	var names []string
	for _, m := range tags.Models {
		names = add(names, m.Name)
	}
	return names, true
}

// listed is OpenAI's list of models, with the fields that local servers add.
type listed struct {
	Data []struct {
		ID        string `json:"id"`
		Object    string `json:"object"`
		Type      string `json:"type"`      // lm studio: llm, vlm, embeddings
		Publisher string `json:"publisher"` // lm studio
		OwnedBy   string `json:"owned_by"`
	} `json:"data"`
	Object string `json:"object"`
}

func askLMStudio(get func(string, any) bool) ([]string, bool) {
	var l listed
	var names []string
	if get("/api/v0/models", &l) && l.Object == "list" && l.Data != nil {
		for _, m := range l.Data {
			if m.Type == "" {
				return nil, false // another server's list
			}
			if m.Type != "embeddings" {
				names = add(names, m.ID)
			}
		}
		return names, true
	}
	l = listed{}
	if !get("/v1/models", &l) || l.Object != "list" || len(l.Data) == 0 {
		return nil, false
	}
	for _, m := range l.Data {
		if m.OwnedBy != "organization_owner" { // only LM Studio sends this
			return nil, false
		}
		if !strings.Contains(m.ID, "embed") {
			names = add(names, m.ID)
		}
	}
	return names, true
}

func askLlamaCPP(get func(string, any) bool) ([]string, bool) {
	var props struct {
		Settings json.RawMessage `json:"default_generation_settings"`
	}
	known := get("/props", &props) && len(props.Settings) > 0
	var l listed
	if !get("/v1/models", &l) {
		return nil, known
	}
	var names []string
	for _, m := range l.Data {
		if m.OwnedBy == "llamacpp" {
			known = true
		}
		names = add(names, m.ID)
	}
	if !known {
		return nil, false
	}
	return names, true
}

func askVLLM(get func(string, any) bool) ([]string, bool) {
	var l listed
	if !get("/v1/models", &l) || l.Object != "list" || len(l.Data) == 0 {
		return nil, false
	}
	var names []string
	for _, m := range l.Data {
		if m.OwnedBy != "vllm" {
			return nil, false
		}
		names = add(names, m.ID)
	}
	return names, true
}

// askAny returns the models of a server that the person named, whatever kind it is.
func askAny(get func(string, any) bool) ([]string, bool) {
	var l listed
	if !get("/v1/models", &l) || l.Data == nil {
		return nil, false
	}
	var names []string
	for _, m := range l.Data {
		names = add(names, m.ID)
	}
	return names, true
}

// add appends a plausible name: the answers of a port are not trusted.
func add(names []string, name string) []string {
	if name == "" || len(name) > 200 || len(names) >= 100 {
		return names
	}
	for _, r := range name {
		if r <= ' ' || r == 0x7f || r > 0x7e {
			return names
		}
	}
	return append(names, name)
}
