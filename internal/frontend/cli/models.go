package cli

import (
	"context"
	"fmt"
	"io"
	"text/tabwriter"

	"github.com/spf13/cobra"

	"github.com/pawl-agent/pawl/internal/adapter/provider/catalog"
	"github.com/pawl-agent/pawl/internal/adapter/settings"
	"github.com/pawl-agent/pawl/internal/frontend/brief"
	"github.com/pawl-agent/pawl/internal/frontend/plain"
	"github.com/pawl-agent/pawl/internal/frontend/slash"
)

func modelsCommand(a *App) *cobra.Command {
	return &cobra.Command{
		Use: "models", Short: "List the models that can be used here, and why the others cannot", Args: exactly(0),
		RunE: func(c *cobra.Command, _ []string) error {
			conf, _, err := a.Settings()
			if err != nil {
				return err
			}
			return listModels(c.Context(), a, a.Out, conf)
		},
	}
}

func listModels(ctx context.Context, a *App, out io.Writer, conf settings.Loaded) error {
	w := tabwriter.NewWriter(out, 0, 0, 2, ' ', 0)
	if c, err := a.Resolve("", conf); err == nil {
		fmt.Fprintf(out, "a new session uses: %s (%s)\n\n", plain.Line(c.Info.Ref()), plain.Line(c.Why))
	} else {
		fmt.Fprintf(out, "no model for a new session: %s\n\n", plain.Line(err.Error()))
	}
	all := catalog.Usable(a.Want("", conf))
	row := func(l catalog.Line) {
		state := "usable: " + l.Model + ", " + brief.Price(l.Price)
		if l.Model == "" {
			state = "usable: choose one of its models with -m " + l.Provider + "/MODEL"
		}
		if !l.Usable {
			state = "not usable: " + l.Why
		}
		fmt.Fprintf(w, "%s\t%s\n", plain.Line(l.Provider), plain.Line(state))
	}
	for _, l := range all { // usable ones come first
		if l.Usable {
			row(l)
		}
	}
	for _, l := range a.Probe(ctx) {
		for _, m := range l.Models {
			fmt.Fprintf(w, "%s\tusable: %s/%s at %s, %s\n", l.Provider, l.Provider, plain.Line(m), plain.Line(l.URL), priceAt(a, l.Provider+"/"+m, conf))
		}
		if len(l.Models) == 0 {
			fmt.Fprintf(w, "%s\truns at %s, without a model\n", l.Provider, l.URL)
		}
	}
	fmt.Fprintf(w, "offline\tusable: the built-in planner (not a language model), free\n")
	for _, l := range all {
		if !l.Usable {
			row(l)
		}
	}
	return w.Flush()
}

// priceAt returns the price of a model that a server listed.
func priceAt(a *App, ref string, conf settings.Loaded) string {
	c, err := a.Resolve(ref, conf)
	if err != nil {
		return brief.Price(nil)
	}
	return brief.PriceOf(c.Info)
}

// modelItems lists the models for a picker: by provider, those that can be used first.
func modelItems(ctx context.Context, a *App) (out []slash.Item) {
	conf, _, err := a.Settings()
	if err != nil {
		return nil
	}
	all := catalog.Usable(a.Want("", conf))
	for _, l := range all {
		for _, m := range l.Models() {
			if ref := l.Provider + "/" + m; l.Usable {
				out = append(out, slash.Item{ID: ref, Group: l.Provider, Text: ref, About: priceAt(a, ref, conf)})
			}
		}
	}
	for _, l := range a.Probe(ctx) {
		for _, m := range l.Models {
			ref := l.Provider + "/" + m
			out = append(out, slash.Item{ID: ref, Group: l.Provider, Text: ref, About: priceAt(a, ref, conf), More: "at " + l.URL})
		}
	}
	for _, l := range all {
		if !l.Usable {
			out = append(out, slash.Item{Group: "not usable yet", Text: l.Provider, About: l.Why, More: l.Why})
		}
	}
	return out
}
