package catalog

import (
	"strings"

	"github.com/pawl-agent/pawl/internal/core/fault"
	"github.com/pawl-agent/pawl/internal/core/llm"
)

// Resolve returns the model to use: from the flag, else PAWL_MODEL, else the
// configuration, else the cloud that a switch selects, else the default model of the
// first provider with a key. A name is provider/model, a model alone, a family's short
// name, or a provider alone (its default model). Errors are configuration errors that
// name what to set; if nothing is configured, the kind is ErrNone.
func Resolve(w Want) (Choice, error) {
	w, why := w.withKept()
	for _, said := range []struct{ name, why string }{
		{w.Flag, "flag"},
		{get(w.Env, "PAWL_MODEL"), "PAWL_MODEL"},
		{w.Config.Model, "configuration"},
	} {
		if name := strings.TrimSpace(said.name); name != "" {
			return named(name, said.why, w)
		}
	}
	if get(w.Env, "PAWL_BASE_URL") != "" {
		return Choice{}, fault.NewConfiguration("set PAWL_MODEL to its name, or give -m "+compatible+"/MODEL",
			"PAWL_BASE_URL is set, but no model")
	}
	if r, _, name, ok := switched(w.Env); ok {
		return whole(r, name+" is set", w)
	}
	var silent *row
	for i, r := range providers {
		if r.kind != hosted {
			continue
		}
		key, name := keyOf(r, w.Env)
		if key == "" {
			continue
		}
		model := defaultModel(r, w.Env)
		if model == "" {
			if silent == nil {
				silent = &providers[i]
			}
			continue
		}
		return choose(r, model, why(name), w)
	}
	if silent != nil {
		_, name := keyOf(*silent, w.Env)
		return Choice{}, fault.NewConfiguration("set PAWL_MODEL="+silent.name+"/MODEL, or give it with -m",
			"%s, but no model of %s is chosen", why(name), silent.name)
	}
	none := fault.NewConfiguration(
		"set ANTHROPIC_API_KEY, OPENAI_API_KEY, GEMINI_API_KEY or OPENROUTER_API_KEY; or sign in with pawl login openrouter; or name a local model, -m ollama/MODEL; or use the built-in planner, -m offline; `pawl models` lists all",
		"no model is configured")
	none.Kind = ErrNone
	return Choice{}, none
}

// named returns the choice for a name that the person gave.
func named(name, why string, w Want) (Choice, error) {
	if r, ok := find(name); ok {
		return whole(r, why, w)
	}
	if before, after, ok := strings.Cut(name, "/"); ok {
		if r, known := find(before); known {
			if after == "" {
				return whole(r, why, w)
			}
			if r.kind == builtin {
				return Choice{}, fault.NewConfiguration("use -m offline", "the offline model has no variants")
			}
			if s, ok := shortOf(after); ok && (s.home == r.name || homeOf(s.home, w.Env).name == r.name || r.kind == cloud) {
				after = s.at(r, w.Env)
			}
			return choose(r, after, why, w)
		}
	}
	if get(w.Env, "PAWL_BASE_URL") != "" {
		r, _ := find(compatible)
		return choose(r, name, why, w)
	}
	if s, ok := shortOf(name); ok {
		return s.choose(why, w)
	}
	if m, _ := lookup(name); m.home != "" && !strings.Contains(name, "/") {
		return choose(homeOf(m.home, w.Env), name, why, w)
	}
	if strings.Contains(name, "/") { // routers name models MAKER/MODEL
		r, _ := find("openrouter")
		if key, _ := keyOf(r, w.Env); key != "" {
			return choose(r, name, why, w)
		}
	}
	return Choice{}, fault.NewConfiguration("write it as provider/model, for example ollama/"+name+"; `pawl models` lists the providers",
		"unknown model %q: pawl does not know which provider has it", name)
}

// whole returns the choice of a provider's default model.
func whole(r row, why string, w Want) (Choice, error) {
	model := defaultModel(r, w.Env)
	if model == "" {
		return Choice{}, fault.NewConfiguration("name one: -m "+r.name+"/MODEL; `pawl models` lists what a local server has",
			"no model of %s is chosen", r.name)
	}
	return choose(r, model, why, w)
}

// Line is one provider in the output of `pawl models`.
type Line struct {
	Provider string
	Model    string     // the model if only the provider is named; may be empty
	Price    *llm.Price // of that model; nil: unknown
	Usable   bool
	Why      string // why it is usable, or what to set to make it so
}

// Models returns the models to choose from: the default one, then those of its maker
// whose price is known.
func (l Line) Models() []string {
	if l.Model == "" {
		return nil
	}
	out := []string{l.Model}
	for _, m := range models() {
		if m.home == l.Provider && m.priced && m.name != l.Model && !strings.HasSuffix(m.name, "-") {
			out = append(out, m.name)
		}
	}
	return out
}

// Usable returns the providers that are reached over the network, usable or not. Local
// servers are not included: Probe finds those.
func Usable(w Want) []Line {
	var out []Line
	w, why := w.withKept()
	env := w.Env
	for _, r := range providers {
		if r.kind != hosted && r.kind != anywhere && r.kind != cloud {
			continue
		}
		l := Line{Provider: r.name, Model: defaultModel(r, env)}
		base, _ := address(r, env)
		key, name := keyOf(r, env)
		switch {
		case r.kind == cloud:
			l.Usable, l.Why = cloudState(r, env)
			l.Model = nameAt(r, l.Model, env)
		case r.kind == anywhere && base == "":
			l.Why = "set PAWL_BASE_URL to the server's address, and PAWL_API_KEY if it wants a key"
		case r.kind == anywhere:
			l.Usable, l.Why = true, "PAWL_BASE_URL is set"
		case key == "":
			l.Why = "set " + strings.Join(r.keys, " or ")
		case base == "":
			l.Why = "set " + strings.Join(r.urls, " or ")
		default:
			l.Usable, l.Why = true, why(name)
		}
		if l.Model != "" {
			c := Choice{row: r, BaseURL: base, Info: llm.Info{Provider: r.name, Model: l.Model, API: r.api}}
			describe(&c, r, w)
			l.Price = c.Info.Price
		}
		if l.Model == "" && l.Usable {
			l.Why += "; name a model, -m " + r.name + "/MODEL"
		}
		out = append(out, l)
	}
	return out
}
