package main

import (
	"encoding/xml"
	"io"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/pawl-agent/pawl/internal/core/must"
	"github.com/pawl-agent/pawl/internal/frontend/tui/emulator"
)

func shown(t *testing.T, bytes ...string) []frame {
	t.Helper()
	term := emulator.New(20, 4)
	var out []frame
	for i, s := range bytes {
		if _, err := io.WriteString(term, s); err != nil || term.Err() != nil {
			t.Fatal(err, term.Err())
		}
		out = append(out, frame{time.Duration(i) * time.Second, term.Runs()})
	}
	return out
}

// A picture is XML that every reader takes; equal rows are in it once; hostile
// text is text.
func TestSVG(t *testing.T) {
	frames := shown(t, "one\r\n", "\x1b[1;92mtwo\x1b[m </text><script>x\r\n", "a  b & \u202e\r\n", "漢字 four\r\n", "five\r\n")
	text := "one\n\ntwo </text><script>"
	svg := drawSVG(frames, 20, 4, "a <title>", text)
	d := xml.NewDecoder(strings.NewReader(svg))
	for {
		tok, err := d.Token()
		if err == io.EOF {
			break
		}
		if err != nil {
			t.Fatalf("%v\n%s", err, svg)
		}
		if e, ok := tok.(xml.StartElement); ok {
			if !slices.Contains([]string{"svg", "title", "desc", "style", "rect", "defs", "g", "text", "use"}, e.Name.Local) {
				t.Errorf("an element %s", e.Name.Local)
			}
			for _, a := range e.Attr {
				if a.Name.Local == "href" && !strings.HasPrefix(a.Value, "#") {
					t.Errorf("an address %s", a.Value)
				}
			}
		}
	}
	if n := strings.Count(svg, ">one</text>"); n != 1 {
		t.Errorf("the same row is drawn %d times", n)
	}
	if !strings.Contains(svg, `class="b c92">two</text>`) || !strings.Contains(svg, `textLength="75.6">漢字 four`) {
		t.Error(svg)
	}
	if got, err := textOf(svg); err != nil || got != text {
		t.Errorf("%q, %v", got, err)
	}
}

// Values that change from run to run are not compared; everything else is.
func TestStructure(t *testing.T) {
	a := structure("● bash go test  exit code 0, 220ms, 1\n  line (/tmp/pawl-demo-123)\n\nsession\n  43437cdeac0ab7c5a4c9\n")
	b := structure("● bash go test  exit code 0, 1.4 s, 1 line (/tmp/pawl-demo-4567)\n\nsession 53437cdeac0ab7c5a4c9")
	if !slices.Equal(a, b) {
		t.Errorf("%q\n%q", a, b)
	}
	if slices.Equal(b, structure("● bash go test  exit code 1, 1.4 s, 1 line (/tmp/pawl-demo-4567)\n\nsession 53437cdeac0ab7c5a4c9")) {
		t.Error("another exit code makes no difference")
	}
}

// The README's picture is one that SVG can be read back from, and shows the whole
// demo; `go run ./bench/recording -check` compares it with a new run.
func TestPictureOfTheDemo(t *testing.T) {
	svg := must.Get(os.ReadFile("../../doc/demo.svg"))(t)
	text := must.Get(textOf(string(svg)))(t)
	for _, want := range []string{"$ pawl demo", "● bash go test", "--- FAIL: ", "● edit ", "● check: go test ./...  exit code 0", "verified: go test ./..., exit code 0", "Next:"} {
		if !strings.Contains(text, want) {
			t.Errorf("it does not show %q", want)
		}
	}
	if len(svg) > 400<<10 {
		t.Errorf("%d bytes", len(svg))
	}
}
