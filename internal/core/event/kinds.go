package event

// Kinds are names in the log and in the stream: they never change.

// Kind is opened.
func (Opened) Kind() string { return "opened" }

// Version is 1.
func (Opened) Version() int { return 1 }

// Kind is resumed.
func (Resumed) Kind() string { return "resumed" }

// Version is 1.
func (Resumed) Version() int { return 1 }

// Kind is rebased.
func (Rebased) Kind() string { return "rebased" }

// Version is 1.
func (Rebased) Version() int { return 1 }

// Kind is prompted.
func (Prompted) Kind() string { return "prompted" }

// Version is 1.
func (Prompted) Version() int { return 1 }

// Kind is noted.
func (Noted) Kind() string { return "noted" }

// Version is 1.
func (Noted) Version() int { return 1 }

// Kind is requested.
func (Requested) Kind() string { return "requested" }

// Version is 1.
func (Requested) Version() int { return 1 }

// Kind is retried.
func (Retried) Kind() string { return "retried" }

// Version is 1.
func (Retried) Version() int { return 1 }

// Kind is replied.
func (Replied) Kind() string { return "replied" }

// Version is 1.
func (Replied) Version() int { return 1 }

// Kind is call_asked.
func (CallAsked) Kind() string { return "call_asked" }

// Version is 1.
func (CallAsked) Version() int { return 1 }

// Kind is call_started.
func (CallStarted) Kind() string { return "call_started" }

// Version is 1.
func (CallStarted) Version() int { return 1 }

// Kind is call_done.
func (CallDone) Kind() string { return "call_done" }

// Version is 1.
func (CallDone) Version() int { return 1 }

// Kind is file_seen.
func (FileSeen) Kind() string { return "file_seen" }

// Version is 1.
func (FileSeen) Version() int { return 1 }

// Kind is file_changed.
func (FileChanged) Kind() string { return "file_changed" }

// Version is 1.
func (FileChanged) Version() int { return 1 }

// Kind is asked.
func (Asked) Kind() string { return "asked" }

// Version is 1.
func (Asked) Version() int { return 1 }

// Kind is answered.
func (Answered) Kind() string { return "answered" }

// Version is 1.
func (Answered) Version() int { return 1 }

// Kind is granted.
func (Granted) Kind() string { return "granted" }

// Version is 1.
func (Granted) Version() int { return 1 }

// Kind is blocked.
func (Blocked) Kind() string { return "blocked" }

// Version is 1.
func (Blocked) Version() int { return 1 }

// Kind is mode_set.
func (ModeSet) Kind() string { return "mode_set" }

// Version is 1.
func (ModeSet) Version() int { return 1 }

// Kind is planned.
func (Planned) Kind() string { return "planned" }

// Version is 1.
func (Planned) Version() int { return 1 }

// Kind is remembered.
func (Remembered) Kind() string { return "remembered" }

// Version is 1.
func (Remembered) Version() int { return 1 }

// Kind is person_ran.
func (PersonRan) Kind() string { return "person_ran" }

// Version is 1.
func (PersonRan) Version() int { return 1 }

// Kind is interrupted.
func (Interrupted) Kind() string { return "interrupted" }

// Version is 1.
func (Interrupted) Version() int { return 1 }

// Kind is ended.
func (Ended) Kind() string { return "ended" }

// Version is 1.
func (Ended) Version() int { return 1 }

// Kind is ticked.
func (Ticked) Kind() string { return "ticked" }

// Version is 1.
func (Ticked) Version() int { return 1 }

// Kind is text_delta.
func (TextDelta) Kind() string { return "text_delta" }

// Version is 1.
func (TextDelta) Version() int { return 1 }

// Kind is reasoning_delta.
func (ReasoningDelta) Kind() string { return "reasoning_delta" }

// Version is 1.
func (ReasoningDelta) Version() int { return 1 }

// Kind is call_delta.
func (CallDelta) Kind() string { return "call_delta" }

// Version is 1.
func (CallDelta) Version() int { return 1 }

// Kind is waiting.
func (Waiting) Kind() string { return "waiting" }

// Version is 1.
func (Waiting) Version() int { return 1 }

// Kind is output_delta.
func (OutputDelta) Kind() string { return "output_delta" }

// Version is 1.
func (OutputDelta) Version() int { return 1 }

// Kind is undone.
func (Undone) Kind() string { return "undone" }

// Version is 1.
func (Undone) Version() int { return 1 }

// Kind is warned.
func (Warned) Kind() string { return "warned" }

// Version is 1.
func (Warned) Version() int { return 1 }

// Kind is extended.
func (Extended) Kind() string { return "extended" }

// Version is 1.
func (Extended) Version() int { return 1 }

// Kind is charged.
func (Charged) Kind() string { return "charged" }

// Version is 1.
func (Charged) Version() int { return 1 }

// Kind is stuck.
func (Stuck) Kind() string { return "stuck" }

// Version is 1.
func (Stuck) Version() int { return 1 }

// Kind is aside.
func (Aside) Kind() string { return "aside" }

// Version is 1.
func (Aside) Version() int { return 1 }

// Kind is compacted.
func (Compacted) Kind() string { return "compacted" }

// Version is 1.
func (Compacted) Version() int { return 1 }

// Kind is writing.
func (Writing) Kind() string { return "writing" }

// Version is 1.
func (Writing) Version() int { return 1 }

// Kind is redone.
func (Redone) Kind() string { return "redone" }

// Version is 1.
func (Redone) Version() int { return 1 }

// Kind is checking.
func (Checking) Kind() string { return "checking" }

// Version is 1.
func (Checking) Version() int { return 1 }

// Kind is checked.
func (Checked) Kind() string { return "checked" }

// Version is 1.
func (Checked) Version() int { return 1 }

// Kind is phased.
func (Phased) Kind() string { return "phased" }

// Version is 1.
func (Phased) Version() int { return 1 }

// Kind is routed.
func (Routed) Kind() string { return "routed" }

// Version is 1.
func (Routed) Version() int { return 1 }

// Kind is cleaned.
func (Cleaned) Kind() string { return "cleaned" }

// Version is 1.
func (Cleaned) Version() int { return 1 }

// Kind is recalled.
func (Recalled) Kind() string { return "recalled" }

// Version is 1.
func (Recalled) Version() int { return 1 }

// Kind is forgotten.
func (Forgotten) Kind() string { return "forgotten" }

// Version is 1.
func (Forgotten) Version() int { return 1 }

// Kind is progressed.
func (Progressed) Kind() string { return "progressed" }

// Version is 1.
func (Progressed) Version() int { return 1 }
