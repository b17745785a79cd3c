package cli

import (
	"bufio"
	"context"
	"fmt"

	"github.com/pawl-agent/pawl/internal/core/plural"
	"github.com/pawl-agent/pawl/internal/frontend/plain"
)

// This file signs in to MCP servers. The address is only printed. A browser on this
// machine returns the result directly; from another machine, a person copies the
// address at which the browser ended.

func (a *App) mcpLogin(ctx context.Context, dir, name string) error {
	all, _, stop, err := a.startMCP(dir, a.showSignIn)
	if err != nil {
		return err
	}
	defer stop()
	if err := all.SignIn(ctx, name); err != nil {
		return fmt.Errorf("%s: %w", name, err)
	}
	r, err := all.Try(ctx, name)
	if err != nil {
		return fmt.Errorf("you are signed in to %s, but it cannot be used: %w", name, err)
	}
	fmt.Fprintln(a.Out, plain.Line(fmt.Sprintf("you are signed in to %s (%s, %s)", name, r.Name, plural.Of(len(r.Tools), "tool"))))
	return nil
}

func (a *App) mcpLogout(ctx context.Context, dir, name string) error {
	all, _, stop, err := a.startMCP(dir, nil)
	if err != nil {
		return err
	}
	defer stop()
	had, err := all.SignOut(ctx, name)
	if err != nil {
		return err
	}
	text := "you were not signed in to " + name
	if had {
		text = "signed out of " + name + " here; to revoke the access, use the server's own site"
	}
	fmt.Fprintln(a.Out, plain.Line(text))
	return nil
}

// showSignIn shows the address of a sign-in. On a terminal the person may type the
// address at which their browser ended.
func (a *App) showSignIn(ctx context.Context, address string) (string, error) {
	fmt.Fprintf(a.Err, "Open this address in a browser to sign in:\n\n%s\n\n", plain.Line(address))
	if !keyboard(a.In) {
		fmt.Fprintln(a.Err, "Waiting for the browser on this machine.")
		<-ctx.Done()
		return "", nil
	}
	fmt.Fprintln(a.Err, "If the browser runs on another machine, paste here the address that it shows at the end:")
	typed := make(chan string, 1)
	go func() {
		line, _ := bufio.NewReader(a.In).ReadString('\n')
		typed <- line
	}()
	select {
	case line := <-typed:
		return line, nil
	case <-ctx.Done():
		return "", nil
	}
}
