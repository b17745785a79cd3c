package cli

import (
	"bufio"
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/pawl-agent/pawl/internal/adapter/mcp"
	"github.com/pawl-agent/pawl/internal/adapter/settings"
	"github.com/pawl-agent/pawl/internal/core/plural"
	"github.com/pawl-agent/pawl/internal/core/tool"
	"github.com/pawl-agent/pawl/internal/frontend/plain"
	"github.com/pawl-agent/pawl/internal/frontend/setup"
	"github.com/pawl-agent/pawl/internal/policy/host"
	"github.com/pawl-agent/pawl/internal/policy/secrets"
	"github.com/pawl-agent/pawl/internal/policy/trust"
)

func mcpCommand(a *App) *cobra.Command {
	var dir string
	c := &cobra.Command{
		Use: "mcp", Short: "List, add, test and remove MCP servers",
		Long: `List, add, test and remove the MCP servers whose tools the model can use: your own,
and those in this folder's .mcp.json if the folder is trusted. See doc/mcp.md.`,
		Args: exactly(0),
		RunE: func(*cobra.Command, []string) error { return mcpList(a, dir) },
	}
	c.PersistentFlags().StringVarP(&dir, "dir", "C", "", "use this folder instead of the current one")
	one := func(use, short string, run func(c *cobra.Command, name string) error) *cobra.Command {
		return &cobra.Command{Use: use, Short: short, Args: exactly(1), RunE: func(c *cobra.Command, args []string) error { return run(c, args[0]) }}
	}
	var scope string
	remove := one("remove NAME", "Remove a server from the configuration", func(_ *cobra.Command, name string) error { return mcpRemove(a, dir, name, scope) })
	remove.Aliases = []string{"rm"}
	remove.Flags().StringVarP(&scope, "scope", "s", "", "user or project (default: where the server is configured)")
	test := &cobra.Command{
		Use: "test [NAME]", Short: "Start all servers, or one, and print what they offer and what changed",
		Args: atMostOne,
		RunE: func(c *cobra.Command, args []string) error {
			return mcpTest(c.Context(), a, dir, strings.Join(args, ""), false)
		},
	}
	c.AddCommand(
		&cobra.Command{Use: "list", Short: "List the servers without starting them", Args: exactly(0), RunE: func(*cobra.Command, []string) error { return mcpList(a, dir) }},
		one("get NAME", "Show how a server is configured", func(_ *cobra.Command, name string) error { return mcpGet(a, dir, name) }),
		test, a.mcpServe(&dir),
	)
	c.AddCommand(a.forPerson(
		mcpAdd(a, &dir), remove,
		&cobra.Command{ // an agent's calls are asked about
			Use: "call NAME TOOL [JSON]", Short: "Call a tool of a server, with its arguments as a JSON object",
			Args: between(2, 3),
			RunE: func(c *cobra.Command, args []string) error {
				return a.mcpCall(c.Context(), dir, args[0], args[1], strings.Join(args[2:], ""))
			},
		},
		mcpFetch(a, &dir),
		one("accept NAME", "Accept the changed tools and prompts of a server", func(c *cobra.Command, name string) error { return mcpTest(c.Context(), a, dir, name, true) }),
		one("login NAME", "Sign in to a server", func(c *cobra.Command, name string) error { return a.mcpLogin(c.Context(), dir, name) }),
		one("logout NAME", "Sign out of a server", func(c *cobra.Command, name string) error { return a.mcpLogout(c.Context(), dir, name) }),
		a.mcpAddJSON(&dir), a.mcpImport(&dir),
	)...)
	return c
}

func mcpAdd(a *App, dir *string) *cobra.Command {
	var e mcp.Entry
	var kind, scope string
	var env, headers []string
	var signs mcp.OAuth
	var secret string
	c := &cobra.Command{
		Use: "add NAME [flags] -- COMMAND [ARGS...] | add NAME --transport http|sse URL", Short: "Configure a server",
		Example: `  pawl mcp add files -- npx -y @modelcontextprotocol/server-filesystem /data
  pawl mcp add issues --transport http https://mcp.example.com/mcp --header "Authorization: Bearer ${TOKEN}"`,
		Args: func(c *cobra.Command, args []string) error {
			if len(args) < 2 {
				return usageError("pawl mcp add needs a name, and a command or a URL: pawl mcp add NAME -- COMMAND ARGS")
			}
			return nil
		},
		RunE: func(_ *cobra.Command, args []string) error {
			name, rest := args[0], args[1:]
			if err := mcp.CheckName(name); err != nil {
				return usageError("%w", err)
			}
			switch kind {
			case "", "stdio":
				if kind == "" && len(rest) == 1 && strings.Contains(rest[0], "://") {
					return usageError("%s is a URL: use --transport http, or --transport sse for an old server", rest[0])
				}
				e.Command, e.Args = mcp.Command{rest[0]}, rest[1:]
			case "http", "sse":
				if len(rest) != 1 {
					return usageError("--transport %s needs one URL after the name", kind)
				}
				e.Type, e.URL = kind, rest[0]
			default:
				return usageError("unknown --transport %q: use stdio, http or sse", kind)
			}
			var err error
			if e.Env, err = pairs(env, "=", "NAME=VALUE for --env"); err == nil {
				e.Headers, err = pairs(headers, ":", `"Name: value" for --header`)
			}
			if err != nil {
				return err
			}
			if signs.ClientSecret = secret; signs.ClientID != "" || signs.CallbackPort != 0 || len(signs.Scopes) > 0 {
				if e.URL == "" {
					return usageError("--client-id, --callback-port and --scope-for-sign-in need --transport http or sse")
				}
				e.OAuth = &signs
			}
			return a.mcpSet(*dir, scope, name, e)
		},
	}
	f := c.Flags()
	f.StringVarP(&kind, "transport", "t", "", "stdio (default), http or sse")
	f.StringVarP(&scope, "scope", "s", "user", "user: for you in all folders; project: in this folder's .mcp.json")
	f.StringArrayVarP(&env, "env", "e", nil, "a NAME=VALUE for the server's environment; ${VAR} is read from your environment at each start (repeatable)")
	f.StringArrayVarP(&headers, "header", "H", nil, `a "Name: value" to send with each request (repeatable)`)
	f.StringVar(&signs.ClientID, "client-id", "", "the OAuth client id for the sign-in, or the https address of a client metadata document; without it, pawl registers itself")
	f.StringVar(&secret, "client-secret", "", "the OAuth client secret, best as ${VAR}")
	f.IntVar(&signs.CallbackPort, "callback-port", 0, "the port of the redirect URL http://localhost:PORT/callback")
	f.StringSliceVar(&signs.Scopes, "scope-for-sign-in", nil, "an OAuth scope to request in addition to the server's (repeatable)")
	f.StringVar(&e.Sandbox, "sandbox", "", "run the server in a sandbox: workspace or read-only")
	f.StringSliceVar(&e.Hosts, "host", nil, "a host that the server may reach from the sandbox (repeatable)")
	return c
}

// mcpFetch lets a server that is confined fetch its package, once.
func mcpFetch(a *App, dir *string) *cobra.Command {
	var hosts []string
	c := &cobra.Command{
		Use: "fetch NAME", Short: "Fetch a server's package (npx, uvx, bunx, pnpm dlx) in the sandbox, and try it",
		Args: exactly(1),
		RunE: func(c *cobra.Command, args []string) error {
			if _, err := host.ParseGrants(hosts); err != nil {
				return usageError("--host: %w", err)
			}
			m, err := listMCP(a, *dir)
			if err != nil {
				return err
			}
			for _, s := range m.Servers {
				if s.Name != args[0] || s.Problem != "" { // the test says what the problem is
					continue
				}
				if err := m.Packages().Decide(s, true, hosts); err != nil {
					return fmt.Errorf("%s: %w", s.Name, err)
				}
			}
			return mcpTest(c.Context(), a, *dir, args[0], false)
		},
	}
	c.Flags().StringSliceVar(&hosts, "host", nil, "a host that the server may reach when it runs (repeatable)")
	return c
}

// pairs parses "name SEP value" texts.
func pairs(texts []string, sep, usage string) (map[string]string, error) {
	out := map[string]string{}
	for _, t := range texts {
		k, v, ok := strings.Cut(t, sep)
		if k = strings.TrimSpace(k); !ok || k == "" {
			return nil, usageError("%q is not %s", t, usage)
		}
		if sep == ":" {
			v = strings.TrimSpace(v)
		}
		out[k] = v
	}
	return out, nil
}

// mcpFile returns the path and the permissions of a scope's file.
func (a *App) mcpFile(dir, scope string) (string, os.FileMode, error) {
	_, paths, err := a.Settings()
	if err != nil {
		return "", 0, err
	}
	switch scope {
	case "user", "local": // "local": other agents also have servers for one project and one person
		return paths.MCP(), 0o600, nil
	case "project":
		real, err := a.RealDir(dir)
		return filepath.Join(real, trust.ServersFile), 0o644, err
	}
	return "", 0, usageError("unknown --scope %q: use user or project", scope)
}

func (a *App) mcpSet(dir, scope, name string, e mcp.Entry) error {
	file, perm, err := a.mcpFile(dir, scope)
	if err != nil {
		return err
	}
	if scope == "project" && (e.Sandbox != "" || len(e.Hosts) > 0) {
		return usageError("--sandbox and --host need --scope user: a project's servers always run in the sandbox")
	}
	was, err := settings.SetServer(file, name, e, perm)
	if err != nil {
		return err
	}
	word := "added to"
	if was {
		word = "replaced in"
	}
	text := fmt.Sprintf("%s %s %s; to test it: pawl mcp test %s", name, word, file, name)
	if scope == "project" {
		text += "; it is used when the folder is trusted: pawl trust"
	}
	fmt.Fprintln(a.Out, plain.Line(text))
	return nil
}

func mcpRemove(a *App, dir, name, scope string) error {
	for _, s := range []string{"user", "project"} {
		if scope != "" && scope != s && !(scope == "local" && s == "user") {
			continue
		}
		file, perm, err := a.mcpFile(dir, s)
		if err != nil {
			return err
		}
		was, err := settings.SetServer(file, name, nil, perm)
		if err != nil {
			return err
		}
		if was {
			fmt.Fprintln(a.Out, plain.Line(name+" removed from "+file))
			return nil
		}
	}
	return usageError("unknown MCP server %s; pawl mcp list shows all", name)
}

// masked returns a function that prints lines without a server's secrets.
func masked(w io.Writer, s mcp.Server) func(format string, args ...any) {
	m := secrets.New(s.Secrets()...)
	return func(format string, args ...any) { fmt.Fprintln(w, plain.Line(m.String(fmt.Sprintf(format, args...)))) }
}

func mcpList(a *App, dir string) error {
	m, err := listMCP(a, dir)
	if err != nil {
		return err
	}
	pins := m.Pins()
	out := wrapped(a.Out, true)
	for _, s := range m.Servers {
		is := "not started yet"
		if got, err := pins.Of(s); err == nil && got != nil {
			is = plural.Of(got.Tools(), "tool") + " accepted"
		}
		if of := m.Packages().State(s); of != "" {
			is += "; " + of
		}
		switch {
		case s.Disabled:
			is = "disabled"
		case s.Problem != "":
			is = s.Problem
		}
		masked(out, s)("%-14s %s (%s, %s): %s", s.Name, s.Runs(), s.Transport, s.File, is)
	}
	if len(m.Servers) == 0 && len(m.Warnings) == 0 {
		fmt.Fprintln(out, "no MCP server is configured; to add one: pawl mcp add NAME -- COMMAND ARGS")
	}
	return nil
}

func mcpGet(a *App, dir, name string) error {
	m, err := listMCP(a, dir)
	if err != nil {
		return err
	}
	for _, s := range m.Servers {
		if s.Name != name {
			continue
		}
		say := masked(wrapped(a.Out, true), s)
		say("%s, in %s", s.Name, s.File)
		say("  %s: %s", s.Transport, s.Runs())
		for _, k := range slices.Sorted(maps.Keys(s.Env)) {
			say("  environment: %s", k)
		}
		for _, k := range slices.Sorted(maps.Keys(s.Headers)) {
			say("  header: %s", k)
		}
		if s.Sandbox != "" || len(s.Hosts) > 0 {
			say("  sandbox: %s %s", s.Sandbox, strings.Join(s.Hosts, ", "))
		}
		if of := m.Packages().State(s); of != "" {
			say("  package: %s", of)
		}
		if s.Problem != "" {
			say("  cannot be used: %s", s.Problem)
		}
		return nil
	}
	return usageError("unknown MCP server %s; pawl mcp list shows all", name)
}

// mcpTest starts servers and shows what they offer; with accept, it is accepted.
func mcpTest(ctx context.Context, a *App, dir, name string, accept bool) error {
	all, list, stop, err := a.startMCP(dir, nil)
	if err != nil {
		return err
	}
	defer stop()
	out := wrapped(a.Out, true)
	bad, any := false, false
	for _, s := range list {
		if name != "" && s.Name != name || s.Disabled {
			continue
		}
		any = true
		run := all.Try
		if accept {
			run = all.Accept
		}
		began := a.Now()
		r, err := run(ctx, s.Name)
		say := masked(out, s)
		if err != nil {
			bad = true
			say("BAD   %-14s %v", s.Name, err)
			continue
		}
		say("ok    %-14s %s, protocol %s, %d tools, after %d ms", s.Name, r.Name, r.Protocol, len(r.Tools), a.Now().Sub(began).Milliseconds())
		showReport(say, r, accept)
	}
	switch {
	case name != "" && !any:
		return usageError("unknown MCP server %s; pawl mcp list shows all", name)
	case bad:
		return &exitError{code: 1}
	}
	return nil
}

// mcpCall calls a tool, and prints what the server answers.
func (a *App) mcpCall(ctx context.Context, dir, server, name, args string) error {
	in := json.RawMessage(cmp.Or(args, "{}"))
	if !json.Valid(in) || in[0] != '{' {
		return usageError("the arguments %s are not a JSON object", args)
	}
	all, list, stop, err := a.startMCP(dir, nil)
	if err != nil {
		return err
	}
	defer stop()
	i := slices.IndexFunc(list, func(s mcp.Server) bool { return s.Name == server })
	if i < 0 {
		return usageError("unknown MCP server %s; pawl mcp list shows all", server)
	}
	env := tool.Env{Out: func(line string) { masked(a.Err, list[i])("%s", line) }, Ask: typedAnswers{a, bufio.NewReader(a.In)}}
	r, err := all.Call(ctx, server, name, env, in)
	if err != nil {
		return fmt.Errorf("%s: %w", server, err)
	}
	for line := range strings.SplitSeq(r.Text, "\n") {
		masked(a.Out, list[i])("%s", line)
	}
	if r.Error {
		return &exitError{code: 1}
	}
	return nil
}

// typedAnswers asks the person what a server asks during a call.
type typedAnswers struct {
	a  *App
	in *bufio.Reader
}

func (t typedAnswers) Question(_ context.Context, text string, options []string) (string, error) {
	if len(options) > 0 {
		text += " (" + strings.Join(options, ", ") + ")"
	}
	fmt.Fprint(t.a.Err, plain.Text(text)+": ")
	line, err := t.in.ReadString('\n')
	if err != nil && line == "" {
		return "", tool.ErrNobody
	}
	return strings.TrimSpace(line), nil
}

// listMCP lists the servers of a folder, and prints what is wrong with them.
func listMCP(a *App, dir string) (*setup.MCP, error) {
	m, err := a.MCP(dir)
	if err != nil {
		return nil, err
	}
	a.warn(m.Warnings...)
	return m, nil
}

// startMCP returns the servers of a folder, for tests. signIn shows the address of a
// sign-in; nil: none is begun. stop ends them.
func (a *App) startMCP(dir string, signIn func(ctx context.Context, address string) (string, error)) (all *mcp.Servers, list []mcp.Server, stop func(), err error) {
	m, err := listMCP(a, dir)
	if err != nil {
		return nil, nil, nil, err
	}
	all, warning, stop, err := m.Start(signIn)
	if warning != "" {
		a.warn(warning)
	}
	return all, m.Servers, stop, err
}

// showReport lists what a server offers, and its differences from what was accepted.
func showReport(say func(string, ...any), r mcp.Report, accepted bool) {
	changes := map[string]trust.Change{}
	for _, c := range r.Pinning.Changes {
		changes[c.What] = c
	}
	for _, i := range slices.Concat(r.Tools, r.Prompts) {
		how := ""
		if c, ok := changes[i.Key()]; ok && !r.Pinning.New {
			how = " (" + c.How + ")"
		}
		name := i.Name
		if i.Kind == "prompt" {
			name = "/" + mcp.Prompt{Server: r.Server.Name, Name: i.Name}.Command()
		}
		say("      %s%s", name, how)
	}
	if r.Pinning.New || len(r.Pinning.Changes) == 0 && r.Pinning.Refused == "" {
		return
	}
	if r.Pinning.Refused != "" {
		say("      %s", r.Pinning.Refused)
	}
	for _, c := range r.Pinning.Changes {
		if c.How == "changed" || c.How == "gone" || strings.HasPrefix(c.How, "refused") {
			say("      %s %s", c.What, c.How)
			if c.Was != "" {
				say("        - %s", c.Was)
			}
			if c.Is != "" {
				say("        + %s", c.Is)
			}
		}
	}
	if accepted {
		say("      accepted as it is now")
	} else {
		say("      new and changed tools and prompts are not offered; to accept them: pawl mcp accept %s", r.Server.Name)
	}
}
