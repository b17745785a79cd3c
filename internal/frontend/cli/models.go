package cli

import (
	"context"
	"fmt"
	"io"
	"os"
	"text/tabwriter"
	"time"

	"github.com/spf13/cobra"

	"github.com/pawl-agent/pawl/internal/adapter/provider/catalog"
	"github.com/pawl-agent/pawl/internal/adapter/settings"
	"github.com/pawl-agent/pawl/internal/adapter/web"
	"github.com/pawl-agent/pawl/internal/frontend/brief"
	"github.com/pawl-agent/pawl/internal/frontend/plain"
)

func (a *App) modelsCommand() *cobra.Command {
	return &cobra.Command{
		Use: "models", Short: "What models are usable here, and why the others are not", Args: exactly(0),
		RunE: func(c *cobra.Command, _ []string) error {
			conf, _, err := a.settings()
			if err != nil {
				return err
			}
			return a.models(c.Context(), a.Out, conf)
		},
	}
}

func (a *App) settings() (settings.Loaded, settings.Paths, error) {
	paths, err := settings.PathsFrom(a.Env)
	if err != nil {
		return settings.Loaded{}, paths, err
	}
	conf, err := settings.Load(paths, a.Dir)
	return conf, paths, err
}

func (a *App) models(ctx context.Context, out io.Writer, conf settings.Loaded) error {
	w := tabwriter.NewWriter(out, 0, 0, 2, ' ', 0)
	if c, err := a.resolve("", conf); err == nil {
		fmt.Fprintf(out, "a new session uses: %s (%s)\n\n", plain.Line(c.info.Ref()), plain.Line(c.why))
	} else {
		fmt.Fprintf(out, "a new session has none: %s\n\n", plain.Line(err.Error()))
	}
	all := catalog.Usable(a.want("", conf))
	row := func(l catalog.Line) {
		state := "usable: " + l.Model + ", " + brief.Price(l.Price)
		if l.Model == "" {
			state = "usable: name a model of it, as " + l.Provider + "/MODEL"
		}
		if !l.Usable {
			state = "not usable: " + l.Why
		}
		fmt.Fprintf(w, "%s\t%s\n", plain.Line(l.Provider), plain.Line(state))
	}
	for _, l := range all { // what is usable comes first
		if l.Usable {
			row(l)
		}
	}
	for _, l := range a.probe(ctx) {
		for _, m := range l.Models {
			fmt.Fprintf(w, "%s\tusable: %s/%s at %s, %s\n", l.Provider, l.Provider, plain.Line(m), plain.Line(l.URL), a.priceAt(l.Provider+"/"+m, conf))
		}
		if len(l.Models) == 0 {
			fmt.Fprintf(w, "%s\tanswers at %s and has no model\n", l.Provider, l.URL)
		}
	}
	fmt.Fprintf(w, "offline\tusable: the built-in planner without weights, free\n")
	for _, l := range all {
		if !l.Usable {
			row(l)
		}
	}
	return w.Flush()
}

// priceAt is what a model that a server named costs.
func (a *App) priceAt(ref string, conf settings.Loaded) string {
	c, err := a.resolve(ref, conf)
	if err != nil {
		return brief.Price(nil)
	}
	return brief.PriceOf(c.info)
}

// probe asks the usual ports of local servers for their identity.
func (a *App) probe(ctx context.Context) []catalog.Local {
	ctx, cancel := context.WithTimeout(ctx, time.Second)
	defer cancel()
	return catalog.Probe(ctx, nil, a.Env)
}

// catalogConfig returns the settings about models.
func (a *App) catalogConfig(conf settings.Loaded) catalog.Config {
	c := catalog.Config{Model: conf.User.Model, Store: conf.User.ServerState, Models: map[string]catalog.Override{}}
	for name, m := range conf.User.Models {
		c.Models[name] = catalog.Override{Price: m.Price, Window: m.Window, MaxOutput: m.MaxOutput, Images: m.Images}
	}
	return c
}

// want is what may determine a model. ref is what the person named, "" for nothing.
func (a *App) want(ref string, conf settings.Loaded) catalog.Want {
	return catalog.Want{Flag: ref, Env: a.Env, Config: a.catalogConfig(conf), Kept: a.keys().get, Program: a.credentialProgram(conf.Dir)}
}

// heldSecrets returns the values that must never be shown: pawl's own keys.
func (a *App) heldSecrets() []string {
	var out []string
	for _, name := range append(catalog.SecretNames(), web.SearchKeys()...) {
		if v := a.Env(name); v != "" {
			out = append(out, v)
		}
	}
	return append(out, a.keys().values()...)
}

// stateWritable returns an error if pawl cannot write its own files.
func stateWritable(dir string) error {
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return err
	}
	f, err := os.CreateTemp(dir, ".probe-*")
	if err != nil {
		return err
	}
	name := f.Name()
	_ = f.Close()
	return os.Remove(name)
}
