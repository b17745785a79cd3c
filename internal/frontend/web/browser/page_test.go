//go:build chromium

package browser

import (
	"fmt"
	"slices"
	"strings"
	"testing"
)

// question is what pawl asks in these tests.
var question = object{"id": "q1", "session": "s1", "calls": []object{{
	"call": "c9", "title": "edit cart.go", "reason": "It changes a file.", "rule": "edit(cart.go)", "always": true, "diff": true,
	"html": `<pre class="diff" tabindex="0" role="group" aria-label="change"><span class="l head">--- cart.go</span><span class="l hunk">@@ -1,3 +1,3 @@</span><span class="l"> func Total() int {</span><span class="l del">-	return 0</span><span class="l add">+	return sum(items)</span><span class="l"> }</span></pre>`,
}}}

// shop fills a server with a session that runs, one that waits and one that is idle.
func shop(f *fake) {
	f.add(object{
		"id": "s1", "title": "Fix the total of the cart", "status": "running", "model": "claude-sonnet", "mode": "ask", "cost": "$0.42", "phase": "2 of 3: implement",
		"window": object{"used": 84000, "size": 200000}, "queue": []object{}, "questions": []object{}, "doing": "bash: go test ./…",
		"modes": []string{"ask", "accept-edits", "plan"},
	})
	f.add(object{"id": "s2", "title": "Publish the site", "status": "waiting", "asks": "bash: git push", "cost": "$0.03", "questions": []object{}})
	f.add(object{"id": "s3", "title": "Explain the build", "status": "idle", "cost": "$0.10", "questions": []object{}})
	for _, b := range []object{
		{"id": "p1", "kind": "prompt", "html": `<div class="prompt" dir="auto">The total of the cart is always 0. Please fix it and add a test.</div><p class="dim"><time datetime="2026-11-23T10:00:00Z">10:00</time></p>`},
		{"id": "t1", "kind": "thinking", "html": `<details class="fold"><summary>Thinking</summary><div class="quiet" dir="auto">The total ignores the items.</div></details>`},
		{"id": "r1", "kind": "reply", "html": `<div class="reply"><p dir="auto">I will look at <code>cart.go</code> first.</p></div>`},
		{"id": "c1", "kind": "call", "html": `<details class="card ok"><summary><span class="sign" aria-hidden="true">✓</span><span class="words">done: </span><code><bdi>read cart.go</bdi></code> <span class="said"><bdi>48 lines</bdi></span></summary><pre tabindex="0" role="group" aria-label="output">package shop</pre></details>`},
		{"id": "c2", "kind": "call", "html": `<details class="card failed" open><summary><span class="sign" aria-hidden="true">✗</span><span class="words">failed: </span><code><bdi>bash go test ./...</bdi></code> <span class="said"><bdi>exit code 1</bdi></span></summary><pre tabindex="0" role="group" aria-label="output">--- FAIL: TestTotal (0.00s)
    cart_test.go:12: Total() = 0, want 30
FAIL</pre></details>`},
		{"id": "l1", "kind": "plan", "html": `<ul class="plan" role="list" aria-label="Plan"><li><span aria-hidden="true">☑</span><span class="words">done: </span><bdi>Find the fault</bdi></li><li><span aria-hidden="true">▸</span><span class="words">in progress: </span><bdi>Fix it</bdi></li><li><span aria-hidden="true">☐</span><span class="words">to do: </span><bdi>Add a test</bdi></li></ul>`},
	} {
		f.block("s1", b)
	}
}

// session opens the first session.
func session(t *testing.T, s size) (*fake, *tab) {
	t.Helper()
	f := newFake(t)
	shop(f)
	p := start(t, s)
	p.open(f.URL + "/#/s/s1")
	p.shows(".plan", "Add a test")
	f.wait(t, 1)
	return f, p
}

// SPEC 21.4: a code in the address is used and removed from it; a wrong one leads to the
// form to type another.
func TestPair(t *testing.T) {
	onBoth(t, func(t *testing.T, s size) {
		f := newFake(t)
		shop(f)
		f.paired = false
		p := start(t, s)
		p.open(f.URL + "/#code=OLD-CODE")
		p.shows(".wrong", "not valid any more")
		if at := value[string](p, `location.href`); strings.Contains(at, "OLD") {
			t.Errorf("the code is still in the address: %s", at)
		}
		p.golden("pair-" + s.name)
		p.picture("pair-" + s.name)
		p.write("#code", "GOOD-CODE\r")
		p.shows(".sessions a", "Publish the site")
		if stored := value[string](p, `JSON.stringify(localStorage) + document.cookie`); strings.Contains(stored, "CODE") {
			t.Errorf("the code is stored: %s", stored)
		}
		p.well()
	})
}

// SPEC 21.1: sessions that wait come first, then those that run.
func TestList(t *testing.T) {
	onBoth(t, func(t *testing.T, s size) {
		f := newFake(t)
		shop(f)
		p := start(t, s)
		p.open(f.URL)
		p.shows(".sessions a", "Publish the site")
		p.until(`document.title === '(1) pawl'`)
		p.golden("list-" + s.name)
		p.picture("list-" + s.name)
		p.press("Fix the total")
		p.shows(".plan", "Add a test")
		if s.phone {
			p.press("All sessions")
			p.shows(".sessions a", "Publish the site")
		}
		p.well()
	})
}

// SPEC 21.1: the timeline, and the text that streams into it.
func TestWatch(t *testing.T) {
	onBoth(t, func(t *testing.T, s size) {
		f, p := session(t, s)
		f.block("s1", object{"id": "r2", "kind": "reply", "open": true, "html": ""})
		for _, w := range strings.SplitAfter("The sum is missing; I add it. 😀 <b>not bold</b>", " ") {
			f.piece("s1", "r2", w)
		}
		p.shows(".streams", "I add it. 😀 <b>not bold</b>")
		p.golden("session-" + s.name)
		p.picture("session-" + s.name)
		f.block("s1", object{"id": "r2", "kind": "reply", "html": `<div class="reply"><p dir="auto">The sum is missing; I add it.</p></div>`})
		p.gone(".streams")
		for range 3 { // which are loaded beside each other
			f.send("reset", object{})
		}
		f.set("s1", object{"title": "The total is right"})
		p.until(`performance.getEntriesByType('resource').filter((e) => e.name.includes('/api/s/s1')).length >= 8`) // the state and the blocks, four times
		p.shows("main h1", "The total is right")
		p.shows(".reply", "The sum is missing; I add it.")
		p.well()
	})
}

// SPEC 21.1: a tablet, light and dark: what is on a phone and on a desktop is there, and
// nothing is wider than the screen.
func TestTablet(t *testing.T) {
	f, p := session(t, size{"tablet", 820, 1180, true})
	f.block("s1", object{"id": "r2", "kind": "reply", "html": `<div class="reply"><p dir="auto">The sum is missing; I add it.</p></div>`})
	p.shows(".block", "The sum is missing")
	p.write(".composer textarea", "Go on")
	p.press("Send")
	p.until(`document.querySelector('.composer textarea').value === ''`)
	for _, scheme := range []string{"light", "dark"} {
		p.scheme(scheme)
		p.well()
	}
	p.picture("tablet")
}

// SPEC 21.2: a prompt with an image, on a phone from its camera, delivered once, and the queue.
func TestPrompt(t *testing.T) {
	onBoth(t, func(t *testing.T, s size) {
		f, p := session(t, s)
		field := "Images"
		if s.phone {
			field = "Camera"
			p.until(`document.querySelector('[aria-label="Take a photo"]').checkVisibility()`)
		}
		p.do(chromedpFile(t, field))
		p.until(`document.querySelectorAll('.images li').length === 1`)
		p.write(".composer textarea", "This is how it looks")
		p.picture("composer-" + s.name)
		p.press("Send")
		p.until(`document.querySelector('.composer textarea').value === ''`)
		f.set("s1", object{"queue": []object{{"id": "w1", "text": "This is how it looks"}}})
		p.shows(".queue li", "This is how it looks")
		p.press("Withdraw")
		p.until(`document.querySelector('.composer textarea').value === 'This is how it looks'`)
		p.gone(".queue")
		want := []string{`/api/s/s1/prompt {"id":"unique","images":"1 of image/png","text":"This is how it looks"}`, `/api/s/s1/withdraw {"id":"w1"}`}
		if got := f.did(); !slices.Equal(got, want) {
			t.Errorf("asked %q, want %q", got, want)
		}
		p.well()
	})
}

// SPEC 21.2: a question is asked with what is to be done and what yes covers, takes no
// key from somebody who types, and is gone wherever it is answered.
func TestAnswer(t *testing.T) {
	onBoth(t, func(t *testing.T, s size) {
		f, p := session(t, s)
		p.write(".composer textarea", "half a sen")
		f.set("s1", object{"status": "waiting", "questions": []object{question}})
		p.shows(".ask h2", "Allow edit cart.go?")
		p.do(keys("tence"))
		if typed := value[string](p, `document.activeElement.value`); typed != "half a sentence" {
			t.Errorf("the question took keys: %q", typed)
		}
		p.until(`!document.querySelector('.ask .answers [aria-disabled]')`)
		p.until(`document.querySelector('#says').textContent.includes('pawl asks')`)
		p.golden("question-" + s.name)
		p.do(blur())
		p.picture("question-" + s.name)
		p.press("Allow once")
		p.gone(".ask")
		want := []string{`/api/s/s1/answer {"question":"q1","verdicts":[{"call":"c9","scope":"once"}]}`}
		if got := f.did(); !slices.Equal(got, want) {
			t.Errorf("asked %q, want %q", got, want)
		}
		// answered in the terminal
		f.set("s1", object{"status": "waiting", "questions": []object{{"id": "q2", "text": "Which port?", "options": []string{"80", "8080"}}}})
		p.shows(".ask .asked", "Which port?")
		f.set("s1", object{"status": "running", "questions": []object{}})
		p.gone(".ask")
		p.well()
	})
}

// SPEC 21.2: no, with a reason, to two calls one by one.
func TestDeny(t *testing.T) {
	onBoth(t, func(t *testing.T, s size) {
		f, p := session(t, s)
		two := object{"id": "q3", "calls": []object{{"call": "a", "title": "bash rm -r build", "preview": "rm -r build"}, {"call": "b", "title": "let this command connect to example.com", "wants": "connect to example.com", "preview": "make"}}}
		f.set("s1", object{"status": "waiting", "questions": []object{two}})
		p.press("One by one")
		p.shows(".ask h2", "rm -r build")
		p.press("Allow once")
		p.shows(".ask h2", "Allow it to connect to example.com?")
		p.press("Deny")
		p.write(".ask input", "use ninja\r")
		p.gone(".ask")
		want := []string{`/api/s/s1/answer {"question":"q3","verdicts":[{"call":"a","scope":"once"},{"call":"b","scope":"no","why":"use ninja"}]}`}
		if got := f.did(); !slices.Equal(got, want) {
			t.Errorf("asked %q, want %q", got, want)
		}
		p.well()
	})
}

// SPEC 21.2: interrupt, mode, undo, stop, and a new session.
func TestSteer(t *testing.T) {
	onBoth(t, func(t *testing.T, s size) {
		f, p := session(t, s)
		p.press("Interrupt")
		p.until(`document.querySelector('[aria-label="Interrupt"]').hidden`)
		p.press("More actions")
		p.press("Change the mode…")
		p.press("plan")
		p.gone("dialog")
		p.shows(".facts", "plan")
		p.press("More actions")
		p.press("Undo")
		p.shows("dialog", "2 files go back")
		p.golden("undo-" + s.name)
		p.picture("undo-" + s.name)
		p.press("Undo")
		p.gone("dialog")
		p.press("More actions")
		p.press("Stop the session")
		p.press("Stop")
		p.gone("dialog")
		if s.phone {
			p.press("All sessions")
		}
		p.press("New session")
		p.write("dialog textarea", "Write the tests")
		p.picture("new-" + s.name)
		p.press("Begin")
		p.shows("main h1", "Write the tests")
		want := []string{
			`/api/s/s1/interrupt {}`, `/api/s/s1/mode {"mode":"plan"}`, `/api/s/s1/undo {"hash":"h1"}`, `/api/s/s1/stop {}`,
			`/api/sessions {"folder":"/home/me/shop","text":"Write the tests"}`,
		}
		if got := f.did(); !slices.Equal(got, want) {
			t.Errorf("asked\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
		}
		p.well()
	})
}

// SPEC 21.4: a device that may only watch finds nothing to press.
func TestWatchOnly(t *testing.T) {
	f := newFake(t)
	shop(f)
	f.rights = "watch"
	f.set("s1", object{"questions": []object{question}})
	p := start(t, sizes[0])
	p.open(f.URL + "/#/s/s1")
	p.shows(".ask", "may only watch")
	p.gone(".answers")
	p.gone(".composer")
	p.well()
}

// SPEC 21.1: what happened while the connection was lost is there after it, in the
// middle of a reply too: nothing twice, nothing missed.
func TestOfflineAndBack(t *testing.T) {
	onBoth(t, func(t *testing.T, s size) {
		f, p := session(t, s)
		f.block("s1", object{"id": "r2", "kind": "reply", "open": true, "html": ""})
		f.piece("s1", "r2", "one ")
		p.shows(".streams", "one ")
		f.fall()
		p.shows(".lost", "Connection lost")
		p.picture("lost-" + s.name)
		f.piece("s1", "r2", "two ")
		f.block("s1", object{"id": "c3", "kind": "call", "html": `<p class="card ok"><code>read main.go</code></p>`})
		p.press("Now") // to no avail
		f.rise()
		p.shows(".card", "read main.go")
		f.piece("s1", "r2", "three")
		p.until(`document.querySelector('.streams').textContent === 'one two three'`)
		p.gone(".lost")
		if n := value[int](p, `[...document.querySelectorAll('.card')].filter((e) => e.textContent === 'read main.go').length`); n != 1 {
			t.Errorf("the call is shown %d times", n)
		}
	})
}

// SPEC 21.1: all tabs of a browser share one stream, and each shows what happens.
func TestSevenTabs(t *testing.T) {
	f, p := session(t, sizes[1])
	tabs := []*tab{p}
	notes := 0
	note := func() {
		f.block("s1", object{"id": fmt.Sprint("n", notes), "kind": "note", "html": fmt.Sprintf(`<div class="note"><p>note %d</p></div>`, notes)})
		notes++
	}
	for range 7 { // each takes the stream over, while something happens
		note()
		n := p.another(sizes[1])
		n.open(f.URL + "/#/s/s1")
		note()
		n.shows(".plan", "Add a test")
		note()
		tabs = append(tabs, n)
	}
	note()
	for _, n := range tabs {
		n.until(fmt.Sprintf(`[...Array(%d).keys()].every((i) => [...document.querySelectorAll('.note')].filter((e) => e.textContent === 'note ' + i).length === 1)`, notes))
		n.well()
	}
	f.wait(t, 1)
}

// SPEC 21.1: at most 400 blocks are in the page; older ones come when somebody scrolls,
// and the place that they read does not move.
func TestManyBlocks(t *testing.T) {
	onBoth(t, func(t *testing.T, s size) {
		f := newFake(t)
		shop(f)
		for i := range 1000 {
			f.blocks["s1"] = append(f.blocks["s1"], object{"id": fmt.Sprint("b", i), "kind": "note", "html": fmt.Sprintf(`<div class="note"><p>block %d</p></div>`, i)})
		}
		p := start(t, s)
		p.open(f.URL + "/#/s/s1")
		p.shows(".note", "block 999")
		p.until(`(() => { const e = document.querySelector('.scroll[role=region]'); return e.scrollHeight - e.scrollTop - e.clientHeight < 2; })()`)
		for range 6 {
			first := value[string](p, `document.querySelector('.block').textContent`)
			p.do(scroll("0"))
			p.until(fmt.Sprintf(`document.querySelector('.block').textContent !== %q`, first))
			if !value[bool](p, fmt.Sprintf(`document.querySelector('.scroll[role=region]').scrollTop > 0 && [...document.querySelectorAll('.block')].some((e) => e.textContent === %q)`, first)) {
				t.Error("the place that was read has moved")
			}
		}
		if n := value[int](p, `document.querySelectorAll('.block').length`); n > 400 {
			t.Errorf("the page has %d blocks", n)
		}
		// who reads older blocks stays there
		f.block("s1", object{"id": "late", "kind": "note", "html": `<div class="note"><p>a late one</p></div>`})
		p.press("↓ Newest")
		p.shows(".note", "a late one")
		f.block("s1", object{"id": "later", "kind": "note", "html": `<div class="note"><p>later</p></div>`})
		p.shows(".note", "later")
		p.until(`(() => { const e = document.querySelector('.scroll[role=region]'); return e.scrollHeight - e.scrollTop - e.clientHeight < 2; })()`)
		p.well()
	})
}
