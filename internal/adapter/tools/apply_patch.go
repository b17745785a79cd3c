package tools

import (
	"context"
	"fmt"
	"io/fs"
	"strings"

	"github.com/pawl-agent/pawl/internal/core/tool"
)

type patchArgs struct {
	Patch string `json:"patch" doc:"the patch: a unified diff, or *** Begin Patch … *** End Patch"`
}

// ApplyPatch applies a patch to one or more files, all or nothing.
func ApplyPatch() tool.Tool {
	t := tool.New("apply_patch",
		"Change files by a patch, all of it or nothing. Either a unified diff (--- / +++ / @@), or this form:\n"+
			"*** Begin Patch\n*** Update File: path\n@@ optional line to look behind\n context line\n-old line\n+new line\n"+
			"*** Add File: path\n+line\n*** Delete File: path\n*** End Patch\n"+
			"(*** Move to: path may follow Update File.) Give three lines of context around each change.",
		func(env tool.Env, in patchArgs) (fp tool.Footprint, err error) {
			files, err := parsePatch(in.Patch)
			if err != nil {
				return fp, err
			}
			known := map[string]bool{}
			quotes := map[string][]quote{}
			for _, f := range files {
				for _, p := range []string{f.path, f.moveTo} {
					if p == "" {
						continue
					}
					sp, err := writeSpan(env, f.locate(env, p))
					if err != nil {
						return fp, err
					}
					if !known[sp.Path] {
						known[sp.Path] = true
						fp.Writes = append(fp.Writes, sp)
					}
					if p == f.path {
						quotes[sp.Path] = append(quotes[sp.Path], f.quotes()...)
					}
				}
			}
			fp.Quoted = quotedOnce(env, quotes)
			return fp, nil
		},
		func(ctx context.Context, env tool.Env, in patchArgs) (tool.Result, error) {
			return perform(ctx, env, func(g *stage) error { return g.patches(ctx, in.Patch) })
		})
	// A patch edits, creates and removes: hooks that guard any of these run for it.
	t.Facts = tool.Facts{Kind: tool.Edit, Aliases: []string{"patch"}, Family: tool.EditFamily, Hooks: []string{"Edit", "Write", "MultiEdit"}}
	t.Example = `{"patch":"*** Begin Patch\n*** Update File: main.go\n@@ func main() {\n-\tprintln(1)\n+\tprintln(2)\n*** End Patch"}`
	return t
}

// patchFile is what a patch does to one file.
type patchFile struct {
	path, moveTo string
	add, remove  bool
	content      string // add: the whole text
	hunks        []hunk
	prefixed     bool   // paths may begin with the a/ and b/ of a diff
	mode         uint32 // the patch sets or clears the executable bits: 0755, 0644; 0: it does not
}

// hunk is a part of a patch. seek are lines to find first; the hunk comes after them. at
// is the line where the old lines should begin (0: not given). end means that they end
// the file.
type hunk struct {
	seek  []string
	lines []hunkLine
	at    int
	end   bool
	// unified: a diff that states how its last line ends. bare: without a newline.
	unified, bare bool
}

type hunkLine struct {
	op   byte // ' ' '-' '+'
	text string
}

func (h *hunk) old() []string { return h.side('+') }
func (h *hunk) new() []string { return h.side('-') }

func (h *hunk) side(without byte) []string {
	var out []string
	for _, l := range h.lines {
		if l.op != without {
			out = append(out, l.text)
		}
	}
	return out
}

func parsePatch(text string) ([]patchFile, error) {
	text = strings.ReplaceAll(text, "\r\n", "\n")
	var files []patchFile
	var err error
	start := strings.TrimSpace(text)
	diff := strings.HasPrefix(start, "diff --git ") || strings.HasPrefix(start, "--- ")
	if !diff && strings.Contains(text, "*** Begin Patch") || strings.HasPrefix(strings.TrimSpace(text), "*** ") && !strings.Contains(text, "\n--- ") {
		files, err = parseBlocks(text)
	} else {
		files, err = parseUnified(text)
	}
	if err == nil && len(files) == 0 {
		err = failf("the patch is empty: give a unified diff with ---, +++ and @@ lines, or *** Begin Patch")
	}
	return files, err
}

// quotes returns what the hunks replace: whole lines.
func (f *patchFile) quotes() []quote {
	var out []quote
	for i := range f.hunks {
		out = append(out, quote{lineText(f.hunks[i].old()), lineText(f.hunks[i].new())})
	}
	return out
}

func lineText(lines []string) string {
	if len(lines) == 0 {
		return "\n"
	}
	return "\n" + strings.Join(lines, "\n") + "\n"
}

// locate removes the a/ or b/ of a diff from a path, unless a file exists under the whole
// path.
func (f *patchFile) locate(env tool.Env, p string) string {
	if !f.prefixed {
		return p
	}
	for _, pre := range []string{"a/", "b/"} {
		if rest, ok := strings.CutPrefix(p, pre); ok {
			if h, _, err := env.Files.Stat(p); err == nil && h != "" {
				return p
			}
			return rest
		}
	}
	return p
}

// patches applies a patch to the stage, in memory.
func (g *stage) patches(ctx context.Context, text string) error {
	files, err := parsePatch(text)
	if err != nil {
		return err
	}
	for _, f := range files {
		if err := ctx.Err(); err != nil {
			return err
		}
		if err := g.patch(ctx, f); err != nil {
			return err
		}
	}
	return nil
}

func (g *stage) patch(ctx context.Context, f patchFile) error {
	path := f.locate(g.env, f.path)
	if f.remove || f.moveTo != "" {
		if l, err := g.env.Files.ReadNoFollow(ctx, path, 0); err == nil && fs.FileMode(l.Mode)&fs.ModeSymlink != 0 {
			return failf("%s is a symlink to %s: name the file itself, or change the link in a shell; nothing was written", path, l.Data)
		}
	}
	s, err := g.file(ctx, path)
	if err != nil {
		return err
	}
	here := s.exists || s.body != ""
	switch {
	case f.add && s.remove:
		// A file that is deleted and added is replaced.
		s.remove = false
		s.body = newSource(s.text).whole(f.content)
		s.mode = f.mode
		s.count++
		return unmask(s.file.Path, s.text, s.body)
	case s.remove || s.moveTo != "":
		return failf("%s was deleted or moved earlier in the patch", s.file.Path)
	case f.add && here && s.body == f.content:
		s.alreadyAt(1, 0)
		return nil
	case f.add && here:
		return failf("%s exists already: update it, or delete it first; nothing was written", s.file.Path)
	case f.add:
		s.body, s.mode = f.content, f.mode
		s.count++
		return unmask(s.file.Path, "", s.body)
	case !here:
		return failf("%s; nothing was written", missing(ctx, g.env, s.file.Path))
	case f.remove && !s.exists:
		return failf("%s was added earlier in the patch: leave both out", s.file.Path)
	case f.remove:
		// A diff contains the lines that it deletes: they must be there.
		if err := g.hunks(s, f.hunks); err != nil {
			return err
		}
		if len(f.hunks) > 0 && s.body != "" {
			return failf("the patch deletes %s, and the file has lines that the patch does not: read it again; nothing was written", s.file.Path)
		}
		s.remove = true
		return nil
	}
	if err := g.hunks(s, f.hunks); err != nil {
		return err
	}
	s.setMode(f.mode)
	if f.moveTo != "" {
		to, _, err := g.env.Files.Resolve(f.locate(g.env, f.moveTo))
		if err != nil {
			return err
		}
		if to != s.file.Path {
			s.moveTo = to
		}
	}
	return nil
}

// setMode sets or clears the executable bits as the patch requests.
func (s *staged) setMode(want uint32) {
	if want == 0 {
		return
	}
	mode := s.file.Mode &^ 0o111
	if want&0o111 != 0 {
		mode |= s.file.Mode & 0o444 >> 2
	}
	if mode != s.file.Mode {
		s.mode = mode
		s.notes = append(s.notes, fmt.Sprintf("its mode was %04o and is %04o", s.file.Mode, mode))
	}
}

// hunks applies the hunks of one file in order.
func (g *stage) hunks(s *staged, hs []hunk) error {
	pos, shift := 0, 0
	before := s.body
	hs = appendedLast(hs)
	for i := range hs {
		h := &hs[i]
		s.wrote = append(s.wrote, strings.Join(h.new(), "\n"))
		src := newSource(s.body)
		lines := plainLines(src.plain)
		l, m := h.find(lines, pos, shift)
		if m != nil {
			return g.missed(s, m)
		}
		if err := complete(s.file.Path, strings.Join(h.old(), "\n"), strings.Join(h.new(), "\n")); err != nil {
			return err
		}
		if h.at > 0 {
			shift = l.at + 1 - h.at + len(h.new()) - len(h.old())
		}
		// Lines that are only added do not show where the next hunk is.
		if len(h.old()) > 0 || h.at > 0 {
			pos = l.at + len(h.new())
		}
		if l.already {
			s.notes = append(s.notes, fmt.Sprintf("a hunk was applied already: its lines are at line %d", l.at+1))
			s.already++
			continue
		}
		r := src.splice(src.cuts(lines, l.runs, h.last()), l.note)
		r.count = 1
		s.take(r)
	}
	return unmask(s.file.Path, before, s.body)
}

// appendedLast merges the hunks that only add lines at the end into one last hunk: they
// do not show where the other hunks are.
func appendedLast(hs []hunk) []hunk {
	var out []hunk
	var end hunk
	for _, h := range hs {
		if len(h.old()) == 0 && len(h.seek) == 0 && h.at == 0 {
			end.lines = append(end.lines, h.lines...)
		} else {
			out = append(out, h)
		}
	}
	if len(end.lines) > 0 {
		out = append(out, end)
	}
	return out
}
