// Package syntax looks whether a change broke the syntax of a file, without a language
// server.
//
// It promises that nothing of the file is run, that only what the change broke is reported
// (the file was well-formed before, or is new), the first error of each file, and that a look
// takes at most Look.Limit. Go and JSON are read in the process. For other languages the
// language's own parser runs, if it is installed outside of the workspace and the kernel
// confines it: it gets the text on its input, and may read the system and write nothing.
//
// If all files are well-formed, go vet looks at their packages, and the project's own
// TypeScript at the project, unless a language server does: what they did not find before is
// reported, within Look.TypeLimit.
package syntax

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os/exec"
	"path"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/pawl-agent/pawl/internal/core/cut"
	"github.com/pawl-agent/pawl/internal/core/lazyregexp"
	"github.com/pawl-agent/pawl/internal/core/process"
	"github.com/pawl-agent/pawl/internal/core/tool"
)

const (
	// maxFiles and maxSize are how many files of a call are looked at, and how large they
	// may be.
	maxFiles = 5
	maxSize  = 512 << 10
	maxText  = 200 // bytes of a message
)

// Look looks at files of a workspace. It is safe for concurrent use.
type Look struct {
	Root string // the workspace's real path
	// Start starts the parsers of languages, confined; nil: none is started.
	Start process.Starter
	// Limit is how long all looks at the syntax after one call may take.
	Limit time.Duration

	// TypeLimit is how long the looks at packages may take after that; 0: there are none.
	TypeLimit time.Duration
	// Confine is how go vet is confined: it keeps a cache. TypeScript only reads.
	Confine process.Confine
	// Served reports whether a language server looks at a file; nil: none does.
	Served func(path string) bool

	mu       sync.Mutex
	packages map[string]*vetted // by folder, or by tsconfig.json
}

func (l *Look) Broken(parent context.Context, cs []tool.CodeChange) []tool.Diagnostic {
	ctx, cancel := context.WithTimeout(parent, l.Limit)
	defer cancel()
	var out []tool.Diagnostic
	for _, c := range cs[:min(len(cs), maxFiles)] {
		if d := l.broken(ctx, c); d != nil {
			out = append(out, *d)
		}
	}
	if len(out) > 0 {
		return out
	}
	return l.types(parent, cs)
}

func (l *Look) broken(ctx context.Context, c tool.CodeChange) *tool.Diagnostic {
	find := l.parser(c.Path)
	if find == nil || c.After == nil || c.Existed && c.Before == nil {
		return nil
	}
	now, err := c.After(ctx)
	if err != nil || len(now) > maxSize {
		return nil
	}
	d := find(ctx, now)
	if d == nil {
		return nil
	}
	if c.Existed {
		before, err := c.Before(ctx)
		if err != nil || len(before) > maxSize {
			return nil
		}
		if was := find(ctx, before); was != nil {
			return nil // it was broken before
		}
	}
	if ctx.Err() != nil {
		return nil // a parser that was stopped says nothing
	}
	d.Path, d.Severity, d.Message = c.Path, tool.SeverityError, clip(d.Message)
	return d
}

func clip(s string) string {
	return cut.Bytes(strings.Join(strings.Fields(s), " "), maxText)
}

// find returns the first error of a text; nil if it is well-formed, or nobody can tell.
type find func(ctx context.Context, text []byte) *tool.Diagnostic

// parser returns what finds errors in a file, nil if nothing does.
func (l *Look) parser(name string) find {
	switch ext := path.Ext(name); ext {
	case ".go":
		return func(_ context.Context, text []byte) *tool.Diagnostic { return golang(name, text) }
	case ".json":
		return func(_ context.Context, text []byte) *tool.Diagnostic { return jsonText(text) }
	default:
		for i := range languages {
			if p := &languages[i]; l.Start != nil && strings.Contains(p.extensions+" ", ext+" ") && ext != "" {
				return func(ctx context.Context, text []byte) *tool.Diagnostic { return l.program(ctx, p, text) }
			}
		}
	}
	return nil
}

// language is a language's own parser: a program that reads a text from its input, runs
// nothing of it, and fails with the line where the text is not well-formed.
type language struct {
	extensions string
	argv       []string
	// skip are marks of texts that the parser does not know, such as JSX.
	skip []string
}

// python, isolated: nothing of the environment, the folder or the user is loaded.
const pythonParse = `import ast,sys,warnings
warnings.simplefilter("ignore")
try: ast.parse(sys.stdin.buffer.read())
except SyntaxError as e: print("%d: %s" % (e.lineno or 1, e.msg)); sys.exit(9)
except Exception: pass`

// A text is a module or a script: only what is neither is broken.
const nodeParse = `const vm=require("vm"),s=require("fs").readFileSync(0,"utf8");let e;
try{new vm.SourceTextModule(s,{identifier:"x"});process.exit(0)}catch(x){e=x}
try{vm.compileFunction(s.replace(/^#!/,"//"),[],{filename:"x"});process.exit(0)}catch(x){if(!/import statement|export/.test(x.message))e=x}
if(e instanceof SyntaxError){console.log(((/^x:(\d+)/.exec(e.stack)||[])[1]||"?")+": "+e.message);throw e}`

var languages = [...]language{
	{extensions: ".py", argv: []string{"python3", "-I", "-S", "-B", "-c", pythonParse}},
	{extensions: ".js .mjs .cjs", argv: []string{"node", "--experimental-vm-modules", "--no-warnings", "-e", nodeParse}, skip: []string{"</", "/>", "@flow"}},
	{extensions: ".sh .bash", argv: []string{"bash", "--norc", "--noprofile", "-n"}},
}

// programs is where parsers are looked for: never in what the workspace adds to PATH.
const programs = "/usr/local/bin:/opt/homebrew/bin:/usr/bin:/bin"

// lineOf is the form in which the parsers above, and bash -n, tell an error. Of a module
// node knows the line only when it ends with the error; thrownAt finds it then.
var (
	lineOf   = lazyregexp.New(`^(?:\S*: line )?(\d+|\?): (.*)`)
	thrownAt = lazyregexp.New(`^x:(\d+)`)
)

func (l *Look) program(ctx context.Context, p *language, text []byte) *tool.Diagnostic {
	for _, s := range p.skip {
		if strings.Contains(string(text), s) {
			return nil
		}
	}
	run := process.Program{
		Path: p.argv[0], Args: p.argv[1:], Dir: "/", Exact: true, Env: []string{"PATH=" + programs, "LC_ALL=C.UTF-8"},
		Apart: []string{l.Root}, Stdin: bytes.NewReader(text), Confine: process.Confine{},
	}
	out, err := process.Output(ctx, l.Start, run)
	if failed := (*exec.ExitError)(nil); !errors.As(err, &failed) {
		return nil // it is well-formed, or the parser is not installed
	}
	said := strings.TrimSpace(string(out))
	if said == "" {
		said, _, _ = strings.Cut(err.Error(), " (exit status ")
	}
	first, _, _ := strings.Cut(said, "\n")
	m := lineOf().FindStringSubmatch(first)
	if m == nil {
		return nil
	}
	if at := thrownAt().FindStringSubmatch(err.Error()); m[1] == "?" && at != nil {
		m[1] = at[1]
	}
	line, _ := strconv.Atoi(m[1])
	return atLine(line, "%s", m[2])
}

func atLine(line int, format string, args ...any) *tool.Diagnostic {
	return &tool.Diagnostic{Line: line, Source: "syntax", Message: fmt.Sprintf(format, args...)}
}
