package catalog

import (
	"net/http"
	"strings"

	"github.com/pawl-agent/pawl/internal/adapter/provider"
	"github.com/pawl-agent/pawl/internal/adapter/provider/bedrock"
	"github.com/pawl-agent/pawl/internal/adapter/provider/vertex"
	"github.com/pawl-agent/pawl/internal/core/fault"
)

// This file handles what clouds that serve other makers' models need besides a row: their
// regions, their names for models, and the switches by which other agents choose them.

// The rows with special handling.
const (
	bedrockName = "bedrock"
	vertexName  = "vertex"
	foundryName = "foundry"
)

// switches are the variables by which Claude Code and Gemini CLI select a cloud, with the
// maker whose models then run there.
var switches = []struct{ env, home, row string }{
	{"CLAUDE_CODE_USE_BEDROCK", "anthropic", bedrockName},
	{"CLAUDE_CODE_USE_VERTEX", "anthropic", vertexName},
	{"CLAUDE_CODE_USE_FOUNDRY", "anthropic", foundryName},
	{"GOOGLE_GENAI_USE_VERTEXAI", "gemini", vertexName},
}

// isOn reports whether a switch is on, by the rules of other agents.
func isOn(env func(string) string, name string) bool {
	switch strings.ToLower(get(env, name)) {
	case "1", "true", "yes", "on":
		return true
	}
	return false
}

// switched returns the cloud that a switch selects, with the maker and the switch's name.
func switched(env func(string) string) (r row, home, name string, ok bool) {
	for _, s := range switches {
		if isOn(env, s.env) {
			r, ok = find(s.row)
			return r, s.home, s.env, ok
		}
	}
	return row{}, "", "", false
}

// homeOf returns the provider of a maker's models: the maker, or the cloud that a switch
// selects.
func homeOf(home string, env func(string) string) row {
	for _, s := range switches {
		if s.home == home && isOn(env, s.env) {
			r, _ := find(s.row)
			return r
		}
	}
	r, _ := find(home)
	return r
}

// defaultModel returns the model if only a provider is named.
func defaultModel(r row, env func(string) string) string {
	for _, name := range r.models {
		v := get(env, name)
		if s, ok := shortOf(v); ok {
			return s.at(r, env)
		}
		if v != "" {
			return v
		}
	}
	if _, home, _, ok := switched(env); ok && home == "gemini" && r.name == vertexName {
		return "gemini-3.8-flash"
	}
	return r.model
}

// nameAt returns a cloud's name for a maker's model; any other name is unchanged.
func nameAt(r row, model string, env func(string) string) string {
	if !strings.HasPrefix(model, "claude-") {
		return model
	}
	switch r.name {
	case bedrockName:
		return geography(bedrock.RegionOf(env)) + ".anthropic." + model
	case vertexName:
		if i := strings.LastIndexByte(model, '-'); i > 0 && len(model)-i == len("-20250929") && sameModel(model[i:]) {
			return model[:i] + "@" + model[i+1:]
		}
	}
	return model
}

// geography returns the prefix of the inference profiles that process a region's requests
// in its part of the world, or the global prefix.
func geography(region string) string {
	for _, g := range []struct{ region, prefix string }{{"us-gov-", "us-gov"}, {"us-", "us"}, {"eu-", "eu"}, {"ap-", "apac"}} {
		if strings.HasPrefix(region, g.region) {
			return g.prefix
		}
	}
	return vertex.Global
}

// opener returns the API and Auth of a cloud. transport is for the services that return
// credentials; nil means the default one.
type opener func(transport http.RoundTripper) (provider.API, provider.Auth)

// chooseCloud returns the complete choice for a model of a cloud. It reads no
// credentials.
func chooseCloud(c Choice, r row, w Want) (Choice, error) {
	var err error
	if r.name == bedrockName {
		err = c.onBedrock(w)
	} else {
		err = c.onVertex(w)
	}
	if err != nil {
		return c, err
	}
	c.Info.From = hostOf(c.BaseURL)
	describe(&c, r, w)
	if c.Info.Price != nil && c.dearer() {
		p := *c.Info.Price
		for _, n := range []*float64{&p.Input, &p.Output, &p.CacheRead, &p.CacheWrite} {
			*n *= regional
		}
		if !c.configured(w) {
			c.Info.Price = &p
		}
	}
	return c, nil
}

// configured reports whether a person's configuration sets the price.
func (c Choice) configured(w Want) bool {
	for _, name := range []string{c.Info.Model, c.Info.Ref()} {
		if o, ok := w.Config.Models[name]; ok && o.Price != nil {
			return true
		}
	}
	return false
}

// regional is the multiple of the list price that clouds charge for Anthropic's models
// since 4.5 if requests stay in a part of the world.
const regional = 1.1

// dearer reports whether the regional price applies to a model.
func (c Choice) dearer() bool {
	m, _ := lookup(c.Info.Model)
	switch m.name {
	case "claude-opus-4", "claude-opus-4-1", "claude-sonnet-4", "claude-3-7-sonnet", "claude-3-5-haiku":
		return false
	}
	if m.home != "anthropic" {
		return false
	}
	if c.row.name == bedrockName {
		name := c.Info.Model[strings.LastIndexByte(c.Info.Model, '/')+1:]
		return !strings.HasPrefix(name, vertex.Global+".")
	}
	return !strings.HasPrefix(c.Info.From, "aiplatform.googleapis.")
}

func (c *Choice) onBedrock(w Want) error {
	model := c.Info.Model
	c.Info.API = bedrock.APIName(model)
	key, name := keyOf(c.row, w.Env)
	c.key, c.KeyName = keep(key), name
	region := bedrock.RegionOf(w.Env)
	if parts := strings.Split(model, ":"); len(parts) > 4 && parts[0] == "arn" && parts[3] != "" {
		region = parts[3] // the region of the inference profile
	}
	if region == "" {
		return fault.NewConfiguration("set AWS_REGION to the region whose models you use, for example us-east-1", "no AWS region is set for %s", c.Info.Ref())
	}
	base, ok := bedrock.Address(region)
	if !ok {
		return fault.NewConfiguration("set AWS_REGION to a region, for example us-east-1", "%q is not a region of AWS", region)
	}
	if c.BaseURL, c.URLName = address(c.row, w.Env); c.BaseURL == "" {
		c.BaseURL = base
	}
	program := w.Program
	env, skip := w.Env, isOn(w.Env, "CLAUDE_CODE_SKIP_BEDROCK_AUTH") || key != ""
	c.cloud = func(transport http.RoundTripper) (provider.API, provider.Auth) {
		if skip {
			return bedrock.New(model, c.tuning), nil
		}
		return bedrock.New(model, c.tuning), bedrock.NewCredentials(bedrock.Source{Env: env, Region: region, HTTP: transport, Program: program})
	}
	return nil
}

func (c *Choice) onVertex(w Want) error {
	model := c.Info.Model
	c.Info.API = vertex.APIName(model)
	at := vertex.Place{Project: vertex.ProjectOf(w.Env), Region: vertex.RegionOf(w.Env)}
	if at.Project == "" {
		return fault.NewConfiguration("set ANTHROPIC_VERTEX_PROJECT_ID or GOOGLE_CLOUD_PROJECT", "no Google Cloud project is set for %s", c.Info.Ref())
	}
	base, ok := vertex.Address(at.Region)
	if !ok {
		return fault.NewConfiguration("set CLOUD_ML_REGION to a region, for example global or us-east5", "%q is not a region of Google Cloud", at.Region)
	}
	if c.BaseURL, c.URLName = address(c.row, w.Env); c.BaseURL == "" {
		c.BaseURL = base
	}
	env, skip := w.Env, isOn(w.Env, "CLAUDE_CODE_SKIP_VERTEX_AUTH")
	c.cloud = func(transport http.RoundTripper) (provider.API, provider.Auth) {
		if skip {
			return vertex.New(model, at, c.tuning), nil
		}
		return vertex.New(model, at, c.tuning), vertex.NewCredentials(vertex.Source{Env: env, HTTP: transport})
	}
	return nil
}

// cloudState reports for a list whether a cloud can be used, and why. It reads only the
// environment.
func cloudState(r row, env func(string) string) (usable bool, why string) {
	names := map[string][]string{
		bedrockName: {"CLAUDE_CODE_USE_BEDROCK", "AWS_BEARER_TOKEN_BEDROCK", "AWS_PROFILE", "AWS_ACCESS_KEY_ID", "AWS_WEB_IDENTITY_TOKEN_FILE", "AWS_CONTAINER_CREDENTIALS_RELATIVE_URI", "AWS_CONTAINER_CREDENTIALS_FULL_URI"},
		vertexName:  {"CLAUDE_CODE_USE_VERTEX", "GOOGLE_GENAI_USE_VERTEXAI", "GOOGLE_APPLICATION_CREDENTIALS", "ANTHROPIC_VERTEX_PROJECT_ID"},
	}[r.name]
	for _, name := range names {
		if get(env, name) != "" {
			return true, name + " is set"
		}
	}
	if r.name == bedrockName {
		return false, "set AWS_REGION, and AWS_BEARER_TOKEN_BEDROCK or what AWS's tools use (AWS_PROFILE, AWS_ACCESS_KEY_ID, …)"
	}
	return false, "set GOOGLE_CLOUD_PROJECT, and run gcloud auth application-default login or set GOOGLE_APPLICATION_CREDENTIALS"
}
