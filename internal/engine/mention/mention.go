// Package mention reads what a person's prompt names with @: the lines of a
// file, of a declaration, the listing of a folder, an image or document (SPEC 10.1), a
// resource of an MCP server (SPEC 17.1).
//
// It promises to read only what a call of the model could read without asking,
// and with the model's own tools, so that it counts as read by the model. It
// reports mentions that it could not attach. It records nothing.
package mention

import (
	"context"
	"encoding/json"
	"fmt"
	"path"
	"strconv"
	"strings"
	"unicode"

	"github.com/pawl-agent/pawl/internal/core/lazyregexp"
	"github.com/pawl-agent/pawl/internal/core/llm"
	"github.com/pawl-agent/pawl/internal/core/tool"
	"github.com/pawl-agent/pawl/internal/engine/turn"
	"github.com/pawl-agent/pawl/internal/policy/permission"
	"github.com/pawl-agent/pawl/internal/policy/secrets"
)

// Limits of what one prompt attaches; a small window sets Reader.Most.
const (
	mostMentions = 20
	mostAttached = 128 << 10 // bytes of text
)

// Attached is what the mentions of a prompt attach.
type Attached struct {
	Text   string
	Images []llm.Media
	Seen   []tool.Span
	Notes  []string // what was not attached, and why
}

// Reader reads what is mentioned.
type Reader struct {
	Files tool.Files
	Tools tool.Set
	Env   func(*turn.Pending) tool.Env
	// Decide judges a call like one of the model's.
	Decide func(*turn.Pending) permission.Decision
	// Masked returns a result without its secrets.
	Masked    func(tool.Result) tool.Result
	Resources Resources // nil: there are none
	// Symbols finds declarations by their name; nil: none are found.
	Symbols  tool.Symbols
	MaxBytes int // bytes of text that the window has room for; 0: not known
}

// Resources has what mentions name that is not a file.
type Resources interface {
	// Resource reads the resource that a mention names. known is false if the
	// mention names none. If it cannot be read, why is the reason.
	Resource(ctx context.Context, ref string) (r tool.Result, why string, known bool)
}

// Attach reads what a prompt mentions; nil where it mentions nothing.
func (r Reader) Attach(ctx context.Context, prompt string) *Attached {
	found := mentions(prompt)
	if len(found) == 0 || r.Files == nil {
		return nil
	}
	a := &Attached{}
	most := mostAttached
	if r.MaxBytes > 0 {
		most = min(most, r.MaxBytes)
	}
	left := most
	for i, m := range found {
		if i == mostMentions || left <= 0 {
			a.Notes = append(a.Notes, fmt.Sprintf("@%s and later mentions are not attached: a prompt can attach at most %d files and %d KB", m, mostMentions, most>>10))
			break
		}
		got, why := r.mentioned(ctx, m, left)
		switch {
		case why != "":
			a.Notes = append(a.Notes, "@"+m+" is not attached: "+why)
		case got.Text != "":
			a.Text += got.Text + "\n"
			left -= len(got.Text)
			a.Images, a.Seen = append(a.Images, got.Images...), append(a.Seen, got.Seen...)
		}
	}
	return a
}

// mentioned reads what one mention names. If it names nothing here, such as a
// person or a package, it returns neither a text nor a reason.
func (rd Reader) mentioned(ctx context.Context, m string, limit int) (r tool.Result, why string) {
	if rd.Resources != nil {
		if r, why, known := rd.Resources.Resource(ctx, m); known {
			if len(r.Text) > limit {
				r.Text = strings.ToValidUTF8(r.Text[:limit], "") + "\n[the rest is left out]"
			}
			return rd.Masked(r), why
		}
	}
	name, from, to := m, 0, 0
	hash, dir, err := rd.Files.Stat(name)
	if err == nil && hash == "" && !dir {
		if name, from, to = lines(m); name != m {
			hash, dir, err = rd.Files.Stat(name)
		}
	}
	clean, inside, rerr := rd.Files.Resolve(name)
	switch {
	case rerr == nil && !inside && (dir || hash != "" || namesFile(name)):
		return r, "it is outside the workspace"
	case err != nil || rerr != nil || hash == "" && !dir:
		if r, why, known := rd.symbol(ctx, m, limit); known {
			return r, why
		}
		if namesFile(m) {
			return r, "there is no such file"
		}
		return r, ""
	case secrets.LooksSecret(name) || secrets.LooksSecret(clean):
		return r, "it may contain secrets"
	}
	t, args, ok := rd.Tools.Showing(tool.Mention{Path: name, Dir: dir, From: from, To: to})
	raw, err := json.Marshal(args)
	if err != nil || !ok {
		return r, "this session has no tool to read it"
	}
	p := &turn.Pending{Call: llm.Call{Name: t.Spec.Name, Args: raw}, Args: raw, Tool: t}
	env := rd.Env(p)
	env.Limit, env.Out = min(env.Limit, limit), func(string) {}
	if err := p.Measure(env); err != nil {
		return r, err.Error()
	}
	if d := rd.Decide(p); d.Verdict != permission.Allow {
		return r, d.Reason
	}
	if r, err = p.Try(ctx, env); err == nil && r.Error {
		_, text, _ := strings.Cut(r.Text, "error: ")
		err = fmt.Errorf("%s", strings.TrimSpace(text))
	}
	if err != nil {
		return tool.Result{}, err.Error()
	}
	if dir {
		r.Text = "== " + clean + "/ ==\n" + r.Text
	}
	return rd.Masked(r), ""
}

// symbolNames are the names of declarations, such as Type.Method.
var symbolNames = lazyregexp.New(`^[\pL_][\pL\pN_]*(?:\.[\pL_][\pL\pN_]*){0,2}$`)

// mostPlaces is how many declarations of a name are listed.
const mostPlaces = 5

// symbol reads the declaration that a mention names; known is false if it names
// none. A name that several have is not guessed.
func (rd Reader) symbol(ctx context.Context, m string, limit int) (r tool.Result, why string, known bool) {
	if rd.Symbols == nil || !symbolNames().MatchString(m) {
		return r, "", false
	}
	last := m[strings.LastIndexByte(m, '.')+1:]
	var at []string
	for _, sp := range rd.Symbols.Find(ctx, m, 1000) {
		if sp.Name == last {
			at = append(at, fmt.Sprintf("%s:%d-%d", sp.Path, sp.Line, sp.EndLine))
		}
	}
	switch n := len(at); {
	case n == 0:
		return r, "", false
	case n > mostPlaces:
		at = append(at[:mostPlaces], fmt.Sprintf("%d more", n-mostPlaces))
	case n == 1:
		r, why = rd.mentioned(ctx, at[0], limit)
		return r, why, true
	}
	return r, "several declarations have the name; name one of them by its lines: @" + strings.Join(at, ", @"), true
}

// The end of a mention with lines: a.go:10, a.go:10-20, a.go#L10-L20.
var lineRange = lazyregexp.New(`^(.+?)(?::|#L)([0-9]{1,9})(?:-L?([0-9]{1,9}))?$`)

func lines(m string) (name string, from, to int) {
	f := lineRange().FindStringSubmatch(m)
	if f == nil {
		return m, 0, 0
	}
	from, _ = strconv.Atoi(f[2])
	if to = from; f[3] != "" {
		to, _ = strconv.Atoi(f[3])
	}
	return f[1], from, to
}

// namesFile reports whether somebody must have meant a file, so that a missing
// one is reported. @types/node and @alice are not files.
func namesFile(m string) bool {
	for _, p := range [...]string{"./", "../", "~/", "/"} {
		if strings.HasPrefix(m, p) {
			return true
		}
	}
	ext := strings.TrimPrefix(path.Ext(m), ".")
	return ext != "" && len(ext) <= 5 && strings.IndexFunc(ext, func(r rune) bool { return !unicode.IsLetter(r) }) < 0
}

// Missing returns the files that a prompt mentions and that are not there.
func Missing(prompt string, there func(name string) bool) (out []string) {
	for _, m := range mentions(prompt) {
		if name, _, _ := lines(m); namesFile(name) && !there(m) && !there(name) {
			out = append(out, name)
		}
	}
	return out
}

// mentions finds the names after an @, each once: at the beginning of a text,
// or after a blank or an opening bracket, but not in code, where an @ belongs
// to the code. A name with blanks is quoted: @"my file.txt".
func mentions(text string) []string {
	var out []string
	seen := map[string]bool{}
	code := "" // the marks that end the piece of code
	for i := 0; i < len(text); {
		switch c := text[i]; {
		case c == '`':
			n := len(text[i:]) - len(strings.TrimLeft(text[i:], "`"))
			switch mark := text[i : i+n]; {
			case code == "" && strings.Contains(text[i+n:], mark):
				code = mark
			case code == mark:
				code = ""
			}
			i += n
		case c == '@' && code == "" && (i == 0 || strings.IndexByte(" \t\n([{\"'", text[i-1]) >= 0):
			name, n := named(text[i+1:])
			if name != "" && !seen[name] {
				seen[name] = true
				out = append(out, name)
			}
			i += 1 + n
		default:
			i++
		}
	}
	return out
}

// named returns the name at the beginning of a text, and its length there.
func named(text string) (name string, n int) {
	if strings.HasPrefix(text, `"`) {
		if end := strings.IndexAny(text[1:], "\"\n"); end > 0 && text[1+end] == '"' {
			return text[1 : 1+end], end + 2
		}
	}
	n = len(text)
	if end := strings.IndexFunc(text, func(r rune) bool { return unicode.IsSpace(r) || strings.ContainsRune("`\"'<>|*@", r) }); end >= 0 {
		n = end
		if text[n] == '@' { // an address, and no path
			return "", n
		}
	}
	return strings.TrimRight(text[:n], ".,;:!?)]}"), n
}
