// Package cli is pawl's command line: flags, subcommands (one file each) and
// exit codes. It puts sessions together from settings, stores, models and
// tools, and passes them to a frontend; it contains no policy.
package cli

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/pawl-agent/pawl/internal/adapter/replay"
	"github.com/pawl-agent/pawl/internal/core/fault"
	"github.com/pawl-agent/pawl/internal/engine/turn"
	"github.com/pawl-agent/pawl/internal/frontend/agentsdk"
	"github.com/pawl-agent/pawl/internal/frontend/headless"
	"github.com/pawl-agent/pawl/internal/frontend/plain"
	"github.com/pawl-agent/pawl/internal/policy/secrets"
	"github.com/pawl-agent/pawl/internal/team/structured"
)

// Version is pawl's version. The linker sets it in what `make dist` builds, and
// main in what `go install` built from a release.
var Version = "0.1.0-dev"

// App is the environment of the command line.
type App struct {
	In   io.Reader
	Out  io.Writer
	Err  io.Writer
	Env  func(string) string
	Dir  string // the current folder
	Now  func() time.Time
	Args []string // without the program's name
	// Terminal reports whether both In and Out are a terminal.
	Terminal bool
	// Signals starts to handle SIGINT, SIGTERM and SIGHUP and yields their
	// names. They end a command that does not call it.
	Signals func() <-chan string
	// Program finds a language server's program by its name; nil: there is none.
	Program func(name string) (string, error)
	// Self is the file of this program, which commands in the sandbox may start
	// again; "": not known.
	Self string
	// NATSLease is how long a worker on another machine may be silent; 0: 30 s.
	NATSLease time.Duration

	recorder  *replay.Recorder // nil: nothing is recorded
	savedKeys *keptKeys        // see keys; Main sets it
}

// exitError carries an exit code up to Main. Its message, if any, was not printed yet.
type exitError struct {
	code   int
	err    error
	result bool // the result was written as JSON already
}

func (e *exitError) Error() string {
	if e.err == nil {
		return fmt.Sprintf("exit code %d", e.code)
	}
	return e.err.Error()
}

func (e *exitError) Unwrap() error { return e.err }

// usageError returns the error for a wrong command line: exit code 2.
func usageError(format string, args ...any) error {
	return &exitError{code: 2, err: fmt.Errorf(format, args...)}
}

// Main runs a command line and returns the exit code.
func Main(ctx context.Context, a *App) int {
	private()
	a.keys()
	root := a.root()
	if len(a.Args) > 0 && strings.HasPrefix(a.Args[0], cobra.ShellCompRequestCmd) { // of no use else
		a.complete(root)
		root.SetArgs(a.Args)
	} else {
		root.SetArgs(asRun(root, a.Args))
	}
	root.SetIn(a.In)
	root.SetOut(a.Out)
	root.SetErr(a.Err)
	wrapHelp(root, func() int { return columns(a.Out) })
	err := root.ExecuteContext(ctx)
	if err == nil {
		return 0
	}
	code, said := exitCode(err)
	if !said {
		fmt.Fprintln(wrapped(a.Err, false), "pawl: "+plain.Text(err.Error()))
		if e := (*exitError)(nil); wantsJSON(a.Args) && !(errors.As(err, &e) && e.result) { // whoever reads it gets an object however it ends
			if b, merr := json.Marshal(headless.Failure(code, turn.Describe(err))); merr == nil {
				fmt.Fprintln(a.Out, string(b))
			}
		}
	}
	return code
}

// exitCode returns the code of an error, and whether it was printed already.
func exitCode(err error) (code int, said bool) {
	if e := (*exitError)(nil); errors.As(err, &e) {
		return e.code, e.err == nil
	}
	switch fault.CategoryOf(err) {
	case fault.Configuration:
		return 3, false
	case fault.Provider, fault.LLM:
		return 4, false
	case fault.Budget:
		return 6, false
	case fault.Permission:
		return 8, false
	case fault.Cancellation:
		return 130, false
	}
	return 1, false
}

// flags are those that every command that opens a session has.
type flags struct {
	dir          string
	worktree     string // the name of a linked working tree, "" for none
	trustedAs    string // see folderTrust.as
	model        string
	effort       string
	mode         string
	sandbox      string
	route        string
	allow, deny  []string
	maxTurns     int
	maxUSD       float64
	maxTokens    int64
	budget       string
	fallback     []string
	retryFor     string
	timeout      time.Duration
	format       string
	verify       bool
	print        bool
	noSession    bool
	metricsAddr  string
	continueLast bool
	resume       string
	fork         bool
	fixing       fixing
	goal         goal
	sdk          sdkFlags
	trust        bool
	met          *firstMet // of all sessions of this process
	forkAt       int64     // the last event of the copy; 0 is all
	plan         string
	plain        bool
	attached     *attached // the session is another process's

	systemPrompt, appendPrompt string
	addDirs                    []string
	mcpConfig                  []string           // files, or JSON
	schema                     string             // a file, or JSON
	shape                      *structured.Answer // of the schema
	servers                    json.RawMessage    // of an editor, in the same format
	program                    agentsdk.Setup     // what is inside the program that drives pawl
	sessionID                  string             // of the new session
}

func (a *App) root() *cobra.Command {
	if path := a.Env("PAWL_RECORD"); path != "" {
		a.recorder = replay.NewRecorder(path, secrets.New(a.heldSecrets()...).MaskBytes)
	}
	f := &flags{}
	version := false
	root := &cobra.Command{
		Use:   "pawl [flags] [PROMPT | command]",
		Short: "A coding agent for the terminal",
		Long: `pawl is a coding agent for the terminal.

Without a command it opens a conversation in the current folder, which begins
with PROMPT if there is one. With -p, or without a terminal, it runs the prompt
without asking anything, as "pawl run" does.`,
		SilenceErrors: true,
		SilenceUsage:  true,
		Args: func(c *cobra.Command, args []string) error {
			if version {
				return nil
			}
			return noCommand(c, args)
		},
		RunE: func(c *cobra.Command, args []string) error {
			if version {
				return a.version()
			}
			if err := f.notAnOverride(args); err != nil {
				return err
			}
			switch {
			case a.Terminal:
				return a.converse(c.Context(), f, strings.Join(args, " "))
			case len(args) > 0:
				return a.run(c.Context(), f, args)
			default:
				return usageError("no terminal to hold a conversation on; give a prompt: pawl run \"…\", or pipe one into pawl run")
			}
		},
	}
	// cobra's own flag would print by a template: those call methods by their
	// names, and the linker has to keep the methods of all types.
	root.Flags().BoolVarP(&version, "version", "v", false, "version for pawl")
	root.SetFlagErrorFunc(func(c *cobra.Command, err error) error {
		return usageError("%w%s\nsee: %s --help", err, meantFlag(c, err), c.CommandPath())
	})
	f.addSession(root)
	f.addWorktree(root)
	f.addRun(root)
	root.Flags().BoolVarP(&f.print, "print", "p", false, "run the prompt, from the argument or standard input, without asking anything, and print the answer")
	root.Flags().BoolVar(&f.plain, "plain", false, "hold the conversation line by line, without a screen: for screen readers and logs")
	root.AddCommand(
		a.progressCommand(),
		a.runCommand(), a.attachCommand(), a.demoCommand(), a.repairCommand(), a.sessionsCommand(), a.modelsCommand(), a.loginCommand(), a.logoutCommand(),
		a.doctorCommand(), a.permissionsCommand(), a.undoCommand(), a.redoCommand(), a.diffCommand(), a.statesCommand(), exitCodesTopic(),
		a.whyCommand(), a.statsCommand(), a.rulesCommand(), a.memoryCommand(), a.versionCommand(),
		a.sandboxCommand(), a.trustCommand(), a.lspCommand(), a.mcpCommand(), a.hooksCommand(), a.pluginCommand(), a.swarmCommand(), a.workerCommand(), a.acpCommand(),
		a.configCommand(), a.manCommand(), flagsTopic(),
	)
	shellScripts(root)
	help := root.HelpFunc()
	root.SetHelpFunc(func(c *cobra.Command, args []string) {
		if c == root {
			rootHelp(c.OutOrStdout(), root)
			return
		}
		help(c, args)
	})
	return root
}

// addSession adds the flags that choose the session, the folder and the model.
func (f *flags) addSession(c *cobra.Command) {
	fs := c.Flags()
	f.met = &firstMet{}
	fs.StringVarP(&f.dir, "dir", "C", "", "work in this folder instead of the current one")
	fs.StringVarP(&f.model, "model", "m", "", "the model: provider/model, a provider, or offline")
	fs.Var(word{&f.effort, sameWords["effort"]}, "effort", "reasoning effort: low, medium or high")
	fs.BoolFuncP("yolo", "y", "the same as --permission-mode yolo: nothing is asked", func(string) error { f.mode = "yolo"; return nil })
	fs.BoolFunc("full-auto", "the same as --permission-mode auto", func(string) error { f.mode = "auto"; return nil })
	fs.Var(word{&f.mode, sameWords["permission-mode"]}, "permission-mode", "ask, plan, accept-edits, auto or yolo")
	fs.StringVar(&f.systemPrompt, "system-prompt", "", "put this in the place of pawl's own instructions to the model")
	fs.StringVar(&f.appendPrompt, "append-system-prompt", "", "add this to the instructions to the model")
	fs.StringSliceVar(&f.addDirs, "add-dir", nil, "a folder beside this one that may be read, too; what is written there is asked about (repeatable)")
	fs.StringArrayVar(&f.mcpConfig, "mcp-config", nil, "MCP servers of this run: a file like .mcp.json, or its JSON (repeatable)")
	fs.StringVar(&f.sessionID, "session-id", "", "the id of the new session: 8 to 64 letters, digits and hyphens")
	fs.Var(word{&f.sandbox, sameWords["sandbox"]}, "sandbox", "how commands are confined: workspace, read-only or off (see doc/sandbox.md)")
	fs.StringVar(&f.route, "route", "", "what prompts are taken for: auto, off, read, edit, run or profile (see doc/routes.md)")
	fs.StringArrayVar(&f.allow, "allow", nil, "allow what matches, such as 'bash(go generate *)' (repeatable)")
	fs.StringArrayVar(&f.deny, "deny", nil, "deny what matches (repeatable)")
	fs.Float64Var(&f.maxUSD, "max-budget-usd", 0, "stop before the session costs more than this")
	fs.Int64Var(&f.maxTokens, "max-tokens-total", 0, "stop before the session uses more tokens than this, in and out")
	fs.StringVar(&f.budget, "budget", "", "limits of the session: quick, standard, deep or unlimited (see doc/budgets.md)")
	fs.StringArrayVar(&f.fallback, "fallback-model", nil, "go on with this model when the other gives no answer (repeatable)")
	fs.StringVar(&f.retryFor, "retry-for", "", "try a request again for this long where the server gives no answer, such as 10m; 0 does not (default 5m)")
	fs.StringVar(&f.metricsAddr, "metrics-addr", "", "give counters to Prometheus on this address, such as 127.0.0.1:9464")
	fs.BoolVar(&f.noSession, "no-session", false, "keep nothing of this session")
	fs.BoolVarP(&f.continueLast, "continue", "c", false, "go on with the newest session of this folder")
	fs.StringVarP(&f.resume, "resume", "r", "", "go on with this session (a unique start of its id is enough)")
	fs.BoolVar(&f.fork, "fork-session", false, "with --continue or --resume: go on in a copy")
	fs.SetNormalizeFunc(othersWords)
	f.fixing.add(c)
	fs.StringVar(&f.plan, "plan", "", "take the phases of the task from this Markdown file (see doc/phases.md)")
	exclude(c, "continue", "resume", "no-session")
	exclude(c, "yolo", "full-auto", "permission-mode")
}

// addWorktree adds the flag of what chooses its folder by itself.
func (f *flags) addWorktree(c *cobra.Command) {
	fs := c.Flags()
	fs.StringVarP(&f.worktree, "worktree", "w", "", "work in a linked working tree of git, on a branch of its own (see doc/worktrees.md)")
	fs.Lookup("worktree").NoOptDefVal = anyTree
}

// addRun adds the flags of a run without a person.
func (f *flags) addRun(c *cobra.Command) {
	fs := c.Flags()
	fs.IntVar(&f.maxTurns, "max-turns", 0, "stop after this many model replies")
	fs.DurationVar(&f.timeout, "timeout", 0, "stop after this long, such as 90s or 10m")
	f.format = "text"
	fs.Var(word{&f.format, sameWords["output-format"]}, "output-format", "text, json, stream-json or claude-stream-json (see doc/sdk.md)")
	fs.BoolFunc("json", "the same as --output-format stream-json", func(string) error { f.format = "stream-json"; return nil })
	_ = fs.MarkHidden("json")
	fs.BoolVar(&f.trust, "trust", false, "for this run, trust what the folder has pawl run by itself, its checks (see pawl trust)")
	f.goal.add(c)
	fs.StringVar(&f.schema, "json-schema", "", "the answer is JSON that fits this schema, a file or JSON; it is asked for again at most twice")
	fs.BoolVar(&f.verify, "verify", false, "exit 9 when files changed and no check that ran a test passed after the last change")
	for name := range needlessFlags {
		fs.BoolFunc(name, "", func(string) error { return nil }) // whatever it is given, as --debug=api
		_ = fs.MarkHidden(name)
	}
}

// realDir is the workspace's real path.
func (a *App) realDir(f *flags) (string, error) {
	dir := a.Dir
	if f.dir != "" {
		dir = f.dir
	}
	real, err := realPath(dir)
	if err != nil {
		return "", usageError("cannot work in %s: %w", dir, err)
	}
	if st, err := os.Stat(real); err != nil || !st.IsDir() {
		return "", usageError("cannot work in %s: it is not a folder", dir)
	}
	return real, nil
}
