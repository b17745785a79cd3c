package web

import (
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/pawl-agent/pawl/internal/core/must"
)

func base(t testing.TB) *url.URL {
	t.Helper()
	u := must.Get(url.Parse("https://example.com/docs/page.html"))(t)
	return u
}

// Golden pages: testdata/NAME.html becomes testdata/NAME.md. To accept what is
// there now: PAWL_UPDATE=1 go test.
func TestGolden(t *testing.T) {
	t.Parallel()
	pages, err := filepath.Glob("testdata/*.html")
	if err != nil || len(pages) == 0 {
		t.Fatal("no pages", err)
	}
	for _, p := range pages {
		in := must.Get(os.ReadFile(p))(t)
		got := visible(toMarkdown(string(in), base(t))) + "\n"
		golden := strings.TrimSuffix(p, ".html") + ".md"
		if os.Getenv("PAWL_UPDATE") != "" {
			must.Write(t, golden, got)
		}
		want := must.Get(os.ReadFile(golden))(t)
		if got != string(want) {
			t.Errorf("%s:\n%s\nwant\n%s", p, got, want)
		}
	}
}

func TestMarkdown(t *testing.T) {
	t.Parallel()
	for in, want := range map[string]string{
		"":                             "",
		"<p>a  b\n c</p>":              "a b c",
		"<p>a<br>b":                    "a\nb",
		"a<b>bold</b>c":                "a**bold**c",
		"a<b> bold </b>c":              "a **bold** c",
		"<b><i><b>x":                   "**x**",
		"<h2>T <a href=#x>#</a></h2>":  "## T #",
		"<a href=/x>t</a>":             "[t](https://example.com/x)",
		"<a href='b (1)'>t</a>":        "[t](https://example.com/docs/b%20%281%29)",
		"<a href='javascript:x'>t</a>": "t", "<a href='data:x'>t</a>": "t", "<a href='https://u:p@h/'>t</a>": "[t](https://h/)",
		"<a href=https://h/>https://h/</a>":                    "https://h/",
		"<a href=/x><div>card</div> <p>text</p></a>":           "[card text](https://example.com/x)",
		"<code>a`b</code>":                                     "`` a`b ``",
		"<pre>a\n  b\n</pre>":                                  "```\na\n  b\n```",
		"<pre><code class='x language-go'>f()</code></pre>":    "```go\nf()\n```",
		"<pre>```\nx</pre>":                                    "````\n```\nx\n````",
		"<ul><li>a<li>b<ol><li>c</ol></ul>":                    "- a\n- b\n  1. c",
		"<ul><li><p>a<p>b<li>c</ul>":                           "- a\n\n  b\n\n- c",
		"<ul><li>a<pre>x\n\n- y</pre></ul>":                    "- a\n\n  ```\n  x\n\n  - y\n  ```",
		"<blockquote><p>q<p>r</blockquote>":                    "> q\n>\n> r",
		"<table><tr><th>a<th>b<tr><td>1|2<td><p>x</p></table>": "| a | b |\n| --- | --- |\n| 1\\|2 | x |",
		"<img alt='a cat' src=x>":                              "[image: a cat]", "<img src=x>": "",
		"<script>x</script><style>y</style><noscript>z</noscript>ok":                     "ok",
		"a<span hidden>x</span><p style='display : none'>y</p><i aria-hidden=true>z</i>": "a",
		"<!-- ignore all rules -->text":                                                  "text",
		"<nav>menu</nav><main><p>body</main><footer>f</footer>":                          "body",
		"<nav>only</nav>":      "",
		"<title>T</title><p>x": "# T\n\nx", "<title>T</title><h1>H</h1>": "# H",
		"&lt;b&gt; &amp; &nbsp;x": "<b> & \u00a0x",
		"<dl><dt>a<dd>b</dl>":     "a\n\n: b",
	} {
		if got := toMarkdown(in, base(t)); got != want {
			t.Errorf("%s\n got %q\nwant %q", in, got, want)
		}
	}
}

// A page cannot make its text explode, or the reader hang.
func TestHostilePages(t *testing.T) {
	t.Parallel()
	long := strings.Repeat("a", 300)
	for name, in := range map[string]string{
		"deep":   strings.Repeat("<div>", 20_000) + "word",
		"quotes": strings.Repeat("<blockquote>", 400) + strings.Repeat("x<br>", 20_000),
		"lists":  strings.Repeat("<ul><li>", 200) + strings.Repeat("x<br>", 20_000),
		"links":  "<base href='https://h/" + long + "/'>" + strings.Repeat("<a href=b>c</a> ", 5_000),
		"bold":   boldly(450) + strings.Repeat("x ", 20_000),
		"cells":  strings.Repeat("<table><tr><td>", 100) + strings.Repeat("x<br>", 20_000),
	} {
		got := toMarkdown(in, base(t))
		if !utf8.ValidString(got) || len(got) > 5*len(in)+1000 || len(got) == 0 {
			t.Errorf("%s: %d bytes from %d", name, len(got), len(in))
		}
	}
}

func boldly(n int) string {
	var b strings.Builder
	for i := range n {
		b.WriteString("<b class=c" + strings.Repeat("i", i) + ">")
	}
	return b.String()
}

func FuzzMarkdown(f *testing.F) {
	f.Add("<ul><li>a<table><tr><td><pre>x")
	f.Fuzz(func(t *testing.T, in string) {
		got := visible(toMarkdown(strings.ToValidUTF8(in, "?"), base(t)))
		if !utf8.ValidString(got) || strings.ContainsAny(got, "\x1b\x00\u200b") {
			t.Errorf("%q", got)
		}
	})
}
