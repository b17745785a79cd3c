package page

import (
	"bytes"
	"encoding/json"
	"math"
	"path/filepath"
	"reflect"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"
	"unicode"

	"golang.org/x/net/html"

	"github.com/pawl-agent/pawl/internal/core/event"
	"github.com/pawl-agent/pawl/internal/core/event/eventtest"
	"github.com/pawl-agent/pawl/internal/core/fsm"
	"github.com/pawl-agent/pawl/internal/core/golden"
	"github.com/pawl-agent/pawl/internal/core/llm"
	"github.com/pawl-agent/pawl/internal/core/must"
	"github.com/pawl-agent/pawl/internal/core/tool"
	"github.com/pawl-agent/pawl/internal/frontend/chat"
	"github.com/pawl-agent/pawl/internal/frontend/plain"
)

func written(t *testing.T, bodies []event.Body) string {
	t.Helper()
	var b bytes.Buffer
	must.Do(t, Write(&b, passed(bodies), Options{Version: "test", Mask: func(s string) string { return strings.ReplaceAll(s, "key-known-late", "[key]") }}))
	return b.String()
}

func passed(bodies []event.Body) func(func(event.Event) error) error {
	return func(each func(event.Event) error) error {
		for i, b := range bodies {
			e := event.Event{Session: "s1", Seq: int64(i + 1), Time: time.Date(2026, 1, 2, 3, 4, 5+i, 0, time.UTC), Body: event.Completed(b)}
			if err := each(e); err != nil {
				return err
			}
		}
		return nil
	}
}

func said(thought, text string) event.Replied {
	return event.Replied{Cost: new(0.0123), Reply: llm.Reply{Message: llm.Message{Role: llm.Assistant, Parts: []llm.Part{{Kind: llm.Reasoning, Text: thought}, llm.TextPart(text)}}}}
}

// conversation has all that a page shows.
func conversation() []event.Body {
	one := 1
	call := func(id, name, title string, does tool.Kind) event.CallAsked {
		return event.CallAsked{ID: id, Tool: name, Title: title, Does: does, Args: json.RawMessage(`{}`)}
	}
	done := func(id, name, text string, o event.Outcome) event.CallDone {
		return event.CallDone{ID: id, Tool: name, Outcome: o, Result: llm.Result{ID: id, Name: name, Text: text}}
	}
	edit := done("c1", "edit", "edited", event.OK)
	edit.Note, edit.Diff, edit.Does = "+2 -1", "--- a/calc.go\n+++ b/calc.go\n@@ -1,3 +1,4 @@\n package calc\n \n-func Add(a, b int) int { return a - b }\n+// Add adds <a> & <b>.\n+func Add(a, b int) int { return a + b }\n", tool.Edit
	failed := done("c2", "bash", "--- FAIL: TestAdd\nexit code 1", event.Failed)
	failed.Command, failed.Exit, failed.Took, failed.Does = "go test ./...", &one, 3*time.Second, tool.Exec
	zero := 0
	return []event.Body{
		event.Opened{Dir: "/work/it", Mode: "ask"},
		event.Rebased{Why: "start", Info: llm.Info{Provider: "p", Model: "m", From: "host"}},
		event.Prompted{Text: "Fix the bug in `Add`,\nplease.", Attached: "== calc.go ==\n"},
		event.Requested{},
		said("I think about it,\nfor long.", answer),
		event.Planned{Items: []tool.Item{{Text: "read", Status: "completed"}, {Text: "mend the function", Status: "in_progress"}, {Text: "test"}}},
		call("c1", "edit", "edit calc.go", tool.Edit), event.CallStarted{ID: "c1"},
		event.FileChanged{Call: "c1", Tool: "edit", Path: "calc.go", Before: "1", After: "2"}, edit,
		call("c2", "bash", "bash go test ./...", tool.Exec), event.CallStarted{ID: "c2"}, failed,
		call("c3", "bash", "bash rm -rf /", tool.Exec), done("c3", "bash", "Not allowed, it did not run: rm -rf / destroys\nmore", event.Denied),
		event.Asked{ID: "q1", Questions: []event.Question{{Call: "c5", Tool: "write", Title: "write new.txt (new, +1)"}}},
		event.Answered{ID: "q1", Verdicts: []event.Verdict{{Call: "c5", Scope: event.Always, Why: "fine"}}},
		event.Retried{Attempt: 1, Error: event.Fault{Message: "overloaded"}, Wait: 8 * time.Second},
		event.Stuck{Level: "recovery", Rule: "repeated", Text: "a letter to the model", Evidence: []string{"read calc.go", "read calc.go"}},
		event.Warned{Text: "80 % of the budget is spent"},
		event.Phased{Number: 1, Text: "look", By: "person", Plan: []event.PhaseStep{{Text: "look"}, {Text: "mend"}}},
		event.Phased{Number: 1, Text: "look", By: "person"},
		event.Checking{Command: "go test ./..."},
		event.Checked{Command: "go test ./...", Exit: &one, Failures: 1, Output: "--- FAIL: TestAdd"},
		event.Prompted{Source: event.Autofix, Text: "It failed:\n--- FAIL: TestAdd"},
		event.Checking{Command: "go test ./..."},
		event.Checked{Command: "go test ./...", Exit: &zero},
		event.Ended{End: event.EndDone},
		event.PersonRan{Command: "git status", Output: "clean\n", Exit: &zero},
		event.Prompted{Text: "and key-known-late?"},
		event.Interrupted{By: "person"},
		event.Ended{End: event.EndProvider, Error: &event.Fault{Message: "overloaded"}},
	}
}

const answer = `# What it is

A paragraph with **bold**, *thin*, ~~gone~~ and ` + "`code`" + `, [a link](https://go.dev/doc) and a [bad one](javascript:alert(1)).
<b>no tag</b>

- one
- two
  1. nested
- [x] done

| name | count |
|---|--:|
| ` + "`a`" + ` | 1 |

` + "```go\nfunc add(a, b int) int { // <add>\n\treturn a + b\n}\n```" + `

> said by somebody
> - in a list

End.`

// SPEC 10.4: the whole page of a session.
func TestPage(t *testing.T) {
	golden.File(t, filepath.Join("testdata", "session.html.golden"), written(t, conversation()))
}

// SPEC 16.11: whatever is written wherever in a session, the page has no
// element, attribute, address or hidden character that pawl did not put there.
// A new kind of event or a new field is tried here without anybody adding it.
func TestHostileContent(t *testing.T) {
	for i, text := range eventtest.Hostile {
		t.Run(strconv.Itoa(i), func(t *testing.T) {
			var bodies []event.Body
			for _, kind := range event.Kinds() {
				b := reflect.New(reflect.TypeOf(event.New(kind))).Elem()
				if b.Kind() == reflect.Pointer {
					b = reflect.New(reflect.TypeOf(event.New(kind)).Elem()).Elem()
				}
				raw := must.Get(json.Marshal(map[string]string{"path": text, "command": text}))(t)
				eventtest.Fill(b, text, raw)
				bodies = append(bodies, b.Interface().(event.Body))
			}
			page := written(t, slices.Concat(bodies, toldOf(text), bodies))
			harmless(t, page)
			fragments := fragmentsOf(slices.Concat(bodies, toldOf(text)), text)
			harmlessPart(t, fragments)
			if i == 0 && strings.Count(fragments, "&lt;script&gt;alert(1)&lt;/script&gt;") < 40 {
				t.Error("the text is hardly in the fragments: this test sees nothing")
			}
			if i == 0 && strings.Count(page, "&lt;script&gt;alert(1)&lt;/script&gt;") < 40 {
				t.Error("the text is hardly in it: this test sees nothing")
			}
		})
	}
}

// SPEC 16.11: an address is one of a page or a mail, and ends nothing that it
// stands in.
func TestAddress(t *testing.T) {
	for in, want := range map[string]string{
		"https://go.dev/a?b=c&d=%20#e": "https://go.dev/a?b=c&d=%20#e", "HTTPS://A.example": "HTTPS://A.example", "mailto:a@b.example": "mailto:a@b.example",
		"http://a.example/\"x='y' (z)<w>": "http://a.example/%22x=%27y%27%20%28z%29%3cw%3e", "https://a.example/ä\n\\": "https://a.example/%c3%a4%0a%5c",
		"": "", "javascript:alert(1)": "", "JavaScript:x": "", "data:text/html,x": "", "file:///etc/passwd": "", "//evil.example": "", "/here": "", " https://a.example": "",
		"https": "", "java\nscript:x": "", "\x01http://a.example": "", "vbscript:http://a.example": "",
	} {
		if got := address(in); got != want {
			t.Errorf("%q: %q, want %q", in, got, want)
		}
	}
}

// toldOf is a session in which everything that a page shows is that text.
func toldOf(text string) []event.Body {
	out := conversation()
	for i, b := range out {
		v := reflect.New(reflect.TypeOf(b)).Elem()
		v.Set(reflect.ValueOf(b))
		refill(v, text)
		out[i] = v.Interface().(event.Body)
	}
	return append(out, said(text, text))
}

// elements are those of a page, with their attributes.
var elements = map[string]string{
	"html": "lang", "head": "", "meta": "charset http-equiv content name", "title": "", "style": "", "body": "", "header": "", "main": "", "footer": "", "nav": "aria-label",
	"h1": "", "h2": "id tabindex", "h3": "dir", "h4": "dir", "h5": "dir", "h6": "dir", "p": "class dir", "bdi": "", "time": "datetime", "dl": "", "div": "class dir tabindex role aria-label", "dt": "", "dd": "",
	"details": "class open", "summary": "", "ol": "", "ul": "role class aria-label", "li": "", "a": "href rel title", "section": "aria-labelledby", "span": "class aria-hidden", "code": "", "pre": "class tabindex role aria-label",
	"br": "", "hr": "", "blockquote": "", "strong": "", "em": "", "table": "", "thead": "", "tbody": "", "tr": "", "th": "scope class", "td": "class",
}

// fragmentsOf draws every block of a session each time it changes, and a diff.
func fragmentsOf(bodies []event.Body, diff string) string {
	var out strings.Builder
	var t chat.Timeline
	_ = passed(bodies)(func(e event.Event) error { // which returns only what this does
		for _, c := range t.Apply(e) {
			out.WriteString(Fragment(c.Block))
		}
		return nil
	})
	out.WriteString(DiffFragment(plain.Text(diff)))
	return out.String()
}

func harmless(t *testing.T, page string) {
	t.Helper()
	if styles, policies := harmlessPart(t, page); styles != 1 || policies != 1 {
		t.Errorf("%d styles, %d policies", styles, policies)
	}
}

func harmlessPart(t *testing.T, page string) (styles, policies int) {
	t.Helper()
	for _, r := range page {
		if r != '\n' && r != '\t' && (unicode.IsControl(r) || unicode.Is(unicode.Cf, r) || r == '\u2028' || r == '\u2029' || r == unicode.ReplacementChar && !strings.Contains(page, "bad utf8")) {
			t.Errorf("it has the character %U", r)
		}
	}
	root := must.Get(html.Parse(strings.NewReader(page)))(t)
	for n := range root.Descendants() {
		switch {
		case n.Type == html.CommentNode:
			t.Errorf("a comment: %s", n.Data)
		case n.Type != html.ElementNode:
			continue
		}
		allowed, known := elements[n.Data]
		if !known {
			t.Errorf("an element %q", n.Data)
		}
		if n.Data == "style" {
			css, _ := style()
			if styles++; n.FirstChild.Data != string(css) {
				t.Errorf("a style: %s", n.FirstChild.Data)
			}
		}
		for _, a := range n.Attr {
			if !slices.Contains(strings.Fields(allowed), a.Key) {
				t.Errorf("<%s> has an attribute %q: %s", n.Data, a.Key, a.Val)
			}
			switch a.Key {
			case "href":
				if !strings.HasPrefix(a.Val, "https://") && !strings.HasPrefix(a.Val, "http://") && !strings.HasPrefix(a.Val, "mailto:") && !strings.HasPrefix(a.Val, "#p") {
					t.Errorf("a link to %q", a.Val)
				}
			case "http-equiv":
				if policies++; a.Val != "Content-Security-Policy" {
					t.Errorf("a header %q", a.Val)
				}
			case "class", "id":
				if !regexp.MustCompile(`^[a-z0-9 ]*$`).MatchString(a.Val) {
					t.Errorf("a %s %q", a.Key, a.Val)
				}
			}
		}
	}
	return styles, policies
}

// refill sets the strings that are set, but for those that say what something is.
func refill(v reflect.Value, text string) {
	switch v.Kind() {
	case reflect.String:
		if v.Len() > 0 && v.Type() == reflect.TypeFor[string]() && len(v.String()) > 2 {
			v.SetString(text)
		}
	case reflect.Pointer:
		if !v.IsNil() {
			refill(v.Elem(), text)
		}
	case reflect.Slice:
		if v.Type() != reflect.TypeFor[json.RawMessage]() {
			for i := range v.Len() {
				refill(v.Index(i), text)
			}
		}
	case reflect.Struct:
		if v.Type() == reflect.TypeFor[time.Time]() {
			return
		}
		for i := range v.NumField() {
			if v.Type().Field(i).IsExported() {
				refill(v.Field(i), text)
			}
		}
	}
}

// SPEC 10.4: a long session is a page that a browser opens, with a count of
// what it lacks; what is cut is whole characters.
func TestLongSession(t *testing.T) {
	long := strings.Repeat("ä line of output\n", 100_000)
	many := func(each func(event.Event) error) error {
		seq := int64(0)
		put := func(b event.Body) error {
			seq++
			return each(event.Event{Session: "s", Seq: seq, Time: time.Unix(seq, 0), Body: event.Completed(b)})
		}
		if err := put(event.Prompted{Text: strings.Repeat("x", 1<<20)}); err != nil {
			return err
		}
		for i := range 300 {
			id := strconv.Itoa(i)
			if err := put(event.CallAsked{ID: id, Tool: "bash", Title: "bash run"}); err != nil {
				return err
			}
			if err := put(event.CallDone{ID: id, Tool: "bash", Outcome: event.OK, Command: "run", Result: llm.Result{ID: id, Text: long[:min(6000, 250*(i+1))*18]}}); err != nil {
				return err
			}
		}
		return nil
	}
	var b bytes.Buffer
	out := &writer{out: &b, clean: cleaner{func(s string) string { return s }}, folds: 1 << 20, entries: 1<<20 + 50_000}
	must.Do(t, many(out.event))
	if b.Len() > 1<<20+200_000 || out.left == 0 || out.left > 290 {
		t.Errorf("%d bytes, %d left out", b.Len(), out.left)
	}
	for _, want := range []string{"lines (", "bytes are left out here", "bytes) are left out here"} {
		if !strings.Contains(b.String(), want) {
			t.Errorf("it does not say %q", want)
		}
	}
	if strings.ContainsRune(b.String(), unicode.ReplacementChar) {
		i := strings.IndexRune(b.String(), unicode.ReplacementChar)
		t.Errorf("a character was cut in two: %q", b.String()[max(0, i-60):i+30])
	}
}

// SPEC 18.5: every text has a contrast of at least 4.5 to what it stands on, on
// light and on dark.
func TestContrast(t *testing.T) {
	css, _ := style()
	themes := regexp.MustCompile(`(?s):root \{(.*?)\}`).FindAllStringSubmatch(string(css), -1)
	if len(themes) != 2 {
		t.Fatalf("%d themes", len(themes))
	}
	on := map[string][]string{
		"back": {"text", "dim", "link", "good", "bad", "warn", "co"}, "prompt": {"text"}, "add-back": {"add"}, "del-back": {"del"},
		"card": {"text", "dim", "hunk", "kw", "st", "nu", "co", "ty", "fn", "add", "del", "warn", "link"},
	}
	for _, theme := range themes {
		colour := map[string]float64{}
		for _, m := range regexp.MustCompile(`--([a-z-]+): (#[0-9a-f]{6})`).FindAllStringSubmatch(theme[1], -1) {
			colour[m[1]] = luminance(t, m[2])
		}
		for back, texts := range on {
			for _, text := range texts {
				a, b := colour[back]+0.05, colour[text]+0.05
				if ratio := max(a, b) / min(a, b); ratio < 4.5 {
					t.Errorf("%s on %s: %.2f", text, back, ratio)
				}
			}
		}
	}
}

func luminance(t *testing.T, hex string) float64 {
	t.Helper()
	var sum float64
	for i, weight := range []float64{0.2126, 0.7152, 0.0722} {
		n := must.Get(strconv.ParseUint(hex[1+2*i:3+2*i], 16, 8))(t)
		c := float64(n) / 255
		if c <= 0.04045 {
			c /= 12.92
		} else {
			c = math.Pow((c+0.055)/1.055, 2.4)
		}
		sum += weight * c
	}
	return sum
}

// A path is told once where it repeats, and nothing of it is lost.
func TestPathIsTold(t *testing.T) {
	for in, want := range map[string]string{
		"a": "a", "a b c": "a, b, c", "a b a b a b c": "(a → b) × 3, c", "a a a": "(a) × 3", "i a b c a b c d": "i, (a → b → c) × 2, d", "": "",
	} {
		if got := strings.Join(told(states(in)), ", "); got != want {
			t.Errorf("%q: %q, want %q", in, got, want)
		}
	}
}

func states(in string) []fsm.State {
	var out []fsm.State
	for s := range strings.FieldsSeq(in) {
		out = append(out, fsm.State(s))
	}
	return out
}
