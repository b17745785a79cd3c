package web

import "time"

// This file is the API: what a browser sends and gets. The page uses nothing else.
//
// Requests and answers are JSON. A failed request is answered with a status and Problem.
//
//	GET    /api/hello                who this device is; 401: it is not paired
//	POST   /api/pair                 Pairing: a code buys the cookie
//	GET    /api/devices              {devices: []Device}
//	DELETE /api/devices/{id}         {} (oneself, or any device by one that steers)
//	GET    /api/sessions             {sessions: []Row}
//	POST   /api/sessions             Want → {id}                              steer
//	GET    /api/s/{id}               State
//	GET    /api/s/{id}/blocks        ?before=ID&n=N → Blocks
//	POST   /api/s/{id}/answer        Reply → {}; 409: it was answered already answer
//	POST   /api/s/{id}/prompt        Prompt → {}                              steer
//	POST   /api/s/{id}/withdraw      {id} → {}                                steer
//	POST   /api/s/{id}/interrupt     {} → {}                                  steer
//	POST   /api/s/{id}/mode          {mode} → {}                              steer
//	POST   /api/s/{id}/model         {model} → {}                             steer
//	POST   /api/s/{id}/stop          {} → {}                                  steer
//	GET    /api/s/{id}/undo          UndoPlan                                 steer
//	POST   /api/s/{id}/undo          {hash} → {}; 409: the plan is another now steer
//	GET    /api/events?after=CURSOR  server-sent events, one stream a browser
//
// Each event has an id: the cursor to go on from.
//
//	sessions   {sessions: []Row}: the whole list
//	state      State: a session's, whole
//	block      Block: new, or as it is now; with its text so far while it is open
//	piece      Piece: more text of an open block
//	gone       Gone: a block is not there any more (a reply that broke off)
//	takenback  TakenBack: a prompt that waited, after an interrupt
//	reset      {}: something was missed; load all that is shown again
//	bye        {}: pawl serve ends
//
// Who begins takes Hello.Cursor as the first CURSOR: what comes after that answer is
// missed by nobody.

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

// Begun is a new session.
type Begun struct {
	ID string `json:"id"`
}

// Withdrawn names a prompt that waits.
type Withdrawn struct {
	ID string `json:"id"`
}

// Chosen is a mode or a model.
type Chosen struct {
	Mode  string `json:"mode,omitempty"`
	Model string `json:"model,omitempty"`
}

// Undo names the plan that was shown.
type Undo struct {
	Hash string `json:"hash"`
}

// List is the list of sessions.
type List struct {
	Sessions []Row `json:"sessions"`
}

// Want is a new session.
type Want struct {
	Folder string `json:"folder"` // one of Hello.Folders
	Text   string `json:"text"`   // its first prompt; "": none yet
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

// UndoPlan is what an undo of the last changes would do.
type UndoPlan struct {
	Hash  string     `json:"hash"`
	Said  string     `json:"said"`
	Files []UndoFile `json:"files"`
}

// UndoFile is a file of a plan.
type UndoFile struct {
	Path string `json:"path"`
	Said string `json:"said"`
}
