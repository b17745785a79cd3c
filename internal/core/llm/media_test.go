package llm_test

import (
	"bytes"
	"compress/zlib"
	"encoding/binary"
	"fmt"
	"strings"
	"testing"

	"github.com/pawl-agent/pawl/internal/core/llm"
)

// pdf returns a document of this many pages, which are packed as newer ones are or not.
func pdf(pages int, packed bool) []byte {
	objects := []byte(strings.Repeat("<< /Type /Page /Parent 1 0 R >>\n", pages) + "<< /Type /Pages >>")
	var b bytes.Buffer
	b.WriteString("%PDF-1.7\n")
	if !packed {
		b.Write(objects)
		return b.Bytes()
	}
	b.WriteString("2 0 obj << /Type /ObjStm /Filter /FlateDecode >> stream\r\n")
	z := zlib.NewWriter(&b)
	_, _ = z.Write(objects)
	_ = z.Close()
	b.WriteString("\nendstream endobj")
	return b.Bytes()
}

func wav(seconds int) []byte {
	b := append([]byte("RIFF\x00\x00\x00\x00WAVEfmt \x10\x00\x00\x00\x01\x00\x01\x00\x00\x00\x00\x00"), 0, 0, 0, 0)
	binary.LittleEndian.PutUint32(b[28:], 16000)
	return append(b, make([]byte, 16000*seconds)...)
}

// SPEC 17.2, 5.1: what models take is known by its content, costs what is documented, and
// what no provider takes is refused in words.
func TestMedia(t *testing.T) {
	for _, c := range []struct {
		typ, is string // the type that it is said to be, and what it becomes
		data    []byte
		tokens  int
		refused string
	}{
		{"image/png", "image/png", []byte("p"), 1500, ""},
		{"image/tiff", "", []byte("t"), 0, `content of the type "image/tiff" goes to no model`},
		{"image/png", "", make([]byte, 11<<20), 0, "the image of 11.0 MB is larger than models take, 10 MB"},
		{"image/png", "", nil, 0, "the image is empty"},
		{"application/pdf", "application/pdf", pdf(3, false), 6000, ""},
		{"Application/PDF; x=y", "application/pdf", pdf(100, true), 200_000, ""},
		{"application/pdf", "application/pdf", []byte("%PDF-encrypted"), 2000, ""},
		{"application/pdf", "application/pdf", append([]byte("%PDF-"), make([]byte, 120_000)...), 6000, ""},
		{"application/pdf", "", pdf(101, true), 0, "the PDF of 101 pages is longer than models take, 100 pages"},
		{"application/pdf", "", pdf(101, false), 0, "101 pages"},
		{"application/pdf", "", append([]byte("%PDF-"), make([]byte, 21<<20)...), 0, "the PDF of 21.0 MB is larger than models take, 20 MB"},
		{"application/pdf", "", []byte("PK\x03\x04"), 0, "it is said to be application/pdf, but its content is not"},
		{"audio/x-wav", "audio/wav", wav(9), 320, ""},
		{"audio/mpeg", "audio/mp3", append([]byte("ID3"), make([]byte, 80_000)...), 352, ""},
		{"audio/mpeg", "", wav(1), 0, "but its content is not"},
		{"audio/ogg", "", []byte("OggS"), 0, `"audio/ogg"`},
		{"", "", []byte("x"), 0, `content of the type ""`},
		{strings.Repeat("x", 500), "", []byte("x"), 0, fmt.Sprintf("%q goes", strings.Repeat("x", 40))},
	} {
		m, err := llm.NewMedia(c.typ, c.data)
		switch {
		case c.refused != "":
			if err == nil || !strings.Contains(err.Error(), c.refused) {
				t.Errorf("%.20s, %d bytes: %v, want %q", c.typ, len(c.data), err, c.refused)
			}
		case err != nil || m.Type != c.is || m.Tokens() != c.tokens:
			t.Errorf("%s: %s, %d tokens, %v; want %s, %d", c.typ, m.Type, m.Tokens(), err, c.is, c.tokens)
		case m.Kind() != llm.Images && llm.MediaType(c.data) != c.is:
			t.Errorf("%s: %s", c.typ, llm.MediaType(c.data))
		}
	}
	for _, not := range []string{"", "text", "RIFF", "RIFF\x00\x00\x00\x00AVI ", "\xff\xfeU\x00"} {
		if got := llm.MediaType([]byte(not)); got != "" {
			t.Errorf("%q: %s", not, got)
		}
	}
	image, doc := llm.Media{Type: "image/gif"}, llm.Media{Type: "application/pdf"}
	if got := llm.CountMedia([]llm.Media{image, doc, image}); got != "2 images, 1 PDF" {
		t.Errorf("%q", got)
	}
}

// FuzzMedia: no content breaks the look for its pages.
func FuzzMedia(f *testing.F) {
	f.Add(pdf(2, true))
	f.Add(wav(1))
	f.Fuzz(func(t *testing.T, data []byte) {
		if m, err := llm.NewMedia(llm.MediaType(data), data); err == nil && m.Tokens() <= 0 {
			t.Errorf("%d tokens", m.Tokens())
		}
	})
}

// SPEC 5.2: a file that names a stream again and again, and has one at its end, is counted in
// one pass: with a search through the rest for each, this test would not end.
func TestPagesOfAHostileFile(t *testing.T) {
	data := "%PDF-1.7\n" + strings.Repeat("/ObjStm ", 2<<20) + "stream\n"
	if m, err := llm.NewMedia("application/pdf", []byte(data)); err != nil || m.Tokens() == 0 {
		t.Error(m.Tokens(), err)
	}
}
