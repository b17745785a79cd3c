// Package catalog describes the model providers and their models: names, wire APIs,
// addresses, the variables that hold keys, windows and prices. It resolves a person's
// choice to one model, and explains for every other model why it is not usable. Prices
// are public list prices. An unknown price is never 0: a price of 0 is only for models
// that run on this machine.
//
// It sends nothing, except that Probe asks local ports for their identity, with small
// GETs and no content. Formatting a value never shows a key.
package catalog

import (
	"context"
	"errors"
	"net"
	"net/http"
	"net/url"
	"strconv"
	"strings"

	"github.com/pawl-agent/pawl/internal/adapter/provider"
	"github.com/pawl-agent/pawl/internal/adapter/provider/anthropic"
	"github.com/pawl-agent/pawl/internal/adapter/provider/gemini"
	"github.com/pawl-agent/pawl/internal/adapter/provider/ollama"
	"github.com/pawl-agent/pawl/internal/adapter/provider/openaichat"
	"github.com/pawl-agent/pawl/internal/adapter/provider/responses"
	"github.com/pawl-agent/pawl/internal/core/fault"
	"github.com/pawl-agent/pawl/internal/core/llm"
)

// ErrNone is the kind of the configuration error if no flag, variable, configuration or
// key selects a model.
var ErrNone = errors.New("no model is configured")

// defaultContext is the context requested from Ollama by default, in tokens: Ollama's own
// default is too small for an agent, and it truncates silently.
const defaultContext = 32768

// Override is what a person's configuration sets for a model. Zero fields change nothing.
type Override struct {
	Price     *llm.Price
	Window    int
	MaxOutput int
	Images    *bool
	PDF       *bool
	Audio     *bool
}

// Config is what a person's configuration sets for models.
type Config struct {
	Model  string              // as after -m
	Models map[string]Override // by provider/model or model
	// Store allows servers to store conversations, so that requests are shorter.
	Store bool
}

// Want is everything that may select the model.
type Want struct {
	Flag   string // after -m
	Effort string // the reasoning effort that the person wants; "": the family's
	// TaskBudget is how many tokens a task may take; 0: nothing
	// is said of it.
	TaskBudget int
	Env        func(string) string
	Config     Config
	// Kept returns the stored key for a variable that is not set. Nil or "" means none.
	Kept func(name string) string
	// Program runs the program that AWS's files name for credentials; nil refuses it.
	Program Program
}

// Program runs a command line and returns its output; files are the files that name it.
type Program = func(ctx context.Context, files []string, line string) ([]byte, error)

// withKept returns w with an environment in which stored keys are set, and a function
// that returns where the key of a name comes from.
func (w Want) withKept() (Want, func(name string) string) {
	env, kept := w.Env, w.Kept
	why := func(name string) string {
		if kept != nil && get(env, name) == "" {
			return "pawl login kept its key"
		}
		return name + " is set"
	}
	if kept == nil {
		return w, why
	}
	names := map[string]bool{}
	for _, name := range KeyNames() {
		names[name] = true
	}
	w.Env = func(name string) string {
		if v := get(env, name); v != "" || !names[name] {
			return v
		}
		return kept(name)
	}
	w.Kept = nil
	return w, why
}

// Choice is the chosen model.
type Choice struct {
	Info    llm.Info
	BaseURL string
	KeyName string // the variable that has the key, or would have it
	URLName string // the variable that has the base URL, or would have it
	Why     string // one phrase: who chose it

	row     row
	key     secret
	cloud   opener // nil: not a cloud's
	tuning  provider.Tuning
	asked   bool   // the person asks for a reasoning effort
	version string // of Azure's API
	store   bool   // the server may keep the conversation
	other   bool   // if the API is not the right one there, OpenAI's other one is asked
}

// secret is a key that no verb of fmt and no encoder can print.
type secret struct{ get func() string }

func keep(s string) secret { return secret{func() string { return s }} }

func (s secret) reveal() string {
	if s.get == nil {
		return ""
	}
	return s.get()
}

// String returns the model's name, its host and why it was chosen.
func (c Choice) String() string { return c.Info.Ref() + " from " + c.Info.From + " (" + c.Why + ")" }

// Paced reports whether the model is told of the task's budget.
func (c Choice) Paced() bool { return c.tuning.TaskBudget > 0 }

func (c Choice) GoString() string { return c.String() }

// Open returns the model. transport sends its requests; nil means one that keeps its
// connection during long tool runs. known is what was learned of servers in this process;
// nil: nothing. For the offline model it returns an error: the caller creates that one,
// since it is not a provider.
func (c Choice) Open(transport http.RoundTripper, known *Endpoints) (llm.Model, error) {
	m, err := c.client(transport)
	if err != nil {
		return nil, err
	}
	if !c.other {
		return m, nil
	}
	o := c
	o.Info.API = openaichat.Name
	if c.Info.API == openaichat.Name {
		o.Info.API = responses.Name
	}
	second, err := o.client(transport)
	if err != nil {
		return nil, err
	}
	return newEither(c, m, second, known), nil
}

func (c Choice) client(transport http.RoundTripper) (*provider.Client, error) {
	cfg := provider.Config{
		BaseURL: c.BaseURL, Key: c.key.reveal(), KeyName: c.KeyName, URLName: c.URLName, Info: c.Info, NoLimit: c.tuning.NoLimit,
	}
	if transport != nil {
		cfg.HTTP = &http.Client{Transport: transport}
	}
	var err error
	if cfg.API, err = c.api(); err != nil {
		return nil, err
	}
	if c.cloud != nil {
		cfg.API, cfg.Auth = c.cloud(transport)
	}
	if c.KeyName == azureToken {
		cfg.Header = http.Header{"Authorization": {"Bearer " + cfg.Key}, "Api-Key": nil}
	}
	if c.KeyName == authToken { // a token is sent another way than a key
		cfg.Header = http.Header{"Authorization": {"Bearer " + cfg.Key}, "X-Api-Key": nil}
	}
	return provider.New(cfg)
}

func (c Choice) api() (provider.API, error) {
	name := c.row.dialectName()
	if c.cloud != nil {
		api, _ := c.cloud(nil)
		return api, nil
	}
	switch c.Info.API {
	case anthropic.Name:
		return anthropic.New(c.tuning), nil
	case gemini.Name:
		return gemini.New(c.tuning), nil
	case responses.Name:
		d := responses.DialectFor(name)
		d.Tuning = c.tuning
		d.Store = c.store && (name == "openai" || name == "azure") // only these document that they do
		return c.openAI(responses.New(d, nil)), nil
	case openaichat.Name:
		return c.openAI(openaichat.New(c.chat(), nil)), nil
	case ollama.Name:
		return ollama.New(c.Info.Window, nil), nil
	}
	return nil, fault.NewInternal(nil, "%s is not a provider to connect to", c.Info.Provider)
}

// openAI returns the API, at dated addresses if the choice has a version.
func (c Choice) openAI(api encoder) provider.API {
	if c.version != "" {
		return datedAPI{api, c.version}
	}
	return api
}

// choose returns the complete choice for a provider and a model.
func choose(r row, name, why string, w Want) (Choice, error) {
	c := Choice{Why: why, row: r, store: w.Config.Store}
	c.Info = llm.Info{Provider: r.name, Model: name, API: r.api, Family: family(name)}
	if r.kind == builtin {
		c.Info.From, c.Info.Price = "this process", &llm.Price{}
		return c, nil
	}
	if r.kind == cloud {
		c.Info.Model = nameAt(r, name, w.Env)
		return chooseCloud(c, r, w)
	}
	c.BaseURL, c.URLName = address(r, w.Env)
	if r.dialectName() == "azure" {
		c.version = azureVersion(w.Env)
		c.BaseURL, c.Info.API = azureBase(c.BaseURL, c.version), azureAPI(r, c.version)
	}
	if c.BaseURL == "" {
		return c, fault.NewConfiguration("set "+strings.Join(r.urls, " or ")+" to its address", "the address of %s is not known", r.name)
	}
	var key string
	key, c.KeyName = keyOf(r, w.Env)
	if key == "" && r.kind != local && r.kind != anywhere {
		return c, noKey(r, name, w.Env)
	}
	c.key = keep(key)
	c.Info.From = hostOf(c.BaseURL)
	if r.name == "openai" && !sameHost(c.BaseURL, r.base) {
		c.row.name = compatible
	}
	if c.row.name == compatible { // which of OpenAI's APIs its server has, is not known
		c.other, c.Info.API = true, openaichat.Name
		switch {
		case strings.HasSuffix(c.BaseURL, "/chat/completions"): // the address is that of one API
			c.other = false
		case strings.HasSuffix(c.BaseURL, "/responses"):
			c.other, c.Info.API = false, responses.Name
		case familyOf(name, compatible).tuning.Reasons:
			c.Info.API = responses.Name
		}
	}
	c.other = c.other || r.name == "openai-chat"
	describe(&c, r, w)
	return c, nil
}

// charged reports whether a provider charges the maker's price for a model of the table.
// Another base URL changes nothing: a gateway charges what the maker charges. Other hosts
// have their own prices for the same name, and a server on this machine may run open
// weights for free.
func charged(r row, m model, base string) bool {
	switch {
	case r.dialectName() == m.home, r.dialectName() == "azure" && m.home == "openai":
		return true
	case r.name == bedrockName, r.name == foundryName:
		return m.home == "anthropic"
	case r.name == vertexName:
		return m.home == "anthropic" || m.home == "gemini"
	case r.kind == anywhere:
		return !isHere(base) || m.home == "anthropic" || m.home == "openai" || m.home == "gemini" || m.home == "xai"
	}
	return passesThrough(r.name)
}

// describe adds what is known about the model. r is the provider as the person named it.
func describe(c *Choice, r row, w Want) {
	m, priced := lookup(c.Info.Model)
	c.Info.Window, c.Info.MaxOutput, c.Info.Images = m.window, m.output, m.name != "" && !m.text || sees(c.Info.Model)
	c.Info.PDF, c.Info.Audio = reads(*c, m), hears(*c, m)
	c.Info.Search = searches(*c, r, m)
	switch {
	case priced && charged(r, m, c.BaseURL):
		price := m.price
		if c.Info.Search {
			price.Search = searchPrice(m)
		}
		c.Info.Price, c.Info.ListPrice = &price, !sameHost(c.BaseURL, r.base)
	case c.row.kind == local && isHere(c.BaseURL) && !strings.HasSuffix(c.Info.Model, "cloud"):
		c.Info.Price = &llm.Price{} // it runs here
	}
	if c.row.kind == local || c.row.kind == anywhere {
		c.Info.Window, c.Info.MaxOutput = 0, 0 // set when the server starts, which is not known here
	}
	if c.Info.API == ollama.Name {
		c.Info.Window = defaultContext
		if n, err := strconv.Atoi(get(w.Env, "OLLAMA_CONTEXT_LENGTH")); err == nil && n > 0 {
			c.Info.Window = n
		}
	}
	c.tune(r, w)
	for _, name := range []string{c.Info.Model, c.Info.Ref()} { // the more exact one last
		o, ok := w.Config.Models[name]
		if !ok {
			continue
		}
		if o.Price != nil {
			price := *o.Price
			c.Info.Price, c.Info.ListPrice = &price, false
		}
		if o.Window > 0 {
			c.Info.Window = o.Window
		}
		if o.MaxOutput > 0 {
			c.Info.MaxOutput = o.MaxOutput
		}
		set(&c.Info.Images, o.Images)
		set(&c.Info.PDF, o.PDF)
		set(&c.Info.Audio, o.Audio)
	}
	if c.Info.API == ollama.Name { // it has no form for them
		c.Info.PDF, c.Info.Audio = false, false
	} else if c.Info.API == anthropic.Name {
		c.Info.Audio = false
	}
	// Gateways and clouds may not know the longer life.
	if r.name == "anthropic" && sameHost(c.BaseURL, r.base) {
		c.tuning.LongCache = true
		if c.Info.Price != nil {
			c.Info.Price.CacheLong = 2 * c.Info.Price.Input
		}
	}
}

func set(to, from *bool) {
	if from != nil {
		*to = *from
	}
}

// noKey returns an error that names the variable to set, and another provider that could
// serve the model.
func noKey(r row, name string, env func(string) string) error {
	hint := "set " + strings.Join(r.keys, " or ")
	if router, ok := find("openrouter"); ok && r.name != "openrouter" {
		if key, _ := keyOf(router, env); key != "" {
			hint += ", or choose a model of openrouter, whose key is set: -m openrouter/MAKER/MODEL"
		}
	}
	return fault.NewConfiguration(hint, "%s/%s needs a key", r.name, name)
}

// get returns a variable's value without surrounding blanks.
func get(env func(string) string, name string) string {
	if env == nil {
		return ""
	}
	return strings.TrimSpace(env(name))
}

// keyOf returns a provider's key and the variable that holds it; without a key, the first
// variable that could hold it.
func keyOf(r row, env func(string) string) (key, name string) {
	for _, k := range r.keys {
		if v := get(env, k); v != "" {
			return v, k
		}
	}
	if len(r.keys) > 0 {
		name = r.keys[0]
	}
	return "", name
}

// address returns a provider's base URL and the variable that holds it; without one, the
// default URL and the first variable that could hold it.
func address(r row, env func(string) string) (base, name string) {
	for _, u := range r.urls {
		v := strings.TrimRight(get(env, u), "/")
		if v == "" {
			continue
		}
		switch u {
		case ollamaHost:
			v = ollamaAddress(v)
		case azureEndpoint:
			v = strings.TrimSuffix(strings.TrimSuffix(v, "/v1"), "/openai") + "/openai"
		case foundryResource:
			v = "https://" + strings.ToLower(v) + ".services.ai.azure.com/anthropic"
		}
		return v, u
	}
	if len(r.urls) > 0 {
		name = r.urls[0]
	}
	return r.base, name
}

// ollamaAddress parses OLLAMA_HOST as Ollama does: host, port or both, with or without a
// scheme. The address for listening on all interfaces becomes loopback.
func ollamaAddress(v string) string {
	scheme, rest, ok := strings.Cut(v, "://")
	if !ok {
		scheme, rest = "http", v
	}
	hostport, path, _ := strings.Cut(rest, "/")
	host, port, err := net.SplitHostPort(hostport)
	if err != nil {
		host, port = strings.Trim(hostport, "[]"), "11434"
		switch {
		case ok && scheme == "https":
			port = "443"
		case ok && scheme == "http":
			port = "80"
		}
		if _, err := strconv.Atoi(host); err == nil && !ok {
			host, port = "", host
		}
	}
	if host == "" || host == "0.0.0.0" || host == "::" {
		host = "127.0.0.1"
	}
	out := scheme + "://" + net.JoinHostPort(host, port)
	if path != "" {
		out += "/" + path
	}
	return out
}

func hostOf(base string) string {
	u, err := url.Parse(base)
	if err != nil || u.Host == "" {
		return "an unreadable address"
	}
	return u.Host
}

func sameHost(a, b string) bool {
	u, err := url.Parse(a)
	v, err2 := url.Parse(b)
	return err == nil && err2 == nil && strings.EqualFold(u.Host, v.Host)
}

// isHere reports whether an address is on this machine.
func isHere(base string) bool {
	u, err := url.Parse(base)
	if err != nil {
		return false
	}
	if strings.EqualFold(u.Hostname(), "localhost") {
		return true
	}
	ip := net.ParseIP(u.Hostname())
	return ip != nil && ip.IsLoopback()
}
