package session

import (
	"context"
	"maps"
	"path"
	"slices"
	"strings"
	"time"

	"github.com/pawl-agent/pawl/internal/core/event"
	"github.com/pawl-agent/pawl/internal/core/shellsyntax"
	"github.com/pawl-agent/pawl/internal/core/tool"
	"github.com/pawl-agent/pawl/internal/engine/turn"
	"github.com/pawl-agent/pawl/internal/policy/command"
)

// recordedShell is the shell with what the commands of a call change recorded.
// A call whose footprint is known takes no look.
type recordedShell struct {
	tool.Shell
	s *Session
	p *turn.Pending
}

// shell is the shell of a call.
func (s *Session) shell(p *turn.Pending) tool.Shell {
	if s.cfg.Shell == nil || s.watch == nil {
		return s.cfg.Shell
	}
	return &recordedShell{Shell: s.cfg.Shell, s: s, p: p}
}

// POSIX is passed on: tools ask for it.
func (r *recordedShell) POSIX() bool {
	p, ok := r.Shell.(interface{ POSIX() bool })
	return ok && p.POSIX()
}

// Run is part of tool.Shell. The look behind the command is also taken where
// it failed or was cut short: what it did stands.
func (r *recordedShell) Run(ctx context.Context, c tool.Run) (tool.Ran, error) {
	if !r.p.Footprint.Unknown {
		return r.Shell.Run(ctx, c)
	}
	s, call, named := r.s, r.p.Call.ID, r.s.words(r.p.Footprint.Commands)
	if err := s.watch.before(ctx, s, call, named); err != nil {
		s.watch.abandon()
		return tool.Ran{}, err
	}
	ignored := s.ignoredOf(ctx, r.p.Footprint.Commands)
	ran, err := r.Shell.Run(ctx, c)
	ds, blind, lerr := s.watch.after(ctx, s, call, named)
	if lerr == nil {
		if lerr = s.record(context.WithoutCancel(ctx), ds...); lerr == nil {
			lerr = s.watch.recorded(s)
		}
	}
	if lerr != nil {
		return ran, lerr
	}
	r.tell(&ran, bodies(ds), blind, s.destroyed(ctx, ignored), c.Out)
	return ran, err
}

// abandon takes back what before began.
func (w *watch) abandon() {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.front--
}

// tell adds the notes to what a command printed. What can not be put back is
// shown to the person too.
func (r *recordedShell) tell(ran *tool.Ran, cs []event.FileChanged, blind bool, more string, out func(string)) {
	told, lost := changeNotes(cs)
	lost += more
	if blind {
		lost += "[what this command changed could not be recorded, and may not be put back by undo]\n"
	}
	if told+lost == "" {
		return
	}
	if ran.Output != "" && !strings.HasSuffix(ran.Output, "\n") {
		ran.Output += "\n"
	}
	ran.Output += told + lost
	if lost != "" && out != nil {
		out(lost)
	}
}

// Start is part of tool.Shell.
func (r *recordedShell) Start(ctx context.Context, c tool.Run) (string, error) {
	if cmds := r.p.Footprint.Commands; len(cmds) > 0 && command.ReadOnly(cmds) {
		return r.Shell.Start(ctx, c)
	}
	s, w, named := r.s, r.s.watch, r.s.words(r.p.Footprint.Commands)
	if err := w.before(ctx, s, r.p.Call.ID, named); err != nil {
		w.abandon()
		return "", err
	}
	defer w.abandon()
	id, err := r.Shell.Start(ctx, c)
	if err == nil {
		w.mu.Lock()
		w.jobs = append(w.jobs, &job{s: s, call: r.p.Call.ID, id: id, words: named})
		w.mu.Unlock()
	}
	return id, err
}

// Output is part of tool.Shell.
func (r *recordedShell) Output(ctx context.Context, id string, wait time.Duration) (tool.Ran, error) {
	ran, err := r.Shell.Output(ctx, id, wait)
	return r.harvest(ctx, id, ran, err)
}

// Kill is part of tool.Shell.
func (r *recordedShell) Kill(ctx context.Context, id string) (tool.Ran, error) {
	ran, err := r.Shell.Kill(ctx, id)
	return r.harvest(ctx, id, ran, err)
}

func (r *recordedShell) harvest(ctx context.Context, id string, ran tool.Ran, err error) (tool.Ran, error) {
	if err != nil {
		return ran, err
	}
	cs, err := r.s.watch.harvest(ctx, r.s, id)
	r.tell(&ran, cs, false, "", nil)
	return ran, err
}

// words are the paths that the words of a command line name as what it
// changes, relative to the workspace.
type words struct {
	exact map[string]bool
	taken map[string]bool // files that are removed or moved: not what comes in their place
	below map[string]bool // folders that are removed or moved with all in them
	// brought is where files are moved to, and where from: what is there then is
	// what was there before, or what another command made of it. Else somebody
	// saved the file just then. Nowhere: from outside of the workspace.
	brought    map[string][]string
	globs      []string
	takenGlobs []string
	// strict are those of them that the programs are known to write or remove:
	// an argument of an unknown program is not.
	strict []string
}

// paths are those that a journal of a large workspace needs to know.
func (w words) paths() []string {
	return slices.Concat(slices.Collect(maps.Keys(w.exact)), slices.Collect(maps.Keys(w.taken)), slices.Collect(maps.Keys(w.brought)))
}

// name says whether the words name what happened to a file. gone are contents
// that files which are not there any more had: what else comes up in a folder
// that was removed or moved may be somebody's who saved it just then.
func (w words) name(e tool.Effect, gone map[tool.Hash]bool) bool {
	p := e.Path
	if w.exact[p] || w.taken[p] && e.After == "" {
		return true
	}
	if from, ok := w.brought[p]; ok && (len(from) == 0 || e.After == "" || gone[e.After] || slices.ContainsFunc(from, func(f string) bool { return w.exact[f] })) {
		return true
	}
	for up := path.Dir(p); up != "."; up = path.Dir(up) {
		if w.below[up] && (e.After == "" || e.Before == "" && gone[e.After]) {
			return true
		}
	}
	globs := w.globs
	if e.After == "" {
		globs = slices.Concat(globs, w.takenGlobs)
	}
	for _, g := range globs {
		if ok, err := path.Match(g, p); ok && err == nil {
			return true
		}
	}
	return false
}

// words gathers what commands name. A program that only reads changes nothing
// that it names; of one that is known to write, what it writes counts; of any
// other, each argument that is a path.
func (s *Session) words(cmds []shellsyntax.Command) words {
	w := words{exact: map[string]bool{}, taken: map[string]bool{}, below: map[string]bool{}, brought: map[string][]string{}}
	for _, c := range cmds {
		e := command.Effects(c)
		program, _ := c.Program()
		deep := e.Recursive || program == "mv"
		for _, r := range c.Redirects {
			if r.Writes() {
				s.name(&w, c, r.Target, false, r.Op != ">>" && r.Op != "&>>")
			}
		}
		switch e.Kind {
		case command.Writes:
			for _, x := range e.Removes {
				s.takes(&w, c, x, deep)
			}
			if program == "mv" {
				s.brings(&w, c, e)
				continue
			}
			moved := e.Removes
			if program == "cp" || program == "ln" {
				moved = e.Reads
			}
			for _, x := range e.Writes {
				s.name(&w, c, x, deep && program != "cp", true)
				for _, m := range moved { // into a folder
					if x.Known && m.Known {
						m.Text = path.Join(x.Text, path.Base(m.Text))
						s.name(&w, c, m, deep, true)
					}
				}
			}
		case command.Other:
			if len(c.Words) > 1 {
				args := c.Words[1:]
				g := command.ParseGit(args)
				git := program == "git" && (g.Sub == "checkout" || g.Sub == "restore" || g.Sub == "rm" || g.Sub == "clean" || g.Sub == "mv")
				for _, x := range args {
					if strings.HasPrefix(x.Text, "-") {
						continue
					}
					s.name(&w, c, x, git && (g.Sub == "rm" || g.Sub == "mv"), git)
				}
			}
		}
	}
	return w
}

// takes adds a word for what goes away.
func (s *Session) takes(w *words, c shellsyntax.Command, x shellsyntax.Word, deep bool) {
	t := words{exact: w.taken, below: w.below}
	s.name(&t, c, x, deep, true)
	w.strict, w.takenGlobs = append(w.strict, t.strict...), append(w.takenGlobs, t.globs...)
}

// brings adds the words for where a move puts files.
func (s *Session) brings(w *words, c shellsyntax.Command, e command.Effect) {
	from := words{exact: map[string]bool{}, below: map[string]bool{}}
	to := words{exact: map[string]bool{}, below: w.below}
	for _, m := range e.Removes {
		s.name(&from, c, m, false, false)
	}
	for _, x := range e.Writes {
		s.name(&to, c, x, true, true)
		for _, m := range e.Removes { // into a folder
			if x.Known && m.Known {
				m.Text = path.Join(x.Text, path.Base(m.Text))
				s.name(&to, c, m, true, true)
			}
		}
	}
	for p := range to.exact {
		w.brought[p] = append(w.brought[p], slices.Collect(maps.Keys(from.exact))...)
	}
	w.strict, w.globs = append(w.strict, to.strict...), append(w.globs, to.globs...)
}

// name adds a word. strict: the program is known to change it.
func (s *Session) name(w *words, c shellsyntax.Command, x shellsyntax.Word, deep, strict bool) {
	if x.Glob && !strings.ContainsAny(x.Text, "\\'\"$") {
		x.Known = true
		paths, _ := c.Paths(x)
		for _, p := range paths {
			if rel, ok := s.inside(p); ok {
				w.globs = append(w.globs, rel)
			}
		}
		return
	}
	if !x.Known || x.Text == "" {
		return
	}
	paths, _ := c.Paths(x)
	for _, p := range paths {
		rel, ok := s.inside(p)
		// Also what a link on the way leads to.
		if clean, in, err := s.cfg.Files.Resolve(p); err == nil && in && clean != rel {
			w.exact[clean] = true
			if strict {
				w.strict = append(w.strict, clean)
			}
		}
		if !ok {
			continue
		}
		w.exact[rel] = true
		if deep {
			w.below[rel] = true
		}
		if strict {
			w.strict = append(w.strict, rel)
		}
	}
}

// inside gives an absolute path relative to the workspace.
func (s *Session) inside(p string) (string, bool) {
	rel, ok := strings.CutPrefix(p, strings.TrimSuffix(s.cfg.Dir, "/")+"/")
	return rel, ok && rel != ""
}

// personal runs a person's own command and gives what it changed.
func (s *Session) personal(ctx context.Context, c tool.Run) (tool.Ran, []event.Draft, error) {
	cmds, err := shellsyntax.Parse(c.Command, s.cfg.Dir)
	if s.watch == nil || err == nil && command.ReadOnly(cmds) {
		ran, err := s.cfg.Shell.Run(ctx, c)
		return ran, nil, err
	}
	named := s.words(cmds)
	if err := s.watch.before(ctx, s, person, named); err != nil {
		s.watch.abandon()
		return tool.Ran{}, nil, err
	}
	ran, err := s.cfg.Shell.Run(ctx, c)
	ds, _, lerr := s.watch.after(ctx, s, person, named)
	if err == nil {
		err = lerr
	}
	return ran, ds, err
}
