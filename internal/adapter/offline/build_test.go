package offline

import (
	"strings"
	"testing"
)

// SPEC 5.2: compile errors of each kind are repaired with the change that a
// person would make, and nothing else is touched.
func TestBuildRepairs(t *testing.T) {
	for name, c := range map[string]struct {
		files []string          // name, broken content
		want  map[string]string // file -> a text that it must have afterwards
		says  []string
	}{
		"misspelt local": {
			files: []string{"x.go", "package x\n\nfunc Sum(values []int) int {\n\ttotal := 0\n\tfor _, v := range valeus {\n\t\ttotl += v\n\t}\n\treturn total\n}\n"},
			want:  map[string]string{"x.go": "package x\n\nfunc Sum(values []int) int {\n\ttotal := 0\n\tfor _, v := range values {\n\t\ttotal += v\n\t}\n\treturn total\n}\n"},
			says:  []string{"`valeus`", "`total`", "exit code 0"},
		},
		"misspelt function of the package": {
			files: []string{"x.go", "package x\n\nfunc A() int { return coutn(1) + coutn(2) }\n", "y.go", "package x\n\nfunc count(n int) int { return n }\n"},
			want:  map[string]string{"x.go": "return count(1) + count(2)"},
		},
		"misspelt type and builtin": {
			files: []string{"x.go", "package x\n\nfunc A(s strng) int { return lne(s) }\n"},
			want:  map[string]string{"x.go": "func A(s string) int { return len(s) }"},
		},
		"misspelt member of an import": {
			files: []string{"x.go", "package x\n\nimport \"strings\"\n\nfunc A(s string) string { return strings.ToUper(strings.trimSpace(s)) }\n"},
			want:  map[string]string{"x.go": "strings.ToUpper(strings.TrimSpace(s))"},
		},
		"misspelt member of a package that is not known": {
			files: []string{"x.go", "package x\n\nimport \"encoding/xml\"\n\nvar A = xml.Hedaer\n"},
			want:  map[string]string{"x.go": "xml.Header"},
		},
		"misspelt package": {
			files: []string{"x.go", "package x\n\nimport \"strings\"\n\nfunc A(s string) string { return strngs.ToUpper(s) }\n"},
			want:  map[string]string{"x.go": "import \"strings\"\n\nfunc A(s string) string { return strings.ToUpper(s) }"},
		},
		"misspelt field and method": {
			files: []string{"x.go", "package x\n\ntype Base struct{ Name string }\n\ntype T struct {\n\tBase\n\tWidth, Height int\n}\n\nfunc (t *T) Area() int { return t.Widht * t.height }\n\nfunc A(t *T) (int, string) { return t.Araea(), t.Nmae }\n\nvar V = T{Hieght: 3}\n"},
			want:  map[string]string{"x.go": "func (t *T) Area() int { return t.Width * t.Height }\n\nfunc A(t *T) (int, string) { return t.Area(), t.Name }\n\nvar V = T{Height: 3}\n"},
		},
		"method of another package's type": {
			files: []string{"x.go", "package x\n\nimport \"strings\"\n\nfunc A() string {\n\tvar b strings.Builder\n\tb.WriteStrng(\"x\")\n\treturn b.String()\n}\n"},
			want:  map[string]string{"x.go": "b.WriteString(\"x\")"},
		},
		"missing import": {
			files: []string{"x.go", "package x\n\nfunc A(s string) string { return fmt.Sprint(strings.ToUpper(s)) }\n"},
			want:  map[string]string{"x.go": "\"fmt\"\n\t\"strings\""},
		},
		"missing import, a name that two packages have": {
			files: []string{"x.go", "package x\n\nimport \"io\"\n\nfunc A(w io.Writer, n int) int { return rand.Intn(n) }\n"},
			want:  map[string]string{"x.go": "import (\n\t\"io\"\n\t\"math/rand\"\n)"},
		},
		"missing import of the module": {
			files: []string{"x.go", "package x\n\nfunc A() int { return b.One() }\n", "in/b/b.go", "package b\n\nfunc One() int { return 1 }\n"},
			want:  map[string]string{"x.go": "import \"example.com/x/in/b\""},
		},
		"unused import": {
			files: []string{"x.go", "package x\n\nimport (\n\t\"fmt\"\n\t\"os\" // for nothing\n)\n\nfunc A() { fmt.Println() }\n", "y.go", "package x\n\nimport str \"strings\"\n\nvar Y = 1\n"},
			want:  map[string]string{"x.go": "import (\n\t\"fmt\"\n)", "y.go": "package x\n\nvar Y = 1\n"},
			says:  []string{"unused import \"os\""},
		},
		"unused variable": {
			files: []string{"x.go", "package x\n\nfunc f() (int, error) { return 1, nil }\n\nfunc A(m map[int]int) {\n\tn, err := f()\n\tfor i, v := range m {\n\t\tif w, ok := m[v]; ok {\n\t\t}\n\t}\n\tif e := m[0]; true {\n\t}\n\t_ = n\n}\n"},
			want:  map[string]string{"x.go": "\tn, err := f()\n\t_ = err\n\tfor _, v := range m {\n\t\tif _, ok := m[v]; ok {\n\t\t}\n\t}\n\tif _ = m[0]; true {\n\t}\n"},
			says:  []string{"did not guess"},
		},
		"misspelt import path": {
			files: []string{"x.go", "package x\n\nimport (\n\t\"example.com/x/stok\"\n\t\"stirngs\"\n)\n\nvar X = strings.ToUpper(stock.Name)\n", "stock/stock.go", "package stock\n\nconst Name = \"n\"\n"},
			want:  map[string]string{"x.go": "\"example.com/x/stock\"\n\t\"strings\""},
		},
		"in a test file": {
			files: []string{"x.go", "package x\n\nfunc One() int { return 1 }\n", "x_test.go", "package x\n\nimport (\n\t\"os\"\n\t\"testing\"\n)\n\nfunc TestOne(t *testing.T) {\n\tif Oen() != 1 {\n\t\tt.Eror(\"one\")\n\t}\n}\n"},
			want:  map[string]string{"x_test.go": "import (\n\t\"testing\"\n)\n\nfunc TestOne(t *testing.T) {\n\tif One() != 1 {\n\t\tt.Error(\"one\")"},
		},
		"in a main package, in a subfolder": {
			files: []string{"tool/main.go", "package main\n\nimport \"fmt\"\n\nfunc main() { fmt.Printn(\"x\") }\n"},
			want:  map[string]string{"tool/main.go": "fmt.Print"},
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := workspace(t, append([]string{"go.mod", mod}, c.files...)...)
			before := len(r.files())
			all, last := r.do("fix the build")
			for f, w := range c.want {
				if got := r.get(f); !strings.Contains(got, w) {
					t.Errorf("%s is now\n%s\nwithout\n%s\n%s", f, got, w, all)
				}
			}
			contains(t, last, c.says...)
			contains(t, last, "exit code 0")
			if len(r.files()) != before {
				t.Errorf("files: %v", r.files())
			}
		})
	}
}

// What cannot be repaired is left as it was, with an honest sentence.
func TestBuildBeyond(t *testing.T) {
	for name, c := range map[string]struct {
		files []string
		says  []string
	}{
		"a type error":                   {[]string{"x.go", "package x\n\nfunc A() int { return \"one\" }\n"}, []string{"no safe fix", "x.go:3", "OPENAI_API_KEY"}},
		"a syntax error":                 {[]string{"x.go", "package x\n\nfunc A( {\n}\n"}, []string{"no safe fix", "x.go:3"}},
		"a name that is near to nothing": {[]string{"x.go", "package x\n\nfunc A() int { return wibbleWobble }\n"}, []string{"no safe fix", "wibbleWobble"}},
		"near names of the wrong type":   {[]string{"x.go", "package x\n\nfunc Total(names []string) int { return nams }\n"}, []string{"no safe fix", "nams"}},
		"no module":                      {[]string{"x.txt", "hello"}, []string{"no go.mod"}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := workspace(t, c.files...)
			if name != "no module" {
				r.put("go.mod", mod)
			}
			before := r.tree()
			_, last := r.do("make it compile")
			contains(t, last, c.says...)
			same(t, before, r.tree())
		})
	}
}

// A partly repaired build is said to be one.
func TestBuildPartly(t *testing.T) {
	r := workspace(t, "go.mod", mod, "x.go", "package x\n\nimport \"os\"\n\nfunc A() int { return \"one\" }\n")
	_, last := r.do("fix the build")
	contains(t, last, "better but not whole", "x.go:", "unused import")
	if strings.Contains(r.get("x.go"), "os") {
		t.Error("the import is still there")
	}
}

// Modules in subfolders are found; a clean one is passed over.
func TestBuildInSubfolder(t *testing.T) {
	r := workspace(t, "one/go.mod", mod, "one/x.go", "package x\n", "two words/go.mod", mod, "two words/in/y.go", "package y\n\nimport \"os\"\n")
	_, last := r.do("fix the build")
	contains(t, last, "repaired", "cd 'two words' && go build", "exit code 0")
}

func TestNothingToRepair(t *testing.T) {
	r := workspace(t, "go.mod", mod, "x.go", "package x\n", "x_test.go", "package x\n\nimport \"testing\"\n\nfunc TestX(t *testing.T) {}\n")
	_, last := r.do("fix the bug")
	contains(t, last, "passes with exit code 0", "nothing to repair", "ANTHROPIC_API_KEY")
}
