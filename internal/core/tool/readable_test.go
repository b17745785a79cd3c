package tool_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/pawl-agent/pawl/internal/core/tool"
)

// What the model is told of an output is what a person would see of it on a terminal.
func TestReadable(t *testing.T) {
	frames := ""
	for i := range 2000 {
		frames += fmt.Sprintf("\r\x1b[2K\x1b[32m%d of 2000\x1b[0m", i+1)
	}
	elf := "\x7fELF\x02\x01" + strings.Repeat("\x00", 40) + "\nUsage: true\n\x01\x02libc.so\x00" + strings.Repeat("\x00\x03", 20)
	states := "[left out: 2000 earlier states of lines (tr '\\r' '\\n' shows them)]\n"
	codes := "[left out: terminal codes (cat -v shows them)]\n"
	data := func(n int) string {
		return fmt.Sprintf("[binary output, %d bytes, not shown: od -c or strings shows it]\n", n)
	}
	for name, c := range map[string]struct{ out, want string }{
		"text":                       {"a\tb\ncaf\u00e9\n", "a\tb\ncaf\u00e9\n"},
		"CRLF":                       {"a\r\nb\r\nc\r\nd\r\n", "a\r\nb\r\nc\r\nd\r\n"},
		"few returns":                {"a\rb\rc\n", "a\rb\rc\n"},
		"progress":                   {"get" + frames + "\ndone\n", "2000 of 2000\ndone\n" + strings.Replace(states, "2000", "terminal codes (cat -v shows them), 2000", 1)},
		"progress, cleared, no end":  {strings.Repeat("\r50%", 2000) + "\r   \r", "50%\n" + strings.Replace(states, "2000", "2001", 1)},
		"progress with CRLF":         {"1\r2\r3\r4\r\nend\r\n", "4\nend\r\n" + strings.Replace(states, "2000", "3", 1)},
		"colours":                    {"\x1b[1;31mred\x1b[m and \x1b]8;;http://x\x1b\\link\x1b]8;;\x07\x1b(B\n", "red and link\n" + codes},
		"codes made visible":         {"^[[1mbold^[[0m^M$\n", "^[[1mbold^[[0m^M$\n"},
		"an escape that is no code":  {"a\x1b\nb\n", "a\x1b\nb\n"},
		"binary":                     {elf, data(len(elf))},
		"zeros":                      {strings.Repeat("\x00", 900), data(900)},
		"binary between text":        {"start\n" + elf + "\nend\n", "start\n" + data(len(elf)+1) + "end\n"},
		"names that end in NUL":      {"a.go\x00b\x00c\x00", "a.go\x00b\x00c\x00"},
		"one NUL in a line of a log": {"a line with \x00 in it\n", "a line with \x00 in it\n"},
		"no NUL":                     {"\ufffd\ufffd\ufffd\x01\n", "\ufffd\ufffd\ufffd\x01\n"},
	} {
		got := tool.Ran{Output: c.out, Bytes: int64(len(c.out))}.Readable()
		if got.Output != c.want || got.Gap != nil {
			t.Errorf("%s: %q, want %q", name, got.Output, c.want)
		}
	}
	g := &tool.Gap{Head: "a\n" + elf, Tail: "\x00\x00\x01" + "\nz\x1b[0m\n", Bytes: 100, Torn: true, Where: "the whole is in f"}
	got := tool.Ran{Output: g.Text(), Gap: g, Bytes: g.Size()}.Readable()
	want := "a\n" + data(len(elf)) + "[… 100 bytes left out; the whole is in f …]\n" + data(4) + "z\n" + codes
	if got.Output != want || got.Gap.Text() != want || !strings.Contains(g.Head, elf) {
		t.Errorf("%q, want %q", got.Output, want)
	}
}
