package tools

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/pawl-agent/pawl/internal/core/plural"
	"github.com/pawl-agent/pawl/internal/core/sorting"
	"github.com/pawl-agent/pawl/internal/core/tool"
	"github.com/pawl-agent/pawl/internal/policy/edits"
)

// staged is one file that a call changes, before anything is written.
type staged struct {
	file   tool.File // as on disk; its data is in text
	exists bool
	marked bool   // it begins with a byte order mark
	text   string // the present text without the mark
	body   string // the new text without the mark
	mode   uint32 // the new permission bits, 0: unchanged
	remove bool
	moveTo string
	notes  []string
	// doubtful are lines of body that the result shows: they were found inexactly, or
	// were there already. What was replaced exactly is as the model wrote it.
	doubtful []region
	wrote    []string // the texts that the model gave
	count    int
	already  int
}

// data returns a text in the form that is stored on disk, with a byte order mark if the
// file has one.
func (s *staged) data(text string) []byte {
	if s.marked {
		return []byte(bom + text)
	}
	return []byte(text)
}

func (s *staged) changed() bool {
	return s.remove || s.moveTo != "" || s.mode != 0 || !s.exists || s.body != s.text
}

// stage is the files of one call. Later edits of the call see earlier ones.
type stage struct {
	env   tool.Env
	files []*staged
	// lines are those that the call names by number: they are valid for one content only.
	lines []tool.Span
	// trial means that nothing is written or reported.
	trial bool
}

// attempts is how often a call is computed again because its file changed.
const attempts = 3

// perform computes a stage and writes it. If a file changed in between, the edits are
// applied to its present content: a unique match there is enough proof (SPEC 4.6). Line
// numbers are not enough.
func perform(ctx context.Context, env tool.Env, make func(*stage) error) (tool.Result, error) {
	for try := 1; ; try++ {
		g, err := planned(env, make)
		if err != nil {
			return failed(err)
		}
		r, err := g.finish(ctx)
		var stale *tool.StaleError
		switch {
		case err == nil && try > 1:
			r.Text += "\nnote: someone else changed a file just then; the edit was made in its present content"
			return r, nil
		case err == nil:
			return r, nil
		case !errors.As(err, &stale):
			return failed(err)
		case len(g.lines) > 0 || try == attempts:
			return fresh(ctx, env, stale, g.lines)
		}
	}
}

// planned computes a stage. It refuses a call that would change its own result if it were
// repeated (SPEC 4.10): nobody could know which of the two was meant. Calls with line
// numbers are not checked, since these are valid for one content only.
func planned(env tool.Env, make func(*stage) error) (*stage, error) {
	g := &stage{env: env}
	if err := make(g); err != nil || len(g.lines) > 0 {
		return g, err
	}
	again := g.after()
	if make(again) != nil {
		return g, nil
	}
	for _, s := range again.files {
		if s.changed() {
			return g, failf("%s: what is to be replaced would still be there after it, or be found in another place, so that "+
				"the same call once more would change the file again; give more of the lines around it. Nothing was written", s.file.Path)
		}
	}
	return g, nil
}

// after returns a trial stage in which all changes of g are written.
func (g *stage) after() *stage {
	out := &stage{env: g.env, trial: true}
	for _, s := range g.files {
		t := &staged{file: s.file, exists: true, marked: s.marked, text: s.body, body: s.body}
		if s.mode != 0 {
			t.file.Mode = s.mode
		}
		if s.remove || s.moveTo != "" {
			*t = staged{file: tool.File{Path: s.file.Path}}
		}
		out.files = append(out.files, t)
	}
	return out
}

// fresh refuses a call whose file changed since it was read. It shows the present lines,
// which count as seen. Without lines it shows the whole file.
func fresh(ctx context.Context, env tool.Env, stale *tool.StaleError, lines []tool.Span) (tool.Result, error) {
	r, err := failed(stale)
	if err != nil || stale.Got == "" {
		return r, err
	}
	if len(lines) == 0 {
		lines = []tool.Span{{Path: stale.Path}}
	}
	text, seen := Lines(ctx, env.Files, lines, limitOf(env)-len(r.Text)-200)
	if len(seen) > 0 {
		r.Text = strings.TrimSuffix(r.Text, "; read it and try again") + ". It is now:\n" + text + "These lines now count as read: make the call again if it still fits."
		r.Seen = seen
	}
	return r, nil
}

// file returns a file of the stage. It reads the file at first use.
func (g *stage) file(ctx context.Context, p string) (*staged, error) {
	clean, _, err := g.env.Files.Resolve(p)
	if err != nil {
		return nil, err
	}
	for _, s := range g.files {
		if s.file.Path == clean {
			return s, nil
		}
	}
	f, exists, err := load(ctx, g.env, clean)
	if err != nil {
		return nil, err
	}
	if exists && binary(f.Data) {
		return nil, failf("%s is a binary file: it cannot be edited as text", f.Path)
	}
	s := &staged{file: f, exists: exists, text: string(f.Data)}
	s.text, s.marked = strings.CutPrefix(s.text, bom)
	s.file.Data, s.body = nil, s.text
	g.files = append(g.files, s)
	return s, nil
}

// apply makes one replacement in a staged file.
func (g *stage) apply(ctx context.Context, p, old, text string, all bool) error {
	s, err := g.file(ctx, p)
	if err != nil {
		return err
	}
	s.wrote = append(s.wrote, text)
	switch {
	case !s.exists && s.body == "" && old == "":
		s.body = text
		s.count++
		return unmask(s.file.Path, "", text)
	case !s.exists && s.body == "":
		return failf("%s", missing(ctx, g.env, s.file.Path))
	case s.body == "" && old == "" && text != "":
		s.body = text
		s.count++
		return unmask(s.file.Path, "", text)
	}
	if s.marked {
		if o, ok := strings.CutPrefix(old, bom); ok {
			old, text = o, strings.TrimPrefix(text, bom)
		}
	}
	if err := complete(s.file.Path, old, text); err != nil {
		return err
	}
	r, m := replace(s.body, old, text, all, !g.trial)
	if m != nil && m.many && g.env.Correct {
		if r2, m2 := replace(s.body, old, text, true, false); m2 == nil {
			r, m = r2, nil
			r.note = strings.TrimPrefix(r.note+"; replace_all was added, since the text matches "+plural.Of(r.count, "place"), "; ")
		}
	}
	if m != nil {
		return g.missed(s, m)
	}
	if r.already {
		s.alreadyAt(r.at, strings.Count(strings.TrimSuffix(text, "\n"), "\n"))
		return nil
	}
	if err := unmask(s.file.Path, s.body, r.body); err != nil {
		return err
	}
	s.take(r)
	return nil
}

// alreadyAt records an edit that was made before, at line and the next more lines.
func (s *staged) alreadyAt(line, more int) {
	s.already++
	s.doubtful = append(s.doubtful, region{line, line + more})
	s.notes = append(s.notes, fmt.Sprintf("already applied: the new text is at line %d, nothing to change", line))
}

// take stages the text of a replacement. Lines of earlier edits in the same file move
// with it.
func (s *staged) take(r replaced) {
	grown := strings.Count(r.body, "\n") - strings.Count(s.body, "\n")
	for i := range s.doubtful {
		if d := &s.doubtful[i]; len(r.regions) > 0 && d.from > r.regions[0].from {
			d.from, d.to = d.from+grown, d.to+grown
		}
	}
	s.body = r.body
	s.count += r.count
	if r.note != "" {
		s.doubtful = append(s.doubtful, r.regions...)
		s.notes = append(s.notes, r.note)
	}
}

// missed returns the error for a replacement without a place, with the present lines.
// They count as seen if they are on disk.
func (g *stage) missed(s *staged, m *miss) error {
	f := &failure{}
	if g.trial {
		return f
	}
	var b strings.Builder
	fmt.Fprintf(&b, "%s: %s\n", s.file.Path, m.text)
	lines := splitLines(s.body)
	room := limitOf(g.env) - b.Len()
	var seen []tool.Span
	for _, r := range m.show {
		from, to := max(1, r.from), min(r.to, len(lines))
		if from > to {
			continue
		}
		start := b.Len()
		n, sp := numbered(&b, lines[from-1:to], from, room, tool.Span{Path: s.file.Path, Hash: s.file.Hash})
		room -= b.Len() - start
		seen = append(seen, sp...)
		if n < to-from+1 {
			break
		}
	}
	if s.body == s.text {
		f.seen = seen
	} else {
		b.WriteString("(these are the lines after the earlier edits of this call, none of which was written)\n")
	}
	f.text = strings.TrimSuffix(b.String(), "\n")
	return f
}

// writes returns the changes to make on disk.
func (g *stage) writes() []tool.Write {
	var out []tool.Write
	for _, s := range g.files {
		if !s.changed() {
			continue
		}
		w := tool.Write{Path: s.file.Path, Expect: s.file.Hash, Remove: s.remove, MoveTo: s.moveTo, Mode: s.mode}
		if !s.remove {
			w.Data = s.data(s.body)
		}
		out = append(out, w)
	}
	return out
}

// snippetLines is how many lines of a changed file a result shows.
const snippetLines = 30

// finish writes the stage and returns a description of the result. Its error is that of
// the write.
func (g *stage) finish(ctx context.Context) (tool.Result, error) {
	ws := g.writes()
	var changes []tool.Change
	if len(ws) > 0 {
		var err error
		if changes, err = g.env.Files.WriteAll(ctx, ws); err != nil {
			return tool.Result{}, err
		}
	}
	var r tool.Result
	var b, diffs strings.Builder
	added, removed := 0, 0
	next := 0
	for _, s := range g.files {
		if !s.changed() {
			fmt.Fprintf(&b, "%s: unchanged", s.file.Path)
			if s.already == 0 {
				b.WriteString(": the edits come to the same text")
			}
			b.WriteString("\n")
			g.tell(&b, s)
			r.Seen = append(r.Seen, s.snippet(&b, s.file.Hash, limitOf(g.env)-b.Len()-200)...)
			continue
		}
		n := 1
		if s.moveTo != "" {
			n = 2
		}
		var mine []tool.Change
		if next+n <= len(changes) {
			mine = s.counted(changes[next : next+n])
		}
		next += n
		plus, minus := 0, 0
		for _, c := range mine {
			plus, minus = plus+c.Added, minus+c.Removed
			diffs.WriteString(c.Diff)
		}
		added, removed = added+plus, removed+minus
		var at []region
		if len(mine) == 1 && s.exists && !s.remove {
			at = changedLines(mine[0].Diff)
			r.Seen = append(r.Seen, s.written(at[:min(len(at), maxPlaces)], mine[0])...)
		}
		fmt.Fprintf(&b, "%s%s%s\n", s.did(), counts(plus, minus, mine), atLines(at))
		g.tell(&b, s)
		if len(at) > 0 {
			r.Seen = append(r.Seen, s.snippet(&b, mine[0].After, limitOf(g.env)-b.Len()-200)...)
		}
	}
	r.Text = strings.TrimSuffix(b.String(), "\n")
	r.Diff = diffs.String()
	r.Note = cmp.Or(strings.Trim(counts(added, removed, changes), " ()"), "changed")
	if len(ws) == 0 {
		r.Note = "already applied"
	}
	return r, nil
}

// counted adds the diff of a file whose old content was too large for the workspace to
// store.
func (s *staged) counted(cs []tool.Change) []tool.Change {
	if len(cs) == 1 && cs[0].Diff == "" && cs[0].Before != cs[0].After && s.exists && !s.remove {
		c := &cs[0]
		c.Diff, c.Added, c.Removed = edits.Diff("a/"+c.Path, "b/"+c.Path, s.data(s.text), s.data(s.body))
	}
	return cs
}

// counts returns a text with the numbers of added and removed lines, or "" if they were
// not counted, as for very large files.
func counts(plus, minus int, cs []tool.Change) string {
	for _, c := range cs {
		if plus == 0 && minus == 0 && c.Diff == "" && c.Before != c.After {
			return ""
		}
	}
	return fmt.Sprintf(" (+%d -%d)", plus, minus)
}

func (g *stage) tell(b *strings.Builder, s *staged) {
	for _, n := range s.notes {
		fmt.Fprintf(b, "note: %s\n", n)
	}
}

func (s *staged) did() string {
	switch {
	case s.remove:
		return "deleted " + s.file.Path
	case s.moveTo != "":
		return fmt.Sprintf("moved %s to %s", s.file.Path, s.moveTo)
	case !s.exists:
		return "created " + s.file.Path
	case s.count > 1:
		return fmt.Sprintf("edited %s, %d replacements", s.file.Path, s.count)
	}
	return "edited " + s.file.Path
}

// written returns the changed lines that the model gave whole: the result tells it their
// numbers, so they count as seen.
func (s *staged) written(at []region, c tool.Change) []tool.Span {
	gave := map[string]bool{}
	for _, text := range s.wrote {
		for _, l := range plainLines(folded(text)) {
			gave[l] = true
		}
	}
	var out []tool.Span
	rest, n := s.body, 1 // the text from a line on
	for _, r := range at {
		for ; n <= r.to; n++ {
			var line string
			line, rest, _ = strings.Cut(rest, "\n")
			if n >= r.from && gave[bare(line)] {
				out = append(out, tool.Span{Path: c.Path, Hash: c.After, From: n, To: n})
			}
		}
	}
	return out
}

// snippet writes the lines that the model should look at, and returns those that count as
// seen.
func (s *staged) snippet(b *strings.Builder, hash tool.Hash, room int) []tool.Span {
	var seen []tool.Span
	lines := splitLines(s.body)
	shown, last := 0, 0
	sorting.By(s.doubtful, func(a, b region) int { return cmp.Compare(a.from, b.from) })
	for _, r := range s.doubtful {
		from, to := max(r.from-2, 1, last+1), min(r.to+2, len(lines))
		if from > to {
			continue
		}
		start := b.Len()
		upTo := min(to, from+snippetLines-shown-1)
		n, sp := numbered(b, lines[from-1:upTo], from, room, tool.Span{Path: s.file.Path, Hash: hash})
		room -= b.Len() - start
		seen = append(seen, sp...)
		if from+n <= to {
			fmt.Fprintf(b, "(lines from %d on are not shown)\n", from+n)
			break
		}
		shown, last = shown+n, to
	}
	return seen
}
