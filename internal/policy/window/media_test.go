package window

import (
	"bytes"
	"slices"
	"strings"
	"testing"

	"github.com/pawl-agent/pawl/internal/core/event"
	"github.com/pawl-agent/pawl/internal/core/llm"
	"github.com/pawl-agent/pawl/internal/core/must"
)

// seenCodec writes what it is given, so that what a model sees can be read.
type seenCodec struct{}

func (seenCodec) Head(llm.Head) ([]byte, error) { return []byte("head;"), nil }
func (seenCodec) Tail(llm.Tail) []byte          { return []byte("tail") }
func (seenCodec) Step(ms []llm.Message, _ bool) ([]byte, error) {
	var b bytes.Buffer
	for _, m := range ms {
		for _, p := range m.Parts {
			b.WriteString(p.Text)
			b.Write(p.Data)
			if p.Result != nil {
				b.WriteString(p.Result.Text)
				for _, i := range p.Result.Images {
					b.Write(i.Data)
				}
			}
			b.WriteByte(';')
		}
	}
	return b.Bytes(), nil
}

// SPEC 17.7, 9.4: a model that takes no images is told of them in words, in every
// request; another one sees them again, and each request begins with the one before.
func TestImagesInWords(t *testing.T) {
	media := llm.Media{Type: "image/png", Data: []byte("PIXELS")}
	var c Conversation
	b := NewBuilder(&c, seenCodec{})
	apply := func(bs ...event.Body) {
		for _, body := range bs {
			c.Apply(event.Event{Body: body})
		}
	}
	var prefix []byte
	request := func() string {
		t.Helper()
		r := must.Get(b.Request(llm.Tail{}))(t)
		body := bytes.Join(r.Body[:2], nil)
		if !bytes.HasPrefix(body, prefix) {
			t.Errorf("the prefix moved:\n%s\n%s", prefix, body)
		}
		prefix = body
		return string(body)
	}
	use := func(images bool, ref string) {
		prefix = nil
		apply(event.Rebased{Info: llm.Info{Provider: "p", Model: ref, API: "x", Images: images}})
	}
	use(false, "blind")
	apply(event.Prompted{Text: "look", Images: []llm.Media{media}})
	if got := c.Unseen(); !slices.Equal(got, []llm.MediaKind{llm.Images}) {
		t.Errorf("it is not blind: %v", got)
	}
	if got := request(); strings.Contains(got, "PIXELS") || !strings.Contains(got, "image/png, 6 bytes") || !strings.Contains(got, "look") {
		t.Errorf("%s", got)
	}
	apply(event.Requested{}, asks("1", "read", `{}`), event.CallDone{ID: "1", Tool: "read", Result: llm.Result{ID: "1", Name: "read", Text: "here", Images: []llm.Media{media, media}}})
	got := request()
	if strings.Contains(got, "PIXELS") || strings.Count(got, "left out here") != 3 {
		t.Errorf("%s", got)
	}
	if r, _ := c.Aside("why?"); len(r.Messages) == 0 || len(mediaOf(r.Messages[0].Parts[0])) > 0 {
		t.Error("an aside sends the image")
	}
	use(true, "seeing")
	if got := request(); strings.Count(got, "PIXELS") != 3 || strings.Contains(got, "left out") || len(c.Unseen()) > 0 {
		t.Errorf("%s", got)
	}
	use(false, "blind")
	if got := request(); strings.Contains(got, "PIXELS") {
		t.Errorf("%s", got)
	}
}

// SPEC 17.2, 9.4: each kind of media is judged by itself, in prompts and in results; the log
// keeps the bytes, which a model that takes them is sent unchanged.
func TestDocumentsInWords(t *testing.T) {
	var c Conversation
	b := NewBuilder(&c, seenCodec{})
	request := func(info llm.Info) string {
		info.Provider, info.Model, info.API = "p", "m", "x"
		c.Apply(event.Event{Body: event.Rebased{Info: info}})
		return string(bytes.Join(must.Get(b.Request(llm.Tail{}))(t).Body[:2], nil))
	}
	c.Apply(event.Event{Body: event.Rebased{Info: llm.Info{Model: "m"}}})
	for _, body := range []event.Body{
		event.Prompted{Text: "look", Images: []llm.Media{{Type: "image/png", Data: []byte("PIXELS")}, {Type: "application/pdf", Data: []byte("PAGES")}}},
		event.Requested{}, asks("1", "play", `{}`),
		event.CallDone{ID: "1", Tool: "play", Result: llm.Result{ID: "1", Name: "play", Text: "here", Images: []llm.Media{{Type: "audio/wav", Data: []byte("SOUND")}, {Type: "image/png", Data: []byte("PIXELS")}}}},
	} {
		c.Apply(event.Event{Body: body})
	}
	for _, x := range []struct {
		info          llm.Info
		shows, leaves []string
	}{
		{llm.Info{Images: true, PDF: true, Audio: true}, []string{"PIXELS", "PAGES", "SOUND"}, []string{"left out"}},
		{llm.Info{Images: true, PDF: true}, []string{"PIXELS", "PAGES", "[an audio file (audio/wav, 5 bytes) is left out here: you take no audio files]"}, []string{"SOUND"}},
		{llm.Info{Images: true}, []string{"PIXELS", "[a PDF (application/pdf, 5 bytes) is left out here: you take no PDFs]"}, []string{"PAGES", "SOUND"}},
		{llm.Info{PDF: true, Audio: true}, []string{"PAGES", "SOUND", "[an image (image/png, 6 bytes) is left out here: you take no images]"}, []string{"PIXELS"}},
	} {
		got := request(x.info)
		if n := c.Tokens(); n < 1500+2000+32+1500 || n > 5200 {
			t.Errorf("%d tokens", n)
		}
		for _, s := range x.shows {
			if !strings.Contains(got, s) {
				t.Errorf("%+v: %q misses %q", x.info, got, s)
			}
		}
		for _, s := range x.leaves {
			if strings.Contains(got, s) {
				t.Errorf("%+v: %q has %q", x.info, got, s)
			}
		}
	}
}
