package plain

import (
	"strings"
	"testing"
	"unicode/utf8"
)

// SPEC 16.11
func TestText(t *testing.T) {
	for in, want := range map[string]string{
		"plain\n\ttext":                         "plain\n\ttext",
		"a\x1b[31mred\x1b[0m b":                 "ared b",
		"\x1b]0;title\x07x":                     "x",
		"\x1b]8;;http://e\x1b\\l\x1b]8;;\x1b\\": "l",
		"\x1bP+q\x1b\\x":                        "x",
		"\x1b]52;c;aGk=\x07x":                   "x",
		"\x1b(Bx\x1bcx\x1b=x":                   "xxx",
		"\u009b31mx\u009d0;t\u009cy":            "xy",
		"a\bb\x7fc\x00":                         `a\x08b\x7fc\x00`,
		"rm -rf /\rls":                          "rm -rf /\nls",
		"a\r\nb":                                "a\nb",
		"a\u202egnp.exe\u2066":                  `a\u{202E}gnp.exe\u{2066}`,
		"zero\u200bwidth\ufeff":                 `zero\u{200B}width\u{FEFF}`,
		"tag\U000E0041":                         `tag\u{E0041}`,
		"bad\xff\xc3":                           "bad\ufffd\ufffd",
		"é漢字👩\u200d💻":                           "é漢字👩\u200d💻",
		"a\u200db":                              `a\u{200D}b`,
		"می\u200cخواهم":                         "می\u200cخواهم", // a part of the spelling
		"क्\u200dष":                             "क्\u200dष",
		"می\u200c\u200cx":                       "می\u200c\\u{200C}x", // a second one is none
		"\u200cم و\u200c 1\u200c":               "\\u{200C}م و\u200c 1\\u{200C}",
		"שלום\u200f \u202eevil":                 "שלום\\u{200F} \\u{202E}evil",
		"\x1b]0;open\nnext":                     "\nnext",
		"x\x1b":                                 "x",
		"\x1b\x1b[31mx":                         "x",
		"\x1b[3\x1b[1mx":                        "x",
		"\u2028l":                               `\u{2028}l`,
	} {
		if got := Text(in); got != want {
			t.Errorf("%q: got %q, want %q", in, got, want)
		}
	}
	if got := Line("a\nb\tc\n"); got != "a b c" {
		t.Errorf("%q", got)
	}
	long := "\x1b]0;" + strings.Repeat("t", 3*longest) + "end"
	if got := Text(long); !strings.HasSuffix(got, "end") {
		t.Error("a title that never ends swallowed the text")
	}
}

// SPEC 16.11
func TestStreamIsTheSameInPieces(t *testing.T) {
	in := "a\x1b[31mé\x1b]0;t\x1b\\b\r\n\u202ec\xf0\x9f\x98\x80\x1b]8;;x\x07y\r"
	want := Text(in)
	for size := 1; size < len(in); size++ {
		var s Stream
		streamed := ""
		for i := 0; i < len(in); i += size {
			streamed += s.Add(in[i:min(i+size, len(in))])
		}
		streamed += s.End()
		if streamed != want {
			t.Errorf("pieces of %d: %q, want %q", size, streamed, want)
		}
	}
}

// safe reports whether text keeps the promises of Text.
func safe(s string) bool {
	if !utf8.ValidString(s) {
		return false
	}
	for _, r := range s {
		if r < ' ' && r != '\n' && r != '\t' || r >= 0x7f && r < 0xa0 || r >= 0x202a && r <= 0x202e || r >= 0x2066 && r <= 0x2069 || r == 0x200b || r == 0xfeff {
			return false
		}
	}
	return true
}

// SPEC 16.11
func FuzzText(f *testing.F) {
	for _, s := range []string{"\x1b[31m", "\x1b]0;x\x07", "\u009b1m", "\xff\xfe", "a\r\nb", "\u202e", "\x1bP\x1b\\", strings.Repeat("\x1b]", 50)} {
		f.Add(s, 1)
	}
	f.Fuzz(func(t *testing.T, s string, size int) {
		whole := Text(s)
		if !safe(whole) {
			t.Fatalf("%q gave %q", s, whole)
		}
		if again := Text(whole); again != whole {
			t.Fatalf("not the same again: %q, %q", whole, again)
		}
		if l := Line(s); !safe(l) || strings.ContainsAny(l, "\n\t") {
			t.Fatalf("%q gave the line %q", s, l)
		}
		size = max(1, size%64)
		var pieces Stream
		got := ""
		for i := 0; i < len(s); i += size {
			got += pieces.Add(s[i:min(i+size, len(s))])
		}
		if got += pieces.End(); got != whole {
			t.Fatalf("in pieces of %d: %q, whole: %q", size, got, whole)
		}
	})
}

func BenchmarkText(b *testing.B) {
	s := strings.Repeat("an ordinary line of output\n", 1000)
	b.SetBytes(int64(len(s)))
	for b.Loop() {
		Text(s)
	}
}
