package llm

import (
	"bytes"
	"compress/zlib"
	"encoding/binary"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/pawl-agent/pawl/internal/core/lazyregexp"
)

// This file is what pawl knows of media: the types that models take, how large they may
// be, and how many tokens they cost.

// Media is bytes with a MIME type.
type Media struct {
	Type string `json:"type"`
	Data []byte `json:"data"`
}

// MediaKind is what a model takes or not. Its words are those of the configuration.
type MediaKind string

const (
	Images MediaKind = "images"
	PDF    MediaKind = "pdf"
	Audio  MediaKind = "audio"
)

// Name returns how a text names one of the kind.
func (k MediaKind) Name() string {
	return map[MediaKind]string{Images: "image", PDF: "PDF", Audio: "audio file"}[k]
}

// The types that models take. Audio is named in the way of Gemini, the only API that gets
// its type and not its format.
var (
	imageTypes = []string{"image/png", "image/jpeg", "image/gif", "image/webp"}
	otherTypes = map[string]string{
		"application/pdf": "application/pdf", "application/x-pdf": "application/pdf",
		"audio/wav": "audio/wav", "audio/x-wav": "audio/wav", "audio/wave": "audio/wav", "audio/vnd.wave": "audio/wav",
		"audio/mp3": "audio/mp3", "audio/mpeg": "audio/mp3",
	}
)

const (
	maxImage = 10 << 20 // bytes; no provider accepts larger ones
	maxOther = 20 << 20 // as base64 within the 32 MB that Anthropic takes as a request
	maxPages = 100      // of a PDF, at Anthropic
)

// NewMedia returns content that is said to be of this type, as models are sent it, or why
// it goes to none: a provider refuses each request of a conversation that has a wrong one.
func NewMedia(typ string, data []byte) (Media, error) {
	typ, _, _ = strings.Cut(strings.ToLower(typ), ";")
	m := Media{strings.TrimSpace(typ), data}
	if t, ok := otherTypes[m.Type]; ok {
		m.Type = t
	} else if !slices.Contains(imageTypes, m.Type) {
		return m, fmt.Errorf("content of the type %.40q goes to no model: they take images (PNG, JPEG, GIF, WebP), PDF, WAV and MP3", m.Type)
	}
	name, limit := m.Kind().Name(), maxOther
	if m.Kind() == Images {
		limit = maxImage
	} else if MediaType(data) != m.Type {
		return m, fmt.Errorf("it is said to be %s, but its content is not", m.Type)
	}
	if len(data) == 0 {
		return m, fmt.Errorf("the %s is empty", name)
	}
	if len(data) > limit {
		return m, fmt.Errorf("the %s of %.1f MB is larger than models take, %d MB", name, float64(len(data))/(1<<20), limit>>20)
	}
	if n := m.pages(); n > maxPages {
		return m, fmt.Errorf("the PDF of %d pages is longer than models take, %d pages: take a part of it", n, maxPages)
	}
	return m, nil
}

// MediaType returns the type of content that models take, "" for other content.
func MediaType(data []byte) string {
	begins := func(magic string) bool { return bytes.HasPrefix(data, []byte(magic)) }
	riff := func(kind string) bool { return begins("RIFF") && len(data) >= 12 && string(data[8:12]) == kind }
	switch {
	case begins("\x89PNG\r\n\x1a\n"):
		return "image/png"
	case begins("\xff\xd8\xff"):
		return "image/jpeg"
	case begins("GIF87a"), begins("GIF89a"):
		return "image/gif"
	case riff("WEBP"):
		return "image/webp"
	case begins("%PDF-"):
		return "application/pdf"
	case riff("WAVE"):
		return "audio/wav"
	case begins("ID3"), begins("\xff\xfb"), begins("\xff\xfa"), begins("\xff\xf3"), begins("\xff\xf2"):
		return "audio/mp3"
	}
	return ""
}

// Kind returns the kind, "" for what no model takes.
func (m Media) Kind() MediaKind {
	switch {
	case strings.HasPrefix(m.Type, "image/"):
		return Images
	case m.Type == "application/pdf":
		return PDF
	case m.Type == "audio/wav", m.Type == "audio/mp3":
		return Audio
	}
	return ""
}

// Tokens estimates what a model counts for it.
func (m Media) Tokens() int {
	switch m.Kind() {
	case PDF: // Anthropic counts 1,500 to 3,000 a page, others less
		pages := m.pages()
		if pages == 0 {
			pages = 1 + len(m.Data)/50_000
		}
		return 2000 * min(pages, maxPages)
	case Audio: // Gemini counts 32 a second, OpenAI less
		second := 8000 // bytes, of an MP3 of 64 kbit/s: most have more
		if m.Type == "audio/wav" && len(m.Data) >= 32 {
			second = int(max(binary.LittleEndian.Uint32(m.Data[28:]), 8000))
		}
		return 32 * (1 + len(m.Data)/second)
	}
	return 1500 // about the cost of a full-size image
}

// TokensOf estimates what a model counts for all of these.
func TokensOf(ms []Media) (n int) {
	for _, m := range ms {
		n += m.Tokens()
	}
	return n
}

var pageObject = lazyregexp.New(`/Type\s*/Page\b`)

// pages returns the number of pages of a PDF, 0 if it does not show. Newer ones keep their
// objects in compressed streams.
func (m Media) pages() int {
	if m.Kind() != PDF {
		return 0
	}
	n := len(pageObject().FindAllIndex(m.Data, -1))
	left := int64(64 << 20) // what may be unpacked
	for rest := m.Data; left > 0; {
		_, after, ok := bytes.Cut(rest, []byte("/ObjStm"))
		if !ok {
			break
		}
		rest = after
		at := bytes.Index(after[:min(len(after), 4096)], []byte("stream")) // near, or each search would go through the whole file
		if at < 0 {
			continue
		}
		packed := after[at+len("stream"):]
		if r, err := zlib.NewReader(bytes.NewReader(bytes.TrimLeft(packed, "\r\n"))); err == nil {
			objects, _ := io.ReadAll(io.LimitReader(r, left)) // as far as it can be read
			left -= int64(len(objects))
			n += len(pageObject().FindAllIndex(objects, -1))
		}
	}
	return n
}

func (m Media) Part() Part { return Part{Kind: Image, Media: m.Type, Data: m.Data} }

func (p Part) Attached() Media { return Media{p.Media, p.Data} }

// Apart returns a result's media as parts of a message, for APIs whose results are only
// text. id is the call's in that API.
func (r Result) Apart(id string) []Part {
	what := "Images"
	parts := make([]Part, 1, len(r.Images)+1)
	for _, m := range r.Images {
		if m.Kind() != Images {
			what = "Files"
		}
		parts = append(parts, m.Part())
	}
	parts[0] = TextPart(what + " from " + r.Name + " (" + id + "):")
	return parts[:len(parts)*min(1, len(r.Images))]
}

func (i Info) Takes(k MediaKind) bool {
	return k == Images && i.Images || k == PDF && i.PDF || k == Audio && i.Audio
}

// CountMedia says how many there are of each kind: "2 images, 1 PDF"; "" for none.
func CountMedia(ms []Media) string {
	var out []string
	for _, k := range []MediaKind{Images, PDF, Audio} {
		n := 0
		for _, m := range ms {
			if m.Kind() == k {
				n++
			}
		}
		switch name := k.Name(); {
		case n == 1:
			out = append(out, "1 "+name)
		case n > 1:
			out = append(out, fmt.Sprintf("%d %ss", n, name))
		}
	}
	return strings.Join(out, ", ")
}
