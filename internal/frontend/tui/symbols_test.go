package tui

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/pawl-agent/pawl/internal/core/llm/llmtest"
	"github.com/pawl-agent/pawl/internal/core/must"
	"github.com/pawl-agent/pawl/internal/core/tool"
)

// finds finds what it knows, once it may.
type finds struct {
	known []tool.SymbolPosition
	asked chan string
	may   chan struct{}
}

func (f finds) Find(ctx context.Context, begin string, _ int) (out []tool.SymbolPosition) {
	f.asked <- begin
	select {
	case <-f.may:
	case <-ctx.Done():
	}
	for _, s := range f.known {
		if strings.HasPrefix(s.Name, begin) {
			out = append(out, s)
		}
	}
	return out
}

// A declaration is offered beside files once it is found; keys do not wait for
// it. What stands for it are its lines, which are attached.
//
// SPEC 10.1, 18.3
func TestSymbols(t *testing.T) {
	m := llmtest.New(llmtest.Say("all done"))
	r := newTestScreen(t, m)
	f := finds{known: []tool.SymbolPosition{
		{Path: "calc.go", Line: 2, EndLine: 3, Name: "calAdd", Kind: "function"}, {Path: "my calc.go", Line: 7, EndLine: 9, Name: "calSub", In: "Box", Kind: "method"},
	}, asked: make(chan string, 9), may: make(chan struct{})}
	r.symbols = f
	must.Do(t, os.WriteFile(filepath.Join(r.dir, "calc.go"), []byte("one\ntwo\nthree\nfour\n"), 0o644))
	r.start("")
	r.see("ask ·")
	r.say("@c") // of which too many begin
	r.see("@calc.go")
	r.say("a")
	if got := <-f.asked; got != "ca" {
		t.Fatalf("asked for %q", got)
	}
	r.say("l")
	r.see("› @cal")
	close(f.may)
	r.see("@calAdd        function  calc.go:2-3")
	r.see("@Box.calSub")
	r.press("backspace", "l", "A") // one that was found is not looked for again until the word is another
	r.until("one", func(s string) bool {
		return strings.Contains(s, "@calAdd        function  calc.go:2-3") && !strings.Contains(s, "Box")
	})
	r.press("tab")
	r.see("› @calc.go:2-3")
	r.enter("why?")
	r.rest(1)
	last := m.Requests()[0]
	said := last.Messages[len(last.Messages)-1].Text()
	if !strings.Contains(said, "two") || !strings.Contains(said, "three") || strings.Contains(said, "four") {
		t.Errorf("the model got %q", said)
	}
}
