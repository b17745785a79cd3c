package tools

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"

	"github.com/pawl-agent/pawl/internal/core/plural"
	"github.com/pawl-agent/pawl/internal/core/tool"
)

type writeArgs struct {
	Path    string  `json:"path" doc:"relative to the workspace"`
	Content *string `json:"content" doc:"the whole new content"`
}

// Write returns the tool that creates or replaces a file.
func Write() tool.Tool {
	t := tool.New("write",
		"Create a file, or replace one whole. An existing file must have been "+
			"read whole first; for a change to a part of it use edit.",
		func(env tool.Env, in writeArgs) (tool.Footprint, error) {
			sp, err := writeSpan(env, in.Path)
			if err != nil {
				return tool.Footprint{}, err
			}
			fp := tool.Footprint{Writes: []tool.Span{sp}}
			if sp.Hash == "" {
				return fp, nil
			}
			f, err := env.Files.Read(context.Background(), sp.Path, editLimit)
			n := countLines(f.Data)
			if fp.Blind = err != nil || n > 0; err == nil && n > 0 {
				fp.Writes[0].From, fp.Writes[0].To, fp.Writes[0].Hash = 1, n, f.Hash
			}
			return fp, nil
		},
		func(ctx context.Context, env tool.Env, in writeArgs) (tool.Result, error) {
			w, err := planWrite(ctx, env, in)
			if err != nil {
				return failed(err)
			}
			return w.run(ctx, env)
		})
	t.Facts = tool.Facts{Kind: tool.Edit, Aliases: []string{"createfile", "savefile", "writefile"}, Family: tool.EditFamily, Whole: true, Hooks: []string{"Write"}}
	t.Example = `{"path":"doc/notes.md","content":"# Notes\n"}`
	// Missing content creates an empty file. If the file exists, missing content is an
	// error, which is reported when the file is read (SPEC 4.5).
	strict := t.Check
	t.Check = func(in json.RawMessage) error {
		var m map[string]json.RawMessage
		if err := json.Unmarshal(in, &m); err == nil && m != nil && m["content"] == nil {
			m["content"] = json.RawMessage(`""`)
			if filled, err := json.Marshal(m); err == nil {
				return strict(filled)
			}
		}
		return strict(in)
	}
	return t
}

type plannedWrite struct {
	file    tool.File
	exists  bool
	content string
	notes   []string
}

func planWrite(ctx context.Context, env tool.Env, in writeArgs) (*plannedWrite, error) {
	w := &plannedWrite{}
	var err error
	if w.file, w.exists, err = load(ctx, env, in.Path); err != nil {
		return nil, err
	}
	before := string(w.file.Data)
	switch {
	case in.Content != nil:
		w.content = *in.Content
	case w.exists && env.Correct:
		w.notes = append(w.notes, "content was missing: the file was emptied")
	case w.exists:
		return nil, failf("content is missing, and %s exists: give the whole new content, as in %s, or use edit",
			w.file.Path, `{"path":"doc/notes.md","content":"# Notes\n"}`)
	default:
		w.notes = append(w.notes, "content was missing: the file was created empty")
	}
	if err := unmask(w.file.Path, before, w.content); err != nil {
		return nil, err
	}
	if !w.exists || binary(w.file.Data) {
		return w, nil
	}
	if err := complete(w.file.Path, before, w.content); err != nil {
		return nil, err
	}
	// A model cannot intend to change what read does not show. But a content with CRLF
	// states its own line endings.
	src := newSource(before)
	whole := src.whole(w.content)
	crlf, lf := endings(w.content)
	switch {
	case whole != w.content:
		w.content = whole
		w.notes = append(w.notes, "the file's CRLF line endings were kept")
	case crlf > 0 && lf == 0 && src.crlf == 0 && src.lf > 0:
		w.notes = append(w.notes, "the file's line endings were LF, and are CRLF now, as the content has them")
	}
	if strings.HasPrefix(before, bom) && !strings.HasPrefix(w.content, bom) {
		w.content = bom + w.content
		w.notes = append(w.notes, "the file's byte order mark was kept")
	}
	return w, nil
}

func (w *plannedWrite) run(ctx context.Context, env tool.Env) (tool.Result, error) {
	if w.exists && w.content == string(w.file.Data) {
		return tool.Result{Text: w.file.Path + ": unchanged, it has this content already", Note: "unchanged"}, nil
	}
	data := []byte(w.content)
	c, err := env.Files.Write(ctx, w.file.Path, data, w.file.Hash)
	if stale, ok := errors.AsType[*tool.StaleError](err); ok {
		return fresh(ctx, env, stale, nil)
	}
	if err != nil {
		return failed(err)
	}
	did := "created"
	if w.exists {
		did = "replaced"
	}
	n := countLines(data)
	count := counts(c.Added, c.Removed, []tool.Change{c})
	text := fmt.Sprintf("%s %s, %s%s", did, c.Path, plural.Of(n, "line"), count)
	if n > 0 && !w.exists && !strings.HasSuffix(w.content, "\n") {
		w.notes = append(w.notes, "there is no newline at its end")
	}
	for _, note := range w.notes {
		text += "\nnote: " + note
	}
	return tool.Result{Text: text, Note: cmp.Or(strings.Trim(count, " ()"), did), Diff: c.Diff}, nil
}
