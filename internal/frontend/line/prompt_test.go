package line

import (
	"context"
	"io"
	"strings"
	"testing"

	"github.com/pawl-agent/pawl/internal/core/must"
	"github.com/pawl-agent/pawl/internal/frontend/history"
	"github.com/pawl-agent/pawl/internal/frontend/tui/emulator"
	"github.com/pawl-agent/pawl/internal/frontend/tui/keys"
	"github.com/pawl-agent/pawl/internal/frontend/tui/tty"
)

// desk is a prompt on an emulated terminal.
type desk struct {
	*prompt
	t        *testing.T
	terminal *emulator.Terminal
	last     string        // what the last key wrote
	reads    chan struct{} // a Line has begun
	ended    chan entered
	typist   *io.PipeWriter
}

func newDesk(t *testing.T, past ...string) *desk {
	t.Helper()
	src, w := io.Pipe()
	h, _, err := history.Open("")
	must.Do(t, err)
	d := &desk{t: t, terminal: emulator.New(80, 24), reads: make(chan struct{}, 1), ended: make(chan entered, 1), typist: w}
	d.prompt = newPrompt(src, d, &tty.Terminal{}, h, past)
	return d
}

func (d *desk) Write(b []byte) (int, error) {
	d.last += string(b)
	if strings.Contains(string(b), pasteOn) {
		d.reads <- struct{}{}
	}
	return d.terminal.Write(b)
}

// begin begins to read a line or an answer.
func (d *desk) begin(read func(string) (string, error), sign string) {
	go func() {
		text, err := read(sign)
		d.ended <- entered{text: text, err: err}
	}()
	<-d.reads
}

// send types; all of it is handled when send returns.
func (d *desk) send(typed string) {
	d.t.Helper()
	events, failed := make(chan any), make(chan error, 1)
	go func() {
		failed <- keys.Read(context.Background(), strings.NewReader(typed), events)
		close(events)
	}()
	for e := range events {
		d.mu.Lock()
		d.last = ""
		d.mu.Unlock()
		d.handle(e)
	}
	if err := <-failed; err != io.EOF {
		d.t.Fatal(err)
	}
}

func (d *desk) end(text string, err error) {
	d.t.Helper()
	if e := <-d.ended; e.text != text || e.err != err {
		d.t.Errorf("it ended with %q, %v; want %q, %v", e.text, e.err, text, err)
	}
}

// SPEC 18.3, 18.5: the keys of the screen edit the line, and it is shown where it stands.
func TestPrompt(t *testing.T) {
	long := strings.Repeat("0123456789 ", 10)
	for typed, want := range map[string]struct {
		screen, text string
		err          error
	}{
		"hellp\x7fo\r":                        {screen: "> hello", text: "hello"},
		"ad\x1b[Db\x1b[C\n":                   {screen: "> abd", text: "abd"},
		"one two\x17three\x01my \r":           {screen: "> my one three", text: "my one three"},
		"one\x1b\rtwo\x1b[A!\r":               {screen: "> o!ne\ntwo", text: "o!ne\ntwo"},
		"e\u0301\u6f22\x7f\x1b[Dx\r":          {screen: "> xe\u0301", text: "xe\u0301"},
		"\x1b[A\x1b[A\x1b[A\x1b[B\r":          {screen: "> second", text: "second"},
		"x\x12fir\r\r":                        {screen: "> first", text: "first"},
		"x\x12fir\x07\r":                      {screen: "> x", text: "x"},
		long + "\x01>\r":                      {screen: "> >" + long[:76] + "\n" + long[76:109], text: ">" + long},
		"half a prompt\x03":                   {screen: "> half a prompt", text: "half a prompt", err: ErrInterrupt},
		"a\x04\x7f\x04":                       {screen: ">", err: io.EOF},
		"\x1b[200~rm\r\x03\x1b[Ax\x1b[201~\r": {screen: "> rm\n\\x03x", text: "rm\n\x03\x1b[Ax"},
		"see \x1b[200~" + strings.Repeat("a line\n", 500) + "\x1b[201~\r": {screen: "> see [pasted text 1: 500 lines]", text: "see " + strings.Repeat("a line\n", 500)},
	} {
		d := newDesk(t, "first", "second")
		d.begin(d.Line, "> ")
		d.send(typed)
		d.end(want.text, want.err)
		if got := strings.TrimRight(d.terminal.Screen(), "\n"); got != want.screen {
			t.Errorf("%q shows\n%s\nwant\n%s", typed, got, want.screen)
		}
		if row, col, _ := d.terminal.Cursor(); row != strings.Count(want.screen, "\n")+1 || col != 0 || d.terminal.Err() != nil {
			t.Errorf("%q: the next line is written at %d, %d; %v", typed, row, col, d.terminal.Err())
		}
	}
}

// SPEC 18.5: a screen reader reads what is written: no more than the key changed.
func TestWritesWhatChanged(t *testing.T) {
	d := newDesk(t)
	d.begin(d.Line, "> ")
	for _, c := range []struct{ typed, wrote string }{
		{"some words", "s"}, {"\x7f", "\r\x1b[11C\x1b[J"}, {"\x1b[D", "\r\x1b[10C"}, {"\x1b\r", "\x1b[J\r\nd\r"}, {"\x1b[3~", "\x1b[J"}, {"\x1b[3~", ""},
	} {
		if d.send(c.typed); d.last != c.wrote {
			t.Errorf("%q wrote %q, want %q", c.typed, d.last, c.wrote)
		}
	}
	d.send("\r")
	d.end("some wor\n", nil)
}

// A text that is longer than the terminal is shown around the caret.
//
// SPEC 18.5
func TestPromptLongerThanTheTerminal(t *testing.T) {
	d := newDesk(t)
	d.begin(d.Line, "> ")
	d.send(strings.Repeat("a\x1b\r", 40) + "end")
	if got := d.terminal.Screen(); !strings.HasSuffix(strings.TrimSpace(got), "a\nend") || strings.Contains(got, ">") {
		t.Errorf("the end is shown as\n%s", got)
	}
	d.send(strings.Repeat("\x1b[A", 40))
	if got := d.terminal.Screen(); !strings.HasPrefix(got, "> a\na\n") {
		t.Errorf("the beginning is shown as\n%s", got)
	}
	d.send("\r")
	d.end(strings.Repeat("a\n", 40)+"end", nil)
}

// SPEC 10.1, 18.4: what is typed before a question is no answer to it, and belongs to the next
// line, like what is typed after the answer.
func TestTypedAhead(t *testing.T) {
	d := newDesk(t)
	d.send("early\rmo")
	d.begin(d.Answer, "sure? ")
	d.send("no\rre")
	d.end("no", nil)
	for _, want := range []entered{{text: "early"}, {text: "", err: ErrYield}} {
		d.Yield()
		d.begin(d.Line, "> ")
		d.end(want.text, want.err)
	}
	d.begin(d.Line, "> ")
	d.send("\r")
	d.end("more", nil)
	if got, want := d.terminal.Text(), "sure? no\n> early\n> more\n> more"; strings.TrimSpace(got) != want {
		t.Errorf("it shows\n%s", got)
	}
	d.send("gone\rgo")
	d.Drop()
	d.send("here\r")
	d.begin(d.Line, "> ")
	d.end("here", nil)
	d.begin(d.Line, "> ")
	d.send("half")
	must.Do(t, d.typist.Close()) // a terminal that is gone enters nothing
	d.end("", io.EOF)
}

// SPEC 21.1, 10.1: what a person has typed when something happens elsewhere is theirs: it goes
// on as typed input, whole; a line that was entered in that moment counts.
func TestYield(t *testing.T) {
	d := newDesk(t)
	d.Prefill("filled")
	d.begin(d.Line, "> ")
	d.send(" in\x1b\rhalf a sen")
	d.Yield()
	d.end("", ErrYield)
	d.begin(d.Line, "> ")
	d.mu.Lock()
	d.yields = true
	d.enter(d.in, nil)
	d.changed.Broadcast()
	d.mu.Unlock()
	d.end("filled in\nhalf a sen", nil)
}

// A line typed while a turn runs is delivered at once, as it was edited; everything else is
// kept as it was typed.
//
// SPEC 10.1
func TestHeardAhead(t *testing.T) {
	for typed, want := range map[string]struct{ took, left string }{
		"/pause\r":                     {"/pause", ""},
		"hello\r/pause\rand\r":         {"/pause", "hello and "},
		"/paux\x7fse\r":                {"/pause", ""},
		"xyz\x15/pause\r":              {"/pause", ""},
		"/pause":                       {"", "/pause"},
		"\x1b[200~/pause\r\x1b[201~\r": {"", "/pause\n "},
		"/pause\r/pause\rx":            {"/pause /pause", "x"},
	} {
		d := newDesk(t)
		var took []string
		stop := d.Ahead(func(l string) bool {
			if l == "/pause" {
				took = append(took, l)
			}
			return l == "/pause"
		})
		d.send(typed)
		stop()
		left := ""
		for _, e := range d.entry.entered {
			left += e.text + " "
		}
		left += d.entry.Text()
		if got := strings.Join(took, " "); got != want.took || left != want.left {
			t.Errorf("%q: took %q, left %q; want %+v", typed, got, left, want)
		}
	}
}
