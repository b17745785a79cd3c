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
		Use: "login PROVIDER", Short: "Sign in to a provider, or store its key", Args: exactly(1),
		Long: `Sign in to a provider with the browser (now only openrouter). For the others, pawl
shows the page where you create a key; --key reads it from the keyboard or standard
input. Keys are stored in the system's keyring, else in a file that only you can read.
A key in an environment variable is used first. To delete one: pawl logout PROVIDER.`,
		RunE: func(c *cobra.Command, args []string) error { return logIn(c.Context(), a, args[0], key) },
	}
	c.Flags().BoolVar(&key, "key", false, "read a key from the keyboard or from standard input, and store it")
	return c
}

func logoutCommand(a *App) *cobra.Command {
	return &cobra.Command{
		Use: "logout PROVIDER", Short: "Delete the stored key of a provider", Args: exactly(1), Hidden: true, // the help of login names it
		RunE: func(_ *cobra.Command, args []string) error {
			w, err := wayOf(args[0])
			if err != nil {
				return err
			}
			had, err := a.Keys().Forget(w.Key)
			if err != nil {
				return err
			}
			text := "no key of " + w.Provider + " was stored"
			if had {
				text = "the key of " + w.Provider + " is deleted here; to revoke it, use " + w.Page
			}
			fmt.Fprintln(a.Out, plain.Line(text))
			return nil
		},
	}
}

// wayOf returns how a person gets a key of a provider; name is any of the provider's
// names.
func wayOf(name string) (login.Way, error) {
	name, keys, ok := catalog.Provider(name)
	if !ok {
		return login.Way{}, usageError("unknown provider %q; pawl models lists all", name)
	}
	w, ok := login.For(name)
	if !ok {
		w = login.Way{Provider: name, Why: "pawl knows no sign-in for it"}
		if len(keys) > 0 {
			w.Key = keys[0]
		}
	}
	return w, nil
}

func logIn(ctx context.Context, a *App, name string, byKey bool) error {
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
	text := "the key of " + w.Provider + " is stored " + where
	if a.Env(w.Key) != "" {
		text += "; " + w.Key + " is set, and is used instead"
	}
	fmt.Fprintln(a.Out, plain.Line(text))
	return nil
}

// whyNot returns an error that explains why there is no sign-in, and what to do.
func whyNot(w login.Way) error {
	text := w.Provider + ": " + w.Why
	if w.Key != "" {
		text += "; or store a key: pawl login " + w.Provider + " --key"
		if w.Page != "" {
			text += " (" + w.Page + " creates one)"
		}
		text += ", or set " + w.Key
	}
	return usageError("%s", text)
}

// readKey reads a key without echoing it.
func readKey(a *App, w login.Way) (string, error) {
	var typed string
	if f, ok := a.In.(*os.File); ok && term.IsTerminal(int(f.Fd())) {
		from := ""
		if w.Page != "" {
			from = " (from " + w.Page + ")"
		}
		fmt.Fprintf(a.Err, "The key of %s%s (it is not shown while you type): ", w.Provider, from)
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
		return "", usageError("this is not a key; nothing was stored")
	}
	return key, nil
}
