package sessiontest_test

import (
	"os"
	"strings"
	"testing"

	"github.com/pawl-agent/pawl/internal/core/event"
	"github.com/pawl-agent/pawl/internal/core/llm/llmtest"
	"github.com/pawl-agent/pawl/internal/core/must"
	"github.com/pawl-agent/pawl/internal/engine/session/sessiontest"
)

func TestAFileIsMade(t *testing.T) {
	m := llmtest.New(llmtest.Use("write", `{"path":"a.txt","content":"x"}`), llmtest.Say("done"))
	r := sessiontest.New(t, m)
	r.Open()
	es := r.Run("make a.txt", nil)
	if made := sessiontest.Find[event.FileChanged](es); len(made) != 1 || r.File("a.txt") != "x" {
		t.Errorf("%+v", made)
	}
}

// The page of the package shows the test above, as it is.
func TestThePage(t *testing.T) {
	page := string(must.Get(os.ReadFile("sessiontest.go"))(t))
	own := string(must.Get(os.ReadFile("sessiontest_test.go"))(t))
	_, test, _ := strings.Cut(own, "\nfunc TestAFileIsMade")
	test, _, _ = strings.Cut(test, "\n}\n")
	if shown := "//\tfunc TestAFileIsMade" + strings.ReplaceAll(test, "\n", "\n//\t") + "\n//\t}\n"; !strings.Contains(page, shown) {
		t.Errorf("the page does not show\n%s", shown)
	}
	if n := strings.Count(page[:strings.Index(page, "\npackage ")], "\n"); n > 60 {
		t.Errorf("it has %d lines", n)
	}
}

// A session that is opened again knows what it spent, and its log has both turns.
func TestTakenUpAgain(t *testing.T) {
	r := sessiontest.New(t, llmtest.New(llmtest.Say("one"), llmtest.Say("two")))
	r.Open()
	r.Run("first", nil)
	want, _ := r.View().Spent()
	must.Do(t, r.Close())
	r.Open()
	if got, _ := r.View().Spent(); got.Requests != want.Requests || got.Requests != 1 {
		t.Errorf("%d requests, were %d", got.Requests, want.Requests)
	}
	r.Run("second", nil)
	if ends := sessiontest.Find[event.Ended](r.Log()); len(ends) != 2 {
		t.Errorf("%+v", ends)
	}
}
