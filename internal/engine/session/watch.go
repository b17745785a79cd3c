package session

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/pawl-agent/pawl/internal/core/event"
	"github.com/pawl-agent/pawl/internal/core/shellsyntax"
	"github.com/pawl-agent/pawl/internal/core/tool"
	"github.com/pawl-agent/pawl/internal/engine/eventlog"
	"github.com/pawl-agent/pawl/internal/policy/undo"
)

// What commands do to files is found by comparing the workspace before and
// after them (SPEC 11.1), and recorded here as the writes of tools are.

// Tools that changes by commands are recorded under.
const (
	bashTool    = "bash"
	commandTool = "command" // a person's own
)

// Share makes a journal that several sessions of one workspace may have at the
// same time: what a background command of one of them does is then recorded
// there, whichever session comes to see it.
func Share(j tool.Journal) tool.Journal {
	if j == nil {
		return nil
	}
	if w, ok := j.(*watch); ok {
		return w
	}
	return &watch{Journal: j}
}

// watch is a journal and which commands run.
type watch struct {
	tool.Journal

	mu    sync.Mutex // a look and the recording of what it found are one
	front int        // commands that are waited for
	jobs  []*job     // background commands
	began bool       // there was a look
	blind bool       // the last one failed
}

// job is a background command.
type job struct {
	s        *Session
	call, id string
	words    undo.Named
}

// person is the call in the tag of a person's own command.
const person = "!"

func (s *Session) tag(call string) string { return s.cfg.ID + "/" + call }

// Times a look may take: it must not hang with a disk that hangs, and after an
// interrupt a person waits for it.
const (
	lookTime        = 30 * time.Second
	cancelledLook   = 5 * time.Second
	takeUpLook      = 30 * time.Second
	keptPerCommand  = 256 << 20 // bytes of contents before, then not restorable
	afterPerCommand = 64 << 20  // bytes of contents after, then only their hashes
)

func lookContext(ctx context.Context) (context.Context, context.CancelFunc) {
	limit := lookTime
	if ctx.Err() != nil {
		limit = cancelledLook
	}
	return context.WithTimeout(context.WithoutCancel(ctx), limit)
}

// before looks before a command: what is found is not its doing.
func (w *watch) before(ctx context.Context, s *Session, call string, named undo.Named) error {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.front++
	if err := w.others(ctx, s, named.Paths()); err != nil {
		return err
	}
	return w.settle(s, s.tag(call))
}

// others looks, and records what was found for those whose doing it may be.
func (w *watch) others(ctx context.Context, s *Session, touched []string) error {
	alive := w.alive(nil)
	l, err := w.look(ctx, s, touched)
	if err != nil {
		return err
	}
	defer func() { w.jobs = alive }()
	ctx, cancel := lookContext(ctx)
	defer cancel()
	if n := len(w.jobs); n > 0 {
		_, err := w.toJobs(ctx, l.Effects)
		return err
	}
	if id, call, ok := strings.Cut(l.Tag, "/"); ok && id == s.cfg.ID {
		// Nobody looked after that command: pawl died, or could not.
		return s.record(context.WithoutCancel(ctx), s.changed(ctx, call, s.unrecorded(ctx, l.Effects), nil)...)
	}
	return nil // somebody else's, and no part of this session
}

// look is Journal.Look with its limits said once.
func (w *watch) look(ctx context.Context, s *Session, touched []string) (tool.Look, error) {
	ctx, cancel := lookContext(ctx)
	defer cancel()
	l, err := w.Look(ctx, touched)
	if w.blind = err != nil; w.blind {
		return l, s.sayBounds("what commands change is not recorded and can not be undone: " + err.Error())
	}
	w.began = true
	if l.Bounds != "" {
		err = s.sayBounds(l.Bounds)
	}
	return l, err
}

// settle keeps how the workspace is, once all that was found is recorded.
func (w *watch) settle(s *Session, tag string) error {
	if w.blind {
		return nil
	}
	if err := w.Settle(tag); err != nil {
		return s.sayBounds("what commands change could not be told if pawl were killed now: " + err.Error())
	}
	return nil
}

// recorded settles after a command.
func (w *watch) recorded(s *Session) error {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.front > 0 {
		return nil // the look before that one has settled
	}
	return w.settle(s, jobTag(w.jobs))
}

// toJobs records what background commands may have done.
func (w *watch) toJobs(ctx context.Context, es []tool.Effect) ([]event.FileChanged, error) {
	byJob := map[*job][]tool.Effect{}
	for _, e := range es {
		at := w.jobs[len(w.jobs)-1]
		for _, j := range w.jobs {
			if j.words.Covers(e, nil) {
				at = j
			}
		}
		byJob[at] = append(byJob[at], e)
	}
	var all []event.FileChanged
	for _, j := range w.jobs {
		// What its own words name is its doing, as with a command that is waited for.
		ds := j.s.changed(ctx, j.call, byJob[j], &j.words)
		if err := j.s.record(context.WithoutCancel(ctx), ds...); err != nil {
			return all, err
		}
		all = append(all, bodies(ds)...)
	}
	return all, nil
}

func bodies(ds []event.Draft) []event.FileChanged {
	var out []event.FileChanged
	for _, d := range ds {
		if c, ok := d.Body.(event.FileChanged); ok {
			out = append(out, c)
		}
	}
	return out
}

// alive are the background commands that have not ended, without those of a
// session. Who asks before a look may forget the others after it: it is the one
// after their end.
func (w *watch) alive(without *Session) []*job {
	return slices.DeleteFunc(slices.Clone(w.jobs), func(j *job) bool {
		sh, ok := j.s.cfg.Shell.(interface{ Running() [][2]string })
		return j.s == without || ok && !slices.ContainsFunc(sh.Running(), func(r [2]string) bool { return r[0] == j.id })
	})
}

// jobTag names the newest of background commands.
func jobTag(jobs []*job) string {
	if n := len(jobs); n > 0 {
		return jobs[n-1].s.tag(jobs[n-1].call)
	}
	return ""
}

// after looks after a command and gives what is to be recorded of it. blind:
// it could not look, or had not before, and not all of it may be known.
func (w *watch) after(ctx context.Context, s *Session, call string, named undo.Named) (_ []event.Draft, blind bool, _ error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.front--
	alive, unsure := w.alive(nil), w.blind
	l, err := w.look(ctx, s, named.Paths())
	if err != nil || w.blind {
		return nil, true, err
	}
	defer func() { w.jobs = alive }()
	ctx, cancel := lookContext(ctx)
	defer cancel()
	if unsure { // what it finds may have been so before
		return s.changed(ctx, call, l.Effects, nil), true, nil
	}
	ds, mine := w.ofJobs(ctx, s, l.Effects, named)
	return append(s.changed(ctx, call, mine, &named), ds...), false, nil
}

// ofJobs takes from what a look behind a command found what the words of a
// background command of the session name, and those of the command do not.
func (w *watch) ofJobs(ctx context.Context, s *Session, es []tool.Effect, named undo.Named) (ds []event.Draft, left []tool.Effect) {
	byJob := map[*job][]tool.Effect{}
	for _, e := range es {
		i := -1
		if !named.Covers(e, nil) {
			i = slices.IndexFunc(w.jobs, func(j *job) bool { return j.s == s && j.words.Covers(e, nil) })
		}
		if i < 0 {
			left = append(left, e)
			continue
		}
		byJob[w.jobs[i]] = append(byJob[w.jobs[i]], e)
	}
	for _, j := range w.jobs {
		ds = append(ds, s.changed(ctx, j.call, byJob[j], &j.words)...)
	}
	return ds, left
}

// harvest looks for what a background command of s did. While another command
// is waited for, that one's look comes first.
func (w *watch) harvest(ctx context.Context, s *Session, id string) ([]event.FileChanged, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if !slices.ContainsFunc(w.jobs, func(j *job) bool { return j.s == s && j.id == id }) {
		return nil, nil
	}
	return w.gather(ctx, s, w.alive(nil))
}

// gather looks, and has only the background commands that are alive from then
// on.
func (w *watch) gather(ctx context.Context, s *Session, alive []*job) ([]event.FileChanged, error) {
	if w.front > 0 {
		return nil, nil
	}
	l, err := w.look(ctx, s, nil)
	if err != nil {
		return nil, err
	}
	ctx, cancel := lookContext(ctx)
	defer cancel()
	out, err := w.toJobs(ctx, l.Effects)
	w.jobs = alive
	if err == nil {
		err = w.settle(s, jobTag(alive))
	}
	return out, err
}

// turnEnds takes a look where background commands of the session run on, so
// that what they did until now is part of the turn, and undo knows of it.
func (w *watch) turnEnds(ctx context.Context, s *Session) {
	if w == nil {
		return
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	if slices.ContainsFunc(w.jobs, func(j *job) bool { return j.s == s }) {
		_, _ = w.gather(ctx, s, w.alive(nil)) // a log that is broken fails at the turn's end
	}
}

// leave forgets a session's background commands, after a last look.
func (w *watch) leave(s *Session) {
	if w == nil {
		return
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	if slices.ContainsFunc(w.jobs, func(j *job) bool { return j.s == s }) {
		// A log that is broken says so itself.
		_, _ = w.gather(context.Background(), s, w.alive(s))
	}
	w.jobs = slices.DeleteFunc(w.jobs, func(j *job) bool { return j.s == s })
}

// glance makes sure that there was a look.
func (w *watch) glance(ctx context.Context, s *Session) error {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.began || w.front > 0 {
		return nil
	}
	if err := w.others(ctx, s, nil); err != nil {
		return err
	}
	return w.settle(s, "")
}

// changed keeps the contents of effects and makes their events. named says
// which are the command's by its own words; nil: none.
func (s *Session) changed(ctx context.Context, call string, es []tool.Effect, named *undo.Named) []event.Draft {
	before, after := int64(keptPerCommand), int64(afterPerCommand)
	out := make([]event.Draft, 0, len(es))
	gone := map[tool.Hash]bool{}
	for _, e := range es {
		gone[e.Before] = gone[e.Before] || e.After == "" && e.Before != ""
	}
	for _, e := range es {
		b := event.FileChanged{
			Call: call, Tool: bashTool, Path: e.Path, Before: e.Before, After: e.After, Mode: e.Mode, ModeBefore: e.ModeBefore,
			Added: e.Added, Removed: e.Removed, Loose: named == nil || !named.Covers(e, gone), Does: tool.Exec,
		}
		if call == person {
			b.Call, b.Tool = "", commandTool
		}
		b.Kept = e.Before == "" || e.Kept && s.store(ctx, e.Before, &before)
		if !b.Kept { // an edit of pawl's own may have stored it
			_, err := s.cfg.Store.Get(ctx, string(e.Before))
			b.Kept = err == nil
		}
		if e.Held && e.After != "" && e.After != e.Before {
			s.store(ctx, e.After, &after) // its hash is known anyway
		}
		if clean := strings.ToValidUTF8(e.Path, "\uFFFD"); clean != e.Path {
			b.Path, b.Kept = clean, false // the log keeps text: nobody could find it again
		}
		out = append(out, event.Draft{Body: b})
	}
	return out
}

// store takes a content of the journal into the session's store.
func (s *Session) store(ctx context.Context, h tool.Hash, room *int64) bool {
	data, err := s.watch.Content(ctx, h)
	if err != nil || int64(len(data)) > *room {
		return false
	}
	*room -= int64(len(data))
	got, err := s.cfg.Store.Put(ctx, data)
	return err == nil && got == string(h)
}

// shellState is what a session knows of its commands beside the folds.
type shellState struct {
	watch  *watch            // nil without a journal
	recent map[string]recent // by path
	bounds map[string]bool   // said, without their figures
	took   bool              // a look at the session's start is to be settled
}

func (s *shellState) apply(b event.Body) {
	switch b := b.(type) {
	case event.FileChanged:
		if s.recent == nil {
			s.recent = map[string]recent{}
		}
		if b.Path != "" && len(s.recent[b.Path]) < 64 {
			s.recent[b.Path] = append(s.recent[b.Path], b)
		}
	case event.CallDone: // its look is settled
		if b.Tool == bashTool && b.Outcome != event.UnknownDone {
			clear(s.recent)
		}
	case event.Warned:
		if b.What == "journal" {
			s.said(b.Text)
		}
	}
}

// said notes a text, and says whether it was said before, with any figures.
func (s *shellState) said(text string) bool {
	if s.bounds == nil {
		s.bounds = map[string]bool{}
	}
	text = strings.Map(func(r rune) rune {
		if r >= '0' && r <= '9' {
			return -1
		}
		return r
	}, text)
	was := s.bounds[text]
	s.bounds[text] = true
	return was
}

// sayBounds tells the person what is not watched, each limit once in a session.
func (s *Session) sayBounds(text string) error {
	if eventlog.Look(s.log, func() bool { return s.said(text) }) {
		return nil
	}
	return s.record(context.Background(), event.Draft{Body: event.Warned{What: "journal", Text: text}})
}

// changeNotes tell the model which files a command changed where its words do not,
// and which of them can not be put back: at most a line each.
func changeNotes(cs []event.FileChanged) (told, lost string) {
	var loose, gone []string
	for _, c := range cs {
		if c.Loose {
			loose = append(loose, c.Path)
		}
		if !c.Kept {
			gone = append(gone, c.Path)
		}
	}
	if len(loose) > 0 {
		told = "[changed while this ran: " + few(loose) + "]\n"
	}
	if len(gone) > 0 {
		files := "1 file"
		if len(gone) > 1 {
			files = fmt.Sprintf("%d files", len(gone))
		}
		lost = "[" + files + " that this command changed can not be restored: " + few(gone) + "]\n"
	}
	return told, lost
}

// few lists some paths in a line.
func few(paths []string) string {
	const most, width = 6, 200
	var b strings.Builder
	for i, p := range paths {
		if i == most || i > 0 && b.Len()+len(p) > width {
			fmt.Fprintf(&b, " (+%d more)", len(paths)-i)
			break
		}
		if i > 0 {
			b.WriteString(", ")
		}
		if strings.ContainsAny(p, " ,()[]\n\t") {
			p = shellsyntax.Quote(strings.Map(func(r rune) rune {
				if r < ' ' {
					return '?'
				}
				return r
			}, p))
		}
		b.WriteString(p)
	}
	return b.String()
}

// wrote tells the journal of a write that is recorded already.
func (s *Session) wrote(c tool.Change) {
	if s.watch != nil {
		s.watch.Wrote(c)
	}
}
