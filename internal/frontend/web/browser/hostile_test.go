//go:build chromium

package browser

import (
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/chromedp/chromedp"
)

// hostile are texts that would run, load or hide something if a browser read them as
// markup.
var hostile = []string{
	`<script>globalThis.harm = 1</script>`,
	`<img src="/harm.png" onerror="globalThis.harm = 1">`,
	`<svg onload="globalThis.harm = 1"><a href="javascript:globalThis.harm=1"><text>x</text></a></svg>`,
	`<iframe src="/harm"></iframe><object data="/harm"></object><embed src="/harm">`,
	`<style>* { display: none } @import "/harm.css"</style><link rel="stylesheet" href="/harm.css">`,
	`<form action="/harm"><input name="a" autofocus onfocus="globalThis.harm = 1"><button>Allow once</button></form>`,
	`<a href="javascript:globalThis.harm=1" class="composer" id="says" style="position:fixed">x</a>`,
	`<div role="alertdialog" class="ask skip" style="inset:0" onclick="globalThis.harm = 1">x</div>`,
	`<template><script>globalThis.harm = 1</script></template><math><mtext><table><mglyph><style><!--</style><img src=/harm.png onerror=globalThis.harm=1>`,
	`<base href="https://evil.example/"><meta http-equiv="refresh" content="0;url=/harm">`,
	`"><img src=/harm.png onerror=globalThis.harm=1>`,
	`'-globalThis.harm-' ${globalThis.harm=1} {{globalThis.harm=1}}`,
	"\u202e\u2066evil\u0000</div></main>",
}

// SPEC 21.4: nothing that a model or a file wrote is ever markup, in any field of the
// page, and not even if the server forgot to escape it.
func TestHostile(t *testing.T) {
	f, p := session(t, sizes[0])
	for i, text := range hostile {
		f.block("s1", object{"id": fmt.Sprint("h", i), "kind": "reply", "html": `<div class="reply">` + text + `</div>`})
		f.block("s1", object{"id": fmt.Sprint("o", i), "kind": "call", "open": true, "html": "", "text": text})
		f.piece("s1", fmt.Sprint("o", i), text)
		f.set("s1", object{
			"title": text, "doing": text, "model": text, "mode": text, "phase": text, "cost": text, "asks": text, "queue": []object{{"id": text, "text": text}},
			"questions": []object{{"id": fmt.Sprint("q", i), "from": text, "why": text, "text": text, "options": []string{text}}},
		})
		p.until(fmt.Sprintf(`document.querySelector('.ask .asked')?.textContent === %q && document.querySelector('main h1').textContent === %[1]q`, text))
		f.set("s1", object{"questions": []object{{"id": fmt.Sprint("c", i), "calls": []object{{"call": text, "title": text, "reason": text, "rule": text, "preview": text, "always": true}, {"call": "b", "title": text, "html": text}}}}})
		p.until(fmt.Sprintf(`document.querySelector('.ask pre')?.textContent === %q`, text))
	}
	p.until(fmt.Sprintf(`document.querySelectorAll('.block').length >= %d`, 2*len(hostile)))
	if harm := value[bool](p, `'harm' in globalThis`); harm {
		t.Error("something of a session ran")
	}
	found := value[[]string](p, `[...document.querySelectorAll('.timeline *, .ask .body *, .facts *')].flatMap((e) => [
		...(['SCRIPT', 'IMG', 'IFRAME', 'OBJECT', 'EMBED', 'STYLE', 'LINK', 'FORM', 'INPUT', 'TEMPLATE', 'BASE', 'META', 'MATH', 'ALERTDIALOG'].includes(e.tagName.toUpperCase()) ? [e.outerHTML] : []),
		...[...e.attributes].filter((a) => a.name.startsWith('on') || a.name === 'style' || a.name === 'id' || /^\s*javascript:/i.test(a.value) && a.name === 'href').map((a) => e.tagName + ' ' + a.name),
		...(e.matches('.composer, .ask, .skip, [role=alertdialog]') ? [e.outerHTML] : [])])`)
	if len(found) > 0 {
		t.Errorf("the page has %q", found)
	}
	f.mu.Lock()
	asked := slices.Clone(f.paths)
	f.mu.Unlock()
	for _, path := range asked {
		if strings.Contains(path, "harm") {
			t.Errorf("the page asked for %s", path)
		}
	}
	p.well()
}

// SPEC 21.1: axe-core finds no serious fault. PAWL_AXE names its axe.min.js; `.ci/run`
// installs it.
func TestAxe(t *testing.T) {
	source, err := os.ReadFile(os.Getenv("PAWL_AXE"))
	if err != nil {
		t.Fatalf("PAWL_AXE has to name axe.min.js of axe-core: %v", err)
	}
	check := func(p *tab, where string) {
		t.Helper()
		p.do(chromedp.Evaluate[chromedp.Void](string(source) + "\nvoid 0"))
		faults := value[[]string](p, `axe.run().then((r) => r.violations.filter((v) => ['serious', 'critical'].includes(v.impact)).map((v) => v.id + ': ' + v.nodes.map((n) => n.target.join(' ') + ' ' + (n.any[0]?.message ?? '')).join('; ')))`)
		if len(faults) > 0 {
			t.Errorf("%s: %s", where, strings.Join(faults, "\n"))
		}
	}
	onBoth(t, func(t *testing.T, s size) {
		for _, scheme := range []string{"light", "dark"} {
			f, p := session(t, s)
			p.scheme(scheme)
			f.block("s1", object{"id": "r2", "kind": "reply", "open": true, "html": "", "text": "It streams"})
			p.shows(".streams", "It streams")
			check(p, scheme+" session")
			f.set("s1", object{"questions": []object{question}, "queue": []object{{"id": "w", "text": "wait"}}})
			p.shows(".ask", "cart.go")
			p.until(`!document.querySelector('.ask .answers [aria-disabled]')`)
			check(p, scheme+" question")
			p.press("More actions")
			check(p, scheme+" menu")
			p.press("Undo")
			p.shows("dialog", "2 files")
			check(p, scheme+" undo")
			p.press("Keep them")
			p.gone("dialog")
			shut := func() { p.press("Close"); p.gone("dialog") }
			p.press("More actions")
			p.press("How it goes")
			p.shows("dialog", "Calls by tool")
			check(p, scheme+" pictures")
			shut()
			p.press("More actions")
			p.press("Go back to a prompt")
			p.press("Add a test too")
			p.shows("dialog", "somebody changed it since")
			check(p, scheme+" rewind")
			shut()
			p.press("More actions")
			p.press("Change the model")
			p.shows("dialog", "ollama/qwen")
			check(p, scheme+" models")
			shut()
			f.set("s1", object{"status": "idle", "questions": []object{}, "plan": object{"id": "p7", "phases": 2}, "swarm": true})
			p.shows(".board", "1 of 4 merged")
			check(p, scheme+" board")
			p.press("Read and decide")
			p.shows("dialog", "Look at the cart")
			check(p, scheme+" plan")
			shut()
			p.open(f.URL)
			p.shows(".sessions a", "Publish")
			check(p, scheme+" list")
			p.press("Settings")
			p.shows("dialog", "this one")
			check(p, scheme+" settings")
			f.mu.Lock()
			f.paired = false
			f.mu.Unlock()
			p.open(f.URL + "/?again")
			p.shows("h1", "Pair this device")
			check(p, scheme+" pairing")
		}
	})
}

// SPEC 21.1: all that the page needs is 150 KB, is loaded in one step, and comes from
// pawl.
func TestAssets(t *testing.T) {
	entries, err := os.ReadDir("../assets")
	if err != nil {
		t.Fatal(err)
	}
	index, err := os.ReadFile("../assets/index.html")
	if err != nil {
		t.Fatal(err)
	}
	blocks, err := os.ReadFile("../../page/blocks.css")
	if err != nil {
		t.Fatal(err)
	}
	size := len(blocks)
	for _, e := range entries {
		raw, err := os.ReadFile("../assets/" + e.Name())
		if err != nil {
			t.Fatal(err)
		}
		size += len(raw)
		if strings.HasSuffix(e.Name(), ".js") && e.Name() != "sw.js" && !strings.Contains(string(index), `"/`+e.Name()+`"`) {
			t.Errorf("index.html does not load %s at once", e.Name())
		}
		for _, bad := range []string{"DOMParser", "innerHTML", "outerHTML", "insertAdjacentHTML", "document.write", "eval(", "new Function", "cssText", "style="} {
			if strings.Contains(string(raw), bad) {
				t.Errorf("%s has %s", e.Name(), bad)
			}
		}
	}
	if size > 150<<10 {
		t.Errorf("the page has %d bytes", size)
	}
	t.Logf("%d bytes in %d files", size, len(entries))
}
