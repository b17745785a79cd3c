package cli

import (
	"errors"
	"fmt"
	"os"

	"github.com/spf13/cobra"

	"github.com/pawl-agent/pawl/doc"
	"github.com/pawl-agent/pawl/internal/adapter/settings"
	"github.com/pawl-agent/pawl/internal/frontend/plain"
)

// configCommand shows and changes the user's configuration (SPEC 17.5).
func configCommand(a *App) *cobra.Command {
	c := &cobra.Command{
		Use: "config", Short: "Show and change your configuration",
		Long: `Show and change your configuration (doc/configuration.md). Without a subcommand,
list the keys that the file sets. Write a key with dots, such as budget.usd; quote
a part that contains dots: 'models."openai/gpt-5.1".window'.`,
		Args: noSubcommand, RunE: func(*cobra.Command, []string) error { return configList(a, false) },
	}
	var asJSON, ofProject bool
	change := func(use, short string, n int, verb string, edit func(f settings.Config, args []string) error) *cobra.Command {
		c := &cobra.Command{Use: use, Short: short, Args: exactly(n), RunE: func(_ *cobra.Command, args []string) error {
			f, err := configFile(a)
			if err != nil {
				return err
			}
			if ofProject {
				f = settings.Config{Path: settings.Project(a.Dir), Project: true}
			}
			if err := edit(f, args); errors.Is(err, settings.ErrKey) {
				return usageError("%w", err)
			} else if err != nil {
				return err
			}
			fmt.Fprintf(a.Err, "pawl: %s %s in %s; new sessions use it\n", verb, plain.Line(args[0]), plain.Line(f.Path))
			return nil
		}}
		c.Flags().BoolVar(&ofProject, "project", false, "write this project's file, which can only restrict")
		return c
	}
	list := &cobra.Command{Use: "list", Short: "List the keys that the file sets, with their values", Args: exactly(0), RunE: func(*cobra.Command, []string) error { return configList(a, asJSON) }}
	list.Flags().BoolVar(&asJSON, "json", false, "print one JSON object, by key")
	c.AddCommand(a.forPerson(
		change("set KEY VALUE", "Set a key; keep the comments in the file", 2, "set", func(f settings.Config, args []string) error { return f.Set(args[0], args[1]) }),
		change("unset KEY", "Remove a key, so that its default holds", 1, "unset", func(f settings.Config, args []string) error { return f.Unset(args[0]) }),
	)...)
	c.AddCommand(
		&cobra.Command{Use: "get KEY", Short: "Print the value of a key; exit code 1 if the file does not set it", Args: exactly(1), RunE: func(_ *cobra.Command, args []string) error {
			f, err := configFile(a)
			if err != nil {
				return err
			}
			value, ok, err := f.Get(args[0])
			switch {
			case errors.Is(err, settings.ErrKey):
				return usageError("%w", err)
			case err != nil:
				return err
			case !ok:
				return &exitError{code: 1, err: fmt.Errorf("%s does not set %s", f.Path, args[0])}
			}
			_, err = fmt.Fprintln(a.Out, plain.Line(settings.Bare(string(value))))
			return err
		}},
		list,
		&cobra.Command{Use: "path", Short: "Print which files are read, and whether they exist", Args: exactly(0), RunE: func(*cobra.Command, []string) error {
			f, err := configFile(a)
			if err != nil {
				return err
			}
			for _, file := range []struct{ path, about string }{{f.Path, "yours"}, {settings.Project(a.Dir), "the project's, which can only restrict"}} {
				about := file.about
				if _, err := os.Stat(file.path); err != nil {
					about += "; does not exist"
				}
				fmt.Fprintf(a.Out, "%s  (%s)\n", plain.Line(file.path), about)
			}
			return nil
		}},
		&cobra.Command{Use: "schema", Short: "Print the JSON schema of the file", Args: exactly(0), RunE: func(*cobra.Command, []string) error {
			_, err := a.Out.Write(doc.ConfigSchema)
			return err
		}},
	)
	return c
}

func configFile(a *App) (settings.Config, error) {
	paths, err := settings.PathsFrom(a.Env)
	return settings.Config{Path: paths.User()}, err
}

func configList(a *App, asJSON bool) error {
	f, err := configFile(a)
	if err != nil {
		return err
	}
	keys, values, err := f.All()
	if err != nil {
		return err
	}
	if asJSON {
		return printJSON(a.Out, values)
	}
	if len(keys) == 0 {
		fmt.Fprintf(a.Err, "pawl: %s sets nothing; doc/configuration.md lists the keys\n", plain.Line(f.Path))
	}
	for _, k := range keys {
		fmt.Fprintln(a.Out, plain.Line(k+" = "+settings.Bare(string(values[k]))))
	}
	return nil
}
