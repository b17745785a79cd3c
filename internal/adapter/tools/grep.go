package tools

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"slices"
	"strings"

	"github.com/pawl-agent/pawl/internal/core/plural"
	"github.com/pawl-agent/pawl/internal/core/process"
	"github.com/pawl-agent/pawl/internal/core/tool"
	"github.com/pawl-agent/pawl/internal/policy/secrets"
)

const (
	grepLimit   = 2000 // matches that are counted
	contextMax  = 100  // lines around a match
	verifyFiles = 20   // files whose shown lines count as seen
)

type grepArgs struct {
	Pattern    string `json:"pattern" doc:"regular expression (RE2), matched within lines"`
	Path       string `json:"path,omitempty" doc:"folder or file; default the workspace"`
	Glob       string `json:"glob,omitempty" doc:"only files that match, such as *.go"`
	IgnoreCase bool   `json:"ignore_case,omitempty"`
	Literal    bool   `json:"literal,omitempty" doc:"pattern is plain text"`
	Context    int    `json:"context,omitempty" doc:"lines around each match, at most 100"`
	FilesOnly  bool   `json:"files_only,omitempty" doc:"only the names of files"`
}

// Grep returns the tool that searches file contents.
func Grep() tool.Tool {
	t := tool.New("grep",
		"Search file contents. Gives each path, below it its lines as line:text (equal lines once: 3, 8:text), context as line-text; of too many, counts by folder and the likeliest. Ignored and binary files are left out, and files that look like secrets (.env, *.pem) unless path names one.",
		func(env tool.Env, in grepArgs) (tool.Footprint, error) { return folderSpan(env, in.Path) },
		func(ctx context.Context, env tool.Env, in grepArgs) (tool.Result, error) {
			m, err := env.Files.Grep(ctx, tool.Query{
				Dir: cmp.Or(in.Path, "."), Pattern: in.Pattern, Literal: in.Literal, IgnoreCase: in.IgnoreCase,
				Glob: in.Glob, Context: min(max(in.Context, 0), contextMax), FilesOnly: in.FilesOnly, Limit: grepLimit,
				Withhold: func(p string) bool { return secrets.LooksSecret(p) || env.Denied != nil && env.Denied(p) },
			})
			if errors.Is(err, fs.ErrNotExist) {
				return tool.Errorf("%s", missing(ctx, env, in.Path)), nil
			}
			if err != nil {
				return failed(err)
			}
			return grepResult(ctx, env, in, m), nil
		})
	t.Facts = tool.Facts{Kind: tool.Search, Aliases: []string{"codesearch", "grepfiles", "grepsearch", "rg", "ripgrep", "search", "searchfilecontent"}, Family: tool.ReadFamily, Repeatable: true, Listing: true, Hooks: []string{"Grep"}}
	t.ReadOnly = true
	t.Example = `{"pattern":"func \\w+Error","glob":"*.go"}`
	return t
}

func grepResult(ctx context.Context, env tool.Env, in grepArgs, m tool.Matches) tool.Result {
	if m.Hits == 0 {
		text := fmt.Sprintf("no matches in %s", plural.Of(m.Searched, "file"))
		if m.Skipped > 0 {
			text += fmt.Sprintf(" (%d binary or too large)", m.Skipped)
		}
		if m.Searched == 0 && in.Glob != "" {
			text += ": no text file matches the glob " + in.Glob
		}
		return tool.Result{Text: strings.TrimSuffix(text+inBinary(m.Binary, "; ")+withheld(env, m.Withheld, "; "), "\n"), Note: "no matches"}
	}
	var b strings.Builder
	shown := showMatches(&b, in, m, limitOf(env)-500)
	note := plural.Of(m.Hits, "match")
	if m.Hits > 1 {
		note = fmt.Sprintf("%d matches", m.Hits)
	}
	note += " in " + plural.Of(m.Files, "file")
	if n := m.Skipped - len(m.Binary); n > 0 {
		note += fmt.Sprintf(", %d binary or too large", n)
	}
	b.WriteString(inBinary(m.Binary, ""))
	b.WriteString(withheld(env, m.Withheld, ""))
	r := tool.Result{Text: strings.TrimSuffix(b.String(), "\n"), Note: note}
	if !in.FilesOnly {
		r.Seen = verified(ctx, env, shown)
	}
	return r
}

// withheld returns a note with the files that a search left out because they look like
// secrets, or a rule is about them: what a call names is masked or asked about first
// (SPEC 4.15, 16.7). What a rule denies is denied by its name, too.
func withheld(env tool.Env, paths []string, before string) string {
	var open, closed, rules []string
	for _, p := range paths {
		why := ""
		if env.Closed != nil {
			why = env.Closed(process.Refusal{Act: process.ActRead, What: p})
		}
		if why == "" {
			open = append(open, p)
			continue
		}
		if closed = append(closed, p); !slices.Contains(rules, why) {
			rules = append(rules, why)
		}
	}
	out := ""
	if len(closed) > 0 {
		out = fmt.Sprintf("%s[%s not searched, which %s: %s]", before, plural.Of(len(closed), "file"), strings.Join(rules, ", "), fewOf(closed))
		before = cmp.Or(before, "\n")
	}
	if len(open) == 0 {
		return out
	}
	why := "since they look like secrets"
	if len(open) == 1 {
		why = "since it looks like secrets"
	}
	if slices.ContainsFunc(open, func(p string) bool { return !secrets.LooksSecret(p) }) {
		why = "since they look like secrets or a permission rule is about them"
	}
	return out + fmt.Sprintf("%s[%s not searched, %s: %s; grep with path set to one searches it]", before, plural.Of(len(open), "file"), why, fewOf(open))
}

// inBinary returns a note with the files that have a match but no lines that can be shown.
func inBinary(paths []string, before string) string {
	if len(paths) == 0 {
		return ""
	}
	return fmt.Sprintf("%s[found in %s, whose lines are not shown: %s]\n", before, plural.Of(len(paths), "binary file"), fewOf(paths))
}

// fewOf names the first of some paths.
func fewOf(paths []string) string {
	few := paths[:min(len(paths), 5)]
	names := make([]string, len(few))
	for i, p := range few {
		names[i] = oneLine(p)
	}
	if len(few) < len(paths) {
		names = append(names, "…")
	}
	return strings.Join(names, ", ")
}

// verified returns the spans of completely shown lines in the first files. It reads these
// files again, since the result of a search has no hashes.
func verified(ctx context.Context, env tool.Env, ms []tool.Match) []tool.Span {
	var seen []tool.Span
	files := 0
	for i := 0; i < len(ms); {
		j := i
		for j < len(ms) && ms[j].Path == ms[i].Path {
			j++
		}
		if files++; files > verifyFiles {
			break
		}
		f, err := env.Files.Read(ctx, ms[i].Path, 1<<20)
		if err == nil {
			lines := splitLines(strings.TrimPrefix(string(f.Data), bom))
			for _, m := range ms[i:j] {
				if m.Line > len(lines) || bare(lines[m.Line-1]) != m.Text {
					continue
				}
				if k := len(seen) - 1; k >= 0 && seen[k].Path == f.Path && seen[k].To == m.Line-1 {
					seen[k].To = m.Line
				} else {
					seen = append(seen, tool.Span{Path: f.Path, Hash: f.Hash, From: m.Line, To: m.Line})
				}
			}
		}
		i = j
	}
	return seen
}
