package web

import "time"

// This file is the API: what a browser sends and gets. The page uses nothing else, and
// doc/openapi.json is made from it (openapi_test.go).

// routes are the rows of the API. Requests and answers are JSON; a failed request is
// answered with a status and Problem. Who begins takes Hello.Cursor for the events: what
// comes after that answer is missed by nobody.
func routes() []route {
	return []route{
		{method: "POST", path: "/api/pair", words: "Exchange a code for the cookie of a device.", in: typeOf[Pairing](), out: typeOf[struct{}](), serve: (*server).pair},
		{method: "GET", path: "/api/events", right: Watch, words: "What happens in all sessions from a cursor on, as server-sent events: one stream a browser.", query: []string{"after"}, serve: (*server).events},
		get("/api/hello", Watch, "Who this device is.", (*server).hello),
		get("/api/devices", Watch, "The devices that were paired.", (*server).devices),
		act("DELETE", "/api/devices/{device}", Watch, "revoke", "Revoke a device: itself, or any with the right to steer.", (*server).revoke),
		get("/api/push", Watch, "Whether this device is notified while it is away, and the key to subscribe with.", (*server).pushState),
		act("POST", "/api/push", Watch, "subscribe", "Notify this device while it is away.", (*server).subscribe),
		act("DELETE", "/api/push", Watch, "unsubscribe", "Notify it no longer.", (*server).unsubscribe),
		get("/api/sessions", Watch, "The list of sessions.", (*server).list),
		act("POST", "/api/sessions", Steer, "begin", "Begin a session in a known folder.", (*server).begin),
		get("/api/s/{id}", Watch, "All about a session but its blocks.", (*server).state),
		{method: "GET", path: "/api/s/{id}/log", right: Watch, words: "The log of a session from an event on, and live while it is open: server-sent events, each the line that stream-json has (doc/stream.schema.json).", query: []string{"after"}, program: true, serve: (*server).log},
		get("/api/s/{id}/blocks", Watch, "The newest n blocks of a session, or those before one.", (*server).blocks, "before", "n"),
		act("POST", "/api/s/{id}/prompt", Steer, "prompt", "Send a prompt. It opens a session that no pawl has open.", (*server).prompt),
		onLive("answer", Answer, "Answer a question. 409: somebody was first.", (*server).answer),
		onLive("withdraw", Steer, "Take a prompt back that waits.", (*server).withdraw),
		onLive("interrupt", Steer, "Cancel what runs.", (*server).interrupt),
		onLive("stop", Steer, "End a session that is open in pawl serve.", (*server).stop),
		onLive("mode", Steer, "Choose the permission mode.", (*server).mode),
		onLive("model", Steer, "Choose the model.", (*server).model),
		get("/api/models", Steer, "The models that can be used.", (*server).models),
		get("/api/s/{id}/plan", Watch, "The plan of a turn in plan mode.", (*server).planText),
		onLive("plan", Steer, "Decide the plan that was shown. 409: it is another one now, or decided.", (*server).decide),
		get("/api/s/{id}/stats", Watch, "What a session and its agents did, and how it went: what pawl stats prints.", (*server).stats),
		get("/api/s/{id}/swarm", Watch, "A swarm: tasks, machines, money. State.swarm says whether a session is one.", (*server).board),
		act("POST", "/api/s/{id}/swarm/cancel", Steer, "cancel swarm", "Cancel a swarm: nothing is written to the files.", (*server).cancelSwarm),
		act("POST", "/api/s/{id}/swarm/resume", Steer, "resume swarm", "Continue a swarm that no process runs, in pawl serve. 409: it runs.", (*server).resumeSwarm),
		act("POST", "/api/s/{id}/swarm/steer", Steer, "steer task", "Decide about one task of a swarm, in whichever process it runs.", (*server).steerTask),
		get("/api/s/{id}/swarm/diff", Watch, "What the newest result of a task changes.", (*server).taskDiff, "task"),
		get("/api/s/{id}/prompts", Steer, "The prompts that a session can go back to.", (*server).points),
		act("POST", "/api/s/{id}/rewind", Steer, "rewind", "Go back to before a prompt: the conversation in a new session, the files as shown, or both.", (*server).rewind),
		act("POST", "/api/s/{id}/fork", Steer, "fork", "Continue in a copy of a session.", (*server).fork),
		get("/api/s/{id}/undo", Steer, "What an undo of the changes would do: those of the last turn, or since a prompt.", (*server).undoPlan, "prompt"),
		onLive("undo", Steer, "Undo what was shown. 409: the plan is another one now.", (*server).undo),
	}
}

// eventTypes are what /api/events sends. The id of an event is the cursor to go on from.
var eventTypes = []struct {
	kind  string
	body  any
	words string
}{
	{"sessions", List{}, "The whole list of sessions."},
	{"state", State{}, "The whole state of a session."},
	{"block", Block{}, "A new block, or one as it is now; with its text so far while it is open."},
	{"piece", Piece{}, "More text of an open block."},
	{"gone", Gone{}, "A block is not there any more: a reply that broke off."},
	{"takenback", TakenBack{}, "A prompt that waited, after an interrupt."},
	{"reset", struct{}{}, "Something was missed: load all that is shown again."},
	{"bye", struct{}{}, "pawl serve ends."},
}

// Rights are what a device may do. Each includes those before it.
type Rights string

// The rights, chosen when a code is made.
const (
	Watch  Rights = "watch"  // see everything
	Answer Rights = "answer" // and answer questions
	Steer  Rights = "steer"  // and everything else
)

// Problem says what happened and what to do next.
type Problem struct {
	Error string `json:"error"`
	Hint  string `json:"hint,omitempty"`
}

// Pairing is a code of `pawl serve`, good once and for two minutes.
type Pairing struct {
	Code   string `json:"code"`
	Device string `json:"device,omitempty"` // its name in lists; "": from its User-Agent
}

// Hello is what a page has to know first.
type Hello struct {
	Version string   `json:"version"`
	Rights  Rights   `json:"rights"`
	Device  string   `json:"device"`
	Folders []string `json:"folders"` // where a session may begin
	Cursor  string   `json:"cursor"`
}

// Device is a browser that was paired.
type Device struct {
	ID      string    `json:"id"`
	Name    string    `json:"name"`
	Rights  Rights    `json:"rights"`
	Seen    time.Time `json:"seen"`
	Expires time.Time `json:"expires"`
	This    bool      `json:"this"`
}

// Row is a session in the list: those that wait first, then those that run, the newest
// first.
type Row struct {
	ID      string    `json:"id"`
	Title   string    `json:"title"`
	Place   string    `json:"place"`  // its folder
	Status  string    `json:"status"` // waiting, running, idle
	Asks    string    `json:"asks,omitempty"`
	Cost    string    `json:"cost,omitempty"`
	Updated time.Time `json:"updated"`
}

// Paired are the devices.
type Paired struct {
	Devices []Device `json:"devices"`
}

// Begun is a new session. Text belongs into its input: the prompt that a rewind left.
type Begun struct {
	ID   string `json:"id"`
	Text string `json:"text,omitempty"`
}

// Withdrawn names a prompt that waits.
type Withdrawn struct {
	ID string `json:"id"`
}

// Mode is a permission mode: one of State.Modes.
type Mode struct {
	Mode string `json:"mode"`
}

// Model names a model.
type Model struct {
	Model string `json:"model"`
}

// Undo names the plan that was shown. Confirmed are those of its files, counted from 0,
// that ask and are to be undone too; the others of these stay as they are.
type Undo struct {
	Hash      string `json:"hash"`
	Confirmed []int  `json:"confirmed,omitempty"`
}

// Points are the prompts that one can go back to, the newest first.
type Points struct {
	Prompts []Point `json:"prompts"`
}

// Point is a prompt, with the files that its turn changed.
type Point struct {
	Prompt int64     `json:"prompt"`
	Time   time.Time `json:"time"`
	Text   string    `json:"text"`
	Files  []string  `json:"files"`
}

// Rewind goes back to before a prompt: the conversation (in a new session), the files (by
// the undo that was shown for that prompt), or both.
type Rewind struct {
	Prompt    int64  `json:"prompt"`
	What      string `json:"what"` // conversation, files, both
	Hash      string `json:"hash,omitempty"`
	Confirmed []int  `json:"confirmed,omitempty"`
}

// Proposed is a plan that waits for a decision.
type Proposed struct {
	ID     string `json:"id"`
	Phases int    `json:"phases"`
}

// PlanText is a plan.
type PlanText struct {
	ID    string `json:"id"`
	Text  string `json:"text"` // in Markdown, to edit
	HTML  string `json:"html"`
	Waits bool   `json:"waits"`
}

// Decision is about the plan with this id: approve (and allow edits), approve-asking (ask
// about each edit), edit (Text is the plan then), reject (Text is why; the model writes
// another plan if there is one).
type Decision struct {
	Plan string `json:"plan"`
	What string `json:"what"`
	Text string `json:"text,omitempty"`
}

// Models are those that can be used.
type Models struct {
	Models []UsableModel `json:"models"`
}

// UsableModel is one of them.
type UsableModel struct {
	Ref   string `json:"ref"`
	Group string `json:"group,omitempty"`
	About string `json:"about,omitempty"`
}

// List is the list of sessions.
type List struct {
	Sessions []Row `json:"sessions"`
}

// Want is a new session.
type Want struct {
	Folder   string `json:"folder"`             // one of Hello.Folders
	Worktree bool   `json:"worktree,omitempty"` // in a new working tree of its repository
	Text     string `json:"text"`               // its first prompt; "": none yet
}

// State is all about a session but its blocks.
type State struct {
	Session   string     `json:"session"`
	Title     string     `json:"title"`
	Status    string     `json:"status"`
	Doing     string     `json:"doing,omitempty"`
	Model     string     `json:"model"`
	Mode      string     `json:"mode"`
	Modes     []string   `json:"modes"`
	Phase     string     `json:"phase,omitempty"`
	Window    Window     `json:"window"`
	Cost      string     `json:"cost,omitempty"`
	Queue     []Waiting  `json:"queue"`
	Questions []Question `json:"questions"`
	Plan      *Proposed  `json:"plan,omitempty"` // it waits for a decision
	Swarm     bool       `json:"swarm,omitempty"`
	// Closed: no pawl has it open, and a prompt opens it here. ReadOnly: it is open
	// where operations are not accepted.
	Closed   bool `json:"closed,omitempty"`
	ReadOnly bool `json:"read_only,omitempty"`
}

// Window is the model's window, in tokens.
type Window struct {
	Used int `json:"used"`
	Size int `json:"size"`
}

// Waiting is a prompt that is not delivered yet. Only those sent from a page are known.
type Waiting struct {
	ID   string `json:"id"`
	Text string `json:"text"`
}

// Question is an open question.
type Question struct {
	ID      string   `json:"id"`
	From    string   `json:"from,omitempty"` // the agent that asks
	Why     string   `json:"why,omitempty"`
	Text    string   `json:"text"`
	Options []string `json:"options,omitempty"`
	Calls   []Call   `json:"calls,omitempty"`
}

// Call is a call that needs consent.
type Call struct {
	Call    string `json:"call"`
	Title   string `json:"title"`
	Wants   string `json:"wants,omitempty"` // what a call that already runs asks for, as verb and object
	Preview string `json:"preview"`
	HTML    string `json:"html,omitempty"` // the preview of a diff
	Diff    bool   `json:"diff"`
	Reason  string `json:"reason,omitempty"`
	Rule    string `json:"rule,omitempty"` // what session and always allow from then on; "": they are not offered
	Always  bool   `json:"always"`
}

// Reply answers a question: Text, or a verdict for each of its calls.
type Reply struct {
	Question string    `json:"question"`
	Text     string    `json:"text,omitempty"`
	Verdicts []Verdict `json:"verdicts,omitempty"`
}

// Verdict is the answer about a call.
type Verdict struct {
	Call  string `json:"call"`
	Scope string `json:"scope"` // once, session, always, no
	Why   string `json:"why,omitempty"`
}

// Prompt is sent to the model; while a turn runs, before its next request. The same ID
// counts once.
type Prompt struct {
	ID     string  `json:"id"`
	Text   string  `json:"text"`
	Images []Image `json:"images,omitempty"`
}

// Image is an image of a prompt; Data is in base64.
type Image struct {
	Type string `json:"type"`
	Data []byte `json:"data"`
}

// Blocks are blocks of a session, the oldest first. More: there are older ones.
type Blocks struct {
	Blocks []Block `json:"blocks"`
	More   bool    `json:"more"`
}

// Block is an entry of the timeline. HTML is escaped and has only the elements of
// package frontend/page. Text is what an open block has streamed so far.
type Block struct {
	Session string `json:"session"`
	ID      string `json:"id"`
	Kind    string `json:"kind"` // prompt, reply, thinking, call, …
	Open    bool   `json:"open,omitempty"`
	HTML    string `json:"html"`
	Text    string `json:"text,omitempty"`
}

// Piece is more text of an open block. Offset, in UTF-16 units, is where it begins: what
// is there already is dropped, and one after a gap asks for the blocks again.
type Piece struct {
	Session string `json:"session"`
	ID      string `json:"id"`
	Offset  int    `json:"offset"`
	Text    string `json:"text"`
}

// Gone is a block that is withdrawn.
type Gone struct {
	Session string `json:"session"`
	ID      string `json:"id"`
}

// TakenBack is a prompt that was not delivered: it belongs in the input.
type TakenBack struct {
	Session string `json:"session"`
	Text    string `json:"text"`
}

// PushState is what Web Push needs. Key is that of the server (VAPID), in base64url.
type PushState struct {
	Key string `json:"key"`
	On  bool   `json:"on"`
}

// Subscription is a browser's to Web Push. The keys are in base64. Each message is encrypted JSON for its
// service worker: session, title, and what: asks, ended, failed.
type Subscription struct {
	Endpoint string `json:"endpoint"`
	P256dh   []byte `json:"p256dh"`
	Auth     []byte `json:"auth"`
}

// Board is a swarm as it is now.
type Board struct {
	Goal     string         `json:"goal"`
	Outcome  string         `json:"outcome"` // "": it has not ended
	Error    string         `json:"error,omitempty"`
	Cost     string         `json:"cost"`
	More     bool           `json:"more"` // more may have been spent
	Tokens   int64          `json:"tokens"`
	Again    string         `json:"again"` // the command that continues it, if nothing runs it
	Aside    []string       `json:"aside"` // machines that get no more tasks, and why
	Tasks    []BoardTask    `json:"tasks"`
	Machines []BoardMachine `json:"machines"`
}

// CancelSwarm ends a swarm.
type CancelSwarm struct {
	KeepTrees bool `json:"keep_trees,omitempty"` // the workers' copies of the files stay
}

// ResumeSwarm continues a swarm. The limits are those of all that it spends, from its beginning on.
type ResumeSwarm struct {
	Workers      int     `json:"workers,omitempty"`       // at once, 1 to 64; 0: 4
	USD          float64 `json:"usd,omitempty"`           // 0: as the configuration says
	WritePartial bool    `json:"write_partial,omitempty"` // write what is merged if the result is not whole
}

// SteerTask is what a person decides about a task: message (tell its worker a text), retry (do
// it anew), edit (do it anew with another goal), cancel (do without it, and without what waits
// for it), accept (merge the result that was reviewed).
type SteerTask struct {
	Task string `json:"task"`
	What string `json:"what"`
	Text string `json:"text,omitempty"`
}

// TaskDiff is what the result of a task changes; "": nothing.
type TaskDiff struct {
	HTML string `json:"html"`
}

// BoardTask is a task of a swarm. MergedBy is the task that merges its result by hand,
// after a conflict.
type BoardTask struct {
	ID       string     `json:"id"`
	Title    string     `json:"title,omitempty"`
	State    string     `json:"state"`
	Worker   string     `json:"worker,omitempty"`
	Machine  string     `json:"machine,omitempty"` // "": the swarm's own
	Model    string     `json:"model,omitempty"`
	Tries    int        `json:"tries"` // that failed
	Cost     string     `json:"cost,omitempty"`
	Error    string     `json:"error,omitempty"`
	After    []string   `json:"after"`
	MergedBy string     `json:"merged_by,omitempty"`
	Review   bool       `json:"review,omitempty"` // its result waits to be accepted
	Since    *time.Time `json:"since,omitempty"`
}

// BoardMachine is a machine of a swarm: how many tasks it works on, did, and failed to do.
// Aside is why it gets no more.
type BoardMachine struct {
	Name   string `json:"name"`
	Works  int    `json:"works"`
	Done   int    `json:"done"`
	Failed int    `json:"failed"`
	Aside  string `json:"aside,omitempty"`
}

// Said is what was done.
type Said struct {
	Said string `json:"said"`
}

// Stats is how a session and its agents did, as pawl stats counts it, without the text.
type Stats struct {
	Unknown int        `json:"unknown"` // replies of unknown cost: the costs are lower bounds
	Replies []Moment   `json:"replies"`
	Signals []Signal   `json:"signals"`
	Checks  []CheckRun `json:"checks"`
	Tools   []ToolUse  `json:"tools"`
}

// Moment is a reply of the model, counted from 1, with what was spent until then, and how
// many tokens were in the window. Of very many replies only some are there.
type Moment struct {
	Reply  int       `json:"reply"`
	Time   time.Time `json:"time"`
	USD    float64   `json:"usd"`
	Tokens int64     `json:"tokens"`
	Window int64     `json:"window"`
}

// Signal is where a run went in circles: after which reply, and the calls that show it.
type Signal struct {
	Reply    int       `json:"reply"`
	Time     time.Time `json:"time"`
	Level    string    `json:"level"` // recovery, block, halt
	Rule     string    `json:"rule"`
	Text     string    `json:"text"`
	Evidence []string  `json:"evidence"`
}

// CheckRun is a run of the project's checks, after a reply.
type CheckRun struct {
	Reply int    `json:"reply"`
	Check string `json:"check"`
	OK    bool   `json:"ok"`
	Said  string `json:"said"`
}

// ToolUse is how often a tool was called, and failed.
type ToolUse struct {
	Tool   string `json:"tool"`
	Calls  int    `json:"calls"`
	Failed int    `json:"failed"`
}

// UndoPlan is what an undo of the last changes would do.
type UndoPlan struct {
	Hash  string     `json:"hash"`
	Said  string     `json:"said"`
	Files []UndoFile `json:"files"`
}

// UndoFile is a file of a plan.
type UndoFile struct {
	Path  string `json:"path"`
	Said  string `json:"said"`
	HTML  string `json:"html,omitempty"` // its diff
	Asks  bool   `json:"asks,omitempty"` // it is undone only if it is confirmed
	Stays bool   `json:"stays,omitempty"`
}
