package tools

import (
	"strings"
	"testing"
)

const (
	refused = "\x00refused"
	done    = "\x00already applied"
)

// editCase is a file, an edit and the file after it.
type editCase struct{ name, file, old, text, want string }

var py = "class A:\n    def f(self):\n        return 1\n"

// What is replaced exactly, whatever it is. SPEC 4.10.
var exactCases = []editCase{
	{"a word", "a b c\n", "b", "B", "a B c\n"},
	{"the first line", "a\nb\n", "a\n", "x\n", "x\nb\n"},
	{"the last line", "a\nb\n", "b\n", "x\n", "a\nx\n"},
	{"a last line without newline", "a\nb", "b", "x", "a\nx"},
	{"a newline at the end is added", "a\nb", "b", "b2\n", "a\nb2\n"},
	{"all of the file", "a\nb\n", "a\nb\n", "x\n", "x\n"},
	{"all of it goes", "a\nb\n", "a\nb\n", "", ""},
	{"a line goes", "a\nb\nc\n", "b\n", "", "a\nc\n"},
	{"two lines are joined", "foo(\n  a)\n", "foo(\n  a)", "foo(a)", "foo(a)\n"},
	{"within a line", "x = f(a, b)\n", "a, b", "b, a", "x = f(b, a)\n"},
	{"a name's beginning", "getUser()\n", "getUs", "findUs", "findUser()\n"},
	{"dollars", "a $1 b\n", "$1", "$2 $& $$ ${x}", "a $2 $& $$ ${x} b\n"},
	{"backslashes", `a \d b` + "\n", `\d`, `\\d\1`, `a \\d\1 b` + "\n"},
	{"regexp signs", "a.*b [x] (y)? ^$\n", "a.*b [x] (y)?", "+{1}|", "+{1}| ^$\n"},
	{"percent", "100%d\n", "100%d", "%s%%", "%s%%\n"},
	{"NUL in words", "a \\0 b\n", "\\0", "\\x00", "a \\x00 b\n"},
	{"emoji", "say 👍🏽 now\n", "👍🏽", "👎", "say 👎 now\n"},
	{"combining marks", "cafe\u0301\n", "cafe\u0301", "thé", "thé\n"},
	{"a tab within", "a\tb\n", "a\tb", "a\tc", "a\tc\n"},
	{"blank line put in", "a\nb\n", "a\nb", "a\n\nb", "a\n\nb\n"},
	{"blank lines taken out", "a\n\n\nb\n", "a\n\n\nb", "a\nb", "a\nb\n"},
	{"trailing blanks taken out", "a  \nb\n", "a  \n", "a\n", "a\nb\n"},
	{"indented deeper", "if x:\n    a\n    b\n", "    a\n    b\n", "    if y:\n        a\n        b\n", "if x:\n    if y:\n        a\n        b\n"},
	{"exact though like others", "  x = 1\n    x = 1 # b\n", "x = 1 # b", "x = 2 # b", "  x = 1\n    x = 2 # b\n"},
	{"exact beside another whitespace", "\tx = 1\n        y\n    x = 1\n", "\tx = 1", "\tx = 2", "\tx = 2\n        y\n    x = 1\n"},
	{"first line within its indentation, the rest whole", py, "def f(self):\n        return 1", "def f(self):\n        return 2", "class A:\n    def f(self):\n        return 2\n"},
	{"an ellipsis of Python", "def f(): pass\n", "pass", "...", "def f(): ...\n"},
	{"spread", "f(a)\n", "f(a)", "f(...a)", "f(...a)\n"},
	{"a variadic", "func f(a int) {}\n", "a int", "a ...int", "func f(a ...int) {}\n"},
	{"HTML that the file has", "<p>&lt;b&gt;</p>\n", "&lt;b&gt;", "&lt;i&gt;", "<p>&lt;i&gt;</p>\n"},
	{"a backslash n that the file has", `print("a\n")` + "\n", `"a\n"`, `"b\n"`, `print("b\n")` + "\n"},
	{"line numbers that the file has", "1\ta\n2\tb\n", "1\ta\n2\tb", "1\tc\n2\td", "1\tc\n2\td\n"},
	{"case counts", "Foo\nfoo\n", "foo", "bar", "Foo\nbar\n"},
	{"long lines", strings.Repeat("x", 5000) + "y\n", "xy", "xz", strings.Repeat("x", 4999) + "xz\n"},
	{"a number's end is one", "a = 10;\n", "a = 10", "a = 20", "a = 20;\n"},
	{"a part of a number that stays", "f(100, a)\n", "f(1", "g(1", "g(100, a)\n"},
	{"so at its end, with lines above", "a\nx = 150 px\n", "0 px\n", "0 em\n", "a\nx = 150 em\n"},
	{"a text before a number", "id42\n", "id", "key", "key42\n"},
	{"version", "v1.2.3\n", "1.2", "1.3", "v1.3.3\n"},
	{"typographic and exact", "“a” and \"a\"\n", `"a"`, `"b"`, "“a” and \"b\"\n"},
	{"NBSP exactly", "a\u00a0b\n", "a\u00a0b", "a b", "a b\n"},
	{"form feed", "a\n\fb\n", "\fb", "\fc", "a\n\fc\n"},
	{"CR within a line", "a\rb\n", "a\rb", "a\rc", "a\rc\n"},
}

// Several places, none, or no certain one. SPEC 4.10.
var refusedCases = []editCase{
	{"two places", "a\nb\na\n", "a", "x", refused},
	{"two places in one line", "a a\n", "a", "x", refused},
	{"overlapping", "aaa", "aa", "b", refused},
	{"overlapping lines", "\n\n\n", "\n\n", "\n", refused},
	{"nothing like it", "a\nb\n", "completely other text", "x", refused},
	{"stale", "limit = 200\n", "limit = 100\n", "limit = 300\n", refused},
	{"a part of another number", "timeout = 100\n", "timeout = 10", "timeout = 20", refused},
	{"a part of another number that goes", "f(100, a)\n", "(10", "(", refused},
	{"the end of another number", "x = 15 px\n", "5 px", "6 px", refused},
	{"a newline that is not there", "timeout = 100\n", "timeout = 10\n", "timeout = 20\n", refused},
	{"a newline where words go on", "import os, sys\n", "import os\n", "import os, re\n", refused},
	{"a newline in a call", "foo().bar()\n", "foo()\n", "foo().baz()\n", refused},
	{"a newline at the end of a prefix", "return a + b\n", "return a\n", "return a + c\n", refused},
	{"a part of a line in another whitespace", "x = f(a,  b) + 1\n", "f(a, b)", "f(b)", refused},
	{"the end of a line in another whitespace", "x =  f(a)\n", "= f(a)\n", "= g(a)\n", refused},
	{"two lines, the last a prefix", "  a\n  bc\n", "a\nb\n", "a\nx\n", refused},
	{"two lines, the first a suffix", "xa\n\tb\n", "a\n  b\n", "a\n  c\n", refused},
	{"wrapped otherwise", "foo(a, b)\n", "foo(a,\n    b)", "foo(b)", refused},
	{"joined otherwise", "foo(a,\n    b)\n", "foo(a, b)", "foo(b)", refused},
	{"blanks within words", "foobar\n", "foo bar", "x", refused},
	{"elided with dots", "a()\nb()\nc()\n", "a()\n...\nc()\n", "a()\n...\nd()\n", refused},
	{"one line left out", "a()\nb()\nc()\nd()\n", "a()\nc()\nd()\n", "a()\nc()\n", refused},
	{"one line rewritten", "alpha()\nbeta()\ngamma()\n", "alpha()\nbeto()\ngamma()\n", "x\n", refused},
	{"comment differs", "a() // one\nb()\n", "a() // two\nb()\n", "c()\n", refused},
	{"other case", "Foo()\n", "foo()", "bar()", refused},
	{"two in another whitespace", "\ta()\n\tb()\nx\n  a()\n  b()\n", "    a()\n    b()\n", "    c()\n    b()\n", refused},
	{"a deletion in another whitespace", "\ta()\n\tb()\n", "    a()\n", "", refused},
	{"blanks only", "a\n  \nb\n", "   ", "x", refused},
	{"old is empty", "a\n", "", "x", refused},
	{"old is new", "a\n", "a", "a", refused},
	{"old is new but for its line ending", "a\n", "a\n", "a\r\n", refused},
	{"it would change its own result", "      foo\n", "    foo", "  foo", refused},
	{"a shorter run of the same", "aaab\n", "aab", "ab", refused},
	{"new goes on in a longer word", "num_xy = 1\n", "num", "num_x", refused},
	{"new goes on in a longer number", "n: 25\n", "n: 10\n", "n: 2", refused},
	{"new is elsewhere, old too", "keep = compute_all(x)\nother\n\tlimit = compute(x)\n", "  limit = compute (x)\n", "keep = compute_all(x)\n", refused},
}

// Whole lines in another whitespace. SPEC 4.10; issue 9, item 1.
var fittedCases = []editCase{
	{"lost all indentation", py, "def f(self):\n    return 1\n", "def f(self):\n    return 2\n", "class A:\n    def f(self):\n        return 2\n"},
	{"too deep by four", "def f():\n    a = 1\n    b = 2\n    c = 3\n", "        a = 1\n        b = 2\n", "        a = 1\n        b = 9\n", "def f():\n    a = 1\n    b = 9\n    c = 3\n"},
	{"too deep by one", "if x:\n  a\n  b\n", "   a\n   b\n", "   a\n   c\n", "if x:\n  a\n  c\n"},
	{"a block put around", "def f():\n        a(1)\n        b(2)\n", "a(1)\nb(2)\n", "if x:\n    a(1)\n    b(2)\n", "def f():\n        if x:\n            a(1)\n            b(2)\n"},
	{"tabs more", "\t\ta()\n\t\tb()\n", "a()\nb()", "a()\n\tc()\nb()", "\t\ta()\n\t\t\tc()\n\t\tb()\n"},
	{"a line put before", "  a()\n  b()\n", "a()\nb()\n", "z()\na()\nb()\n", "  z()\n  a()\n  b()\n"},
	{"a line put behind", "  a()\n  b()\nc()\n", "a()\nb()\n", "a()\nb()\nz()\n", "  a()\n  b()\n  z()\nc()\n"},
	{"a line taken out", "  a()\n  b()\n  c()\n", "a()\nb()\nc()\n", "a()\nc()\n", "  a()\n  c()\n"},
	{"spaces for tabs", "\tif x {\n\t\ta()\n\t}\n", "    if x {\n        a()\n    }\n", "    if x {\n        b()\n    }\n", "\tif x {\n\t\tb()\n\t}\n"},
	{"tabs for spaces", "  if x {\n    a()\n  }\n", "\tif x {\n\t\ta()\n\t}\n", "\tif x {\n\t\tb()\n\t}\n", "  if x {\n    b()\n  }\n"},
	{"two spaces for four", "    if x:\n        a()\n    b()\n", "  if x:\n    a()\n  b()\n", "  if x:\n    z()\n  b()\n", "    if x:\n        z()\n    b()\n"},
	{"trailing blanks in the file", "a  \n  b\t\nc\n", "a\n  b\n", "a\n  x\n", "a  \n  x\nc\n"},
	{"trailing blanks in old", "a\nb\nc\n", "a  \nb \n", "a  \nx\n", "a\nx\nc\n"},
	{"trailing blanks of one line", "  foo()\nb\n", "  foo() \n", "  bar()\n", "  bar()\nb\n"},
	{"blank line between", "a(1)\n\nb(2)\nc(3)\n", "a(1)\nb(2)\nc(3)\n", "a(1)\nb(2)\nx(3)\n", "a(1)\n\nb(2)\nx(3)\n"},
	{"blank line in old", "a(1)\nb(2)\nc(3)\n", "a(1)\n\nb(2)\nc(3)\n", "a(1)\n\nb(2)\nx(3)\n", "a(1)\nb(2)\nx(3)\n"},
	{"blank lines at the ends", "  a(1)\n  b(2)\n", "\na(1)\nb(2)\n\n", "\na(1)\nc(2)\n\n", "  a(1)\n  c(2)\n"},
	{"blank lines around what is removed", "a(1)\n\nb(2)\n\nc(3)\n", "a(1)\nb(2)\nc(3)\n", "a(1)\nc(3)\n", "a(1)\n\nc(3)\n"},
	{"one more blank line at the end", "  a(1)\n  b(2)\n", "\na(1)\nb(2)\n\n", "\na(1)\nc(2)\n\n\n", "  a(1)\n  c(2)\n\n"},
	{"blank line before what is replaced", "a(1)\n\nb(2)\nc(3)\n", "a(1)\nb(2)\nc(3)\n", "a(1)\nx(2)\nc(3)\n", "a(1)\n\nx(2)\nc(3)\n"},
	{"blank line far from what is inserted", "a(1)\n\nb(2)\nc(3)\n", "a(1)\nb(2)\nc(3)\n", "a(1)\nb(2)\nx()\nc(3)\n", "a(1)\n\nb(2)\nx()\nc(3)\n"},
	{"blank line of blanks", "a\n    \n  b\nc\n", "a\n\n  b\n", "a\n\n  x\n", "a\n    \n  x\nc\n"},
	{"a newline at the end that is missing", "x()\n  a()\n  b()", "a()\nb()\n", "a()\nc()\n", "x()\n  a()\n  c()"},
	{"a newline at the end that new has not", "  a()\n  b()\nc\n", "a()\nb()\n", "a()\nx()", "  a()\n  x()\nc\n"},
	{"shared lines stay", "\ta()\t\n\tb()\n\tc() \n", "a()\nb()\nc()\n", "a()\nx()\nc()\n", "\ta()\t\n\tx()\n\tc() \n"},
	{"spaces within", "a  = 1\nb = 2\n", "a = 1\nb = 2\n", "a = 1\nb = 3\n", "a  = 1\nb = 3\n"},
	{"spaces within a line that goes", "x  =   1\n", "x = 1", "x = 2", "x = 2\n"},
	{"first line lost its own", "class A:\n    def f(self):\n        a()\n        b()\n", "def f(self):\n            a()\n            b()\n", "def f(self):\n            a()\n            c()\n", "class A:\n    def f(self):\n        a()\n        c()\n"},
	{"first line lost its own, new first line", "class A:\n    def f(self):\n        a()\n        b()\n", "def f(self):\n            a()\n            b()\n", "def g(self):\n            a()\n            c()\n", "class A:\n    def g(self):\n        a()\n        c()\n"},
	{"a block whose depth is another", "for x in y:\n    for z in x:\n        a()\n        b()\n    c()\n", "    for z in x:\n            a()\n            b()\n    c()\n", "    a()\n    b()\n    c()\n", "for x in y:\n    a()\n    b()\n    c()\n"},
	{"brackets aside", "    x = f(a,\n          b)\n    y = 1\n", "x = f(a,\n  b)\ny = 1\n", "x = f(a,\n  b)\ny = 2\n", "    x = f(a,\n          b)\n    y = 2\n"},
	{"list aside", "  x = [\n      1,\n      2,\n  ]\n  y = 1\n", "x = [\n  1,\n  2,\n]\ny = 1\n", "x = [\n  1,\n  2,\n]\nz = 1\n", "  x = [\n      1,\n      2,\n  ]\n  z = 1\n"},
	{"typographic quotes", "say(“hello”) // it’s\n", `say("hello") // it's`, `say("bye") // it's`, "say(“bye”) // it’s\n"},
	{"typographic dash", "a – b\nc\n", "a - b\nc", "a - b\nd", "a – b\nd\n"},
	{"NBSP in the file", "a\u00a0= 1\nb\n", "a = 1\nb", "a = 1\nc", "a\u00a0= 1\nc\n"},
	{"dashes and indentation", "\t\t// a – b\n\t\tc()\n", "    // a - b\n    c()\n", "    // a - b\n    d()\n", "\t\t// a – b\n\t\td()\n"},
}

// What looks alike and must not be guessed. SPEC 4.10.
var doubtfulCases = []editCase{
	{"old lost its indentation, new has the file's", py, "def f(self):\n    return 1\n", "    def f(self):\n        return 2\n", refused},
	{"the same with a blank line before", "  // some comment\n\n  function oldFunc() {}\n", "\nfunction oldFunc() {}", "\n  function newFunc() {}", refused},
	{"the same in tabs", "\tfunc f() {\n\t\ta()\n\t}\n", "func f() {\n\ta()\n}\n", "\tfunc g() {\n\t\tb()\n\t}\n", refused},
	{"old too deep, new right", "def f():\n    a = 1\n    b = 2\n", "        a = 1\n        b = 2\n", "    a = 3\n    b = 4\n", refused},
	{"two depths of the file under one of old", "def f():\n    a = 1\n    if x:\n        g()\n    return a\n", "    a = 1\n    if x:\n    g()\n", "    a = 1\n    if x:\n    g()\n    h()\n", refused},
	{"one depth of the file under two of old", "def f():\n    a()\n    b()\n    c()\n", "a()\n    b()\nc()\n", "a()\n    b()\nd()\n", refused},
	{"a block out by one level in the middle", "for x in y:\n    for z in x:\n        a()\n        b()\n    c()\n", "    for z in x:\n            a()\n        b()\n    c()\n", "    a()\n    b()\n    c()\n", refused},
	{"first line as it is, the rest too deep", "def f():\n    a()\n    b()\n", "def f():\n        a()\n        b()\n", "def f():\n    a()\n    c()\n", refused},
	{"an else at two levels", "if a:\n    x()\nelse:\n    y()\n", "    if a:\n        x()\nelse:\n    y()\n", "    if a:\n        x()\nelse:\n    z()\n", refused},
	{"a depth that no line has, tabs for spaces", "\tif x {\n\t\ta()\n\t}\n", "    if x {\n        a()\n    }\n", "    if x {\n        if y {\n            a()\n        }\n    }\n", refused},
	{"less deep than any line", "\t\ta()\n\t\tb()\n", "        a()\n        b()\n", "        a()\n    }\n", refused},
	{"one line says nothing of others", "        foo(a,  b)\n", "foo(a, b)", "if x:\n    foo(a, b)", refused},
	{"a depth with tabs among spaces", "    a()\n    b()\n", "a()\nb()\n", "a()\n\tc()\nb()\n", refused},
	{"spaces in a string", "    s = \"a  b\"\n", "s = \"a b\"", "t = \"a b\"", refused},
	{"an insertion between blank lines", "a(1)\n\nb(2)\n", "a(1)\nb(2)\n", "a(1)\nx()\nb(2)\n", refused},
	{"first line lost, rest at the margin", "class A:\n    def f(self):\n        a()\n        b()\n", "def f(self):\n            a()\n            b()\n", "def f(self):\nc()\n", refused},
	{"brackets with quotes that do not pair", "    x = f(a, \"(\n          b)\n    if y:\n        z()\n", "x = f(a, \"(\n    b)\nif y:\n    z()\n", "x = f(a, \"(\n    b)\nif y:\n    w()\n", refused},
	{"braces are no brackets", "def f():\n    d = {\n            1: 2,\n    }\n    if x:\n        a()\n", "d = {\n    1: 2,\n}\nif x:\n    a()\n", "d = {\n    1: 2,\n}\nif x:\n    b()\n", refused},
	{"a new line inside brackets of another depth", "import (\n\t\"a\"\n\t\"c\"\n)\n", "import (\n  \t\"a\"\n\t\"c\"\n)\n", "import (\n  \t\"a\"\n  \t\"b\"\n\t\"c\"\n)\n", refused},
	{"all depths lost", "\ta()\n\tb()\n", "a()\nb()\n", "a()\nif x {\nc()\n}\nb()\n", refused},
	{"all depths lost, in Python", "    a()\n    b()\n", "a()\nb()\n", "a()\nif x:\nc()\nb()\n", refused},
	{"line numbers copied", "alpha\nbeta\n", "1\talpha\n2\tbeta", "1\talpha\n2\tgamma", refused},
	{"HTML escapes", "if a < b {\n", "if a &lt; b {", "if a &lt; c {", refused},
	{"escaped quotes beside plain ones", "f('a', 'b')\n", `f(\'a\', 'b')`, `f(\'c\', 'b')`, refused},
	{"marks in two places", "“a”\n“a”\n", `"a"`, `"b"`, refused},
	{"blank line beside what is inserted", "a(1)\n\nb(2)\nc(3)\n", "a(1)\nb(2)\nc(3)\n", "a(1)\nx()\nb(2)\nc(3)\n", refused},
	{"blank line beside what is removed", "a(1)\n\nb(2)\nc(3)\n", "a(1)\nb(2)\nc(3)\n", "a(1)\nc(3)\n", refused},
	{"blank line beside what is removed at the end", "a(1)\nb(2)\n\nc(3)\n", "a(1)\nb(2)\nc(3)\n", "a(1)\nb(2)\n", refused},
	{"blank lines differ in two places", "a(1)\n\nb(2)\na(1)\n\nb(2)\n", "a(1)\nb(2)\n", "a(1)\nc(2)\n", refused},
	{"new stands elsewhere, old in another whitespace", "    import re\n\tx()\nimport os\n", "import  os\n", "    import re\n", refused},
}

// What was made before, where old would stand; never elsewhere. SPEC 4.10.
var appliedCases = []editCase{
	{"a value", "a\nnewValue := 1\n", "oldValue := 1", "newValue := 1", done},
	{"an insertion behind", "func a() {}\nfunc b() {}\n", "func a() {}\n", "func a() {}\nfunc b() {}\n", done},
	{"an insertion before", "func b() {}\nfunc a() {}\n", "func a() {}\n", "func b() {}\nfunc a() {}\n", done},
	{"an insertion between", "a()\nbeta()\nc()\n", "a()\nc()\n", "a()\nbeta()\nc()\n", done},
	{"an insertion in tabs", "\ta()\n\tb()\n", "    a()\n", "    a()\n    b()\n", done},
	{"a longer end", "return a + b\n", "return a", "return a + b", done},
	{"a longer number", "limit = 100\n", "limit = 10", "limit = 100", done},
	{"a prefix", "log.mylog.x()\n", "log.x", "log.mylog.x", done},
	{"several lines", "def f():\n    total = a + b\n    return total\n", "    total = a - b\n    return total\n", "    total = a + b\n    return total\n", done},
	{"in another whitespace", "\ttotal = a + b\n\treturn total\n", "    total = a - b\n    return total\n", "    total = a + b\n    return total\n", done},
	{"not a longer word", "num_trials: 25\n", "num_trials: 10", "num_trials: 2", refused},
	{"not a longer name", "useThemes(x)\n", "useColors", "useTheme", refused},
	{"not in two places", "newValue := 1\nnewValue := 1\n", "oldValue := 1", "newValue := 1", refused},
	{"not what is short", "a\n}\n", "gone", "}", refused},
	{"not where old's lines are elsewhere", "total = a + b\nx()\n  total = a - b\n\n\treturn total\n", "total = a - b\nreturn totals\n", "total = a + b\n", refused},
}

// What stands for text that was left out. Issue 9, item 1.
var omittedCases = []editCase{
	{"methods", "class A {\n  a() {}\n}\n", "  a() {}\n", "  b() {}\n  // ... rest of methods ...\n", refused},
	{"in parentheses", "a\n", "a", "(rest of methods ...)", refused},
	{"existing code", "a\n", "a", "b\n// ... existing code ...\n", refused},
	{"of Python", "a\n", "a", "b\n    # ... existing code ...", refused},
	{"unchanged", "a\n", "a", "b\n# ... (rest of the function unchanged) ...", refused},
	{"at the end only", "a\n", "a", "b\n// rest of the code...\n", refused},
	{"of CSS", "a\n", "a", "b\n/* ... other styles ... */\n", refused},
	{"of HTML", "a\n", "a", "b\n<!-- ... remaining content ... -->\n", refused},
	{"of SQL", "a\n", "a", "b\n-- ... other statements ...\n", refused},
	{"of JSX", "a\n", "a", "b\n{/* ... rest of the component ... */}\n", refused},
	{"one sign", "a\n", "a", "b\n// … rest of the file …\n", refused},
	{"unchanged code", "a\n", "a", "b\n(unchanged code ...)\n", refused},
	{"old has it", "// ... existing code ...\na\n", "// ... existing code ...\na", "// ... existing code ...\nb", "// ... existing code ...\nb\n"},
	{"Ellipsis", "pass\n", "pass", "...", "...\n"},
	{"a stub", "x: int\n", "x: int", "def f(self) -> int: ...", "def f(self) -> int: ...\n"},
	{"spread in a line", "a\n", "a", "...rest,", "...rest,\n"},
	{"rest of arguments", "a\n", "a", "(...rest) => f(...rest)", "(...rest) => f(...rest)\n"},
	{"a comment with dots", "a\n", "a", "// waits until ready...", "// waits until ready...\n"},
	{"a doc comment", "a\n", "a", "// Usage: tool [options] file ...", "// Usage: tool [options] file ...\n"},
	{"a comment of dots", "a\n", "a", "# ...", "# ...\n"},
	{"dots in a string", "a\n", "a", `log("loading existing code...")`, `log("loading existing code...")` + "\n"},
	{"a trailing comment", "a\n", "a", "f() // ... rest of methods ...", "f() // ... rest of methods ...\n"},
	{"prose", "a\n", "a", "Then the rest of the code is read...", "Then the rest of the code is read...\n"},
	{"a comment on the rest", "a\n", "a", "// the rest of the line is a comment", "// the rest of the line is a comment\n"},
	{"a Go ellipsis", "a\n", "a", "append(x, y...)", "append(x, y...)\n"},
	{"a range", "a\n", "a", "case 1...9:", "case 1...9:\n"},
}

// The file's line endings, BOM and final newline stay. SPEC 4.10.
var endingCases = []editCase{
	{"new in CRLF for an LF file", "alpha\nbeta\ngamma\n", "alpha\nbeta\ngamma", "alpha\r\nbeta-updated\r\ngamma", "alpha\nbeta-updated\ngamma\n"},
	{"new in LF for a CRLF file", "alpha\r\nbeta\r\ngamma\r\n", "alpha\r\nbeta\r\ngamma", "alpha\nbeta-updated\ngamma", "alpha\r\nbeta-updated\r\ngamma\r\n"},
	{"old in CRLF for an LF file", "a\nb\nc\n", "a\r\nb", "x\r\ny", "x\ny\nc\n"},
	{"one line becomes two", "a\r\nb\r\n", "a", "x\ny", "x\r\ny\r\nb\r\n"},
	{"mixed, the replaced line's", "one\r\ntwo\nthree\r\nfour\n", "three", "THREE", "one\r\ntwo\nTHREE\r\nfour\n"},
	{"mixed, line by line", "one\r\ntwo\nthree\r\nfour\n", "one\ntwo\nthree\n", "1\n2\n3\n", "1\r\n2\n3\r\nfour\n"},
	{"mixed, what stays keeps its own", "one\r\ntwo\nthree\r\nfour\n", "one\ntwo\nthree\nfour\n", "one\nnew\ntwo\nthree\nfour\n", "one\r\nnew\r\ntwo\nthree\r\nfour\n"},
	{"mixed, a line goes", "one\r\ntwo\nthree\r\nfour\n", "two\nthree\n", "three\n", "one\r\nthree\r\nfour\n"},
	{"mixed, in another whitespace", "\tone()\r\n\ttwo()\n\tthree()\r\n", "one()\ntwo()\nthree()\n", "one()\ndeux()\nthree()\n", "\tone()\r\n\tdeux()\n\tthree()\r\n"},
	{"mixed, marks", "“a”\r\nb\nc\r\n", "\"a\"\nb\n", "\"a\"\nx\n", "“a”\r\nx\nc\r\n"},
	{"no final newline", "a\r\nb", "b", "c\nd", "a\r\nc\r\nd"},
	{"a file of one line", "a", "a", "b\nc", "b\nc"},
	{"CR at the end of new", "a\nb\n", "a", "x\r", "x\nb\n"},
	{"BOM in a CRLF file", bom + "a\r\nb\r\n", "a\nb\n", "a\nc\n", bom + "a\r\nc\r\n"},
	{"BOM in old", bom + "a\nb\n", bom + "a\n", "x\n", bom + "x\nb\n"},
	{"BOM in old and new", bom + "a\nb\n", bom + "a\n", bom + "x\n", bom + "x\nb\n"},
	{"CRLF and indentation", "\ta()\r\n\tb()\r\n", "a()\nb()\n", "a()\nc()\n", "\ta()\r\n\tc()\r\n"},
	{"three CR", "a\r\r\nb\n", "b", "c", "a\r\r\nc\n"},
}

func editCases() (all []editCase) {
	for _, some := range [][]editCase{exactCases, refusedCases, fittedCases, doubtfulCases, appliedCases, omittedCases, endingCases} {
		all = append(all, some...)
	}
	return all
}

// Every case comes to the expected bytes, also as multi_edit and when it is
// sent twice; in CRLF, with a byte order mark, and behind and before other
// lines it comes to the same there. SPEC 4.10.
func TestEditCases(t *testing.T) {
	t.Parallel()
	if n := len(editCases()); n < 190 {
		t.Errorf("only %d cases", n)
	}
	crlf := func(s string) string {
		if strings.HasPrefix(s, "\x00") {
			return s
		}
		return strings.ReplaceAll(s, "\n", "\r\n")
	}
	for _, c := range editCases() {
		check(t, c)
		if !strings.Contains(c.file+c.old+c.text, "\r") && strings.Contains(c.file, "\n") {
			check(t, editCase{c.name + ", in CRLF", crlf(c.file), c.old, c.text, crlf(c.want)})
			check(t, editCase{c.name + ", all in CRLF", crlf(c.file), crlf(c.old), crlf(c.text), crlf(c.want)})
		}
		add := func(name, before, after string) {
			want := c.want
			if !strings.HasPrefix(want, "\x00") {
				want = before + want + after
			}
			check(t, editCase{c.name + name, before + c.file + after, c.old, c.text, want})
		}
		if !strings.HasPrefix(c.file, bom) {
			add(", BOM", bom, "")
			if c.old != "" && !strings.Contains(c.file, "\r") && strings.HasSuffix(c.file, "\n") {
				add(", among others", "§§§§\n§§\n", "§§§§§\n")
			}
		}
	}
}

func check(t *testing.T, c editCase) {
	t.Helper()
	want, fails := c.want, c.want == refused
	if fails || c.want == done {
		want = c.file
	}
	for _, tl := range []string{"edit", "multi_edit"} {
		env, fs := memEnv(map[string]string{"f": c.file})
		args, tool := m{"path": "f", "old": c.old, "new": c.text}, Edit()
		if tl == "multi_edit" {
			args, tool = m{"edits": []m{args}}, MultiEdit()
		}
		r := call(t, env, tool, args)
		if fs.files["f"] != want || r.Error != fails || (c.want == done) != strings.Contains(r.Text, "already applied") {
			t.Errorf("%s (%s): error %v, file\n%q, want\n%q\n%s", c.name, tl, r.Error, fs.files["f"], want, r.Text)
			return
		}
		if checkSeen(t, c.name, r, fs); t.Failed() {
			return
		}
		if r = call(t, env, tool, args); fs.files["f"] != want {
			t.Errorf("%s (%s): sent twice it gives %q\n%s", c.name, tl, fs.files["f"], r.Text)
		}
	}
}
