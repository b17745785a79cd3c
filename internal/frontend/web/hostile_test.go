package web

import (
	"bytes"
	"context"
	"encoding/json"
	"io/fs"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"
	"unicode"

	"golang.org/x/net/html"

	"github.com/pawl-agent/pawl/internal/adapter/store"
	"github.com/pawl-agent/pawl/internal/core/event"
	"github.com/pawl-agent/pawl/internal/core/event/eventtest"
	"github.com/pawl-agent/pawl/internal/core/llm/llmtest"
	"github.com/pawl-agent/pawl/internal/core/must"
	"github.com/pawl-agent/pawl/internal/frontend/chat"
	team "github.com/pawl-agent/pawl/internal/team/swarm"
)

// hostileSwarm is a swarm whose report is all one text.
type hostileSwarm struct {
	Swarms
	text string
}

func (h hostileSwarm) Is(context.Context, string) bool { return true }

func (h hostileSwarm) Report(context.Context, string) (r team.Report, again string, err error) {
	eventtest.Fill(reflect.ValueOf(&r).Elem(), h.text, json.RawMessage(`{}`))
	return r, h.text, nil
}

func (h hostileSwarm) Diff(context.Context, string, string) (string, error) { return h.text, nil }

// SPEC 21.4: whatever a model, a file, a tool or a server wrote in whatever field of whatever
// event, what leaves the server is JSON whose texts are shown as on the screen, and whose HTML
// has only what the page takes. /api/s/{id}/log is for programs, which get what is stored.
func TestHostileEverywhere(t *testing.T) {
	takes := taken(t)
	for i, text := range eventtest.Hostile {
		r := newTestServer(t, llmtest.New())
		r.s.cfg.Swarms, r.s.sessions.cfg.Swarms = hostileSwarm{text: text}, hostileSwarm{text: text}
		r.s.cfg.Models = func(context.Context) []UsableModel { return []UsableModel{{text, text, text}} }
		raw := must.Get(json.Marshal(map[string]string{"path": text, "command": text}))(t)
		var ds []event.Draft
		for _, kind := range event.Kinds() {
			b := reflect.New(reflect.TypeOf(event.New(kind))).Elem()
			if b.Kind() == reflect.Pointer {
				b = reflect.New(reflect.TypeOf(event.New(kind)).Elem()).Elem()
			}
			eventtest.Fill(b, text, raw)
			ds = append(ds, event.Draft{Body: b.Interface().(event.Body)})
		}
		at := "stored" // a session that nobody has open
		kept := slices.DeleteFunc(slices.Clone(ds), func(d event.Draft) bool { return store.Ephemeral(d.Body.Kind()) })
		must.Done(t)(r.s.cfg.Store.Append(t.Context(), at, 0, kept...))
		must.Done(t)(r.s.cfg.Store.Append(t.Context(), "folder", 0, event.Draft{Body: event.Opened{Dir: "/" + text}}))
		// Live, each time that it changes.
		l := r.s.sessions.of("s1")
		l.tell = func(string, string, string) {}
		var timeline chat.Timeline
		for seq, d := range ds {
			for _, c := range timeline.Apply(event.Event{Session: "s1", Seq: int64(seq + 1), Time: time.Now(), Body: event.Completed(d.Body)}) {
				l.change(c, true)
			}
			l.publishState()
		}
		_, cookie, err := r.devices.pair(r.devices.NewCode(Steer), text)
		must.Do(t, err)
		cookie = r.s.cookie + "=" + cookie
		shown := 0
		for _, c := range routes() {
			if c.method != "GET" || c.path == "/api/events" || c.program {
				continue
			}
			for _, id := range []string{at, "s1"} {
				_, answer, _ := r.ask(cookie, "GET", strings.ReplaceAll(c.path, "{id}", id), nil, nil)
				shown += takes.check(t, c.path, answer)
			}
		}
		frames, _, _, _, _ := r.s.hub.since(0)
		for _, f := range frames {
			shown += takes.check(t, f.kind, string(f.data))
		}
		if folders := got[Hello](r, cookie, "/api/hello").Folders; r.post(cookie, "/api/sessions", Want{Folder: folders[1]}) != 200 || r.started[len(r.started)-1].Dir != "/"+text && !strings.Contains(text, "bad utf8") {
			t.Errorf("%q: a session begins in %+v", folders, r.started[len(r.started)-1])
		}
		if shown < 100 {
			t.Errorf("%d: the text is hardly anywhere: %d", i, shown)
		}
	}
}

// taken are the elements and attributes that the page makes of HTML (assets/fragment.js).
type markup struct{ elements, attributes []string }

func taken(t *testing.T) markup {
	raw := must.Get(fs.ReadFile(assets(), "fragment.js"))(t)
	of := func(name string) (out []string) {
		list := regexp.MustCompile(`const ` + name + ` = new Set\(\[(.*)\]\)`).FindSubmatch(raw)
		for _, m := range regexp.MustCompile(`'([^']+)'`).FindAllSubmatch(list[1], -1) {
			out = append(out, string(m[1]))
		}
		return out
	}
	return markup{of("elements"), append(of("attributes"), "class", "href", "role", "rel")}
}

// check checks all strings of a JSON text but names, which are only compared, and returns how
// many there are.
func (m markup) check(t *testing.T, where, text string) (n int) {
	t.Helper()
	d := json.NewDecoder(strings.NewReader(text))
	var v any
	if err := d.Decode(&v); err != nil {
		t.Errorf("%s is no JSON: %v: %s", where, err, text)
		return 0
	}
	var walk func(key string, v any)
	walk = func(key string, v any) {
		switch v := v.(type) {
		case map[string]any:
			for k, x := range v {
				walk(k, x)
			}
		case []any:
			for _, x := range v {
				walk(key, x)
			}
		case string:
			if n++; !slices.Contains([]string{"id", "call", "session", "ref", "model"}, key) {
				m.text(t, where+" "+key, v)
			}
			if key == "html" {
				m.html(t, where, v)
			}
		}
	}
	walk("", v)
	return n
}

func (m markup) text(t *testing.T, where, text string) {
	t.Helper()
	for _, c := range text {
		if c != '\n' && c != '\t' && (unicode.IsControl(c) || unicode.Is(unicode.Cf, c) || c == '\u2028' || c == '\u2029') {
			t.Errorf("%s has the character %U: %q", where, c, text)
			return
		}
	}
}

func (m markup) html(t *testing.T, where, text string) {
	t.Helper()
	for z := html.NewTokenizer(bytes.NewReader([]byte(text))); z.Next() != html.ErrorToken; {
		k := z.Token()
		switch k.Type {
		case html.CommentToken, html.DoctypeToken:
			t.Errorf("%s has %s", where, k)
		case html.StartTagToken, html.SelfClosingTagToken:
			if !slices.Contains(m.elements, k.Data) {
				t.Errorf("%s has the element %s", where, k)
			}
			for _, a := range k.Attr {
				if !slices.Contains(m.attributes, a.Key) || a.Key == "href" && !regexp.MustCompile(`^(https?://|mailto:)`).MatchString(a.Val) {
					t.Errorf("%s has the attribute %s", where, k)
				}
			}
		}
	}
}
