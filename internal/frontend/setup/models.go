package setup

import (
	"context"
	"errors"
	"strings"
	"time"

	"github.com/pawl-agent/pawl/internal/adapter/offline"
	"github.com/pawl-agent/pawl/internal/adapter/provider/catalog"
	"github.com/pawl-agent/pawl/internal/adapter/replay"
	"github.com/pawl-agent/pawl/internal/adapter/settings"
	"github.com/pawl-agent/pawl/internal/adapter/web"
	"github.com/pawl-agent/pawl/internal/core/llm"
)

// Settings reads the configuration that applies in the current folder.
func (e *Environment) Settings() (settings.Loaded, settings.Paths, error) {
	return e.SettingsIn(e.Dir)
}

// SettingsIn reads the configuration that applies in a folder.
func (e *Environment) SettingsIn(dir string) (settings.Loaded, settings.Paths, error) {
	paths, err := settings.PathsFrom(e.Env)
	if err != nil {
		return settings.Loaded{}, paths, err
	}
	conf, err := settings.Load(paths, dir)
	return conf, paths, err
}

// Probe asks the usual ports of local servers which server runs there.
func (e *Environment) Probe(ctx context.Context) []catalog.Local {
	ctx, cancel := context.WithTimeout(ctx, time.Second)
	defer cancel()
	return catalog.Probe(ctx, nil, e.Env)
}

// catalogConfig returns the settings about models.
func catalogConfig(conf settings.Loaded) catalog.Config {
	c := catalog.Config{Model: conf.User.Model, Store: conf.User.ServerState, Models: map[string]catalog.Override{}}
	for name, m := range conf.User.Models {
		c.Models[name] = catalog.Override{Price: m.Price, Window: m.Window, MaxOutput: m.MaxOutput, Images: m.Images, PDF: m.PDF, Audio: m.Audio}
	}
	return c
}

// Want returns what may determine a model. ref is what the person named, "" for
// nothing.
func (e *Environment) Want(ref string, conf settings.Loaded) catalog.Want {
	return catalog.Want{Flag: ref, Effort: conf.User.Effort, TaskBudget: conf.TaskBudget, Env: e.Env, Config: catalogConfig(conf), Kept: e.Keys().Get, Program: credentialProgram(conf.Dir)}
}

// Secrets returns the values that must never be shown: pawl's own keys.
func (e *Environment) Secrets() []string {
	var out []string
	for _, name := range append(catalog.SecretNames(), web.SearchKeys()...) {
		if v := e.Env(name); v != "" {
			out = append(out, v)
		}
	}
	return append(out, e.Keys().values()...)
}

// ModelChoice is a model that is chosen, but not opened yet.
type ModelChoice struct {
	Info llm.Info
	Why  string
	open func() (llm.Model, error)
	// TryKey tests the key in the variable KeyName. It is nil if no key is needed.
	TryKey  func(context.Context) (catalog.Tried, bool)
	KeyName string
}

func offlineChoice(why string) ModelChoice {
	return ModelChoice{Info: offline.Info(), Why: why, open: func() (llm.Model, error) { return offline.New(), nil }}
}

func (s *opening) chooseModel(ctx context.Context) (ModelChoice, error) {
	c, err := s.Resolve(s.opt.Model, s.conf)
	if !errors.Is(err, catalog.ErrNone) || s.fr.Choose == nil {
		return c, err
	}
	for refused := error(nil); ; {
		ref, err := s.fr.Choose(ctx, refused)
		if err != nil {
			return c, err
		}
		if c, refused = s.Resolve(ref, s.conf); refused == nil {
			return c, nil
		}
	}
}

// Resolve returns the model of a reference; "" means the one that environment and
// settings name. Its replies are recorded if PAWL_RECORD names a file.
func (e *Environment) Resolve(ref string, conf settings.Loaded) (ModelChoice, error) {
	if file, ok := strings.CutPrefix(ref, "replay:"); ok {
		m, err := replay.Open(file)
		if err != nil {
			return ModelChoice{}, err
		}
		return ModelChoice{Info: m.Info(), Why: "the command line", open: func() (llm.Model, error) { return m, nil }}, nil
	}
	c, err := e.resolveModel(ref, conf)
	recorder := e.process().recorder
	if err != nil || recorder == nil {
		return c, err
	}
	open := c.open
	c.open = func() (llm.Model, error) {
		m, err := open()
		if err != nil {
			return nil, err
		}
		return recorder.Wrap(m), nil
	}
	return c, nil
}

func (e *Environment) resolveModel(ref string, conf settings.Loaded) (ModelChoice, error) {
	c, err := catalog.Resolve(e.Want(ref, conf))
	if err != nil {
		return ModelChoice{}, err
	}
	if conf.TaskBudget > 0 && !c.Paced() {
		return ModelChoice{}, Usage("--task-budget: %s cannot be told what is left of a budget; --max-budget-usd and --max-turns end a run", c.Info.Ref())
	}
	if c.Info.Planner() {
		return offlineChoice(c.Why), nil
	}
	return ModelChoice{
		Info: c.Info, Why: c.Why, open: func() (llm.Model, error) { return c.Open(nil, &e.process().endpoints) },
		TryKey: func(ctx context.Context) (catalog.Tried, bool) { return c.TryKey(ctx, nil) }, KeyName: c.KeyName,
	}, nil
}
