// Package redact removes the contents of secret-looking files from a session's
// events, for sessions that leave the machine (SPEC 16.7). Keys in other texts
// are masked when events are recorded (policy/secrets).
package redact

import (
	"encoding/json"
	"slices"
	"strings"

	"github.com/pawl-agent/pawl/internal/core/event"
	"github.com/pawl-agent/pawl/internal/core/llm"
	"github.com/pawl-agent/pawl/internal/core/tool"
	"github.com/pawl-agent/pawl/internal/policy/secrets"
)

// LeftOut replaces the contents of a secret-looking file.
const LeftOut = "[left out: a secret-looking file]"

// Events returns a function that redacts the events of one session: it takes
// them in order, and returns copies without the contents of secret-looking files
// in a call's arguments, the question about it, its result and its diff. A file
// counts if its name looks secret: in the arguments of a tool, in what the log
// records as shown or changed, or in the result itself (a search's hits, a diff's
// headers). Output of a shell command without such a name is not recognised, and
// neither is text that a person or the model wrote.
func Events() func(event.Event) event.Event {
	r := &redactor{calls: map[string]bool{}}
	return r.event
}

// redactor knows which open calls are about secret-looking files. Ids are
// unique only among open calls.
type redactor struct{ calls map[string]bool }

func (r *redactor) event(e event.Event) event.Event {
	e.Body = r.body(e.Body)
	return e
}

func (r *redactor) body(body event.Body) event.Body {
	switch b := body.(type) {
	case event.Replied:
		b.Reply.Message.Parts = r.parts(b.Reply.Message.Parts)
		return b
	case event.CallAsked:
		return r.asked(b)
	case event.FileSeen:
		for _, s := range b.Spans {
			r.mark(b.Call, s.Path)
		}
	case event.FileChanged:
		r.mark(b.Call, b.Path)
	case event.Writing:
		for _, f := range b.Files {
			r.mark(b.Call, f.Path)
		}
	case event.Asked:
		b.Questions = slices.Clone(b.Questions)
		for i, q := range b.Questions {
			if r.calls[q.Call] || secretText(q.Preview) {
				b.Questions[i].Preview = LeftOut
			}
		}
		return b
	case event.CallDone:
		return r.done(b)
	case event.PersonRan:
		b.Output = prose(b.Output)
		return b
	case event.Checked:
		b.Output, b.Failed = prose(b.Output), failures(b.Failed)
		return b
	case event.Baseline:
		b.Failed = failures(b.Failed)
		return b
	case event.Prompted:
		if b.Source == event.Autofix { // it quotes what a check printed
			b.Text = prose(b.Text)
		}
		return b
	case event.Stuck:
		b.Evidence = slices.Clone(b.Evidence)
		for i, s := range b.Evidence {
			b.Evidence[i] = prose(s)
		}
		return b
	case event.Compacted:
		return r.compacted(b)
	}
	return body
}

func (r *redactor) asked(b event.CallAsked) event.CallAsked {
	if secretArgs(b.Args) || secretText(b.Sent) {
		r.calls[b.ID] = true
		b.Args, b.Sent = args(b.Args), ""
		about := tool.AboutCall(b.Tool, b.Args)
		b.Target, b.Title = about.Target, about.Title
	}
	return b
}

func (r *redactor) done(b event.CallDone) event.CallDone {
	if r.calls[b.ID] || secretText(b.Result.Text) || secretText(b.Diff) {
		b.Result.Text, b.Result.Images, b.Diff = LeftOut, nil, ""
	}
	delete(r.calls, b.ID)
	return b
}

func (r *redactor) compacted(b event.Compacted) event.Compacted {
	b.Summary, b.Start = prose(b.Summary), slices.Clone(b.Start)
	for i, m := range b.Start {
		b.Start[i].Parts = r.parts(m.Parts)
		for k, p := range b.Start[i].Parts {
			b.Start[i].Parts[k].Text = prose(p.Text)
		}
	}
	return b
}

func (r *redactor) mark(call, path string) {
	if call != "" && secrets.LooksSecret(path) {
		r.calls[call] = true
	}
}

func (r *redactor) parts(parts []llm.Part) []llm.Part {
	parts = slices.Clone(parts)
	for i, p := range parts {
		if p.Call != nil && (secretArgs(p.Call.Args) || secretText(p.Call.Sent)) {
			c := *p.Call
			r.calls[c.ID] = true
			c.Args, c.Sent = args(c.Args), ""
			parts[i].Call, parts[i].Raw = &c, nil
		}
		if p.Result != nil && secretText(p.Result.Text) {
			res := *p.Result
			res.Text, res.Images = LeftOut, nil
			parts[i].Result = &res
		}
	}
	return parts
}

// pathArgs are the places where tools take paths.
type pathArgs struct {
	Path    string     `json:"path,omitempty"`
	Files   []pathArgs `json:"files,omitempty"`
	Edits   []pathArgs `json:"edits,omitempty"`
	Patch   string     `json:"patch,omitempty"`
	LeftOut string     `json:"left_out,omitempty"`
}

func (n pathArgs) secret() bool {
	return n.Path != "" && secrets.LooksSecret(n.Path) || secretText(n.Patch) ||
		slices.ContainsFunc(n.Files, pathArgs.secret) || slices.ContainsFunc(n.Edits, pathArgs.secret)
}

func secretArgs(raw json.RawMessage) bool {
	var n pathArgs
	_ = json.Unmarshal(raw, &n) // arguments of another shape name no file
	return n.secret()
}

// args returns only the paths of a call's arguments.
func args(raw json.RawMessage) json.RawMessage {
	var n pathArgs
	_ = json.Unmarshal(raw, &n) // as above
	n.Patch, n.LeftOut = "", LeftOut
	out, err := json.Marshal(n)
	if err != nil {
		return json.RawMessage(`{}`)
	}
	return out
}

// secretText reports whether a text shows lines of a secret-looking file, below
// a name in the form of a diff, a patch, a read or a search.
func secretText(text string) bool {
	for l := range strings.Lines(text) {
		if p := shownPath(strings.TrimRight(l, "\r\n")); p != "" && secrets.LooksSecret(p) {
			return true
		}
	}
	return false
}

// prose returns a text from several sources, or LeftOut if it shows lines of a
// secret-looking file.
func prose(text string) string {
	if secretText(text) {
		return LeftOut
	}
	return text
}

// shownPath returns the path of the file that a line is a heading of or a search's
// hit in; "" if there is none.
func shownPath(l string) string {
	for _, head := range [...]string{
		"+++ b/", "--- a/", "+++ ", "--- ",
		"*** Add File: ", "*** Update File: ", "*** Delete File: ", "*** Move to: ",
	} {
		if p, ok := strings.CutPrefix(l, head); ok {
			p, _, _ = strings.Cut(p, "\t") // diff's time
			return p
		}
	}
	if p, ok := strings.CutPrefix(l, "== "); ok {
		p, _, _ = strings.Cut(p, " (")
		return p
	}
	// path:12:text, and path-12-text beside a hit.
	for i := 1; i < len(l); i++ {
		if sep := l[i]; sep == ':' || sep == '-' {
			n := i + 1
			for n < len(l) && l[n] >= '0' && l[n] <= '9' {
				n++
			}
			if n > i+1 && n < len(l) && l[n] == sep {
				return l[:i]
			}
		}
	}
	return ""
}

// failures redacts what failures say.
func failures(xs []event.Failure) []event.Failure {
	xs = slices.Clone(xs)
	for i := range xs {
		xs[i].Cause = prose(xs[i].Cause)
	}
	return xs
}
