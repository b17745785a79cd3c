package window

import (
	"encoding/base64"
	"math/rand"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"pgregory.net/rapid"

	"github.com/pawl-agent/pawl/internal/core/tool"

	"github.com/pawl-agent/pawl/internal/core/event"
	"github.com/pawl-agent/pawl/internal/core/llm"
)

// What texts cost in the large models' vocabularies, roughly, from what is
// known of them (words of prose, digits in threes): the estimate is within a
// quarter of these.
func TestEstimate(t *testing.T) {
	for name, c := range map[string]struct {
		text   string
		tokens int
	}{
		"prose":  {strings.Repeat("The quick brown fox jumps over the lazy dog and then walks home through the rain. ", 50), 850},
		"code":   {strings.Repeat("\tif err := run(ctx, name, args...); err != nil {\n\t\treturn fmt.Errorf(\"run %s: %w\", name, err)\n\t}\n", 40), 1480},
		"digits": {strings.Repeat("1234567890", 100), 380},
		"cjk":    {strings.Repeat("漢字仮名交じり文", 50), 400},
		"spaces": {strings.Repeat(" ", 1000), 40},
		"empty":  {"", 0},
	} {
		got := Estimate{}.Count(c.text)
		if d := got - c.tokens; d > c.tokens/4+1 || -d > c.tokens/4+1 {
			t.Errorf("%s: %d tokens, want about %d", name, got, c.tokens)
		}
	}
	random := make([]byte, 3000)
	rand.New(rand.NewSource(1)).Read(random)
	if text := base64.StdEncoding.EncodeToString(random); (Estimate{}).Count(text) < len(text)*2/5 {
		t.Errorf("base64: %d tokens of %d bytes", Estimate{}.Count(text), len(text))
	}
}

// SPEC 9.2: a cut text is within its limit, keeps head and tail at lines, says
// what was left out, and has no half rune.
func TestCut(t *testing.T) {
	where := func() string { return "the whole is in /spill/1" }
	line := strings.Repeat("x", 90) + "\n"
	text := "first\n" + strings.Repeat(line, 5000) + "last"
	out, cut := Cut(text, 1000, where)
	if !cut || !strings.HasPrefix(out, "first\n") || !strings.HasSuffix(out, "\nlast") || !strings.Contains(out, "/spill/1") {
		t.Errorf("%.80q … %q", out, out[len(out)-30:])
	}
	for _, l := range strings.SplitAfter(out, "\n") {
		if !strings.HasPrefix(l, "[…") && l != "first\n" && l != "last" && l != line {
			t.Errorf("a line was cut: %q", l)
		}
	}
	one, _ := Cut("a"+strings.Repeat("é漢🙂", 1<<20), 500, where) // one line of 9 MB
	if !utf8.ValidString(one) || !strings.Contains(one, "[… this line goes on]") || !strings.Contains(one, "[the end of a line …]") {
		t.Errorf("%q", one)
	}
	if s, cut := Cut("", 50, where); s != "" || cut {
		t.Error("nothing was cut")
	}
}

func TestCutIsBounded(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		text := strings.Repeat(long(t)+rapid.SampledFrom([]string{"", "\n", "\n\n"}).Draw(t, "end"), rapid.IntRange(0, 50).Draw(t, "lines"))
		limit := rapid.IntRange(minCap, 2000).Draw(t, "limit")
		called := 0
		out, cut := Cut(text, limit, func() string { called++; return "the whole is in /s" })
		n := Estimate{}.Count(out)
		if n > limit+30 || cut != (called == 1) || !cut && out != text {
			t.Fatalf("%d tokens of %d, cut %v", n, limit, cut)
		}
		if utf8.ValidString(text) && !utf8.ValidString(out) {
			t.Fatal("a rune was cut")
		}
	})
}

// SPEC 4.11, 9.2: however often and whatever an output is cut to, head and tail
// are its own bytes, and what is said to be left out is what is missing.
func TestNarrowCountsRight(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		piece := rapid.SampledFrom([]string{"a", "word ", "\n", "\n\n", "é", "漢🙂", "\xff", "\xe2\x82", strings.Repeat("x", 300), strings.Repeat("long line ", 40) + "\n"})
		whole := strings.Join(rapid.SliceOfN(piece, 1, 400).Draw(t, "text"), "")
		g := &tool.Gap{Head: whole, Where: "the whole is in /s"}
		for _, limit := range rapid.SliceOfN(rapid.IntRange(1, 3000), 1, 4).Draw(t, "limits") {
			if Fits(g.Text(), limit) {
				continue
			}
			g = Narrow(*g, limit)
			gone, ok := strings.CutPrefix(whole, g.Head)
			if ok {
				gone, ok = strings.CutSuffix(gone, g.Tail)
			}
			if !ok || g.Bytes != int64(len(gone)) || g.Lines != int64(strings.Count(gone, "\n")) || g.Size() != int64(len(whole)) {
				t.Fatalf("of %d bytes: %+v", len(whole), g)
			}
			if g.Tail != "" && gone != "" && g.Torn != (gone[len(gone)-1] != '\n') {
				t.Fatalf("torn %v behind %q", g.Torn, gone)
			}
			if text := g.Text(); !utf8.ValidString(text) || utf8.ValidString(whole) && strings.Contains(text, "\uFFFD") || !strings.Contains(text, "bytes left out; the whole is in /s …]") {
				t.Fatalf("%q", text)
			}
		}
	})
}

// SPEC 9.2: the borders and the caps.
func TestTiers(t *testing.T) {
	for p, want := range map[float64]Tier{0: Normal, 69.9: Normal, 70: Moderate, 84.9: Moderate, 85: Aggressive, 94.9: Aggressive, 95: Critical, 140: Critical} {
		if got := (Config{}).tier(p); got != want {
			t.Errorf("%.1f %%: %s, want %s", p, got, want)
		}
	}
	for _, c := range []struct {
		tier   Tier
		window int
		want   int
	}{
		{Normal, 16384, 1000},
		{Moderate, 16384, 750},
		{Aggressive, 16384, 500},
		{Critical, 16384, 200},
		{Normal, 131072, 8000},
		{Normal, 1_000_000, 16000},
		{Critical, 1_000_000, 12207},
		{Normal, 0, 7812},
		{Normal, 100_000_000, 16000},
		{Critical, 1000, 50},
	} {
		if got := (Config{}).resultCap(c.tier, c.window); got != c.want {
			t.Errorf("%s of %d: %d, want %d", c.tier, c.window, got, c.want)
		}
	}
}

// SPEC 9.8, 9.3.
func TestUrgency(t *testing.T) {
	for p, want := range map[float64]string{0: "none", 70: "none", 70.1: "low", 85: "low", 86: "medium", 90: "medium", 91: "high", 95: "high", 95.1: "critical", 200: "critical"} {
		if got := Urgency(p); got != want {
			t.Errorf("%.1f %%: %s, want %s", p, got, want)
		}
	}
	c, at := Conversation{}, time.Unix(0, 0)
	feed(&c, &at, small(16384), event.Prompted{Text: "go"})
	if c.CallsLeft() != 32 { // 90 % of 14,336, by 400
		t.Errorf("%d calls left at the start", c.CallsLeft())
	}
	work(&c, &at, 1, 6000)
	few := c.CallsLeft()
	fill(t, &c, &at, 2)
	if few < 3 || few > 9 || c.CallsLeft() != 0 {
		t.Errorf("%d, then %d calls left", few, c.CallsLeft())
	}
}

// SPEC 9.1: one factor, from reported usage, applied when reading; an odd
// report is none.
func TestCalibration(t *testing.T) {
	var c Conversation
	c.Apply(event.Event{Body: small(16384)})
	c.Apply(event.Event{Body: event.Prompted{Text: strings.Repeat("some words ", 500)}})
	was := c.Tokens()
	reply := func(u llm.Usage) {
		c.Apply(event.Event{Body: event.Requested{}})
		c.Apply(event.Event{Body: event.Replied{Reply: llm.Reply{Usage: u}}})
	}
	for _, odd := range []llm.Usage{{}, {Known: true}, {Known: true, Input: 3}, {Known: true, Input: 1 << 40}} {
		reply(odd)
		if c.Tokens() != was {
			t.Fatalf("%+v makes %d tokens %d", odd, was, c.Tokens())
		}
	}
	reply(llm.Usage{Known: true, Input: int64(was), CacheRead: int64(was) / 4, CacheWrite: int64(was) / 4})
	if got := c.Tokens(); got < was*149/100 || got > was*151/100 {
		t.Errorf("%d tokens, want %d", got, was*3/2)
	}
	reply(llm.Usage{Known: true, Input: int64(was)})
	if got := c.Tokens(); got < was*130/100 || got > was*140/100 {
		t.Errorf("%d tokens, want about %d: one report does not turn it over", got, was*135/100)
	}
	other := small(16384)
	other.Info.Model = "n"
	c.Apply(event.Event{Body: other})
	if c.Tokens() != was {
		t.Errorf("another model: %d tokens, want %d", c.Tokens(), was)
	}
}

// SPEC 9.7: the parts are all of it.
func TestReportAddsUp(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var c Conversation
		c.Apply(event.Event{Body: event.Rebased{Head: llm.Head{System: "s", Tools: []llm.ToolSpec{{Name: "read", Doc: "reads"}}}}})
		for _, b := range history(t) {
			c.Apply(event.Event{Body: b})
		}
		sum := 0
		for _, s := range c.Report().Parts {
			sum += s.Tokens
		}
		if most := c.Tokens(); sum > most || sum < most-messageTokens*(len(c.Messages())+1) {
			t.Fatalf("the parts are %d, the whole %d", sum, most)
		}
	})
}
