package tools

import (
	"context"
	"errors"
	"strings"

	"github.com/pawl-agent/pawl/internal/core/plural"
	"github.com/pawl-agent/pawl/internal/core/tool"
)

type editArgs struct {
	Path       string `json:"path" doc:"relative to the workspace"`
	Old        string `json:"old,omitempty" doc:"exact text, enough of it to be the only place"`
	New        string `json:"new" doc:"text to put there; empty deletes"`
	ReplaceAll bool   `json:"replace_all,omitempty" doc:"replace every match of old"`
	From       int    `json:"from,omitempty" doc:"first line to replace, instead of old"`
	To         *int   `json:"to,omitempty" doc:"last line to replace, default from; from minus 1: insert before from"`
}

// ranged reports whether the call names lines instead of text.
func (a editArgs) ranged() bool { return a.From > 0 || a.To != nil && *a.To > 0 }

// span returns the lines of a call that names lines.
func (a editArgs) span() (from, to int, err error) {
	from, to = a.From, a.From
	if from <= 0 {
		return 0, 0, failf("from is missing: name the first line to replace, or give old")
	}
	if a.To != nil && (*a.To > 0 || from == 1) {
		to = *a.To
	}
	if to < from-1 {
		return 0, 0, failf("to %d is before from %d", to, from)
	}
	return from, to, nil
}

// Edit returns the tool that replaces a text, or a range of lines, in one file.
func Edit() tool.Tool {
	t := tool.New("edit",
		"Replace text in a file. old must be copied exactly, without line numbers, and match one "+
			"place (or set replace_all). Or give line numbers, from and to, of whole lines that were shown to you since the file changed. "+
			"The result names the changed lines by their new numbers.",
		func(env tool.Env, in editArgs) (tool.Footprint, error) {
			sp, err := writeSpan(env, in.Path)
			fp := tool.Footprint{}
			if err == nil && !in.ranged() {
				fp.Quoted = quotedOnce(env, map[string][]quote{sp.Path: {{in.Old, in.New}}})
			}
			if err == nil && in.ranged() {
				var from, to int
				if from, to, err = in.span(); err == nil {
					sp.From, sp.To = max(min(from, to), 1), max(from, to)
				}
				// Text after the last line: the model must have seen that line.
				if f, rerr := env.Files.Read(context.Background(), sp.Path, editLimit); rerr == nil && sp.Hash != "" {
					n := countLines(f.Data)
					sp.From, sp.To, sp.Hash = min(sp.From, n), min(sp.To, n), f.Hash
				}
			}
			fp.Writes = []tool.Span{sp}
			return fp, err
		},
		func(ctx context.Context, env tool.Env, in editArgs) (tool.Result, error) {
			return perform(ctx, env, func(g *stage) error { return g.edit(ctx, in) })
		})
	t.Facts = tool.Facts{Kind: tool.Edit, Aliases: []string{"editfile", "notebookedit", "replace", "searchreplace", "strreplace", "strreplacebasededittool", "strreplaceeditor"}, Family: tool.EditFamily, Hooks: []string{"Edit"}}
	t.Example = `{"path":"main.go","old":"\treturn nil\n}","new":"\treturn err\n}"}`
	return t
}

func (g *stage) edit(ctx context.Context, in editArgs) error {
	if !in.ranged() {
		return g.apply(ctx, in.Path, in.Old, in.New, in.ReplaceAll)
	}
	if in.Old != "" {
		return failf("give either old, or from and to, not both")
	}
	from, to, err := in.span()
	if err != nil {
		return err
	}
	s, err := g.file(ctx, in.Path)
	if err != nil {
		return err
	}
	if !s.exists {
		return failf("%s", missing(ctx, g.env, s.file.Path))
	}
	s.wrote = append(s.wrote, in.New)
	g.lines = append(g.lines, tool.Span{Path: s.file.Path, From: max(1, min(from, to)-3), To: max(from, to) + 3})
	r, err := replaceLines(s, from, to, in.New)
	if err != nil {
		return err
	}
	if r.already {
		s.alreadyAt(r.at, max(0, to-from))
		return nil
	}
	if err := errors.Join(complete(s.file.Path, s.body, in.New), unmask(s.file.Path, s.body, r.body)); err != nil {
		return err
	}
	s.take(r)
	return nil
}

// replaceLines replaces the lines from..to. If to is from-1, it inserts before from.
func replaceLines(s *staged, from, to int, text string) (replaced, error) {
	src := newSource(s.body)
	lines, news := plainLines(src.plain), plainLines(folded(text))
	if from > len(lines)+1 || to > len(lines) || from > len(lines) && to >= from {
		return replaced{}, failf("%s has %s: lines %d-%d are not there", s.file.Path, plural.Of(len(lines), "line"), from, to)
	}
	// If the new lines are there already, the call was made before, and the lines after
	// them are not those that were meant. If there are fewer new lines than named ones,
	// the call may also mean to remove the others.
	there := len(news) > 0 && fits(lines, from-1, news)
	if last := from - 1 + len(news); there && last == len(lines) && strings.HasSuffix(folded(text), "\n") && !strings.HasSuffix(src.plain, "\n") {
		eol := "\n" // what is missing is the end of the last line
		if src.crlf > 0 && src.lf == 0 {
			eol = "\r\n"
		}
		return replaced{body: s.body + eol, regions: []region{{last, last}}, count: 1}, nil
	}
	if there && to-from+1 <= len(news) {
		return replaced{body: s.body, already: true, at: from}, nil
	} else if there {
		return replaced{}, failf("lines %d-%d of %s already have the new text: to remove lines %d-%d, name only those",
			from, from+len(news)-1, s.file.Path, from+len(news), to)
	}
	return src.splice(src.cuts(lines, []run{{from - 1, to, news}}, asBefore), ""), nil
}
