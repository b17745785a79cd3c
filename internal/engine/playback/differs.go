package playback

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strings"
	"unicode/utf8"

	"github.com/pawl-agent/pawl/internal/core/llm"
)

// Compare returns where the nth request differs from another build's, "" if it does not.
func Compare(n int, other [][]byte, body []byte) string {
	switch {
	case n >= len(other):
		return fmt.Sprintf("request %d: the other build did not make it", n+1)
	case !bytes.Equal(other[n], body):
		return fmt.Sprintf("request %d, against the other build, %s", n+1, texts("its bytes", string(other[n]), string(body)))
	}
	return ""
}

// heads returns where two heads differ first, "" if they are the same.
func heads(was, is llm.Head) string {
	switch {
	case was.Model != is.Model:
		return texts("the model's name", was.Model, is.Model)
	case was.Effort != is.Effort:
		return texts("the reasoning effort", was.Effort, is.Effort)
	case was.System != is.System:
		return texts("the system prompt", was.System, is.System)
	}
	return toolsOf(was.Tools, is.Tools)
}

func toolsOf(was, is []llm.ToolSpec) string {
	names := func(ts []llm.ToolSpec) string {
		var out []string
		for _, t := range ts {
			out = append(out, t.Name)
		}
		return strings.Join(out, " ")
	}
	if a, b := names(was), names(is); a != b {
		return texts("the list of tools", a, b)
	}
	for i, t := range was {
		if t.Doc != is[i].Doc {
			return texts("the description of the tool "+t.Name, t.Doc, is[i].Doc)
		}
		if a, b := string(t.Schema), string(is[i].Schema); a != b || t.Server != is[i].Server {
			return texts("the arguments of the tool "+t.Name, a, b)
		}
	}
	return ""
}

// conversations returns where two conversations differ first, "" if they are the same.
func conversations(was, is []llm.Message) string {
	for i := range max(len(was), len(is)) {
		switch {
		case i >= len(is):
			return fmt.Sprintf("message %d (%s) is missing: %s", i+1, of(was[i]), quote(text(was[i]), 0))
		case i >= len(was):
			return fmt.Sprintf("message %d (%s) is new: %s", i+1, of(is[i]), quote(text(is[i]), 0))
		}
		if where := messages(fmt.Sprintf("message %d (%s)", i+1, of(was[i])), was[i], is[i]); where != "" {
			return where
		}
	}
	return ""
}

func messages(name string, was, is llm.Message) string {
	if was.Role != is.Role {
		return texts("the role of "+name, string(was.Role), string(is.Role))
	}
	for i := range max(len(was.Parts), len(is.Parts)) {
		switch {
		case i >= len(is.Parts):
			return fmt.Sprintf("%s: part %d is missing: %s", name, i+1, quote(partText(was.Parts[i]), 0))
		case i >= len(was.Parts):
			return fmt.Sprintf("%s: part %d is new: %s", name, i+1, quote(partText(is.Parts[i]), 0))
		}
		a, b := was.Parts[i], is.Parts[i]
		if x, y := partText(a), partText(b); x != y {
			return texts(fmt.Sprintf("%s, part %d", name, i+1), x, y)
		}
		x, _ := json.Marshal(a) // plain values
		y, _ := json.Marshal(b)
		if string(x) != string(y) {
			return texts(fmt.Sprintf("%s, the form of part %d", name, i+1), string(x), string(y))
		}
	}
	return ""
}

// of describes a message in a few words.
func of(m llm.Message) string {
	for _, p := range m.Parts {
		if p.Kind == llm.Output && p.Result != nil {
			return "result of " + p.Result.Name
		}
	}
	return string(m.Role)
}

func text(m llm.Message) string {
	var out []string
	for _, p := range m.Parts {
		out = append(out, partText(p))
	}
	return strings.Join(out, "\n")
}

// partText is what a person would read of a part.
func partText(p llm.Part) string {
	switch {
	case p.Result != nil:
		return p.Result.Text
	case p.Call != nil:
		return p.Call.Name + " " + string(p.Call.Args)
	}
	return p.Text
}

// texts returns at which byte two texts differ, and both from a little before.
func texts(name, was, is string) string {
	if was == is {
		return name + " differs in its form"
	}
	at := 0
	for at < len(was) && at < len(is) && was[at] == is[at] {
		at++
	}
	return fmt.Sprintf("%s differs at byte %d:\n  recorded   %s\n  this build %s", name, at+1, quote(was, at), quote(is, at))
}

// How much is shown of a text, before and after the place.
const before, after = 30, 70

// quote returns a text around a byte, on one line.
func quote(s string, at int) string {
	from, to := max(0, at-before), min(len(s), at+after)
	for from > 0 && !utf8.RuneStart(s[from]) {
		from--
	}
	for to < len(s) && !utf8.RuneStart(s[to]) {
		to++
	}
	out := fmt.Sprintf("%q", s[from:to])
	if from > 0 {
		out = "…" + out
	}
	if to < len(s) {
		out += "…"
	}
	return out
}
