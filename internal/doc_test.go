package internal

import (
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/pawl-agent/pawl/internal/core/must"
)

// sources are the files of the repository with one of the endings, by their path
// from its top. Test data of other projects is not ours to check.
func sources(t *testing.T, endings ...string) map[string]string {
	t.Helper()
	files := map[string]string{}
	err := filepath.WalkDir("..", func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		name := d.Name()
		if d.IsDir() {
			if name == ".git" || name == "node_modules" || name == "dist" {
				return filepath.SkipDir
			}
			return nil
		}
		if slices.ContainsFunc(endings, func(e string) bool { return strings.HasSuffix(name, e) }) {
			b, err := os.ReadFile(path)
			if err != nil {
				return err
			}
			rel, err := filepath.Rel("..", path)
			if err != nil {
				return err
			}
			files[filepath.ToSlash(rel)] = string(b)
		}
		return nil
	})
	must.Do(t, err)
	return files
}

var (
	newComment = regexp.MustCompile(`\n[ \t]*(?://|#|--)[ \t]*`)
	specRow    = regexp.MustCompile(`(?m)^- \*\*(\d+\.\d+)\*\* `)
	specPart   = regexp.MustCompile(`(?m)^## (\d+) `)
	specCited  = regexp.MustCompile(`\bSPEC (\d+(?:\.\d+)?(?:(?:, | and |, and )\d+\.\d+)*)`)
	specNumber = regexp.MustCompile(`\d+(?:\.\d+)?`)
)

// cited returns the rows of the specification that a text names, in a comment of
// several lines too.
func cited(text string) (out []string) {
	for _, m := range specCited.FindAllStringSubmatch(newComment.ReplaceAllString(text, " "), -1) {
		out = append(out, specNumber.FindAllString(m[1], -1)...)
	}
	return out
}

func TestCited(t *testing.T) {
	for text, want := range map[string]string{
		"// SPEC 6.3: a loop": "6.3", "// SPEC 16.3, 16.12": "16.3 16.12", "// a (SPEC\n\t// 4.8, 10.4 and 9.1).": "4.8 10.4 9.1",
		"# SPEC 7: phases": "7", "AF_UNSPEC 3": "",
	} {
		if got := strings.Join(cited(text), " "); got != want {
			t.Errorf("%q: %q, want %q", text, got, want)
		}
	}
}

// What a test or a comment names as a row of the specification can be looked up.
func TestSpecificationHasWhatIsCited(t *testing.T) {
	page := must.Get(os.ReadFile("../doc/spec.md"))(t)
	rows := map[string]bool{}
	for _, find := range []*regexp.Regexp{specRow, specPart} {
		for _, m := range find.FindAllStringSubmatch(string(page), -1) {
			if rows[m[1]] {
				t.Errorf("doc/spec.md has %s twice", m[1])
			}
			rows[m[1]] = true
		}
	}
	seen := 0
	for path, text := range sources(t, ".go", ".txt", ".txtar", ".mjs", ".py") {
		for _, row := range cited(text) {
			if seen++; !rows[row] && path != "internal/doc_test.go" {
				t.Errorf("%s names SPEC %s, which is not in doc/spec.md", path, row)
			}
		}
	}
	if seen < 1000 || len(rows) < 100 {
		t.Errorf("%d citations of %d rows: this test sees too little", seen, len(rows))
	}
}

var (
	mdLink    = regexp.MustCompile(`\]\(([^)\s]+)\)`)
	mdHeading = regexp.MustCompile(`(?m)^#+ (.*)$`)
	mdFence   = regexp.MustCompile("(?ms)^```.*?^```")
	codeLink  = regexp.MustCompile(`[^"/\w](doc/(?:adr/)?[a-z0-9-]+\.md)(#[a-z0-9-]+)?`)
	notSlug   = regexp.MustCompile(`[^\p{L}\p{N} _-]`)
)

// anchors are the targets that the headings of a page make.
func anchors(page string) map[string]bool {
	out := map[string]bool{}
	for _, m := range mdHeading.FindAllStringSubmatch(mdFence.ReplaceAllString(page, ""), -1) {
		words := mdLink.ReplaceAllString(m[1], "")
		out[strings.ReplaceAll(notSlug.ReplaceAllString(strings.ToLower(words), ""), " ", "-")] = true
	}
	return out
}

// Every link of a page leads to a file and a heading that are there, and so does
// every page that the code names.
func TestLinksOfPages(t *testing.T) {
	pages, checked := sources(t, ".md"), 0
	leads := func(from, target, anchor string) {
		checked++
		page, isPage := pages[target]
		if _, err := os.Stat(filepath.Join("..", target)); err != nil {
			t.Errorf("%s: there is no %s", from, target)
		} else if anchor != "" && isPage && !anchors(page)[strings.TrimPrefix(anchor, "#")] {
			t.Errorf("%s: %s has no heading for %s", from, target, anchor)
		}
	}
	for path, text := range pages {
		if strings.Contains(path, "testdata/") {
			continue
		}
		for _, m := range mdLink.FindAllStringSubmatch(mdFence.ReplaceAllString(text, ""), -1) {
			target, anchor, _ := strings.Cut(m[1], "#")
			switch {
			case strings.Contains(target, ":"): // elsewhere
			case target == "":
				leads(path, path, anchor)
			default:
				leads(path, filepath.ToSlash(filepath.Join(filepath.Dir(path), target)), anchor)
			}
		}
	}
	for path, text := range sources(t, ".go", "run") {
		if strings.HasSuffix(path, "_test.go") {
			continue
		}
		for _, m := range codeLink.FindAllStringSubmatch(text, -1) {
			leads(path, m[1], m[2])
		}
	}
	if checked < 100 {
		t.Errorf("only %d links were found", checked)
	}
}

// Issue 31.9: the pages for people stay few and short. What is new takes the place of
// what it makes needless; figures go to the ADRs and bench, the rest to help texts.
func TestPagesStayFew(t *testing.T) {
	const mostPages, mostWords = 25, 20_000
	pages, words := 0, 0
	for path, text := range sources(t, ".md") {
		if filepath.ToSlash(filepath.Dir(path)) == "doc" && path != "doc/spec.md" {
			pages, words = pages+1, words+len(strings.Fields(text))
		}
	}
	if pages > mostPages || words > mostWords {
		t.Errorf("doc has %d pages with %d words; at most %d and %d", pages, words, mostPages, mostWords)
	}
	t.Logf("%d pages, %d words", pages, words)
}
