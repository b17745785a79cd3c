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
	Model       string           `json:"model,omitempty" jsonschema:"provider/model, or a provider; PAWL_MODEL and -m override it"`
	Effort      string           `json:"effort,omitempty" jsonschema:"how hard a model thinks; not set: as the model's maker does"`
	Mode        string           `json:"mode,omitempty" jsonschema:"what goes on without a question (/mode changes this session); a run without a person has accept-edits"`
	Sandbox     string           `json:"sandbox,omitempty" jsonschema:"the widest rights of commands"`
	Permissions Permissions      `json:"permissions,omitzero"`
	Models      map[string]Model `json:"models,omitempty" jsonschema:"what pawl does not know or has wrong about a model: price, window, max_output, images, pdf, audio"`
	Store       Store            `json:"store,omitzero"`
	Budget      Budget           `json:"budget,omitzero"`
	Fallback    []string         `json:"fallback,omitempty" jsonschema:"models that go on when the first does not answer"`
	RetryFor    string           `json:"retry_for,omitempty" jsonschema:"how long a request is tried again, such as 5m; 0: never"`
	// Resources is what the machine must have free for new work.
	Resources  Resources `json:"resources,omitzero"`
	QueryCache bool      `json:"query_cache,omitempty" jsonschema:"answer the same first question again from what is stored"`
	// Progress configures the detection of runs that make no progress; missing keys have
	// their defaults.
	Progress progress.Config `json:"progress,omitzero"`
	// Window configures the context window; missing keys have their defaults.
	Window         window.Config   `json:"window,omitzero"`
	Route          string          `json:"route,omitempty" jsonschema:"how prompts are classified"`
	RouteModel     *bool           `json:"route_model,omitempty" jsonschema:"a model may classify a prompt where the words do not decide"`
	Tools          Tools           `json:"tools,omitzero"`
	Autofix        Autofix         `json:"autofix,omitzero"`
	Checks         []Check         `json:"checks,omitempty" jsonschema:"your own checks after changes, in place of those that pawl finds"`
	LSP            LSP             `json:"lsp,omitzero"`
	Agents         Agents          `json:"agents,omitzero"`
	Screen         Screen          `json:"screen,omitzero"`
	Search         Search          `json:"search,omitzero"`
	Kept           Kept            `json:"kept,omitzero"`
	Swarm          Swarm           `json:"swarm,omitzero"`
	ServerState    bool            `json:"server_state,omitempty" jsonschema:"a provider may store conversations on its servers"`
	ClaudeSettings bool            `json:"claude_settings,omitempty" jsonschema:"use ~/.claude/settings.json where this file says nothing"`
	Hooks          json.RawMessage `json:"hooks,omitempty" jsonschema:"programs that run at events of a session"`
}

// Kept limits what is kept of what commands remove or replace.
type Kept struct {
	SessionMB int64 `json:"session_mb,omitempty" jsonschema:"MB kept of what the commands of a session remove"`
	FileMB    int64 `json:"file_mb,omitempty" jsonschema:"MB of one such file that must be copied"`
}

func (k Kept) check() error {
	if k.SessionMB < 0 || k.FileMB < 0 {
		return errors.New("kept.session_mb and kept.file_mb must not be negative")
	}
	return nil
}

// Swarm configures swarms.
type Swarm struct {
	Notes        string `json:"notes,omitempty" jsonschema:"where workers store what they learn"`
	WorkerTokens int64  `json:"worker_tokens,omitempty" jsonschema:"tokens for one try of a task"`
	WorkerSteps  int    `json:"worker_steps,omitempty" jsonschema:"steps for one try of a task"`
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
	API   string  `json:"api,omitempty" jsonschema:"brave, tavily or searxng; not set: the search of the model's provider"`
	URL   string  `json:"url,omitempty" jsonschema:"the address of the service, if not its usual one"`
	Price float64 `json:"price,omitempty" jsonschema:"USD for each search"`
}

// Screen configures how conversations are displayed.
type Screen struct {
	Theme string              `json:"theme,omitempty" jsonschema:"colours; not set: by the terminal's background; PAWL_THEME overrides it"`
	Calm  bool                `json:"calm,omitempty" jsonschema:"no animation, no running seconds; also PAWL_CALM=1"`
	Plain bool                `json:"plain,omitempty" jsonschema:"line by line, as with --plain"`
	Vim   bool                `json:"vim,omitempty" jsonschema:"the prompt takes the keys of vi"`
	Keys  map[string][]string `json:"keys,omitempty" jsonschema:"other keys for an action of the screen (doc/keys.md)"`
}

// Agents configures how a session may start agents.
type Agents struct {
	Depth *int `json:"depth,omitempty" jsonschema:"how deep agents may be nested: 0 for none, at most 5"`
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
	Allow []string `json:"allow,omitempty" jsonschema:"rules for what goes on without a question"`
	Ask   []string `json:"ask,omitempty" jsonschema:"rules for what is asked about"`
	Deny  []string `json:"deny,omitempty" jsonschema:"rules for what is refused"`
}

// Model overrides what pawl knows about a model.
type Model struct {
	Price     *llm.Price `json:"price,omitempty" jsonschema:"USD per million tokens"`
	Window    int        `json:"window,omitempty" jsonschema:"tokens of the context window"`
	MaxOutput int        `json:"max_output,omitempty" jsonschema:"the most tokens of one reply"`
	Images    *bool      `json:"images,omitempty" jsonschema:"the model accepts images"`
	PDF       *bool      `json:"pdf,omitempty" jsonschema:"the model accepts PDF documents"`
	Audio     *bool      `json:"audio,omitempty" jsonschema:"the model accepts audio: WAV, MP3"`
}

// Store configures how sessions are stored.
type Store struct {
	Durability string `json:"durability,omitempty" jsonschema:"full: sync to the disk after each event"`
}

// Budget limits what a session may spend: a preset, and changes to it. 0 means the
// preset's value.
type Budget struct {
	Preset   string  `json:"preset,omitempty" jsonschema:"a set of limits; the keys below change single ones"`
	USD      float64 `json:"usd,omitempty" jsonschema:"USD that a session may cost; a conversation has 5 if nothing is set"`
	Tokens   int64   `json:"tokens,omitempty" jsonschema:"tokens of a session, input and output"`
	Minutes  float64 `json:"minutes,omitempty" jsonschema:"minutes of work, without your answers"`
	Requests int     `json:"requests,omitempty" jsonschema:"requests to models, with retries"`
	Calls    int     `json:"calls,omitempty" jsonschema:"calls of tools"`
	Agents   int     `json:"agents,omitempty" jsonschema:"agents that may be started"`
}

// Resources is what the machine must have free for new work, in MB. 0 means the default;
// a negative number switches the check off.
type Resources struct {
	MemoryMB int64 `json:"memory_mb,omitempty" jsonschema:"MB of memory that must be free for new work; below 0: not checked"`
	DiskMB   int64 `json:"disk_mb,omitempty" jsonschema:"MB of disk that must be free; below 0: not checked"`
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
	// TaskBudget is of one run: how many tokens a task may take. 0: nothing is said of it.
	TaskBudget int
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
