package event

// The names in the fields Why, What, By and Op of events. Logs have them: a value never
// changes.

// NotedWhy is what a note to the model is about. Notes of the window's status and hints
// have further ones.
type NotedWhy string

const (
	NotedAgent  NotedWhy = "agent" // the result of an agent in the background
	NotedHook   NotedWhy = "hook"
	NotedJob    NotedWhy = "job"    // a background command has ended
	NotedLength NotedWhy = "length" // a reply was cut at the output limit
	NotedLSP    NotedWhy = "lsp"
	NotedPause  NotedWhy = "pause"
	NotedPhase  NotedWhy = "phase"
	NotedPlan   NotedWhy = "plan" // plan mode
	NotedRoute  NotedWhy = "route"
	NotedRules  NotedWhy = "rules"
	NotedStuck  NotedWhy = "stuck"
	NotedTools  NotedWhy = "tools" // tools that joined or left: it concerns the person, too
	NotedUndo   NotedWhy = "undo"
)

// WarnedWhat is what a warning is about: one of these, or a limit such as budget.usd.
type WarnedWhat string

const (
	WarnedCache    WarnedWhat = "cache"
	WarnedEffort   WarnedWhat = "effort"
	WarnedFallback WarnedWhat = "fallback"
	WarnedHook     WarnedWhat = "hook"
	WarnedJournal  WarnedWhat = "journal"
	WarnedLSP      WarnedWhat = "lsp"
	WarnedMemory   WarnedWhat = "memory"
	WarnedMention  WarnedWhat = "mention"
	WarnedModel    WarnedWhat = "model"
	WarnedPause    WarnedWhat = "pause"
	WarnedPressure WarnedWhat = "pressure"
	WarnedSecret   WarnedWhat = "secret"
	WarnedUndo     WarnedWhat = "undo"
	WarnedLost     WarnedWhat = "not-restorable" // a command destroyed it, and no undo can restore it
	WarnedPhase    WarnedWhat = "phase"          // one takes longer than expected
	WarnedWindow   WarnedWhat = "window"
)

// AskedWhy is the subject of a question by pawl itself.
type AskedWhy string

const (
	AskedBudget AskedWhy = "budget"
	AskedPause  AskedWhy = "pause"
	AskedStuck  AskedWhy = "stuck"
	AskedWait   AskedWhy = "wait"
)

// RebasedWhy is why requests have a new head.
type RebasedWhy string

const (
	RebasedStart      RebasedWhy = "start"
	RebasedResume     RebasedWhy = "resume"
	RebasedModel      RebasedWhy = "model"
	RebasedFallback   RebasedWhy = "fallback"
	RebasedTools      RebasedWhy = "tools"
	RebasedCompaction RebasedWhy = "compaction"
)

// CompactedWhy is why the conversation was shortened.
type CompactedWhy string

const (
	CompactedFull    CompactedWhy = "full"    // the window is 90 % full
	CompactedLength  CompactedWhy = "length"  // a provider refused the request as too long
	CompactedPerson  CompactedWhy = "person"  // a person asked for it
	CompactedDedup   CompactedWhy = "dedup"   // reads that a newer one repeats were replaced
	CompactedCleanup CompactedWhy = "cleanup" // released results were dropped
)

// CompactedBy is what shortened it.
type CompactedBy string

const (
	ByModel    CompactedBy = "model"
	ByLedger   CompactedBy = "ledger"   // no model: only what is in the log
	ByPointers CompactedBy = "pointers" // no summary: only results are dropped
)

// RoutedBy is what decided on a turn's rights.
type RoutedBy string

const (
	RoutedByFlag    RoutedBy = "flag"
	RoutedByPattern RoutedBy = "pattern" // words of the prompt
	RoutedByModel   RoutedBy = "model"
	RoutedByDefault RoutedBy = "default"
	WidenedByModel  RoutedBy = "model asked" // the rights are wider than before
	WidenedByPerson RoutedBy = "person"
)

// Interrupted.By is one of these, or the name of a signal.
const (
	InterruptedByPerson     = "person"
	InterruptedByTimeout    = "timeout"
	InterruptedByPermission = "permission" // a No without a reason
)

// OpName names an operation that has a start and an end.
type OpName string

const (
	OpModel   OpName = "model"
	OpCommand OpName = "command"
	OpCompact OpName = "compact"
	OpUndo    OpName = "undo"
	OpRedo    OpName = "redo"
)

// BlockedBy is what denied a call, or what decided that it may run.
type BlockedBy string

const (
	ByAllowedTools BlockedBy = "allowed-tools" // of a command or a skill
	ByHook         BlockedBy = "hook"
	ByJournal      BlockedBy = "journal" // no copy of what it destroys can be kept
	ByMode         BlockedBy = "mode"
	ByNobody       BlockedBy = "headless" // it needed consent, and nobody can be asked
	ByOutside      BlockedBy = "outside"  // of the workspace
	ByPerson       BlockedBy = "person"
	ByProtected    BlockedBy = "protected" // a path
	ByReadOnly     BlockedBy = "read-only"
	ByRedefined    BlockedBy = "redefined" // a check that the agent redefined
	ByRefusal      BlockedBy = "refusal"   // in every mode
	ByRoute        BlockedBy = "route"
	ByRule         BlockedBy = "rule"
	BySandbox      BlockedBy = "sandbox"
	ByScratch      BlockedBy = "scratch" // the session's own temporary folder
	ByStuck        BlockedBy = "stuck"   // stuck detection
	BySyntax       BlockedBy = "syntax"
	ByUntrusted    BlockedBy = "untrusted" // a check of an untrusted folder
	ByWindow       BlockedBy = "gate"      // the window is full
)

// Charged.By of requests beside the conversation, and of a reply that broke off. A child
// is charged by its session's id.
const (
	ChargedAside      = "btw"
	ChargedBroken     = "broken_reply"
	ChargedCompaction = "compaction"
	ChargedHook       = "hook"
	ChargedRoute      = "route"
)

// CheckCall is the id of a check that pawl runs, where events have the id of a call.
// Checks that a person is asked about together are check-1, check-2, …
const CheckCall = "check"

// Author is who wrote a plan, or opened a phase.
type Author string

const (
	AuthorModel  Author = "model"
	AuthorPerson Author = "person"
	AuthorPlan   Author = "plan" // a plan file
)
