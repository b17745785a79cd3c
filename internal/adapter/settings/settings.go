// Package settings reads the configuration of a person and of a project, and returns the
// paths of pawl's own files.
//
// Files are JSON with comments (// and /* */) and trailing commas. A user's file may set
// everything; a project's file can only restrict (SPEC 16.2): everything except its deny
// and ask rules (and its hooks, which need trust) is ignored and reported. A user's file
// that cannot be read or has an unknown key is an error that names file and key: a
// setting that is silently ignored is worse than none. Such a project's file stops the
// start of a session, too: it may forbid something (SPEC 16.17). So do the guards in
// another agent's files that pawl cannot keep (policy/claudecode).
package settings

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"syscall"
	"time"

	"github.com/pawl-agent/pawl/internal/core/fault"
	"github.com/pawl-agent/pawl/internal/core/jsonc"
	"github.com/pawl-agent/pawl/internal/core/llm"
	"github.com/pawl-agent/pawl/internal/core/plainfile"
	"github.com/pawl-agent/pawl/internal/policy/claudecode"
	"github.com/pawl-agent/pawl/internal/policy/hook"
	"github.com/pawl-agent/pawl/internal/policy/permission"
	"github.com/pawl-agent/pawl/internal/policy/progress"
	"github.com/pawl-agent/pawl/internal/policy/window"
)

// Settings is a user's configuration.
type Settings struct {
	Schema      string           `json:"$schema,omitempty"` // for editors
	Model       string           `json:"model,omitempty"`   // provider/model
	Effort      string           `json:"effort,omitempty"`  // minimal, low, medium, high, xhigh, max
	Mode        string           `json:"mode,omitempty"`    // permission mode
	Sandbox     string           `json:"sandbox,omitempty"` // workspace, read-only or off
	Permissions Permissions      `json:"permissions,omitzero"`
	Models      map[string]Model `json:"models,omitempty"` // by provider/model or model
	Store       Store            `json:"store,omitzero"`
	Budget      Budget           `json:"budget,omitzero"`
	// Fallback lists the models, as provider/model, that continue when the current one
	// does not answer.
	Fallback []string `json:"fallback,omitempty"`
	// RetryFor is how long a request without an answer is retried, such as "5m"; "0"
	// switches retries off.
	RetryFor string `json:"retry_for,omitempty"`
	// Resources is what the machine must have free for new work.
	Resources Resources `json:"resources,omitzero"`
	// QueryCache stores answers to questions for which the model only read, and returns
	// them again while nothing that they are based on has changed.
	QueryCache bool `json:"query_cache,omitempty"`
	// Progress configures the detection of runs that make no progress; missing keys have
	// their defaults.
	Progress progress.Config `json:"progress,omitzero"`
	// Window configures the context window; missing keys have their defaults.
	Window window.Config `json:"window,omitzero"`
	// Route is how prompts are classified: auto, off, read, edit, run, profile.
	Route string `json:"route,omitempty"`
	// RouteModel: a model is asked to classify a prompt where its words do not decide.
	RouteModel *bool   `json:"route_model,omitempty"`
	Tools      Tools   `json:"tools,omitzero"`
	Autofix    Autofix `json:"autofix,omitzero"`
	Checks     []Check `json:"checks,omitempty"`
	LSP        LSP     `json:"lsp,omitzero"`
	Agents     Agents  `json:"agents,omitzero"`
	Screen     Screen  `json:"screen,omitzero"`
	Search     Search  `json:"search,omitzero"`
	Kept       Kept    `json:"kept,omitzero"`
	Swarm      Swarm   `json:"swarm,omitzero"`
	// ServerState allows a provider to store conversations on its servers, so that
	// requests need not repeat them (OpenAI's Responses).
	ServerState bool `json:"server_state,omitempty"`
	// ClaudeSettings: ~/.claude/settings.json is used like this file where this one says
	// nothing: permissions, folders, mode, model, environment and hooks.
	ClaudeSettings bool `json:"claude_settings,omitempty"`
	// Hooks are programs that run at events of a session, in the format of Claude Code's
	// settings. A project's hooks run only in a trusted folder.
	Hooks json.RawMessage `json:"hooks,omitempty"`
}

// Kept limits what is kept of what commands remove or replace.
type Kept struct {
	SessionMB int64 `json:"session_mb,omitempty"` // for a session; 0: 2048
	FileMB    int64 `json:"file_mb,omitempty"`    // of a file that must be copied; 0: 64
}

func (k Kept) check() error {
	if k.SessionMB < 0 || k.FileMB < 0 {
		return errors.New("kept.session_mb and kept.file_mb must not be negative")
	}
	return nil
}

// Swarm configures swarms.
type Swarm struct {
	// Notes is where a swarm stores what its workers learned from each other: sqlite (the
	// default), json, or nats: on the server of --nats, if there is one.
	Notes string `json:"notes,omitempty"`
	// WorkerTokens and WorkerSteps are what a worker may use for one try of a task; 0: 300,000
	// tokens and 50 steps.
	WorkerTokens int64 `json:"worker_tokens,omitempty"`
	WorkerSteps  int   `json:"worker_steps,omitempty"`
}

// The values of Swarm.Notes besides sqlite.
const (
	NotesJSON = "json"
	NotesNATS = "nats"
)

func (s Swarm) check() error {
	if s.WorkerTokens < 0 || s.WorkerSteps < 0 {
		return errors.New("swarm.worker_tokens and swarm.worker_steps must not be negative")
	}
	switch s.Notes {
	case "", "sqlite", NotesJSON, NotesNATS:
		return nil
	}
	return fmt.Errorf("swarm.notes is %q: it must be sqlite, json or nats", s.Notes)
}

// Search configures the service that searches the web; empty: the model's provider, if it
// can.
type Search struct {
	API string `json:"api,omitempty"` // brave, tavily or searxng
	URL string `json:"url,omitempty"` // its address, if not the service's default
	// Price is what the service charges for each search, in USD.
	Price float64 `json:"price,omitempty"`
}

// Screen configures how conversations are displayed.
type Screen struct {
	Theme string `json:"theme,omitempty"` // dark, light, contrast or plain; "": as the terminal reports its background
	Calm  bool   `json:"calm,omitempty"`  // no animations
	Plain bool   `json:"plain,omitempty"` // line by line, as with --plain
	Vim   bool   `json:"vim,omitempty"`   // the prompt takes the keys of vi
}

// Agents configures how a session may start agents.
type Agents struct {
	// Depth is how deep agents may be nested: 1, the default, for agents that start no
	// others; 0 for no agents.
	Depth *int `json:"depth,omitempty"`
}

const mostDepth = 5

// Levels returns Depth, or its default.
func (a Agents) Levels() int {
	if a.Depth == nil {
		return 1
	}
	return *a.Depth
}

func (a Agents) check() error {
	if n := a.Levels(); n < 0 || n > mostDepth {
		return fmt.Errorf("agents.depth is %d: it must be 0 to %d", n, mostDepth)
	}
	return nil
}

// Permissions are rules such as "bash(go test *)".
type Permissions struct {
	Allow []string `json:"allow,omitempty"`
	Ask   []string `json:"ask,omitempty"`
	Deny  []string `json:"deny,omitempty"`
}

// Model overrides what pawl knows about a model.
type Model struct {
	Price     *llm.Price `json:"price,omitempty"`
	Window    int        `json:"window,omitempty"`
	MaxOutput int        `json:"max_output,omitempty"`
	// Images is whether the model accepts images.
	Images *bool `json:"images,omitempty"`
}

// Store configures how sessions are stored.
type Store struct {
	Durability string `json:"durability,omitempty"` // normal (default) or full: fsync per append
}

// Budget limits what a session may spend: a preset, and changes to it. 0 means the
// preset's value.
type Budget struct {
	Preset   string  `json:"preset,omitempty"` // quick, standard, deep, unlimited
	USD      float64 `json:"usd,omitempty"`
	Tokens   int64   `json:"tokens,omitempty"`
	Minutes  float64 `json:"minutes,omitempty"` // running time
	Requests int     `json:"requests,omitempty"`
	Calls    int     `json:"calls,omitempty"`
	Agents   int     `json:"agents,omitempty"`
}

// Resources is what the machine must have free for new work, in MB. 0 means the default;
// a negative number switches the check off.
type Resources struct {
	MemoryMB int64 `json:"memory_mb,omitempty"` // default 100
	DiskMB   int64 `json:"disk_mb,omitempty"`   // default 100, for the workspace and for pawl's own files
}

// Loaded is the configuration in effect.
type Loaded struct {
	Dir      string // the folder of the project
	User     Settings
	Project  Permissions // deny and ask only
	Warnings []string    // what was ignored, and why
	Files    []string    // the files that were read
	// Guards are what Claude Code's settings files forbid, in the folder and the home.
	Guards []claudecode.Settings
	// Taken is what the person's own file of Claude Code gives, beside what is in User.
	Taken claudecode.Taken
	// Unkept are the guards of the folder that cannot be kept: no session starts there.
	Unkept []string
}

// Load reads the user's file, the project's, and the guards in the files of other agents.
// originals are folders that dir is a copy of: their guards hold, too.
func Load(p Paths, dir string, originals ...string) (Loaded, error) {
	l := Loaded{Dir: dir, User: Settings{Progress: progress.Default()}}
	user := p.User()
	found, err := read(user, &l.User)
	l.Guards = guards(p.Home, dir, originals, err == nil && l.User.ClaudeSettings)
	for _, g := range l.Guards {
		if g.File.Agreed {
			l.take(g.Taken)
		}
		if !g.File.Own {
			l.Unkept = append(l.Unkept, g.Problems...)
		}
	}
	if err != nil {
		return l, err
	} else if found {
		l.Files = append(l.Files, user)
	}
	if err := l.User.check(user); err != nil {
		return l, err
	}
	project := Project(dir)
	var theirs Settings
	if found, err = read(project, &theirs); err != nil {
		// Its rules cannot be read, and they may forbid something.
		l.Unkept = append(l.Unkept, err.Error())
		return l, nil
	}
	if !found {
		return l, nil
	}
	l.Files = append(l.Files, project)
	if theirs.Sandbox != "" {
		l.Warnings = append(l.Warnings, fmt.Sprintf("%s: a project cannot set the sandbox: \"sandbox\": %q is refused; set it in your own %s or with --sandbox", project, theirs.Sandbox, user))
		theirs.Sandbox = ""
	}
	if err := hookable(project, theirs.Hooks); err != nil {
		l.Unkept = append(l.Unkept, project+": "+err.Error())
	}
	theirs.Hooks = nil // the folder's trust decides
	l.Project = Permissions{Ask: theirs.Permissions.Ask, Deny: theirs.Permissions.Deny}
	if err := permission.New(permission.Config{}).Add(permission.Project, nil, l.Project.Ask, l.Project.Deny); err != nil {
		l.Unkept = append(l.Unkept, project+": "+err.Error())
		l.Project = Permissions{}
	}
	theirs.Schema = ""
	theirs.Permissions = Permissions{Allow: theirs.Permissions.Allow}
	if rest, err := json.Marshal(theirs); err == nil && string(rest) != "{}" {
		l.Warnings = append(l.Warnings, fmt.Sprintf("%s: a project's configuration can only restrict; ignored: %s", project, rest))
	}
	return l, nil
}

// take uses what the person's own file of Claude Code gives, where theirs for pawl says
// nothing. The model is not always one that can be used here.
func (l *Loaded) take(t claudecode.Taken) {
	l.Taken = t
	l.User.Permissions.Allow = append(l.User.Permissions.Allow, t.Allow...)
	l.User.Mode = cmp.Or(l.User.Mode, string(t.Mode))
}

// check returns an error for an invalid value; at is the file or key in the message.
func (s *Settings) check(at string) error {
	for _, part := range []struct {
		key, hint string
		err       error
	}{
		{": progress", "correct the number", s.Progress.Check()},
		{": tools", "correct the value", s.Tools.Check()},
		{"", "correct it; see doc/safety.md", s.checkChecks()},
		{": lsp", "correct it; see doc/lsp.md", s.LSP.check()},
		{"", "correct it; see doc/extending.md", s.Agents.check()},
		{"", "correct it; see doc/extending.md", hookable(at, s.Hooks)},
		{"", "correct it; see doc/window.md", s.Window.Check()},
		{": retry_for", "correct it", retryable(s.RetryFor)},
		{"", "correct it", s.Screen.check()},
		{"", "correct the number", s.Kept.check()},
		{"", "correct it", s.Swarm.check()},
	} {
		if part.err != nil {
			return &fault.Error{Category: fault.Configuration, Message: at + part.key, Err: part.err, Hint: part.hint}
		}
	}
	return nil
}

func (s Screen) check() error {
	switch s.Theme {
	case "", "dark", "light", "contrast", "plain":
		return nil
	}
	return fmt.Errorf("screen.theme is %q: it must be dark, light, contrast or plain", s.Theme)
}

func hookable(at string, raw json.RawMessage) error {
	rules, err := hook.Rules(at, raw)
	if err != nil {
		return err
	}
	return hook.Dropped(rules)
}

func retryable(said string) error {
	_, err := RetryFor(said)
	return err
}

// RetryFor returns how long a request is retried: 0 if nothing is configured, below 0 if
// requests are not retried.
func RetryFor(said string) (time.Duration, error) {
	if said == "" {
		return 0, nil
	}
	d, err := time.ParseDuration(said)
	switch {
	case err != nil || d < 0:
		return 0, fmt.Errorf("%q is not a duration for retries: use one such as 90s, 10m or 2h, or 0", said)
	case d == 0:
		return -1, nil
	}
	return d, nil
}

func read(path string, into *Settings) (found bool, err error) {
	raw, err := readSmall(path)
	if missing(err) {
		return false, nil
	}
	if err != nil {
		return false, &fault.Error{Category: fault.Configuration, Message: "cannot read the configuration", Err: err, Hint: "correct or remove the file"}
	}
	return true, decode(path, jsonc.Plain(raw), into)
}

// maxConfig is the longest configuration that is read, in bytes.
const maxConfig = 1 << 20

// readSmall reads a regular file of at most maxConfig bytes: a project's file may be a
// pipe without a writer, or a link to a device without an end.
func readSmall(path string) ([]byte, error) {
	st, err := os.Stat(path)
	switch {
	case err != nil:
		return nil, err
	case !st.Mode().IsRegular():
		return nil, fmt.Errorf("%s is not a regular file", path)
	case st.Size() > maxConfig:
		return nil, fmt.Errorf("%s is longer than %d bytes", path, maxConfig)
	}
	return plainfile.Read(path, maxConfig)
}

// missing reports whether err means that a file does not exist, or that a folder in its
// path is a file.
func missing(err error) bool {
	return errors.Is(err, fs.ErrNotExist) || errors.Is(err, syscall.ENOTDIR)
}
