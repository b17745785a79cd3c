package cli

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"os"

	"github.com/spf13/cobra"
	"golang.org/x/term"

	"github.com/pawl-agent/pawl/internal/adapter/provider/catalog"
	"github.com/pawl-agent/pawl/internal/adapter/provider/login"
	"github.com/pawl-agent/pawl/internal/frontend/plain"
)

func loginCommand(a *App) *cobra.Command {
	var key bool
	c := &cobra.Command{
		Use: "login PROVIDER", Short: "Sign in to a provider, or keep its key", Args: exactly(1),
		Long: `Sign in to a provider by the browser, where it publishes that other programs may:
that is openrouter. For others, the page where keys are made is shown; --key reads one
from the keyboard or from standard input. Keys are kept in the system's keyring, or where
there is none in a file that only you can read; pawl logout PROVIDER forgets one. A
variable of the environment counts before a kept key.`,
		RunE: func(c *cobra.Command, args []string) error { return logIn(c.Context(), a, args[0], key) },
	}
	c.Flags().BoolVar(&key, "key", false, "read a key, from the keyboard or from standard input")
	return c
}

func logoutCommand(a *App) *cobra.Command {
	return &cobra.Command{
		Use: "logout PROVIDER", Short: "Forget the key of a provider that pawl login kept", Args: exactly(1), Hidden: true, // help names it under login
		RunE: func(_ *cobra.Command, args []string) error {
			if err := a.byPerson("pawl logout"); err != nil {
				return err
			}
			w, err := wayOf(args[0])
			if err != nil {
				return err
			}
			had, err := a.Keys().Forget(w.Key)
			if err != nil {
				return err
			}
			text := "no key of " + w.Provider + " was kept"
			if had {
				text = "the key of " + w.Provider + " is forgotten here; to withdraw it for good, use " + w.Page
			}
			fmt.Fprintln(a.Out, plain.Line(text))
			return nil
		},
	}
}

// wayOf returns how a person gets a key of a provider, by any of its names.
func wayOf(name string) (login.Way, error) {
	name, keys, ok := catalog.Provider(name)
	if !ok {
		return login.Way{}, usageError("there is no provider %q; pawl models lists them", name)
	}
	w, ok := login.For(name)
	if !ok {
		w = login.Way{Provider: name, Why: "pawl knows of no sign-in of it for other programs"}
		if len(keys) > 0 {
			w.Key = keys[0]
		}
	}
	return w, nil
}

func logIn(ctx context.Context, a *App, name string, byKey bool) error {
	if err := a.byPerson("pawl login"); err != nil {
		return err
	}
	w, err := wayOf(name)
	if err != nil {
		return err
	}
	var key string
	switch {
	case byKey && w.Key == "":
		return usageError("%s has no keys: %s", w.Provider, w.Why)
	case byKey:
		key, err = readKey(a, w)
	case w.OAuth:
		key, err = login.SignIn(ctx, login.Options{Show: a.showSignIn})
	default:
		return whyNot(w)
	}
	if err != nil {
		return err
	}
	where, err := a.Keys().Keep(w.Key, key)
	if err != nil {
		return err
	}
	text := "the key of " + w.Provider + " is kept " + where
	if a.Env(w.Key) != "" {
		text += "; " + w.Key + " is set, and counts before it"
	}
	fmt.Fprintln(a.Out, plain.Line(text))
	return nil
}

// whyNot returns why there is no sign-in, and what to do.
func whyNot(w login.Way) error {
	text := w.Provider + ": " + w.Why
	if w.Key != "" {
		text += "; or keep a key: pawl login " + w.Provider + " --key"
		if w.Page != "" {
			text += " (" + w.Page + " makes one)"
		}
		text += ", or set " + w.Key
	}
	return usageError("%s", text)
}

// readKey reads a key without showing it.
func readKey(a *App, w login.Way) (string, error) {
	var typed string
	if f, ok := a.In.(*os.File); ok && term.IsTerminal(int(f.Fd())) {
		from := ""
		if w.Page != "" {
			from = " (from " + w.Page + ")"
		}
		fmt.Fprintf(a.Err, "The key of %s%s, which is not shown: ", w.Provider, from)
		raw, err := term.ReadPassword(int(f.Fd()))
		fmt.Fprintln(a.Err)
		if err != nil {
			return "", err
		}
		typed = string(raw)
	} else {
		line, err := bufio.NewReader(io.LimitReader(a.In, 64<<10)).ReadString('\n')
		if err != nil && err != io.EOF {
			return "", err
		}
		typed = line
	}
	key, ok := login.Key(typed)
	if !ok {
		return "", usageError("that is no key; nothing was kept")
	}
	return key, nil
}
