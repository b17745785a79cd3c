package catalog

import "strings"

// short is a name that people use for the newest model of a family.
type short struct {
	names  string
	home   string // the provider that made it
	model  string
	routed string // as routers name it
}

// shorts are the families' short names, as in other agents.
var shorts = []short{
	{"sonnet", "anthropic", "claude-sonnet-5-5", "anthropic/claude-sonnet-5.5"},
	{"opus", "anthropic", "claude-opus-5-5", "anthropic/claude-opus-5.5"},
	{"haiku", "anthropic", "claude-haiku-5-5", "anthropic/claude-haiku-5.5"},
	{"fable", "anthropic", "claude-fable-5-1", "anthropic/claude-fable-5.1"},
	{"gpt chatgpt sol", "openai", "gpt-6.1-sol", "openai/gpt-6.1-sol"},
	{"luna", "openai", "gpt-6-luna", "openai/gpt-6-luna"},
	{"codex gpt-codex", "openai", "gpt-5.3-codex", "openai/gpt-5.3-codex"},
	{"flash gemini-flash", "gemini", "gemini-3.8-flash", "google/gemini-3.8-flash"},
	{"pro gemini-pro", "gemini", "gemini-3.1-pro", "google/gemini-3.1-pro"},
	{"glm", "zai", "glm-5.2", "z-ai/glm-5.2"},
	{"devstral", "mistral", "devstral-medium-latest", "mistralai/devstral-medium"},
}

// shortOf returns the family that a short name means. Claude Code's mark for a long
// window is ignored: the model determines the window.
func shortOf(name string) (short, bool) {
	name = strings.TrimSuffix(strings.ToLower(name), "[1m]")
	for _, s := range shorts {
		for _, n := range strings.Fields(s.names) {
			if n == name {
				return s, true
			}
		}
	}
	return short{}, false
}

// choose returns the family's model from its maker, or from a router if only the router's
// key is set.
func (s short) choose(why string, w Want) (Choice, error) {
	home := homeOf(s.home, w.Env)
	if key, _ := keyOf(home, w.Env); key == "" && home.kind != cloud {
		router, _ := find("openrouter")
		if key, _ := keyOf(router, w.Env); key != "" {
			return choose(router, s.routed, why, w)
		}
	}
	return choose(home, s.at(home, w.Env), why, w)
}

// at returns the family's model at a provider. Claude Code's variables override it, since
// a company may allow only one version.
func (s short) at(r row, env func(string) string) string {
	if s.home == "anthropic" {
		name, _, _ := strings.Cut(s.names, " ")
		if v := get(env, "ANTHROPIC_DEFAULT_"+strings.ToUpper(name)+"_MODEL"); v != "" {
			return v
		}
	}
	return nameAt(r, s.model, env)
}

// Short is a family's short name and the model that it currently means.
type Short struct{ Name, Model string }

// Shorts returns the short names of the families whose maker's key is set, or whose maker
// a switch moves to a cloud.
func Shorts(env func(string) string) []Short {
	var out []Short
	for _, s := range shorts {
		home := homeOf(s.home, env)
		if key, _ := keyOf(home, env); key != "" || home.kind == cloud {
			name, _, _ := strings.Cut(s.names, " ")
			out = append(out, Short{name, home.name + "/" + s.at(home, env)})
		}
	}
	return out
}
