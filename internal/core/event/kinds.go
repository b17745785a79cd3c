package event

// To add an event, add its type, a method here and a line in the list here. Kinds
// are names in the log and in the stream: they never change.

func (Opened) Kind() string        { return "opened" }
func (Resumed) Kind() string       { return "resumed" }
func (Rebased) Kind() string       { return "rebased" }
func (Prompted) Kind() string      { return "prompted" }
func (Noted) Kind() string         { return "noted" }
func (Requested) Kind() string     { return "requested" }
func (Retried) Kind() string       { return "retried" }
func (Replied) Kind() string       { return "replied" }
func (CallAsked) Kind() string     { return "call_asked" }
func (CallStarted) Kind() string   { return "call_started" }
func (CallDone) Kind() string      { return "call_done" }
func (FileSeen) Kind() string      { return "file_seen" }
func (FileChanged) Kind() string   { return "file_changed" }
func (Kept) Kind() string          { return "kept" }
func (Undone) Kind() string        { return "undone" }
func (Asked) Kind() string         { return "asked" }
func (Answered) Kind() string      { return "answered" }
func (Granted) Kind() string       { return "granted" }
func (Blocked) Kind() string       { return "blocked" }
func (Narrowed) Kind() string      { return "narrowed" }
func (ModeSet) Kind() string       { return "mode_set" }
func (Planned) Kind() string       { return "planned" }
func (Remembered) Kind() string    { return "remembered" }
func (PersonRan) Kind() string     { return "person_ran" }
func (OpStarted) Kind() string     { return "op_started" }
func (OpDone) Kind() string        { return "op_done" }
func (Interrupted) Kind() string   { return "interrupted" }
func (Stuck) Kind() string         { return "stuck" }
func (Ended) Kind() string         { return "ended" }
func (Ticked) Kind() string        { return "ticked" }
func (Compacted) Kind() string     { return "compacted" }
func (Warned) Kind() string        { return "warned" }
func (Extended) Kind() string      { return "extended" }
func (Charged) Kind() string       { return "charged" }
func (SideRequest) Kind() string   { return "aside" }
func (Writing) Kind() string       { return "writing" }
func (Redone) Kind() string        { return "redone" }
func (Checking) Kind() string      { return "checking" }
func (Checked) Kind() string       { return "checked" }
func (Baseline) Kind() string      { return "baseline" }
func (LimitSet) Kind() string      { return "limit_set" }
func (Revoked) Kind() string       { return "revoked" }
func (AsideAsked) Kind() string    { return "aside_asked" }
func (AsideAnswered) Kind() string { return "aside_answered" }
func (PlanWritten) Kind() string   { return "plan_written" }
func (PlanDecided) Kind() string   { return "plan_decided" }
func (RemoteAct) Kind() string     { return "remote_act" }
func (Phased) Kind() string        { return "phased" }
func (Diagnosed) Kind() string     { return "diagnosed" }
func (Routed) Kind() string        { return "routed" }
func (Cleaned) Kind() string       { return "cleaned" }
func (Recalled) Kind() string      { return "recalled" }
func (Forgotten) Kind() string     { return "forgotten" }
func (Progressed) Kind() string    { return "progressed" }
func (FolderTrust) Kind() string   { return "folder_trust" }
func (HookRan) Kind() string       { return "hook_ran" }
func (AgentStarted) Kind() string  { return "agent_started" }
func (AgentCalled) Kind() string   { return "agent_called" }
func (AgentEnded) Kind() string    { return "agent_ended" }

// Events of a swarm's log.

func (SwarmPlanned) Kind() string   { return "swarm_planned" }
func (TaskTaken) Kind() string      { return "task_taken" }
func (TaskReturned) Kind() string   { return "task_returned" }
func (TaskMerged) Kind() string     { return "task_merged" }
func (TaskConflicted) Kind() string { return "task_conflicted" }
func (TaskSteered) Kind() string    { return "task_steered" }
func (SwarmEnded) Kind() string     { return "swarm_ended" }
func (SwarmPaused) Kind() string    { return "swarm_paused" }
func (SwarmResumed) Kind() string   { return "swarm_resumed" }

// Events that are shown and never stored.

func (TextDelta) Kind() string      { return "text_delta" }
func (ReasoningDelta) Kind() string { return "reasoning_delta" }
func (CallDelta) Kind() string      { return "call_delta" }
func (Waiting) Kind() string        { return "waiting" }
func (OutputDelta) Kind() string    { return "output_delta" }
func (TaskCalled) Kind() string     { return "task_called" }

// bodies lists one value of every body, from which Decode learns its type.
var bodies = []Body{
	Opened{}, Resumed{}, Rebased{}, Prompted{}, Noted{}, Requested{}, Retried{}, Replied{}, CallAsked{},
	CallStarted{}, CallDone{}, FileSeen{}, FileChanged{}, Kept{}, Undone{}, Asked{}, Answered{}, Granted{}, Blocked{},
	Narrowed{}, ModeSet{}, Planned{}, Remembered{}, PersonRan{}, Interrupted{}, Stuck{}, Ended{}, Ticked{}, Compacted{},
	Warned{}, Extended{}, Charged{}, SideRequest{}, Writing{}, Redone{}, Checking{}, Checked{}, Baseline{}, Phased{}, Routed{},
	Cleaned{}, Recalled{}, Forgotten{}, Progressed{}, FolderTrust{}, HookRan{}, OpStarted{}, OpDone{}, AgentStarted{}, AgentCalled{}, AgentEnded{}, Diagnosed{},
	LimitSet{}, Revoked{}, AsideAsked{}, AsideAnswered{}, PlanWritten{}, PlanDecided{}, RemoteAct{},
	SwarmPlanned{}, TaskTaken{}, TaskReturned{}, TaskMerged{}, TaskConflicted{}, TaskSteered{}, SwarmEnded{}, SwarmPaused{}, SwarmResumed{}, TextDelta{}, ReasoningDelta{}, CallDelta{}, Waiting{},
	OutputDelta{}, TaskCalled{},
}
