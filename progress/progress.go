package progress

import (
	"context"
	"log"
	"slices"
	"sync"
	"time"

	"github.com/pawl-agent/pawl/internal/policy/normalize"
	"github.com/pawl-agent/pawl/internal/policy/phase"
	"github.com/pawl-agent/pawl/internal/policy/progress"
	"github.com/pawl-agent/pawl/internal/policy/trajectory"
)

// Kind is what a step does.
type Kind string

// The kinds of steps. Test is a test or a build; None is a reply without a
// call.
const (
	Read   = Kind(progress.Read)
	Search = Kind(progress.Search)
	Edit   = Kind(progress.Edit)
	Exec   = Kind(progress.Exec)
	Test   = Kind(progress.Test)
	Wait   = Kind(progress.Wait)
	Think  = Kind(progress.Think)
	Submit = Kind(progress.Submit)
	None   = Kind(progress.None)
)

// File is a content that a step left.
type File struct {
	Path string
	Hash string // of the content; any string that differs if the content differs
}

// Step is one tool call and its result.
type Step struct {
	Tool   string
	Kind   Kind   // empty: guessed from Tool, Args and Command
	Target string // the file or the thing that it works on
	// Args are the arguments, preferably the JSON object as the model sent it:
	// then order and spaces do not matter, and empty fields Target and Command
	// are read from it by their usual names.
	Args    string
	Command string // the command line, of tools that run one
	OK      bool
	Error   string // the error as text, if it failed; if empty, Result
	Result  string // the result as the tool returned it, or as the model saw it
	// ContentHash is that of Target's content after an edit.
	ContentHash string
	// Contents are other files that it changed; for a command, all of them.
	Contents []File
	// Message is the model's text with the call.
	Message string
}

// Level is the severity of a verdict.
type Level int

// The levels. At Warn the model needs help; at Halt continuing is a waste.
const (
	OK Level = iota
	Warn
	Halt
)

func (l Level) String() string { return progress.Level(l).String() }

// Action is what to do about a verdict, as pawl does it.
type Action int

// The actions. Tell: tell the model about the loop, once for each loop. Block:
// do not run the call until some content is new, and tell the model. Stop: end
// the run, or ask a person; the model was told before and went on.
const (
	Nothing Action = iota
	Tell
	Block
	Stop
)

func (a Action) String() string { return [...]string{"nothing", "tell", "block", "stop"}[a] }

// Verdict is the result of the rules after a step.
type Verdict struct {
	// Due is what to do now. Each verdict assumes that you did what the earlier
	// ones asked for; a caller that does not block or tell uses only Level.
	Due Action

	Level       Level
	Rule        string
	Fingerprint string // equal for the same loop
	Steps       []int  // the steps that show it, counted from 0
	Text        string // in one line
	Ends        string // what would end it
}

// ProgressStats are the statistics for OnProgress.
type ProgressStats struct {
	Calls             int
	FilesModified     int
	RecentSuccesses   int // among the newest actions kept
	RecentFailures    int
	TestsRun          int
	TestsPassed       int
	ConsecutiveErrors int
}

// TotalProgress is over all phases.
type TotalProgress struct {
	CompletedPhases int
	TotalPhases     int
	FilesModified   int
	TestsPassed     int
}

// Options are the rules' settings; zero means the default, given after each.
// Without Enable no rule reports. Off switches rules off by name. Start from
// DefaultOptions.
type Options struct {
	Enable                bool     `json:"enable"`
	StuckThreshold        int      `json:"stuck_threshold"`         // 3
	OscillationWindow     int      `json:"oscillation_window"`      // 4
	ProgressCheckInterval int      `json:"progress_check_interval"` // 10
	MaxRecentActions      int      `json:"max_recent_actions"`      // 20
	MaxRecentErrors       int      `json:"max_recent_errors"`       // 10
	Off                   []string `json:"off,omitempty"`
	HaltIdentical         int      `json:"halt_identical"`    // 5
	CycleMax              int      `json:"cycle_max"`         // 8
	CycleRounds           int      `json:"cycle_rounds"`      // 3
	StaleWarn             int      `json:"stale_warn"`        // 12
	StaleHalt             int      `json:"stale_halt"`        // 20
	SterileThird          int      `json:"sterile_third"`     // 9
	SterileHalf           int      `json:"sterile_half"`      // 14
	HaltFailing           int      `json:"halt_failing"`      // 8
	FailureEdits          int      `json:"failure_edits"`     // 3
	FailedEditsWarn       int      `json:"failed_edits_warn"` // 5
	FailedEditsHalt       int      `json:"failed_edits_halt"` // 8
	HaltWaits             int      `json:"halt_waits"`        // 40
	Thoughts              int      `json:"thoughts"`          // 4
	Compactions           int      `json:"compactions"`       // 3
}

// DefaultOptions are the options of a Config that has none.
func DefaultOptions() Options { return Options(progress.Default()) }

// Check returns an error for names that are not rules, and for numbers that
// would stop productive runs.
func (o Options) Check() error { return progress.Config(o).Defaults().Check() }

// Config is the configuration of a StateMachine. All fields are optional.
type Config struct {
	SessionID   string
	Context     context.Context
	TotalPhases int
	// OnStateChange is called for transitions, OnStuck for warnings and halts
	// (IsStuck tells which), OnProgress every 10 calls.
	OnStateChange func(from, to AgentState)
	OnStuck       func(reason string)
	OnProgress    func(stats ProgressStats)
	// Options changes the rules; nil is the default.
	Options *Options
	// Now is the clock; nil is time.Now.
	Now func() time.Time
}

// StateMachine follows one session. Make it with NewStateMachine.
type StateMachine struct {
	mu         sync.Mutex
	c          Config
	every      int
	d          *progress.Detector
	escalation progress.Escalation
	phases     phase.List
	began      time.Time
	state      AgentState
	halted     string // why it is stuck, "" if it is not
	said       bool   // the newest record was a message
	calls      int
	queue      []func()
	telling    bool
}

// NewStateMachine makes a machine in StateIdle.
func NewStateMachine(c Config) *StateMachine {
	if c.Now == nil {
		c.Now = time.Now
	}
	rules := progress.Default()
	if c.Options != nil {
		rules = progress.Config(*c.Options).Defaults()
	}
	m := &StateMachine{c: c, every: rules.ProgressCheckInterval, d: progress.New(rules), began: c.Now(), state: StateIdle}
	m.phases.Expect(c.TotalPhases)
	return m
}

// SessionID returns the session's id.
func (m *StateMachine) SessionID() string { return m.c.SessionID }

// Record judges the next reply of the model: its call, or all the calls that it asked
// for at once. Calls of one reply count once where repetition counts, since the model
// has seen no result between them.
func (m *StateMachine) Record(reply ...Step) Verdict { return m.record(false, reply...) }

// RecordToolCall records a call without its result. Errors are judged in full. Of
// successful calls it is not known whether they repeat a result, so they do not halt a
// run, except edits that go to and fro between two files with nothing in between.
func (m *StateMachine) RecordToolCall(tool, file, command, errText string, success bool) Verdict {
	return m.record(true, Step{
		Tool: tool, Target: file, Args: file + "\x00" + command, Command: command, OK: success, Error: errText,
	})
}

// RecordTest records a test run with its output.
func (m *StateMachine) RecordTest(command string, passed bool, output string) Verdict {
	return m.record(false, Step{Tool: "test", Kind: Test, Args: command, Command: command, OK: passed, Result: output})
}

func (m *StateMachine) record(blind bool, reply ...Step) Verdict {
	steps := make([]progress.Step, len(reply))
	for i, s := range reply {
		in := trajectory.Call{
			Tool: s.Tool, Kind: progress.Kind(s.Kind), Args: s.Args, Target: s.Target, Command: s.Command, OK: s.OK,
			Error: s.Error, Result: s.Result, State: s.ContentHash, Message: s.Message, Blind: blind,
		}
		for _, f := range s.Contents {
			in.Files = append(in.Files, progress.File(f))
		}
		steps[i] = in.Step()
	}
	m.mu.Lock()
	m.said = false
	contents, news := m.d.Contents(), m.d.News()
	v := m.d.Apply(steps...)
	fresh := m.d.Contents() > contents
	allOK := !slices.ContainsFunc(steps, func(s progress.Step) bool { return !s.OK })
	if fresh || v.Level == progress.OK && allOK {
		m.halted = ""
	}
	if m.d.News() > news {
		m.escalation.News()
	}
	if fresh {
		m.escalation.NewContent()
	}
	for i := range steps {
		m.counted(&reply[i], &steps[i])
	}
	out := m.judged(v)
	m.mu.Unlock()
	m.tell()
	return out
}

// counted adds a step to the phases and the statistics; mu is held.
func (m *StateMachine) counted(s *Step, step *progress.Step) {
	if step.OK && step.Kind == progress.Edit && step.Target != "" {
		m.phases.Changed(step.Target)
	}
	for _, f := range s.Contents {
		m.phases.Changed(f.Path)
	}
	if step.OK && step.Kind == progress.Test {
		m.phases.TestPassed()
	}
	if step.Kind == progress.None {
		return
	}
	if m.calls++; m.c.OnProgress != nil && m.calls%m.every == 0 {
		st, cb := m.stats(), m.c.OnProgress
		m.queue = append(m.queue, func() { cb(st) })
	}
}

// RecordMessage records a text of the model. Messages without a call between
// them count as steps.
func (m *StateMachine) RecordMessage(msg string) Verdict {
	m.mu.Lock()
	d := normalize.Digest(msg)
	var v progress.Finding
	if m.said {
		v = m.d.Apply(progress.Step{Tool: "reply", Kind: progress.None, Args: d, OK: true, Message: d})
	} else {
		v = m.d.Message(d)
	}
	m.said = true
	out := m.judged(v)
	m.mu.Unlock()
	m.tell()
	return out
}

// judged records a verdict; mu is held.
func (m *StateMachine) judged(v progress.Finding) Verdict {
	out := Verdict{Level: Level(v.Level), Rule: v.Rule, Fingerprint: v.Fingerprint, Steps: v.Steps, Text: v.Text, Ends: v.Ends}
	if out.Level == OK {
		return out
	}
	action := m.escalation.Next(v)
	m.escalation.Done(action, v.Fingerprint, "")
	out.Due = Action(action)
	if out.Level == Halt {
		m.halted = out.Text
	}
	if cb := m.c.OnStuck; cb != nil {
		m.queue = append(m.queue, func() { cb(out.Text) })
	}
	return out
}

// PersonSpoke records a person's message: everything against the run is
// forgotten, and repetition that the text asks for is not a loop.
func (m *StateMachine) PersonSpoke(text string) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.d.Person(text)
	m.escalation.Person()
	m.halted, m.said = "", false
}

// Compacted records that the model's context was compacted. Several compactions
// without news in between are a loop.
func (m *StateMachine) Compacted() Verdict {
	m.mu.Lock()
	out := m.judged(m.d.Compacted())
	m.mu.Unlock()
	m.tell()
	return out
}

// IsStuck reports whether the run should stop because it goes in circles, and
// why, according to the newest relevant record.
func (m *StateMachine) IsStuck() (stuck bool, reason string) {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.halted != "", m.halted
}

// StartPhase opens a phase; it completes an open one with a lower number. A
// number that is open, was completed, or is lower is an error, and nothing
// changes. Streaks of errors start again, and the count of errors in a row; but not if
// several phases in a row began with nothing new in between.
func (m *StateMachine) StartPhase(number int, description string, expected time.Duration) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	if err := m.phases.Start(number, description, m.c.Now(), expected); err != nil {
		return err
	}
	m.d.Phase()
	m.halted = ""
	return nil
}

// CompletePhase closes the open phase, if there is one.
func (m *StateMachine) CompletePhase(success bool) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.phases.Complete(success, m.c.Now())
}

// GetTotalProgress returns the totals over all phases.
func (m *StateMachine) GetTotalProgress() TotalProgress {
	m.mu.Lock()
	defer m.mu.Unlock()
	t := m.phases.Totals(m.c.Now())
	return TotalProgress{CompletedPhases: t.CompletedPhases, TotalPhases: t.TotalPhases, FilesModified: t.Files, TestsPassed: t.TestsOK}
}

// GetElapsedTime returns the time since the machine was made.
func (m *StateMachine) GetElapsedTime() time.Duration { return m.c.Now().Sub(m.began) }

// Stats returns the statistics.
func (m *StateMachine) Stats() ProgressStats {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.stats()
}

func (m *StateMachine) stats() ProgressStats {
	s := m.d.Recent()
	out := ProgressStats{
		Calls: s.Calls, FilesModified: s.Files, TestsRun: s.TestsRun, TestsPassed: s.TestsOK, ConsecutiveErrors: s.FailStreak,
		RecentSuccesses: s.OK, RecentFailures: s.Failed,
	}
	return out
}

// tell calls the waiting callbacks, in order. Only one goroutine does so at a
// time, without holding the lock.
func (m *StateMachine) tell() {
	m.mu.Lock()
	if m.telling {
		m.mu.Unlock()
		return
	}
	m.telling = true
	for len(m.queue) > 0 {
		cb := m.queue[0]
		m.queue = m.queue[1:]
		m.mu.Unlock()
		safely(cb)
		m.mu.Lock()
	}
	m.telling = false
	m.mu.Unlock()
}

func safely(cb func()) {
	defer func() {
		if p := recover(); p != nil {
			log.Printf("progress: a callback panicked: %v", p)
		}
	}()
	cb()
}
