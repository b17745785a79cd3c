package acp

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/pawl-agent/pawl/internal/adapter/provider/catalog"
	"github.com/pawl-agent/pawl/internal/adapter/store"
	"github.com/pawl-agent/pawl/internal/engine/session"
	"github.com/pawl-agent/pawl/internal/frontend/chat"
	"github.com/pawl-agent/pawl/internal/policy/permission"
)

// openSession is one open session. One goroutine reads its conversation and sends
// updates to the editor; another one handles the editor's messages.
type openSession struct {
	a      *agent
	texts  *buffers
	dir    string
	chat   *chat.Conversation
	id     string
	replay bool // what happened before is shown, too

	ready answer // of the request that opens it; nil once it is answered
	ctx   context.Context
	stop  context.CancelFunc
	done  chan struct{} // closed after the last update

	mu         sync.Mutex
	closing    bool
	finished   bool // no update follows
	pending    []pending
	ids        int
	titled     bool   // its title was sent
	busy       bool   // version 2: the state is running
	stopReason string // the stop reason of the last turn, "" for none since the last rest
	failure    string // the failure that ended it
	refusal    string // why a prompt started no turn

	calls     map[string]callState          // open ones, by the id of their block
	terminals map[string]bool               // of them: those that show a terminal
	questions map[string]context.CancelFunc // that the editor is asked, by id
}

// errNoEditing is why a command cannot open a text for the person.
var errNoEditing = errors.New("this editor cannot open a text for a command; write what to change in the next prompt")

// pending is a prompt whose answer is due.
type pending struct {
	entry string // the conversation's id for it, "" for what is done at once
	reply answer
}

// run sends the conversation's changes to the editor until the conversation ends.
func (t *openSession) run() {
	defer close(t.done)
	t.calls, t.terminals, t.questions = map[string]callState{}, map[string]bool{}, map[string]context.CancelFunc{}
	for {
		changes, err := t.chat.Next(t.ctx)
		t.mu.Lock()
		for _, ch := range changes {
			t.draw(ch)
		}
		if err == nil && t.chat.Idle() {
			t.becomeIdle()
		}
		if err != nil {
			t.end(err)
		}
		t.mu.Unlock()
		if err != nil {
			return
		}
	}
}

// end ends the session on this connection: the person left it, it was closed, or it
// could not be opened or read.
func (t *openSession) end(err error) {
	for _, stop := range t.questions {
		stop()
	}
	if t.ready != nil {
		if _, why := t.a.Usable(); why != nil {
			err = refuse(signInFirst, "%v", why)
		}
		t.ready(nil, err)
		t.ready = nil
	}
	if t.closing || errors.Is(err, chat.ErrLeft) {
		t.stopReason = cmp.Or(t.stopReason, "cancelled")
	} else {
		t.stopReason, t.failure = "", err.Error()
	}
	t.a.mu.Lock()
	delete(t.a.sessions, t.id)
	t.a.mu.Unlock()
	t.becomeIdle()
	t.finished = true
	if !t.closing {
		go t.chat.Close()
	}
}

// close closes the session and waits for that.
func (t *openSession) close() {
	t.mu.Lock()
	first := !t.closing
	t.closing = true
	t.mu.Unlock()
	if first {
		t.chat.Interrupt("person")
		t.chat.Close()
		t.stop()
	}
	<-t.done
}

func (t *openSession) send(update object) {
	_ = t.a.conn.Notify(t.a.ctx, "session/update", object{"sessionId": t.id, "update": update})
}

// next returns an id for something that the log does not name.
func (t *openSession) next(kind string) string {
	t.ids++
	return "acp-" + kind + "-" + strconv.Itoa(t.ids)
}

// opened registers the session. Its request is answered here, unless a replay comes first.
func (t *openSession) opened(s chat.Start) {
	t.id = s.ID
	t.texts.session.Store(t.id)
	t.a.mu.Lock()
	t.a.sessions[t.id] = t
	t.a.mu.Unlock()
}

// begun answers the request that opened the session.
func (t *openSession) begun(s chat.Start) {
	if t.ready == nil {
		return
	}
	out := object{"sessionId": t.id, "configOptions": t.options()}
	commands := t.a.commands(t.chat.Custom())
	if t.a.v2() {
		out["availableCommands"] = commands
	} else {
		out["modes"] = modes(t.chat.Session().View().Mode())
	}
	t.ready(out, nil)
	t.ready = nil
	if !t.a.v2() {
		t.send(object{"sessionUpdate": "available_commands_update", "availableCommands": commands})
	}
	for _, n := range s.Notes {
		t.send(t.a.notice(t.next("note"), warning, n, ""))
	}
	t.usage()
}

// prompt takes a prompt of the person. It joins a running turn. Its answer comes in
// version 1 when nothing runs any more, in version 2 once it has its place in the log.
func (t *openSession) prompt(blocks []block, reply answer) {
	p, err := promptOf(t.dir, blocks)
	if s := t.chat.Session(); err == nil && s != nil {
		if err = session.Refuse(s.View().Info(), p.media); err != nil {
			err = refuse(invalid, "%v", err)
		}
	}
	if err != nil {
		reply(nil, err)
		return
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.closing || t.finished {
		reply(nil, refuse(notFound, "session %q is closed", t.id))
		return
	}
	var id string
	if p.typed {
		id = t.chat.Enter(p.text)
	} else {
		id = t.chat.Prompt(p.text, chat.Extras{Images: p.media})
	}
	in := chat.ReadInput(p.text)
	command := p.typed && (in.Command != "" || in.Shell || in.Leave)
	if t.a.v2() && command { // no prompt of the log
		id := t.next("entry")
		reply(object{"messageId": id}, nil)
		t.send(t.a.whole(user, id, p.text))
		t.becomeRunning()
		return
	}
	t.pending = append(t.pending, pending{entry: id, reply: reply})
}

// accepted answers a prompt of version 2, whose message has this id.
func (t *openSession) accepted(entry, message string) {
	if !t.a.v2() || entry == "" {
		return
	}
	t.pending = slices.DeleteFunc(t.pending, func(p pending) bool {
		if p.entry == entry {
			p.reply(object{"messageId": message}, nil)
		}
		return p.entry == entry
	})
}

// becomeRunning tells the editor that work began.
func (t *openSession) becomeRunning() {
	if t.a.v2() && !t.busy {
		t.busy = true
		t.send(t.a.state("running", nil))
	}
}

// becomeIdle answers the pending prompts when nothing runs and nothing waits.
func (t *openSession) becomeIdle() {
	if len(t.pending) == 0 && !t.busy {
		return
	}
	why, text := t.stopReason, t.failure
	t.stopReason, t.failure = "", ""
	defer func() { t.refusal = "" }()
	for _, p := range t.pending {
		switch {
		case text != "" && why == "":
			p.reply(nil, refuse(failed, "%s", text))
		case t.a.v2():
			p.reply(nil, refuse(failed, "%s", cmp.Or(t.refusal, "the prompt was not accepted")))
		default:
			p.reply(object{"stopReason": cmp.Or(why, "end_turn")}, nil)
		}
	}
	t.pending = nil
	if t.busy {
		t.busy = false
		more := object{"stopReason": cmp.Or(why, "end_turn")}
		if text != "" && why == "" {
			more = object{"stopReason": "error", "error": object{"code": failed, "message": text}}
		}
		t.send(t.a.state("idle", more))
	}
	t.usage()
}

// usage sends how full the window is, and the cost.
func (t *openSession) usage() {
	s := t.chat.Session()
	if s == nil {
		return
	}
	w := s.View().Window()
	if w.Window == 0 {
		return
	}
	o := object{"sessionUpdate": "usage_update", "used": w.Tokens, "size": w.Window}
	if all, _ := s.View().Spent(); all.Unknown == 0 {
		o["cost"] = object{"amount": all.USD, "currency": "USD"}
	}
	t.send(o)
}

// options returns the session's settings now.
func (t *openSession) options() []object {
	v := t.chat.Session().View()
	models := t.a.Models(t.a.ctx)
	if now := v.Info().Ref(); !slices.Contains(models, now) {
		models = append([]string{now}, models...)
	}
	return t.a.dialect.options(v.Mode(), v.Info(), models)
}

// setMode changes the permission mode.
func (t *openSession) setMode(name string) error {
	m, err := permission.ParseMode(name)
	if err != nil {
		return refuse(invalid, "%v", err)
	}
	_, err = t.chat.Session().Submit(t.a.ctx, session.SetMode{Mode: string(m)})
	return err
}

// setOption changes a setting, and returns all of them.
func (t *openSession) setOption(id string, raw json.RawMessage) (any, error) {
	var value string
	if err := json.Unmarshal(raw, &value); err != nil {
		return nil, refuse(invalid, "the value of %s must be a string", id)
	}
	var err error
	switch id {
	case modeOption:
		err = t.setMode(value)
	case modelOption:
		err = t.setModel(session.SetModel{Ref: value})
	case effortOption:
		if !slices.Contains(catalog.Efforts(), value) {
			return nil, refuse(invalid, "unknown reasoning effort %q: use %s", value, strings.Join(catalog.Efforts(), ", "))
		}
		err = t.setModel(session.SetModel{Ref: t.chat.Session().View().Info().Ref(), Effort: value})
	default:
		err = refuse(invalid, "unknown option %q", id)
	}
	if err != nil {
		return nil, err
	}
	return object{"configOptions": t.options()}, nil
}

// setModel changes the model or its effort, and waits for that.
func (t *openSession) setModel(op session.SetModel) error {
	done, err := t.chat.Session().Do(t.a.ctx, op)
	if err = cmp.Or(err, done.Err()); err != nil {
		return refuse(invalid, "%v", err)
	}
	return nil
}

// draw sends a change of the conversation.
func (t *openSession) draw(ch chat.Change) {
	if s, ok := ch.Block.Body.(chat.Start); ok {
		if ch.What == chat.Added {
			t.opened(s)
		} else {
			t.begun(s)
		}
		return
	}
	if n, ok := ch.Block.Body.(chat.Note); ok && (n.Kind == chat.OfMode || n.Kind == chat.OfModel) {
		if !ch.Past {
			t.configured()
		}
		return
	}
	if ch.Past && !t.replay || ch.Reported {
		return
	}
	id := ch.Block.ID
	switch b := ch.Block.Body.(type) {
	case chat.Prompt:
		t.prompted(ch, b)
	case chat.Thinking:
		t.stream(thought, ch, b.Text)
	case chat.Reply:
		t.stream(model, ch, b.Text)
	case chat.Output:
		if ch.More != "" {
			t.send(t.a.chunk(model, id, ch.More))
		}
	case chat.Patch:
		t.send(t.a.chunk(model, id, fenced("diff", b.Text)))
	case chat.Call, chat.Check, chat.Command:
		t.drawCall(ch)
	case chat.Question:
		t.question(ch, b)
	case chat.Editing:
		if ch.What == chat.Added { // the protocol has no request for it
			go t.chat.Edited(b.ID, "", errNoEditing)
		}
	case chat.Plan:
		t.send(t.a.plan(b.Items))
	case chat.Phase:
		if line := b.String(); line != "" {
			t.send(t.a.notice(id, info, line, ""))
		}
	case chat.Retry:
		if b.Failed {
			t.send(t.a.notice(id, warning, b.Text, ""))
		}
	case chat.Note:
		t.note(id, b)
	case chat.TurnEnd:
		t.ended(id, ch.Past, b)
	}
}

// prompted shows a prompt. Version 1 knows those that it sent itself.
func (t *openSession) prompted(ch chat.Change, b chat.Prompt) {
	if !ch.Past {
		t.accepted(b.Queued, ch.Block.ID)
	}
	if !t.titled {
		t.titled = true
		t.send(object{"sessionUpdate": "session_info_update", "title": store.Title(b.Text), "updatedAt": ch.Block.Began.UTC().Format(time.RFC3339)})
	}
	if t.a.v2() {
		t.send(t.a.whole(user, ch.Block.ID, b.Text))
	} else if ch.Past || b.Queued == "" {
		t.send(t.a.chunk(user, ch.Block.ID, b.Text))
	}
	if !ch.Past {
		t.becomeRunning()
	}
}

// stream shows a text that comes in pieces.
func (t *openSession) stream(who string, ch chat.Change, whole string) {
	id := ch.Block.ID
	if ch.More != "" {
		t.send(t.a.chunk(who, id, ch.More))
	}
	if ch.What != chat.Finished {
		return
	}
	switch {
	case ch.Block.Ephemeral && t.a.v2():
		t.send(t.a.whole(who, id, ""))
	case ch.Block.Ephemeral:
		t.send(t.a.chunk(who, id, "\n\n(this reply was cut off)\n\n"))
	case ch.Missed && t.a.v2():
		t.send(t.a.whole(who, id, whole))
	case ch.Missed:
		t.send(t.a.chunk(who, id, "\n\n(the whole text:)\n\n"+whole))
	}
}

// note shows a line of pawl's own, where an editor has no better place for it.
func (t *openSession) note(id string, n chat.Note) {
	severity := info
	switch n.Kind {
	case chat.OfSession, chat.OfRoute, chat.OfTold, chat.OfProgress, chat.OfInterrupt, chat.OfGrant, chat.OfRequest, chat.OfRemote:
		return
	case chat.OfWarning, chat.OfStuck, chat.OfRefusal:
		severity = warning
	case chat.OfFailure:
		severity = problem
		t.refusal = n.Text
	}
	t.send(t.a.notice(id, severity, n.Text, strings.Join(slices.Concat(n.More, n.Evidence), "\n")))
}

// configured shows that the mode or the model changed.
func (t *openSession) configured() {
	if !t.a.v2() {
		t.send(object{"sessionUpdate": "current_mode_update", "currentModeId": string(t.chat.Session().View().Mode())})
	}
	t.send(object{"sessionUpdate": "config_option_update", "configOptions": t.options()})
}

// ended shows how a turn ended, unless the stop reason alone shows it.
func (t *openSession) ended(id string, past bool, b chat.TurnEnd) {
	if len(b.Proof) > 0 {
		t.send(t.a.notice(id, info, strings.Join(b.Proof, "\n"), ""))
	}
	if past {
		return
	}
	t.stopReason, t.failure = stopReason(b.End), ""
	if t.stopReason == "" {
		t.failure = cmp.Or(b.Error, string(b.End))
	} else if b.Error != "" {
		t.send(t.a.notice(id, warning, b.Error, ""))
	}
}
