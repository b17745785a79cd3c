//go:build chromium

// Package browser tests the page of `pawl serve` in a real browser. It is a module of its
// own, so that the product does not depend on what drives the browser.
package browser

import (
	"context"
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/chromedp/cdproto/accessibility"
	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/cdproto/page"
	"github.com/chromedp/chromedp"
)

var (
	update   = flag.Bool("update", false, "write the golden files")
	patience = flag.Duration("patience", 2*time.Minute, "how long a test waits for what it expects")
)

// size is a screen. The tests do everything on both.
type size struct {
	name          string
	width, height int64
	phone         bool
}

var sizes = []size{{"phone", 360, 740, true}, {"desktop", 1280, 800, false}}

// onBoth runs a test on both screens.
func onBoth(t *testing.T, f func(t *testing.T, s size)) {
	for _, s := range sizes {
		t.Run(s.name, func(t *testing.T) { f(t, s) })
	}
}

func program(t *testing.T) string {
	for _, name := range []string{os.Getenv("PAWL_CHROMIUM"), "chromium"} {
		if path, err := exec.LookPath(name); name != "" && err == nil {
			return path
		}
	}
	t.Fatal("no chromium in PATH: apt-get install chromium")
	return ""
}

// tab is a page in a browser.
type tab struct {
	t        *testing.T
	ctx      context.Context
	messages func() []string // what the browser's console said
}

// start starts a browser with one tab. Whatever its console says fails the test, unless
// the test reads it itself.
func start(t *testing.T, s size) *tab {
	t.Helper()
	options := append(chromedp.DefaultExecAllocatorOptions[:],
		chromedp.ExecPath(program(t)), chromedp.NoSandbox, chromedp.DisableGPU, chromedp.UserDataDir(t.TempDir()),
		chromedp.Flag("disable-quic", true), chromedp.Flag("disable-component-update", true), chromedp.Flag("hide-scrollbars", true))
	ctx, cancel := chromedp.NewExecAllocator(context.WithoutCancel(t.Context()), options...)
	t.Cleanup(cancel)
	ctx, shut := chromedp.NewContext(ctx)
	t.Cleanup(func() {
		_ = chromedp.Cancel(ctx) // waits for the browser's end, so that its folder can be removed
		shut()
	})
	return dress(t, ctx, s)
}

// another opens one more tab of the same browser.
func (p *tab) another(s size) *tab {
	p.t.Helper()
	ctx, shut := chromedp.NewContext(p.ctx)
	p.t.Cleanup(shut)
	return dress(p.t, ctx, s)
}

func dress(t *testing.T, ctx context.Context, s size) *tab {
	t.Helper()
	p := &tab{t: t, ctx: ctx}
	p.do(chromedp.EmulateViewport(s.width, s.height, func(m *emulation.SetDeviceMetricsOverrideParams, touch *emulation.SetTouchEmulationEnabledParams) {
		m.Mobile, touch.Enabled = s.phone, s.phone
	}))
	// Messages are read from the page itself: a policy that is broken is a message, too.
	p.do(chromedp.Func(func(ctx context.Context, target *chromedp.Target) error {
		_, err := chromedp.Call(p.ctx, page.AddScriptToEvaluateOnNewDocument, page.AddScriptToEvaluateOnNewDocumentParams{Source: `
			globalThis.said = [];
			addEventListener('error', (e) => said.push('error: ' + e.message));
			addEventListener('unhandledrejection', (e) => said.push('rejected: ' + (e.reason?.message ?? e.reason)));
			addEventListener('securitypolicyviolation', (e) => said.push('policy: ' + e.violatedDirective + ' ' + e.blockedURI));
			for (const level of ['error', 'warn']) console[level] = (...x) => said.push(level + ': ' + x.join(' '));`})
		return err
	}))
	return p
}

func (p *tab) do(steps ...chromedp.Action[chromedp.Void]) {
	p.t.Helper()
	if err := chromedp.Do(p.ctx, steps...); err != nil {
		p.t.Fatal(err)
	}
}

// open loads an address. It returns when the document has been parsed; the load event
// does not wait for a stream.
func (p *tab) open(address string) {
	p.t.Helper()
	p.do(chromedp.Navigate(address))
}

// tries loads an address that the browser may refuse.
func (p *tab) tries(address string) { _ = chromedp.Do(p.ctx, chromedp.Navigate(address)) }

// value evaluates JavaScript.
func value[T any](p *tab, script string) T {
	p.t.Helper()
	v, err := chromedp.Run(p.ctx, chromedp.Evaluate[T](script, chromedp.EvalAwaitPromise))
	if err != nil {
		p.t.Fatalf("%s: %v", script, err)
	}
	return v
}

// until waits until a condition in the page is true.
func (p *tab) until(condition string) {
	p.t.Helper()
	script := fmt.Sprintf(`new Promise((done) => {
		const look = () => { let is = false; try { is = (%s); } catch {} is ? done(true) : setTimeout(look, 20); };
		look();
	})`, condition)
	// The limit is there so that a test which waits for what never comes says where.
	ctx, stop := context.WithTimeout(p.ctx, *patience)
	defer stop()
	for {
		_, err := chromedp.Run(ctx, chromedp.Evaluate[bool](script, chromedp.EvalAwaitPromise))
		switch {
		case err == nil:
			return
		case ctx.Err() != nil:
			shown, _ := chromedp.Run(p.ctx, chromedp.Evaluate[string](`document.body.innerText + '\n' + JSON.stringify(globalThis.said)`))
			p.t.Fatalf("never true: %s\n%s", condition, shown)
		case strings.Contains(err.Error(), "context"): // the page was left while it waited
		default:
			p.t.Fatalf("%s: %v", condition, err)
		}
	}
}

// shows waits until an element has a text.
func (p *tab) shows(selector, text string) {
	p.t.Helper()
	p.until(fmt.Sprintf(`[...document.querySelectorAll(%q)].some((e) => e.checkVisibility() && e.textContent.includes(%q))`, selector, text))
}

func (p *tab) gone(selector string) {
	p.t.Helper()
	p.until(fmt.Sprintf(`![...document.querySelectorAll(%q)].some((e) => e.checkVisibility())`, selector))
}

// press clicks a button, when it can be pressed, as a person does: where it is seen, and
// where it stays, since what arrives may move it.
func (p *tab) press(name string) {
	p.t.Helper()
	at := fmt.Sprintf(`[...document.querySelectorAll('button, a, summary, label.tick')].find((e) => e.checkVisibility() && e.getAttribute('aria-disabled') !== 'true' && !e.closest('[inert]') && (e.getAttribute('aria-label') ?? e.textContent).trim().startsWith(%q))`, name)
	p.until(`Boolean(` + at + `)`)
	v := value[[]float64](p, `new Promise((done) => {
		let before = '', same = 0;
		const look = () => {
			const e = `+at+`;
			e?.scrollIntoView({ block: 'nearest' });
			const r = e?.getBoundingClientRect(), now = r ? [r.x + r.width / 2, r.y + r.height / 2] : [];
			same = r && String(now) === before ? same + 1 : 0;
			before = String(now);
			same > 3 ? done(now) : setTimeout(look, 20);
		};
		look();
	})`)
	p.do(chromedp.MouseClickXY(v[0], v[1]))
}

// write types into an element.
func (p *tab) write(selector, text string) {
	p.t.Helper()
	p.until(fmt.Sprintf(`document.querySelector(%q)?.checkVisibility()`, selector))
	p.do(chromedp.SendKeys(chromedp.CSS(selector), text))
}

// well fails if the page said something on its console or broke its policy.
func (p *tab) well() {
	p.t.Helper()
	if said := value[[]string](p, `globalThis.said`); len(said) > 0 {
		p.t.Errorf("the page said %q", said)
	}
	if wide := value[int](p, `document.documentElement.scrollWidth - innerWidth`); wide > 0 {
		p.t.Errorf("the page is %d pixels wider than the screen", wide)
	}
}

// scheme makes the page light or dark.
func (p *tab) scheme(name string) {
	p.t.Helper()
	if _, err := chromedp.Call(p.ctx, emulation.SetEmulatedMedia, emulation.SetEmulatedMediaParams{Features: []*emulation.MediaFeature{{Name: "prefers-color-scheme", Value: name}}}); err != nil {
		p.t.Fatal(err)
	}
}

// picture leaves a picture in the folder that PAWL_SCREENSHOTS names.
func (p *tab) picture(name string) {
	p.t.Helper()
	dir := os.Getenv("PAWL_SCREENSHOTS")
	if dir == "" {
		return
	}
	for _, scheme := range []string{"dark", "light"} {
		p.scheme(scheme)
		raw, err := chromedp.Run(p.ctx, chromedp.CaptureScreenshot())
		if err != nil {
			p.t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(dir, name+"-"+scheme+".png"), raw, 0o600); err != nil {
			p.t.Fatal(err)
		}
	}
}

// golden compares what a screen reader finds in the page with a file.
func (p *tab) golden(name string) {
	p.t.Helper()
	got := p.structure()
	file := filepath.Join("testdata", name+".txt")
	if *update {
		if err := os.WriteFile(file, []byte(got), 0o600); err != nil {
			p.t.Fatal(err)
		}
		return
	}
	want, err := os.ReadFile(file)
	if err != nil {
		p.t.Fatal(err)
	}
	if got != string(want) {
		p.t.Errorf("%s is not what the page has; see the difference with -update.\nwant:\n%s\ngot:\n%s", file, want, got)
	}
}

// silent are roles that only hold others, and parts of texts.
var silent = []string{"generic", "none", "InlineTextBox", "paragraph", "ListMarker", "LineBreak", "time", "strong", "emphasis"}

// structure is the page's accessibility tree: roles, names and texts.
func (p *tab) structure() string {
	p.t.Helper()
	tree, err := chromedp.Call(p.ctx, accessibility.GetFullAXTree, accessibility.GetFullAXTreeParams{})
	if err != nil {
		p.t.Fatal(err)
	}
	nodes := map[accessibility.NodeID]*accessibility.Node{}
	for _, n := range tree.Nodes {
		nodes[n.NodeID] = n
	}
	var out strings.Builder
	var walk func(n *accessibility.Node, depth int, above string)
	walk = func(n *accessibility.Node, depth int, above string) {
		role, name := said(n.Role), strings.Join(strings.Fields(said(n.Name)), " ")
		if !n.Ignored && !slices.Contains(silent, role) && (role != "StaticText" || !strings.Contains(above, name)) {
			fmt.Fprintf(&out, "%s%s", strings.Repeat("  ", depth), role)
			if name != "" {
				fmt.Fprintf(&out, " %q", name)
			}
			if v := said(n.Value); v != "" {
				fmt.Fprintf(&out, " = %q", v)
			}
			for _, q := range n.Properties {
				switch s := said(q.Value); {
				case q.Name == "expanded", q.Name == "checked", q.Name == "focused" && s == "true", q.Name == "modal" && s == "true":
					fmt.Fprintf(&out, " %s=%s", q.Name, s)
				}
			}
			out.WriteString("\n")
			depth++
			above += "\x00" + name
		}
		for _, id := range n.ChildIDs {
			if c := nodes[id]; c != nil {
				walk(c, depth, above)
			}
		}
	}
	walk(tree.Nodes[0], 0, "")
	return out.String()
}

func said(v *accessibility.Value) string {
	if v == nil || len(v.Value) == 0 {
		return ""
	}
	var x any
	if err := json.Unmarshal(v.Value, &x); err != nil {
		return string(v.Value)
	}
	return fmt.Sprint(x)
}
