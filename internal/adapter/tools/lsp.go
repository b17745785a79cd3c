package tools

import (
	"context"
	"errors"
	"fmt"
	"path"
	"strings"
	"time"

	"github.com/pawl-agent/pawl/internal/core/plural"
	"github.com/pawl-agent/pawl/internal/core/sorting"
	"github.com/pawl-agent/pawl/internal/core/tool"
	"github.com/pawl-agent/pawl/internal/policy/secrets"
)

// This file has functions that the language-server tools share. They access the workspace
// through Env.Files like every tool: a server only returns places and proposed contents.

// spotLimit is how many places are listed.
const spotLimit = 200

// codePlan is how long a server may take to compute what a call would write, before the
// call is judged. An interrupt does not end that wait, so it is short: if the server
// still reads its project, the model must make the call again.
const codePlan = 8 * time.Second

// Lsp returns the language-server tools, for a session that has servers.
func Lsp() []tool.Tool {
	return []tool.Tool{LspLook(), LspRename(), LspCodeAction()}
}

// codeAt returns the place that the arguments name.
func codeAt(path string, line, column int, symbol string) tool.CodeAt {
	return tool.CodeAt{Path: path, Line: line, Column: column, Symbol: symbol}
}

// codePlace resolves the path of a place in the workspace.
func codePlace(env tool.Env, at tool.CodeAt) (tool.CodeAt, error) {
	if at.Path == "" || env.Files == nil {
		return at, nil
	}
	clean, inside, err := env.Files.Resolve(at.Path)
	if err != nil {
		return at, err
	}
	if !inside {
		return at, failf("%s is outside the workspace: language servers are asked about files in it", at.Path)
	}
	at.Path = clean
	return at, nil
}

// codeReads returns the footprint of a request: its answer may quote any file of the
// workspace.
func codeReads(env tool.Env, paths ...string) (tool.Footprint, error) {
	fp := tool.Footprint{Reads: []tool.Span{{Path: ".", Dir: true}}}
	if env.Files == nil {
		return fp, nil
	}
	for _, p := range paths {
		if p == "" {
			continue
		}
		sp, err := readSpan(env, p)
		if err != nil {
			return fp, err
		}
		fp.Reads = append(fp.Reads, sp)
	}
	return fp, nil
}

var errNoCode = errors.New("this session has no language server: use grep and read")

// asked sends a request to a language server and returns its result.
func asked(ctx context.Context, env tool.Env, at tool.CodeAt, ask func(tool.Code, tool.CodeAt) (tool.Result, error)) (tool.Result, error) {
	if env.Code == nil {
		return failed(errNoCode)
	}
	at, err := codePlace(env, at)
	if err != nil {
		return failed(err)
	}
	r, err := ask(env.Code, at)
	if err != nil {
		if ctx.Err() != nil {
			return tool.Result{}, context.Cause(ctx)
		}
		return failed(err)
	}
	return r, nil
}

// quoter returns lines of files. It reads each file once.
type quoter struct {
	env   tool.Env
	files map[string]sourceLines
	seen  []tool.Span
}

type sourceLines struct {
	lines []string
	hash  tool.Hash
}

func newQuoter(env tool.Env) *quoter { return &quoter{env: env, files: map[string]sourceLines{}} }

// line returns a line of a file in the form for the model. It returns "" for a file that
// is outside the workspace, looks like a secret, or cannot be read.
func (q *quoter) line(ctx context.Context, p string, n int) string {
	if p == "" || path.IsAbs(p) || strings.Contains(p, ":") || secrets.LooksSecret(p) {
		return ""
	}
	f, ok := q.files[p]
	if !ok {
		if file, err := q.env.Files.Read(ctx, p, 0); err == nil && !binary(file.Data) {
			f = sourceLines{splitLines(strings.TrimPrefix(string(file.Data), bom)), file.Hash}
		}
		q.files[p] = f
	}
	if n < 1 || n > len(f.lines) {
		return ""
	}
	text, cut := showLine(bare(f.lines[n-1]))
	if !cut {
		q.seen = append(q.seen, tool.Span{Path: p, Hash: f.hash, From: n, To: n})
	}
	return text
}

// spots lists places, one per line.
func spots(ctx context.Context, env tool.Env, found []tool.SymbolPosition, what string) tool.Result {
	if len(found) == 0 {
		return tool.Result{Text: "no " + what + " was found", Note: "none"}
	}
	q := newQuoter(env)
	var b strings.Builder
	files := map[string]bool{}
	shown := 0
	for _, s := range found {
		var entry string
		switch text := q.line(ctx, s.Path, s.Line); {
		case s.Name != "":
			entry = strings.TrimSpace(fmt.Sprintf("%s:%d: %s %s", oneLine(s.Path), s.Line, s.Kind, oneLine(s.Name)))
			if s.In != "" {
				entry += " in " + oneLine(s.In)
			}
			if text != "" {
				entry += " | " + strings.TrimSpace(text)
			}
		case text != "":
			entry = fmt.Sprintf("%s:%d:%d:%s", oneLine(s.Path), s.Line, s.Column, text)
		default:
			entry = fmt.Sprintf("%s:%d:%d", oneLine(s.Path), s.Line, s.Column)
		}
		if shown == spotLimit || b.Len()+len(entry) > limitOf(env)-150 {
			break
		}
		b.WriteString(entry + "\n")
		files[s.Path] = true
		shown++
	}
	if shown < len(found) {
		fmt.Fprintf(&b, "[%d more not shown]\n", len(found)-shown)
	}
	r := tool.Result{Text: strings.TrimSuffix(b.String(), "\n"), Note: fmt.Sprintf("%s in %s", plural.Of(len(found), what), plural.Of(len(files), "file"))}
	if len(found) > 0 && found[0].Name == "" { // complete lines
		r.Seen = mergeSeen(q.seen)
	}
	return r
}

// mergeSeen merges adjacent spans of lines.
func mergeSeen(spans []tool.Span) []tool.Span {
	sorting.By(spans, func(a, b tool.Span) int {
		if c := strings.Compare(a.Path, b.Path); c != 0 {
			return c
		}
		return a.From - b.From
	})
	var out []tool.Span
	for _, s := range spans {
		if k := len(out) - 1; k >= 0 && out[k].Path == s.Path && s.From <= out[k].To+1 {
			out[k].To = max(out[k].To, s.To)
			continue
		}
		out = append(out, s)
	}
	return out
}

// DiagnosticLine returns a diagnostic as one line.
func DiagnosticLine(d tool.Diagnostic) string {
	text := fmt.Sprintf("%s:%d:%d: %s: %s", oneLine(d.Path), d.Line, d.Column, d.Severity, strings.Join(strings.Fields(d.Message), " "))
	if len(text) > lineShown {
		text, _ = showLine(text)
	}
	if of := strings.TrimSpace(d.Source + " " + d.Code); of != "" {
		text += " [" + oneLine(of) + "]"
	}
	return text
}

// codeWrites returns the footprint of a call that writes what a server proposes. It is
// computed from the present files, so the model need not have seen them. If they change
// before the call runs, the call is refused.
func codeWrites(env tool.Env, at tool.CodeAt, plan func(context.Context, tool.Code, tool.CodeAt) ([]tool.Write, error)) (tool.Footprint, error) {
	fp, err := codeReads(env, at.Path)
	if err != nil || env.Code == nil || env.Files == nil {
		return fp, err
	}
	if at, err = codePlace(env, at); err != nil {
		return fp, err
	}
	ctx, cancel := context.WithTimeout(context.Background(), codePlan)
	defer cancel()
	ws, err := plan(ctx, env.Code, at)
	if ctx.Err() != nil {
		return fp, failf("the language server is still reading the project: make the same call again")
	}
	if err != nil {
		return fp, nil // the call reports why; nothing will be written
	}
	fp.Derived = true
	for _, w := range ws {
		for _, p := range []string{w.Path, w.MoveTo} {
			if p == "" {
				continue
			}
			sp, err := writeSpan(env, p)
			if err != nil {
				return fp, err
			}
			fp.Writes = append(fp.Writes, sp)
		}
	}
	return fp, nil
}

// writeCode writes what a server proposed, and shows the changes.
func writeCode(ctx context.Context, env tool.Env, ws []tool.Write, what string) (tool.Result, error) {
	if len(ws) == 0 {
		return tool.Result{Text: what + ": nothing changes", Note: "unchanged"}, nil
	}
	cs, err := env.Files.WriteAll(ctx, ws)
	if err != nil {
		return failed(err)
	}
	var b, diffs strings.Builder
	added, removed := 0, 0
	for _, c := range cs {
		added, removed = added+c.Added, removed+c.Removed
		diffs.WriteString(c.Diff)
	}
	fmt.Fprintf(&b, "%s: %s changed\n", what, plural.Of(len(cs), "file"))
	for i, c := range cs {
		entry := c.Diff
		if entry == "" || b.Len()+len(entry) > limitOf(env)-200 {
			entry = fmt.Sprintf("%s (+%d -%d)\n", oneLine(c.Path), c.Added, c.Removed)
		}
		if b.Len()+len(entry) > limitOf(env)-100 {
			fmt.Fprintf(&b, "[%d more files]\n", len(cs)-i)
			break
		}
		b.WriteString(entry)
	}
	return tool.Result{Text: strings.TrimSuffix(b.String(), "\n"), Note: fmt.Sprintf("+%d -%d in %s", added, removed, plural.Of(len(cs), "file")), Diff: diffs.String()}, nil
}
