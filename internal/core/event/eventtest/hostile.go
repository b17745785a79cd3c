package eventtest

// Hostile are texts that would do something, or hide something, where a page or a terminal
// obeyed them.
var Hostile = []string{
	`<script>alert(1)</script>`, `"><img src=x onerror=alert(1)>`, `'><svg/onload=alert(1)>`, `</pre></details></style></title><script>alert(1)</script>`,
	`<!-- <script>`, `--><script>alert(1)</script>`, `]]><script>`, `<a href="javascript:alert(1)">x</a>`, `{{.}}{{template "tail" .}}`, `&lt;script&gt;`, `&#x3c;script>`,
	`[x](javascript:alert(1))`, `[x](JaVaScRiPt:alert(1))`, `[x](data:text/html,<script>alert(1)</script>)`, `![x](https://evil.example/pixel.png)`, `<https://evil.example/"onmouseover="alert(1)>`,
	`[x](vbscript:x) [y](file:///etc/passwd) [z](//evil.example) [w](https://a.example/"onclick="x)`, `[t](<https://a.example/ onclick=alert(1)>)`,
	"\u202egnp.exe\u2066x\u2069", "a\x1b]8;;https://evil.example\x1b\\link\x1b]8;;\x1b\\ \x1b[2J\x1b[31m", "zero\u200bwidth\ufeff\u00ad", "nul\x00 bell\x07 c1\u009b31m", "bad utf8 \xff\xfe", "\u2028\u2029",
	"# </h2><script>x</script>\n| <script> | \"onload=x |\n|---|---|\n| <img src=x> | `</code><script>` |\n\n```\"><script>\n</pre><script>x</script>\n```\n> </blockquote><script>",
	"--- a/<script>\n+++ b/\"><img>\n@@ -1 +1 @@\n-<script>x\n+</span></pre><script>y</script>\n", `<base href="https://evil.example/">`, `<meta http-equiv=refresh content="0;url=https://evil.example">`,
	`<iframe srcdoc="<script>x</script>">`, `<form action=https://evil.example><input autofocus onfocus=x>`, `<link rel=stylesheet href=https://evil.example/x.css>`, `<style>@import url(https://evil.example)</style>`,
}
