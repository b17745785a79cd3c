package tui

import (
	"fmt"
	"math/rand/v2"
	"os"
	"regexp"
	"strconv"
	"strings"
	"sync"
	"testing"

	"github.com/pawl-agent/pawl/internal/core/llm"
	"github.com/pawl-agent/pawl/internal/core/llm/llmtest"
	"github.com/pawl-agent/pawl/internal/core/must"
	"github.com/pawl-agent/pawl/internal/frontend/tui/keys"
)

// After replies, resizes, questions and interrupts, each line that was said is in
// the terminal once and in order.
//
// SPEC 18.4
func TestScrollbackEqualsTheTranscript(t *testing.T) {
	for seed := range uint64(4) {
		t.Run(fmt.Sprint("seed ", seed), func(t *testing.T) {
			t.Parallel()
			replies := 50
			if seed > 0 {
				replies = 10
			}
			scrollback(t, rand.New(rand.NewPCG(seed, 18)), replies)
		})
	}
}

func scrollback(t *testing.T, rnd *rand.Rand, replies int) {
	var mu sync.Mutex // the model and the person take marks
	marks := 0
	mark := func() string {
		mu.Lock()
		defer mu.Unlock()
		marks++
		return fmt.Sprintf("m%04dm", marks)
	}
	says := rand.New(rand.NewPCG(rnd.Uint64(), 1)) // of the model
	filler := func() string { return strings.Repeat("word ", says.IntN(30)) }
	m := llmtest.New()
	hold := make(chan struct{})
	m.Next = func(_ int, r *llm.Request) llmtest.Turn {
		last := r.Messages[len(r.Messages)-1]
		prompt := last.Text()
		switch {
		case strings.Contains(prompt, "ask") && last.Role == llm.User:
			return llmtest.Turn{Text: mark() + " I write.\n", Calls: llmtest.Use("write", fmt.Sprintf(`{"path":"f%s.txt","content":"%s\n"}`, strconv.Itoa(says.IntN(1e9)), mark())).Calls, Piece: 7}
		case strings.Contains(prompt, "hang"):
			return llmtest.Turn{Text: mark() + " before it hangs\n\n" + mark() + " half a", Piece: 5, Wait: hold}
		case strings.Contains(prompt, "fail"):
			return llmtest.Use("bash", fmt.Sprintf(`{"command":"seq 20; echo %s; exit 1"}`, mark()))
		}
		var b strings.Builder
		for range 1 + says.IntN(8) {
			switch says.IntN(6) {
			case 0:
				fmt.Fprintf(&b, "# %s %s\n\n", mark(), filler())
			case 1:
				fmt.Fprintf(&b, "- %s %s\n- %s **bold %s**\n\n", mark(), filler(), mark(), filler())
			case 2:
				fmt.Fprintf(&b, "```go\n%s := \"%s\"\n%s\n```\n", mark(), filler(), mark())
			case 3:
				fmt.Fprintf(&b, "| a | b |\n|---|---|\n| %s | %s |\n| %s | x |\n\n", mark(), filler(), mark())
			default:
				fmt.Fprintf(&b, "%s %s`%s` 漢字 %s\n\n", mark(), filler(), mark(), filler())
			}
		}
		return llmtest.Turn{Text: b.String(), Piece: 1 + says.IntN(40)}
	}
	r := newTestScreen(t, m)
	r.live = socketFolder(t)
	r.sudden = sometimes(rnd)
	r.start("")
	turns, height := 0, 24
	var watcher *testScreen
	gone := map[int]bool{}
	for i := range replies {
		if i == replies/3 { // in the middle, with all that was before
			watcher = r.beside(rnd.IntN(2) == 0, sometimes(rnd))
			watcher.until("what was before", func(s string) bool { return len(ended.FindAllString(s, -1)) >= turns })
		}
		if watcher != nil && rnd.IntN(4) == 0 {
			watcher.resize(40+rnd.IntN(120), height)
		}
		if rnd.IntN(5) == 0 {
			r.resize(40+rnd.IntN(120), height)
		}
		switch kind := []string{"say", "say", "paste", "ask", "hang", "fail"}[rnd.IntN(6)]; kind {
		case "ask":
			r.enter("ask " + mark())
			r.see("press a key")
			if rnd.IntN(2) == 0 {
				r.resize(40+rnd.IntN(120), height)
			}
			r.press("y")
		case "paste":
			pasted := "say " + mark()
			for range rnd.IntN(30) {
				pasted += "\nof which a long one is folded"
			}
			r.send(keys.Paste{Text: pasted})
			r.press("enter")
		case "hang":
			r.enter("hang " + mark())
			r.until("half", func(s string) bool { return strings.HasSuffix(strings.TrimSpace(before(s, "\n› ")), "half a") })
			if watcher == nil { // the model waits
				gone[marks-1], gone[marks] = true, true
			}
			r.resize(40+rnd.IntN(120), height)
			r.press("esc")
		default:
			r.say(kind + " " + mark())
			if rnd.IntN(3) == 0 {
				r.see("› " + kind)
				r.resize(40+rnd.IntN(120), height)
			}
			r.press("enter")
		}
		turns++
		r.until("the end of the turn", func(s string) bool {
			return len(ended.FindAllString(s, -1)) >= turns && strings.Contains(r.screen(), "\n›\nask")
		})
	}
	once(t, r, marks, nil)
	watcher.until("all of it", func(s string) bool { return len(ended.FindAllString(s, -1)) >= turns })
	once(t, watcher, marks, gone)
	if t.Failed() {
		t.Logf("%s\n=====WATCHER\n%s", r.text(), watcher.text())
	}
	r.press("ctrl+d")
	r.left()
	watcher.see("it is over")
	watcher.left()
}

// sometimes changes a window in the worst moment: after a frame was made for it, and
// before it is written.
func sometimes(rnd *rand.Rand) func() int {
	own := rand.New(rand.NewPCG(rnd.Uint64(), 2))
	return func() int {
		if own.IntN(12) > 0 {
			return 0
		}
		return 40 + own.IntN(120)
	}
}

// once checks that each line is on the terminal once, except those of replies
// that were broken off before it came: no log keeps them.
func once(t *testing.T, r *testScreen, marks int, gone map[int]bool) {
	t.Helper()
	var got []int
	for _, f := range marked.FindAllStringSubmatch(strings.ReplaceAll(r.text(), "\n", " "), -1) {
		n, _ := strconv.Atoi(f[1])
		got = append(got, n)
	}
	seen := map[int]int{}
	for _, n := range got {
		seen[n]++
	}
	for n := 1; n <= marks; n++ {
		if seen[n] != 1 && !(gone[n] && seen[n] == 0) && !(seen[n] == 2 && strings.Contains(r.text(), "echo m"+fmt.Sprintf("%04d", n))) && !(seen[n] == 3 && strings.Contains(r.text(), "echo m"+fmt.Sprintf("%04d", n))) {
			t.Errorf("line %d is seen %d times", n, seen[n])
		}
	}
}

// socketFolder is a folder whose path is short enough for a socket.
func socketFolder(t *testing.T) string {
	t.Helper()
	dir, err := os.MkdirTemp("", "pawl-live-")
	must.Do(t, err)
	t.Cleanup(func() { _ = os.RemoveAll(dir) })
	return dir
}

var (
	marked = regexp.MustCompile(`m(\d{4})m`)
	ended  = regexp.MustCompile(`(\d|no|whole)\s+model\s+repl(y|ies)`)
)

func before(s, sep string) string {
	if i := strings.LastIndex(s, sep); i >= 0 {
		return s[:i]
	}
	return s
}
