package wiretest

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/pawl-agent/pawl/internal/adapter/provider"
	"github.com/pawl-agent/pawl/internal/core/fault"
	"github.com/pawl-agent/pawl/internal/core/llm"
)

// Check compares an outcome with the index and returns every difference, one per line.
func Check(c Case, o Outcome) []string {
	var k checker
	if o.Strays != "" {
		k.say("%s", o.Strays)
	}
	e := c.Expected
	// Chat Completions end with [DONE], but a finish reason is an end too, and
	// some hosts send nothing after it.
	lax := e.Complete != nil && !*e.Complete && e.Finish != "" && len(e.Error) == 0
	failed := c.Status/100 != 2 || len(e.Error) > 0 && string(e.Error) != "null" || e.Complete == nil || !*e.Complete
	switch {
	case lax && o.Reply != nil:
		k.reply(e, o)
	case failed && o.Err == nil:
		k.say("a reply where an error is due")
	case failed:
		k.failure(c, o.Err)
	case o.Err != nil:
		k.say("error: %v", o.Err)
	case o.Reply == nil:
		k.say("neither reply nor error")
	default:
		k.reply(e, o)
		if c.API == "anthropic-messages" {
			k.blocks(e, o.Reply.Message.Parts)
		}
	}
	return k.found
}

type checker struct{ found []string }

func (k *checker) say(format string, args ...any) {
	k.found = append(k.found, fmt.Sprintf(format, args...))
}

func (k *checker) equal(what, want, got string) {
	if want != got {
		k.say("%s: want %.200q, got %.200q", what, want, got)
	}
}

func (k *checker) digest(what string, want *Digest, got string) {
	switch sum := sha256.Sum256([]byte(got)); {
	case want == nil && got == "":
	case want == nil:
		k.say("%s: want none, got %.80q", what, got)
	case hex.EncodeToString(sum[:]) != want.SHA256:
		k.say("%s: want %d characters %.80q, got %d %.80q", what, want.Chars, want.First, utf8.RuneCountInString(got), got)
	}
}

// failure checks that the turn loop can act on an error and that it contains the
// provider's message.
func (k *checker) failure(c Case, err error) {
	var f *fault.Error
	if !errors.As(err, &f) {
		k.say("not a *fault.Error: %v", err)
		return
	}
	if c.Status/100 != 2 && f.Status != c.Status {
		k.say("status: want %d, got %d", c.Status, f.Status)
	}
	said := f.Error()
	if strings.ContainsFunc(said, func(r rune) bool { return r < ' ' }) {
		k.say("control characters in the message %q", said)
	}
	want := provider.Clean(messageOf(c.Expected.Error))
	if r := []rune(want); len(r) > 120 {
		want = string(r[:120])
	}
	if !strings.Contains(said, want) {
		k.say("the message lacks %q: %s", want, said)
	}
}

// messageOf returns the sentence in an error as the index contains it.
func messageOf(raw json.RawMessage) string {
	var s string
	if json.Unmarshal(raw, &s) == nil {
		return s
	}
	var o struct{ Message, Detail string }
	_ = json.Unmarshal(raw, &o) // an error of another shape has no sentence
	return o.Message + o.Detail
}

func (k *checker) reply(e Expected, o Outcome) {
	r := o.Reply
	k.equal("model", e.Model, r.Model)
	k.equal("response id", e.ResponseID, r.Response)
	k.equal("finish reason", e.Finish, r.Finish)
	if e.Refusal != "" {
		k.equal("refusal", e.Refusal, r.Refusal)
	}
	text, reasoning := written(r.Message)
	if !waives(e, "text") {
		k.digest("text", e.Text, text)
	}
	if e.Reasoning != nil || !waives(e, "reasoning") {
		k.digest("reasoning", e.Reasoning, reasoning)
	}
	if !waives(e, "deltas") {
		k.deltas(o)
	}
	k.signatures(e.Signatures, r.Message.Parts)
	k.calls(e.Calls, o)
	if len(e.Usage) > 0 && string(e.Usage) != "null" {
		if !sameJSON(e.Usage, r.UsageRaw) {
			k.say("usage: want %s, got %s", e.Usage, r.UsageRaw)
		}
	}
	if e.FinishSaid != "" && r.Stop == llm.StopRefusal {
		k.equal("what was said of the finish", e.FinishSaid, r.Refusal)
	}
}

// written returns a message's text as the model wrote it, and its native reasoning.
// Extracted thinking counts as text: the index contains the model's original text (SPEC
// 5.3 splits it later).
func written(m llm.Message) (text, reasoning string) {
	for _, p := range m.Parts {
		switch {
		case p.Kind == llm.Text:
			text += p.Text
		case p.Parsed:
			var raw string
			_ = json.Unmarshal(p.Raw, &raw) // without Raw, nothing is added and the digest differs
			text += raw
		case p.Kind == llm.Reasoning:
			reasoning += p.Text
		}
	}
	return text, reasoning
}

// deltas checks that the streamed pieces, joined, equal the reply.
func (k *checker) deltas(o Outcome) {
	k.equal("text of the deltas", o.Reply.Message.Text(), o.Text)
	reasoning := ""
	for _, p := range o.Reply.Message.Parts {
		if p.Kind == llm.Reasoning {
			reasoning += p.Text
		}
	}
	k.equal("reasoning of the deltas", reasoning, o.Reasoning)
	for i, c := range o.Reply.Message.Calls() {
		want := c.Sent
		if want == "" {
			want = string(c.Args)
		}
		if got := o.Args[i]; got != want && !sameJSON([]byte(got), []byte(want)) && !(strings.TrimSpace(got) == "" && want == "{}") {
			k.say("call %d: the deltas give %.200q, the reply has %.200q", i, got, want)
		}
	}
}

// signatures checks that the parts contain each expected signature, whole and in order.
func (k *checker) signatures(want []Digest, parts []llm.Part) {
	var have []string
	for _, p := range parts {
		var v any
		if len(p.Raw) > 0 && !p.Parsed && json.Unmarshal(p.Raw, &v) == nil {
			have = append(have, signed(v)...)
		}
	}
	for i, w := range want {
		at := slices.IndexFunc(have, func(s string) bool {
			sum := sha256.Sum256([]byte(s))
			return hex.EncodeToString(sum[:]) == w.SHA256
		})
		if at < 0 {
			k.say("signature %d of %d characters is missing or changed", i, w.Chars)
			continue
		}
		have = have[at+1:]
	}
}

// signed returns the signatures in a JSON value, under all their names.
func signed(v any) (out []string) {
	switch v := v.(type) {
	case []any:
		for _, e := range v {
			out = append(out, signed(e)...)
		}
	case map[string]any:
		for _, name := range []string{"signature", "thoughtSignature", "encrypted_content"} {
			if s, ok := v[name].(string); ok && s != "" {
				out = append(out, s)
			}
		}
		if s, ok := v["data"].(string); ok && v["type"] == "reasoning.encrypted" {
			out = append(out, s)
		}
		for _, e := range v {
			out = append(out, signed(e)...)
		}
	}
	return out
}

func (k *checker) calls(want []ExpectedCall, o Outcome) {
	got := o.Reply.Message.Calls()
	if len(want) != len(got) {
		k.say("calls: want %d, got %d", len(want), len(got))
		return
	}
	ids := map[string]bool{}
	for i, w := range want {
		c := got[i]
		k.equal("name of a call", w.Name, c.Name)
		if w.ID != nil && *w.ID != "" {
			k.equal("id of a call", *w.ID, c.ID)
		}
		if c.ID == "" || ids[c.ID] {
			k.say("call %d has no id of its own: %q", i, c.ID)
		}
		ids[c.ID] = true
		if !sameJSON(w.Args, c.Args) && !(c.Bad != "" && sameString(w.Args, c.Sent)) {
			k.say("arguments of call %d: want %.300s, got %.300s", i, w.Args, c.Args)
		}
	}
	if len(want) > 0 && o.Reply.Stop != llm.StopCalls && o.Reply.Stop != llm.StopLength && o.Reply.Stop != llm.StopRefusal {
		k.say("a reply with calls stops with %q", o.Reply.Stop)
	}
}

// sameString reports whether arguments that cannot be parsed were preserved as received.
func sameString(raw json.RawMessage, s string) bool {
	var v string
	return json.Unmarshal(raw, &v) == nil && v == s
}

// blocks checks the order of content blocks if the index has it. Replies contain no text
// blocks without text.
func (k *checker) blocks(e Expected, parts []llm.Part) {
	var got []string
	redacted := 0
	for i, p := range parts {
		switch {
		case p.Parsed && i+1 < len(parts) && parts[i+1].Kind == llm.Text: // both were cut from one
		case p.Parsed, p.Kind == llm.Text:
			got = append(got, "text")
		case p.Kind == llm.CallPart:
			got = append(got, "tool_use")
		case p.Kind == llm.Reasoning, p.Kind == llm.Opaque:
			var b struct{ Type string }
			_ = json.Unmarshal(p.Raw, &b) // a part that is not JSON has no type and shows as a difference
			got = append(got, b.Type)
			if b.Type == "redacted_thinking" {
				redacted++
			}
		}
	}
	want := slices.Clone(e.Blocks)
	if len(got) < len(want) { // text blocks without text; the text itself is compared as a whole
		text := func(kind string) bool { return kind == "text" }
		want, got = slices.DeleteFunc(want, text), slices.DeleteFunc(got, text)
	}
	k.equal("blocks", strings.Join(want, " "), strings.Join(got, " "))
	if redacted != e.Redacted {
		k.say("redacted thinking: want %d, got %d", e.Redacted, redacted)
	}
}
